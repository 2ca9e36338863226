"""What ``doubletake collect --dry-run`` prints: the cost of a collection that has not begun."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cli.options import Everywhere, accesses
from cli.output import answer
from cli.said import count_text, in_words, phrase, span_text
from forensics.errors import EXIT_OK, EXIT_PARTIAL

if TYPE_CHECKING:
    from forensics.window import TimeWindow
    from ingest.estimate import Estimate

LARGE_BYTES = 20 * 10**9
"""More than this comes faster by an export to S3."""


def tell_estimate(chosen: Everywhere, queues: list[str] | None, window: "TimeWindow", log_groups: list[str]) -> int:
    """Find what would be read, ask how much it is, and print that; nothing is read and nothing is written.

    Returns 3 where the collection would end with that: something cannot be read.
    """
    from ingest.estimate import estimate

    settings = chosen.settings()
    aws = accesses(chosen, settings)
    found = estimate(chosen.open_lake(), aws, queues, window, log_groups, settings, datetime.now(UTC))
    for line in estimated(found):
        answer(line)
    return EXIT_PARTIAL if found.gaps else EXIT_OK


def estimated(found: "Estimate") -> Iterator[str]:
    """Yield an estimate in words."""
    from forensics.words import clock_text

    yield (
        phrase(
            "Would read {names} from {start} to {end} UTC:",
            names=", ".join(found.queues),
            start=clock_text(found.window.start_at),
            end=clock_text(found.window.end_at),
        )
    )
    for group in found.groups:
        known = group.events is not None or group.bytes is not None
        size = (
            phrase(
                "{events} log events, {n} MB, ", events=group.events or 0, n=f"{(group.bytes or 0) / 1000000.0:,.1f}"
            )
            if known
            else phrase("size not known, ")
        )
        calls = count_text(group.calls, "query", "queries") if group.is_infrequent else count_text(group.calls, "call")
        yield phrase("  {log_group}: {size}at least {calls}", log_group=group.log_group, size=size, calls=calls)
    yield (
        phrase(
            "  Logs: {call} of FilterLogEvents, {span_text} at our pace of 2 a second; {n} MB to fetch, about "
            "{n2} MB in the lake.",
            call=count_text(found.log_calls, "call"),
            span_text=span_text(found.seconds * 1000),
            n=f"{found.bytes / 1000000.0:,.1f}",
            n2=f"{found.lake_bytes / 1000000.0:,.1f}",
        )
    )
    if found.query_calls:
        yield (
            phrase(
                "  Infrequent access: {queries} of Logs Insights, which AWS bills by the bytes scanned: at least {n} "
                "MB.",
                queries=count_text(found.query_calls, "query", "queries"),
                n=f"{found.query_bytes / 1000000.0:,.1f}",
            )
        )
    if found.trail_calls:
        yield (
            phrase(
                "  Setting changes: at least {call} of LookupEvents, {span_text} at our pace.",
                call=count_text(found.trail_calls, "call"),
                span_text=span_text(found.trail_seconds * 1000),
            )
        )
    for table in found.guard_tables:
        yield (
            phrase(
                "  Idempotency table {name}: {record}, at most {page} in {span_text} at our pace, {n} of its read capacity units.",
                name=table.guard_table,
                record=phrase("size not known") if table.items is None else count_text(table.items, "record"),
                page=count_text(table.calls, "page"),
                span_text=span_text(table.seconds * 1000),
                n=f"{table.units:,}",
            )
        )
    yield phrase(
        "  Metrics: {metric} in {call} of GetMetricData.",
        metric=count_text(found.metric_count, "metric"),
        call=count_text(found.metric_calls, "call"),
    )
    for gap in found.gaps:
        yield f"  {phrase('Gap: ')}{in_words(gap)}"
    if found.bytes > LARGE_BYTES:
        yield phrase("  That is much: let CloudWatch export the groups to S3 and use `doubletake import`.")
    yield phrase("  Nothing was read and nothing was written. What the lake holds already is not read again.")
