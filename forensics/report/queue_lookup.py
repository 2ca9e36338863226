"""Find a queue by its name, or say which names are near: a queue that nobody knows is never one without a suspicion."""

from collections.abc import Iterator

from forensics.errors import QueueUnknownError
from forensics.identity import queue_name
from forensics.lake import Findings
from forensics.lake.filters import equals
from forensics.nearest import queues_hint
from forensics.sentence import said
from forensics.tables import Table
from forensics.tables.evidence import CONSUMERS, QUEUE_SETTINGS
from forensics.tables.findings import DELIVERIES, INCIDENTS, QUEUE_FINDINGS
from forensics.tables.health import QUEUE_WEEKS


def check_queue(findings: Findings, queue: str | None) -> None:
    """Raise QueueUnknownError, with the nearest names, if this data version knows no queue of a name; None is every queue."""
    if queue is None or deliveries_of(findings, queue):
        return
    known = known_queues(findings)
    if queue not in known:
        raise QueueUnknownError(
            said("this data version knows no queue {queue}", queue=repr(queue)), queues_hint(queue, known)
        )


def known_queues(findings: Findings) -> list[str]:
    """Return the names of all queues of which settings, consumers or findings are there, sorted."""
    return sorted({*_named(findings, *_PLACES, (DELIVERIES, "queue"))})


def listed_queues(findings: Findings) -> list[str]:
    """Return those that are no dead-letter queues, without looking through the deliveries, sorted."""
    arns = findings.read(QUEUE_SETTINGS, ["dead_letter_queue_arn"])["dead_letter_queue_arn"].unique().to_pylist()
    return sorted({*_named(findings, *_PLACES)} - {queue_name(arn) for arn in arns})


_PLACES = (
    (QUEUE_SETTINGS, "queue_name"),
    (CONSUMERS, "queue_name"),
    (QUEUE_WEEKS, "queue"),
    (INCIDENTS, "queue"),
    (QUEUE_FINDINGS, "queue"),
)


def _named(findings: Findings, *places: tuple[Table, str]) -> Iterator[str]:
    for table, column in places:
        yield from filter(None, findings.read(table, [column])[column].unique().to_pylist())


def deliveries_of(findings: Findings, queue: str | None) -> int:
    """Count the deliveries in the ledger: of one queue, or of all."""
    if queue is None:
        return findings.generation.row_counts.get(DELIVERIES.name, 0)
    return int(findings.read(DELIVERIES, ["queue"], equals("queue", queue)).num_rows)
