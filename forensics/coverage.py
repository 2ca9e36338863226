"""What rows of coverage still say: a reading counts until what it stored was found damaged."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from forensics.clock import micros, moment
from forensics.sentence import said
from forensics.spans import Spans, common_to

Row = Mapping[str, Any]
SETTLING = timedelta(minutes=5)
"""CloudWatch shows events late: what is younger than this when it is read does not count as read."""
TRAIL = "CloudTrail"
"""What coverage calls the look-up of every setting change of an account and region; that of one call has its name behind."""
FROM_FILES = "from files"
"""How coverage begins to say why a source that files brought is known in part."""
_FROM_FILES_BEFORE = "from a file: "
"""How it said so of idempotency tables in earlier releases."""
UNSURE_WHEN = f"{FROM_FILES}: when the table was read is not known"
"""Why an idempotency table of which files hold every item is known in part."""
_VOUCHED_FOR = ("log_events", "send_records")
"""Sources of whose files somebody can say that they hold everything; files of the others hold what was asked for."""
_OF_ONE_MOMENT = "guard_records"
"""A source whose files hold all that there was at one moment, and need not say which."""
BLOCK_S = 900
"""Log groups are read again in blocks of this length."""
FINAL_AFTER = timedelta(hours=24)
"""So long after the end of its block what was read is final: later lines are not waited for."""
_SAME = ("account_id", "region", "source", "resource")


def standing(coverage: Iterable[Row]) -> Iterator[Row]:
    """Yield the successful readings, each cut to the time that no later ``lost`` row of the same source takes back."""
    rows = list(coverage)
    lost: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row["status"] == "lost":
            lost[tuple(row.get(c) for c in _SAME)].append(row)
    for row in rows:
        if row["status"] != "ok":
            continue
        taken = lost[tuple(row.get(c) for c in _SAME)] if lost else []
        left = [(row["window_start_at"], row["window_end_at"])]
        for one in taken:
            if one["collected_at"] >= row["collected_at"]:
                left = [
                    piece for span in left for piece in _without(span, one["window_start_at"], one["window_end_at"])
                ]
        if left == [(row["window_start_at"], row["window_end_at"])]:
            yield row
        else:
            for start_at, end_at in left:
                yield {**row, "window_start_at": start_at, "window_end_at": end_at}


def is_from_files(status: str, detail: str | None) -> bool:
    """Tell whether a reading is of files that were read, and lacks no more than someone's word that they hold everything."""
    return status == "partial" and tells_of_files(detail)


def tells_of_files(why: str | None) -> bool:
    """Tell whether coverage says of a source, or of a gap, that files brought it."""
    return (why or "").startswith((FROM_FILES, _FROM_FILES_BEFORE))


def lacks_its_time(source: str) -> bool:
    """Tell whether what files of a source do not say is when they were read, and not whether they hold everything."""
    return source == _OF_ONE_MOMENT


def said_of_files(source: str, named: str) -> str:
    """Say what nobody knows of a source that files brought; ``named`` is its resource."""
    if lacks_its_time(source):
        unsure_when = "{source} of {resource} was read from files; when the table was read is not known, unless an import with --observed-at says so."
        return said(unsure_when, source=source, resource=named)
    if source in _VOUCHED_FOR:
        whole = (
            "{source} of {resource} was read from files; whether they hold everything is not known, unless "
            "an import with --complete-since says so."
        )
        return said(whole, source=source, resource=named)
    return said(
        "{source} of {resource} was read from files; whether they hold everything is not known.",
        source=source,
        resource=named,
    )


def left_by_retention(coverage: Iterable[Row], log_group_settings: Iterable[Row]) -> Iterator[Row]:
    """Yield rows of coverage, each reading of a log group cut to the time that its retention had left when it was read.

    CloudWatch says nothing of events that it has deleted: what is older reads as if nothing had been written.
    """
    days: dict[tuple[Any, ...], int] = {}
    for group in log_group_settings:
        if group["retention_days"] is not None:
            name = (group["account_id"], group["region"], group["log_group"])
            days[name] = min(group["retention_days"], days.get(name, group["retention_days"]))
    for row in coverage:
        kept = days.get((row.get("account_id"), row.get("region"), row["resource"]))
        if row["source"] != "log_events" or row["status"] != "ok" or kept is None:
            yield row
            continue
        start_at = max(row["window_start_at"], row["collected_at"] - timedelta(days=kept))
        if start_at < row["window_end_at"]:
            yield {**row, "window_start_at": start_at}


def from_then_on(coverage: Iterable[Row], since: datetime | None) -> Iterator[Row]:
    """Yield rows of coverage, each reading of a log group cut to what is left where log events before a moment are left out.

    What was left out reads like what was never read: as if nothing had been written then is what it must not read like.
    """
    for row in coverage:
        if since is None or row["source"] != "log_events" or row["window_start_at"] >= since:
            yield row
        elif since < row["window_end_at"]:
            yield {**row, "window_start_at": since}


def settled_until(row: Row) -> datetime:
    """Return until when a reading shows whatever happened: where it was made too early, events may be missing at its end."""
    end_at: datetime = row["window_end_at"]
    return min(end_at, row["collected_at"] - SETTLING) if row["is_provisional"] else end_at


def final_until(row: Row) -> datetime:
    """Return until when a reading shows what late lines can no longer change: a day before it was made, or where it was sealed."""
    until = settled_until(row)
    return until if row.get("is_sealed") else min(until, row["collected_at"] - FINAL_AFTER)


def window_end(row: Row) -> datetime:
    """Return until when was read at all."""
    end_at: datetime = row["window_end_at"]
    return end_at


def read_spans(coverage: Iterable[Row], until: Callable[[Row], datetime] = window_end) -> dict[str, dict[str, Spans]]:
    """Return per source and resource what was read in full, each reading up to the moment that ``until`` says.

    Where a name stands for resources of several accounts or regions, that is what was read of each; a reading that does not say
    of which counts for all.
    """
    found: dict[str, dict[str, dict[tuple[Any, Any], list[tuple[int, int]]]]] = {}
    places: dict[tuple[str, str], set[tuple[Any, Any]]] = defaultdict(set)
    rows = list(coverage)
    for row in rows:
        places[row["source"], row["resource"]].add((row.get("account_id"), row.get("region")))
    for row in standing(rows):
        span = (micros(row["window_start_at"]), micros(until(row)))
        if span[0] <= span[1]:
            of = found.setdefault(row["source"], {}).setdefault(row["resource"], {})
            of.setdefault((row.get("account_id"), row.get("region")), []).append(span)
    return {
        source: {name: _in_all(of, places[source, name]) for name, of in named.items()}
        for source, named in found.items()
    }


def _in_all(read: Mapping[tuple[Any, Any], list[tuple[int, int]]], places: Collection[tuple[Any, Any]]) -> Spans:
    """Return what was read in each of some places, accounts with regions."""
    anywhere = [span for place, spans in read.items() if None in place for span in spans]
    known = [place for place in places if None not in place]
    if not known:
        return Spans(anywhere)
    return common_to([Spans([*read.get(place, []), *anywhere]) for place in known])


def block_end(at: datetime) -> datetime:
    """Return the end of the block that ends at or after a moment, UTC."""
    return moment(block_end_us(micros(at)))


def block_end_us(at: int) -> int:
    """Return the same of whole microseconds since 1970, UTC."""
    block = BLOCK_S * 1_000_000
    return -(-at // block) * block


def _without(span: tuple[datetime, datetime], low: datetime, high: datetime) -> Iterator[tuple[datetime, datetime]]:
    start_at, end_at = span
    if high <= start_at or low >= end_at:
        yield span
        return
    if start_at < low:
        yield start_at, low
    if high < end_at:
        yield high, end_at
