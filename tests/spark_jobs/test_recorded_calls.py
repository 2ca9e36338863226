"""Calls to a queue that are imported after its logs were judged bear on what was judged, as if they had been there at once."""

from forensics.lake import Lake
from forensics.tables import BY_NAME
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import TABLES, read_findings, settings_of

CALLS = "send_records"


def test_calls_that_come_later_give_the_same_findings_as_calls_that_were_there(tmp_path):
    worlds = [World(seed, kind="calls recorded") for seed in range(8000, 8004)]
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
    assert before.deliveries != read_findings(later).deliveries
