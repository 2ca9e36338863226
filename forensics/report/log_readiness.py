"""What the consumers' logs tell, in lines for a terminal, and what to add to them, in rows for a report."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from unicodedata import normalize

from forensics.event_ids import is_event_id
from forensics.lake import Findings, Lake
from forensics.lake.filters import equals, is_missing, one_of
from forensics.lake.findings import rows_of
from forensics.lake.rows import plain_rows
from forensics.readiness import LEVELS
from forensics.report.queue_lookup import deliveries_of
from forensics.sentence import counted, joined, said
from forensics.settings_text import quoted
from forensics.tables.evidence import CONSUMERS
from forensics.tables.findings import DELIVERIES, LOGGING_READINESS


def readiness_lines(lake: Lake, queue: str | None = None) -> list[str]:
    """Return a sentence per consumer of the newest findings, and the first line to add where something is missing.

    ``queue`` limits them to one queue's name. No findings yet give no lines.
    """
    if lake.generation() is None:
        return []
    rows = [r for r in rows_of(lake.findings().read(LOGGING_READINESS)) if queue in (None, r["queue"])]
    lines = []
    for row in sorted(rows, key=lambda r: (LEVELS.index(r["level"]), r["queue"], r["log_group"])):
        lines.append(
            said(
                "logging of {name} for {queue}: {level}. {what}",
                name=row["function_name"] or row["log_group"],
                queue=row["queue"],
                level=row["level"],
                what=row["sentence"],
            )
        )
        if row["missing"]:
            command = f"`doubletake suggest {shlex.quote(row['queue'])}`"
            lines += ["  to look for lines that say so in words of their own:", said("  {command}", command=command)]
            first = {"what": row["missing"][0], "name": row["python_lines"][0]}
            lines.append(said("  to log {what}, add in Python: {name}", **first))
            lines.append(said("  or in Node: {name}", name=row["node_lines"][0]))
    return [*lines, *not_placed(lake.findings(), queue), *unlike_keys(lake.findings(), queue)]


def not_checked(findings: Findings, queue: str | None = None) -> list[str]:
    """Return a sentence per consumer whose logs name no message: what it was handed could not be checked for repeats.

    ``queue`` limits them to one queue's name.
    """
    where = equals("level", "blind") if queue is None else equals("level", "blind") & equals("queue", queue)
    rows = plain_rows(findings.read(LOGGING_READINESS, ["queue", "log_group", "function_name", "named_count"], where))
    return [*(not_checked_text(*one) for one in blind_consumers(rows)), *not_placed(findings, queue)]


def blind_consumers(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, bool]]:
    """Return queue and name of each consumer whose log is blind, sorted, and whether lines of failures name messages; ``rows`` are theirs."""
    found = {(row["queue"], row["function_name"] or row["log_group"], bool(row["named_count"])) for row in rows}
    return sorted(found)


def not_placed(findings: Findings, queue: str | None = None) -> list[str]:
    """Return a sentence per log group with deliveries of which nothing tells from which of several queues they came.

    They stand under the log group's name. ``queue`` limits them to groups whose consumer reads it.
    """
    read: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in plain_rows(findings.read(CONSUMERS, ["queue_name", "log_group", "function_name"])):
        read[row["log_group"], row["function_name"] or ""].add(row["queue_name"])
    several = {group: queues for (group, _), queues in sorted(read.items()) if len(queues) > 1}
    return [
        not_placed_text(count, group, sorted(queues))
        for group, queues in several.items()
        if queue in (None, group, *queues) and (count := deliveries_of(findings, group))
    ]


def not_placed_text(count: int, log_group: str, queues: Sequence[str]) -> str:
    """Say that deliveries stand under the name of a log group, and what to log so that they do not.

    >>> print(not_placed_text(2, "/aws/lambda/ship", ["new", "old"]))
    No line of /aws/lambda/ship tells whether 2 deliveries came from new or old, so they are listed under queue /aws/lambda/ship, and there a business key links nothing. Log the eventSourceARN of each record.
    """
    return said(
        "No line of {group} tells whether {deliveries} came from {queues}, so they are listed under queue {group}, and there a business key"
        " links nothing. Log the eventSourceARN of each record.",
        group=log_group,
        deliveries=counted(count, "delivery", "deliveries"),
        queues=joined(queues, " or "),
    )


def unlike_effects(findings: Findings) -> list[str]:
    """Return a sentence per consumer that names messages, and of whose lines none is like the effect that the settings file has."""
    columns = ["queue", "log_group", "function_name", "unlike_effect"]
    where = ~is_missing("unlike_effect") & one_of("level", ("partial", "ready"))
    rows = plain_rows(findings.read(LOGGING_READINESS, columns, where))
    told = {(row["queue"], row["function_name"] or row["log_group"], row["unlike_effect"]) for row in rows}
    return [
        said(
            "No line of {who} is like its effect, {effect}, so nothing tells which work was done. Look for lines that do: {command}",
            who=who,
            effect=quoted(effect),
            command=f"`doubletake suggest {shlex.quote(name)}`",
        )
        for name, who, effect in sorted(told)
    ]


def unlike_keys(findings: Findings, queue: str | None = None) -> list[str]:
    """Return a sentence per consumer of whose effect lines' keys none is ever a key of a message that it was handed.

    ``queue`` limits them to one queue's name.
    """
    columns = ["queue", "log_group", "business_keys"]
    where = is_missing("message_id") & equals("basis", "marker")
    of_lines: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in plain_rows(
        findings.read(DELIVERIES, columns, where if queue is None else where & equals("queue", queue))
    ):
        of_lines[row["queue"], row["log_group"]].update(row["business_keys"] or ())
    of_bodies: dict[tuple[str, str], set[str]] = defaultdict(set)
    where = ~is_missing("message_id") & one_of("log_group", (group for _, group in of_lines))
    are_alike: set[tuple[str, str]] = set()
    for batch in findings.scan(DELIVERIES, [*columns, "basis"], where) if of_lines else ():
        for row in batch.to_pylist():
            place = row["queue"], row["log_group"]
            if row["basis"] == "marker" and row["business_keys"]:  # a line of an effect that names the message's key
                are_alike.add(place)
            if place in of_lines:
                of_bodies[place].update(key for key in row["business_keys"] or () if not is_event_id(key))
    return [
        unlike_keys_text(*place, *(min(known, key=lambda key: (len(key), key)) for known in (of_lines[place], keys)))
        for place, keys in sorted(of_bodies.items())
        if keys and of_lines[place] and place not in are_alike and not keys & of_lines[place]
    ]


def unlike_keys_text(queue: str, consumer: str, of_line: str, of_body: str) -> str:
    """Say that a consumer's effect lines name no key that its messages have, with one of each.

    >>> unlike_keys_text("orders", "ship", "ORD-1", "ord-1")
    "No effect line of ship names a key that a message of orders has: lines name keys such as 'ORD-1', messages 'ord-1'. If these are the same, each work is listed twice. Log the key as the message has it."
    """
    is_other_form = normalize("NFC", of_line) == normalize("NFC", of_body)
    shown = ascii if is_other_form else repr
    return said(
        "No effect line of {who} names a key that a message of {queue} has: lines name keys such as {line}, messages {body}. If these are "
        "the same, each work is listed twice. Log the key as the message has it.",
        who=consumer,
        queue=queue,
        line=shown(of_line),
        body=shown(of_body),
    )


def nothing_checked(findings: Findings, queue: str | None = None) -> list[str]:
    """Return the same, and a sentence where no delivery is known at all: where nothing was checked nothing is free of suspicion."""
    told = not_checked(findings, queue)
    return told if told or deliveries_of(findings, queue) else ["No delivery was found, so nothing was checked"]


def all_clear(findings: Findings, queue: str | None = None) -> str | None:
    """Say that there is no incident, and among how many deliveries that was checked; None where nothing was."""
    checked = deliveries_of(findings, queue)
    if not checked and nothing_checked(findings, queue):
        return None
    deliveries = counted(checked, "delivery", "deliveries")
    if queue is None:
        return said("No incidents; {deliveries} checked in this data version.", deliveries=deliveries)
    of_queue = "No incidents of queue {queue}; {deliveries} of it checked in this data version."
    return said(of_queue, queue=repr(queue), deliveries=deliveries)


def not_checked_text(queue: str, consumer: str, are_failures_named: bool = False) -> str:
    """Say that nothing a consumer was handed could be checked, or nothing but failures, and what to do.

    >>> not_checked_text("orders", "ship")
    'No line of ship names a message: what it got of orders was not checked. Look for lines that may: `doubletake suggest orders`'
    """
    nothing = (
        "No line of {who} names a message: what it got of {queue} was not checked. Look for lines that may: {command}"
    )
    failures = "Only lines of failures of {who} name a message: what else it got of {queue} was not checked. Look for lines that may: {command}"
    return said(
        failures if are_failures_named else nothing,
        who=consumer,
        queue=queue,
        command=f"`doubletake suggest {shlex.quote(queue)}`",
    )


def lines_to_add(findings: Findings, incident: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the consumers of an incident's queue whose logs name no message, by log group, each with what to add."""
    rows = rows_of(findings.read(LOGGING_READINESS, where=equals("queue_arn", incident["queue_arn"])))
    return tuple(sorted((r for r in rows if r["level"] == "blind"), key=lambda r: str(r["log_group"])))
