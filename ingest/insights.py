"""Logs Insights: the way into log groups of the infrequent-access class. AWS bills it by the bytes it scans."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from forensics.sentence import said
from forensics.window import TimeWindow
from ingest.aws_errors import AwsRefusedError
from ingest.clients import Aws
from ingest.paging import pages

QUERY = "fields @timestamp, @message, @logStream, @ingestionTime | sort @timestamp asc"
MOST_RESULTS = 10_000
"""Most events one query gives; a window that holds more is cut in two."""
FIRST_LOOK_S, LONGEST_LOOK_S, GIVE_UP_S = 0.25, 5.0, 900.0


def fetch(aws: Aws, log_group: str, window: TimeWindow) -> Iterator[list[dict[str, Any]]]:
    """Yield the window's events in order of time, each as FilterLogEvents would give it but without an event id.

    Queries count in whole seconds, both ends included; what lies outside the window is left out here. ``@ptr`` is not
    promised to be the same in the next query, so it names nothing.
    Raises AwsRefusedError, also for a result that AWS calls incomplete.
    """
    first_s, last_s = window.start_ms // 1000, (window.end_ms - 1) // 1000
    yield from _span(aws, log_group, first_s, last_s, window)


def _span(aws: Aws, log_group: str, first_s: int, last_s: int, window: TimeWindow) -> Iterator[list[dict[str, Any]]]:
    results = _results(aws, log_group, first_s, last_s)
    if len(results) >= MOST_RESULTS:
        if first_s == last_s:
            raise AwsRefusedError(
                "GetQueryResults",
                "CutResult",
                said(
                    "{n} events or more in second {time}, and no query can tell them apart",
                    n=MOST_RESULTS,
                    time=str(first_s),
                ),
                "failed",
            )
        middle_s = (first_s + last_s) // 2
        yield from _span(aws, log_group, first_s, middle_s, window)
        yield from _span(aws, log_group, middle_s + 1, last_s, window)
        return
    events = [_event(row) for row in results]
    yield [e for e in events if type(e["timestamp"]) is not int or window.start_ms <= e["timestamp"] < window.end_ms]


def _results(aws: Aws, log_group: str, first_s: int, last_s: int) -> list[list[dict[str, str]]]:
    asked = {"logGroupName": log_group, "startTime": first_s, "endTime": last_s}
    started = aws.call("logs", "start_query", "queryId", queryString=QUERY, limit=MOST_RESULTS, **asked)
    look_s, waited_s = FIRST_LOOK_S, 0.0
    while True:
        reply = aws.call("logs", "get_query_results", "status", queryId=started["queryId"])
        status = reply["status"]
        if status == "Complete":
            break
        if status not in ("Scheduled", "Running", "Unknown") or waited_s >= GIVE_UP_S:
            raise AwsRefusedError(
                "GetQueryResults", status, said("the query did not end within {n} s", n=f"{waited_s:.0f}"), "failed"
            )
        time.sleep(look_s)  # a query's end is only told when asked for; GIVE_UP_S bounds it
        waited_s += look_s
        look_s = min(2 * look_s, LONGEST_LOOK_S)
    skipped = (reply.get("statistics") or {}).get("estimatedRecordsSkipped") or 0
    if skipped > 0:
        raise AwsRefusedError(
            "GetQueryResults", "Incomplete", said("AWS skipped about {n} events", n=f"{skipped:.0f}"), "failed"
        )
    results = list(reply.get("results") or [])
    query = {"queryId": started["queryId"]}
    for page in pages(aws, "logs", "get_query_results", "results", query, pointer="nextToken", first=reply):
        results += page["results"]
    return results


def _event(row: list[dict[str, str]]) -> dict[str, Any]:
    said = {field.get("field"): field.get("value") for field in row}
    ingested_ms = epoch_ms(said.get("@ingestionTime"))
    return {
        "logStreamName": said.get("@logStream"),
        "timestamp": epoch_ms(said.get("@timestamp")),
        "message": said.get("@message"),
        **({"ingestionTime": ingested_ms} if type(ingested_ms) is int else {}),
    }


def epoch_ms(text: str | None) -> int | str | None:
    """Read ``2026-06-25 23:59:41.096`` (UTC) or epoch milliseconds; what is neither comes back as it is.

    >>> epoch_ms("2026-06-25 23:59:41.096"), epoch_ms("1782431981096"), epoch_ms("soon")
    (1782431981096, 1782431981096, 'soon')
    """
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) < 19:
        return int(text)
    try:
        moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return text
    return round(moment.timestamp() * 1000)
