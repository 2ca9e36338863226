"""Live plays: real queues, a real function and real threads in the emulator, and the verdicts come out right."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import findings as T
from forensics.window import TimeWindow
from lab.aws import EmbeddedAws
from lab.live import LIVE
from lab.live.world import LivePlayError
from lab.played import Played
from tests.scenarios.conftest import Investigation

pytestmark = pytest.mark.emulator

PLAYED = ("expired-handle", "fifo-order", "dlq-timing")
"""The quick ones, half a minute together; double-billing takes more than a minute."""

SLOWER = (1, 4, 12)
"""A machine that stands still for longer than a timeout spoils a play in real time, whatever the product does."""


@pytest.fixture(scope="module")
def live() -> Iterator[dict[str, Investigation]]:
    """Every play with the one lake that all of them were collected into."""
    from ingest.clients import Aws
    from ingest.collect import collect
    from spark_jobs.carrier import Here
    from spark_jobs.runner import correlate

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        lake = Lake(Path(folder) / "lake")
        with _played() as (aws, plays):
            for variable, value in aws.environment().items():
                monkeypatch.setenv(variable, value)
            settings = Settings.parse("\n".join(played.settings_text for played in plays))
            report = collect(
                lake,
                Aws(endpoint_url=aws.endpoint_url, region=aws.region),
                queues=[queue for played in plays for queue in played.queues],
                window=TimeWindow(plays[0].window_start, plays[-1].window_end),
                log_groups=[group for played in plays for group in played.log_groups],
                settings=settings,
            )
        assert not report.gaps
        correlate(lake, settings, carrier=Here())
        yield {played.scenario: Investigation(played, lake) for played in plays}


@contextmanager
def _played() -> Iterator[tuple[EmbeddedAws, list[Played]]]:
    """Play as fast as this machine can keep up with; every attempt has an AWS of its own."""
    for slower in SLOWER:
        with EmbeddedAws() as aws:
            try:
                plays = [LIVE[name](aws, slower=slower) for name in PLAYED]
            except LivePlayError:
                if slower == SLOWER[-1]:
                    raise
            else:
                yield aws, plays
                return


@pytest.mark.parametrize("name", PLAYED)
def test_exactly_what_was_delivered_again_has_a_verdict_that_holds(live, name):
    investigation = live[name]
    [queue] = investigation.played.queues
    rows = investigation.by_message(T.MESSAGES, queue)
    again = {truth.message_id: truth for truth in investigation.truly_again(queue)}

    assert again
    assert set(rows) == set(again)
    for message_id, row in rows.items():
        assert row["effects_at_least"] <= again[message_id].effects <= (row["effects_at_most"] or 99)
        assert row["receive_count"] == len(again[message_id].deliveries)


@pytest.mark.parametrize("name", PLAYED)
def test_every_delivery_is_in_the_ledger_once(live, name):
    investigation = live[name]
    [queue] = investigation.played.queues
    rows = [row for row in investigation.rows(T.DELIVERIES) if row["queue"] == queue]
    truth = sorted((t.message_id, d.receive_count) for t in investigation.played.truths for d in t.deliveries)

    assert sorted((row["message_id"], row["receive_count"]) for row in rows) == truth


def test_the_refused_delete_is_the_cause_and_the_order_was_charged_twice(live):
    investigation = live["expired-handle"]
    [row] = investigation.by_message(T.MESSAGES, "orders.fifo").values()

    assert (row["verdict"], row["certainty"], row["causes"]) == ("confirmed", "proved", ["handle_expired"])
    assert row["business_keys"] == ["ord-slow"]


def test_the_group_stood_still_behind_15_until_16_came(live):
    investigation = live["fifo-order"]
    fifteen, sixteen = investigation.played.truths[15:17]
    [found] = [r for r in investigation.rows(T.QUEUE_FINDINGS) if r["code"] == "fifo_group_blocked"]

    assert found["queue"] == "numbers.fifo"
    assert found["message_count"] == 4
    assert abs(found["until_at"] - sixteen.deliveries[0].received_at) < timedelta(milliseconds=2)
    assert fifteen.deliveries[0].received_at <= found["from_at"] < fifteen.deliveries[1].received_at
    assert found["span_ms"] == (found["until_at"] - found["from_at"]) // timedelta(milliseconds=1)


def test_both_webhooks_were_moved_by_the_third_receive(live):
    investigation = live["dlq-timing"]
    again = {t.message_id: t for t in investigation.truly_again("webhooks")}
    moved = {
        r["message_id"]: r
        for r in investigation.rows(T.QUEUE_FINDINGS)
        if (r["queue"], r["code"]) == ("webhooks", "dead_lettered")
    }

    assert set(moved) == set(again)
    for message_id, row in moved.items():
        assert row["stance"] == "supported"
        assert row["from_at"] - again[message_id].deliveries[1].received_at > timedelta(seconds=3)
        assert row["redrive"] == ("repeats" if again[message_id].effects else "may_repeat")
    assert {r["cause"] for r in investigation.rows(T.REDELIVERIES) if r["queue"] == "webhooks"} == {"function_error"}


def test_no_receipt_handle_of_the_emulator_is_kept(live):
    """The emulator's handles are UUIDs, not AWS's long text; they are as secret."""
    from forensics.tables.evidence import LOG_EVENTS

    lines = live["dlq-timing"].lake.read(LOG_EVENTS, ["line"])["line"].to_pylist()
    printed = [line for line in lines if "receiptHandle" in line or "ReceiptHandle" in line]

    assert printed
    assert all("RH~" in line for line in printed)
