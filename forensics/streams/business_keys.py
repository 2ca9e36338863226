"""The business key of a printed message: what stands at its queue's configured JSON path in the body, else its event's id."""

from collections.abc import Callable, Iterable

from forensics.event_ids import event_id_of
from forensics.json_path import text_in
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
        arn = record.queue_arn
        return self.key_of_body(record.body, queue_name if arn is None else arn.rpartition(":")[2])

    def key_of_body(self, body: str | None, queue_name: str | None) -> str | None:
        """Return the key in the body of a queue's message: of the configured paths the first that it holds, else its event's id."""
        if body is None:
            return None
        for path in self._paths.get(queue_name, ()) if queue_name is not None else ():
            if key := text_in(body, path):
                return key
        return event_id_of(body)

    def in_group(self, queue_name: str | None) -> Callable[[Record], str | None]:
        """Return ``key_of`` for the records of a log group whose messages come from ``queue_name``."""
        return lambda record: self.key_of(record, queue_name)
