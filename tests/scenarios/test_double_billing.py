"""double-billing through the whole path: who paid twice, how sure that is, why, and what it was not."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from forensics.books import Columns, read_books, reconcile
from forensics.lake import Lake
from forensics.report.case import load_case
from forensics.report.evidence_bundle import evidence_bundle, read_evidence
from forensics.report.json_report import as_json
from forensics.sequence import sequences
from forensics.settings import Settings
from forensics.suggestions import settings_text, suggest
from forensics.suggestions.trial import verdicts_now, verdicts_under
from forensics.tables import findings as T
from forensics.tables.health import QUEUE_HEALTH, QUEUE_WEEKS, SETTING_FINDINGS
from forensics.what_if import ask
from forensics.window import TimeWindow
from ingest.bundles import store
from spark_jobs.runner import correlate

pytestmark = [pytest.mark.spark, pytest.mark.emulator]

SCENARIO = "double-billing"
QUEUE = "payments.fifo"


@pytest.fixture(scope="module")
def messages(investigated):
    return investigated.by_message(T.MESSAGES, QUEUE)


@pytest.fixture(scope="module")
def incident(investigated):
    [found] = investigated.rows(T.INCIDENTS)
    return found


@pytest.fixture(scope="module")
def batches(investigated):
    """The two batches that timed out, each its ten messages in the order they were sent."""
    again = investigated.truly_again(QUEUE)
    return again[:10], again[10:]


@pytest.fixture(scope="module")
def charged_before_the_kill(batches):
    first, second = batches
    return {truth.message_id for truth in (*first[:7], *second[:4])}


@pytest.fixture(scope="module")
def under_way_at_the_kill(batches):
    first, second = batches
    return {first[7].message_id, second[4].message_id}


def test_exactly_the_messages_delivered_again_have_a_verdict(investigated, messages):
    assert set(messages) == {truth.message_id for truth in investigated.truly_again(QUEUE)}


def test_payments_charged_before_the_kill_are_confirmed(messages, charged_before_the_kill):
    confirmed = {message_id: row for message_id, row in messages.items() if row["verdict"] == "confirmed"}

    assert set(confirmed) == charged_before_the_kill
    for row in confirmed.values():
        assert (row["effects_at_least"], row["effects_at_most"], row["certainty"]) == (2, 2, "proved")
        assert row["causes"] == ["batch_collateral"]
        assert (row["deliveries"], row["receive_count"], row["origin"]) == (2, 2, None)


def test_the_payment_that_the_page_on_marks_names_is_one_that_was_charged_twice(messages):
    page = (Path(__file__).resolve().parents[2] / "docs/people.md").read_text()
    [key] = set(re.findall(r"doubletake (?:mark|ask why) (\S+)", page))

    assert key in {key for row in messages.values() if row["verdict"] == "confirmed" for key in row["business_keys"]}


def test_the_payment_under_way_at_the_kill_is_probable(messages, under_way_at_the_kill):
    probable = {message_id: row for message_id, row in messages.items() if row["verdict"] == "probable"}

    assert set(probable) == under_way_at_the_kill
    for row in probable.values():
        assert (row["effects_at_least"], row["effects_at_most"]) == (1, 2)
        assert row["causes"] == ["function_timeout"]


def test_payments_the_killed_run_never_reached_are_harmless(messages, charged_before_the_kill, under_way_at_the_kill):
    rest = [row for m, row in messages.items() if m not in charged_before_the_kill | under_way_at_the_kill]

    assert len(rest) == 7
    assert {row["verdict"] for row in rest} == {"harmless"}
    assert {(row["effects_at_least"], row["effects_at_most"]) for row in rest} == {(1, 1)}


def test_the_true_number_of_charges_lies_in_every_interval(investigated):
    for row in investigated.rows(T.MESSAGES):
        truth = investigated.played.truth(row["message_id"])

        assert row["effects_at_least"] <= truth.effects <= row["effects_at_most"]


def test_the_charge_list_is_exactly_the_keys_charged_twice(investigated, messages, charged_before_the_kill):
    listed = [key for row in messages.values() if row["verdict"] == "confirmed" for key in row["business_keys"]]

    assert sorted(listed) == sorted(investigated.played.truth(m).business_key for m in charged_before_the_kill)


def test_there_is_one_incident_and_it_is_the_payments(incident, investigated):
    first = investigated.truly_again(QUEUE)[0].deliveries[0].received_at
    stamp = first.strftime("%Y%m%dT%H%MZ")

    assert incident["incident_id"] == f"{QUEUE}-{stamp}"
    assert [incident[v] for v in ("confirmed", "probable", "possible", "absorbed", "harmless")] == [11, 2, 0, 0, 7]
    assert incident["started_at"] - first < timedelta(milliseconds=1)
    assert (incident["visibility_timeout_s"], incident["function_timeout_s"], incident["batch_size"]) == (600, 30, 10)
    assert incident["functions"] == ["charge-card"]


def test_the_primary_cause_is_that_a_batch_fell_with_one_message(incident):
    assert incident["primary_cause"] == "batch_collateral"
    assert set(incident["causes"]) >= {"batch_collateral=11", "function_timeout=2"}


def test_the_group_stood_still_for_570_s_per_timeout(incident):
    assert incident["blocked_ms"] == pytest.approx(2 * 570_000, abs=3_000)


def test_each_timeout_is_a_finding_of_the_group_with_who_waited(investigated, incident):
    found = [row for row in investigated.rows(T.QUEUE_FINDINGS) if row["code"] == "fifo_group_blocked"]

    assert [row["span_ms"] for row in found] == [pytest.approx(570_000, abs=1_500)] * 2
    assert {row["incident_id"] for row in found} == {incident["incident_id"]}
    for row in found:
        waited = [
            t
            for t in investigated.played.truths
            if t.queue == QUEUE
            and t.message_id in row["message_ids"]
            and t.deliveries[0].received_at >= row["until_at"]
        ]
        assert len(waited) == row["message_count"] > 50


def test_visibility_and_partial_responses_would_have_prevented_nothing(investigated):
    share = {row["change"]: row["prevented_percent"] for row in investigated.rows(T.COUNTERFACTUALS)}
    repeats = {row["repeats"] for row in investigated.rows(T.COUNTERFACTUALS)}

    assert (share["longer_visibility"], share["partial_responses"], share["maximum_concurrency"]) == (0, 0, 0)
    assert share["longer_function_timeout"] == 100
    assert (share["batch_size_1"], share["idempotency_key"]) == (84, 84)
    assert repeats == {13}


def test_each_repeat_was_received_600_s_after_the_receive_before(investigated):
    gaps_ms = [row["gap_ms"] for row in investigated.rows(T.REDELIVERIES) if row["queue"] == QUEUE]

    assert len(gaps_ms) == 20
    assert all(gap_ms == pytest.approx(600_000, abs=200) for gap_ms in gaps_ms)


def test_overlap_and_broker_copy_are_excluded_for_every_repeat(investigated):
    stances = {
        (row["code"], row["stance"])
        for row in investigated.rows(T.RULINGS)
        if row["queue_arn"].endswith(f":{QUEUE}") and row["code"] in ("visibility_expired", "broker_copy")
    }

    assert stances == {("visibility_expired", "excluded"), ("broker_copy", "excluded")}


def test_the_incident_says_that_it_was_no_overlap_no_producer_and_no_copy(incident):
    excluded = {said.partition(":")[0] for said in incident["excluded"]}

    assert excluded >= {"visibility_expired", "producer_retry", "broker_copy"}


def test_both_forms_of_the_timeout_were_read(investigated):
    ends = [row["end_status"] for row in investigated.rows(T.INVOCATIONS) if row["function_name"] == "charge-card"]

    assert ends.count("timeout") == 2
    assert set(ends) == {"timeout", "success"}


def test_the_guarded_repeats_of_the_other_queue_are_absorbed_and_open_no_incident(investigated):
    rows = investigated.by_message(T.MESSAGES, "shipment-updates")

    assert set(rows) == {truth.message_id for truth in investigated.truly_again("shipment-updates")}
    for row in rows.values():
        assert (row["verdict"], row["effects_at_least"], row["effects_at_most"]) == ("absorbed", 1, 1)
        assert row["incident_id"] is None


def test_every_delivery_is_in_the_ledger_once(investigated):
    ledger = sorted((row["message_id"], row["receive_count"]) for row in investigated.rows(T.DELIVERIES))
    truth = sorted((t.message_id, d.receive_count) for t in investigated.played.truths for d in t.deliveries)

    assert ledger == truth


@pytest.mark.parametrize(
    "table",
    [T.MESSAGES, T.REDELIVERIES, T.RULINGS, T.INCIDENTS, T.TIMELINE, T.QUEUE_FINDINGS, T.COUNTERFACTUALS],
    ids=lambda table: table.name,
)
def test_every_claim_cites_evidence_that_resolves(investigated, table):
    assert all(row["evidence_ids"] for row in investigated.rows(table))
    assert investigated.unresolved(table) == set()


def test_the_weeks_of_the_queue_have_the_true_counts(investigated, charged_before_the_kill):
    weeks = [row for row in investigated.rows(QUEUE_WEEKS) if row["queue"] == QUEUE]
    truths = [truth for truth in investigated.played.truths if truth.queue == QUEUE]

    def total(column):
        return sum(row[column] for row in weeks)

    assert total("sent_count") == total("item_count") == len(truths)
    assert total("delivery_count") == sum(len(t.deliveries) for t in truths)
    assert (total("redelivery_count"), total("timeout_count")) == (20, 2)
    assert total("twice_at_least") == len(charged_before_the_kill)
    assert total("twice_at_least") <= sum(t.effects > 1 for t in truths) <= total("twice_at_most")
    assert sum(row["delivery_count"] for row in investigated.rows(QUEUE_HEALTH) if row["queue"] == QUEUE) == total(
        "delivery_count"
    )


def test_the_settings_checks_name_what_made_it_possible(investigated):
    failed = {
        (row["queue"], row["code"]): row["severity"]
        for row in investigated.rows(SETTING_FINDINGS)
        if row["status"] == "fails" and row["severity"] != "note"
    }

    assert failed == {
        (QUEUE, "fifo_single_group"): "critical",
        (QUEUE, "run_near_timeout"): "critical",
        (QUEUE, "guard_missing"): "warning",
        (QUEUE, "partial_responses"): "warning",
        ("shipment-updates", "partial_responses"): "warning",
    }
    assert investigated.unresolved(SETTING_FINDINGS) == investigated.unresolved(QUEUE_WEEKS) == set()


def test_investigating_the_healthy_queue_beside_it_says_so_and_how_fresh_that_is(investigated):
    assert "shipment-updates: no sign that a message was processed twice in this window." in investigated.told
    assert "payments.fifo-" not in investigated.told
    assert "Logs are read until " in investigated.told


def test_without_settings_the_marks_are_found_in_the_lines_and_decide_the_same(investigated):
    """No settings file: 20 probable; with what the lines propose, exactly what the team's own settings decide."""
    findings = investigated.lake.findings()
    found = suggest(findings, QUEUE, Settings())
    proposed = Settings.parse(settings_text("", found.proposals))
    (arn,) = {row["queue_arn"] for row in investigated.rows(T.MESSAGES) if row["queue"] == QUEUE}

    assert {p.kind: p.value for p in found.proposals} == {
        "effect": r"charged payment_id=(?P<key>\S+)",
        "effect_is_exhaustive": True,
        "started": r"processing (?P<message_id>\S+)",
        "order": "sequential",
        "business_key": "$.payment_id",
    }
    assert found.proposals[0].by_cut_off == 2
    assert verdicts_under(findings, arn, Settings()) == {"probable": 20}
    assert verdicts_under(findings, arn, proposed) == {"confirmed": 11, "probable": 2, "harmless": 7}
    assert verdicts_now(findings, arn) == {"confirmed": 11, "probable": 2, "harmless": 7}


def test_the_guard_of_the_neighbour_is_found_by_what_stands_in_place_of_its_effect(investigated):
    found = suggest(investigated.lake.findings(), "shipment-updates", Settings())
    marks = {p.kind: p.value for p in found.proposals}

    assert marks["guard"].startswith("already notified shipment_id=")
    assert "notified shipment_id=" in marks["effect"]


def test_a_replay_under_the_settings_in_force_gives_what_was_observed(investigated):
    found = ask(investigated.lake.findings(), QUEUE, {"visibility_s": 180})
    rows = {row.name: row for row in found.rows}
    observed, same, asked = rows["observed"].low, rows["replayed as it was"], rows["as asked"]

    assert found.is_faithful, found.faithful
    assert (same.low["redelivered"], same.low["failed_runs"]) == (20, 2)
    assert same.low["repeats"] - 1 <= observed["repeats"] <= same.high["repeats"] <= 13, "11 for sure, 13 at most"
    assert same.low["runs"] == pytest.approx(observed["runs"], rel=0.01)
    assert same.low["blocked_s"] == pytest.approx(observed["blocked_s"], rel=0.01)
    assert asked.low["blocked_s"] == pytest.approx(300, abs=2), "two blocks of 570 s become two of 150 s"
    assert asked.low["repeats"] == same.low["repeats"], "a shorter visibility timeout repeats as much, only sooner"


def test_the_grid_finds_that_a_batch_of_one_repeats_nothing_and_says_its_price(investigated):
    rows = {row.name: row for row in ask(investigated.lake.findings(), QUEUE, {}).rows}

    assert rows["batch size 1"].high["repeats"] == rows["batch size 1"].high["blocked_s"] == 0
    assert rows["batch size 1"].low["runs"] > 1.2 * rows["observed"].low["runs"]


def test_the_provider_s_ledger_closes_both_payments_that_were_under_way(investigated, messages, tmp_path):
    file = tmp_path / "charges.csv"
    file.write_text(investigated.played.books)
    whole = TimeWindow(investigated.played.window_start, investigated.played.window_end + timedelta(days=1))
    columns = Columns("payment_id", "amount", "currency", "charged_at", "charge_id")
    read_books(investigated.lake.findings(), file, columns, investigated.played.window_end, whole=whole)
    lines = {line.key: line for line in reconcile(investigated.lake.findings())[QUEUE]}
    truly = {t.business_key: t.effects for t in investigated.played.truths if t.queue == QUEUE}
    closed = {k: line.at_least for k, line in lines.items() if line.outcome in ("repeated", "cleared")}

    assert sorted(closed.values()) == [1, 2]
    assert {k: (line.at_least, line.at_most) for k, line in lines.items()} == {k: (n, n) for k, n in truly.items()}


def test_who_imports_the_evidence_bundle_judges_the_same(investigated, incident, tmp_path):
    findings = investigated.lake.findings()
    data = evidence_bundle(findings, load_case(findings, incident["incident_id"]))
    again = Lake(tmp_path / "again")
    brought = read_evidence(data)
    store(again, brought.rows)
    correlate(again, Settings.parse(brought.settings))
    mine, theirs = (load_case(one.findings(), incident["incident_id"]) for one in (investigated.lake, again))
    # the bundle ends where its incident's evidence does, which the summary counts from
    mine, theirs = (as_json(replace(case, data_until_at=incident["ended_at"])) for case in (mine, theirs))

    assert {k: v for k, v in theirs.items() if mine[k] != v}.keys() <= {"data_version", "made_at"}


def test_the_payment_whose_send_failed_is_the_one_number_that_is_missing(investigated):
    found = sequences(investigated.lake.findings(), QUEUE, "$.number")

    assert [(b.kind, b.first, b.count) for b in found.broken] == [("gap", 700, 1)]
    assert found.unread == 0
