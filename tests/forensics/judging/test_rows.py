"""What was judged as rows of the findings tables."""

from forensics.judging.judge import judge
from forensics.judging.rows import delivery_row, message_row, redelivery_row, ruling_rows
from forensics.rules import RULES
from forensics.tables.findings import DELIVERIES, MESSAGES, REDELIVERIES, RULINGS
from tests.forensics.judging.plain import MIN, Around, delivery

JUDGED = judge(
    [
        delivery(receive_count=1, run_status="error", sent_ms=7, fact_ids=["a"]),
        delivery(receive_count=2, consumer="run 2", received_at=MIN, fact_ids=["b"]),
    ],
    Around(),
)


def test_a_delivery_is_a_row_in_the_order_of_its_columns():
    row = dict(zip(DELIVERIES.column_names, delivery_row(JUDGED.ledger[0]), strict=True))

    assert (row["queue"], row["delivery_index"], row["effect"], row["basis"]) == ("orders", 1, "unknown", "parallel")
    assert (row["sent_at"], row["received_at"], row["evidence_ids"]) == (7_000, 0, ["a"])


def test_a_redelivery_is_a_row_in_the_order_of_its_columns():
    (again,) = JUDGED.redeliveries

    row = dict(zip(REDELIVERIES.given_names, redelivery_row(again), strict=True))

    assert (row["delivery_index"], row["cause"], row["gap_ms"]) == (2, again.cause, 60_000)
    assert row["evidence_ids"] == ["a", "b"]


def test_every_ruling_is_a_row_of_its_own():
    rows = [dict(zip(RULINGS.given_names, row, strict=True)) for row in ruling_rows(JUDGED.redeliveries[0])]

    assert [row["code"] for row in rows] == list(RULES)
    assert {row["stance"] for row in rows} <= {"supported", "excluded", "undecidable"}
    assert all(row["item_id"] == "m1" and row["delivery_index"] == 2 for row in rows)
    assert all((row["would_decide"] is None) == (row["stance"] != "undecidable") for row in rows)
    assert rows[0]["evidence_ids"] == ["a", "b"]


def test_a_message_is_a_row_with_its_incident():
    (message,) = JUDGED.messages

    row = dict(zip(MESSAGES.given_names, message_row(message, "orders-1"), strict=True))

    assert (row["incident_id"], row["verdict"], row["work_id"]) == ("orders-1", message.verdict, "m1")
    assert (row["last_received_at"], row["evidence_ids"]) == (MIN, ["a", "b"])
    assert dict(zip(MESSAGES.given_names, message_row(message, None), strict=True))["incident_id"] is None
