"""What of a world AWS would have kept, as rows of the evidence tables; and what lines were lost on the way."""

import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from forensics.identity import evidence_id, handle_token
from forensics.parsers.sends import pattern_of, read_as
from forensics.settings import Producer
from tests.oracle.lines import Line, at
from tests.oracle.truth import Delivery, MessageTruth

if TYPE_CHECKING:
    from tests.oracle.plan import Plan
    from tests.oracle.sqs import Queue
    from tests.oracle.world import World

ACCOUNT, REGION = "123456789012", "eu-west-1"
LOSABLE = ("start", "end", "report", "event", "ids", "started", "effect", "response", "framework", "delete_error")
"""Roles of lines a lossy world may drop; errors, crashes and guard lines are kept, or a failed run would look well."""

OPENERS = frozenset(("event", "started"))
"""Roles of lines with which a handling begins."""

_REFUSED = "Value RH for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired."  # as SQS says it

KEY, ID, TO_BLANK = "[A-Za-z0-9_-]+", "[0-9a-f-]+", r"\S+"
"""How teams write their expressions' groups."""

RETENTION_DAYS = 3
READ_LATER_MS = 2 * 86_400_000
"""So long after a world's end its logs were read, unless they were read too early: lines come up to a day late."""


class Kept:
    """The evidence of one world: which lines stayed, over which window, and everything beside the lines.

    Where lines come late (``is_first_reading``), some of them are not there yet; a day later all are. Of the ``stored`` lines
    those before the world's ``since`` are left out: ``lines`` are the others.
    """

    def __init__(self, world: "World", is_first_reading: bool = True) -> None:
        self.world, self.is_first_reading = world, is_first_reading
        self.rng = random.Random(f"evidence {world.seed}")
        first = min((line.at_ms for line in world.book.lines), default=world.started_ms)
        last = max((line.at_ms for line in world.book.lines), default=world.started_ms)
        self.start_ms, self.end_ms = world.started_ms - 60_000, last + 3 * world.queue.visibility_ms + 600_000
        if world.ended_ms is not None:  # it was played no longer: nobody polls
            self.end_ms = min(self.end_ms, max(world.ended_ms, last + 1))
        self.gap: tuple[int, int] | None = None
        self.is_provisional = has_late_lines(world.plan) and is_first_reading
        span, loss = last - first, world.plan.loss
        self.kept_from_ms = first + int(span * self.rng.uniform(0.2, 0.6)) if world.plan.retention_passed else 0
        if loss == "head":
            self.start_ms = first + int(span * self.rng.uniform(0.15, 0.5))
        elif loss in ("tail", "late"):
            self.end_ms = first + int(span * self.rng.uniform(0.5, 0.9)) + 1
            self.end_ms -= (
                self.end_ms % world.plan.clock_ms
            )  # no line says that it is older than the last one it was read with
            self.is_provisional = True
        elif loss == "gap" and world.book.lines:
            begin = self.rng.choice(world.book.lines).at_ms - self.rng.randrange(1_000)
            self.gap = (begin, begin + max(1_000, int(span * self.rng.uniform(0.1, 0.3))))
        self.stored = self._keep(loss)
        self.since_ms = world.since.at_ms if world.since else 0
        self.lines = [line for line in self.stored if line.at_ms >= self.since_ms]
        if loss in ("tail", "late"):
            world.cut_truth(self.end_ms)
        for known in world.truth.values():
            known.forget_what_shows()
        self._note_what_shows()

    # -- lines ---------------------------------------------------------------------------------------------

    def _keep(self, loss: str) -> list[Line]:
        lines = [line for line in self.world.book.lines if self.start_ms <= line.at_ms < self.end_ms]
        if self.gap:
            lines = [line for line in lines if not self.gap[0] <= line.at_ms < self.gap[1]]
        if loss == "denied":
            lines = [line for line in lines if line.group != self.denied_group]
        if loss == "late":
            lines = self._without_late_streams(lines, self.end_ms - self.rng.randrange(20_000, 300_000))
        if loss == "to_come" and self.is_first_reading and lines:
            lines = self._without_late_streams(lines, self.rng.choice(lines).at_ms)
        if loss == "lines":
            lines = self._drop_some(lines)
        lines = [line for line in lines if line.at_ms >= self.kept_from_ms]
        return self._doubled(lines) if self.world.plan.doubled_lines else lines

    def _doubled(self, lines: list[Line]) -> list[Line]:
        """Deliver some stretches of lines twice: whoever sends a batch of them again gives them the same times."""
        found: list[Line] = []
        of_streams: dict[tuple[str, str], list[Line]] = defaultdict(list)
        for line in lines:
            of_streams[line.group, line.stream].append(line)
        for mine in of_streams.values():
            place = 0
            while place < len(mine):
                batch = mine[place : place + self.rng.randrange(1, 9)]
                again = [replace(line, number=1_000_000 + line.number) for line in batch]
                found += batch + (again if self.rng.random() < 0.3 else [])
                place += len(batch)
        return sorted(found, key=lambda line: line.at_ms)

    def _without_late_streams(self, lines: list[Line], late_from: int) -> list[Line]:
        streams = sorted({line.stream for line in lines})
        late = set(self.rng.sample(streams, max(1, len(streams) // 2))) if streams else set()
        return [line for line in lines if line.stream not in late or line.at_ms < late_from]

    def _drop_some(self, lines: list[Line]) -> list[Line]:
        share = self.rng.choice((0.02, 0.06, 0.15))
        kept = []
        for line in lines:
            may_go = line.role in LOSABLE or (line.role == "timeout" and self.world.plan.function_settings_kept)
            if not (may_go and self.rng.random() < share):
                kept.append(line)
        left = {line.run_id for line in kept}
        firsts: dict[str | None, Line] = {}
        for line in lines:
            firsts.setdefault(line.run_id, line)
        rescued = {id(line) for run_id, line in firsts.items() if run_id not in left}
        return [line for line in lines if id(line) in rescued or line in set(kept)] if rescued else kept

    @property
    def read_from_ms(self) -> int:
        """From when on lines count as read."""
        return max(self.start_ms, self.kept_from_ms, self.since_ms)

    @property
    def denied_group(self) -> str | None:
        """The log group that could not be read."""
        return self.world.consumer_groups[-1] if self.world.plan.loss == "denied" else None

    def is_known_unread(self, delivery: Delivery) -> bool:
        """Tell whether the readings say that the lines of a delivery were not read, or left out.

        That its receive was in several runs they do not say, unless the lines that are kept tell so of another receive of its message.
        """
        if delivery.received_ms < self.since_ms:
            return len(delivery.handlings) == 1 or self._shows_several_runs(self.world.truth[delivery.message_id])
        if self.gap and delivery.received_ms < self.gap[1] and (delivery.ended_ms or self.end_ms) >= self.gap[0]:
            return True
        return self.denied_group is not None and self.denied_group.endswith(f"/{delivery.consumer}")

    @staticmethod
    def _shows_several_runs(known: MessageTruth) -> bool:
        """Tell whether lines tell of several runs of one receive of a message."""
        return any(sum(d.run_id in known.named_runs for d in first.handlings) > 1 for first in known.receives)

    def _note_what_shows(self) -> None:
        plan = self.world.plan
        by_key: dict[str, list[str]] = {}
        for known in self.world.truth.values():
            by_key.setdefault(known.business_key, []).append(known.message_id)
        shown: dict[str, dict[str, set[tuple[str, str]]]] = defaultdict(lambda: defaultdict(set))
        marked: dict[str, dict[str, set[tuple[str, str]]]] = defaultdict(lambda: defaultdict(set))
        is_printed_whole = plan.event_form not in ("first", "each") and plan.event_limit is None
        printed = {line.run_id for line in self.lines if line.role == "event" and is_printed_whole}
        for line in self.lines:
            for delivery in line.names:
                named = self.world.truth.get(delivery.message_id)
                if named is None:
                    continue
                is_mention = line.role == "effect" and not self.world.plan.effect_declared
                role = "mention" if is_mention else line.role
                # what a run left behind is printed in the next one, under that one's request id; its batch tells whose it is not, if whole
                is_apart = self.world.functions and (line.run_id == delivery.run_id or line.run_id not in printed)
                run_id = line.run_id if is_apart else delivery.run_id
                shown[delivery.message_id][f"{run_id}"].add((line.stream, role))
                named.is_event_shown |= line.role == "event"
                if line.role == "effect" and self.world.functions and line.run_id != delivery.run_id:
                    for seemingly in named.deliveries:
                        seemingly.shows_leftover |= seemingly.run_id == line.run_id
                if line.role == "effect" and self.world.plan.effect_declared and line.run_id == delivery.run_id:
                    named.told.add(delivery)
                if line.shows_counts:
                    named.counts_shown.add(delivery.receive_count)
            if line.role == "effect":
                if plan.effect_declared:
                    self._note_marks(line)
                for key in line.keys:
                    for message_id in by_key.get(key, ()):
                        marked[message_id][f"{line.run_id}"].add((line.stream, line.role))
        apart = set if self.world.functions else told_apart
        for message_id, runs in shown.items():
            self.world.truth[message_id].named_runs = apart(runs)
        for message_id, runs in marked.items():
            self.world.truth[message_id].key_named_runs = apart(runs)

    def _note_marks(self, line: Line) -> None:
        """Note whose the effect line is: its message's, in that run, or that of the one whose key it names, if anything links them."""
        plan = self.world.plan
        links = plan.business_key_declared and plan.event_form in ("json", "repr", "object")
        for known in self.world.truth.values():
            for delivery in known.deliveries:
                if delivery.run_id != line.run_id:
                    continue
                is_its_key = known.business_key in line.keys and (links or delivery.batch_count == 1)
                delivery.shows_mark |= is_its_key or any(named is delivery for named in line.names)

    # -- rows ----------------------------------------------------------------------------------------------

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of one evidence table."""
        return getattr(self, f"_{table}")()

    def _log_events(self) -> list[dict[str, Any]]:
        seen: Counter[tuple[str, int]] = Counter()
        rows = []
        for line in self.stored:
            order = seen[line.stream, line.at_ms]
            seen[line.stream, line.at_ms] += 1
            event_id = f"{38_000_000_000_000_000_000 + line.at_ms:020d}{self.world.seed:012d}{line.number:024d}"
            rows.append(
                {
                    "evidence_id": evidence_id("log", ACCOUNT, REGION, line.group, event_id),
                    "account_id": ACCOUNT,
                    "region": REGION,
                    "log_group": line.group,
                    "log_stream": line.stream,
                    "event_id": event_id,
                    "logged_at": at(line.at_ms),
                    "ingested_at": at(line.at_ms + 900),
                    "order_in_ms": order,
                    "line": line.text,
                    "collected_at": at(self.end_ms),
                }
            )
        return rows

    def _consumers(self) -> list[dict[str, Any]]:
        world, rows = self.world, []
        of_functions = [(m.queue, m.function.log_group, m.function.name) for m in world.mappings]
        for queue, group, name in of_functions or [(world.queue, group, None) for group in world.consumer_groups]:
            rows.append(
                {
                    "evidence_id": evidence_id("consumer", queue.arn, group, name),
                    "account_id": ACCOUNT,
                    "region": REGION,
                    "queue_arn": queue.arn,
                    "queue_name": queue.name,
                    "log_group": group,
                    "kind": "lambda" if name else "worker",
                    "function_name": name,
                    "found_by": "mapping" if name else "option",
                }
            )
        return rows

    def _queue_settings(self) -> list[dict[str, Any]]:
        if not self.world.plan.queue_settings_kept:
            return []
        queues = [self.world.queue, *([self.world.dead_letters] if self.world.plan.dead_letter_consumer else [])]
        return [self._settings_of(queue) for queue in queues]

    def _settings_of(self, queue: "Queue") -> dict[str, Any]:
        changed = self.world.plan.settings_change_later
        row = {
            "account_id": ACCOUNT,
            "region": REGION,
            "queue_arn": queue.arn,
            "queue_name": queue.name,
            "is_fifo": queue.is_fifo,
            "visibility_timeout_s": queue.visibility_ms // 1000 * (self.rng.choice((2, 6, 20)) if changed else 1),
            "message_retention_s": queue.retention_ms // 1000,
            "delay_s": 0,
            "receive_wait_s": 0,
            "content_based_deduplication": False if queue.is_fifo else None,
            "deduplication_scope": ("messageGroup" if queue.deduplicates_in_groups else "queue")
            if queue.is_fifo
            else None,
            "fifo_throughput_limit": "perQueue" if queue.is_fifo else None,
            "dead_letter_queue_arn": queue.dead_letter_queue.arn if queue.dead_letter_queue else None,
            "max_receive_count": queue.max_receive_count and max(1, queue.max_receive_count - changed),
            "created_at": at(self.world.started_ms - 86_400_000),
            "last_modified_at": self._settings_changed_at,
            "observed_at": at(self.end_ms),
        }
        return {"evidence_id": evidence_id("queue", *row.values()), **row}

    def _function_settings(self) -> list[dict[str, Any]]:
        plan, rows = self.world.plan, []
        for function in self.world.functions if plan.function_settings_kept else []:
            row = {
                "account_id": ACCOUNT,
                "region": REGION,
                "function_arn": function.arn,
                "function_name": function.name,
                "timeout_s": plan.function_timeout_s * (2 if plan.settings_change_later else 1),
                "memory_mb": 256,
                "runtime": {"node": "nodejs22.x", "dotnet": "dotnet8"}.get(plan.runtime, "python3.12"),
                "log_group": function.log_group,
                "log_format": "JSON" if plan.platform == "json" else "Text",
                "application_log_level": "INFO" if plan.platform == "json" else None,
                "system_log_level": plan.system_log_level if plan.platform == "json" else None,
                "reserved_concurrency": plan.concurrency,
                "is_durable": plan.is_durable if plan.durability_kept else None,
                "last_modified_at": self._settings_changed_at,
                "observed_at": at(self.end_ms),
            }
            rows.append({"evidence_id": evidence_id("function", *row.values()), **row})
        return rows

    def _event_source_mappings(self) -> list[dict[str, Any]]:
        plan, rows = self.world.plan, []
        for number, mapping in enumerate(self.world.mappings if plan.mapping_kept else []):
            function = mapping.function
            row = {
                "account_id": ACCOUNT,
                "region": REGION,
                "mapping_uuid": self._mapping_uuid(number),
                "queue_arn": mapping.queue.arn,
                "function_arn": function.arn,
                "function_name": function.name,
                "qualifier": plan.qualifier,
                "batch_size": 1 if plan.settings_change_later else plan.batch_size,
                "batching_window_s": plan.batch_window_s,
                "reports_batch_item_failures": plan.has_responses_heard != plan.settings_change_later,
                "maximum_concurrency": None,
                "counts_events": plan.counts_events,
                "state": "Enabled",
                "filter_patterns": None,
                "last_modified_at": self._settings_changed_at,
                "observed_at": at(self.end_ms),
            }
            rows.append({"evidence_id": evidence_id("mapping", *row.values()), **row})
        return rows

    @property
    def _settings_changed_at(self) -> datetime:
        """When every setting was changed last."""
        return at(self.end_ms - 1 if self.world.plan.settings_change_later else self.world.started_ms - 86_400_000)

    def _log_group_settings(self) -> list[dict[str, Any]]:
        rows = []
        for group in self.world.consumer_groups if self.kept_from_ms else []:
            row = {
                "account_id": ACCOUNT,
                "region": REGION,
                "log_group": group,
                "log_class": "STANDARD",
                "retention_days": RETENTION_DAYS,
                "created_at": at(self.world.started_ms - 86_400_000),
                "observed_at": at(self._read_ms),
            }
            rows.append({"evidence_id": evidence_id("loggroup", *row.values()), **row})
        return rows

    @property
    def _read_ms(self) -> int:
        """When the logs were read."""
        if self.kept_from_ms:
            return self.kept_from_ms + RETENTION_DAYS * 86_400_000
        return self.end_ms if self.is_provisional else self.end_ms + READ_LATER_MS

    def _mapping_uuid(self, number: int) -> str:
        return f"{self.world.seed:08x}-0000-4000-8000-{number:012x}"

    def _send_records(self) -> list[dict[str, Any]]:
        plan, rows = self.world.plan, list[dict[str, Any]]()
        if plan.calls == "producer":
            return list(self._logged_sends())
        for number, call in enumerate(self.world.queue.calls if plan.calls else []):
            is_send = call.operation == "SendMessage"
            if not self.start_ms <= call.at_ms < self.end_ms or (plan.calls == "sends" and not is_send):
                continue
            message = call.message if is_send or plan.calls == "all" else None
            is_named = message is not None and call.operation in ("SendMessage", "ReceiveMessage")
            rows.append(
                {
                    "evidence_id": evidence_id("send", self.world.seed, number),
                    "account_id": ACCOUNT,
                    "region": REGION,
                    "event_id": f"{self.world.seed}-{number}",
                    "place": 0,
                    "called_at": at(call.at_ms // 1000 * 1000),
                    "operation": call.operation,
                    "queue_arn": self.world.queue.arn,
                    "message_id": message.message_id if message and is_named else None,
                    "receipt_handle": handle_token(call.handle) if call.handle and plan.calls == "all" else None,
                    "visibility_timeout_s": None if call.visibility_ms is None else call.visibility_ms // 1000,
                    "group_id": message.group_id if message and is_send else None,
                    "deduplication_id": message.deduplication_id if message and is_send else None,
                    "body_md5": message.body_md5 if message and is_send else None,
                    "request_id": f"call-{number}",
                    "actor": call.actor,
                    "error_code": "InvalidParameterValue" if call.is_refused else None,
                    "error_text": _REFUSED if call.is_refused else None,
                    "collected_at": at(self.end_ms),
                }
            )
        return rows

    def _logged_sends(self) -> Iterator[dict[str, Any]]:
        """What reading the producer's log by the world's settings gives; SQS's own sends in a redrive are not there."""
        producer = producer_of(self.world)
        for number, call in enumerate(self.world.queue.calls):
            message = call.message
            if call.operation != "SendMessage" or call.actor != "producer" or message is None:
                continue
            if message.message_id not in self.world.truth:  # sent when nobody looked any more
                continue
            key = self.world.truth[message.message_id].business_key
            yield {
                "evidence_id": evidence_id("send", self.world.seed, number),
                "account_id": ACCOUNT,
                "region": REGION,
                "event_id": f"{self.world.seed}-{number}",
                "place": 0,
                "called_at": at(call.at_ms),
                "operation": call.operation,
                "queue_arn": self.world.queue.arn,
                "message_id": message.message_id,
                "business_key": key,
                "producer_request_id": f"checkout-{key}",
                "log_group": producer.log_group,
                "log_stream": "shop",
                "line": f"sent {message.message_id} for {key} request=checkout-{key}",
                "pattern": pattern_of(producer),
                "collected_at": at(self.end_ms),
            }

    def _task_stops(self) -> list[dict[str, Any]]:
        worker = self.world.worker
        return [
            {
                "evidence_id": evidence_id("stop", self.world.seed, stream),
                "account_id": ACCOUNT,
                "region": REGION,
                "task_id": stream.rpartition("/")[2],
                "cluster": "jobs",
                "stopped_at": at(stopped_ms),
                "stop_code": "EssentialContainerExited",
                "stopped_reason": "Essential container in task exited",
                "container_reasons": ["app: exit code 137"],
                "collected_at": at(self.end_ms),
            }
            for stream, stopped_ms in (worker.stops if worker and self.world.plan.task_events else ())
            if stopped_ms < self.end_ms
        ]

    @property
    def guard_table(self) -> str:
        """The name of the table in which the guard records."""
        return f"w{self.world.seed:06d}-idempotency"

    def _guard_table_settings(self) -> list[dict[str, Any]]:
        if self.world.plan.guard_table in (None, "denied"):
            return []
        name = evidence_id("guardtable", self.guard_table)
        said = {"account_id": ACCOUNT, "region": REGION, "guard_table": self.guard_table}
        keys = {"partition_key": "id", "sort_key": None}
        deletes = self.world.plan.guard_table_forgets
        expiry = {"deletes_expired": deletes, "expiry_attribute": "expiration" if deletes else None}
        return [{"evidence_id": name, **said, **keys, **expiry, "observed_at": at(self.end_ms)}]

    def _guard_records(self) -> list[dict[str, Any]]:
        plan, guard, rng = self.world.plan, self.world.handler.guard, random.Random(f"table {self.world.seed}")
        rows = []
        for key, (status, expires_ms, locked_ms) in guard.table.items() if guard and plan.guard_table else ():
            is_deleted = plan.guard_table_forgets and expires_ms < self.end_ms and rng.random() < 0.5
            if plan.guard_table == "denied" or is_deleted or (plan.guard_table == "part" and rng.random() < 0.5):
                continue
            written = hashlib.md5(json.dumps(key).encode(), usedforsecurity=False).hexdigest()
            rows.append(
                {
                    "evidence_id": evidence_id("guard", self.guard_table, key, status, expires_ms),
                    "account_id": ACCOUNT,
                    "region": REGION,
                    "guard_table": self.guard_table,
                    "record_key": f"charges.app.charge#{written}",
                    "guarded_function": "charges.app.charge",
                    "record_status": status,
                    "expires_at": at(expires_ms // 1000 * 1000),
                    "locked_until_at": at(locked_ms),
                    "observed_at": at(self.end_ms),
                }
            )
        return rows

    def _metric_points(self) -> list[dict[str, Any]]:
        if not self.world.plan.metrics_kept:
            return []
        points: Counter[tuple[str, str, str, int]] = Counter()
        for known in self.world.truth.values():
            points["AWS/SQS", "NumberOfMessagesSent", known.queue, known.sent_ms // 60_000] += 1
            for delivery in known.deliveries:
                queue = self.world.dead_letters.name if delivery.is_dead else known.queue
                points["AWS/SQS", "NumberOfMessagesReceived", queue, delivery.received_ms // 60_000] += 1
                if delivery.outcome == "deleted" and delivery.ended_ms:
                    points["AWS/SQS", "NumberOfMessagesDeleted", queue, delivery.ended_ms // 60_000] += 1
        for minute, number in self.world.queue.empty_receives.items():
            points["AWS/SQS", "NumberOfEmptyReceives", self.world.queue.name, minute] += number
        for function in self.world.functions:
            for run in function.runs:
                minute = run.started_ms // 60_000
                points["AWS/Lambda", "Invocations", function.name, minute] += 1
                if run.status not in ("success", "running"):
                    points["AWS/Lambda", "Errors", function.name, minute] += 1
            for moment in function.throttles:
                points["AWS/Lambda", "Throttles", function.name, moment // 60_000] += 1
        for number, mapping in enumerate(self.world.mappings if self.world.plan.counts_events else []):
            counts = {
                "InvokedEventCount": mapping.invoked,
                "FailedInvokeEventCount": mapping.failed,
                "DeletedEventCount": mapping.accepted,
            }
            for metric, moments in counts.items():
                for moment, count in moments:
                    points["AWS/Lambda", metric, self._mapping_uuid(number), moment // 60_000] += count
        rows = []
        for (namespace, metric, resource, minute), value in sorted(points.items()):
            if not self.start_ms <= minute * 60_000 < self.end_ms:
                continue
            key = (namespace, metric, resource, "Sum", 60, minute, value)
            rows.append(
                {
                    "evidence_id": evidence_id("metric", *key),
                    "account_id": ACCOUNT,
                    "region": REGION,
                    "namespace": namespace,
                    "metric": metric,
                    "resource": resource,
                    "statistic": "Sum",
                    "period_s": 60,
                    "point_at": at(minute * 60_000),
                    "value": float(value),
                    "collected_at": at(self.end_ms),
                }
            )
        return rows

    def _coverage(self) -> list[dict[str, Any]]:
        rows = []
        for group in self.world.consumer_groups:
            windows = [(self.start_ms, self.end_ms, "ok")]
            if group == self.denied_group:
                windows = [(self.start_ms, self.end_ms, "denied")]
            elif self.gap:
                windows = [
                    (self.start_ms, self.gap[0], "ok"),
                    (*self.gap, "failed"),
                    (self.gap[1], self.end_ms, "ok"),
                ]
            for begin, end, status in windows:
                rows.append(self._coverage_row(group, begin, end, status))
        if read := self.world.plan.guard_table:
            status = {"whole": "ok", "part": "partial"}.get(read, read)
            rows.append(self._coverage_row(self.guard_table, self.end_ms, self.end_ms + 1, status, "guard_records"))
        if self.world.plan.calls in ("all", "hidden"):
            rows.append(self._coverage_row(self.world.queue.arn, self.start_ms, self.end_ms, "ok", "send_records"))
        if self.world.plan.calls == "producer":
            name = read_as(producer_of(self.world))
            rows.append(self._coverage_row(name, self.start_ms, self.end_ms, "ok", "send_records"))
        for function in self.world.functions if self.world.plan.metrics_kept else []:
            rows.append(self._coverage_row(function.name, self.start_ms, self.end_ms, "ok", "metric_points"))
        for number in range(len(self.world.mappings) if self.world.plan.counts_events else 0):
            uuid = self._mapping_uuid(number)
            rows.append(self._coverage_row(uuid, self.start_ms, self.end_ms, "ok", "metric_points"))
        return rows

    def _coverage_row(
        self, group: str, begin: int, end: int, status: str, source: str = "log_events"
    ) -> dict[str, Any]:
        stored = sum(line.group == group and begin <= line.at_ms < end for line in self.stored)
        detail = {"denied": "AccessDeniedException: not authorized to perform logs:FilterLogEvents"}.get(status)
        return {
            "evidence_id": evidence_id("coverage", source, group, begin, end, status, self.is_first_reading),
            "account_id": ACCOUNT,
            "region": REGION,
            "source": source,
            "resource": group,
            "queue_arn": self.world.queue.arn,
            "window_start_at": at(begin),
            "window_end_at": at(end),
            "status": status,
            "detail": detail or ("ServiceUnavailableException: try again" if status == "failed" else None),
            "detail_marked": None,
            "seen_count": stored,
            "stored_count": stored,
            "already_count": 0,
            "quarantined_count": 0,
            "is_provisional": self.is_provisional,
            "is_sealed": False,
            "collected_at": at(self._read_ms),
        }


def has_late_lines(plan: "Plan") -> bool:
    """Tell whether a world is read twice: at once, and when its late lines are there."""
    return plan.loss == "to_come"


def told_apart(runs: dict[str, set[tuple[str, str]]]) -> set[str]:
    """Return those of a message's handlings, in order, that their lines tell from the one before, each (stream, role).

    A worker's lines bear no id of the handling. Where only an opening line of one is left, another kind of opening line in
    the same stream reads as its going on; and so does a line that only mentions the message, whatever stood before, the
    message itself, printed where it was not before (some print it last), and an effect line alone after another, where no line
    ends what came before: some print it twice.
    """
    found: list[str] = []
    before: set[tuple[str, str]] = set()
    for run_id, lines in runs.items():
        is_one_stream = len({stream for stream, _ in before | lines}) == 1
        now, then = {role for _, role in lines}, {role for _, role in before}
        goes_on = then <= OPENERS and before.isdisjoint(lines)
        is_printed_late = "event" in now - then
        is_said_twice = now == {"effect"} and "effect" in then and then <= {"effect", *OPENERS}
        if found and is_one_stream and (goes_on or is_printed_late or is_said_twice or now == {"mention"}):
            before |= lines
        else:
            found.append(run_id)
            before = set(lines)
    return set(found)


def settings_text(world: "World") -> str:
    """Write what an honest team would say of this world in doubletake.toml."""
    plan, parts = world.plan, []
    exactly = world.seed % 2 == 0  # the others write what the documentation shows
    key, message = (f"(?P<{name}>{of if exactly else TO_BLANK})" for name, of in (("key", KEY), ("message_id", ID)))
    effect = {
        "both": f"payment_id={key} message_id={message}",
        "message": f"message_id={message}",
        "key": f"payment_id={key}",
        None: None,
    }[plan.effect_line]
    said = []
    if plan.exhaustive_declared:
        said.append("effect_is_exhaustive = true")
    if plan.started_declared:
        said.append(f"started = 'processing {message}'")
    if plan.own_words and (plan.heartbeat or plan.lets_go_after_s is not None):
        said.append(f"visibility_set = 'lease of {message} runs (?P<seconds>[0-9]+) s more'")
    if plan.guard == "line":
        said.append(
            f"guard = 'already processed {key}'"
            if world.functions
            else f"guard = 'already processed {key} message_id={message}'"
        )
    if plan.guard_table:
        said.append(f'guard_table = "{world.evidence.guard_table}"')
        parts.append(f'[[guard_table]]\nname = "{world.evidence.guard_table}"\nkeyed_by = "{plan.guard_key}"')
    if plan.order_declared:
        said.append(f'order = "{plan.order}"')
    if plan.idempotent_declared:
        said.append("idempotent = false")

    def effect_of(verb: str) -> list[str]:
        return [f"effect = '{verb} {effect}'"] if effect and plan.effect_declared else []

    for function in world.functions:
        parts.append("\n".join(["[[function]]", f'name = "{function.name}"', *effect_of(function.verb), *said]))
    if world.worker:
        kind = "laravel" if plan.consumer == "laravel" else "lines"
        head = [
            "[[worker]]",
            f'log_group = "{world.worker.log_group}"',
            f'queue = "{world.queue.name}"',
            f'format = "{kind}"',
        ]
        if plan.says_deleted:
            head.append(f"deleted = 'removed {message}'")
        parts.append("\n".join([*head, *effect_of("charged"), *said]))
    if plan.calls == "producer":
        producer = producer_of(world)
        head = (
            f'[[producer]]\nlog_group = "{producer.log_group}"\nqueue = "{producer.queue}"\nsent_is_exhaustive = true'
        )
        parts.append(f"{head}\nsent = '{producer.sent}'")
    if plan.business_key_declared:
        parts.append(f'[[queue]]\nname = "{world.queue.name}"\nbusiness_key = "$.payment_id"')
    return "\n\n".join(parts) + "\n"


def producer_of(world: "World") -> Producer:
    """Return how the world's producer logs its sends, each with its message, payment and request."""
    sent = r"sent (?P<message_id>[0-9a-f-]+) for (?P<key>\S+) request=(?P<request_id>\S+)"
    return Producer(f"/ecs/w{world.seed:06d}-shop", world.queue.name, sent, sent_is_exhaustive=True)
