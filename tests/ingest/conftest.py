"""Emulators as processes of their own, a proxy in front, and a fresh lake."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from forensics.lake import Lake
from forensics.window import TimeWindow
from ingest.clients import Aws
from tests.ingest import world as worlds
from tests.ingest.proxy import Proxy
from tests.ingest.world import CREDENTIALS, REGION, START, World


@pytest.fixture(autouse=True)
def only_test_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine's own AWS set-up reaches a test."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent/config")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/credentials")


@pytest.fixture(scope="session")
def ministack_url() -> Iterator[str]:
    with worlds.ministack() as url:
        yield url


@pytest.fixture(scope="session")
def moto_url() -> Iterator[str]:
    with worlds.moto() as url:
        yield url


@pytest.fixture
def world(ministack_url: str) -> World:
    return World(ministack_url)


@pytest.fixture
def proxy(ministack_url: str) -> Iterator[Proxy]:
    proxy = Proxy(ministack_url)
    yield proxy
    proxy.stop()


@pytest.fixture
def moto_world(moto_url: str) -> World:
    return World(moto_url)


@pytest.fixture
def moto_proxy(moto_url: str) -> Iterator[Proxy]:
    proxy = Proxy(moto_url)
    yield proxy
    proxy.stop()


@pytest.fixture
def aws(proxy: Proxy) -> Aws:
    """Access to MiniStack through the proxy."""
    return Aws(region=REGION, endpoint_url=proxy.url)


@pytest.fixture
def moto_aws(moto_proxy: Proxy) -> Aws:
    """Access to moto through the proxy."""
    return Aws(region=REGION, endpoint_url=moto_proxy.url)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


@pytest.fixture
def hour() -> TimeWindow:
    """The hour from START; all of it is settled."""
    return TimeWindow(START, START + timedelta(hours=1))
