"""What ``doubletake collect --dry-run`` prints: the cost of a collection that has not begun."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cli.options import Everywhere, accesses
from cli.output import answer
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
    from forensics.words import clock_text, count_text, span_text

    yield (
        f"Would read {', '.join(found.queues)} from {clock_text(found.window.start_at)} "
        f"to {clock_text(found.window.end_at)} UTC:"
    )
    for group in found.groups:
        known = group.events is not None or group.bytes is not None
        size = (
            f"{group.events or 0:,} log events, {(group.bytes or 0) / 1e6:,.1f} MB, " if known else "size not known, "
        )
        calls = count_text(group.calls, "query", "queries") if group.is_infrequent else count_text(group.calls, "call")
        yield f"  {group.log_group}: {size}at least {calls}"
    yield (
        f"  Logs: {count_text(found.log_calls, 'call')} of FilterLogEvents, {span_text(found.seconds * 1000)} at our pace "
        f"of 2 a second; {found.bytes / 1e6:,.1f} MB to fetch, about {found.lake_bytes / 1e6:,.1f} MB in the lake."
    )
    if found.query_calls:
        yield (
            f"  Infrequent access: {count_text(found.query_calls, 'query', 'queries')} of Logs Insights, which AWS bills by "
            f"the bytes scanned: at least {found.query_bytes / 1e6:,.1f} MB."
        )
    if found.trail_calls:
        yield (
            f"  Setting changes: at least {count_text(found.trail_calls, 'call')} of LookupEvents, "
            f"{span_text(found.trail_seconds * 1000)} at our pace."
        )
    yield f"  Metrics: {count_text(found.metric_count, 'metric')} in {count_text(found.metric_calls, 'call')} of GetMetricData."
    for gap in found.gaps:
        yield f"  Gap: {gap}"
    if found.bytes > LARGE_BYTES:
        yield "  That is much: let CloudWatch export the groups to S3 and use `doubletake import`."
    yield "  Nothing was read and nothing was written. What the lake holds already is not read again."
