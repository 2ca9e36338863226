"""What bears on a work, as text: the same text means the same answers, and what happened later does not show in it."""

from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from forensics.judging.event_counts import LONGEST_RUN_US
from forensics.judging.order import OrderCounts
from forensics.judging.surroundings import Surroundings
from forensics.judging.written import GroupLines
from tests.forensics.judging.around import (
    CHARGE,
    DEAD,
    MAILER,
    MAILS,
    PAYMENTS,
    at,
    consumer,
    depth,
    function,
    moment,
    point,
    poll,
    queue,
    read,
    task,
)

LOW, HIGH = 30, 34
"""All times of the work, in minutes; one visibility timeout is one or two minutes long."""
INSIDE = [at(minute) for minute in range(LOW, HIGH + 1)]
MINUTE_US = 60_000_000
MINUTES = st.integers(20, 45)
LENGTHS = st.integers(1, 30)
SOURCES = st.sampled_from(
    [(CHARGE, "log_events"), (MAILER, "log_events"), ("charge", "metric_points"), (DEAD, "move_tasks")]
)
FUNCTION = consumer()
WORKER = consumer(MAILS, MAILER, "worker", None)
UNKNOWN = consumer(PAYMENTS, MAILER, None, None)


def reading(start: int, length: int, of: tuple[str, str], status: str, collected: int = 10_000) -> dict:
    return read(start, start + length, *of, status=status, collected=collected)


ROWS: dict[str, st.SearchStrategy[Any]] = {
    "coverage": st.builds(
        reading, MINUTES, LENGTHS, SOURCES, st.sampled_from(["ok", "ok", "ok", "lost"]), st.sampled_from([10_000, 90])
    ),
    "queue_settings": st.builds(
        queue,
        st.sampled_from([PAYMENTS, MAILS]),
        st.integers(25, 50),
        st.sampled_from([60, 120, None]),
        st.sampled_from([DEAD, None]),
    ),
    "function_settings": st.builds(function, st.integers(25, 50), st.sampled_from([None, None, "WARN"])),
    "move_tasks": st.builds(
        lambda began, length, status: task(began, began + length, status),
        MINUTES,
        LENGTHS,
        st.sampled_from(["RUNNING", "COMPLETED"]),
    ),
    "metric_points": st.builds(point, MINUTES, period_s=st.sampled_from([60, 300]))
    | st.builds(depth, MINUTES)
    | st.builds(poll, MINUTES),
    "consumers": st.sampled_from([FUNCTION, WORKER, UNKNOWN]),
}


def lines_of(
    group: str, first: int, length: int, has_starts: bool, blind: list[tuple], has_guard: bool, has_effect: bool
) -> GroupLines:
    starts = sorted(at(m) for m, _ in blind)
    workable = sorted(at(m) for m, is_workable in blind if is_workable)
    told = GroupLines(group, at(first), at(first + length), has_starts, starts, has_guard, workable_starts=workable)
    return told._replace(has_effect_line=has_effect)


def group_lines(group: str) -> st.SearchStrategy[GroupLines]:
    blind = st.lists(st.tuples(st.integers(LOW - 3, HIGH + 3), st.booleans()), max_size=2)
    mostly = st.sampled_from([True, True, False])
    return st.builds(lines_of, st.just(group), MINUTES, LENGTHS, mostly, blind, st.booleans(), mostly)


WORLDS = st.fixed_dictionaries(
    {name: st.lists(rows, max_size=3) for name, rows in ROWS.items()}
    | {"consumers": st.sampled_from([[FUNCTION], [FUNCTION, WORKER], [WORKER], [FUNCTION, UNKNOWN]])}
    | {"lines": st.tuples(group_lines(CHARGE), group_lines(MAILER)).map(list)}
)


@st.composite
def nearly_alike(draw: st.DrawFn) -> tuple[dict, dict]:
    """Draw two worlds of which one has a few rows that the other does not have."""
    world = draw(WORLDS)
    other = dict(world)
    for name in draw(st.lists(st.sampled_from([*ROWS, "lines"]), min_size=1, max_size=2)):
        if name == "lines":
            other["lines"] = [draw(group_lines(CHARGE)), world["lines"][1]]
        else:
            fewer = [row for row in world[name] if draw(st.booleans())]
            other[name] = fewer + draw(st.lists(ROWS[name], max_size=1))
    return world, other


def bearing(around: Surroundings) -> str:
    return around.bearing([PAYMENTS, MAILS], [CHARGE, MAILER], at(LOW), at(HIGH), ["charge"])


def answers(around: Surroundings) -> dict[str, Any]:
    """Ask everything that a work may ask whose times all lie between LOW and HIGH."""
    found: dict[str, Any] = {
        "hide nothing": [around.hides_no_work(arn) for arn in (PAYMENTS, MAILS)],
        "kinds": {arn: list(of) for arn, of in around.dead_letter_sources.items() if arn in {PAYMENTS, MAILS}},
        "guards": [around.shows_guard_lines(group, "charge") for group in (CHARGE, MAILER)],
        "effects": [around.shows_no_effect(group, None) for group in (CHARGE, MAILER)],
        "once": [around.tells_effect_once(group) for group in (CHARGE, MAILER)],
    }
    found["consumed"] = sorted(pair for pair in around.consumed if pair[0] in {PAYMENTS, MAILS})
    for arn in (PAYMENTS, MAILS):
        for now in INSIDE:
            state = around.in_force.queue(arn, now)
            names = ("visibility_timeout_s", "dead_letter_queue_arn", "evidence_id", "is_later_snapshot")
            found[f"{arn} {now}"] = state and [state[name] for name in names]
            found[f"{arn} polled after {now}"] = [
                around.was_polled(arn, now, span[1])
                for group in (CHARGE, MAILER)
                if (span := around.read_span(group)) is not None
            ]
            found[f"{arn} moved {now}"] = around.was_moved(arn, now)
            hidden_s = state["visibility_timeout_s"] if state else None
            held_us = (43_200 if hidden_s is None else hidden_s) * 1_000_000
            found[f"{arn} missed from {now}"] = [
                around.may_have_been_missed(arn, now, INSIDE[-1] + max(held_us, LONGEST_RUN_US), group)
                for group in (CHARGE, MAILER)
            ]
            found[f"{arn} missed ever since {now}"] = [
                around.may_have_been_missed(arn, now, None, group) for group in (CHARGE, MAILER)
            ]
            found[f"{arn} throttled before {now}"] = around.throttled(arn, now - held_us, now)
            if state:
                found[f"{arn} dead {now}"] = around.has_dead_letter_sign(state["dead_letter_queue_arn"], now)
            twice_us = 2_000_000 * (hidden_s or 0)
            for group in (CHARGE, MAILER):
                low, high = around.read_span(group)
                reached = (low <= now, low <= now - twice_us, now < high)
                found[f"{group} {arn} read {now}"] = (
                    *reached,
                    now + twice_us <= high,
                )
            for before in INSIDE:
                span = (arn, now, before)
                around_it = (min(now, before) - twice_us, max(now, before) + twice_us)
                found[f"{span} final"] = (
                    around.finality.of_queue(arn, *around_it),
                    [around.finality.of_groups([group], *around_it) for group in (CHARGE, MAILER)],
                )
                found[f"{span}"] = (
                    around.is_watched(*span),
                    around.shows_all_work(*span),
                    around.names_messages(*span),
                    around.are_workers_read(*span),
                    around.throttled(*span),
                )
    for now in INSIDE:
        state = around.in_force.function("charge", now)
        found[f"charge {now}"] = state and (state["timeout_s"], state["evidence_id"], state["is_later_snapshot"])
    return found


@given(nearly_alike())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_same_bearing_means_the_same_answers(worlds):
    one, other = (Surroundings(**world) for world in worlds)
    if bearing(one) == bearing(other):
        event("alike")
        assert answers(one) == answers(other)


BEHIND = HIGH + 16
"""More than two visibility timeouts after the last time of the work."""
LATER = st.fixed_dictionaries(
    {
        "coverage": st.lists(
            st.builds(reading, st.integers(BEHIND, 60), LENGTHS, SOURCES, st.sampled_from(["ok", "lost"])).filter(
                lambda row: row["status"] == "ok" or row["source"] != "log_events"  # whether a log has a gap bears
            ),
            max_size=3,
        ),
        "metric_points": st.lists(
            st.builds(point, st.integers(BEHIND, 60)) | st.builds(depth, st.integers(BEHIND + 15, 90)), max_size=2
        ),
        "move_tasks": st.lists(st.builds(lambda m: task(m, m + 9), st.integers(BEHIND, 60)), max_size=2),
    }
)


@given(WORLDS, LATER, st.integers(0, 30), st.lists(st.integers(BEHIND, 60), max_size=2))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_was_read_of_later_times_does_not_bear_on_the_work(world, later, more, blind):
    asked = read(
        25, BEHIND + 1, DEAD, "move_tasks", collected=20_000
    )  # who first asks later learns of tasks from before
    to_the_end = read(25, BEHIND + 120)  # no line stands beyond what was read
    known = [*world["coverage"], to_the_end, asked]
    told = [  # read behind the work before, too, where another run hid what it had
        line._replace(
            last_at=max(line.last_at, at(BEHIND)),
            has_starts=True,
            blind_starts=[*line.blind_starts, at(BEHIND)],
            workable_starts=[*line.workable_starts, at(BEHIND)],
        )
        for line in world["lines"]
    ]
    grown = [
        line._replace(
            last_at=line.last_at + more * MINUTE_US,
            blind_starts=[*line.blind_starts, *map(at, sorted(blind))],
            workable_starts=[*line.workable_starts, *map(at, sorted(blind))],
        )
        for line in told
    ]
    tasks = [row for row in world["move_tasks"] if row["status"] == "COMPLETED"]
    settings_known = [queue(minutes=0), queue(MAILS, 0)]
    before = world | {"coverage": known, "lines": told, "move_tasks": tasks, "queue_settings": settings_known}
    after = before | {name: before[name] + rows for name, rows in later.items()} | {"lines": grown}

    assert bearing(Surroundings(**after)) == bearing(Surroundings(**before))


def test_that_a_consumer_ever_hid_what_it_had_bears_on_all_its_works():
    consumers = [FUNCTION]
    bearings = {
        bearing(
            Surroundings(consumers=consumers, lines=[GroupLines(CHARGE, at(0), at(900), True, workable_starts=starts)])
        )
        for starts in ([], [at(BEHIND + 700)], [at(BEHIND + 800)])
    }

    assert len(bearings) == 2


def test_whether_a_log_was_not_read_ever_since_bears_on_a_work_and_not_for_how_long():
    known = {"lines": [GroupLines(CHARGE, at(0), at(900), True)], "consumers": [FUNCTION]}
    known["queue_settings"] = [queue(minutes=0), queue(MAILS, 0)]
    bearings = {
        bearing(Surroundings(**known, coverage=[read(0, until), read(until + gap, 900)]))
        for until, gap in ((800, 0), (700, 10), (700, 50), (300, 10))
    }

    assert len(bearings) == 2


def ends(us: int) -> dict:
    """The log group's lines end so many microseconds after the last time of the work."""
    return {"lines": [GroupLines(CHARGE, at(0), at(HIGH) + us, True)]}


def begins(us: int) -> dict:
    """The log group's lines begin so many microseconds before the first time of the work."""
    return {"lines": [GroupLines(CHARGE, at(LOW) - us, at(60), True)]}


def blind(*minutes: float) -> dict:
    """Invocations that hide their batch began at these minutes."""
    return {"lines": [GroupLines(CHARGE, at(0), at(60), True, [at(m) for m in minutes])]}


def unopened(*minutes: float) -> dict:
    """Handlings of a worker that no line opens began at these minutes."""
    return {"lines": [GroupLines(MAILER, at(0), at(60), True, workable_starts=[at(m) for m in minutes])]}


PLAIN = {"queue_settings": [queue()], "lines": [GroupLines(CHARGE, at(0), at(60), True)], "consumers": [FUNCTION]}
ONLY_WORKERS = {"consumers": [consumer(PAYMENTS, MAILER, "worker", None)]}
WATCHED = {"coverage": [read(0, 60)]}
OPENED = ONLY_WORKERS | {"coverage": [read(0, 60, MAILER)], "lines": [GroupLines(MAILER, at(0), at(60), True)]}
UNDATED = {"queue_settings": [queue(visibility_s=None)]}
MAPPING = {
    "evidence_id": "mapping:1",
    "mapping_uuid": "u-1",
    "queue_arn": PAYMENTS,
    "function_name": "charge",
    "observed_at": moment(0),
}
FED = {"consumers": [], "event_source_mappings": [MAPPING]}
ORDERED = {"lines": [PLAIN["lines"][0]._replace(orders=OrderCounts(31))]}
RUNNING = {"move_tasks": [task(0, 29)]}
BEARS: dict[str, tuple[dict, dict, bool]] = {
    "a throttled minute of it": ({}, {"metric_points": [point(LOW)]}, True),
    "one before, while the poller may have held it": ({}, {"metric_points": [point(LOW - 3)]}, True),
    "none from longer before": ({}, {"metric_points": [point(LOW - 4)]}, False),
    "one from half a day before, where nothing tells the timeout": (UNDATED, {"metric_points": [point(-690)]}, True),
    "none from behind it": ({}, {"metric_points": [point(HIGH + 1)]}, False),
    "that the metric was read": ({}, {"coverage": [read(0, 60, "charge", "metric_points")]}, True),
    "that its workers' log group was read": (ONLY_WORKERS, {"coverage": [read(0, 60, MAILER)]}, True),
    "that its function's log group was read": ({}, WATCHED, True),
    "an invocation that hides its batch, where the logs would else have shown one": (WATCHED, blind(LOW), True),
    "at another time": (WATCHED | blind(LOW + 1), blind(LOW + 2), True),
    "a worker's handling that no line opens": (OPENED, unopened(LOW), True),
    "none where nobody knows what else takes its messages": (OPENED | {"consumers": [UNKNOWN]}, unopened(LOW), False),
    "none where nothing was read": ({}, blind(LOW), False),
    "also up to two visibility timeouts before and behind": (WATCHED, blind(LOW - 1, HIGH + 1), True),
    "none from farther before or behind": (WATCHED, blind(LOW - 5, HIGH + 5), False),
    "a dead-letter queue that was not empty": ({}, {"metric_points": [depth(LOW)]}, True),
    "a move task": (RUNNING, {"move_tasks": [task(0, 29), task(LOW, HIGH)]}, True),
    "that somebody asked for move tasks": ({}, {"coverage": [read(0, 1, DEAD, "move_tasks")]}, True),
    "that it takes dead letters itself": ({}, {"queue_settings": [queue(), queue(MAILS, dead=PAYMENTS)]}, True),
    "that its runs go in order": ({}, {"lines": [PLAIN["lines"][0]._replace(orders=OrderCounts(30))]}, True),
    "not from how many, but for round figures": (
        ORDERED,
        {"lines": [PLAIN["lines"][0]._replace(orders=OrderCounts(49))]},
        False,
    ),
    "that no line is an effect's": ({}, {"lines": [PLAIN["lines"][0]._replace(has_effect_line=False)]}, True),
    "that each effect is told once": ({}, {"lines": [PLAIN["lines"][0]._replace(tells_effect_once=True)]}, True),
    "a guard's line": ({}, {"lines": [PLAIN["lines"][0]._replace(has_guard_line=True)]}, True),
    "its log group's end, two visibility timeouts after a receive": (ends(241_000_000), ends(240_000_000), True),
    "where something was not read, as long after it as a run may be on": (
        ends(899_999_000) | {"queue_settings": [queue(dead=None)]},
        ends(900_000_000) | {"queue_settings": [queue(dead=None)]},
        True,
    ),
    "not farther out, where no dead-letter queue is known": (
        ends(900_000_000) | {"queue_settings": [queue(dead=None)]},
        ends(900_001_000) | {"queue_settings": [queue(dead=None)]},
        False,
    ),
    "a quarter of an hour after it, where one is: it may have gone there": (ends(900_001_000), ends(900_000_000), True),
    "a poll of its queue": ({"metric_points": [poll(31)]}, {"metric_points": [poll(33)]}, True),
    "polls after all of its times": ({"metric_points": [poll(35)]}, {"metric_points": [poll(900)]}, False),
    "polls before them": ({"metric_points": [poll(-900)]}, {"metric_points": [poll(29)]}, False),
    "not farther out": (ends(900_001_000), ends(2_000_000_000), False),
    "its log group's beginning, two visibility timeouts before": (begins(241_000_000), begins(240_000_000), True),
    "nor farther out": (begins(240_001_000), begins(900_000_000), False),
    "its queue's settings": ({}, {"queue_settings": [queue(visibility_s=30)]}, True),
    "its functions' settings": ({}, {"function_settings": [function()]}, True),
    "also those of a function that only a mapping names": (FED, {"function_settings": [function()]}, True),
    "not those of another function": ({"consumers": []}, {"function_settings": [function()]}, False),
    "nothing of another queue or log group": (
        {},
        {
            "consumers": [FUNCTION, WORKER],
            "coverage": [read(0, 60, MAILER)],
            "queue_settings": [queue(), queue(MAILS, dead=None)],
            "lines": [*PLAIN["lines"], GroupLines(MAILER, at(0), at(60), True)],
        },
        False,
    ),
}


@pytest.mark.parametrize(("known", "more", "expected"), BEARS.values(), ids=BEARS)
def test_what_bears_on_a_work_is(known, more, expected):
    asked = ([PAYMENTS], [CHARGE], at(LOW), at(HIGH))
    without, with_it = Surroundings(**(PLAIN | known)), Surroundings(**(PLAIN | known | more))

    assert (with_it.bearing(*asked) != without.bearing(*asked)) is expected


def test_settings_of_a_function_that_only_lines_name_bear_where_it_is_named():
    rows = {"queue_settings": [queue()], "function_settings": [function()]}
    asked = ([PAYMENTS], [CHARGE], at(LOW), at(HIGH))
    around = Surroundings(**rows)

    assert around.bearing(*asked, ["charge"]) != around.bearing(*asked)


def test_what_was_not_read_bears_as_far_as_each_log_group_was_read():
    def read_until(minute: int) -> Surroundings:
        lines = [GroupLines(CHARGE, at(0), at(minute), True), GroupLines(MAILER, at(0), at(60), True)]
        return Surroundings(coverage=[read(0, 35, CHARGE)], consumers=[FUNCTION], lines=lines)

    one, other = read_until(35), read_until(36)

    assert not one.may_have_been_missed(PAYMENTS, at(LOW), at(60), CHARGE)
    assert other.may_have_been_missed(PAYMENTS, at(LOW), at(60), CHARGE)
    assert bearing(one) != bearing(other)
