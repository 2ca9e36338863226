"""Works that somebody looked for, each with what is known of it; they are read together, however many they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.lake import Findings
from forensics.lake.filters import one_of
from forensics.lake.findings import rows_of
from forensics.lake.rows import plain_rows
from forensics.report.find import Key, Work
from forensics.report.hints import Hint, hints_for
from forensics.tables.findings import DELIVERIES, MESSAGES

Row = Mapping[str, Any]
AT_ONCE = 1_000
"""Works whose rows are in memory together."""


@dataclass(frozen=True)
class FoundWork:
    """A work's rows of deliveries, of messages by message, and what else is like the message that was found."""

    work: Work
    deliveries: tuple[Row, ...]
    verdicts: Mapping[Key, Row]
    hints: tuple[Hint, ...]

    @property
    def verdict(self) -> Row | None:
        """Return what was found of the message that was looked for, None where it is suspected of nothing."""
        return self.verdicts.get(self.work.hit.key)


def read_works(findings: Findings, works: Sequence[Work]) -> Iterator[FoundWork]:
    """Yield works in their order, each with what these findings say of it."""
    for start in range(0, len(works), AT_ONCE):
        some = works[start : start + AT_ONCE]
        by_key = {key: n for n, work in enumerate(some) for key in work.items}
        where = one_of("item_id", {item for _, item in by_key})
        deliveries: list[list[Row]] = [[] for _ in some]
        verdicts: list[dict[Key, Row]] = [{} for _ in some]
        for row in plain_rows(findings.read(DELIVERIES, where=where)):
            if (n := by_key.get(_key(row))) is not None:
                deliveries[n].append(row)
        for row in rows_of(findings.read(MESSAGES, where=where)):
            if (n := by_key.get(_key(row))) is not None:
                verdicts[n][_key(row)] = row
        asked = zip((work.hit for work in some), verdicts, deliveries, strict=True)
        hints = hints_for(findings, [(hit, judged.get(hit.key), rows) for hit, judged, rows in asked])
        for n, work in enumerate(some):
            yield FoundWork(work, tuple(deliveries[n]), verdicts[n], tuple(hints.get(work.hit.key, ())))


def _key(row: Row) -> Key:
    return row["queue_arn"], row["item_id"]
