"""What each change would have prevented, cause by cause."""

import pytest

from forensics.counterfactuals import CHANGES, NOT_PREVENTED, PREVENTED, UNDECIDED, Repeat, answers
from forensics.rules import RULES

CUT = Repeat(
    cause="batch_collateral",
    earlier_status="timeout",
    earlier_effect="yes",
    earlier_batch_count=10,
    earlier_is_printed=True,
    batch_size=10,
    visibility_timeout_s=600,
    function_timeout_s=30,
    run_ms=30_000,
)
UNDER_WAY = CUT._replace(cause="function_timeout", earlier_effect="unknown")
RAISED = CUT._replace(earlier_status="error")
LATE = Repeat(cause="handle_expired", earlier_kind="worker", earlier_effect="yes", run_ms=43_200)
GIVEN_BACK = Repeat(cause="partial_response", earlier_status="success", earlier_is_named_failure=True)
SENT_TWICE = Repeat(cause="dedup_window_passed", earlier_effect="yes")

YES, NO, OPEN = PREVENTED, NOT_PREVENTED, UNDECIDED
ORDER = tuple(CHANGES)
CASES = {
    # repeat, then batch size 1, longer visibility, longer function timeout, partial responses, concurrency, key
    "done before its batch timed out": (CUT, YES, NO, YES, NO, NO, YES),
    "under way when its batch timed out": (UNDER_WAY, OPEN, NO, YES, NO, NO, OPEN),
    "alone when its run timed out": (UNDER_WAY._replace(batch_size=1), NO, NO, YES, NO, NO, OPEN),
    "timed out at Lambda's own limit": (CUT._replace(function_timeout_s=900), YES, NO, NO, NO, NO, YES),
    "done before its batch raised": (RAISED, YES, NO, NO, YES, NO, YES),
    "not done when its batch raised": (
        RAISED._replace(cause="function_error", earlier_effect="unknown"),
        OPEN,
        NO,
        NO,
        OPEN,
        NO,
        OPEN,
    ),
    "alone in the run that raised": (
        RAISED._replace(cause="function_error", batch_size=1),
        NO,
        NO,
        NO,
        NO,
        NO,
        YES,
    ),
    "done before the runtime crashed": (CUT._replace(earlier_status="crash"), YES, NO, NO, NO, NO, YES),
    "tried again in one delivery": (CUT._replace(cause="tried_again"), NO, NO, NO, NO, NO, YES),
    "given again by the same receive": (CUT._replace(cause="invoked_again"), NO, NO, NO, NO, NO, YES),
    "a worker slower than the visibility timeout": (LATE, NO, YES, NO, NO, NO, YES),
    "a worker whose heartbeats ran out": (LATE._replace(has_heartbeat=True), NO, NO, NO, NO, NO, YES),
    "a batch slower than the visibility timeout": (
        CUT._replace(cause="visibility_expired", earlier_status="success"),
        OPEN,
        YES,
        NO,
        NO,
        NO,
        YES,
    ),
    "a run longer than any visibility timeout": (LATE._replace(run_ms=43_200_000), NO, NO, NO, NO, NO, YES),
    "given back by name": (GIVEN_BACK, NO, NO, NO, NO, NO, OPEN),
    "given back by a malformed response": (
        GIVEN_BACK._replace(earlier_is_named_failure=False, earlier_effect="yes"),
        YES,
        NO,
        NO,
        YES,
        NO,
        YES,
    ),
    "received while the function was throttled": (
        Repeat(cause="throttled", earlier_kind=None, earlier_effect="yes"),
        NO,
        NO,
        NO,
        NO,
        YES,
        YES,
    ),
    "sent again after the deduplication window": (SENT_TWICE, NO, NO, NO, NO, NO, YES),
    "sent again, first one's work unknown": (
        SENT_TWICE._replace(earlier_effect="unknown"),
        NO,
        NO,
        NO,
        NO,
        NO,
        OPEN,
    ),
    "nobody knows why": (Repeat(earlier_effect="yes"), OPEN, OPEN, OPEN, OPEN, OPEN, YES),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_would_have_prevented_the_repeat(case):
    repeat, *expected = case

    assert [answer.outcome for _, answer in answers(repeat)] == expected


@pytest.mark.parametrize("cause", [*RULES, "undecidable", "producer_retry", "dlq_redrive"])
@pytest.mark.parametrize("change", CHANGES)
def test_every_change_answers_every_cause_with_a_reason(change, cause):
    answer = CHANGES[change](Repeat(cause=cause))

    assert answer.outcome in (PREVENTED, NOT_PREVENTED, UNDECIDED)
    assert answer.reason


@pytest.mark.parametrize("change", [c for c in CHANGES if c != "idempotency_key"])
def test_an_open_cause_decides_no_change_of_settings(change):
    assert CHANGES[change](Repeat()).outcome == UNDECIDED
