"""Whose logs imported files are: account, region and queue of a log group, from what a person says and settings show."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from forensics.identity import evidence_id, queue_name
from forensics.lake import Lake
from forensics.lake.rows import plain_rows
from forensics.queue_names import arns_of_names, consumers_with_arns
from forensics.sentence import said
from forensics.settings import Producer, Settings
from forensics.tables import BY_NAME
from ingest import queues
from ingest.consumers import group_and_queue
from ingest.functions import default_log_group

QUEUE_SETTINGS = BY_NAME["queue_settings"]
FUNCTION_SETTINGS = BY_NAME["function_settings"]
MAPPINGS = BY_NAME["event_source_mappings"]
CONSUMERS = BY_NAME["consumers"]
Row = dict[str, Any]
_LAMBDA_PREFIX = default_log_group("")
_PRINTED_ARN = re.compile(
    r"[eE]ventSourceA(?:RN|rn)[^A-Za-z0-9]{1,16}(arn:aws[a-z-]*:sqs:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,80}(?:\.fifo)?)"
)


@dataclass
class LogGroups:
    """What is known of log groups. ``said`` maps a group to the queue a person named for it, or None."""

    said: dict[str, str | None]
    accounts: dict[str, tuple[str | None, str | None]]
    everywhere: tuple[str | None, str | None]
    producers: tuple[Producer, ...] = ()
    of_consumers: frozenset[str] = frozenset()
    queue_arns_by_name: dict[str, str] = field(default_factory=dict)
    _arns: dict[str, set[str]] = field(default_factory=dict)
    _printed: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, lake: Lake, texts: Iterable[str], settings_rows: list[Row], settings: Settings | None = None
    ) -> "LogGroups":
        """Gather what the command line (GROUP[=QUEUE]), settings about to be stored, and the lake say."""
        said = dict(map(group_and_queue, texts))
        known = [row for table in (QUEUE_SETTINGS, CONSUMERS) for row in plain_rows(lake.read(table))]
        places = {(r["account_id"], r["region"]) for r in settings_rows} or {
            (r["account_id"], r["region"]) for r in known if r["account_id"]
        }
        for queue in filter(None, said.values()):
            if ref := queues.named(queue):
                places = {(ref.account_id, ref.region)}
        everywhere = next(iter(places)) if len(places) == 1 else (None, None)
        accounts = {r["log_group"]: (r["account_id"], r["region"]) for r in known if r.get("log_group")}
        accounts |= {r["log_group"]: (r["account_id"], r["region"]) for r in settings_rows if r.get("log_group")}
        arns = {r["queue_name"]: r["queue_arn"] for r in (*known, *settings_rows) if r.get("queue_name")}
        settings = settings or Settings()
        rows = (*known, *settings_rows, *plain_rows(lake.read(FUNCTION_SETTINGS, ["log_group"])))
        groups = {row.get("log_group") for row in rows} | {worker.log_group for worker in settings.workers}
        groups |= {default_log_group(function.name) for function in settings.functions if function.name}
        return cls(said, accounts, everywhere, settings.producers, frozenset(group for group in groups if group), arns)

    def producers_of(self, group: str) -> list[tuple[Producer, str]]:
        """Return the producers whose lines a group holds, each with its queue, by name alone where no ARN is known."""
        mine = (p for p in self.producers if p.log_group == group)
        return [(p, self.queue_arns_by_name.get(p.queue, p.queue)) for p in mine]

    def has_consumer(self, group: str) -> bool:
        """Tell whether a group is known to hold a consumer's lines: one that takes from a queue and sends to another has both."""
        return group in self.of_consumers or self.said.get(group) is not None

    @property
    def only(self) -> str:
        """The one group a person named, for files that name none; empty where nobody had to."""
        return next(iter(self.said), "")

    def where(
        self, group: str, owner: str | None, account_id: str | None, region: str | None
    ) -> tuple[str | None, str | None]:
        """Return account and region of a group; what is said wins over what a file names, then settings, then the lake."""
        known_account, known_region = self.accounts.get(group, self.everywhere)
        return account_id or owner or known_account, region or known_region

    def queue_arns(self, group: str) -> tuple[str, ...]:
        """Return the queues whose consumers write there, as far as ``consumer_rows`` found out."""
        return tuple(sorted(self._arns.get(group, ())))

    def note_printed(self, group: str, line: str) -> None:
        """Note the queues that an event printed on a line came from."""
        if ":sqs:" in line:
            for found in _PRINTED_ARN.finditer(line):
                self._printed.setdefault(group, set()).add(found[1])

    def printed_arn(self, group: str, name: str | None = None) -> str | None:
        """Return the one queue whose events the group prints, of that name if one is given; None if not exactly one."""
        arns = {arn for arn in self._printed.get(group, ()) if name is None or arn.endswith(f":{name}")}
        return next(iter(arns)) if len(arns) == 1 else None

    def add_queue(self, group: str, queue_arn: str) -> None:
        """Note a queue of a group."""
        self._arns.setdefault(group, set()).add(queue_arn)

    def notes(self, read: set[str]) -> list[str]:
        """Say which groups belong to no queue that is known."""
        return [
            said(
                "log group {group} belongs to no queue that is known: printed events may name it, else say "
                "--log-group {option}=QUEUE, or import the saved event source mapping",
                group=repr(group),
                option=group,
            )
            for group in sorted(read)
            if not self._arns.get(group)
        ]


def consumer_rows(lake: Lake, groups: LogGroups, read: set[str]) -> list[Row]:
    """Return a row of ``consumers`` per log group and queue: from mappings in the lake, from what was said, and for groups
    of which neither tells from the events they print: a message must have one queue, whichever lines name it.

    Of a function whose settings nobody saved, the log group is presumed only where such a group was read.
    """
    functions: dict[str, set[str]] = {}
    for row in plain_rows(lake.read(FUNCTION_SETTINGS, ["function_name", "log_group"])):
        functions.setdefault(row["function_name"], set()).add(row["log_group"])
    settings = plain_rows(lake.read(QUEUE_SETTINGS))
    rows = []
    for mapping in plain_rows(lake.read(MAPPINGS)):
        presumed = {default_log_group(mapping["function_name"])} & read
        for group in functions.get(mapping["function_name"], presumed):
            rows.append(_row(mapping, mapping["queue_arn"], group, mapping["function_name"], "mapping"))
    for group, queue in groups.said.items():
        if queue is None:
            continue
        ref = queues.named(queue)
        name = ref.name if ref else queue.rstrip("/").rpartition("/")[2]
        only = arns_of_names([{"queue_name": name, "queue_arn": name}], settings).get(name)
        queue_arn = ref.arn if ref else only or groups.printed_arn(group, name) or name
        account_id, region = groups.where(group, None, None, None)
        where = {"account_id": account_id, "region": region}
        if not any(r["queue_arn"] == queue_arn and r["log_group"] == group for r in rows):
            rows.append(_row(where, queue_arn, group, _writer(group, functions), "option"))
    told = {row["log_group"] for row in [*rows, *plain_rows(lake.read(CONSUMERS, ["log_group"]))]}
    for group in sorted(read - told):
        if ref := queues.named(groups.printed_arn(group) or ""):
            where = {"account_id": ref.account_id, "region": ref.region}
            rows.append(_row(where, ref.arn, group, _writer(group, functions), "printed event"))
    every = [*rows, *plain_rows(lake.read(CONSUMERS))]
    for row in consumers_with_arns(every, arns_of_names(every, settings)):
        groups.add_queue(row["log_group"], row["queue_arn"])
    return list({row["evidence_id"]: row for row in rows}.values())


def _writer(group: str, functions: dict[str, set[str]]) -> str | None:
    """Return the function that writes a log group; None where that is not known, or it is none."""
    if group.startswith(_LAMBDA_PREFIX):
        return group.removeprefix(_LAMBDA_PREFIX)
    writers = [name for name, groups in functions.items() if group in groups]
    return writers[0] if len(writers) == 1 else None


def _row(where: Row, queue_arn: str, group: str, function_name: str | None, found_by: str) -> Row:
    return {
        "evidence_id": evidence_id("consumer", queue_arn, group, function_name),
        "account_id": where["account_id"],
        "region": where["region"],
        "queue_arn": queue_arn,
        "queue_name": queue_name(queue_arn),
        "log_group": group,
        "kind": "lambda" if function_name else None,
        "function_name": function_name,
        "found_by": found_by,
    }
