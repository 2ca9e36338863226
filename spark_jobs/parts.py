"""What a part of the lake tells, as frames: invocations and deliveries that are over, and lines that wait for other parts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from forensics.counting.frame_files import write_parquet
from forensics.counting.frames import UTC_US, no_rows, schema_of
from forensics.counting.item_hashes import is_judged_anyway
from forensics.sentence import marked
from forensics.streams.model import Delivery
from forensics.tables.findings import DELIVERIES, INVOCATIONS

INVOCATION_SCHEMA: dict[str, Any] = schema_of(INVOCATIONS) | {
    "names_items": pl.Boolean,
    "shows_records": pl.Boolean,
    "shows_batch": pl.Boolean,
    "in_hand_count": pl.Int32,
    "order_if_all_shown": pl.String,
    "shows_counts": pl.Boolean,
    "shows_starts": pl.Boolean,
    "begins_items": pl.Boolean,
    "shows_effects": pl.Boolean,
    "has_response": pl.Boolean,
    "has_guard_line": pl.Boolean,
    "first_mark_id": pl.String,
    "first_line_at": UTC_US,
    "last_line_at": UTC_US,
}
"""The table's columns, and what is counted of an invocation's lines."""

DELIVERY_SCHEMA: dict[str, Any] = schema_of(DELIVERIES) | {
    "first_receive_ms": pl.Int64,
    **dict.fromkeys(("dead_letter_source_arn", "body_shape"), pl.String),
    "key_marker_count": pl.Int32,
    "has_response": pl.Boolean,
    "error_type": pl.String,
    **dict.fromkeys(("is_in_progress", "is_not_reached"), pl.Boolean),
    "job_id": pl.String,
    "is_open": pl.Boolean,
    "raw": pl.Binary,
    "item_hash": pl.UInt64,
}
"""The table's columns as if the delivery were its message's only one, and what judging asks for besides.

``is_open``: how it ended depends on more than its own lines, so it is judged in any case. ``raw`` is the whole ``Delivery``
packed, null for an ordinary one, of which the columns tell everything.
"""

TABLE_COLUMNS = DELIVERIES.column_names

LINE_SCHEMA: dict[str, Any] = {
    "evidence_id": pl.String,
    "log_group": pl.String,
    "log_stream": pl.String,
    "at": pl.Int64,
    "order_in_ms": pl.Int32,
    "line": pl.String,
}


REST_SCHEMA: dict[str, Any] = {
    "log_group": pl.String,
    "log_stream": pl.String,
    "at": pl.Int64,
    "order_in_ms": pl.Int32,
    "evidence_id": pl.String,
    "request_id": pl.String,
    "is_start": pl.Boolean,
    "said": pl.Binary,
}
"""One line of a function that waits for those of other files; ``said`` is its ``Statement``, packed, null where it says nothing."""

BORDER_SCHEMA: dict[str, Any] = {
    "stream": pl.UInt64,
    "request": pl.UInt64,
    "start_at": pl.Int64,
    "end_at": pl.Int64,
    "is_closed": pl.Boolean,
}
"""An invocation that is over in its file, up to the last line before the next; ``stream`` and ``request`` are hashes.

``is_closed``: it ends with its REPORT, so a line that says nothing and comes later is none of its own.
"""

FACT_SCHEMA: dict[str, Any] = {
    "log_group": pl.String,
    "log_stream": pl.String,
    "at": pl.Int64,
    "order_in_ms": pl.Int32,
    "evidence_id": pl.String,
    "facts": pl.Binary,
    "items": pl.List(pl.String),
    "keys": pl.List(pl.UInt64),
}
"""One line of a worker that states something; ``facts`` are packed.

``items`` are the messages it speaks of, none where any of its facts does not name its message; ``keys`` are the hashes of
stream and message, one for each of ``items``.
"""

HANDLE_SCHEMA: dict[str, Any] = {"log_group": pl.String, "handle": pl.String, "message_id": pl.String}
"""Receipt handles that workers print with their message's record."""

HANDLING_SCHEMA: dict[str, Any] = {
    "log_group": pl.String,
    "log_stream": pl.String,
    "consumer": pl.String,
    "item_id": pl.String,
    "first_at": UTC_US,
    "last_at": UTC_US,
    "shows_count": pl.Boolean,
    "shows_start": pl.Boolean,
    "is_opened": pl.Boolean,
    "shows_effect": pl.Boolean,
    "tells_again": pl.Boolean,
    "first_id": pl.String,
}
"""What is counted of a worker's handling."""


FRAMES: dict[str, dict[str, Any]] = {
    "invocations": INVOCATION_SCHEMA,
    "deliveries": DELIVERY_SCHEMA,
    "handlings": HANDLING_SCHEMA,
    "rest": REST_SCHEMA,
    "borders": BORDER_SCHEMA,
    "facts": FACT_SCHEMA,
    "handles": HANDLE_SCHEMA,
}


def _none_of(name: str) -> Any:
    return field(default_factory=lambda: no_rows(tuple(FRAMES[name].items())))


@dataclass(frozen=True)
class Part:
    """Frames in the schemas above."""

    invocations: pl.DataFrame = _none_of("invocations")
    deliveries: pl.DataFrame = _none_of("deliveries")
    handlings: pl.DataFrame = _none_of("handlings")
    rest: pl.DataFrame = _none_of("rest")
    borders: pl.DataFrame = _none_of("borders")
    facts: pl.DataFrame = _none_of("facts")
    handles: pl.DataFrame = _none_of("handles")

    def and_part(self, other: "Part") -> "Part":
        """Return both together."""
        return Part(**{name: pl.concat([getattr(self, name), getattr(other, name)]) for name in FRAMES})


def written(
    folder: Path, name: str, rows: pl.DataFrame, key: Sequence[str] = (), row_group_size: int | None = None
) -> None:
    """Write a frame as ``<name>.parquet``, by its key: the same rows give the same bytes."""
    ordered = rows.sort(key, nulls_last=True, maintain_order=True) if key else rows
    write_parquet(ordered, folder / f"{name}.parquet", row_group_size)


_OPEN_ROWS = 2_000
"""So many deliveries that wait for judging are read together: those of a stretch of time, in which a unit's works lie."""


def write_deliveries(folder: Path, deliveries: pl.DataFrame) -> pl.DataFrame:
    """Write deliveries, those that are judged in any case apart; returns the others.

    The others are rows of the findings table as they stand, to be published without a copy; what judging asks besides is in
    a file of its own, row by row beside them.
    """
    others, mine = deliveries.filter(~is_judged_anyway()), deliveries.filter(is_judged_anyway())
    written(folder, "others", others.select(*TABLE_COLUMNS))
    extras = others.drop(*TABLE_COLUMNS)
    write_parquet(extras, folder / "extras.parquet", has_statistics=False)
    written(folder, "open", mine, ("received_at",), row_group_size=_OPEN_ROWS)
    return others


def other_deliveries(folder: Path) -> pl.LazyFrame:
    """Return the deliveries of a part that are judged only where something else speaks of their message."""
    return pl.concat([read_part(folder, "others"), read_part(folder, "extras")], how="horizontal")


def all_deliveries(folder: Path) -> pl.LazyFrame:
    """Return all deliveries of a part (``DELIVERY_SCHEMA``)."""
    return pl.concat([other_deliveries(folder), read_part(folder, "open")])


def all_invocations(folder: Path) -> pl.LazyFrame:
    """Return all invocations of a part (``INVOCATION_SCHEMA``)."""
    return pl.concat([read_part(folder, "invocations"), read_part(folder, "runs")], how="horizontal")


def all_runs(folder: Path) -> tuple[pl.LazyFrame, pl.LazyFrame | None]:
    """Return all invocations of a part, and all handlings of workers; None: it has none."""
    return all_invocations(folder), read_part(folder, "handlings") if (folder / "handlings.parquet").exists() else None


def read_part(folder: Path, name: str) -> pl.LazyFrame:
    """Return one frame of a part."""
    return pl.scan_parquet(folder / f"{name}.parquet")


def packed(value: Any) -> bytes:
    """Return plain values as MessagePack, sentences in their marked form."""
    return msgspec.msgpack.encode(value, enc_hook=marked)


def unpacked(raw: bytes) -> Delivery:
    """Return a packed delivery."""
    return _DELIVERY(raw)


_DELIVERY = msgspec.msgpack.Decoder(Delivery).decode
