"""One lake per world, built once."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from tests.pages import health_tale, tales
from tests.pages.blind_tale import blind, unchecked
from tests.pages.reading import ROOT
from tests.pages.tales import s
from tests.pages.worlds import START, Story
from tests.waiting import PATIENCE_S


@pytest.fixture(autouse=True, scope="session")
def on_this_machine(streamlit_does_nothing_in_vain):
    """Without a server there is no address; the repository's own configuration says loopback."""
    config.set_option("server.address", "127.0.0.1")


WORLDS = ("demo", "nothing", "evidence-only", "gaps", "huge", "blind", "unchecked")


def build(name: str, root: Path) -> Path:
    """Write the named world under ``root`` and return the lake's path."""
    story, day = Story(), START.replace(hour=0, minute=0)
    if name == "no-lake":
        return root / "missing"
    if name == "empty":
        root.mkdir(parents=True, exist_ok=True)
        return root
    story.data_until_at = START + s(3600)
    begin = day - s(3 * 86400)
    consumers = {"demo": (tales.CHARGE, tales.BILLING, tales.MAIL), "gaps": (tales.BILLING,)}
    for consumer in consumers.get(name, (tales.CLICKS,)):
        story.coverage(consumer, begin, story.data_until_at)
    if name == "demo":
        tales.double_billing(story)
        tales.expired_handle(story)
        tales.dead_lettered(story)
        health_tale.weekly(story)
    elif name == "gaps":
        tales.dead_lettered(story, unread=True)
        start = datetime(2026, 11, 18, 22, 0, tzinfo=UTC)
        story.coverage(tales.MAIL, begin, start)
        story.coverage(tales.MAIL, start, start + s(1800), "denied", "AccessDeniedException: not authorized")
        story.coverage(tales.MAIL, start + s(1800), story.data_until_at)
    elif name == "huge":
        tales.huge(story)
    elif name == "blind":
        blind(story)
    elif name == "unchecked":
        unchecked(story)
    else:
        story.settings(tales.CLICKS)
        for n in range(4):
            run = story.run(tales.CLICKS, f"quiet{n}", START + s(60 * n), 1)
            story.deliver(run, {"message_id": f"quiet-{n}"}, 1, ended_by="deleted", effect="yes", basis="returned")
    return story.save(root, with_findings=name != "evidence-only")


@pytest.fixture(scope="session")
def lake_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function from a world's name to its lake; each is built at its first use."""
    built: dict[str, Path] = {}

    def lake(name: str) -> Path:
        if name not in built:
            built[name] = build(name, tmp_path_factory.mktemp(name) / "lake")
        return built[name]

    return lake


@pytest.fixture
def visit(lake_of, monkeypatch, tmp_path):
    """Return a function that opens a page on a lake, with keys of the link and a browser zone."""
    monkeypatch.chdir(tmp_path)

    def visit(page, lake, zone="Europe/Berlin", selection=None, **keys):
        monkeypatch.setenv("DOUBLETAKE_LAKE", str(lake_of(lake) if isinstance(lake, str) else lake))
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE_S)
        at.context["timezone"] = zone
        if page != "app.py":
            at.switch_page(page)
        for key, value in keys.items():
            at.query_params[key.rstrip("_")] = value
        for key, value in (selection or {}).items():
            at.session_state[key] = value
        return at.run()

    return visit
