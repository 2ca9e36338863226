"""Why messages were redelivered: the trigger stands first, and nothing is said that no line tells."""

import pytest

from forensics.incidents.incident import incident_row
from forensics.incidents.shares import share_of
from forensics.rules import RULES
from forensics.verdict import Why, why_sentence
from tests.forensics.incidents.builders import ARN, at, delivery, message, redelivery

CUT_OFF = Why("payments.fifo", ["charge-card"], "function_timeout", 10, 7, 10, 7, 30_040, 600_100, 0, 30, 600)
SAID = {
    "a batch that timed out": (
        CUT_OFF,
        "charge-card timed out after 30 s with 10 messages of payments.fifo in the batch. 7 had finished; SQS redelivered "
        "all 10 after the visibility timeout of 10 min, and 7 were processed again.",
    ),
    "several runs": (
        CUT_OFF._replace(runs=13),
        "and 7 were processed again. 13 runs with messages of this incident ended so.",
    ),
    "none of the batch is known to have finished": (
        CUT_OFF._replace(done=0, done_again=0),
        "in the batch. SQS redelivered all 10 after the visibility timeout of 10 min.",
    ),
    "a batch of one": (
        CUT_OFF._replace(trigger="function_error", messages=1, done=0, redelivered=1, done_again=0, ran_ms=1200),
        "charge-card failed with an error after 1.2 s with one message of payments.fifo. SQS redelivered it after the "
        "visibility timeout of 10 min.",
    ),
    "redelivered long after its visibility timeout": (
        CUT_OFF._replace(gap_ms=900_000),
        "SQS redelivered all 10, 15 min after the previous receive, and 7 were processed again.",
    ),
    "a batch of which lines name a part": (
        Why("orders", ["charge"], "function_timeout", 2, 2, 2, 2, is_part=1),
        "charge timed out with at least 2 messages of orders in the batch. 2 had finished; SQS redelivered 2 of them, and 2 were "
        "processed again.",
    ),
    "a batch of which lines name one": (
        Why("orders", ["charge"], "function_timeout", 1, 1, 1, 1, is_part=1),
        "charge timed out with at least one message of orders in the batch. Its work had finished; SQS redelivered it, and it was "
        "processed again.",
    ),
    "settings and times that nothing tells": (
        Why("orders", ["worker"], "runtime_crash"),
        "worker crashed with one message of orders. SQS redelivered it.",
    ),
    "a consumer slower than the visibility timeout": (
        Why("orders", ["worker"], "visibility_expired", done=1, done_again=1, gap_ms=30_010, visibility_timeout_s=30),
        "worker was still working on a message of orders when the visibility timeout of 30 s expired. SQS redelivered it, and "
        "it was processed again.",
    ),
    "nobody knows who consumed it": (
        Why("orders", [], "throttled"),
        "The consumer was throttled, so a message of orders was received without a run. SQS redelivered it.",
    ),
}


@pytest.mark.parametrize(("why", "ends"), SAID.values(), ids=SAID)
def test_the_trigger_is_told_before_what_it_did(why, ends):
    assert why_sentence(why).endswith(ends)


def test_every_cause_has_words_of_its_own():
    causes = [*RULES, "producer_retry", "dedup_window_passed", "dlq_redrive", "undecidable"]
    said = [why_sentence(Why("orders", ["worker"], code)) for code in causes]

    assert len(set(said)) == len(causes)
    assert sum("leaves several causes open" in one for one in said) == 1


KNOWN = {
    "its batch was printed": ({"is_batch_printed": True}, "with 3 messages", "SQS redelivered all 3"),
    "its batch was not printed": ({}, "with at least 3 messages", "SQS redelivered 3 of them"),
    "its batch was not printed, and a mapping hands out one alone": ({"batch_size": 1}, "with 3 messages", "all 3"),
    "a worker had them": ({"consumer_kind": "worker"}, "with 3 messages", "SQS redelivered all 3"),
}


@pytest.mark.parametrize(("facts", "batch", "again"), KNOWN.values(), ids=KNOWN)
def test_an_incident_is_told_by_the_run_that_cut_off_what_had_finished(facts, batch, again):
    """Most redeliveries are of finished messages; what a reader must hear is that their run timed out."""
    run = {"consumer": "run-1", "batch_count": 3, "run_started_at": at(0), "run_ended_at": at(10), **facts}
    ledger = [delivery(item, 1, 0, effect="yes" if item != "c" else "unknown", **run) for item in "abc"]
    ledger += [delivery(item, 2, 30, effect="yes", consumer="run-2") for item in "abc"]
    collateral = {"cause": "batch_collateral", "earlier_status": "timeout", "gap_ms": 30_000}
    pairs = [redelivery("c", gap_ms=30_000, later=30), *[redelivery(i, later=30, **collateral) for i in "ab"]]
    affected = [message(item) for item in "abc"]
    row = incident_row("payments-1", ARN, share_of(affected, pairs, ledger, set("abc")), None, [])

    assert (row["primary_cause"], row["trigger"]) == ("batch_collateral", "function_timeout")
    assert f"charge timed out after 10 s {batch} of payments in the batch. 2 had finished; " in row["cause_sentence"]
    assert again in row["cause_sentence"]
    assert row["cause_sentence"].endswith("after the visibility timeout of 30 s, and 2 were processed again.")


def test_runs_that_ended_so_are_counted_whether_or_not_another_receive_followed():
    """The last run of each message timed out, too; that of a bystander has none of the incident's messages."""
    ledger = [delivery(item, index, run_status="timeout") for item in "abc" for index in (1, 2)]
    ledger += [delivery("d", 1, run_status="timeout"), delivery("a", 3, run_status="success")]
    pairs = [redelivery(item, later=30) for item in "abc"] + [redelivery("a", 3, later=60)]
    affected = [message(item) for item in "abc"]
    row = incident_row("payments-1", ARN, share_of(affected, pairs, ledger, set("abc")), None, [])

    assert row["cause_sentence"].endswith("6 runs with messages of this incident ended so.")


def test_an_overlap_stands_in_one_sentence_with_what_was_done_again():
    why = Why("orders", ["worker"], "visibility_expired", redelivered=1, done_again=1, overlap_ms=9000, gap_ms=30_000)

    assert "with both runs at work for 9 s, and it was processed again." in why_sentence(why)
