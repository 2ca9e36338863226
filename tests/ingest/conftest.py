"""Emulators as processes of their own, a proxy in front, and a fresh lake."""

import os
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


@pytest.fixture(scope="package", autouse=True)
def only_test_credentials() -> Iterator[None]:
    """Nothing of the machine's own AWS set-up reaches a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION"):
            patch.delenv(name, raising=False)
        for name, value in CREDENTIALS.items():
            patch.setenv(name, value)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("AWS_CONFIG_FILE", "/nonexistent/config")
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/credentials")
        yield


@pytest.fixture(scope="package", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """What reaches the disk is tested with the lake; here a busy disk would only make the tests slow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda fd: None)
        yield


@pytest.fixture(scope="package")
def ministack_url() -> Iterator[str]:
    with worlds.ministack() as url:
        yield url


@pytest.fixture(scope="package")
def moto_url() -> Iterator[str]:
    with worlds.moto() as url:
        yield url


@pytest.fixture
def world(ministack_url: str) -> World:
    return World(ministack_url)


@pytest.fixture
def moto_world(moto_url: str) -> World:
    return World(moto_url)


# Making clients takes longer than most tests: proxies and what talks through them are made once.


@pytest.fixture(scope="package")
def ministack_access(ministack_url: str) -> Iterator[tuple[Proxy, Aws]]:
    yield from access(ministack_url)


@pytest.fixture(scope="package")
def moto_access(moto_url: str) -> Iterator[tuple[Proxy, Aws]]:
    yield from access(moto_url)


def access(url: str) -> Iterator[tuple[Proxy, Aws]]:
    proxy = Proxy(url)
    yield proxy, Aws(region=REGION, endpoint_url=proxy.url, patience_s=0)
    proxy.stop()


@pytest.fixture
def proxy(ministack_access: tuple[Proxy, Aws]) -> Proxy:
    ministack_access[0].reset()
    return ministack_access[0]


@pytest.fixture
def moto_proxy(moto_access: tuple[Proxy, Aws]) -> Proxy:
    moto_access[0].reset()
    return moto_access[0]


@pytest.fixture
def aws(proxy: Proxy, ministack_access: tuple[Proxy, Aws]) -> Aws:
    """Access to MiniStack through the proxy."""
    return ministack_access[1]


@pytest.fixture
def moto_aws(moto_proxy: Proxy, moto_access: tuple[Proxy, Aws]) -> Aws:
    """Access to moto through the proxy."""
    return moto_access[1]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


@pytest.fixture
def hour() -> TimeWindow:
    """The hour from START; all of it is settled."""
    return TimeWindow(START, START + timedelta(hours=1))
