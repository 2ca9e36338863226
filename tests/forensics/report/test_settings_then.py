"""The settings of an incident's time: what was in force then as the verdict knows it, and what is now."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.clock import micros
from forensics.report.follow_ups import follow_ups
from forensics.report.gaps import gaps
from forensics.report.settings_then import settings_then
from forensics.settings_in_force import SettingsInForce

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
QUEUE = "arn:aws:sqs:eu-west-1:111122223333:payments"
DEAD = QUEUE + "-dlq"
INCIDENT = {
    "started_at": NOON,
    "queue_arn": QUEUE,
    "visibility_timeout_s": 60,
    "function_timeout_s": 30,
    "batch_size": 10,
    "is_fifo": False,
    "unread_sources": [],
    "confirmed": 1,
    "probable": 0,
    "possible": 0,
    "messages_at_most": None,
    "causes": ["poison=1"],
}
DELIVERIES = [
    {"function_name": "charge", "effect": "yes", "basis": "marker", "received_basis": "line", "receive_count": 1}
]


def after(hours: float) -> datetime:
    return NOON + timedelta(hours=hours)


def queue(hours, dead=None, changed=None, visibility_s=60, **more):
    return {
        "evidence_id": f"queue:{hours}",
        "queue_arn": QUEUE,
        "observed_at": after(hours),
        "last_modified_at": None if changed is None else after(changed),
        "visibility_timeout_s": visibility_s,
        "message_retention_s": 345_600,
        "dead_letter_queue_arn": dead,
        "max_receive_count": 3 if dead else None,
        "is_fifo": False,
        **more,
    }


def function(name, timeout_s):
    return {
        "evidence_id": f"function:{name}",
        "function_name": name,
        "observed_at": after(-1),
        "last_modified_at": None,
        "timeout_s": timeout_s,
    }


def mapping(name, batch_size):
    return {
        "evidence_id": f"mapping:{name}",
        "mapping_uuid": f"u-{name}",
        "queue_arn": QUEUE,
        "function_name": name,
        "observed_at": after(-1),
        "last_modified_at": None,
        "batch_size": batch_size,
        "batching_window_s": 0,
        "reports_batch_item_failures": False,
        "maximum_concurrency": None,
    }


def call(hours, *settings):
    return {
        "evidence_id": f"change:{hours}",
        "changed_at": after(hours),
        "resource_kind": "queue",
        "resource": "payments",
        "queue_arn": QUEUE,
        "function_name": None,
        "settings": list(settings),
        "actor": "deploy/ci",
        "error_code": None,
    }


def evidence(*queues, functions=(), mappings=(), calls=()):
    return {
        "queue_settings": list(queues),
        "function_settings": list(functions),
        "event_source_mappings": list(mappings),
        "setting_changes": list(calls),
    }


def told(rows, incident=INCIDENT):
    return {fact.name: fact for fact in settings_then(incident, DELIVERIES, rows)}


def advice_of(rows):
    facts = settings_then(INCIDENT, DELIVERIES, rows)
    return [f.action for f in follow_ups(INCIDENT | {"excluded": []}, [], facts)]


ADDED_SINCE = evidence(queue(-24), queue(24, DEAD, changed=1))


def test_a_dead_letter_queue_added_after_the_incident_was_none_then_for_report_and_verdict_alike():
    fact = told(ADDED_SINCE)["dead-letter queue"]
    verdict = SettingsInForce.of(*(ADDED_SINCE[table] for table in ADDED_SINCE)).queue(QUEUE, micros(NOON))

    assert verdict["dead_letter_queue_arn"] is None
    assert (fact.value, fact.falls_short, fact.source) == ("none", True, "read 2026-11-19 12:00:00.000")
    assert "receives before the dead-letter queue" not in told(ADDED_SINCE)


def test_what_was_mended_since_is_told_and_not_advised_again():
    fact = told(ADDED_SINCE)["dead-letter queue"]

    assert (fact.now, fact.falls_short_now) == ("payments-dlq", False)
    assert fact.evidence_ids == ("queue:-24", "queue:24")
    assert "Add a dead-letter queue." not in advice_of(ADDED_SINCE)
    assert "Add a dead-letter queue." in advice_of(evidence(queue(-24)))


def test_what_still_falls_short_is_advised_whatever_it_was_changed_to():
    rows = evidence(
        queue(-24),
        queue(24, changed=1, visibility_s=90),
        functions=[function("charge", 30)],
        mappings=[mapping("charge", 10)],
    )
    fact = told(rows)["visibility timeout"]

    assert (fact.value, fact.now, fact.falls_short, fact.falls_short_now) == ("60 s", "90 s", True, True)
    assert any("6 × the function timeout" in action for action in advice_of(rows))


def test_what_did_not_change_has_no_other_value_now():
    assert {fact.now for fact in told(evidence(queue(-24), queue(24))).values()} == {None}


SOURCES = {
    "read before": ([queue(-2, DEAD)], [], "read 2026-11-20 10:00:00.000"),
    "read later, and unchanged since before": ([queue(2, DEAD, changed=-1)], [], "read 2026-11-20 14:00:00.000"),
    "read later, and nobody knows when it was changed": (
        [queue(2, DEAD)],
        [],
        "read 2026-11-20 14:00:00.000, after the incident began",
    ),
    "as CloudTrail recorded it": (
        [queue(-2)],
        [call(-1, f'RedrivePolicy={{"deadLetterTargetArn": "{DEAD}", "maxReceiveCount": 3}}')],
        "set 2026-11-20 11:00:00.000, from CloudTrail",
    ),
}


def test_what_was_changed_meanwhile_is_not_known():
    fact = told(evidence(queue(2, DEAD, changed=1)))["dead-letter queue"]

    assert fact.value == "not known"
    assert fact.source == "read 2026-11-20 14:00:00.000; last changed 2026-11-20 13:00:00.000, after the incident began"


@pytest.mark.parametrize(("queues", "calls", "source"), SOURCES.values(), ids=SOURCES)
def test_where_a_value_is_from(queues, calls, source):
    fact = told(evidence(*queues, calls=calls))["dead-letter queue"]

    assert (fact.value, fact.source) == ("payments-dlq", source)


def test_each_setting_names_the_evidence_that_tells_it():
    rows = evidence(queue(-2), calls=[call(-1, "VisibilityTimeout=60")])

    assert told(rows)["visibility timeout"].evidence_ids == ("change:-1",)
    assert told(rows)["message retention"].evidence_ids == ("queue:-2",)


def test_a_dead_letter_queue_that_was_set_later_and_not_seen_before_is_not_known_to_be_missing():
    rows = evidence(queue(2, DEAD, changed=1), calls=[call(1, f'RedrivePolicy={{"deadLetterTargetArn": "{DEAD}"}}')])
    fact = told(rows)["dead-letter queue"]

    assert (fact.value, fact.falls_short, fact.now) == ("not known", False, "payments-dlq")
    assert fact.source.startswith("not known before 2026-11-20 13:00:00.000, when deploy/ci set RedrivePolicy=")
    assert "Add a dead-letter queue." not in advice_of(rows)


UNSURE = "Settings were read or changed only after the incident began; the values at the time are not certain."


def test_what_only_a_later_reading_vouches_for_is_said_to_be_uncertain():
    certain, unsure = (settings_then(INCIDENT, DELIVERIES, evidence(row)) for row in (queue(-2), queue(2)))

    assert UNSURE in gaps(INCIDENT, DELIVERIES, [], unsure)
    assert UNSURE not in gaps(INCIDENT, DELIVERIES, [], certain)


def test_of_several_functions_the_one_is_cited_whose_setting_it_is():
    rows = evidence(
        functions=[function("audit", 5), function("charge", 30)], mappings=[mapping("audit", 1), mapping("charge", 10)]
    )
    both = [d | {"function_name": name} for d in DELIVERIES for name in ("audit", "charge")]
    facts = {fact.name: fact for fact in settings_then(INCIDENT, both, rows)}

    assert facts["function timeout"].evidence_ids == ("function:charge",)
    assert facts["batch size"].evidence_ids == ("mapping:charge",)


def test_an_incident_whose_lines_name_no_function_is_told_of_the_mappings_of_its_queue():
    facts = settings_then(INCIDENT, [], evidence(mappings=[mapping("charge", 10)]))

    assert "mapping:charge" in {i for fact in facts for i in fact.evidence_ids}


def test_an_incident_without_a_start_is_told_of_the_newest_settings():
    fact = told(ADDED_SINCE, INCIDENT | {"started_at": None})["dead-letter queue"]

    assert (fact.value, fact.now) == ("payments-dlq", None)


def test_what_only_lines_tell_names_them_as_its_source():
    facts = told(evidence())

    assert {fact.source for fact in facts.values()} == {"log lines"}
    assert [fact.value for fact in facts.values()] == ["60 s", "30 s", "10", "standard"]


def test_a_timeout_that_was_set_later_is_unknown_at_the_time_and_the_change_is_told():
    rows = evidence(queue(24), calls=[call(2.5, "VisibilityTimeout=400")])
    incident = INCIDENT | {"visibility_timeout_s": None}
    fact = told(rows, incident)["visibility timeout"]
    (said,) = [g for g in gaps(incident, DELIVERIES, [], [fact]) if "at the time" in g and "Visibility" in g]

    assert (fact.value, fact.falls_short) == ("not known", False)
    assert said == (
        "Visibility timeout at the time: not known before 2026-11-20 14:30:00.000, "
        "when deploy/ci set VisibilityTimeout=400 (CloudTrail)."
    )


def test_a_function_timeout_that_only_the_log_tells_is_from_the_log():
    of_function = {"resource_kind": "function", "resource": "charge", "queue_arn": None, "function_name": "charge"}
    newest = function("charge", 60) | {"observed_at": after(24)}
    rows = evidence(functions=[newest], calls=[call(3, "Timeout=60") | of_function])
    fact = told(rows, INCIDENT | {"function_timeout_s": 20})["function timeout"]

    assert (fact.value, fact.source, fact.now) == ("20 s", "log lines", "60 s")


def test_a_timeout_that_stopped_runs_tell_is_shown_as_of_the_log_beside_what_it_is_now():
    since = function("charge", 60) | {"observed_at": after(9), "last_modified_at": after(2)}
    fact = told(evidence(queue(-1), functions=[since]), INCIDENT | {"function_timeout_s": 20})["function timeout"]

    assert (fact.value, fact.source, fact.now) == ("20 s", "log lines", "60 s")
