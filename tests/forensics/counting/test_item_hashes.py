"""Which deliveries make their message a candidate: the first of a message's two is not the other told again."""

from datetime import UTC, datetime

import polars as pl
import pytest

from forensics.counting.item_hashes import ITEM, candidates_in, hashes_of, item_hash

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SCHEMA = {
    **dict.fromkeys(("item_id", "message_id", "deduplication_id", "job_id"), pl.String),
    "business_keys": pl.List(pl.String),
    "is_open": pl.Boolean,
    "receive_count": pl.Int64,
    "first_receive_ms": pl.Int64,
    **dict.fromkeys(("received_at", "sent_at", "hidden_until_at", "run_ended_at"), pl.Datetime("us", "UTC")),
}
DELIVERY = dict.fromkeys(SCHEMA) | {
    "item_id": "m-1",
    "message_id": "m-1",
    "business_keys": ["pay-1"],
    "is_open": False,
    "receive_count": 1,
    "received_at": NOON,
}


def candidates(*deliveries):
    rows = pl.DataFrame([DELIVERY | more for more in deliveries], schema=SCHEMA).with_columns(item_hash=item_hash())
    found = candidates_in(hashes_of(rows))
    owners = rows.select("item_id", owner=item_hash()).unique().join(found.select("owner").unique(), on="owner")
    return sorted(owners["item_id"])


@pytest.mark.parametrize(
    ("deliveries", "expected"),
    [
        ([{}], []),
        ([{}, {}], ["m-1"]),
        ([{}, {"received_at": NOON.replace(minute=5)}], ["m-1"]),
        ([{}, {"item_id": "m-2", "message_id": "m-2", "business_keys": ["pay-2"]}], []),
        ([{}, {"item_id": "m-2", "message_id": "m-2"}], ["m-1", "m-2"]),
        ([{"receive_count": 2}], ["m-1"]),
        ([{"is_open": True}], ["m-1"]),
    ],
    ids=[
        "one alone",
        "two that look the same",
        "two that differ",
        "two messages",
        "two of one key",
        "not the first",
        "not over",
    ],
)
def test_candidates(deliveries, expected):
    assert candidates(*deliveries) == expected


def test_only_an_items_own_stand_there_twice():
    rows = pl.DataFrame([DELIVERY, DELIVERY], schema=SCHEMA).with_columns(item_hash=item_hash())
    assert sorted(flags & ITEM for flags in hashes_of(rows)["flags"]) == [0, 1, 1]
