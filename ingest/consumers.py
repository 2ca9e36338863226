"""Consumers: which log groups belong to a queue, because a mapping says so or a person does."""

from dataclasses import dataclass
from typing import Any

from forensics.errors import ForensicsError, QueueUnknownError
from forensics.identity import evidence_id
from forensics.sentence import said
from forensics.settings import Settings
from ingest.discovery import Estate
from ingest.queues import QueueRef


@dataclass(frozen=True)
class Consumer:
    """One log group in which a consumer of one queue writes."""

    queue: QueueRef
    log_group: str
    function_arn: str | None
    found_by: str

    def to_row(self) -> dict[str, Any]:
        """Return the row of ``consumers``."""
        function_name = self.function_arn.rsplit(":", 1)[-1] if self.function_arn else None
        return {
            "evidence_id": evidence_id("consumer", self.queue.arn, self.log_group, function_name),
            "account_id": self.queue.account_id,
            "region": self.queue.region,
            "queue_arn": self.queue.arn,
            "queue_name": self.queue.name,
            "log_group": self.log_group,
            "kind": "lambda" if function_name else "worker",
            "function_name": function_name,
            "found_by": self.found_by,
        }


class LogGroupUnnamedError(ForensicsError):
    """A log group on the command line has no name, or an empty queue."""


def group_and_queue(text: str) -> tuple[str, str | None]:
    """Part what --log-group says, GROUP[=QUEUE]; raises LogGroupUnnamedError where either is empty.

    >>> group_and_queue("/ecs/orders=orders.fifo"), group_and_queue("/ecs/orders")
    (('/ecs/orders', 'orders.fifo'), ('/ecs/orders', None))
    """
    group, is_parted, queue = text.rpartition("=") if "=" in text else (text, "", "")
    if not group.strip() or (is_parted and not queue.strip()):
        raise LogGroupUnnamedError(
            said("--log-group {text} names no queue behind its =", text=repr(text))
            if group.strip()
            else said("--log-group {text} names no log group", text=repr(text)),
            "Write it like --log-group /ecs/orders-worker=orders, or --log-group /ecs/orders-worker.",
        )
    return group, queue if is_parted else None


def of_estate(estate: Estate, log_groups: list[str], settings: Settings) -> list[Consumer]:
    """List every consumer once: from mappings, from ``--log-group GROUP[=QUEUE]``, from the settings' workers.

    Raises QueueUnknownError for a group whose queue is not said, or not one of those collected, LogGroupUnnamedError for none.
    """
    by_arn = {ref.arn: ref for ref in estate.queues}
    found = [
        Consumer(by_arn[row["queue_arn"]], estate.log_group_of[row["function_arn"]], row["function_arn"], "mapping")
        for row in estate.mapping_rows
    ]
    for text in log_groups:
        group, queue = group_and_queue(text)
        ref = _only(estate, text) if queue is None else _named(estate, queue, text)
        found.append(Consumer(ref, group, None, "option"))
    for worker in settings.workers:
        for ref in estate.queues:
            alone = worker.queue is None and estate.asked_count == 1 and ref is estate.queues[0]
            if worker.log_group and (alone or worker.queue in (ref.name, ref.arn, ref.url)):
                found.append(Consumer(ref, worker.log_group, None, "settings file"))
    return list({(c.queue.arn, c.log_group, c.function_arn): c for c in reversed(found)}.values())[::-1]


def _named(estate: Estate, queue: str, text: str) -> QueueRef:
    for ref in estate.queues:
        if queue in (ref.name, ref.arn, ref.url):
            return ref
    names = ", ".join(ref.name for ref in estate.queues[:5])
    raise QueueUnknownError(
        said("--log-group {text} names a queue that is not collected here", text=repr(text)),
        said("Collected are: {names}. Add --queue {queue}.", names=names, queue=queue),
    )


def _only(estate: Estate, text: str) -> QueueRef:
    if estate.asked_count == 1:
        return estate.queues[0]
    raise QueueUnknownError(
        said(
            "--log-group {text} does not say whose it is: {count} queues are collected",
            text=repr(text),
            count=estate.asked_count,
        ),
        said("Write {text}=QUEUE.", text=text),
    )
