"""Queue-level findings and redrive verdicts against worlds whose truth is known."""

from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from forensics.tables.findings import COUNTERFACTUALS, QUEUE_FINDINGS
from tests.oracle import World
from tests.oracle.truth import DELETED, MessageTruth

pytestmark = pytest.mark.slow

SLACK_MS = 1500
"""A log line may stand a little after the receive that it tells of."""


@pytest.fixture(scope="module")
def worlds(many_worlds) -> dict[str, World]:
    """Worlds by the name of their queue."""
    return {world.queue_name: world for world in many_worlds.seeded}


@pytest.fixture(scope="module")
def found(worlds, many_worlds) -> dict[str, list[dict[str, Any]]]:
    """What is supported, by code."""
    lake = many_worlds.lake
    by_code: dict[str, list[dict[str, Any]]] = {}
    for row in lake.findings().read(QUEUE_FINDINGS).to_pylist():
        if row["queue"] in worlds:
            by_code.setdefault(row["code"], []).append(row)
    by_code["counterfactuals"] = lake.findings().read(COUNTERFACTUALS).to_pylist()
    return by_code


def ms(at: datetime) -> float:
    return at.timestamp() * 1000


def truth_of(worlds: dict[str, World], row: dict[str, Any]) -> MessageTruth:
    return worlds[row["queue"]].truth[row["message_id"]]


def last_effect_ms(truth: MessageTruth) -> int:
    return max((at for d in truth.deliveries for at in d.effects_ms), default=-1)


def supported(found: dict[str, list[dict[str, Any]]], code: str) -> list[dict[str, Any]]:
    rows = [row for row in found.get(code, []) if row["stance"] == "supported" and row["message_id"]]
    assert rows, f"no world has {code}: this test proves nothing"
    return rows


def test_what_is_called_dead_lettered_was_moved_at_that_time(worlds, found):
    """The worlds keep no depth of a dead-letter queue: every move is undecidable, and yet true."""
    assert len(found["dead_lettered"]) > 5
    for row in found["dead_lettered"]:
        moved_ms = truth_of(worlds, row).dead_lettered_ms

        assert moved_ms is not None, row
        assert ms(row["from_at"]) - SLACK_MS <= moved_ms, row
        assert row["until_at"] is None or moved_ms <= ms(row["until_at"]) + SLACK_MS, row


def test_redriving_is_never_called_safe_where_work_was_done(worlds, found):
    for row in found["dead_lettered"]:
        truth = truth_of(worlds, row)

        assert not (row["redrive"] == "safe" and truth.effects_done), row
        assert row["effects_at_most"] is None or truth.effects_done <= row["effects_at_most"], row


def test_what_is_called_poison_was_never_deleted(worlds, found):
    for row in found.get("poison_without_dlq", []):
        truth = truth_of(worlds, row)
        if row["stance"] != "supported":
            continue

        assert worlds[row["queue"]].queue.dead_letter_queue is None, row
        assert len(truth.deliveries) >= 3, row
        assert all(d.outcome != DELETED or d.ended_ms is None for d in truth.deliveries), row


def test_what_is_called_out_of_order_was_so(worlds, found):
    for row in found.get("out_of_order_commit", []):
        truth = truth_of(worlds, row)
        [other] = [worlds[row["queue"]].truth[m] for m in row["message_ids"] if m != row["message_id"]]

        assert other.group_id == truth.group_id
        assert other.sent_ms > truth.sent_ms
        if row["stance"] == "supported":
            assert last_effect_ms(other) <= last_effect_ms(truth) + SLACK_MS, row


def test_nothing_of_a_blocked_group_got_through_meanwhile(worlds, found):
    for row in supported(found, "fifo_group_blocked"):
        until = ms(row["until_at"]) if row["until_at"] else ms(row["from_at"])
        through = [
            (truth.message_id, d.received_ms)
            for truth in worlds[row["queue"]].truth.values()
            if truth.group_id == row["group_id"]
            for d in truth.deliveries
            if d.outcome == DELETED and ms(row["from_at"]) + SLACK_MS < d.received_ms < until - SLACK_MS
        ]

        assert through == [], row


def test_nothing_is_lost_where_nothing_was(found):
    """No world outlives its retention of four days."""
    assert found.get("retention_expired", []) == []


def test_counterfactuals_add_up(found):
    rows = found["counterfactuals"]

    assert len(Counter(row["change"] for row in rows)) == 6
    for row in rows:
        assert 0 <= row["prevented"] <= row["prevented"] + row["undecided"] <= row["repeats"]
        assert row["prevented_percent"] == row["prevented"] * 100 // row["repeats"]
        assert row["reason"]
        assert row["evidence_ids"]
