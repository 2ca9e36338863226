"""One embedded AWS for the whole folder: starting one is quick, but not free."""

from collections.abc import Iterator

import pytest

from lab.aws import EmbeddedAws


@pytest.fixture(scope="session")
def aws() -> Iterator[EmbeddedAws]:
    with EmbeddedAws() as embedded:
        yield embedded
