"""Settings checks: what is in force at the end of the evidence, against what its last seven days showed."""

from dataclasses import replace
from datetime import timedelta

import polars as pl
import pytest

from forensics.counting.measures import delivery_measures, invocation_measures, returned_batches, verdict_measures
from forensics.counting.metrics import metric_measures, read_measures
from forensics.counting.periods import periods_of
from forensics.counting.recent import setting_findings, timeouts_of
from forensics.lake import to_arrow
from forensics.tables.evidence import EVENT_SOURCE_MAPPINGS, METRIC_POINTS, SETTING_CHANGES
from forensics.tables.findings import DELIVERIES, INVOCATIONS, MESSAGES
from forensics.tables.health import SETTING_FINDINGS
from tests.spark_jobs import health_world as world
from tests.spark_jobs.health_world import (
    KNOWN,
    ORDERS,
    READINESS,
    TOKYO,
    UNTIL,
    delivery,
    frame,
    in_days,
    minute,
    whole,
)

MAPPING = whole(
    EVENT_SOURCE_MAPPINGS,
    {
        "evidence_id": "mapping:1",
        "mapping_uuid": "u",
        "queue_arn": ORDERS,
        "function_name": "ship",
        "batch_size": 10,
        "reports_batch_item_failures": True,
        "observed_at": UNTIL,
    },
)


def checked(*more, known=KNOWN, until=UNTIL, parts=1, invocations=world.INVOCATIONS, may_read=True):
    """Answers by queue and code, with further deliveries; those of each invocation lie apart in several parts.

    Unless it ``may_read`` them, there are no invocations to be read, only what is kept of those that were stopped.
    """
    runs = frame(INVOCATIONS, invocations)
    rows = [*world.DELIVERIES, *more]
    cut = [frame(DELIVERIES, rows[n::parts]) for n in range(parts)]
    measures = [
        *(delivery_measures(part) for part in cut),
        invocation_measures(runs),
        verdict_measures(frame(MESSAGES, world.MESSAGES)),
    ]
    metrics = metric_measures(frame(METRIC_POINTS, world.POINTS), known)
    periods = periods_of(in_days(measures, TOKYO, until), metrics, read_measures(known, TOKYO), TOKYO, until)
    returned = pl.concat([returned_batches(part) for part in cut])
    cut_runs = [runs[n::parts] for n in range(parts)]
    lazy, timeouts = (pl.concat(part.lazy() for part in frames) for frames in (cut_runs, map(timeouts_of, cut_runs)))
    lazy = lazy if may_read else [pl.scan_parquet("nowhere.parquet")]
    found = setting_findings(periods, returned, READINESS, known, until, lazy, timeouts)
    assert to_arrow(SETTING_FINDINGS, found).num_rows == len(
        {(r["queue_arn"], r["consumer"], r["code"]) for r in found}
    )
    return {(r["queue"], r["code"]): r for r in found}


@pytest.fixture(scope="module")
def checks():
    return checked()


def test_settings_are_checked_against_what_was_observed(checks):
    failed = {key: row["severity"] for key, row in checks.items() if row["status"] == "fails"}

    assert failed == {
        ("orders", "visibility_below_timeout"): "critical",
        ("orders", "max_receive_count"): "warning",
        ("orders", "run_near_timeout"): "critical",
        ("orders", "handling_outgrows_visibility"): "warning",
        ("orders", "logging_readiness"): "note",
        ("carts", "dead_letter_queue_missing"): "warning",
    }
    ids = checks["orders", "visibility_below_timeout"]["evidence_ids"]
    assert {"function:1", "queue:" + ORDERS} < set(ids), (
        "with the runs that say whether a shorter timeout leaves them time"
    )
    assert checks["orders", "logging_readiness"]["sentence"] == READINESS[0]["sentence"].rstrip(".")
    assert "print('done')" in checks["orders", "logging_readiness"]["advice"]
    assert "log:readiness" in checks["orders", "logging_readiness"]["evidence_ids"]
    assert "1 run of 101 hit the function timeout 30 s" in checks["orders", "run_near_timeout"]["sentence"]
    assert all(row["observed_until_at"] == UNTIL for row in checks.values())


def test_a_mapping_that_was_not_read_is_unknown(checks):
    unknown = {code for (name, code), row in checks.items() if name == "orders" and row["status"] == "unknown"}

    assert unknown == {
        "drift",
        "partial_responses",
        "concurrency_limit",
        "mapping_metrics_off",
        "mapping_filters",
        "mapping_disabled",
        "in_flight_quota",
    }


def test_what_was_set_after_the_newest_snapshot_is_checked():
    policy = f'RedrivePolicy={{"deadLetterTargetArn": "{world.DEAD}", "maxReceiveCount": 5}}'
    change = whole(
        SETTING_CHANGES,
        {
            "evidence_id": "change:carts",
            "changed_at": UNTIL + timedelta(minutes=1),
            "resource_kind": "queue",
            "queue_arn": world.CARTS,
            "settings": [policy],
        },
    )

    row = checked(known=replace(KNOWN, setting_changes=[change]))["carts", "dead_letter_queue_missing"]

    assert (row["status"], row["evidence_ids"]) == ("passes", ["change:carts"])


def test_every_answer_that_is_known_cites_evidence(checks):
    assert all(r["evidence_ids"] for r in checks.values() if r["status"] != "unknown")


def whole_batch(size, **more):
    """A batch whose invocation ended in success, and of which every message came again."""
    again = {"consumer": "whole", "batch_count": size, "ended_by": "visibility_expired", **more}
    return [delivery(f"w{n}", 1, minute(9), **again) for n in range(size)]


WITH_MAPPING = replace(KNOWN, event_source_mappings=[MAPPING])


def partial_responses(*more, parts=1, until=UNTIL):
    return checked(*more, known=WITH_MAPPING, parts=parts, until=until)["orders", "partial_responses"]


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_a_whole_batch_that_came_again_after_success_is_found_whatever_part_its_messages_are_in(parts):
    row = partial_responses(*whole_batch(3), parts=parts)

    assert row["status"] == "fails"
    assert "log:w0:1" in row["evidence_ids"]


NOT_WHOLE = {
    "a message of it was deleted": whole_batch(3)[:2],
    "the invocation failed": whole_batch(3, run_status="error"),
    "it was one message": whole_batch(1),
    "it came before the last seven days": whole_batch(3, received_at=minute(9) - timedelta(days=8)),
}


@pytest.mark.parametrize("rows", NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_no_whole_batch_came_again_after_success_where(rows):
    assert partial_responses(*rows)["status"] != "fails"


def test_without_an_end_of_the_evidence_only_settings_are_compared():
    found = checked(until=None)

    assert found["orders", "visibility_below_timeout"]["status"] == "fails"
    assert found["orders", "max_receive_count"]["observed_until_at"] is None


def set_to(timeout_s, at):
    """What CloudTrail keeps of a function timeout that somebody set."""
    return whole(
        SETTING_CHANGES,
        {
            "evidence_id": f"change:{at:%H%M}",
            "changed_at": at,
            "resource_kind": "function",
            "resource": "ship",
            "function_name": "ship",
            "settings": [f"Timeout={timeout_s}"],
        },
    )


@pytest.mark.parametrize("parts", [1, 3])
def test_timeouts_are_counted_against_the_limit_in_force_when_each_run_began(parts):
    stopped = [world.invocation(f"stopped{n}", minute(n), 20_000, "timeout") for n in range(13)]
    fine = [world.invocation(f"fine{n}", minute(60 + n), 900) for n in range(40)]
    repaired = replace(KNOWN, setting_changes=[set_to(20, minute(-30)), set_to(30, minute(50))])

    row = checked(known=repaired, invocations=[*stopped, *fine], parts=parts)["orders", "run_near_timeout"]

    assert row["status"] == "passes"
    assert row["sentence"] == (
        "p99 run 0.9 s, function timeout 30 s, no timeout in 40 runs since it was set 15 Nov 15:50 UTC; "
        "before, 13 runs hit the timeout (then 20 s)"
    )
    assert {"change:1550", "log:stopped0"} <= set(row["evidence_ids"])


def test_a_limit_under_which_no_run_began_yet_is_unknown():
    stopped = [world.invocation("stopped", minute(1), 20_000, "timeout")]
    repaired = replace(KNOWN, setting_changes=[set_to(30, minute(50))])

    row = checked(known=repaired, invocations=stopped)["orders", "run_near_timeout"]

    assert (row["status"], row["severity"]) == ("unknown", None)
    assert (
        "no run of known length was seen since it was set 15 Nov 15:50 UTC (30 s); before, 1 run hit" in row["sentence"]
    )


def test_a_run_that_hits_the_new_limit_is_critical_with_the_new_number():
    runs = [
        world.invocation("before", minute(1), 20_000, "timeout"),
        world.invocation("after", minute(60), 30_000, "timeout"),
        world.invocation("fine", minute(61), 500),
    ]
    raised = replace(KNOWN, setting_changes=[set_to(30, minute(50))])

    row = checked(known=raised, invocations=runs)["orders", "run_near_timeout"]

    assert row["severity"] == "critical"
    assert row["sentence"].startswith("1 run of 2 hit the function timeout 30 s since it was set 15 Nov 15:50 UTC;")


def changed_since(at, runs, may_read=True):
    """What is said of runs near the timeout where only a snapshot from after them is there, of a function changed at a time."""
    later = {**world.FUNCTION, "observed_at": UNTIL, "last_modified_at": at}
    known = replace(KNOWN, function_settings=[later])
    return checked(known=known, invocations=runs, may_read=may_read)["orders", "run_near_timeout"]


def test_runs_that_were_stopped_below_the_limit_of_a_later_snapshot_hit_an_earlier_one():
    stopped = [world.invocation(f"stopped{n}", minute(n), 20_000, "timeout") for n in range(13)]
    fine = [world.invocation(f"fine{n}", minute(60 + n), 900) for n in range(40)]

    row = changed_since(minute(50), [*stopped, *fine])

    assert row["status"] == "passes"
    assert row["sentence"] == (
        "p99 run 0.9 s, function timeout 30 s, no timeout in 40 runs since it was set 15 Nov 15:50 UTC; "
        "before, 13 runs hit the timeout (then 20 s)"
    )


def test_runs_that_were_stopped_at_that_limit_hit_it_though_the_function_was_changed_since():
    stopped = [world.invocation("stopped", minute(1), 30_000, "timeout")]

    row = changed_since(minute(50), stopped, may_read=False)

    assert row["sentence"].startswith("1 run of 1 hit the function timeout 30 s in the last 7 days;")
