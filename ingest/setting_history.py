"""Settings from before the window: CloudTrail's records of what set them, as far back as is needed, and 90 days at most.

They are looked up by the name of the call. By the name of the resource would be shorter, but records of SQS calls need not
name any, and a look-up that finds nothing would pass for a setting that nobody changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from forensics.clock import micros, moment
from forensics.coverage import read_spans
from forensics.lake import Lake
from forensics.lake.filters import equals
from forensics.lake.rows import plain_rows
from forensics.recorded_changes import recorded_changes
from forensics.sentence import said
from forensics.settings_in_force import SETTINGS_KEYS, SettingsInForce
from forensics.spans import Spans, without
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import setting_changes
from ingest.clients import Aws
from ingest.coverage import Reading
from ingest.discovery import Estate
from ingest.paging import pages

CALLS = {
    "queue_settings": ("SetQueueAttributes", "CreateQueue"),
    "function_settings": ("UpdateFunctionConfiguration20150331v2",),
    "event_source_mappings": ("UpdateEventSourceMapping20150331", "CreateEventSourceMapping20150331"),
}
"""Settings table to the calls that set what stands in it."""
COLUMNS = {
    "queue_settings": ("visibility_timeout_s", "max_receive_count"),
    "function_settings": ("timeout_s",),
    "event_source_mappings": ("batch_size", "reports_batch_item_failures"),
}
"""The settings that verdicts rest on."""
MOST_PAGES = 60
"""Of one call's name in one region; half a minute at two look-ups a second."""
_CHANGES = "setting_changes"

Wanted = dict[str, set[tuple[tuple[Any, ...], str]]]
"""Settings table to resources (its key) and columns of which nothing tells the value."""


def wanted(lake: Lake, estate: Estate, at: datetime) -> Wanted:
    """Return the settings of an estate that nothing vouches for at a moment (UTC): set later, and known only from then on."""
    rows = {name: plain_rows(lake.read(BY_NAME[name])) for name in (*SETTINGS_KEYS, _CHANGES)}
    in_force = SettingsInForce.of(*rows.values())
    now = micros(at)
    states: dict[str, dict[tuple[Any, ...], Any]] = {
        "queue_settings": {(ref.arn,): in_force.queue(ref.arn, now) for ref in estate.queues},
        "function_settings": {
            (row["function_name"],): in_force.function(row["function_name"], now) for row in estate.function_rows
        },
        "event_source_mappings": {
            (row["queue_arn"], row["function_name"]): in_force.mapping(row["queue_arn"], row["function_name"], now)
            for row in estate.mapping_rows
        },
    }
    found: Wanted = {}
    for table, of in states.items():
        for key, state in of.items():
            for column in COLUMNS[table] if state is not None else ():
                known = state["known"][column]
                if known.is_unknown or known.is_assumed:
                    found.setdefault(table, set()).add((key, column))
    return found


@dataclass
class _Search:
    """One call's records, newest first, until all that is wanted of a table was found, or there were too many."""

    table: str
    left: set[tuple[tuple[Any, ...], str]]
    region: str
    collected_at: datetime
    mappings: Sequence[Mapping[str, Any]]
    reached_at: datetime | None = None
    page_count: int = 0
    has_more: bool = False
    _seen: list[datetime] = field(default_factory=list)

    def events(self, aws: Aws, name: str, window: TimeWindow) -> Iterator[dict[str, Any]]:
        """Yield the records of a window. Raises AwsRefusedError."""
        asked = {
            "LookupAttributes": [{"AttributeKey": "EventName", "AttributeValue": name}],
            "MaxResults": 50,
            "StartTime": window.start_at,
            "EndTime": window.end_at,
        }
        self.has_more = False
        for reply in pages(aws, "cloudtrail", "lookup_events", "Events", asked):
            yield from reply["Events"]
            self._look(reply["Events"])
            if not self.left or self.page_count >= MOST_PAGES:
                self.has_more = True
                self.reached_at = min(self._seen, default=window.end_at)
                return
        self.reached_at = window.start_at

    def _look(self, events: Sequence[dict[str, Any]]) -> None:
        self.page_count += 1
        told = [setting_changes.to_row(self.region, event, self.collected_at) for event in events]
        rows = [row for row in told if not isinstance(row, str)]
        self._seen += [row["changed_at"] for row in rows]
        for key, changes in recorded_changes(rows, self.mappings)[self.table].items():
            self.left -= {(key, column) for change in changes for column in change.values}


def ingest(
    lake: Lake, aws: Aws, account_id: str, region: str, reach: TimeWindow, missing: Wanted, now: datetime
) -> Iterator[tuple[Reading, TimeWindow]]:
    """Read what set the missing settings into the lake; yield each reading with the time it is of, newest first.

    Nothing is looked up twice: what was read before is told by coverage. A call that is denied is a gap, and so is what
    lies before the last of MOST_PAGES pages.
    """
    mappings = plain_rows(lake.read(BY_NAME["event_source_mappings"]))
    read = _read_before(lake, account_id, region)
    for table, names in CALLS.items():
        mine = {one for one in missing.get(table, ()) if _is_of(one[0], account_id, region)}
        for name in names:
            if not mine:
                break  # what was set since counts, and nothing is set before it is made
            resource = f"{setting_changes.RESOURCE} {name}"
            search = _Search(table, mine, region, now, mappings)
            for part in _unread(read, resource, reach):
                events = search.events(aws, name, part)
                reading = setting_changes.store(lake, aws, events, account_id, region, resource, now)
                if reading.status != "ok":
                    yield reading, part
                    return  # the other calls would be refused as well
                reached_at = search.reached_at or part.start_at
                if reached_at < part.end_at:
                    yield reading, TimeWindow(reached_at, part.end_at)
                if search.has_more:
                    if search.left and part.start_at < reached_at:
                        yield _too_many(resource, account_id, region), TimeWindow(part.start_at, reached_at)
                    break


def _too_many(resource: str, account_id: str, region: str) -> Reading:
    detail = said("there are more calls than {n} pages hold; what was set before is not known", n=MOST_PAGES)
    return Reading(setting_changes.SETTING_CHANGES, resource, account_id, region, (), "partial", detail)


def _is_of(key: tuple[Any, ...], account_id: str, region: str) -> bool:
    """Tell whether a resource may be of an account and region; a function's name alone may be of any."""
    first = str(key[0])
    return not first.startswith("arn:") or first.split(":")[3:5] == [region, account_id]


def _read_before(lake: Lake, account_id: str, region: str) -> dict[str, Spans]:
    """Return what of each source of changes was read of an account and region."""
    rows = [
        row
        for row in plain_rows(lake.read(BY_NAME["coverage"], where=equals("source", _CHANGES)))
        if (row["account_id"], row["region"]) == (account_id, region)
    ]
    return read_spans(rows).get(_CHANGES, {})


def _unread(read: Mapping[str, Spans], resource: str, reach: TimeWindow) -> list[TimeWindow]:
    """Return what of a stretch of time was never looked up, by this call alone or with all others, newest first."""
    known = [span for name in (resource, setting_changes.RESOURCE) for span in read.get(name, ())]
    left = without([(micros(reach.start_at), micros(reach.end_at))], known)
    return [TimeWindow(moment(start), moment(end)) for start, end in reversed(left)]
