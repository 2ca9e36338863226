"""The benchmark's own parts: what it generates, and the answers written by hand."""

import hashlib
import time
from argparse import Namespace
from collections import Counter
from dataclasses import replace

import pytest

from forensics.identity import evidence_id
from forensics.settings import Settings
from forensics.tables import BY_NAME
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.bench.__main__ import Side
from tests.bench.baseline import Answers, answer
from tests.bench.generate import AGAIN, LINES_PER_RUN, SETTINGS, fill
from tests.bench.measure import is_parents, measured
from tests.bench.sides import answers_of

pytestmark = pytest.mark.process  # it generates with all cores

LINES = (2 * AGAIN + 200) * LINES_PER_RUN


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return fill(tmp_path_factory.mktemp("bench"), LINES, threads=2)


@pytest.fixture(scope="module")
def answers(lake, tmp_path_factory) -> Answers:
    return answer(lake.files(BY_NAME["log_events"]), tmp_path_factory.mktemp("by-hand"), threads=2)


def message_id(source: int, position: int) -> str:
    h = hashlib.md5(f"message {source} {position}".encode()).hexdigest()
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-8{h[17:20]}-{h[20:]}"


def test_rows_are_named_as_collecting_would_name_them(lake):
    for row in lake.read(BY_NAME["log_events"]).slice(0, 20).to_pylist():
        place = (row["account_id"], row["region"], row["log_group"], row["event_id"])

        assert row["evidence_id"] == evidence_id("log", *place)


def test_a_run_writes_seven_lines_and_the_settings_parse(lake):
    count = lake.count(BY_NAME["log_events"])

    assert abs(count - LINES) < 0.01 * LINES
    assert Settings.parse(SETTINGS).functions


def test_all_ways_to_fail_are_there(lake):
    lines = lake.read(BY_NAME["log_events"], ["line"])["line"].to_pylist()
    found = Counter(word for line in lines for word in ("Task timed out", "Status: timeout", "[ERROR]") if word in line)

    assert min(found.values()) > 30
    assert len(found) == 3


def test_a_batch_that_failed_twice_is_answered_by_hand_as_its_lines_say(answers):
    """Run 0 timed out after two effects, so did its repeat; the third run charged the first three."""
    assert answers.intervals[message_id(0, 1)] == (3, 3)
    assert answers.intervals[message_id(0, 2)] == (3, 3)
    assert answers.intervals[message_id(0, 3)] == (1, 3)


def test_a_message_that_came_once_is_not_among_the_answers(answers):
    assert message_id(1, 1) not in answers.intervals
    assert len(answers.intervals) < 0.05 * answers.delivery_count


@pytest.mark.parametrize("one_in", [10, 63])
def test_so_many_messages_come_again_as_were_asked_for(one_in, lake, answers, tmp_path):
    """Of the first runs none can be a repeat: that many runs later a batch comes again."""
    if one_in == 10:
        worse = fill(tmp_path / "lake", LINES, threads=2, every=11)
        answers = answer(worse.files(BY_NAME["log_events"]), tmp_path / "by-hand", threads=2)
    runs = LINES / LINES_PER_RUN
    first_times = runs - (runs - AGAIN) / (one_in + 1)

    assert answers.came_again == pytest.approx((runs - AGAIN) / (one_in + 1) / first_times, rel=0.05)
    assert answers.delivery_count > answers.message_count


def test_the_product_answers_as_by_hand_also_where_a_repeat_failed_again(lake, answers):
    """The fourth of run 2048's batch: not reached at first, and perhaps in hand when the repeat failed: a guard may have
    answered the third without a line.
    """
    correlate(lake, Settings.parse(SETTINGS), carrier=Here())

    assert answers_of(lake).differences(answers) == []
    assert answers.intervals[message_id(2048, 4)] == (0, 1)


def test_differences_name_the_message_and_both_intervals():
    one, other = Answers(3, 2, {"a": (1, 1), "b": (2, 2)}), Answers(3, 2, {"a": (1, 2)})

    assert one.differences(other) == ["a: (1, 1) and (1, 2)", "b: (2, 2) and None"]
    assert one.differences(replace(one, message_count=4)) == ["messages: 2 and 4"]


def test_an_engine_answers_round_by_round_and_is_as_fast_as_its_fastest_warm_one(lake, answers):
    with Side("duckdb", lake, Namespace(threads=2, loud=False)) as side:
        rounds = [side.round() for _ in range(3)]

        assert side.answers() == answers
    assert side.took["cold"]["wall_s"] == rounds[0]["wall_s"]
    assert side.took["warm"]["wall_s"] == min(took["wall_s"] for took in rounds[1:])
    assert side.process.returncode == 0


def test_an_engine_that_ends_without_an_answer_is_named(lake):
    with (
        Side("neither", lake, Namespace(threads=2, loud=False)) as side,
        pytest.raises(SystemExit, match="neither ended with 2"),
    ):
        side.round()


def test_memory_that_a_forked_process_shares_with_its_parent_counts_once():
    parents, sizes = {2: 1, 3: 1}, {1: (9_000_000, 700), 2: (9_000_000, 700), 3: (40_000, 12)}

    assert [pid for pid in parents if is_parents(pid, parents, sizes)] == [2]


def test_measuring_sees_time_and_memory():
    with measured(every_s=0.01) as took:
        block = bytearray(200_000_000)
        time.sleep(0.05)

    assert took.wall_s >= 0.05
    assert took.peak_mb is None or took.peak_mb > len(block) / 1e6
