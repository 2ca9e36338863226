"""dlq-timing through the whole path: not the second failure moves the message, the third receive does."""

from datetime import timedelta

import pytest

from forensics.redrive import plan
from forensics.tables import findings as T

pytestmark = [pytest.mark.spark, pytest.mark.emulator]

SCENARIO = "dlq-timing"
QUEUE = "webhooks"


@pytest.fixture(scope="module")
def moved(investigated):
    return {row["message_id"]: row for row in investigated.rows(T.QUEUE_FINDINGS) if row["code"] == "dead_lettered"}


@pytest.fixture(scope="module")
def truths(investigated):
    return {truth.message_id: truth for truth in investigated.truly_again(QUEUE)}


def test_every_webhook_that_failed_twice_was_dead_lettered(moved, truths):
    assert set(moved) == set(truths)
    assert {row["stance"] for row in moved.values()} == {"supported"}


def test_nothing_moved_at_the_second_failure(investigated, moved, truths):
    seconds = {r["message_id"]: r for r in investigated.rows(T.DELIVERIES) if r["receive_count"] == 2}
    for message_id, row in moved.items():
        failed_at = seconds[message_id]["run_ended_at"]

        assert row["from_at"] - failed_at > timedelta(seconds=50)
        assert row["from_at"] - truths[message_id].deliveries[1].received_at == pytest.approx(
            timedelta(seconds=60), abs=timedelta(milliseconds=100)
        )


def test_the_third_receive_moved_it(moved, truths):
    for message_id, row in moved.items():
        moved_at = truths[message_id].dead_lettered_at

        assert row["from_at"] - timedelta(milliseconds=100) <= moved_at <= row["until_at"]
        assert row["until_at"] - row["from_at"] < timedelta(minutes=2)
        assert "receive number 3 moves it to webhooks-dlq" in row["sentence"]


def test_the_move_stands_on_the_timeline_where_it_happened(investigated, moved):
    marks = {row["message_id"]: row["at"] for row in investigated.rows(T.TIMELINE) if row["kind"] == "dead_lettered"}

    assert marks == {message_id: row["from_at"] for message_id, row in moved.items() if row["incident_id"]}
    assert len(marks) == 3


def test_redriving_repeats_what_was_done_and_is_safe_only_where_it_surely_was_not(moved, truths):
    in_order = sorted(moved.values(), key=lambda row: row["from_at"])

    # Two met a closed port, which no line tells from an accepted webhook; one was accepted; one was never tried.
    assert [row["redrive"] for row in in_order] == ["may_repeat", "may_repeat", "repeats", "safe"]
    assert [truths[row["message_id"]].effects for row in in_order] == [0, 0, 2, 0]


def test_the_true_number_of_effects_lies_in_every_interval(investigated, moved, truths):
    for row in [*investigated.rows(T.MESSAGES), *moved.values()]:
        assert row["effects_at_least"] <= truths[row["message_id"]].effects <= row["effects_at_most"]


def test_the_webhook_that_was_accepted_twice_is_confirmed(investigated, truths):
    rows = investigated.by_message(T.MESSAGES, QUEUE)
    confirmed = {m for m, row in rows.items() if row["verdict"] == "confirmed"}

    assert confirmed == {m for m, truth in truths.items() if truth.effects == 2}
    assert all(rows[m]["certainty"] == "proved" and rows[m]["is_dead_lettered"] for m in confirmed)


def test_the_function_raised_or_gave_it_back(investigated):
    causes = [row["cause"] for row in investigated.rows(T.REDELIVERIES)]

    assert sorted(causes) == ["function_error"] * 3 + ["partial_response"]


@pytest.mark.parametrize(
    "table", [T.MESSAGES, T.INCIDENTS, T.QUEUE_FINDINGS, T.COUNTERFACTUALS], ids=lambda table: table.name
)
def test_every_claim_cites_evidence_that_resolves(investigated, table):
    assert all(row["evidence_ids"] for row in investigated.rows(table))
    assert investigated.unresolved(table) == set()


def test_the_redrive_plan_sends_back_only_what_was_never_done(investigated):
    found = plan(investigated.lake.findings(), f"{QUEUE}-dlq")
    done = {t.message_id: t.effects for t in investigated.played.truths if t.queue == QUEUE}

    assert {done[s.message_id] for s in found.steps if s.decision == "repeats"} == {2}
    assert [done[s.message_id] for s in found.scripted] == [0]
