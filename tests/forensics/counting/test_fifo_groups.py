"""The screen of columns misses nothing that the pure functions find in whole groups."""

from collections.abc import Iterable
from typing import Any
from zlib import crc32

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from forensics.counting.fifo_groups import COLUMNS, items_of, runs_of, settled, stretches_to_look_at
from forensics.incidents.held import GroupDelivery, held_ms
from forensics.queue_findings import HOLDING, blocked_groups, is_holding, late_commits, next_receives
from forensics.run_ends import FAILED
from forensics.streams.model import Delivery
from tests.forensics.queue_findings.ledgers import at, delivered, groups

_TIME = pl.Datetime("us", "UTC")
_TIMES = tuple(name for name in COLUMNS if name.endswith("_at"))
SCHEMA = {name: _TIME if name in _TIMES else pl.String for name in COLUMNS}


def frame(deliveries: list[Delivery]) -> pl.DataFrame:
    return pl.DataFrame({name: [getattr(d, name) for d in deliveries] for name in SCHEMA}, schema=SCHEMA)


MOST = 1_000_000
NO_RUNS = runs_of(frame([])).with_columns(entry=pl.lit(0))
NOTHING = settled(NO_RUNS)


def placed(deliveries: list[Delivery], parts: int = 1) -> pl.DataFrame:
    """Return group_id, item_id and stretch of what is to be looked at; in so many parts of the lake, messages in one each."""
    of_parts = [[d for d in deliveries if crc32(d.item_id.encode()) % parts == part] for part in range(parts)]
    runs = [runs_of(frame(mine)).with_columns(entry=pl.lit(n)) for n, mine in enumerate(of_parts)]
    taken = stretches_to_look_at(pl.concat(runs), MOST, NOTHING)
    items = pl.concat(items_of(frame(mine).lazy()).collect() for mine in of_parts)
    return items.join(taken, on=["group", "run"]).select("group_id", "item_id", "stretch").unique()


def looked_at(deliveries: list[Delivery]) -> list[str]:
    return sorted(placed(deliveries)["group_id"].drop_nulls().unique().to_list())


def stretches(deliveries: list[Delivery], parts: int = 1) -> list[list[Delivery]]:
    found: dict[int, list[Delivery]] = {}
    for group_id, item_id, stretch in placed(deliveries, parts).iter_rows():
        found.setdefault(stretch, []).extend(d for d in deliveries if d.group_id == group_id and d.item_id == item_id)
    return list(found.values())


def done(item: str, sent: float | None, done_at: float | None, **more: Any) -> Delivery:
    told: dict[str, Any] = {"received": 0, "ended_by": "deleted", "sent": sent, "done": done_at}
    return delivered(item, **told | more)


@pytest.mark.parametrize("ended_by", HOLDING)
def test_a_group_is_looked_at_that_a_delivery_held(ended_by):
    assert looked_at([delivered("m1", received=0, ended_by=ended_by)]) == ["g"]


@pytest.mark.parametrize("status", FAILED)
def test_a_group_is_looked_at_that_a_failed_run_still_holds(status):
    assert looked_at([delivered("m1", received=0, ended_by="in_flight", run_status=status)]) == ["g"]


QUIET: dict[str, list[Delivery]] = {
    "all was deleted": [done("m1", 1, 10), done("m2", 2, 20)],
    "a run may still succeed": [delivered("m1", received=0, ended_by="in_flight", run_status="unknown")],
    "nothing tells how a run ended": [delivered("m1", received=0, ended_by="unknown", run_status=None)],
    "a later message was done at the same moment": [done("m1", 1, 10), done("m2", 2, 10)],
    "a later message was done at the same moment, and is told first": [done("m2", 2, 10), done("m1", 1, 10)],
    "one sent in the same millisecond was done before": [done("m1", 1, 20), done("m2", 1, 10)],
    "one was done before of which nothing tells when it was sent": [done("m1", 1, 20), done("m2", None, 10)],
    "a later one may have been done before": [done("m1", 1, 20), done("m2", 2, 10, effect="unknown")],
    "nothing tells when a later one was done": [done("m1", 1, 20), done("m2", 2, None, effect="yes")],
    "a later one of another group was done before": [done("m1", 1, 20), done("m2", 2, 10, group_id="h")],
    "it has no group": [done("m1", 1, 20, group_id=None, ended_by="visibility_expired")],
    "there is none": [],
}


@pytest.mark.parametrize("deliveries", QUIET.values(), ids=QUIET)
def test_a_group_is_not_looked_at_where(deliveries):
    assert looked_at(deliveries) == []


def test_a_group_is_looked_at_in_which_a_later_message_was_done_first():
    quiet = [done(f"q{n}", n, 100 + n, group_id="quiet") for n in range(5)]

    assert looked_at([*quiet, done("m1", 1, 10.001), done("m2", 2, 10)]) == ["g"]


def test_groups_of_one_name_in_two_queues_are_two_and_so_are_messages_that_went_from_one_to_the_other():
    source = [done("m1", 1, 20), done("m2", 4, 30)]
    dead = [done("m1", 2, 10, queue_arn="arn:dead.fifo"), done("m3", 3, 40, queue_arn="arn:dead.fifo")]

    assert looked_at([*source, *dead]) == []
    assert looked_at([done("m1", 1, 20), done("m3", 2, 10)]) == ["g"]


def test_messages_between_two_in_the_wrong_order_hide_nothing():
    rows = [done("m1", 1, 40), done("m2", 2, 20), done("m3", 3, 10), done("m4", None, 30), done("m5", 4, 50)]

    assert looked_at(rows) == ["g"]


def test_messages_of_another_group_between_them_hide_nothing():
    others = [done(f"q{n}", n, 10 + n, group_id="h") for n in range(1, 20)]

    assert looked_at([*others, done("m1", 1, 20.5), done("m2", 2, 10.5)]) == ["g"]


def test_a_message_told_twice_counts_with_its_earliest_sending():
    rows = [done("m1", 5, 20), done("m1", 1, None, index=2, effect="no"), done("m2", 3, 10)]

    assert late_commits(rows)
    assert looked_at(rows) == ["g"]


def test_a_group_is_not_looked_at_because_its_run_overtook_in_another_group():
    overtaken = [done("m1", 1, 20, consumer="run"), done("m2", 2, 10)]

    assert looked_at([*overtaken, done("m3", 1, 10, group_id="h", consumer="run")]) == ["g"]


def test_a_run_that_was_out_of_order_is_looked_at_whichever_parts_of_the_lake_tell_of_it():
    rows = [done(f"m{n}", 9 - n, 20 + n, received=10, run_ended=30, consumer="run") for n in range(8)]

    for parts in range(1, 5):
        assert {d.item_id for part in stretches(rows, parts) for d in part} == {d.item_id for d in rows}


GROUPS, NAMES = groups(), st.lists(st.sampled_from(("a", "b", "c", None)), max_size=4, unique=True)
EITHER = st.booleans()


@st.composite
def queues(draw: st.DrawFn) -> list[Delivery]:
    """The deliveries of up to four groups, in any order; an item belongs to one group."""
    rows = []
    for name in draw(NAMES):
        for delivery in draw(GROUPS):
            delivery.group_id = name
            delivery.item_id = f"{name}-{delivery.item_id}"
            if draw(EITHER) and delivery.ended_by in HOLDING and not delivery.came_again:
                delivery.ended_by = "deleted"
            rows.append(delivery)
    return draw(st.permutations(rows))


@given(queues())
def test_no_group_is_missed_and_none_is_looked_at_for_nothing(rows):
    by_group: dict[str, list[Delivery]] = {}
    for delivery in rows:
        if delivery.group_id is not None:
            by_group.setdefault(delivery.group_id, []).append(delivery)
    held = {name for name, mine in by_group.items() if any(map(is_holding, mine))}
    late = {name for name, mine in by_group.items() if late_commits(mine)}
    found = {name for name, mine in by_group.items() if blocked_groups(mine, {}) or next_receives(mine)}

    assert found <= held
    assert looked_at(rows) == sorted(held | late)


def test_groups_whose_runs_follow_one_another_are_not_looked_at_in_however_many_parts():
    times = [(f"m{run}-{n}", run, 10 * run + n) for run in range(4) for n in range(3)]
    rows = [done(item, sent, at_, consumer=f"run {sent}") for item, sent, at_ in times]

    assert not stretches(rows)
    assert not stretches(rows, parts=2)


def test_a_run_overtaken_by_one_that_another_part_of_the_lake_tells_of_is_looked_at():
    rows = [done(f"m{n}", n, 20 - n, received=n, run_ended=30) for n in range(8)]
    (whole,) = stretches(rows)

    for parts in range(2, 5):
        (told_,) = stretches(rows, parts)
        assert {d.item_id for d in told_} == {d.item_id for d in whole}


@given(queues(), st.randoms())
def test_no_late_commit_is_missed_where_the_ledger_does_not_hold_what_it_promises(rows, order):
    """There every delivery but the last of a message held its group, and all were sent at one time."""
    for delivery in rows:
        delivery.ended_by, delivery.item_id = "deleted", delivery.item_id[-1]
        delivery.sent_ms = order.randint(0, 12)
    by_group: dict[str, list[Delivery]] = {}
    for delivery in rows:
        by_group.setdefault(delivery.group_id or "", []).append(delivery)

    assert {name for name, mine in by_group.items() if name and late_commits(mine)} <= set(looked_at(rows))


def told(groups: Iterable[list[Delivery]]) -> tuple[list[str], dict[str, int]]:
    found, following = [], {}
    for mine in groups:
        found += [repr(candidate) for candidate in (*late_commits(mine), *blocked_groups(mine, {}))]
        following |= next_receives(mine)
    return sorted(found), following


def held(groups: Iterable[tuple[str, list[Delivery]]], affected: dict[str, str]) -> dict[str, int]:
    seen = [(name, d) for name, mine in groups for d in mine if d.is_seen]
    times = [
        GroupDelivery(name, d.consumer, d.received_at, d.run_ended_at, d.hidden_until_at, d.ended_by, d.item_id)
        for name, d in seen
    ]
    return held_ms(times, affected)


COUNT, PASSES, WAITED = st.integers(4, 12), st.sampled_from((0, 0.5, 1, 4)), st.sampled_from((0, 0, 0, 0.5, 3))
TIMES, TOOK, HIDDEN = (
    st.sampled_from((1,) * 6 + (2,)),
    st.sampled_from((0, 0.25, 0.75, 2)),
    st.sampled_from((0, 0.5, 1, 6)),
)
FEW, RESTED = st.sampled_from((False,) * 9 + (True,)), st.sampled_from((0.5, 1, 2))
RUNS = [st.sampled_from((f"run-{number}",) * 4 + (f"run-{number // 3}", "run")) for number in range(12)]
ENDS, GROUP = st.sampled_from((*HOLDING, "in_flight", "unknown")), st.sampled_from(("g", "g", "g", None))


@st.composite
def long_groups(draw: st.DrawFn) -> list[Delivery]:
    """Two groups, a known and an unknown one, in which most messages come once, one after the other, and are deleted."""
    rows = []
    now = 0.0
    for number in range(draw(COUNT)):
        now += draw(PASSES)
        sent = now - draw(WAITED)
        run = draw(RUNS[number])
        times = draw(TIMES)
        for index in range(1, times + 1):
            took = draw(TOOK)
            last = "deleted" if not draw(FEW) else draw(ENDS)
            rows.append(
                delivered(
                    f"m{number}",
                    index=index,
                    received=now,
                    sent=None if draw(FEW) else sent,
                    run_ended=None if draw(FEW) else now + took,
                    hidden=now + draw(HIDDEN),
                    done=now + took if draw(EITHER) else None,
                    ended_by=last if index == times else "visibility_expired",
                    came_again=index < times,
                    consumer=run if index == 1 else f"{run}-{index}",
                    group_id=draw(GROUP),
                )
            )
            now += draw(RESTED) if index < times else 0
    return draw(st.permutations(rows))


@settings(max_examples=300)
@given(long_groups() | queues(), st.randoms())
def test_what_was_put_into_one_before_the_rest_came_makes_no_difference(rows, order):
    parts: dict[int, list[Delivery]] = {}
    for delivery in rows:  # all of one message are told in one part
        parts.setdefault(crc32(delivery.item_id.encode()) % 4, []).append(delivery)
    told = {n: runs_of(frame(mine)).with_columns(entry=pl.lit(n)) for n, mine in parts.items()}
    old = order.sample(sorted(told), order.randint(0, len(told)))
    before = settled(pl.concat([NO_RUNS, *(told[n] for n in old)]))
    new = pl.concat([NO_RUNS, *(told[n] for n in told if n not in old)])

    whole = stretches_to_look_at(pl.concat([NO_RUNS, *told.values()]), MOST, NOTHING)
    assert_frame_equal(stretches_to_look_at(new, MOST, before), whole)


@settings(max_examples=300)
@given(long_groups() | queues(), st.integers(1, 3))
def test_what_is_found_in_stretches_is_what_is_found_in_whole_groups(rows, count):
    by_group: dict[str | None, list[Delivery]] = {}
    for delivery in rows:
        by_group.setdefault(delivery.group_id, []).append(delivery)
    named = [mine for name, mine in by_group.items() if name is not None]
    parts = stretches(rows, count)

    assert told(part for part in parts if part[0].group_id is not None) == told(named)
    affected = {d.item_id: f"of {d.item_id[-1]}" for d in rows}
    whole = held(((str(name), mine) for name, mine in by_group.items()), affected)
    assert held(((str(n), mine) for n, mine in enumerate(parts)), affected) == whole


def test_a_message_of_which_its_group_tells_no_sending_may_have_waited_all_along():
    stopped = delivered("m1", received=0, sent=0, run_ended=0, hidden=0, ended_by="visibility_expired")
    next_two = [done(f"m{n}", n, n, received=n, run_ended=n) for n in (2, 3)]
    untold = delivered("m4", received=9, sent=None, run_ended=9, hidden=9, ended_by="visibility_expired")
    of_no_group = done("m4", 9, 10, index=2, received=10, run_ended=10, group_id=None)
    rows = [stopped, *next_two, untold]
    (blocked,) = blocked_groups(rows, {})

    assert blocked.message_count is None
    assert told(part for part in stretches([*rows, of_no_group]) if part[0].group_id == "g") == told([rows])


def test_a_stretch_begins_where_what_held_it_was_visible_again_though_that_is_before_its_receive():
    moved = delivered("m1", received=5, sent=5, run_ended=None, hidden=1, ended_by="dead_lettered")
    earlier = done("m2", 0, 2, received=1, run_ended=2)
    (part,) = stretches([moved, earlier])

    assert next_receives(part) == next_receives([moved, earlier]) == {"m1": at(1)}


def test_of_a_long_group_only_what_stopped_and_what_came_next_is_looked_at():
    quiet = [done(f"q{n}", 100 * n, 100 * n + 5, received=100 * n, run_ended=100 * n + 6) for n in range(20)]
    stopped = delivered("m1", received=1010, sent=1010, run_ended=1015, ended_by="visibility_expired")

    assert {d.item_id for part in stretches([*quiet, stopped]) for d in part} == {"m1", "q11"}


def test_a_stretch_lasts_until_what_held_it_is_visible_again():
    moved = delivered("m1", received=0, sent=0, run_ended=1, hidden=100, ended_by="dead_lettered")
    quiet = [done(f"q{n}", n, n + 1, received=n, run_ended=n + 2) for n in (10, 20, 110, 120)]
    (part,) = stretches([moved, *quiet])

    assert {d.item_id for d in part} == {"m1", "q10", "q20", "q110"}
    assert next_receives(part) == next_receives([moved, *quiet])
