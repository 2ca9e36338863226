"""Calls to a queue that are imported after its logs were judged bear on what was judged, as if they had been there at once."""

import pytest

from forensics.judging.surroundings import Surroundings
from forensics.lake import Lake
from forensics.tables import BY_NAME
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import TABLES, read_findings, settings_of

pytestmark = pytest.mark.slow

CALLS = "send_records"


@pytest.mark.parametrize("kind", ["calls recorded", "sends logged"])
def test_calls_that_come_later_give_the_same_findings_as_calls_that_were_there(tmp_path, kind):
    worlds = [World(seed, kind=kind) for seed in range(8000, 8004)]
    settings, later, whole = settings_of(worlds), Lake(tmp_path / "later"), Lake(tmp_path / "whole")
    of_calls = {}
    for name in TABLES:
        rows = [row for world in worlds for row in world.rows(name)]
        mine = [row for row in rows if CALLS in (name, row.get("source"))]
        of_calls[name] = mine
        whole.append(BY_NAME[name], rows, f"{name}|whole")
        if others := [row for row in rows if row not in mine]:
            later.append(BY_NAME[name], others, f"{name}|first")
    correlate(later, settings, carrier=Here())
    before = read_findings(later)
    for name, rows in of_calls.items():
        if rows:
            later.append(BY_NAME[name], rows, f"{name}|later")
    for lake in (later, whole):
        correlate(lake, settings, carrier=Here())

    assert read_findings(later) == read_findings(whole)
    assert before != read_findings(later)


def test_a_unit_holds_the_calls_that_its_works_ask_for_and_no_others(tmp_path, monkeypatch):
    world = World(8000, kind="calls recorded")
    lake = Lake(tmp_path / "lake")
    for name in TABLES:
        rows = world.rows(name)
        if name == CALLS:  # ten thousand sends of other queues, and of this queue's messages that came once
            rows = [*rows, *(rows[0] | {"evidence_id": f"send:{n}", "message_id": f"m{n}"} for n in range(10_000))]
        if rows:
            lake.append(BY_NAME[name], rows, f"{name}|whole")
    held = []
    take = Surroundings.with_calls
    monkeypatch.setattr(Surroundings, "with_calls", lambda around, rows: held.append(len(rows)) or take(around, rows))
    correlate(lake, settings_of([world]), carrier=Here())

    assert 0 < sum(held) <= len(world.rows(CALLS))
