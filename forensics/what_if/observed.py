"""What a lake tells of a queue's messages, in the form that a replay takes, and the settings that were in force."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

import pyarrow.compute as pc

from forensics.advised_visibility import advised_visibility_s
from forensics.clock import EPOCH
from forensics.errors import QueueUnknownError
from forensics.identity import is_fifo_name
from forensics.lake import Findings
from forensics.lake.filters import at_least, equals, one_of
from forensics.lake.rows import plain_rows
from forensics.limits import LONGEST_RETENTION_S
from forensics.run_ends import CUT_OFF
from forensics.sentence import said
from forensics.settings_in_force import SettingsInForce
from forensics.tables import evidence as E
from forensics.tables.findings import DELIVERIES, MESSAGES, QUEUE_FINDINGS
from forensics.what_if.model import Attempt, Observed, Outcome, Setup

MOST_DELIVERIES = 100_000
"""Of more deliveries the last ones are replayed."""
_COLUMNS = [
    "queue",
    "queue_arn",
    "item_id",
    "delivery_index",
    "is_seen",
    "consumer",
    "consumer_kind",
    "function_name",
    "batch_position",
    "received_at",
    "started_at",
    "finished_at",
    "run_ended_at",
    "run_status",
    "effect",
    "group_id",
    "sent_at",
]
Row = dict[str, Any]


@dataclass(frozen=True)
class Observation:
    """A queue's messages, the settings in force, what came of it, and what running takes beside the work.

    ``left_out`` counts deliveries that were left out because there are too many, or because nothing tells their times.
    ``guessed`` counts attempts whose work was cut off, so that what it takes is taken from its neighbours. ``beside`` counts
    repeats that are known and that no replay can give: of works that were sent again, or of deliveries that were left out.
    ``advised_visibility_s`` is the visibility timeout that is advised, by the settings in force and the slowest handling.
    """

    queue: str
    messages: tuple[Observed, ...]
    setup: Setup
    outcome: Outcome
    overhead_s: float
    is_lambda: bool
    left_out: int
    guessed: int
    beside: int = 0
    advised_visibility_s: int | None = None


def observation(findings: Findings, queue: str) -> Observation:
    """Read what was observed of a queue; raises QueueUnknownError where no delivery of it tells when it was."""
    arn, rows, left_out = _rows(findings, queue)
    runs: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        runs[row["consumer"]].append(row)
    overheads: list[float] = []
    attempts: dict[str, list[Attempt]] = defaultdict(list)
    for batch in runs.values():
        batch.sort(key=lambda r: (r["batch_position"] or 0, r["received_at"]))
        overheads.append(_of_run(batch, attempts))
    by_item: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_item[row["item_id"]].append(row)
    messages = []
    for item_id, mine in by_item.items():
        first = min(mine, key=lambda r: r["delivery_index"])
        sent_s = _s(first["sent_at"] or first["received_at"])
        group = first["group_id"] if is_fifo_name(arn) else None
        group = group or ("" if is_fifo_name(arn) else None)
        messages.append(Observed(item_id, sent_s, group, tuple(sorted(attempts[item_id], key=lambda a: a.at_s))))
    messages.sort(key=lambda m: (m.sent_at_s, m.message_id))
    longest_s = max(max(_s(r["run_ended_at"]) for r in batch) - _start_of(batch[0]) for batch in runs.values())
    setup, advised_s = _setup(findings, arn, rows, runs, longest_s)
    outcome = _outcome(findings, arn, by_item, runs)
    guessed = sum(not a.is_known for mine in attempts.values() for a in mine)
    is_lambda = all(row["consumer_kind"] == "lambda" for row in rows)
    overhead = median(overheads) if overheads else 0.0
    beside = max(0, _known_repeats(findings, arn, by_item, is_part=len(rows) == MOST_DELIVERIES) - outcome.repeats)
    outcome.repeats += beside
    return Observation(
        rows[0]["queue"],
        tuple(messages),
        setup,
        outcome,
        overhead,
        is_lambda,
        left_out,
        guessed,
        beside,
        advised_s,
    )


def _known_repeats(findings: Findings, arn: str, by_item: Mapping[str, list[Row]], is_part: bool) -> int:
    """Return how often works of the queue were done beyond the first time for sure, whichever message ids they came under.

    ``is_part``: of more deliveries than can be replayed the last ones are; then works none of them belongs to do not count.
    """
    found: dict[str, int] = {}
    replayed: set[str] = set()
    for row in plain_rows(
        findings.read(MESSAGES, ["work_id", "item_id", "effects_at_least"], equals("queue_arn", arn))
    ):
        work = row["work_id"] or row["item_id"]
        found[work] = max(found.get(work, 0), (row["effects_at_least"] or 0) - 1)
        if row["item_id"] in by_item:
            replayed.add(work)
    return sum(extra for work, extra in found.items() if work in replayed or not is_part)


def _rows(findings: Findings, queue: str) -> tuple[str, list[Row], int]:
    where = one_of("queue", [queue]) | one_of("queue_arn", [queue])
    told = where & pc.field("is_seen") & pc.field("received_at").is_valid() & pc.field("run_ended_at").is_valid()
    times = findings.read(DELIVERIES, ["queue_arn", "received_at"], told)
    arns = sorted(times["queue_arn"].unique().to_pylist())
    if not arns:
        raise QueueUnknownError(
            said("no line in this lake tells when a message of a queue {queue} was handled", queue=repr(queue)),
            "`doubletake status` lists the queues, and what their logs tell.",
        )
    if len(arns) > 1:
        raise QueueUnknownError(
            said("{name} is the name of several queues", name=repr(queue)),
            said("Give one of their ARNs: {names}.", names=", ".join(arns)),
        )
    if len(times) > MOST_DELIVERIES:
        newest = pc.select_k_unstable(times, MOST_DELIVERIES, [("received_at", "descending")])
        told &= at_least("received_at", times["received_at"][newest[-1].as_py()].as_py())
    rows = plain_rows(findings.read(DELIVERIES, _COLUMNS, told))
    rows.sort(key=lambda r: (r["received_at"], r["item_id"]))
    rows = rows[-MOST_DELIVERIES:]
    return arns[0], rows, len(findings.read(DELIVERIES, ["is_seen"], where)) - len(rows)


def _of_run(batch: list[Row], attempts: dict[str, list[Attempt]]) -> float:
    """Add what each message of a run took, and return what the run took beside them, in seconds."""
    started_s = _start_of(batch[0])
    ended_s = max(_s(row["run_ended_at"]) for row in batch)
    was_cut = batch[0]["run_status"] in CUT_OFF
    at_s, at_hand = started_s, None
    took: list[float | None] = []
    has_marks = any(row["started_at"] or row["finished_at"] for row in batch)
    for place, row in enumerate(batch):
        begin_s = _s(row["started_at"]) if row["started_at"] else at_s
        if row["finished_at"]:
            took.append(max(0.0, _s(row["finished_at"]) - begin_s))
            at_s = _s(row["finished_at"])
        elif has_marks and was_cut:
            took.append(None)
            if at_hand is None:
                at_hand = place
        else:
            took.append((ended_s - started_s) / len(batch))
    known = [t for t in took if t is not None]
    like = median(known) if known else max(0.0, ended_s - started_s)
    if at_hand is not None:
        like = max(like, ended_s - at_s)
    raises = batch[0]["run_status"] in ("error", "crash")
    place_raised = (at_hand if at_hand is not None else len(batch) - 1) if raises else None
    at_s = started_s
    for place, (row, seconds) in enumerate(zip(batch, took, strict=True)):
        if seconds is None:
            neighbours = median(known) if known else like
            seconds_taken = like if place == at_hand else neighbours
        else:
            seconds_taken = seconds
        attempt = Attempt(at_s, seconds_taken, place == place_raised, seconds is not None, row["effect"] == "yes")
        attempts[row["item_id"]].append(attempt)
        at_s += seconds_taken
    return 0.0 if was_cut else max(0.0, (ended_s - started_s) - sum(known))


def _start_of(row: Row) -> float:
    if row["consumer_kind"] == "lambda":
        stamp = row["consumer"].rpartition("|")[2].partition(".")[0]
        started = int(stamp) / 1000 if stamp.isdigit() else 0.0
        if started > 1e9:
            return started
    return _s(row["started_at"] or row["received_at"])


def _setup(
    findings: Findings, arn: str, rows: list[Row], runs: dict[str, list[Row]], longest_s: float
) -> tuple[Setup, int | None]:
    """Return the settings in force at the last delivery, and the visibility timeout that is advised.

    Where no snapshot tells, what the deliveries themselves show.
    """
    names = (E.QUEUE_SETTINGS, E.FUNCTION_SETTINGS, E.EVENT_SOURCE_MAPPINGS, E.SETTING_CHANGES)
    in_force = SettingsInForce.of(*(plain_rows(findings.read(table)) for table in names))
    last = rows[-1]
    at = int(_s(last["received_at"]) * 1_000_000)
    queue = in_force.queue(arn, at) or {}
    mapping = in_force.mapping(arn, last["function_name"], at) or {}
    function = in_force.function(last["function_name"], at) or {}
    concurrency = _most_at_once(runs)
    setup = Setup(
        queue.get("visibility_timeout_s") or 30,
        mapping.get("batch_size") or max(len(batch) for batch in runs.values()),
        function.get("timeout_s"),
        bool(mapping.get("reports_batch_item_failures")),
        queue.get("max_receive_count"),
        min(concurrency, mapping.get("maximum_concurrency") or concurrency),
        queue.get("message_retention_s") or LONGEST_RETENTION_S,
    )
    return setup, advised_visibility_s(
        function.get("timeout_s"), mapping.get("batching_window_s") or 0, 1000 * longest_s
    )


def _most_at_once(runs: dict[str, list[Row]]) -> int:
    steps = []
    for batch in runs.values():
        steps += [(_start_of(batch[0]), 1), (max(_s(r["run_ended_at"]) for r in batch), -1)]
    now = most = 0
    for _, step in sorted(steps):
        now += step
        most = max(most, now)
    return max(1, most)


def _outcome(findings: Findings, arn: str, by_item: dict[str, list[Row]], runs: dict[str, list[Row]]) -> Outcome:
    found = Outcome(runs=len(runs))
    for batch in runs.values():
        found.failed_runs += batch[0]["run_status"] in CUT_OFF
        found.busy_s += max(_s(r["run_ended_at"]) for r in batch) - _start_of(batch[0])
    for mine in by_item.values():
        mine.sort(key=lambda r: r["delivery_index"])
        done = [r for r in mine if r["effect"] == "yes"]
        found.redelivered += mine[-1]["delivery_index"] > 1
        found.repeats += max(0, len(done) - 1)
        if done:
            done_at = done[0]["finished_at"] or done[0]["run_ended_at"]
            found.waits_s.append(_s(done_at) - _s(mine[0]["sent_at"] or mine[0]["received_at"]))
    columns = ["code", "span_ms", "stance"]
    for row in plain_rows(findings.read(QUEUE_FINDINGS, columns, equals("queue_arn", arn))):
        found.dead_lettered += row["code"] == "dead_lettered"
        if row["code"] == "fifo_group_blocked" and row["span_ms"]:
            found.blocked_s += row["span_ms"] / 1000
    return found


def _s(at: datetime) -> float:
    return (at - EPOCH).total_seconds()
