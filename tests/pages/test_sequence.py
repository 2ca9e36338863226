"""Numbered sends on the page of the queues' health."""

import pytest

from tests.pages.reading import words
from tests.pages.test_redrive import lake  # noqa: F401 - a fixture

pytestmark = pytest.mark.page


def test_a_queue_whose_bodies_show_no_number_says_so(visit, lake, monkeypatch, tmp_path):  # noqa: F811
    (tmp_path / "s.toml").write_text('[[queue]]\nname = "payments.fifo"\nsequence = "$.version"\n')
    monkeypatch.setenv("DOUBLETAKE_CONFIG", str(tmp_path / "s.toml"))
    at = visit("pages/queue_health.py", lake)

    assert not at.exception
    assert "No printed body of 'payments.fifo' has a whole number" in words(at)
