"""The way back to AWS: the console page that shows a log line, and the query that finds it there."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from forensics.regions import partition_of

_CONSOLES = {
    "aws": "{region}.console.aws.amazon.com",
    "aws-cn": "{region}.console.amazonaws.cn",
    "aws-us-gov": "{region}.console.amazonaws-us-gov.com",
    "aws-eusc": "{region}.console.amazonaws-eusc.eu",
}
"""The console's host per partition. Partitions without one here get no link: a guessed host would leak names to it."""
_EMULATED = {"000000000000", "123456789012"}
"""Accounts that emulators and documentation use; nobody can sign in to them."""
_AROUND_MS = 1000

Line = Mapping[str, Any]


def console_link(line: Line) -> str | None:
    """Return the address at which the CloudWatch console shows a row of ``log_events``, at its moment in its stream.

    None where there is no such page: lines of files and emulators, and partitions whose console is not public.
    """
    region, account = line["region"] or "", line["account_id"] or ""
    partition = partition_of(region)
    host = _CONSOLES.get(partition.id) if partition else None
    if host is None or not account.isdigit() or account in _EMULATED or not line["log_stream"]:
        return None
    at = _milliseconds(line["logged_at"])
    window = f"?start={at - _AROUND_MS}&end={at + _AROUND_MS}"
    return (
        f"https://{host.format(region=region)}/cloudwatch/home?region={region}#logsV2:log-groups"
        f"/log-group/{_twice(line['log_group'])}/log-events/{_twice(line['log_stream'])}{_once(window)}"
    )


def insights_query(line: Line) -> str:
    """Return the Logs Insights query that finds a row of ``log_events`` in its log group."""
    at = _milliseconds(line["logged_at"])
    stream = line["log_stream"].replace("\\", "\\\\").replace('"', '\\"')
    return (
        "fields @timestamp, @message, @logStream\n"
        f'| filter @logStream = "{stream}" and toMillis(@timestamp) = {at}\n'
        "| sort @timestamp asc"
    )


def _milliseconds(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def _once(text: str) -> str:
    """Write text as the part behind the console's ``#`` wants it: percent signs are dollars there."""
    return quote(text, safe="").replace("%", "$")


def _twice(name: str) -> str:
    """Write a name inside that part; the console decodes names once more than the rest.

    >>> _twice("/aws/lambda/pay [$LATEST]")
    '$252Faws$252Flambda$252Fpay$2520$255B$2524LATEST$255D'
    """
    return _once(quote(name, safe=""))
