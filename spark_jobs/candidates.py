"""Which works need judging: over 64-bit hashes of message ids, deduplication ids, business keys and job ids.

Two hashes that are equal by chance make a candidate too many, never one too few. What is judged together is made here, too:
items that share a hash, directly or through others, are one group, and groups of a stretch of time are one unit.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa

from forensics.counting.halves import numbered
from forensics.counting.hashes import groups_of, in_one, in_one_with_parts, met, places_of, repeated

HASHES = "hashes.arrow"
FOUND = "found.arrow"
SHARED = "shared.arrow"
PLAN = "plan.arrow"
HASH_SCHEMA = {
    "hash": pl.UInt64,
    "owner": pl.UInt64,
    "flags": pl.UInt8,
    "at": pl.Int64,
    "since": pl.Int64,
    "until": pl.Int64,
}
_ITEM, _OPEN, _OTHER = 1, 2, 4
"""Flags of a hash: an item's own; of a delivery that is judged in any case, or of another."""
_SEEDS = {"item": 1, "deduplication": 2, "key": 3, "job": 4, "body": 5}
ROWS_PER_UNIT = 4_000
"""So many deliveries are judged together: less than a second's work, and what one new line makes anew."""


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
        flag=pl.when(is_judged_anyway()).then(_OPEN).otherwise(_OTHER),
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
        rows(pl.col("owner"), pl.lit(_ITEM)),
        rows(seeded("deduplication_id", "deduplication"), link),
        rows(seeded("deduplication_id", "item"), link),  # a redrive out of a FIFO queue is named after the message
        rows(seeded("job_id", "job"), link),
        rows(seeded("business_keys", "key"), link, keyed),
    ]
    return _sorted(pl.concat(parts))


def _sorted(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows by hash without repeats; only of hashes that are there several times the other columns are looked at."""
    rows = rows.sort("hash")
    is_same = pl.col("hash") == pl.col("hash").shift(1)
    several = (is_same | is_same.shift(-1)).fill_null(False)
    others = rows.filter(several).unique().sort("hash", "owner", "flags", "at", "since", "until")
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
    items = base.filter("is_moved").with_columns(hash="owner", flags=pl.lit(_ITEM | _OPEN | _OTHER, pl.UInt8))
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
    alone = (pl.lit("key:") + pl.col("key")).hash(_SEEDS["item"])
    named.append(base.filter(pl.col("key").is_not_null()).with_columns(hash=alone, flags=pl.lit(_OTHER, pl.UInt8)))
    return pl.concat(named).select(*HASH_SCHEMA).unique().sort("hash", "owner", "at")


def resent(sends: list[Path], parts: list[Path]) -> pl.DataFrame:
    """Return the hashes of messages that recorded sends link to another: such items are judged, whatever their lines say."""
    every = pl.concat(map(_hashes_in, sends))
    links = every.filter(pl.col("flags") == 0)
    asked = [_hashes_in(part).select("hash", "owner").join(links, on="hash", how="semi") for part in parts]
    owners = pl.concat([links.select("hash", "owner"), *asked]).unique()
    mine = links.join(owners.filter(pl.len().over("hash") > 1), on="hash", how="semi")
    named = every.filter(pl.col("flags") > 0).join(mine, on="owner", how="semi").with_columns(flags=pl.lit(0, pl.UInt8))
    mine = pl.concat([mine, named])  # with what lines say of their key alone
    items = mine.with_columns(hash="owner", flags=pl.lit(_ITEM | _OPEN | _OTHER, pl.UInt8))
    return pl.concat([mine, items]).unique().sort("hash", "owner", "flags", "at")


def write_hashes(rows: pl.DataFrame, folder: Path) -> None:
    """Write hashes, to be mapped."""
    write_mapped(rows, folder / HASHES)


def write_mapped(rows: pl.DataFrame, file: Path) -> None:
    """Write rows so that a reader gets what it looks at from the disk, and no more: in one piece, or it would copy them."""
    rows.write_ipc(file, compression="uncompressed", record_batch_size=max(rows.height, 1))


def mapped(file: Path) -> pl.DataFrame:
    """Return what ``write_mapped`` wrote."""
    with pa.memory_map(str(file)) as there, pa.ipc.open_file(there) as opened:
        return cast(pl.DataFrame, pl.from_arrow(opened.read_all()))


def _hashes_in(folder: Path) -> pl.DataFrame:
    return mapped(folder / HASHES)


def settled(parts: Sequence[Path], low: int, high: int, folder: Path) -> None:
    """Write the hashes of these parts from ``low`` to ``high`` as one, and those rows that can make an item a candidate, by hash.

    Both have the place of their ``part`` among these; rows say whether these parts alone make an item one (``is_candidate``).
    """
    rows = [_between(part, low, high) for part in parts]
    every, part = in_one_with_parts([mine["hash"].to_numpy() for mine in rows])
    write_hashes(pl.DataFrame({"hash": every, "part": part}), folder)
    found = _picked(list(enumerate(rows)), repeated(every)).sort("hash")
    is_candidate = pl.col("hash").is_in(_candidates(found)["hash"].unique().implode())
    write_mapped(found.with_columns(is_candidate=is_candidate), folder / FOUND)


def shared(
    source: Path | None, old: Mapping[int, Path], parts: Sequence[tuple[int, Path]], low: int, high: int
) -> pl.DataFrame:
    """Return the rows of hashes from ``low`` to ``high`` that make an item a candidate, with the number of their part.

    ``parts`` are folders with hashes, each with the number of the part it is of; ``old`` are others by their number,
    which have been ``settled`` at the ``source``.
    """
    scanned = [(number, _between(folder, low, high)) for number, folder in parts]
    every = in_one([rows["hash"].to_numpy() for _, rows in scanned])
    wanted, found, kept = repeated(every), [], []
    if source is not None:
        there, part = (_hashes_in(source)[name].to_numpy() for name in ("hash", "part"))
        again = met(every, there)
        before = mapped(source / FOUND)
        number = pl.Series("part", list(old), pl.UInt32)
        hashes, is_kept = before["hash"].to_numpy(), before["is_candidate"].to_numpy().copy()
        before = before.drop("is_candidate").with_columns(number.gather(before["part"]))
        places = places_of(hashes, again)  # what is there already is there with all its rows
        is_kept[places] = False
        kept = [before.filter(is_kept)]
        new = np.setdiff1d(again, hashes[places])
        holders = [number[int(place)] for place in np.unique(part[np.searchsorted(there, new)])]
        found = [before[places], _picked([(n, _hashes_in(old[n])) for n in holders], new, False)]
        wanted = np.union1d(wanted, again)
    return pl.concat([*kept, _candidates(pl.concat([*found, _picked(scanned, wanted)]))])


def _candidates(rows: pl.DataFrame) -> pl.DataFrame:
    """Return those rows whose hash makes an item a candidate; of each hash all rows are there."""
    why = rows.group_by("hash").agg(
        are_many=pl.col("owner").min() != pl.col("owner").max(),
        items=(pl.col("flags") & _ITEM).cast(pl.UInt32).sum(),
        is_open=(pl.col("flags") & (_OPEN | _ITEM) == (_OPEN | _ITEM)).any(),
    )
    why = why.filter(pl.col("are_many") | (pl.col("items") > 1) | pl.col("is_open"))
    return rows.join(why.select("hash"), on="hash", how="semi")


def _between(folder: Path, low: int, high: int) -> pl.DataFrame:
    rows = _hashes_in(folder)
    hashes = rows["hash"].to_numpy()
    first = np.searchsorted(hashes, np.uint64(low))
    return rows[first : np.searchsorted(hashes, np.uint64(high), side="right")]


def _picked(parts: Sequence[tuple[int, pl.DataFrame]], wanted: np.ndarray, with_open: bool = True) -> pl.DataFrame:
    """Return the rows of parts whose hash is wanted or, ``with_open``, an open item's own, with the number of their part."""
    found = [pl.DataFrame(schema=HASH_SCHEMA | {"part": pl.UInt32})]
    for number, rows in parts:
        places = places_of(rows["hash"].to_numpy(), wanted)
        if with_open:
            is_open = rows["flags"].to_numpy() & (_OPEN | _ITEM) == (_OPEN | _ITEM)
            places = np.union1d(places, np.flatnonzero(is_open))
        found.append(rows[places].with_columns(part=pl.lit(number, pl.UInt32)))
    return pl.concat(found)


def planned(rows: pl.DataFrame, out: Path) -> dict[str, Any]:
    """Write who is judged with whom, and return the units with what they are made of, and how many messages each has.

    Written are the number of the unit, part, owner, when its first and last delivery of the part was received (µs, 0 where that is unknown),
    and whether any of them is not judged in any case (``is_other``).
    """
    works = rows.join(groups_of(rows), on="owner")
    works = works.with_columns(began=pl.col("at").min().over("group"))
    members = works.group_by("group", "began", "owner", "part").agg(
        low=pl.col("since").min(),
        high=pl.col("until").max(),
        first_at=pl.col("at").min(),
        last_at=pl.col("at").max(),
        is_other=(pl.col("flags") & _OTHER > 0).any(),
    )
    unit = numbered(members["began"].to_numpy(), np.ones(members.height), ROWS_PER_UNIT)
    place = pl.Series("place", unit.astype(np.uint64)) * 2**32 + members["part"]
    members = members.with_columns(place, unit=pl.Series(unit))
    members = members.sort("owner").sort("place", maintain_order=True)  # by one number at a time: a third of the time
    write_mapped(members.select("unit", "part", "owner", "first_at", "last_at", "is_other"), out / PLAN)
    pairs = members.group_by("unit", "part", maintain_order=True).agg(
        pl.len(), pl.col("low").min(), pl.col("high").max()
    )
    told: list[dict[str, Any]] = []
    first = 0
    for pair in pairs.iter_rows(named=True):
        owners = members["owner"].slice(first, count := pair.pop("len"))
        told.append({**pair, "owners": owners_digest(owners)})
        first += count
    by_part = {
        str(part): owners_digest(mine["owner"].sort())
        for (part,), mine in members.filter("is_other").select("part", "owner").unique().group_by("part")
    }
    of_unit = members.group_by("unit", maintain_order=True).agg(pl.col("owner").n_unique())
    return {"units": told, "by_part": by_part, "messages": of_unit["owner"].to_list()}


def owners_digest(owners: pl.Series) -> str:
    """Return a short name for some owners, in order."""
    return hashlib.sha256(owners.to_numpy().tobytes()).hexdigest()[:32]


def digests_by(name: str, rows: pl.DataFrame, *columns: str) -> dict[Any, str]:
    """Return a short name for what ``columns`` say in the rows of each value of the one ``name``, in order."""
    said = pl.DataFrame({name: rows[name], "said": rows.select(columns).hash_rows()})
    return {value: owners_digest(mine["said"]) for (value,), mine in said.group_by(name, maintain_order=True)}


def owners_in(plan: Path, *, unit: int | None = None, part: int | None = None) -> pl.DataFrame:
    """Return the owners of a unit, or of a part, from a plan."""
    wanted = pl.lit(True) if unit is None else pl.col("unit") == unit
    if part is not None:
        wanted = wanted & (pl.col("part") == part)
    return mapped(plan).filter(wanted).drop("unit")
