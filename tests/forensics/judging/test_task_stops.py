"""A worker whose task stopped is over: what it held and wrote nothing more of came back because of that, or did not."""

import pytest

from forensics.judging.judge import judge
from forensics.judging.surroundings import Surroundings
from tests.forensics.judging.around import PAYMENTS, at, moment
from tests.forensics.judging.test_calls import OTHER, worked

TASK = "0f2a4c1e93f64a438a571d4dd3b9d0aa"


def stop(minute: float, task_id=TASK):
    return {
        "evidence_id": f"stop:{minute}",
        "task_id": task_id,
        "stopped_at": moment(minute),
        "stop_code": "EssentialContainerExited",
        "stopped_reason": "Essential container in task exited",
        "container_reasons": ["app: exit code 137, OutOfMemoryError: Container killed due to memory usage"],
    }


def judged(*stops, **facts):
    held = {
        "log_stream": f"worker/app/{TASK}",
        "run_status": "unknown",
        "is_end_known": False,
        "run_last_line_at": at(0.2),
    }
    work = [worked(0, **{"run_ended_at": at(0.2), **held, **facts}), worked(2.1, receipt_handle=OTHER)]
    (again,) = judge(work, Surroundings(task_stops=stops)).redeliveries
    return again


def test_a_task_that_stopped_while_it_held_a_message_is_why_it_came_back():
    killed = judged(stop(1))

    assert (judged().cause, killed.cause) == ("undecidable", "worker_killed")
    assert "had stopped 60 s after it received the message" in killed.sentence
    assert "OutOfMemoryError" in killed.sentence
    assert any(said.startswith("visibility_expired: ") for said in killed.excluded)
    assert "stop:1" in killed.evidence_ids


@pytest.mark.parametrize(
    ("stops", "facts"),
    [
        ([stop(2.05)], {}),
        ([stop(1, "another")], {}),
        ([stop(0.1)], {}),
        ([stop(800)], {}),
        ([stop(1)], {"log_stream": "host-1"}),
    ],
    ids=["when it was visible again", "another task", "before its last line", "half a day later", "another stream"],
)
def test_a_stop_that_did_not_end_the_handling_is_no_cause(stops, facts):
    assert judged(*stops, **facts).cause == "undecidable"


def test_a_worker_that_ended_the_message_by_itself_was_not_killed():
    assert judged(stop(1), run_status="error", is_end_known=True).cause != "worker_killed"


def test_stops_bear_on_receives_of_the_twelve_hours_before_them():
    asked = ([PAYMENTS], ["/ecs/worker"], at(10), at(20))
    told = [Surroundings(task_stops=[stop(minute)]).bearing(*asked) for minute in (5, 15, 700, 800)]

    assert told[0] == told[3] == Surroundings().bearing(*asked)
    assert len(set(told)) == 3
