"""The 64-bit hashes of message ids, deduplication ids, business keys and job ids: what deliveries can share with others.

Two hashes that are equal by chance make a candidate too many, never one too few.
"""

from collections.abc import Iterable, Mapping

import polars as pl

from forensics.identity import KEY_ITEM

HASH_SCHEMA = {
    "hash": pl.UInt64,
    "owner": pl.UInt64,
    "flags": pl.UInt8,
    "at": pl.Int64,
    "since": pl.Int64,
    "until": pl.Int64,
}
ITEM, OPEN, OTHER = 1, 2, 4
"""Flags of a hash: an item's own; of a delivery that is judged in any case, or of another."""
_SEEDS = {"item": 1, "deduplication": 2, "key": 3, "job": 4, "body": 5}


def item_hash(name: str = "item_id") -> pl.Expr:
    """Return the hash of an item."""
    return pl.col(name).hash(_SEEDS["item"])


def is_judged_anyway() -> pl.Expr:
    """Tell which deliveries are judged whatever else speaks of their message: not over, or not the first."""
    return pl.col("is_open") | (pl.col("receive_count") > 1).fill_null(False)


def _times() -> dict[str, pl.Expr]:
    """Return a delivery's receive (``at``) and the first and the last of its times, in µs; 0 where none is known."""
    known = pl.min_horizontal("received_at", "sent_at").dt.epoch("us")
    last = pl.max_horizontal("received_at", "hidden_until_at", "run_ended_at").dt.epoch("us")
    return {
        "at": pl.col("received_at").dt.epoch("us").fill_null(0),
        "since": pl.min_horizontal(known, pl.col("first_receive_ms") * 1000).fill_null(0),
        "until": last.fill_null(0),
    }


def hashes_of(deliveries: pl.DataFrame) -> pl.DataFrame:
    """Return whatever deliveries (``DELIVERY_SCHEMA`` with item_hash) can share with others, sorted by hash.

    ``owner`` is the item's hash; ``at`` its receive, ``since`` and ``until`` the first and the last of its delivery's times, in µs.
    """
    base = deliveries.select(
        "item_id",
        "message_id",
        "deduplication_id",
        "business_keys",
        "job_id",
        owner="item_hash",
        flag=pl.when(is_judged_anyway()).then(OPEN).otherwise(OTHER),
        **_times(),
    )

    def rows(hashed: pl.Expr, flags: pl.Expr, frame: pl.DataFrame = base) -> pl.DataFrame:
        of_kind = (flags | pl.col("flag")).cast(pl.UInt8)
        found = frame.select(hash=hashed, owner="owner", flags=of_kind, at="at", since="since", until="until")
        return found.filter(pl.col("hash").is_not_null())

    def seeded(name: str, kind: str) -> pl.Expr:
        return pl.when(pl.col(name).is_not_null()).then(pl.col(name).hash(_SEEDS[kind]))

    keyed = base.filter(pl.col("business_keys").list.len() > 0).explode("business_keys")
    link = pl.lit(0)
    parts = [
        rows(pl.col("owner"), pl.lit(ITEM)),
        rows(seeded("deduplication_id", "deduplication"), link),
        rows(seeded("deduplication_id", "item"), link),  # a redrive out of a FIFO queue is named after the message
        rows(seeded("job_id", "job"), link),
        rows(seeded("business_keys", "key"), link, keyed),
    ]
    return _sorted(pl.concat(parts))


def _sorted(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows by hash without repeats; only of hashes that are there several times the other columns are looked at.

    An item's own are not repeats of one another: one receive that two runs had looks the same in both.
    """
    rows = rows.sort("hash")
    is_same = pl.col("hash") == pl.col("hash").shift(1)
    several = (is_same | is_same.shift(-1)).fill_null(False)
    is_own = pl.col("flags") & ITEM > 0
    others = rows.filter(several)
    others = pl.concat([others.filter(is_own), others.filter(~is_own).unique()])
    others = others.sort("hash", "owner", "flags", "at", "since", "until")
    return rows.filter(~several).merge_sorted(others, key="hash")


def moved_hashes(deliveries: pl.LazyFrame, moves: Mapping[str, Iterable[tuple[int, int]]]) -> pl.DataFrame:
    """Return the hashes of deliveries that a move task may have brought, or that may have gone to a dead-letter queue.

    ``moves``: per queue the spans (µs) in which messages may have been moved back into it. Those brought are candidates; they
    share their body's hash with those that may have gone. That is looser than what makes them one work, never stricter.
    """
    sent = pl.col("sent_at").dt.epoch("us")
    is_moved = pl.lit(False)
    for queue_arn, spans in moves.items():
        for low, high in spans:
            is_moved = is_moved | ((pl.col("queue_arn") == queue_arn) & sent.is_between(low, high))
    mine = deliveries.filter(pl.col("queue_arn").is_in(list(moves)))
    mine = mine.with_columns(is_moved=is_moved.fill_null(False)).filter(pl.col("is_moved") | pl.col("is_open"))
    base = mine.select("body_md5", "is_moved", owner="item_hash", **_times()).collect()
    items = base.filter("is_moved").with_columns(hash="owner", flags=pl.lit(ITEM | OPEN | OTHER, pl.UInt8))
    bodies = base.filter(pl.col("body_md5").is_not_null())
    bodies = bodies.with_columns(hash=pl.col("body_md5").hash(_SEEDS["body"]), flags=pl.lit(0, pl.UInt8))
    return _sorted(pl.concat([items.select(*HASH_SCHEMA), bodies.select(*HASH_SCHEMA)]))


def send_hashes(sends: pl.DataFrame) -> pl.DataFrame:
    """Return the hashes by which recorded sends (item_id, deduplication_id, key, at) link their messages to others.

    Flagged are those of items that lines name by a key alone: only messages that are linked ask for them.
    """
    base = sends.with_columns(owner=item_hash(), flags=pl.lit(0, pl.UInt8), since="at", until="at")
    kinds = {"deduplication": "deduplication_id", "item": "deduplication_id", "key": "key"}
    named = [
        base.filter(pl.col(n).is_not_null()).with_columns(hash=pl.col(n).hash(_SEEDS[k])) for k, n in kinds.items()
    ]
    alone = (pl.lit(KEY_ITEM) + pl.col("key")).hash(_SEEDS["item"])
    named.append(base.filter(pl.col("key").is_not_null()).with_columns(hash=alone, flags=pl.lit(OTHER, pl.UInt8)))
    return pl.concat(named).select(*HASH_SCHEMA).unique().sort("hash", "owner", "at")


def resent(sends: Iterable[pl.DataFrame], parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return the hashes of messages that recorded sends link to another: such items are judged, whatever their lines say."""
    every = pl.concat(sends)
    links = every.filter(pl.col("flags") == 0)
    asked = [part.select("hash", "owner").join(links, on="hash", how="semi") for part in parts]
    owners = pl.concat([links.select("hash", "owner"), *asked]).unique()
    mine = links.join(owners.filter(pl.len().over("hash") > 1), on="hash", how="semi")
    named = every.filter(pl.col("flags") > 0).join(mine, on="owner", how="semi").with_columns(flags=pl.lit(0, pl.UInt8))
    mine = pl.concat([mine, named])  # with what lines say of their key alone
    items = mine.with_columns(hash="owner", flags=pl.lit(ITEM | OPEN | OTHER, pl.UInt8))
    return pl.concat([mine, items]).unique().sort("hash", "owner", "flags", "at")


def candidates_in(rows: pl.DataFrame) -> pl.DataFrame:
    """Return those rows whose hash makes an item a candidate; of each hash all rows are there."""
    why = rows.group_by("hash").agg(
        are_many=pl.col("owner").min() != pl.col("owner").max(),
        items=(pl.col("flags") & ITEM).cast(pl.UInt32).sum(),
        is_open=(pl.col("flags") & (OPEN | ITEM) == (OPEN | ITEM)).any(),
    )
    why = why.filter(pl.col("are_many") | (pl.col("items") > 1) | pl.col("is_open"))
    return rows.join(why.select("hash"), on="hash", how="semi")
