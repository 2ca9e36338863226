"""fifo-order through the whole path: the published figures come out of the evidence."""

from datetime import datetime, timedelta

import pytest

from forensics.tables import findings as T

pytestmark = [pytest.mark.spark, pytest.mark.emulator]

SCENARIO = "fifo-order"
QUEUE = "numbers.fifo"


def on_the_day(investigated, at: str) -> datetime:
    return datetime.fromisoformat(f"{investigated.played.window_start.date()}T{at}+00:00")


@pytest.fixture(scope="module")
def ledger(investigated):
    return sorted(
        (row for row in investigated.rows(T.DELIVERIES) if row["queue"] == QUEUE), key=lambda row: row["received_at"]
    )


@pytest.fixture(scope="module")
def fifteen(investigated):
    [truth] = investigated.truly_again(QUEUE)
    return truth


def test_15_was_delivered_at_the_published_times(investigated, ledger, fifteen):
    times = [row["received_at"] for row in ledger if row["message_id"] == fifteen.message_id]
    published = [on_the_day(investigated, "08:20:26.650"), on_the_day(investigated, "08:20:29.720")]

    assert len(times) == 2
    for at, expected in zip(times, published, strict=True):
        assert abs(at - expected) < timedelta(milliseconds=6)


def test_the_order_was_kept(investigated, ledger):
    number = {truth.message_id: index for index, truth in enumerate(investigated.played.truths)}

    assert [number[row["message_id"]] for row in ledger] == [*range(16), *range(15, 20)]


def test_nothing_of_the_group_was_delivered_between_15_and_16(investigated, ledger, fifteen):
    sixteen = investigated.played.truths[16].message_id
    [after] = [row["received_at"] for row in ledger if row["message_id"] == sixteen]
    before = min(row["received_at"] for row in ledger if row["message_id"] == fifteen.message_id)
    between = {row["message_id"] for row in ledger if before < row["received_at"] < after}

    assert abs(after - on_the_day(investigated, "08:20:32.750")) < timedelta(milliseconds=6)
    assert between == {fifteen.message_id}


def test_15_was_dead_lettered_after_its_second_delivery(investigated, ledger, fifteen):
    [message] = [row for row in investigated.rows(T.MESSAGES) if row["message_id"] == fifteen.message_id]
    last = [row for row in ledger if row["message_id"] == fifteen.message_id][-1]

    assert message["is_dead_lettered"]
    assert (message["deliveries"], message["receive_count"]) == (2, 2)
    assert last["ended_by"] == "dead_lettered"


def test_the_group_was_blocked_for_6_1_s(investigated):
    [incident] = investigated.rows(T.INCIDENTS)

    assert incident["blocked_ms"] == pytest.approx(6_100, abs=50)


def test_the_group_is_a_finding_with_the_four_that_waited(investigated, fifteen):
    [found] = [row for row in investigated.rows(T.QUEUE_FINDINGS) if row["code"] == "fifo_group_blocked"]

    assert found["message_id"] == fifteen.message_id
    assert found["span_ms"] == pytest.approx(6_100, abs=50)
    assert set(found["message_ids"]) == {truth.message_id for truth in investigated.played.truths[16:]}


def test_15_was_moved_between_its_timeout_and_the_receive_of_16(investigated, fifteen):
    [found] = [row for row in investigated.rows(T.QUEUE_FINDINGS) if row["code"] == "dead_lettered"]

    assert found["from_at"] <= fifteen.dead_lettered_at <= found["until_at"] + timedelta(milliseconds=1)
    assert found["span_ms"] < 50
    assert found["redrive"] == "may_repeat"


def test_the_move_stands_on_the_timeline(investigated, fifteen):
    moves = [row for row in investigated.rows(T.TIMELINE) if row["kind"] == "dead_lettered"]

    assert [row["message_id"] for row in moves] == [fifteen.message_id]


def test_only_15_was_delivered_again_and_its_true_count_is_in_the_interval(investigated, fifteen):
    [message] = investigated.rows(T.MESSAGES)

    assert message["message_id"] == fifteen.message_id
    assert message["effects_at_least"] <= fifteen.effects <= (message["effects_at_most"] or 2)


def test_every_claim_cites_evidence_that_resolves(investigated):
    assert investigated.unresolved(T.MESSAGES) == investigated.unresolved(T.INCIDENTS) == set()
