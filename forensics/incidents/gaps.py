"""Coverage gaps: readings that gave less than everything, and were not made good by another."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forensics.clock import micros
from forensics.coverage import is_from_files, said_of_files
from forensics.sentence import said
from forensics.spans import merged

Row = Mapping[str, Any]
_OF_DEAD_LETTERS = " (whose dead letters it takes)"
_SAME = ("account_id", "region", "source", "resource")
_Span = tuple[int, int]


def coverage_gaps(coverage: Iterable[Row]) -> list[Row]:
    """Return the rows of coverage that say what is missing still.

    A reading that failed is made good by later ones that cover its whole window; one in part (files that nobody vouches
    for) by any that does. What was damaged after it was read must be read again, so earlier readings never count.
    """
    rows = list(coverage)
    good: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda r: r["window_start_at"]):
        if row["status"] == "ok":
            good[_source(row)].append(row)
    return [row for row in rows if row["status"] != "ok" and not _is_made_good(row, good.get(_source(row), ()))]


def _words(row: Row) -> str:
    """Say what is missing; files that were read lack nothing that is known, so no status of theirs is told as a failure."""
    named = _named(row["resource"])
    if is_from_files(row["status"], row["detail"]):
        return said_of_files(row["source"], named)
    return said("{source} of {resource}: {status}", source=row["source"], resource=named, status=row["status"])


def _named(resource: str) -> str:
    """Return a source's name with its words marked, where it has any beside the name."""
    name = resource.removesuffix(_OF_DEAD_LETTERS)
    return said("{name} (whose dead letters it takes)", name=name) if name != resource else said("{name}", name=name)


def _source(row: Row) -> tuple[Any, ...]:
    return tuple(row[column] for column in _SAME)


def _is_made_good(row: Row, good: Sequence[Row]) -> bool:
    """Tell whether readings, in the order of their begin, cover the row's window without a hole."""
    reached, end = row["window_start_at"], row["window_end_at"]
    for one in good:
        if reached >= end or one["window_start_at"] > reached:
            break
        if row["status"] == "partial" or one["collected_at"] > row["collected_at"]:
            reached = max(reached, one["window_end_at"])
    return bool(reached >= end)


class Gaps:
    """What the evidence lacks, made ready once, so that asking for one incident costs little.

    ``coverage`` are rows of COVERAGE as the lake gives them. A gap that names no queue bears on all.
    """

    def __init__(self, coverage: Iterable[Row]) -> None:
        self._spans: dict[str | None, dict[str, list[_Span]]] = {}
        for row in coverage_gaps(coverage):
            words = _words(row)
            span = micros(row["window_start_at"]), micros(row["window_end_at"])
            self._spans.setdefault(row["queue_arn"], {}).setdefault(words, []).append(span)
        for by_words in self._spans.values():
            for words, spans in by_words.items():
                by_words[words] = merged(spans)

    def inside(self, queue_arn: str, started_at: int | None, ended_at: int | None) -> list[str]:
        """Return the gaps that touch a queue's time (both ends belong to it) in words, sorted."""
        if started_at is None or ended_at is None:
            return []
        found = {
            words
            for of in (None, queue_arn)
            for words, spans in self._spans.get(of, {}).items()
            if any(from_at <= ended_at and until_at >= started_at for from_at, until_at in spans)
        }
        return sorted(found)

    def between(
        self, queue_arns: Iterable[str], low: int | None, high: int | None
    ) -> list[tuple[str, str, list[_Span]]]:
        """Return all that ``inside`` can tell of queues within a stretch of time (µs): queue, a gap's words, and when it was.

        Where nothing tells the time, there is nothing to tell.
        """
        if low is None or high is None:
            return []
        found = []
        for queue_arn in sorted(queue_arns):
            for of in (None, queue_arn):
                for words, spans in sorted(self._spans.get(of, {}).items()):
                    clipped = [(max(a, low), min(b, high)) for a, b in spans if a <= high and b >= low]
                    found += [(queue_arn, words, clipped)] if clipped else []
        return found
