"""What commands that list findings have in common: which rows, and what is said where there are none."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cli.output import say
from cli.said import in_words

if TYPE_CHECKING:
    from forensics.lake import Findings
    from forensics.report.records import Record

_AT_A_TIME = 5_000


class Records:
    """The rows of an Arrow table by some of its columns, each as ``told`` tells it when it is asked for: few exist at a time."""

    def __init__(self, table: Any, by: Sequence[str], told: Callable[[dict[str, Any]], "Record"]) -> None:
        self.table = (
            table.combine_chunks()
        )  # of one chunk a few rows from anywhere are taken at once, of many after all are put together
        self.by, self.told = by, told

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator["Record"]:
        import pyarrow.compute as pc

        from forensics.lake.findings import rows_of

        order = pc.sort_indices(self.table.select(self.by), [(name, "ascending") for name in self.by])
        for start in range(0, len(order), _AT_A_TIME):
            yield from map(self.told, rows_of(self.table.take(order.slice(start, _AT_A_TIME))))

    def of_several(self, column: str) -> bool:
        """Tell whether the rows have more than one value in a column."""
        import pyarrow.compute as pc

        return bool(pc.count_distinct(self.table[column]).as_py() > 1)


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
    """Say that there is no suspicion, and among how many deliveries; of whom nothing was checked, and where to see what was not read."""
    from forensics.lake.rows import plain_rows
    from forensics.report.lake_status import is_complete
    from forensics.report.log_readiness import all_clear, nothing_checked
    from forensics.tables.evidence import COVERAGE

    for sentence in nothing_checked(findings, queue):
        say("{sentence}", sentence=in_words(sentence))
    if clear := all_clear(findings, queue):
        say("{sentence}", sentence=in_words(clear))
        if not is_complete(plain_rows(findings.read(COVERAGE)), queue):
            say("`doubletake status` says what was not read in full.")
