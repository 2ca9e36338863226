"""expired-handle through the whole path: work done, delete refused, work done again."""

import pytest

from forensics.tables import findings as T
from forensics.tables.health import QUEUE_WEEKS, SETTING_FINDINGS

pytestmark = [pytest.mark.spark, pytest.mark.emulator]

SCENARIO = "expired-handle"
QUEUE = "orders.fifo"


@pytest.fixture(scope="module")
def messages(investigated):
    return investigated.by_message(T.MESSAGES, QUEUE)


def test_every_order_charged_again_is_confirmed_and_proved_with_the_true_count(investigated, messages):
    again = {truth.message_id: truth for truth in investigated.truly_again(QUEUE)}

    assert set(messages) == set(again)
    for message_id, row in messages.items():
        effects = again[message_id].effects
        assert (row["verdict"], row["certainty"]) == ("confirmed", "proved")
        assert (row["effects_at_least"], row["effects_at_most"]) == (effects, effects)


def test_the_cause_of_every_redelivery_is_the_expired_handle(investigated, messages):
    causes = [row["cause"] for row in investigated.rows(T.REDELIVERIES)]

    assert causes == ["handle_expired"] * 4
    assert all(row["causes"] == ["handle_expired"] for row in messages.values())


def test_the_refused_deletes_stand_in_the_ledger(investigated):
    expired = [row for row in investigated.rows(T.DELIVERIES) if row["delete_status"] == "expired"]

    assert len(expired) == 4
    assert {row["ended_by"] for row in expired} == {"delete_refused"}
    assert {row["effect"] for row in expired} == {"yes"}


def test_one_repeat_overlapped_and_one_did_not(investigated):
    first, _, third = investigated.truly_again(QUEUE)
    overlap_ms = {row["message_id"]: row["overlap_ms"] for row in investigated.rows(T.REDELIVERIES)}

    assert overlap_ms[first.message_id] > 0
    assert overlap_ms[third.message_id] == 0


def test_the_orders_charged_again_are_listed(investigated, messages):
    listed = sorted(key for row in messages.values() for key in row["business_keys"])

    assert listed == sorted(truth.business_key for truth in investigated.truly_again(QUEUE))


def test_it_is_one_incident(investigated):
    [incident] = investigated.rows(T.INCIDENTS)

    assert (incident["queue"], incident["confirmed"], incident["primary_cause"]) == (QUEUE, 3, "handle_expired")
    assert incident["visibility_timeout_s"] == 30


def test_healthy_jobs_are_in_the_ledger_with_their_receive_count(investigated):
    ledger = sorted((row["message_id"], row["receive_count"]) for row in investigated.rows(T.DELIVERIES))
    truth = sorted((t.message_id, d.receive_count) for t in investigated.played.truths for d in t.deliveries)

    assert ledger == truth


@pytest.mark.parametrize("table", [T.MESSAGES, T.REDELIVERIES, T.INCIDENTS, T.TIMELINE], ids=lambda table: table.name)
def test_every_claim_cites_evidence_that_resolves(investigated, table):
    assert all(row["evidence_ids"] for row in investigated.rows(table))
    assert investigated.unresolved(table) == set()


def test_the_week_counts_the_refused_deletes_and_the_slowest_handling_outgrows_the_visibility_timeout(investigated):
    weeks = [row for row in investigated.rows(QUEUE_WEEKS) if row["queue"] == QUEUE]
    failed = {row["code"]: row["severity"] for row in investigated.rows(SETTING_FINDINGS) if row["status"] == "fails"}

    assert sum(row["expired_handle_count"] for row in weeks) == 4
    assert failed["handling_outgrows_visibility"] == "warning"
