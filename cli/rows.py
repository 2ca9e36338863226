"""What commands that list findings have in common: which rows, and what is said where there are none."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cli.output import say
from cli.said import in_words

if TYPE_CHECKING:
    from forensics.lake import Findings
    from forensics.report.records import Record


def records_of(table: Any) -> Iterator["Record"]:
    """Yield the rows of an Arrow table, of which few exist at a time."""
    from forensics.lake.findings import rows_of

    for batch in table.to_batches(max_chunksize=10_000):
        yield from rows_of(batch)


def both(left: Any, right: Any) -> Any:
    """Return the filter for rows that pass two, of which the first may be None and then keeps every row."""
    return right if left is None else left & right


def all_of(wanted: dict[str, str | None]) -> Any:
    """Return the filter for columns that must have a value; None says nothing, and nothing said keeps every row."""
    from forensics.lake.filters import equals

    where = None
    for column, value in wanted.items():
        if value is not None:
            where = both(where, equals(column, value))
    return where


def with_interval(record: "Record") -> "Record":
    """Return a message's record with how often its work was done in one column, for people."""
    from forensics.words import interval_text

    return {**record, "interval": interval_text(record["effects_at_least"], record["effects_at_most"])}


def say_nothing_found(findings: "Findings", queue: str | None) -> None:
    """Say that there is no suspicion, and among how many deliveries; and of whom nothing was checked."""
    from forensics.report.log_readiness import nothing_checked
    from forensics.report.queue_lookup import deliveries_of

    checked, unchecked = deliveries_of(findings, queue), nothing_checked(findings, queue)
    for sentence in unchecked:
        say("{sentence}", sentence=in_words(sentence))
    if unchecked and not checked:
        return
    if queue:
        say(
            "No incidents of queue {queue}. {n} of its deliveries were checked in this data version; `doubletake status` has gaps.",
            queue=repr(queue),
            n=checked,
        )
        return
    say("No incidents. {n} deliveries were checked in this data version; `doubletake status` has gaps.", n=checked)
