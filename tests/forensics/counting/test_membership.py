"""Which messages make an incident: quiet separates, bystanders belong, and neither opens nor bridges one."""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting import membership as columns
from forensics.incidents.quiet import incident_id, is_after_quiet, quiet_limit_ms
from tests.forensics.incidents.builders import ARN, NOON, at, harmless, message

FIRST, QUARTER_PAST = "payments-20261122T1200Z", "payments-20261122T1215Z"


class MessageTimes(NamedTuple):
    """What membership asks of a message."""

    queue: str
    item_id: str
    first_received_at: int | None
    last_received_at: int | None
    last_active_at: int | None
    visibility_timeout_s: int | None
    is_affected: bool
    queue_arn: str = ARN
    work_id: str = ""
    batch_position: int | None = None


def membership(messages: Iterable) -> dict[str, tuple[str, bool]]:
    """Return item id -> (incident id, is_affected) of messages of one queue."""
    rows = [{name: getattr(one, name) for name in columns.VERDICT_SCHEMA} for one in messages]
    found = columns.membership(pl.DataFrame(rows, schema=columns.VERDICT_SCHEMA))
    assert found["item_id"].is_unique().all()
    return {item: tuple(told) for item, *told in found.select("item_id", "incident_id", "is_member_affected").rows()}


def one_by_one(messages: Iterable[MessageTimes]) -> dict[str, tuple[str, bool]]:
    """Say the same, message by message."""
    mine = list(messages)
    found: dict[str, tuple[str, bool]] = {}
    spans: list[list] = []
    active_at, name = None, ""
    for one in sorted(
        (m for m in mine if m.is_affected),
        key=lambda m: (-1 if m.first_received_at is None else m.first_received_at, m.item_id),
    ):
        at = one.first_received_at
        if at is None or is_after_quiet(at, active_at, one.visibility_timeout_s):
            name = incident_id(one.queue, at)
            if at is not None:
                spans.append([name, at, -1])
        if one.last_active_at is not None:
            active_at = one.last_active_at if active_at is None else max(active_at, one.last_active_at)
            if spans:
                spans[-1][2] = max(spans[-1][2], one.last_active_at)
        found[one.item_id] = name, True
    for one in (m for m in mine if not m.is_affected):
        if one.first_received_at is not None and one.last_received_at is not None:
            before = [n for n, span in enumerate(spans) if span[2] >= one.first_received_at]
            if before and spans[before[0]][1] <= one.last_received_at:
                found[one.item_id] = spans[before[0]][0], False
    return found


def incidents_of(*messages) -> dict[str, str]:
    return {item: incident for item, (incident, _) in membership(messages).items()}


QUIET = {
    # end of the first message's run, receive of the next, visibility timeout -> how many incidents
    "15 minutes of quiet": (0, 900, 30, 1),
    "a millisecond more": (0, 900.001, 30, 2),
    "less than a millisecond more": (0, 900.0009, 30, 1),
    "quiet counts from the end of the run": (10, 910, 30, 1),
    "two long visibility timeouts": (0, 1_200, 600, 1),
    "a millisecond more than two": (0, 1_200.001, 600, 2),
    "no snapshot of the queue": (0, 901, None, 2),
    "received before the first one ended": (60, 30, 30, 1),
}


@pytest.mark.parametrize(("ended", "received", "visibility_s", "count"), QUIET.values(), ids=QUIET)
def test_quiet_separates_incidents(ended, received, visibility_s, count):
    found = incidents_of(
        message("a", 0, last_active_at=at(ended), visibility_timeout_s=visibility_s),
        message("b", received, visibility_timeout_s=visibility_s),
    )

    assert len(set(found.values())) == count


def test_the_visibility_timeout_that_counts_is_that_of_the_message_that_comes_after_the_quiet():
    long_after_short = incidents_of(message("a", 0), message("b", 1_000, visibility_timeout_s=600))
    short_after_long = incidents_of(message("a", 0, visibility_timeout_s=600), message("b", 1_000))

    assert (len(set(long_after_short.values())), len(set(short_after_long.values()))) == (1, 2)


def test_quiet_counts_from_whoever_was_active_last_not_from_the_message_before():
    found = incidents_of(message("a", 0, last_active_at=at(800)), message("b", 10), message("c", 1_500))

    assert set(found.values()) == {FIRST}


def test_an_incident_is_named_by_its_queue_and_the_minute_it_began():
    assert membership([message("a", 59.9)]) == {"a": (FIRST, True)}


BYSTANDERS = {
    # first and last receive; the incident's first receive is at 100, its last activity at 200
    "received in it": (150, 150, True),
    "received as it began": (50, 100, True),
    "received as it ended": (200, 500, True),
    "received before it and after it": (0, 900, True),
    "over before it began": (0, 99.9, False),
    "received first after it ended": (200.1, 300, False),
    "receives of which nothing tells when": (None, None, False),
}


@pytest.mark.parametrize(("first", "last", "belongs"), BYSTANDERS.values(), ids=BYSTANDERS)
def test_a_message_that_was_not_done_twice_belongs_to_the_incident_whose_time_it_falls_into(first, last, belongs):
    found = membership([message("a", 100, last_active_at=at(200)), harmless("b", first, last)])

    assert found.get("b") == ((FIRST.replace("1200", "1201"), False) if belongs else None)


def test_a_bystander_of_two_incidents_belongs_to_the_first_and_does_not_bridge_them():
    found = membership([message("a", 0), message("b", 901), harmless("c", 0, 1_000)])

    assert found == {"a": (FIRST, True), "b": (QUARTER_PAST, True), "c": (FIRST, False)}


def test_a_bystander_between_two_incidents_belongs_to_none():
    assert "c" not in membership([message("a", 0), message("b", 1_800), harmless("c", 400, 500)])


def test_a_queue_without_affected_messages_has_no_incident():
    assert membership([harmless("a"), harmless("b", 10)]) == {}


def test_a_message_without_upper_bound_is_affected():
    assert membership([message("a", effects_at_most=None)]) == {"a": (FIRST, True)}


def test_messages_of_which_nothing_tells_when_they_came_are_named_by_their_queue_alone():
    found = membership([message("b", 0), message("a", None), harmless("c", 0)])

    assert found == {"a": ("payments", True), "b": (FIRST, True), "c": (FIRST, False)}


def lanes(messages: Iterable) -> dict[str, int]:
    """Return item id -> lane of messages of one queue."""
    rows = [{name: getattr(one, name) for name in columns.VERDICT_SCHEMA} for one in messages]
    return dict(columns.membership(pl.DataFrame(rows, schema=columns.VERDICT_SCHEMA)).select("item_id", "lane").rows())


def test_affected_messages_take_the_first_lanes_in_the_order_of_their_first_receive():
    messages = [
        harmless("a", -5, 0),
        message("b", 9),
        message("c", effects_at_most=None),
        message("d", batch_position=1),
        message("e", batch_position=2),
    ]

    # c has no place in a printed batch and comes before those that have one
    assert lanes(messages) == {"c": 1, "d": 2, "e": 3, "b": 4, "a": 5}


def test_each_incident_has_lanes_of_its_own():
    assert lanes([message("a", 0), message("b", 901), message("c", None), message("d", 902)]) == {
        "a": 1,
        "b": 1,
        "c": 1,
        "d": 2,
    }


seconds = st.integers(0, 8_000)
SPANS = st.lists(st.tuples(seconds, st.sampled_from([0, 60, 2_000]), st.sampled_from([0, 30, 900])), max_size=9)
HIDDEN, EITHER, LATE_US = st.sampled_from([None, 30, 500, 900]), st.booleans(), st.sampled_from([0, 1, 999, 1_000])
UNKNOWN = st.sets(st.sampled_from(["first_received_at", "last_received_at", "last_active_at"]))


@st.composite
def some_messages(draw):
    return [
        MessageTimes(
            "payments",
            f"m{number}",
            NOON + first * 1_000_000,
            NOON + (first + more) * 1_000_000,
            NOON + (first + more + run) * 1_000_000,
            draw(HIDDEN),
            draw(EITHER),
        )
        for number, (first, more, run) in enumerate(draw(SPANS))
    ]


@given(some_messages(), st.randoms(use_true_random=False))
def test_the_order_of_messages_does_not_matter(messages, random):
    expected = membership(messages)
    random.shuffle(messages)

    assert membership(messages) == expected


MESSAGES = some_messages()


@st.composite
def times_that_are_missing(draw):
    """Some messages of which one time or another is not known, or which began a moment too early or too late."""
    changed = []
    for one in draw(MESSAGES):
        names = draw(UNKNOWN)
        late_us = draw(LATE_US)
        times = {n: getattr(one, n) + late_us for n in ("first_received_at", "last_received_at", "last_active_at")}
        changed.append(one._replace(**times | dict.fromkeys(names)))
    return changed


@given(times_that_are_missing(), st.lists(st.sampled_from([None, 1, 2]), min_size=9, max_size=9))
def test_lanes_are_those_of_messages_put_in_order_one_by_one(messages, positions):
    placed = [one._replace(batch_position=at) for one, at in zip(messages, positions, strict=False)]
    by_incident: dict[str, list] = {}
    found = membership(placed)
    for one in placed:
        if one.item_id in found:
            at = (-1 if value is None else value for value in (one.first_received_at, one.batch_position))
            by_incident.setdefault(found[one.item_id][0], []).append((not one.is_affected, *at, one.item_id))

    expected = {key[-1]: lane for keys in by_incident.values() for lane, key in enumerate(sorted(keys), 1)}
    assert lanes(placed) == expected


@given(times_that_are_missing())
def test_columns_say_what_messages_one_by_one_do(messages):
    assert membership(messages) == one_by_one(messages)


def test_queues_do_not_meet():
    rows = [message("a", 0), message("b", 10, queue_arn=f"{ARN}-2", queue="payments-2"), harmless("c", 5)]
    schema = columns.VERDICT_SCHEMA | {"part": pl.UInt32}
    frame = pl.DataFrame([{name: getattr(one, name, 7) for name in schema} for one in rows], schema=schema)

    found = columns.membership(frame).sort("item_id")

    assert found["incident_id"].to_list() == [FIRST, FIRST.replace("payments", "payments-2")]
    assert found["part"].to_list() == [7, 7]


@given(some_messages())
def test_incidents_of_a_queue_follow_one_another_after_quiet(messages):
    found = membership(messages)
    spans: dict[str, list[MessageTimes]] = {}
    for one in messages:
        if one.is_affected:
            spans.setdefault(found[one.item_id][0], []).append(one)
    in_order = [sorted(spans[name], key=lambda m: (m.first_received_at, m.item_id)) for name in sorted(spans)]
    ends = [max(m.last_active_at for m in group) for group in in_order]

    assert all(
        is_after_quiet(later[0].first_received_at, end, later[0].visibility_timeout_s)
        for end, later in zip(ends, in_order[1:], strict=False)
    )
    for group in in_order:
        active_at = group[0].last_active_at
        for one in group[1:]:
            assert not is_after_quiet(one.first_received_at, active_at, one.visibility_timeout_s)
            active_at = max(active_at, one.last_active_at)


@given(some_messages())
def test_a_bystander_belongs_to_the_earliest_incident_that_it_meets(messages):
    found = membership(messages)
    spans: dict[str, tuple[int, int]] = {}
    for one in messages:
        if one.is_affected:
            name = found[one.item_id][0]
            start, end = spans.get(name, (one.first_received_at, one.last_active_at))
            spans[name] = min(start, one.first_received_at), max(end, one.last_active_at)

    for one in messages:
        if not one.is_affected:
            met = [n for n, (a, b) in spans.items() if one.first_received_at <= b and one.last_received_at >= a]
            assert found.get(one.item_id) == ((min(met), False) if met else None)


def test_the_limit_is_never_below_a_quarter_of_an_hour():
    assert [quiet_limit_ms(s) for s in (0, 449, 450, 451)] == [900_000, 900_000, 900_000, 902_000]
