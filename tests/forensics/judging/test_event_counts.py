"""What a mapping's counts tell of messages whose run succeeded."""

import pytest

from forensics.judging.event_counts import EVENT_COUNTS, Run, Stretch, stretches
from forensics.judging.surroundings import Surroundings
from forensics.judging.written import GroupLines
from forensics.spans import Spans
from tests.forensics.judging.around import CHARGE, PAYMENTS, at, consumer, moment, point, read
from tests.forensics.judging.plain import delivery

SECOND = 1_000_000
READ = Spans([(at(0), at(600))])


def stretch(invoked: int, failed: int, deleted: int, known_failed: int | None) -> Stretch:
    return Stretch(0, 1, invoked, failed, deleted, known_failed, ())


COUNTS = {
    "nothing failed, something was not deleted": ((20, 0, 19, 0), (False, False)),
    "nothing failed, all were deleted": ((20, 0, 20, 0), (False, False)),
    "nothing failed, nobody knows of runs": ((20, 0, 19, None), (False, False)),
    "only a failed batch": ((20, 10, 9, 10), (False, False)),
    "one more than the failed batch, the others deleted": ((20, 11, 9, 10), (True, True)),
    "one more than the failed batch, one other not deleted": ((20, 11, 8, 10), (None, None)),
    "one less than the failed batch": ((20, 9, 11, 10), (True, None)),
    "some failed, nobody knows of runs, the others deleted": ((20, 3, 17, None), (True, None)),
    "some failed, nobody knows of runs, some not deleted": ((20, 3, 16, None), (None, None)),
}


@pytest.mark.parametrize(("counts", "expected"), COUNTS.values(), ids=COUNTS)
def test_what_came_back_of_a_success_had_been_given_back_on_fifo_and_standard(counts, expected):
    told = stretch(*counts)

    assert (told.was_given_back(True), told.was_given_back(False)) == expected


def run(minute: float, seconds: float = 1, messages: int = 10, failed: int | None = 0, ends: bool = True) -> Run:
    began = at(minute)
    return Run(began, began + round(seconds * SECOND) if ends else None, messages, failed)


def counts(minute: float, invoked: int, failed: int, deleted: int, **more) -> list[dict]:
    values = dict(zip(EVENT_COUNTS, (invoked, failed, deleted), strict=True))
    return [
        point(minute, name, "uuid", float(value), **more) | {"collected_at": moment(0)}
        for name, value in values.items()
    ]


def parts(runs, points, read_=READ) -> list[tuple]:
    """Each stretch as minutes after noon, what was counted, and how many messages of failed runs are known."""
    return [
        (
            (s.start - at(0)) // (60 * SECOND),
            (s.end - at(0)) // (60 * SECOND),
            s.invoked,
            s.failed,
            s.deleted,
            s.known_failed,
        )
        for s in stretches(runs, points, read_)
    ]


TEN = counts(5, 10, 0, 9)
STRETCHES = {
    "a run in the middle of its minute": ([run(5.5)], TEN, [(5, 6, 10, 0, 9, 0)]),
    "a run that begins near the border": ([run(5.1)], TEN, [(4, 6, 10, 0, 9, 0)]),
    "a run that ends near the border": ([run(5.5, 25)], TEN, [(5, 7, 10, 0, 9, 0)]),
    "two runs of one minute": ([run(5.3), run(5.6)], counts(5, 20, 0, 20), [(5, 6, 20, 0, 20, 0)]),
    "two that began at once, of one of which no line tells the end": (
        [run(5.5), run(5.5, messages=0, ends=False, failed=None)],
        [*TEN, *counts(12, 3, 1, 2)],
        [(5, 21, 13, 1, 11, None)],
    ),
    "two alike, of one of which nobody knows what failed": (
        [run(5.5), run(5.5, failed=None)],
        counts(5, 20, 0, 20),
        [(5, 6, 20, 0, 20, None)],
    ),
    "runs of two minutes": (
        [run(5.5), run(6.5, failed=10)],
        [*TEN, *counts(6, 10, 10, 0)],
        [(5, 6, 10, 0, 9, 0), (6, 7, 10, 10, 0, 10)],
    ),
    "a run on at the border": (
        [run(5.5, 60), run(6.3)],
        [*counts(5, 10, 0, 0), *counts(6, 10, 0, 20)],
        [(6, 7, 20, 0, 20, 0)],
    ),
    "a run whose end is not known goes on for a quarter of an hour": (
        [run(5.5, ends=False, failed=None)],
        [*TEN, *counts(12, 3, 1, 2)],
        [(5, 21, 13, 1, 11, None)],
    ),
    "points of five minutes": ([run(6.5)], counts(5, 10, 0, 9, period_s=300), [(5, 10, 10, 0, 9, 0)]),
    "less counted than the run was given": ([run(5.5, messages=11)], TEN, []),
    "nothing counted": ([run(5.5, messages=0)], [], []),
}


@pytest.mark.parametrize(("runs", "points", "expected"), STRETCHES.values(), ids=STRETCHES)
def test_counts_add_up_between_moments_at_which_nothing_ran(runs, points, expected):
    assert parts(runs, points) == expected
    assert parts(list(reversed(runs)), list(reversed(points))) == expected


def test_a_stretch_must_have_been_read_in_full():
    assert parts([run(5.5)], TEN, Spans([(at(5), at(6) - 1)])) == []


def test_of_a_point_that_was_read_again_the_newest_value_counts():
    again = [row | {"collected_at": moment(9), "value": 10.0, "evidence_id": "later"} for row in TEN[2:]]

    assert parts([run(5.5)], [*again, *TEN]) == [(5, 6, 10, 0, 10, 0)]


BUSY = [run(5.2, 80), run(5.3, 99), run(6.95, 60), run(7.2, 50)]  # they end at 6.53, 6.95, 7.95 and 8.03
BORDERS = {
    "messages handed out in a minute that no run ended in": (
        [run(5.5, 40)],
        [*counts(5, 10, 0, 0), *counts(6, 0, 0, 9)],
        READ,
        [(6, 7, 10, 0, 9, 0)],
    ),
    "runs of two minutes that overlap, the one with failures": (
        [run(5.2, 18), run(5.4, 60)],
        [*counts(5, 20, 3, 7), *counts(6, 0, 0, 10)],
        READ,
        [(5, 6, 10, 3, 7, 0), (6, 7, 10, 0, 10, 0)],
    ),
    "a run that nobody knows of was counted, too": (
        [run(5.5, 40)],
        [*counts(5, 11, 0, 0), *counts(6, 0, 0, 10)],
        READ,
        [(5, 7, 11, 0, 10, 0)],
    ),
    "a run of which nobody knows the messages": (
        [run(5.5, 40), run(5.6, 40, messages=0)],
        [*counts(5, 10, 0, 0), *counts(6, 0, 0, 10)],
        READ,
        [(5, 7, 10, 0, 10, 0)],
    ),
    "nothing was read of the minute before the first run": (
        [run(5.1)],
        TEN,
        Spans([(at(5), at(9))]),
        [(5, 6, None, 0, 9, 0)],
    ),
    "nothing was read of the minute in which the first run began": (
        [run(5.1, 120)],
        [*counts(6, 10, 0, 0), *counts(7, 0, 0, 9)],
        Spans([(at(6), at(9))]),
        [],
    ),
    "the first run that is known began in the minute after": (
        [run(5.1, 120)],
        [*counts(5, 10, 0, 0), *counts(7, 0, 0, 9)],
        Spans([(at(5), at(9))]),
        [(6, 8, 10, 0, 9, 0)],
    ),
}


@pytest.mark.parametrize(("runs", "points", "read_", "expected"), BORDERS.values(), ids=BORDERS)
def test_a_stretch_falls_apart_where_no_run_ends_if_all_its_messages_are_known(runs, points, read_, expected):
    assert parts(runs, points, read_) == expected


def quiet(runs, points) -> list[tuple[float, float, bool | None]]:
    """Each stretch as seconds after noon, and whether what came back of it had been given back."""
    told = stretches(runs, points, READ)
    return [((s.start - at(0)) / SECOND, (s.end - at(0)) / SECOND, s.was_given_back(True)) for s in told]


HANDED_OUT = counts(5, 40, 0, 0)
QUIET = {
    "failures in the second minute of three": (
        [*HANDED_OUT, *counts(6, 0, 0, 19), *counts(7, 0, 4, 5), *counts(8, 0, 0, 9)],
        [(362, 418, False), (482, 538, False)],
    ),
    "failures in the first": (
        [*HANDED_OUT, *counts(6, 0, 4, 15), *counts(8, 0, 0, 19)],
        [(422, 478, False), (478, 538, False)],
    ),
    "failures in each": ([*HANDED_OUT, *counts(6, 0, 4, 5), *counts(7, 0, 4, 5), *counts(8, 0, 1, 8)], []),
}


@pytest.mark.parametrize(("points", "expected"), QUIET.values(), ids=QUIET)
def test_a_period_without_failures_gave_nothing_back_though_its_neighbours_did(points, expected):
    assert quiet(BUSY, points) == expected


def test_a_batch_that_failed_near_the_border_of_a_period_may_be_counted_on_either_side():
    points = [*counts(5, 40, 0, 0), *counts(6, 0, 1, 19), *counts(7, 0, 10, 9)]
    near, inside = run(6.0, 61, failed=10), run(6.0, 70, failed=10)  # one ends a second past 7, the other ten

    assert quiet([*BUSY[:3], near], points) == [(482, 538, False)]
    assert quiet([*BUSY[:3], inside], points) == [(422, 478, False), (478, 538, False)]


MAPPING = {
    "evidence_id": "mapping:1",
    "mapping_uuid": "uuid",
    "queue_arn": PAYMENTS,
    "function_name": "charge",
    "observed_at": moment(0),
}
LOGS, METRIC = read(0, 60), read(0, 60, "uuid", "metric_points")
ENDS = {
    "inside": ((LOGS, METRIC), 5.6, False),
    "outside": ((LOGS, METRIC), 8, None),
    "before": ((LOGS, METRIC), 4, None),
    "where the log was not read": ((METRIC,), 5.6, None),
    "where the counts were not read": ((LOGS,), 5.6, None),
    "where nothing tells when the run ended": ((LOGS, METRIC), None, None),
}


@pytest.mark.parametrize(("coverage", "minute", "expected"), ENDS.values(), ids=ENDS)
def test_a_run_that_ended_is_held_against_the_counts_of_its_time(coverage, minute, expected):
    around = Surroundings(
        consumers=[consumer()],
        coverage=coverage,
        event_source_mappings=[MAPPING],
        metric_points=TEN,
        lines=[GroupLines(CHARGE, at(0), at(60), True)],
        runs={"uuid": [run(5.5)]},
    )
    one = delivery(queue_arn=PAYMENTS, function_name="charge", run_ended_at=None if minute is None else at(minute))

    was_given_back, points = around.was_given_back(one)

    assert was_given_back is expected
    assert bool(points) is (expected is not None)


def test_a_mapping_that_was_made_again_counts_beside_the_one_before():
    again = [point | {"resource": "again", "evidence_id": "again"} for point in TEN]
    around = Surroundings(
        consumers=[consumer()],
        coverage=[LOGS, METRIC, read(0, 60, "again", "metric_points")],
        event_source_mappings=[MAPPING, MAPPING | {"evidence_id": "mapping:2", "mapping_uuid": "again"}],
        metric_points=[*TEN, *again],
        lines=[GroupLines(CHARGE, at(0), at(60), True)],
        runs={"uuid": [run(5.5)], "again": [run(5.5, failed=None)]},
    )

    assert around.was_given_back(delivery(queue_arn=PAYMENTS, function_name="charge", run_ended_at=at(5.6)))[0] is False
