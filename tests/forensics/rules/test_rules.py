"""Each rule at its borders: what supports it, what rules it out, and what leaves it open."""

import pytest

from forensics.rules import RULES, DeliveryPair, Ruling, decide
from forensics.rules.handle_expired import handle_expired
from forensics.rules.visibility_expired import visibility_expired
from tests.forensics.rules.borders import CASES

EVERY_CASE = [
    pytest.param(code, facts, stance, id=f"{code}: {name}")
    for code, cases in CASES.items()
    for name, (facts, stance) in cases.items()
]


@pytest.mark.parametrize(("code", "facts", "stance"), EVERY_CASE)
def test_a_rule_answers_at_its_border(code, facts, stance):
    ruling = RULES[code](DeliveryPair(**facts))

    assert ruling.stance == stance, ruling.sentence


def test_every_rule_has_a_case_for_support_and_exclusion():
    decisive = {code: {stance for _, stance in cases.values()} for code, cases in CASES.items()}

    assert set(decisive) == set(RULES)
    for code, stances in decisive.items():
        assert "excluded" in stances, code
        assert "supported" in stances or code == "broker_copy", code


@pytest.mark.parametrize(("code", "facts", "stance"), EVERY_CASE)
def test_an_undecidable_ruling_names_what_would_decide(code, facts, stance):
    ruling = RULES[code](DeliveryPair(**facts))

    assert bool(ruling.would_decide) == (ruling.stance == "undecidable")


def test_what_is_asked_once_of_two_runs_is_the_same_of_each_message_they_had():
    failed = {"function_timeout": "timeout", "runtime_crash": "crash", "function_error": "error"}
    for facts, _ in (case for cases in CASES.values() for case in cases.values()):
        finished, unfinished = (DeliveryPair(**facts | {"earlier_has_finish_mark": mark}) for mark in (True, False))
        for pair in (unfinished, finished):
            alone = {name: rule(pair) for name, rule in RULES.items()}
            told = {code: Ruling(*ruling) for code, *ruling in decide(pair).rulings}
            assert {name for name in RULES if told[name] != alone[name]} <= {"broker_copy"}, facts
            assert told["broker_copy"] == alone["broker_copy"] or decide(pair).cause == "broker_copy", facts
        own = {"batch_collateral", *(name for name, status in failed.items() if finished.earlier_status == status)}
        assert {name for name in RULES if RULES[name](finished) != RULES[name](unfinished)} <= own, facts


def test_two_causes_can_hold_and_the_surer_one_comes_first():
    decision = decide(
        DeliveryPair(
            earlier_kind="worker",
            is_fifo=True,
            earlier_status="error",
            earlier_error_type="RuntimeException",
            visibility_timeout_s=30,
            gap_ms=2_000,
            run_ms=1_000,
        )
    )

    assert decision.causes == ["released", "function_error"]


def test_a_broker_copy_needs_every_other_cause_excluded():
    fine = dict(
        earlier_status="success",
        reports_batch_item_failures=False,
        visibility_timeout_s=30,
        gap_ms=500,
        run_ms=400,
        earlier_kind="lambda",
    )

    assert decide(DeliveryPair(is_fifo=True, **fine)).cause == "released"
    assert decide(DeliveryPair(is_fifo=False, **fine)).cause == "undecidable"


IN_TIME = {
    "its visibility timeout": (dict(visibility_timeout_s=30), "ended after 20 s, before the 30 s visibility timeout"),
    "the later receive, where that is not known": ({}, "ended after 20 s, and it was received again only after 31 s"),
}


@pytest.mark.parametrize(("known", "told"), IN_TIME.values(), ids=IN_TIME)
def test_a_run_that_ended_in_time_ended_before(known, told):
    ruling = visibility_expired(DeliveryPair(run_ms=20_000, gap_ms=31_000, **known))

    assert (ruling.stance, str(ruling.sentence)) == ("excluded", f"the earlier run {told}")


END = "a line of the worker that says that it finished, failed or deleted this message"
LACKING = {
    "the end, where the timeout is known": (dict(visibility_timeout_s=60), END),
    "the timeout, where the end is known": (dict(run_ms=2000), "the queue's settings"),
    "both, where neither is": ({}, f"{END}; the queue's settings"),
}


@pytest.mark.parametrize(("known", "expected"), LACKING.values(), ids=LACKING)
def test_whether_a_delete_came_in_time_would_be_told_by(known, expected):
    assert handle_expired(DeliveryPair(earlier_kind="worker", **known)).would_decide == expected


def test_an_undecidable_redelivery_says_what_would_decide_it():
    decision = decide(DeliveryPair(earlier_status="unknown", is_fifo=True))

    assert decision.cause == "undecidable"
    assert "REPORT" in (decision.would_decide or "")
