"""Messages that a move task brought back under new ids: linked by their body where that can be only one, in rounds too."""

from collections import Counter
from typing import Any

import pytest

from forensics.settings import Settings
from forensics.tables import FINDINGS
from forensics.tables.evidence import LOG_EVENTS
from forensics.tables.findings import MESSAGES
from spark_jobs.runner import correlate
from spark_jobs.shelves import Shelves
from tests.spark_jobs.small_lake import SmallLake, arn, at, record, run, some_id

pytestmark = pytest.mark.spark

SETTINGS = Settings.parse(
    r"""
[[function]]
name = "parcels"
effect = 'sent (?P<message_id>\S+)'
"""
)
MOVED_S, SOON_S, LATE_S = 1000, 1300, 1500
"""The move task begins; the round before ends; the last lines come. Seconds after noon."""


def world() -> SmallLake:
    """Bodies of which one message or two went to the dead-letter queue, and one came back, soon or late.

    A lone one: ``alone``. Two, of which one goes when the other is back: ``second``. Two from the start, of which late lines
    speak of one and of the one that is back: ``two``. One that comes back late: ``waits``.
    """
    lake = SmallLake()
    lake.queue("parcels", most=2)
    lines: list[tuple[float, str]] = []

    def went(name: str, body: str, at_s: float) -> None:
        for count, since_s in ((1, 0), (2, 40)):
            taken = record(some_id(name), count, "parcels", body, at_s - 5)
            says = (f"sent {some_id(name)}",)
            lines.extend(run(f"{name} {count}", at_s + since_s, 10, taken, says=says, status="timeout"))

    def came(name: str, body: str, at_s: float) -> None:
        taken = record(some_id(name), 1, "parcels", body, at_s - 1)
        lines.extend(run(f"{name} 1", at_s, 2, taken, says=(f"sent {some_id(name)}",)))

    for number, (name, body) in enumerate(
        (("alone", "a"), ("first", "s"), ("two one", "t"), ("two other", "t"), ("waits", "w"))
    ):
        went(name, body, 100 * number + 1)
    for number, (name, body) in enumerate((("alone back", "a"), ("first back", "s"), ("two back", "t"))):
        came(name, body, MOVED_S + 20 * number + 5)
    came("by itself", "b", MOVED_S + 100)  # the last run of the round before is read again
    went("second", "s", SOON_S + 1)
    came("waits back", "w", SOON_S + 70)
    for number, name in enumerate(("two one", "two back")):
        says = (f"sent {some_id(name)}",)
        lines.extend(run(f"{name} spoken of", LATE_S + 20 * number, 1, says=says))
    lake.function("parcels", "parcels", *lines)
    dead_letters = arn("dlq-parcels")
    lake._add(
        "move_tasks",
        task=f"{dead_letters} 1",
        source_arn=dead_letters,
        started_at=at(MOVED_S),
        status="COMPLETED",
        observed_at=at(LATE_S),
    )
    lake._add(
        "coverage",
        source="move_tasks",
        resource=dead_letters,
        window_start_at=at(-3600),
        window_end_at=at(7200),
        status="ok",
        collected_at=at(7200),
    )
    return lake


@pytest.fixture(scope="module")
def at_once(spark, tmp_path_factory) -> dict[str, list[dict[str, Any]]]:
    lake = world().write(tmp_path_factory.mktemp("redrives") / "lake")
    correlate(lake, SETTINGS, spark=spark)
    return {table.name: lake.findings().read(table).to_pylist() for table in FINDINGS}


@pytest.mark.parametrize(("dead", "back"), [("alone", "alone back"), ("waits", "waits back")])
def test_a_message_that_came_back_is_the_work_of_the_only_dead_letter_of_its_body(at_once, dead, back):
    (row,) = [row for row in at_once[MESSAGES.name] if row["message_id"] == some_id(back)]

    assert row["related_message_ids"] == [some_id(dead)]
    assert row["origin"] == "dlq_redrive"
    assert row["verdict"] == "confirmed"


@pytest.mark.parametrize("back", ["first back", "two back"])
def test_of_two_dead_letters_of_one_body_neither_is_called_the_one_that_came_back(at_once, back):
    rows = [row for row in at_once[MESSAGES.name] if row["message_id"] == some_id(back)]

    assert all(row["related_message_ids"] == [] and row["origin"] is None for row in rows)


def test_in_rounds_it_is_the_same(at_once, spark, tmp_path, monkeypatch):
    rows, taken = world().rows, []
    take_down = Shelves.take_down

    def watched(shelves, touched, seen, horizon):
        standing = {row["item_id"] for row in shelves.frame("items").collect()}
        again = take_down(shelves, touched, seen, horizon)
        taken.append((standing, {row["item_id"] for row in again.collect()}))
        return again

    monkeypatch.setattr(Shelves, "take_down", watched)
    lake = None
    for since_s, until_s in ((-1, SOON_S), (SOON_S, 9999)):
        part = SmallLake()
        part.rows = {
            name: [r for r in found if name != LOG_EVENTS.name or at(since_s) <= r["logged_at"] < at(until_s)]
            for name, found in rows.items()
            if since_s < 0 or name == LOG_EVENTS.name
        }
        lake = part.write(tmp_path / "lake")
        correlate(lake, SETTINGS, spark=spark, in_rounds=True)
    found = {table.name: lake.findings().read(table).to_pylist() for table in FINDINGS}

    for name, rows_at_once in at_once.items():
        assert Counter(map(repr, found[name])) == Counter(map(repr, rows_at_once)), name
    ((standing, again),) = taken
    assert standing - again == {some_id(name) for name in ("alone", "alone back")}
