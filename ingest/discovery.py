"""From queue names to everything that consumes them: settings, dead-letter queues, mappings, functions, log groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from forensics.errors import CredentialsError, EndpointUnreachableError, ForensicsError, QueueUnknownError
from forensics.identity import queue_name
from forensics.lake import Lake
from forensics.lake.filters import equals
from forensics.lake.rows import plain_rows
from forensics.tables import BY_NAME, Table
from ingest import functions, mappings, move_tasks, queues
from ingest.aws_errors import AwsRefusedError
from ingest.clients import UNREADABLE_REPLY, Aws
from ingest.coverage import SOURCE_ERRORS, Reading, status_of
from ingest.queues import QueueRef, QueueRefusedError
from ingest.reply_shape import in_words

QUEUE_SETTINGS = BY_NAME["queue_settings"]
FUNCTION_SETTINGS = BY_NAME["function_settings"]
MAPPINGS = BY_NAME["event_source_mappings"]
MOVE_TASKS = BY_NAME["move_tasks"]


@dataclass
class Estate:
    """What was found: the queues asked for first, then their dead-letter queues; rows lack id and time."""

    queues: list[QueueRef] = field(default_factory=list)
    asked_count: int = 0
    queue_rows: list[dict[str, Any]] = field(default_factory=list)
    mapping_rows: list[dict[str, Any]] = field(default_factory=list)
    function_rows: list[dict[str, Any]] = field(default_factory=list)
    move_task_rows: list[dict[str, Any]] = field(default_factory=list)
    log_group_of: dict[str, str] = field(default_factory=dict)
    """Function ARN without version to the log group it writes, known or presumed."""
    sources_of: dict[str, list[QueueRef]] = field(default_factory=dict)
    """ARN of a queue asked for to the queues whose dead letters it takes."""
    dead_letter_queues: set[str] = field(default_factory=set)
    readings: list[Reading] = field(default_factory=list)
    misread: dict[tuple[str, str], str] = field(default_factory=dict)
    """Of sources (table and resource) whose replies were not all as they should be: what had to be left out."""

    def hear(self, source: Table, resource: str, aws: Aws, also: Sequence[str] = ()) -> None:
        """Note what had to be left out of the replies just read."""
        if misfits := [*aws.misfits(), *also]:
            self.misread[source.name, resource] = in_words(misfits)

    def gap(self, source: Any, resource: str, ref: QueueRef, problem: Any, queue_arns: tuple[str, ...] = ()) -> None:
        """Note that one source could not be read."""
        status, detail = status_of(problem)
        arns = queue_arns or (ref.arn,)
        self.readings.append(Reading(source, resource, ref.account_id, ref.region, arns, status, detail))


def discover(
    lake: Lake, accesses: Sequence[Aws], names: list[str] | None, stage: Callable[[str], None] = lambda name: None
) -> Estate:
    """Find the queues (None: all) in every account and region, and what belongs to them; writes nothing.

    What AWS denies is noted in ``readings``, and the lake's last word stands in for it where there is one. Of several
    accounts and regions, one that cannot be reached is noted too; of several queues, one that may not be looked up, and
    one that the lake knows but that is gone.
    Raises QueueUnknownError, AwsRefusedError, CredentialsError or EndpointUnreachableError before anything else was asked.
    """
    stage("queues")
    estate = Estate()
    estate.queues = _find(lake, estate, accesses, names)
    estate.asked_count = len(estate.queues)
    _add_settings(lake, estate)
    _add_sources(estate)
    _add_move_tasks(estate)
    stage("event source mappings")
    for ref in estate.queues:
        _add_mappings(lake, estate, ref)
    stage("functions")
    _add_functions(lake, estate)
    return estate


def _find(lake: Lake, estate: Estate, accesses: Sequence[Aws], names: list[str] | None) -> list[QueueRef]:
    """Find each queue wherever it is; what is refused, silent or no longer there is noted beside what is found.

    A name that is nowhere and that the lake never saw is an error, and so is finding nothing.
    """
    found: dict[str, QueueRef] = {}
    nowhere: dict[str, QueueUnknownError] = {}
    unread: list[ForensicsError] = []
    here: set[str] = set()
    for aws in accesses:
        try:
            for name in [""] if names is None else names:
                try:
                    refs = queues.find_all(aws) if names is None else [queues.find(aws, name)]
                except (QueueRefusedError, AwsRefusedError) as problem:
                    unread.append(problem)
                    estate.readings.append(_not_looked_up(name, aws, problem))
                    continue
                except QueueUnknownError as problem:
                    nowhere.setdefault(name, problem)
                    continue
                if misfits := aws.misfits():
                    misread = AwsRefusedError("ListQueues", UNREADABLE_REPLY, in_words(misfits), "partial")
                    estate.readings.append(_not_looked_up(name, aws, misread))
                here.add(name)
                for ref in refs:
                    if ref.arn not in found or (found[ref.arn].is_presumed and not ref.is_presumed):
                        found[ref.arn] = ref
        except (CredentialsError, EndpointUnreachableError) as problem:
            if len(accesses) == 1:
                raise
            unread.append(problem)
            status, detail = status_of(problem)
            estate.readings.append(Reading(QUEUE_SETTINGS, aws.label, "", aws.region, (), status, detail))
    missing = [name for name in nowhere if name not in here]
    if not found:
        raise [*(nowhere[name] for name in missing), *unread][0]
    for name in names or ():
        if name in here:
            continue
        presumed = _of_lake(lake, accesses, name)
        found |= {ref.arn: ref for ref in presumed}  # reading its settings will say what is wrong with it
        if name in nowhere and not presumed:
            if not unread:
                raise nowhere[name]
            estate.readings.append(Reading(QUEUE_SETTINGS, name, "", "", (), "gone", str(nowhere[name])))
    return list(found.values())


def _not_looked_up(name: str, aws: Aws, problem: QueueRefusedError | AwsRefusedError) -> Reading:
    """Note that a queue, or every queue of an account and region, could not be looked up."""
    status = problem.status if isinstance(problem, AwsRefusedError) else "denied"
    return Reading(QUEUE_SETTINGS, name or aws.label, "", aws.region, (), status, problem.sentence)


def _of_lake(lake: Lake, accesses: Sequence[Aws], name: str) -> list[QueueRef]:
    """Return the queues of a name that the lake knows, where it is clear who reaches them: their consumers may log on."""
    known = lake.read(QUEUE_SETTINGS, ["queue_arn"], equals("queue_name", queues.name_of(name)))
    refs = []
    for arn in sorted(set(known["queue_arn"].to_pylist())):
        queue = queues.named(arn)
        of_region = [aws for aws in accesses if queue and aws.region == queue.region]
        if queue and len(of_region) == 1:
            refs.append(queues.presumed(queue, of_region[0]))
    return refs


def _add_settings(lake: Lake, estate: Estate) -> None:
    """Read every queue's settings; the list grows by dead-letter queues while it is walked."""
    known = {ref.arn for ref in estate.queues}
    for ref in estate.queues:
        try:
            attributes = queues.fetch(ref)
        except SOURCE_ERRORS as problem:
            estate.gap(QUEUE_SETTINGS, ref.name, ref, problem)
            arn = _last_word(lake, QUEUE_SETTINGS, "queue_arn", ref.arn, "dead_letter_queue_arn")
        else:
            row = queues.to_row(ref, attributes)
            estate.queue_rows.append(row)
            estate.hear(QUEUE_SETTINGS, ref.name, ref.aws, queues.misfits(attributes))
            arn = row["dead_letter_queue_arn"]
        if arn:
            estate.dead_letter_queues.add(arn)
        if arn and arn not in known:
            known.add(arn)
            try:
                estate.queues.append(queues.find(ref.aws, arn))
            except (QueueUnknownError, *SOURCE_ERRORS) as problem:
                status = "gone" if isinstance(problem, QueueUnknownError) else status_of(problem)[0]
                name = queue_name(arn)
                reading = Reading(QUEUE_SETTINGS, name, ref.account_id, ref.region, (arn,), status, problem.sentence)
                estate.readings.append(reading)


def _add_sources(estate: Estate) -> None:
    """Find the queues whose dead letters come to a queue asked for: their settings say after how many receives."""
    known = {ref.arn for ref in estate.queues}
    for ref in estate.queues[: estate.asked_count]:
        try:
            sources = queues.fetch_sources(ref)
        except SOURCE_ERRORS as problem:
            estate.gap(QUEUE_SETTINGS, f"{ref.name} (whose dead letters it takes)", ref, problem)
            continue
        if misfits := ref.aws.misfits():
            misread = AwsRefusedError("ListDeadLetterSourceQueues", UNREADABLE_REPLY, in_words(misfits), "partial")
            estate.gap(QUEUE_SETTINGS, f"{ref.name} (whose dead letters it takes)", ref, misread)
        if sources:
            estate.dead_letter_queues.add(ref.arn)
            estate.sources_of[ref.arn] = sources
        for source in sources:
            if source.arn in known:
                continue
            known.add(source.arn)
            try:
                attributes = queues.fetch(source)
            except SOURCE_ERRORS as problem:
                estate.gap(QUEUE_SETTINGS, source.name, source, problem)
                continue
            estate.queue_rows.append(queues.to_row(source, attributes))
            estate.hear(QUEUE_SETTINGS, source.name, source.aws, queues.misfits(attributes))


def _add_move_tasks(estate: Estate) -> None:
    for ref in estate.queues:
        if ref.arn not in estate.dead_letter_queues:
            continue
        try:
            rows = [move_tasks.to_row(ref, task) for task in move_tasks.fetch(ref)]
        except SOURCE_ERRORS as problem:
            estate.gap(MOVE_TASKS, ref.name, ref, problem)
            continue
        estate.hear(MOVE_TASKS, ref.name, ref.aws)
        estate.move_task_rows += rows
        where = (ref.name, ref.account_id, ref.region, (ref.arn,))
        estate.readings.append(Reading(MOVE_TASKS, *where, seen_count=len(rows)))


def _add_mappings(lake: Lake, estate: Estate, ref: QueueRef) -> None:
    try:
        rows = [mappings.to_row(ref, mapping) | {"_asked": mapping["FunctionArn"]} for mapping in mappings.fetch(ref)]
        estate.hear(MAPPINGS, ref.name, ref.aws)
    except SOURCE_ERRORS as problem:
        estate.gap(MAPPINGS, ref.name, ref, problem)
        known = plain_rows(lake.read(MAPPINGS, where=equals("queue_arn", ref.arn)))
        newest = {row["mapping_uuid"]: row for row in sorted(known, key=lambda row: row["observed_at"])}
        rows = [row | {"_asked": row["function_arn"], "_from_lake": True} for row in newest.values()]
    estate.mapping_rows += rows


def _add_functions(lake: Lake, estate: Estate) -> None:
    by_arn = {ref.arn: ref for ref in estate.queues}
    for function_arn in dict.fromkeys(row["function_arn"] for row in estate.mapping_rows):
        feeding = [row for row in estate.mapping_rows if row["function_arn"] == function_arn]
        ref, name = by_arn[feeding[0]["queue_arn"]], feeding[0]["function_name"]
        account_id = function_arn.split(":")[4] or ref.account_id
        queue_arns = tuple(sorted({row["queue_arn"] for row in feeding}))
        try:
            configuration = functions.fetch(ref.aws, feeding[0]["_asked"])
        except SOURCE_ERRORS as problem:
            estate.gap(FUNCTION_SETTINGS, name, ref, problem, queue_arns)
            estate.log_group_of[function_arn] = _last_word(
                lake, FUNCTION_SETTINGS, "function_arn", function_arn, "log_group"
            ) or functions.default_log_group(name)
            continue
        try:
            configuration |= functions.fetch_concurrency(ref.aws, feeding[0]["_asked"])
        except SOURCE_ERRORS as problem:
            estate.gap(FUNCTION_SETTINGS, f"{name} (reserved concurrency)", ref, problem, queue_arns)
        estate.hear(FUNCTION_SETTINGS, name, ref.aws)
        row = functions.to_row(account_id, ref.region, configuration)
        estate.function_rows.append(row)
        estate.log_group_of[function_arn] = row["log_group"]


def _last_word(lake: Lake, table: Table, key: str, arn: str, column: str) -> str | None:
    """Return what the newest row about a resource says in a column."""
    known = lake.read(table, ["observed_at", column], equals(key, arn))
    rows = sorted(plain_rows(known), key=lambda row: row["observed_at"])
    return rows[-1][column] if rows else None
