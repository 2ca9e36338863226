"""What a file of log events holds: its log groups, when and how much, and who is named in them."""

from datetime import datetime
from typing import Any

import polars as pl

from forensics.parsers import json_lines, parse_line
from forensics.parsers.line import LAMBDA_LOG_GROUPS
from forensics.parsers.platform_marks import MARK_NEEDLES, is_mark
from forensics.streams.groups import LAMBDA_STREAM

_NAMES_FUNCTION = ["functionName", ":function:"]
_START, _PLATFORM_START = "START RequestId: ", 'platform.start"'
_VERSIONS = (r"START RequestId: \S+\s+Version: (\S{1,140})", r'"version"\s*:\s*"([^"]{1,140})"')
"""Where a START line, and one of the JSON format, say which version runs."""


def surveyed(path: str, since: datetime | None) -> list[dict[str, Any]]:
    """Return per log group of a file: first and last line (µs), how many, and whether a platform's START, END or REPORT is there.

    For Lambda's own log groups the last is not looked for: their name says it. ``functions``: those that streams are named
    after; ``streams``: the others, each with the functions that platform events name in it; ``versions``: those that START lines
    say in streams that Lambda did not name.
    """
    events = pl.scan_parquet(path).select("log_group", "log_stream", "logged_at", "line")
    if since is not None:
        events = events.filter(pl.col("logged_at") >= since)
    at = pl.col("logged_at").dt.epoch("us")
    counts = {"first_at": at.min(), "last_at": at.max(), "count": pl.len()}
    of_streams = events.group_by("log_group", "log_stream").agg(**counts).collect()
    sums = [pl.col("first_at").min(), pl.col("last_at").max(), pl.col("count").sum()]
    counted = of_streams.group_by("log_group").agg(sums)
    others = events.filter(~pl.col("log_group").str.starts_with(LAMBDA_LOG_GROUPS))
    maybe = others.filter(pl.col("line").str.contains_any([*MARK_NEEDLES])).select("log_group", "line")
    with_platform = {name for name, line in maybe.collect().iter_rows() if is_mark(line)}
    functions, streams = _named(events, of_streams)
    versions = _versions(events, of_streams, with_platform)
    return [
        {
            **row,
            "has_platform": (name := row["log_group"]) in with_platform,
            "functions": functions.get(name, []),
            "streams": streams.get(name, []),
            "versions": sorted(versions.get(name, ())),
        }
        for row in counted.sort("log_group").to_dicts()
    ]


def _named(
    events: pl.LazyFrame, of_streams: pl.DataFrame
) -> tuple[dict[str, list[str]], dict[str, list[tuple[str, list[str]]]]]:
    """Return by log group the functions that streams are named after, and the streams that only platform events tell of."""
    functions: dict[str, set[str]] = {}
    others: dict[tuple[str, str], set[str]] = {}
    for log_group, log_stream in of_streams.select("log_group", "log_stream").iter_rows():
        named = LAMBDA_STREAM.compiled.search(log_stream)
        if named and named["function_name"]:
            functions.setdefault(log_group, set()).add(named["function_name"])
        elif named is None or not log_group.startswith(LAMBDA_LOG_GROUPS):
            others[log_group, log_stream] = set()
    if others:
        odd = pl.DataFrame(sorted(others), schema=["log_group", "log_stream"], orient="row").lazy()
        line = pl.col("line")
        names = line.str.contains(json_lines.PLATFORM_NEEDLE, literal=True) & line.str.contains_any(_NAMES_FUNCTION)
        said = events.filter(names).join(odd, on=["log_group", "log_stream"], how="semi")
        for log_group, log_stream, text in said.select("log_group", "log_stream", "line").collect().iter_rows():
            parsed = parse_line(text)
            if parsed.kind not in ("app", "other") and parsed.function_name:
                others[log_group, log_stream].add(parsed.function_name)
    streams: dict[str, list[tuple[str, list[str]]]] = {}
    for (log_group, log_stream), found in sorted(others.items()):
        streams.setdefault(log_group, []).append((log_stream, sorted(found)))
    return {name: sorted(found) for name, found in functions.items()}, streams


def _versions(events: pl.LazyFrame, of_streams: pl.DataFrame, with_platform: set[str]) -> dict[str, set[str]]:
    """Return by log group what versions START lines say in streams whose name does not tell."""
    untold = [
        stream
        for stream in of_streams.select("log_group", "log_stream").iter_rows()
        if (stream[0].startswith(LAMBDA_LOG_GROUPS) or stream[0] in with_platform)
        and LAMBDA_STREAM.compiled.search(stream[1]) is None
    ]
    found: dict[str, set[str]] = {}
    if untold:
        mine = pl.DataFrame(untold, schema=["log_group", "log_stream"], orient="row").lazy()
        line = pl.col("line")
        starts = events.filter(line.str.contains_any([_START, _PLATFORM_START]))
        said = pl.coalesce(*(line.str.extract(form, 1) for form in _VERSIONS))
        told = (
            starts.join(mine, on=["log_group", "log_stream"], how="semi")
            .select("log_group", said)
            .unique()
            .drop_nulls()
        )
        for log_group, version in told.collect().iter_rows():
            found.setdefault(log_group, set()).add(version)
    return found
