"""How a queue's messages come again: what tells their ids from those of customers and the like, which come again at any time."""

from collections.abc import Sequence
from itertools import pairwise

from forensics.identity import names_of
from forensics.lake import Findings
from forensics.lake.filters import equals, is_missing, one_of
from forensics.lake.rows import plain_rows
from forensics.limits import DEFAULT_VISIBILITY_S
from forensics.settings_in_force import SettingsInForce
from forensics.suggestions.model import RunLines
from forensics.tables.evidence import QUEUE_SETTINGS, SEND_RECORDS, SETTING_CHANGES
from forensics.tables.findings import DELIVERIES

_SOONEST, _LATEST = 0.8, 2.0
"""In visibility timeouts: how long after a handling began the next one of the same message mostly begins."""


class QueueMessages:
    """What is known of a queue's messages: their ids, as far as any line or call tells them, and for how long a receive hides them."""

    def __init__(self, findings: Findings, queue_arn: str) -> None:
        self._findings, self._queue_arn = findings, queue_arn
        settings = plain_rows(findings.read(QUEUE_SETTINGS, where=equals("queue_arn", queue_arn)))
        self._in_force = SettingsInForce.of(settings, (), (), plain_rows(findings.read(SETTING_CHANGES)))

    def among(self, values: set[str]) -> set[str]:
        """Return those of some ids that are known as ids of its messages."""
        found: set[str] = set()
        for table in (DELIVERIES, SEND_RECORDS) if values else ():
            where = one_of("queue_arn", names_of(self._queue_arn)) & ~is_missing("message_id")
            for batch in self._findings.scan(table, ["message_id"], where):
                found |= values.intersection(batch.column("message_id").to_pylist())
        return found

    def come_so(self, handlings: Sequence[RunLines]) -> bool:
        """Tell whether the handlings of one id, in order of time, may be a message's: one, or each further one a redelivery."""
        return all(self._is_redelivery(before, after) for before, after in pairwise(handlings))

    def _is_redelivery(self, before: RunLines, after: RunLines) -> bool:
        """Tell whether a handling did not end well, or the next one began about a visibility timeout later."""
        if before.status != "success":
            return True
        hidden_s = self._hidden_s(before)
        return hidden_s is not None and _SOONEST * hidden_s <= _apart_s(before, after) <= _LATEST * hidden_s

    def was_only_sent(self, handlings: Sequence[RunLines]) -> bool:
        """Tell whether the first handling of one id only sent it: it ended well, and the next one began before a message is visible again."""
        if len(handlings) < 2 or handlings[0].status != "success":
            return False
        hidden_s = self._hidden_s(handlings[0]) or DEFAULT_VISIBILITY_S
        return _apart_s(*handlings[:2]) < _SOONEST * hidden_s

    def _hidden_s(self, handling: RunLines) -> int | None:
        settings = self._in_force.queue(self._queue_arn, handling.started_at)
        return None if settings is None else settings["visibility_timeout_s"]


def _apart_s(before: RunLines, after: RunLines) -> float:
    return (after.started_at - before.started_at) / 1_000_000
