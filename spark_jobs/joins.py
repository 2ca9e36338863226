"""Streams over several files: which lines that wait belong together, and which invocations they open again.

Lines that wait are parts of invocations at the borders of files. A stream is *tangled* where what one file tells of it bears
on an invocation that was over in another (a line came late, or stands inside it; two invocations overlap, or are of one
request): then all lines of the stream are read again together. Else those that wait are put together among themselves, cut
where a START begins something new.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from forensics.counting import waiting_lines
from forensics.counting.digests import owners_digest
from forensics.counting.frame_files import mapped, write_mapped, write_parquet
from forensics.counting.halves import halved
from forensics.counting.settled_rows import with_numbers
from forensics.counting.spoken import stretches
from forensics.counting.waiting_lines import STREAM, Borders, placed
from spark_jobs.assemble import of_items, of_said, of_streams, of_workers
from spark_jobs.cache import digest
from spark_jobs.candidates import frames_in, write_frames
from spark_jobs.parts import BORDER_SCHEMA, FACT_SCHEMA, HANDLE_SCHEMA, LINE_SCHEMA, REST_SCHEMA, Part, read_part

if TYPE_CHECKING:
    from spark_jobs.steps import Shared

LINES_PER_UNIT = 20_000
_LINES_OF_TANGLED = 1_000
"""So many lines a tangled stream is taken for: its files are read once for all of a unit."""
REST = "rest.parquet"
ITEMS = "items.arrow"
WAITING = "waiting.arrow"
SPOKEN = "spoken.arrow"

Stream = tuple[str, str]
ScannedFile = dict[str, Any]
"""``name`` of its entry, and how much it has of ``rest``, ``facts`` and ``borders``."""


def settle(shared: "Shared", parts: Sequence[ScannedFile], folder: Path) -> None:
    """Write the lines that wait and the borders of these parts together, each with the place of its ``part`` among them."""
    numbered = list(enumerate(parts))
    write_mapped(_of_parts(shared, numbered, "rest", REST_SCHEMA), folder / WAITING)
    write_frames(waiting_lines.settled(_of_parts(shared, numbered, "borders", BORDER_SCHEMA)), folder)


def planned(
    shared: "Shared", parts: Sequence[ScannedFile], source: Path, old: Sequence[int], folder: Path
) -> dict[str, Any]:
    """Return the units of joining, and the streams whose rows are taken out of each part; write the lines that wait, by unit.

    The parts with the numbers of ``old`` were settled at the ``source``.
    """
    units = _of_workers(shared, parts, folder)
    new = [(n, part) for n, part in enumerate(parts) if n not in set(old)]
    before = frames_in(source, waiting_lines.Settled)
    before = replace(before, borders=with_numbers(before.borders, old), spans=with_numbers(before.spans, old))
    waiting = with_numbers(mapped(source / WAITING), old)
    rest = pl.concat([waiting, _of_parts(shared, new, "rest", REST_SCHEMA)])
    borders = Borders(before, _of_parts(shared, new, "borders", BORDER_SCHEMA))
    rest, tangled = placed(rest, borders)
    whole, taken = _whole(shared, parts, rest, borders.of(tangled), tangled)
    free = rest.filter(pl.col("piece").is_not_null())
    return {"units": [*units, *whole, *_of_rest(parts, free, folder)], "without": taken}


def _of_parts(
    shared: "Shared", parts: Sequence[tuple[int, ScannedFile]], name: str, schema: dict[str, Any]
) -> pl.DataFrame:
    """Return one frame of these parts, with the number of each row's ``part``."""
    found = [
        mapped(shared.cache.entry("scan", part["name"]) / f"{name}.arrow").with_columns(part=pl.lit(n, pl.UInt32))
        for n, part in parts
        if part[name]
    ]
    return pl.concat([pl.DataFrame(schema=schema | {"part": pl.UInt32}), *found])


def _whole(
    shared: "Shared", parts: Sequence[ScannedFile], rest: pl.DataFrame, borders: pl.DataFrame, tangled: pl.Series
) -> tuple[list[dict[str, Any]], dict[str, list[list[str]]]]:
    """Return units of tangled streams, and by part the streams whose rows are taken out of it."""
    is_tangled = pl.col("stream").is_in(tangled.implode())
    holders = pl.concat([frame.filter(is_tangled).select("stream", "part") for frame in (rest, borders)]).unique()
    names = rest.filter(is_tangled).select("stream", *STREAM).unique()
    unnamed = holders.join(names, on="stream", how="anti")["part"].unique().sort()
    more = [
        read_part(shared.cache.entry("scan", parts[n]["name"]), "invocations")
        .select(pl.struct(*STREAM).hash().alias("stream"), *STREAM)
        .unique()
        .filter(is_tangled)
        .collect()
        for n in unnamed
    ]
    held = holders.join(pl.concat([names, *more]).unique(), on="stream").sort(*STREAM, "part")
    of_stream: dict[Stream, list[int]] = defaultdict(list)
    taken: dict[str, list[list[str]]] = defaultdict(list)
    for group, stream, part in held.select(*STREAM, "part").iter_rows():
        of_stream[group, stream].append(part)
        taken[parts[part]["name"]].append([group, stream])
    units = []
    for keys in _packed(of_stream, _LINES_OF_TANGLED * len(of_stream)):
        files = sorted({n for key in keys for n in of_stream[key]})
        rests_on = [(key, sorted(parts[n]["name"] for n in of_stream[key])) for key in keys]
        unit = {"kind": "whole", "name": digest("join whole", rests_on), "lines": _LINES_OF_TANGLED * len(keys)}
        units.append({**unit, "files": files, "held": [[key for key in keys if n in of_stream[key]] for n in files]})
    return units, taken


def _packed(keys: Iterable[Stream], lines: int) -> list[list[Stream]]:
    """Share out streams of so many lines to units, by their names: each stays where it is while they are about as many."""
    buckets = 1 << (lines // LINES_PER_UNIT).bit_length()
    packed: dict[int, list[Stream]] = defaultdict(list)
    for key in sorted(keys):
        packed[int.from_bytes(hashlib.sha256("\0".join(key).encode()).digest()[:8], "big") % buckets].append(key)
    return [mine for _, mine in sorted(packed.items())]


def _of_rest(parts: Sequence[ScannedFile], rest: pl.DataFrame, folder: Path) -> list[dict[str, Any]]:
    """Return units of lines that belong together, in stretches of time; write the lines by unit."""
    if rest.is_empty():
        return []
    lines = rest.with_columns(piece_at=pl.col("at").first().over("piece"))
    unit = halved(lines["piece_at"].to_numpy(), np.ones(lines.height), LINES_PER_UNIT)
    lines = lines.with_columns(unit=pl.Series(unit, dtype=pl.String))
    write_parquet(lines.sort("unit", maintain_order=True).select("unit", *REST_SCHEMA), folder / REST)
    units = []
    for (name,), mine in lines.group_by("unit", maintain_order=True):
        names = [parts[int(n)]["name"] for n in mine["part"].unique()]
        pieces = mine.select("evidence_id").sort("evidence_id")
        units.append(
            {
                "kind": "rest",
                "name": digest("join rest", name, *sorted(names), *pieces.to_series()),
                "unit": name,
                "files": [],
                "lines": mine.height,
            }
        )
    return units


def _of_workers(shared: "Shared", parts: Sequence[ScannedFile], folder: Path) -> list[dict[str, Any]]:
    """Return units of workers' lines: of messages where every fact of a stream names its message, else of whole streams."""
    held = [(n, shared.cache.entry("scan", part["name"])) for n, part in enumerate(parts) if part["facts"]]
    if not held:
        return []
    number = [pl.lit(n, pl.UInt32).alias("part") for n, _ in held]
    told = pl.concat(read_part(entry, "streams").with_columns(n) for n, (_, entry) in zip(number, held, strict=True))
    streams = told.collect()
    unnamed = streams.filter(~pl.col("is_named"))
    spoken = pl.concat(mapped(entry / SPOKEN).with_columns(n) for n, (_, entry) in zip(number, held, strict=True))
    if not unnamed.is_empty():
        spoken = spoken.filter(~pl.col("stream").is_in(unnamed["stream"].unique().implode()))
    return [*_of_items(parts, spoken, folder), *_of_streams(parts, streams, unnamed.select(STREAM).unique())]


def _of_items(parts: Sequence[ScannedFile], spoken: pl.DataFrame, folder: Path) -> list[dict[str, Any]]:
    """Return units of messages that a stream speaks of first in one stretch of time; write the messages, unit by unit."""
    units: list[dict[str, Any]] = []
    keys: list[np.ndarray] = []
    first = 0
    for one in stretches(spoken, LINES_PER_UNIT):
        read = [(parts[n]["name"], low, high) for n, low, high in one.parts]
        mine = pl.Series("key", one.keys, pl.UInt64)
        name = digest("join items", one.name, *sorted(read), owners_digest(mine))
        unit = {"kind": "items", "name": name, "items": [first, len(mine)], "parts": read, "lines": one.lines}
        units.append({**unit, "files": []})
        keys.append(one.keys)
        first += len(mine)
    if units:
        write_mapped(pl.DataFrame({"key": np.concatenate(keys)}), folder / ITEMS)
    return units


def _of_streams(parts: Sequence[ScannedFile], told: pl.DataFrame, streams: pl.DataFrame) -> list[dict[str, Any]]:
    """Return units of whole streams, which one fact that names no message may bear on; ``told`` are all, by part."""
    of_group: dict[str, list[str]] = {}
    for group, part in told.select("log_group", "part").unique().sort("log_group", "part").iter_rows():
        of_group.setdefault(group, []).append(parts[part]["name"])
    mine = told.join(streams, on=STREAM, how="semi").sort(*STREAM, "part")
    of_stream: dict[Stream, list[str]] = {}
    for group, stream, part in mine.select(*STREAM, "part").iter_rows():
        of_stream.setdefault((group, stream), []).append(parts[part]["name"])
    counted = mine.group_by(STREAM).agg(pl.col("lines").sum())
    counts = {(group, stream): lines for group, stream, lines in counted.iter_rows()}
    units = []
    for keys in _packed(of_stream, sum(counts.values())):
        rests_on = [(key, of_stream[key], of_group[key[0]]) for key in keys]
        units.append(
            {
                "kind": "streams",
                "files": [],
                "name": digest("join streams", rests_on),
                "streams": [list(key) for key in keys],
                "parts": sorted({name for key in keys for name in of_stream[key]}),
                "of_groups": sorted({name for key in keys for name in of_group[key[0]]}),
                "lines": sum(counts[key] for key in keys),
            }
        )
    return units


def joined(shared: "Shared", unit: dict[str, Any]) -> Part:
    """Put a unit's lines together."""
    assert shared.reading is not None
    if unit["kind"] == "items":
        return of_items(_facts_of(shared, unit), _keys_of(unit), shared.reading)
    if unit["kind"] == "streams":
        streams = pl.DataFrame(unit["streams"], schema=STREAM, orient="row")
        facts = _read(shared, unit["parts"], "facts", FACT_SCHEMA).join(streams, on=STREAM, how="semi")
        handles = _read(shared, unit["of_groups"], "handles", HANDLE_SCHEMA)
        handles = handles.join(streams.select("log_group").unique(), on="log_group", how="semi")
        return of_workers(facts, handles, shared.reading)
    if unit["kind"] == "whole":
        held = zip(unit["paths"], unit["held"], strict=True)
        return of_streams(pl.concat([_lines_of(path, streams, shared) for path, streams in held]), shared.reading)
    waiting = pl.scan_parquet(Path(unit["source"]) / REST).filter(pl.col("unit") == unit["unit"])
    return of_said(waiting.select(*REST_SCHEMA).collect(), shared.reading)


def _keys_of(unit: dict[str, Any]) -> pl.Series:
    return mapped(Path(unit["source"]) / ITEMS)["key"].slice(*unit["items"])


def _facts_of(shared: "Shared", unit: dict[str, Any]) -> pl.DataFrame:
    return pl.concat(
        read_part(shared.cache.entry("scan", name), "facts").filter(pl.col("at").is_between(low, high)).collect()
        for name, low, high in unit["parts"]
    )


def _read(shared: "Shared", names: Sequence[str], frame: str, schema: dict[str, Any]) -> pl.DataFrame:
    folders = [shared.cache.entry("scan", name) for name in names]
    there = [read_part(folder, frame).collect() for folder in folders if (folder / f"{frame}.parquet").exists()]
    return pl.concat(there) if there else pl.DataFrame(schema=schema)


def _lines_of(path: str, streams: Sequence[Stream], shared: "Shared") -> pl.DataFrame:
    mine = pl.LazyFrame(streams, schema=STREAM, orient="row")
    events = pl.scan_parquet(path).join(mine, on=STREAM, how="semi")
    if shared.since is not None:
        events = events.filter(pl.col("logged_at") >= shared.since)
    at = pl.col("logged_at").dt.epoch("us")
    return events.with_columns(at=at, order_in_ms=pl.col("order_in_ms").fill_null(0)).select(*LINE_SCHEMA).collect()
