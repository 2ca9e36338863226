"""Worker formats, identity across ids, guards, blind logs: what comes out of the worlds written by hand."""

import pytest

from forensics.tables.findings import INCIDENTS, INVOCATIONS, LOGGING_READINESS, MESSAGES, REDELIVERIES, RULINGS
from forensics.verdict.interval import AFFECTED
from tests.spark_jobs.small_lake import some_id
from tests.spark_jobs.small_worlds import (
    ABSORBED,
    BACK,
    DEAD,
    EVENTS,
    HERE,
    LARAVEL,
    LOCKED,
    LOST_RUN,
    OTHER_EVENT,
    OWN,
    RAILS,
    SHIPPED,
    SHO,
    SPRING,
    TASK,
    THERE,
    TWINS,
    world,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(many_worlds) -> dict[str, list[dict]]:
    findings = many_worlds.lake.findings()
    tables = (MESSAGES, REDELIVERIES, RULINGS, INCIDENTS, INVOCATIONS, LOGGING_READINESS)
    return {t.name: findings.read(t).to_pylist() for t in tables}


@pytest.fixture(scope="module")
def rows(found) -> dict[str, dict]:
    return {row["item_id"]: row for row in found["messages"]}


@pytest.fixture(scope="module")
def causes(found) -> dict[str, list[dict]]:
    told: dict[str, list[dict]] = {}
    for row in found["redeliveries"]:
        told.setdefault(row["item_id"], []).append(row)
    return told


def test_a_worker_that_says_what_it_begins_bounds_how_often_work_was_done(rows):
    """No line of it counts receives; its kind is known from the settings file alone."""
    spring, celery = rows[SPRING], rows[f"key:{TASK}"]

    assert (spring["effects_at_least"], spring["effects_at_most"]) == (2, 2)
    assert "Nothing bounds it" not in spring["effect_sentence"]
    assert (celery["effects_at_least"], celery["effects_at_most"]) == (2, None), "its start names no message"


CONFIRMED = {
    "Celery, by its task id": (f"key:{TASK}", None),
    "Shoryuken": (SHO, "visibility_expired"),
    "Active Job in Shoryuken, whose effect names a key": (RAILS, "visibility_expired"),
    "Spring, a failed acknowledgement": (SPRING, "delete_failed"),
    "a form of one's own": (OWN, None),
}


@pytest.mark.parametrize(("item", "cause"), CONFIRMED.values(), ids=CONFIRMED)
def test_work_done_twice_by_a_worker_is_confirmed(rows, causes, item, cause):
    assert (rows[item]["verdict"], rows[item]["effects_at_least"]) == ("confirmed", 2)
    assert cause is None or causes[item][0]["cause"] == cause


def test_a_workers_log_that_came_in_by_two_ways_tells_of_each_receive_once(rows):
    assert SHIPPED not in rows


def test_a_message_its_job_and_its_key_are_one_work(rows):
    of_rails = [row for row in rows.values() if row["queue"] == "rails"]

    assert [(row["item_id"], row["business_keys"]) for row in of_rails] == [(RAILS, ["o-1"])]


def test_a_receive_count_at_a_configured_place_bounds_the_interval(rows):
    assert (rows[OWN]["receive_count"], rows[OWN]["effects_at_most"]) == (2, 2)


def test_a_job_sent_again_under_another_id_is_one_work(rows):
    first, second = (rows[one] for one in LARAVEL)

    assert first["related_message_ids"] == [LARAVEL[1]]
    assert (first["origin"], second["origin"]) == (None, "producer_retry")
    assert second["effects_at_least"] == 2


def test_a_redriven_fifo_message_is_the_work_of_the_dead_letter_it_is_named_after(rows):
    assert rows[BACK]["related_message_ids"] == [DEAD]
    assert rows[BACK]["origin"] == "dlq_redrive"
    assert DEAD in rows[BACK]["trigger_sentence"]


@pytest.mark.parametrize(("dead", "back"), [("alone", "alone back"), ("waits", "waits back")])
def test_a_message_that_a_move_task_brought_back_is_the_work_of_the_only_dead_letter_of_its_body(rows, dead, back):
    assert rows[some_id(back)]["related_message_ids"] == [some_id(dead)]
    assert rows[some_id(back)]["origin"] == "dlq_redrive"
    assert rows[some_id(back)]["verdict"] == "confirmed"


def test_of_two_dead_letters_of_one_body_neither_is_called_the_one_that_came_back(rows):
    assert some_id("first back") not in rows
    assert rows[some_id("two back")]["related_message_ids"] == []
    assert rows[some_id("two back")]["origin"] is None


@pytest.mark.parametrize("one", [*TWINS, HERE, THERE])
def test_equal_bodies_alone_and_one_key_in_two_queues_are_no_link(rows, one):
    assert one not in rows


def test_an_event_that_sns_published_twice_is_one_work(rows):
    first, second = (rows[one] for one in EVENTS)

    assert first["work_id"] == second["work_id"]
    assert first["business_keys"] == [f"sns:{some_id('event 1')}"]
    assert (second["origin"], second["effects_at_least"], second["effects_at_most"]) == ("producer_retry", 1, 2)
    assert "The same event, by its publisher's id, was sent again 10 s later" in second["trigger_sentence"]
    assert OTHER_EVENT not in rows


def test_a_lock_that_ended_at_the_deadline_is_told(rows):
    assert rows[LOCKED]["verdict"] == "confirmed"
    assert "lock ended when the run before was killed at its 10 s deadline" in rows[LOCKED]["guard_sentence"]


def test_a_repeat_that_met_the_lock_is_absorbed(rows):
    assert rows[ABSORBED]["verdict"] == "absorbed"
    assert "held its lock" in rows[ABSORBED]["guard_sentence"]


def test_a_ruling_says_that_only_a_later_snapshot_shows_the_timeout(causes):
    excluded = " ".join(causes[ABSORBED][0]["excluded"])

    assert "60 s visibility timeout (as a later snapshot shows it)" in excluded


def test_where_no_line_names_a_message_there_is_a_window_with_an_upper_bound(found):
    (incident,) = [i for i in found["incidents"] if i["queue"] == "blind"]

    assert incident["messages"] is None
    assert incident["messages_at_most"] == 20
    assert incident["causes"] == ["function_timeout=2"]
    assert incident["confirmed"] == incident["probable"] == 0
    assert incident["evidence_ids"]


def test_a_run_of_which_one_line_is_left_rests_on_it(found):
    (run,) = [run for run in found["invocations"] if run["request_id"] == LOST_RUN]
    (line,) = [row for row in world().rows["log_events"] if row["log_group"] == "/aws/lambda/lost"]

    assert run["end_status"] == "unknown"
    assert run["evidence_ids"] == [line["evidence_id"]]


def test_readiness_says_what_to_add(found):
    levels = {row["log_group"]: row for row in found["logging_readiness"]}

    assert levels["/aws/lambda/blind"]["level"] == "blind"
    assert 'event["Records"]' in levels["/aws/lambda/blind"]["python_lines"][0]
    assert levels["/aws/lambda/guarded"]["missing"] == ["an item's start"]
    assert levels["/ecs/sho"]["missing"][0] == "the receive count"


def test_an_incident_names_every_rival_that_is_open_for_a_redelivery_of_it(found):
    incident_of = {
        (m["queue_arn"], m["item_id"]): m["incident_id"] for m in found["messages"] if m["verdict"] in AFFECTED
    }
    open_rivals = {
        (incident_of[ruling["queue_arn"], ruling["item_id"]], ruling["code"])
        for ruling in found["rulings"]
        if ruling["stance"] == "undecidable" and (ruling["queue_arn"], ruling["item_id"]) in incident_of
    }
    told = {(row["incident_id"], text.partition(":")[0]) for row in found["incidents"] for text in row["still_open"]}

    assert len(open_rivals) > 100
    assert open_rivals <= told
