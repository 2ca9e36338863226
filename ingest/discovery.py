"""From queue names to everything that consumes them: settings, dead-letter queues, mappings, functions, log groups."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from forensics.errors import QueueUnknownError
from forensics.lake import Lake
from forensics.lake.filters import equals
from forensics.tables import BY_NAME
from ingest import functions, mappings, queues
from ingest.clients import Aws
from ingest.coverage import SOURCE_ERRORS, Reading, status_of
from ingest.queues import QueueRef

QUEUE_SETTINGS = BY_NAME["queue_settings"]
FUNCTION_SETTINGS = BY_NAME["function_settings"]
MAPPINGS = BY_NAME["event_source_mappings"]


@dataclass
class Estate:
    """What was found: the queues asked for first, then their dead-letter queues; rows lack id and time."""

    queues: list[QueueRef] = field(default_factory=list)
    asked_count: int = 0
    queue_rows: list[dict[str, Any]] = field(default_factory=list)
    mapping_rows: list[dict[str, Any]] = field(default_factory=list)
    function_rows: list[dict[str, Any]] = field(default_factory=list)
    log_group_of: dict[str, str] = field(default_factory=dict)
    """Function ARN without version to the log group it writes, known or presumed."""
    readings: list[Reading] = field(default_factory=list)

    def gap(self, source: Any, resource: str, ref: QueueRef, problem: Any, queue_arns: tuple[str, ...] = ()) -> None:
        """Note that one source could not be read."""
        status, detail = status_of(problem)
        arns = queue_arns or (ref.arn,)
        self.readings.append(Reading(source, resource, ref.account_id, ref.region, arns, status, detail))


def discover(lake: Lake, aws: Aws, names: list[str] | None, stage: Callable[[str], None] = lambda name: None) -> Estate:
    """Find the queues (None: all of the region) and what belongs to them; writes nothing.

    What AWS denies is noted in ``readings``, and the lake's last word stands in for it where there is one.
    Raises QueueUnknownError, CredentialsError or EndpointUnreachableError before anything else was asked.
    """
    stage("queues")
    found = queues.find_all(aws) if names is None else [queues.find(aws, name) for name in names]
    estate = Estate(queues=list({ref.arn: ref for ref in found}.values()))
    estate.asked_count = len(estate.queues)
    _add_settings(estate)
    stage("event source mappings")
    for ref in estate.queues:
        _add_mappings(lake, estate, ref)
    stage("functions")
    _add_functions(lake, estate)
    return estate


def _add_settings(estate: Estate) -> None:
    """Read every queue's settings; the list grows by dead-letter queues while it is walked."""
    known = {ref.arn for ref in estate.queues}
    for ref in estate.queues:
        try:
            row = queues.to_row(ref, queues.fetch(ref))
        except SOURCE_ERRORS as problem:
            estate.gap(QUEUE_SETTINGS, ref.name, ref, problem)
            continue
        estate.queue_rows.append(row)
        arn = row["dead_letter_queue_arn"]
        if arn and arn not in known:
            known.add(arn)
            try:
                estate.queues.append(queues.find(ref.aws, arn))
            except (QueueUnknownError, *SOURCE_ERRORS) as problem:
                status = "gone" if isinstance(problem, QueueUnknownError) else status_of(problem)[0]
                name = arn.rsplit(":", 1)[-1]
                reading = Reading(QUEUE_SETTINGS, name, ref.account_id, ref.region, (arn,), status, str(problem))
                estate.readings.append(reading)


def _add_mappings(lake: Lake, estate: Estate, ref: QueueRef) -> None:
    try:
        rows = [mappings.to_row(ref, mapping) | {"_asked": mapping["FunctionArn"]} for mapping in mappings.fetch(ref)]
    except SOURCE_ERRORS as problem:
        estate.gap(MAPPINGS, ref.name, ref, problem)
        columns = ["queue_arn", "function_arn", "function_name", "mapping_uuid"]
        known = lake.read(MAPPINGS, columns, equals("queue_arn", ref.arn)).to_pylist()
        rows = [row | {"_asked": row["function_arn"], "_from_lake": True} for row in known]
    estate.mapping_rows += rows


def _add_functions(lake: Lake, estate: Estate) -> None:
    by_arn = {ref.arn: ref for ref in estate.queues}
    for function_arn in dict.fromkeys(row["function_arn"] for row in estate.mapping_rows):
        feeding = [row for row in estate.mapping_rows if row["function_arn"] == function_arn]
        ref, name = by_arn[feeding[0]["queue_arn"]], feeding[0]["function_name"]
        account_id = function_arn.split(":")[4] or ref.account_id
        queue_arns = tuple(sorted({row["queue_arn"] for row in feeding}))
        try:
            row = functions.to_row(account_id, ref.region, functions.fetch(ref.aws, feeding[0]["_asked"]))
        except SOURCE_ERRORS as problem:
            estate.gap(FUNCTION_SETTINGS, name, ref, problem, queue_arns)
            estate.log_group_of[function_arn] = _last_log_group(lake, function_arn) or functions.default_log_group(name)
            continue
        estate.function_rows.append(row)
        estate.log_group_of[function_arn] = row["log_group"]


def _last_log_group(lake: Lake, function_arn: str) -> str | None:
    known = lake.read(FUNCTION_SETTINGS, ["observed_at", "log_group"], equals("function_arn", function_arn))
    rows = sorted(known.to_pylist(), key=lambda row: row["observed_at"])
    return rows[-1]["log_group"] if rows else None
