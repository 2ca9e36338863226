"""Log events that `--since` leaves out: what is judged without them says no more than without their reading."""

from datetime import timedelta

import pytest

from forensics.clock import moment
from forensics.tables.findings import MESSAGES
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import fill_lake, settings_of
from tests.oracle.judge import stories
from tests.oracle.left_out import LEFT_OUT
from tests.oracle.trial import judged

pytestmark = pytest.mark.slow


def test_receives_that_are_left_out_do_not_count_as_receives_without_a_run(tmp_path):
    world = World(85401003, kind="error types of handlers")
    since = moment(world.started_ms * 1000) + timedelta(seconds=184)
    lake = fill_lake([world], tmp_path / "lake")
    generation = correlate(lake, settings_of([world]), since=since, carrier=Here())
    found = {row["message_id"]: row for row in lake.findings().read(MESSAGES).to_pylist()}
    wrong = {
        name: (truth.effects_done, row["effects_at_least"], row["effects_at_most"])
        for name, truth in world.truth.items()
        if (row := found.get(name))
        and not row["effects_at_least"] <= truth.effects_done <= (row["effects_at_most"] or truth.effects_done)
    }

    assert generation.data_since_at == since
    assert found
    assert not wrong


def test_no_finding_breaks_a_promise_where_log_events_are_left_out(tmp_path):
    problems, score = judged(tmp_path, True, LEFT_OUT, range(85403030, 85403050))
    unsound = [p for p in problems if p.is_unsound]

    assert not unsound, stories(unsound)
    assert score.rows > 30
    assert score.repeated > 10


def test_work_that_a_guard_let_end_well_was_done_once_though_under_an_id_that_is_left_out(tmp_path):
    problems, score = judged(tmp_path, True, LEFT_OUT, range(85410156, 85410157))

    assert not [p for p in problems if p.is_unsound], stories(problems)
    assert score.rows
