"""producer-and-consumer through the whole path: five queues, five things that went wrong, each told from its rivals."""

from datetime import timedelta

import pytest

from forensics.tables import findings as T
from lab.scenarios.producer_and_consumer.invoices import SENT_AGAIN

pytestmark = [pytest.mark.spark, pytest.mark.emulator]

SCENARIO = "producer-and-consumer"


@pytest.fixture(scope="module")
def queue_findings(investigated):
    found: dict[tuple[str, str], list] = {}
    for row in investigated.rows(T.QUEUE_FINDINGS):
        found.setdefault((row["queue"], row["code"]), []).append(row)
    return found


@pytest.fixture(scope="module")
def redeliveries(investigated):
    return investigated.rows(T.REDELIVERIES)


def test_the_true_number_of_effects_lies_in_every_interval(investigated):
    by_key: dict[str, int] = {}
    for truth in investigated.played.truths:
        by_key[truth.business_key] = by_key.get(truth.business_key, 0) + truth.effects
    for row in investigated.rows(T.MESSAGES):
        truth = investigated.played.truth(row["message_id"])
        effects = by_key[truth.business_key] if truth.business_key else truth.effects

        assert row["effects_at_least"] <= effects <= (row["effects_at_most"] or effects)


def test_exactly_the_work_done_twice_is_confirmed_and_proved(investigated):
    confirmed = {row["message_id"] for row in investigated.rows(T.MESSAGES) if row["verdict"] == "confirmed"}
    truths = investigated.played.truths
    booked = [t.business_key for t in truths if t.queue == "invoices.fifo" and t.effects]
    twice = {t.message_id for t in truths if t.effects > 1 or booked.count(t.business_key) > 1}

    assert confirmed == twice
    assert {r["certainty"] for r in investigated.rows(T.MESSAGES) if r["verdict"] == "confirmed"} == {"proved"}


# -- invoices.fifo: the producer ---------------------------------------------------------------------------------


def test_invoices_sent_again_after_the_window_are_one_work_done_twice(investigated):
    rows = investigated.by_message(T.MESSAGES, "invoices.fifo").values()
    works: dict[str, list] = {}
    for row in rows:
        works.setdefault(row["work_id"], []).append(row)

    assert len(works) == sum(seconds > 300 for _, seconds in SENT_AGAIN)
    for first, second in (sorted(pair, key=lambda m: m["sent_at"]) for pair in works.values()):
        assert (first["origin"], second["origin"]) == (None, "dedup_window_passed")
        assert (first["effects_at_least"], first["effects_at_most"]) == (2, 2)
        assert second["related_message_ids"] == [first["message_id"]]
        assert second["sent_at"] - first["sent_at"] > timedelta(seconds=300)


def test_an_invoice_booked_twice_under_two_ids_is_one_work_and_one_extra_booking(investigated):
    incidents = [row for row in investigated.rows(T.INCIDENTS) if row["queue"] == "invoices.fifo"]

    for row in incidents:
        assert (row["messages"], row["works"], row["works_confirmed"], row["works_shared"]) == (2, 1, 1, 0)
        assert (row["extra_effects_at_least"], row["extra_effects_at_most"]) == (1, 1)
        assert row["headline"] == "1 work, sent in 2 messages, was processed more than once"
        assert [text.partition(":")[0] for text in row["excluded"]] == ["dlq_redrive", "producer_retry", "redelivery"]
        assert row["still_open"] == []
    assert len(incidents) == 2


def test_who_sent_the_invoices_is_told(investigated):
    [sender] = {row["sender_id"] for row in investigated.rows(T.DELIVERIES) if row["queue"] == "invoices.fifo"}
    again = [r for r in investigated.by_message(T.MESSAGES, "invoices.fifo").values() if r["origin"]]

    assert sender.endswith(":billing-run")
    assert all(f"both by {sender}" in row["trigger_sentence"] for row in again)


def test_the_invoice_sent_again_inside_the_window_is_one_message(investigated):
    sent = [t.business_key for t in investigated.played.truths if t.queue == "invoices.fifo"]
    again = {key for key in sent if sent.count(key) > 1}

    assert len(again) == 2
    assert len(SENT_AGAIN) == 3


def test_no_redelivery_is_claimed_for_invoices(redeliveries):
    assert [row for row in redeliveries if row["queue"] == "invoices.fifo"] == []


def test_only_a_key_would_have_helped_against_the_producer(investigated):
    rows = [row for row in investigated.rows(T.COUNTERFACTUALS) if row["queue"] == "invoices.fifo"]

    assert rows
    for row in rows:
        assert row["prevented_percent"] == (100 if row["change"] == "idempotency_key" else 0)
        assert row["undecided"] == 0


# -- stock-levels.fifo: the overtaken consumer -------------------------------------------------------------------


def test_the_slow_run_was_overtaken(redeliveries):
    [row] = [row for row in redeliveries if row["queue"] == "stock-levels.fifo"]

    assert row["cause"] == "visibility_expired"
    assert row["gap_ms"] == pytest.approx(30_000, abs=500)
    assert row["overlap_ms"] == pytest.approx(18_000, abs=700)


def test_the_old_level_was_stored_over_the_new_one(investigated, queue_findings):
    [row] = queue_findings["stock-levels.fifo", "out_of_order_commit"]
    slow = investigated.played.truth(row["message_id"])
    [newer] = [m for m in row["message_ids"] if m != row["message_id"]]

    assert row["stance"] == "supported"
    assert slow.deliveries[0].effect_at > investigated.played.truth(newer).deliveries[0].effect_at
    assert row["incident_id"] is not None
    assert row["span_ms"] == pytest.approx(17_000, abs=1500)


def test_a_longer_visibility_timeout_would_have_prevented_it(investigated):
    rows = {r["change"]: r for r in investigated.rows(T.COUNTERFACTUALS) if r["queue"] == "stock-levels.fifo"}

    assert rows["longer_visibility"]["prevented_percent"] == 100
    assert rows["partial_responses"]["prevented_percent"] == 0


# -- mails: the delete that failed -------------------------------------------------------------------------------


def test_each_mail_sent_twice_came_again_because_its_delete_failed(investigated, redeliveries):
    rows = [row for row in redeliveries if row["queue"] == "mails"]

    assert {row["message_id"] for row in rows} == {t.message_id for t in investigated.truly_again("mails")}
    assert [row["cause"] for row in rows] == ["delete_failed"] * 3


# -- refund-requests: lost ---------------------------------------------------------------------------------------


def test_the_refund_that_was_never_made_is_lost(investigated, queue_findings):
    [row] = queue_findings["refund-requests", "retention_expired"]
    [lost] = investigated.truly_again("refund-requests")

    assert (row["stance"], row["message_id"]) == ("supported", lost.message_id)
    assert row["business_keys"] == [lost.business_key]
    assert row["from_at"] - lost.deliveries[0].received_at < timedelta(seconds=900)
    assert "15 minutes" in row["sentence"]


# -- product-feed: poison ----------------------------------------------------------------------------------------


def test_the_message_nobody_can_read_is_poison(investigated, queue_findings):
    [row] = queue_findings["product-feed", "poison_without_dlq"]
    [poison] = investigated.truly_again("product-feed")

    assert (row["stance"], row["message_id"]) == ("supported", poison.message_id)
    assert f"received {len(poison.deliveries)} times" in row["sentence"]


def test_nothing_else_is_found(queue_findings):
    assert {(queue, code): len(rows) for (queue, code), rows in queue_findings.items()} == {
        ("stock-levels.fifo", "out_of_order_commit"): 1,
        ("refund-requests", "retention_expired"): 1,
        ("product-feed", "poison_without_dlq"): 1,
    }


def test_every_delivery_is_in_the_ledger_once(investigated):
    ledger = sorted((row["message_id"], row["receive_count"]) for row in investigated.rows(T.DELIVERIES))
    truth = sorted((t.message_id, d.receive_count) for t in investigated.played.truths for d in t.deliveries)

    assert ledger == truth


@pytest.mark.parametrize(
    "table",
    [T.MESSAGES, T.REDELIVERIES, T.INCIDENTS, T.QUEUE_FINDINGS, T.COUNTERFACTUALS],
    ids=lambda table: table.name,
)
def test_every_claim_cites_evidence_that_resolves(investigated, table):
    assert all(row["evidence_ids"] for row in investigated.rows(table))
    assert investigated.unresolved(table) == set()
