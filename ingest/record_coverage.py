"""What imported metrics, setting changes and calls say of what was read: a source and its window, in part unless vouched for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from forensics.coverage import FROM_FILES, TRAIL
from forensics.tables import BY_NAME, Table
from forensics.window import TimeWindow
from ingest.coverage import Reading

Row = dict[str, Any]
IN_PART = f"{FROM_FILES}: what else there was is not known"
_TIMES = {
    "metric_points": "point_at",
    "setting_changes": "changed_at",
    "send_records": "called_at",
    "task_stops": "stopped_at",
}
_WHOLE = "send_records"
"""Of these a file holds everything or a part; of the others it holds what somebody asked for, whatever the window."""


@dataclass
class RecordTally:
    """Counts imported records by source and resource, with the first and the last moment of each."""

    _spans: dict[tuple[str, str | None, str | None, str, str | None], list[Any]] = field(default_factory=dict)

    def add(self, table: Table, rows: Sequence[Row]) -> None:
        """Count rows of one table."""
        for row in rows:
            at: datetime = row[_TIMES[table.name]]
            queue_arn = row["queue_arn"] if table.name == _WHOLE else None
            told = {"metric_points": row.get("resource"), "setting_changes": TRAIL, "task_stops": row.get("cluster")}
            resource = told.get(table.name, queue_arn)
            key = (table.name, row["account_id"], row["region"], str(resource), queue_arn)
            span = self._spans.setdefault(key, [at, at, 0])
            span[:] = [min(span[0], at), max(span[1], at), span[2] + 1]

    def readings(self, complete: TimeWindow | None) -> Iterator[tuple[Reading, TimeWindow]]:
        """Yield a reading per source and resource with its window; ``complete``: in which the files hold every call."""
        for (source, account_id, region, resource, queue_arn), (first, last, count) in sorted(
            self._spans.items(), key=lambda told: tuple(map(str, told[0]))
        ):
            is_whole = source == _WHOLE and complete is not None
            window = complete if is_whole and complete else TimeWindow(first, last + timedelta(seconds=1))
            yield (
                Reading(
                    BY_NAME[source],
                    resource,
                    account_id,
                    region,
                    (queue_arn,) if queue_arn else (),
                    "ok" if is_whole else "partial",
                    None if is_whole else IN_PART,
                    seen_count=count,
                    stored_count=count,
                ),
                window,
            )
