"""The business key of a printed message: what stands at its queue's configured JSON path in the body, else its event's id."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from forensics.event_ids import event_id_of
from forensics.identity import queue_name as name_in
from forensics.json_path import text_reader
from forensics.parsers.sqs_records import Record
from forensics.settings import Queue


class BusinessKeys:
    """Where each queue's messages carry their business key, as the settings file says.

    >>> keys = BusinessKeys([Queue("orders", business_key="$.order_id")])
    >>> keys.key_of(Record(1, "m-1", body='{"order_id": 7}'), "orders")
    '7'
    """

    def __init__(self, queues: Iterable[Queue]) -> None:
        self._paths = {queue.name: queue.key_paths for queue in queues if queue.key_paths}

    def key_of(self, record: Record, queue_name: str | None) -> str | None:
        """Return a record's key; None where its body holds none.

        The queue is the one the record names; ``queue_name``, its log group's, only where it names none.
        """
        return None if record.body is None else self.reader(record.queue_arn, queue_name)(record.body)

    def reader(self, queue_arn: str | None, queue_name: str | None) -> Callable[[str], str | None]:
        """Return what reads the key of a queue's bodies: at its configured paths the first that a body holds, else its event's id."""
        name = queue_name if queue_arn is None else name_in(queue_arn)
        return _reader_of(self._paths.get(name or "", ()))

    def in_group(self, queue_name: str | None) -> Callable[[Record], str | None]:
        """Return ``key_of`` for the records of a log group whose messages come from ``queue_name``."""
        return lambda record: self.key_of(record, queue_name)


@lru_cache(maxsize=256)
def _reader_of(paths: tuple[str, ...]) -> Callable[[str], str | None]:
    readers = [text_reader(path) for path in paths]

    def read(body: str) -> str | None:
        for key_in in readers:
            if key := key_in(body):
                return key
        return event_id_of(body)

    return read
