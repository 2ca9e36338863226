"""Which calls to queues are recorded, without the calls: of which operations there are any, and a digest of each hour."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forensics.clock import micros

Row = Mapping[str, Any]
HOUR_US = 3600 * 1_000_000
_MOST = 2**64
_LONGEST_KEPT_US = 14 * 24 * HOUR_US
"""SQS keeps a message for so long: its send may lie so far before everything else that is known of it."""


class Recorded:
    """Told file by file, each as ``{queue ARN: (operations, {hour since 1970: sum of 64-bit hashes})}``."""

    def __init__(self, told: Iterable[Mapping[str, Sequence[Any]]] = ()) -> None:
        """Put together what files tell: the same rows give the same sums, in however many files they are."""
        self._operations: dict[str, set[str]] = {}
        self._hours: dict[str, dict[int, int]] = {}
        for of_file in told:
            for queue_arn, (operations, hours) in of_file.items():
                self._operations.setdefault(queue_arn, set()).update(operations)
                mine = self._hours.setdefault(queue_arn, {})
                for hour, summed in hours.items():
                    mine[int(hour)] = (mine.get(int(hour), 0) + int(summed)) % _MOST

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Recorded":
        """Return what rows of ``send_records`` tell."""
        return cls({row["queue_arn"]: ([row["operation"]], {_hour(row): _hash(row)})} for row in rows)

    def operations(self, queue_arn: str) -> set[str]:
        """Return the operations of which a queue has records."""
        return self._operations.get(queue_arn, set())

    def bearing(self, queue_arn: str, low: int, high: int) -> list[Any]:
        """Return as text what may bear on messages of a queue whose times lie in a span (µs): sends may be far older."""
        hours = self._hours.get(queue_arn, {})
        first, last = (low - _LONGEST_KEPT_US) // HOUR_US, high // HOUR_US
        told = sorted((hour, summed) for hour, summed in hours.items() if first <= hour <= last)
        digest = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32] if told else ""
        return [digest, sorted(self.operations(queue_arn))]


def _hour(row: Row) -> int:
    return micros(row["called_at"]) // HOUR_US


def _hash(row: Row) -> int:
    return int.from_bytes(hashlib.sha256(row["evidence_id"].encode()).digest()[:8], "big")
