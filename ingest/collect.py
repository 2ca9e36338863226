"""Collect: one window of evidence for some queues, from AWS into the lake."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Protocol

from forensics.coverage import SETTLING
from forensics.lake import Lake
from forensics.lake.handle_mark import hold_to_key
from forensics.parsers.sends import read_as
from forensics.privacy import redacting
from forensics.sentence import said
from forensics.settings import Producer, Settings
from forensics.tables import EVIDENCE
from forensics.window import CHANGES_REACH, FUTURE_STAMPS, TimeWindow
from ingest import guard_tables, log_events, metrics, producers, setting_changes, setting_history
from ingest.clients import Aws
from ingest.collect_report import CollectReport
from ingest.consumers import Consumer, of_estate
from ingest.coverage import Book, Reading
from ingest.discovery import Estate, discover
from ingest.log_events import LogGroup
from ingest.log_groups import INFREQUENT_ACCESS
from ingest.rereading import REACH, joined, pieces
from ingest.store_settings import store_log_groups, store_settings

METRIC_RUNGS = (timedelta(minutes=15), timedelta(hours=2))
"""Ages at which metrics are read again: CloudWatch revises the last minutes."""
TRAIL_SETTLING = timedelta(minutes=15)
"""CloudTrail shows a call 5 to 15 minutes later."""
TRAIL_EVERY = timedelta(minutes=10)
"""CloudTrail takes two look-ups a second and one event name a look-up: it is not asked in every run of a watch."""

TABLES_EVERY = timedelta(minutes=10)
"""Reading an idempotency table takes from the capacity of the handlers that ask it: it is not read in every run of a watch."""

__all__ = ["CollectReport", "Progress", "collect"]


class Progress(Protocol):
    """Hears how a collection gets on."""

    def stage(self, name: str) -> None:
        """Say what is read from now on, in words."""

    def events(self, seen_count: int) -> None:
        """Say how many log events have been seen so far, over all log groups."""


def collect(
    lake: Lake,
    aws: Aws | Sequence[Aws],
    queues: list[str] | None,
    window: TimeWindow,
    log_groups: Sequence[str] = (),
    settings: Settings | None = None,
    progress: Progress | None = None,
    now: datetime | None = None,
    again: bool = False,
    seal: bool = False,
) -> CollectReport:
    """Read one window of evidence for queues (names, URLs or ARNs; None: all of the region) into the lake.

    Their dead-letter queues, mappings, functions and log groups are found, in every account and region of ``aws``;
    ``log_groups`` (``GROUP[=QUEUE]``) and the workers of the settings add others. A source that cannot be read becomes
    a gap and hides no other. What was read before and has settled is not read again, unless ``again`` or ``seal`` asks
    for the whole window; ``seal`` also stamps it. A second run of the same window adds nothing.

    Raises, with nothing written: QueueUnknownError, CredentialsError, EndpointUnreachableError, LakeBusyError,
    LakeTooNewError.
    Raises ConservationError if a log event was lost on the way.
    """
    now = now or datetime.now(UTC)
    progress = progress or _Silence()
    lake.versions()  # a lake that this release cannot read is said before AWS is asked
    settings = settings or Settings()
    accesses = [aws] if isinstance(aws, Aws) else list(aws)
    estate = discover(lake, accesses, queues, progress.stage)
    consumers = of_estate(estate, list(log_groups), settings)
    with redacting(settings) as rules, lake.writing("collect"):
        hold_to_key(lake.root, rules.handle_key, settings.handle_key_file)
        reach = TimeWindow(min(window.start_at - CHANGES_REACH, now - REACH), window.end_at)
        with Book(lake, reach) as book:
            run = _Run(lake, book, window, now, again or seal, seal, progress)
            run.note(store_settings(lake, estate, consumers, now))
            run.read_setting_changes(estate)
            run.read_setting_history(estate)
            run.read_metrics(estate)
            run.read_guard_tables(guard_tables.places(consumers, settings))
            groups, about_groups = store_log_groups(lake, _log_groups(consumers), now)
            run.note(about_groups)
            for group in groups:
                run.read_log_group(group)
            for group, producer in producers.of_estate(estate, settings):
                run.read_log_group(group, producer)
        for table in EVIDENCE:
            lake.compact(table)
    return CollectReport(
        window,
        tuple(ref.name for ref in estate.queues[: estate.asked_count]),
        tuple(ref.name for ref in estate.queues[estate.asked_count :]),
        tuple(dict.fromkeys(row["function_name"] for row in estate.mapping_rows)),
        tuple(group.name for group in groups),
        tuple(run.readings),
        _notes(estate, consumers, groups),
        tuple(run.settled),
    )


class _Run:
    """One collection at work: reads source after source, and records each once it is in the lake."""

    def __init__(
        self, lake: Lake, book: Book, window: TimeWindow, now: datetime, again: bool, seal: bool, progress: Progress
    ) -> None:
        self.lake, self.book, self.window, self.now = lake, book, window, now
        self.again, self.seal, self.progress = again, seal, progress
        self.readings: list[Reading] = []
        self.settled: list[str] = []

    def note(self, readings: list[Reading], window: TimeWindow | None = None) -> None:
        """Record readings of a window (None: the whole one); it comes after what they stored."""
        self.book.record(readings, window or self.window, self.now, self.seal)
        self.readings += readings

    def read_setting_changes(self, estate: Estate) -> None:
        """Read CloudTrail once per account and region, from so long before that what changed before can be told."""
        self.progress.stage("setting changes")
        places = {(ref.account_id, ref.region): ref.aws for ref in reversed(estate.queues)}
        oldest = self.now - setting_changes.KEPT_FOR
        if self.window.end_at <= oldest:
            return
        window = TimeWindow(max(self.window.start_at - CHANGES_REACH, oldest), self.window.end_at)
        table = setting_changes.SETTING_CHANGES
        for (account_id, region), aws in sorted(places.items(), key=lambda place: place[0]):
            where = (table, setting_changes.RESOURCE, account_id, region, ())
            parts = [window]
            if not self.again:
                parts = self.book.due(*where, window, self.now, rungs=(TRAIL_SETTLING,), settling=TRAIL_SETTLING)
            span = sum((part.end_at - part.start_at for part in parts), timedelta())
            if parts and (parts[0] == window or span >= TRAIL_SETTLING + TRAIL_EVERY):
                whole = TimeWindow(parts[0].start_at, parts[-1].end_at)
                reading = setting_changes.ingest(self.lake, aws, account_id, region, whole, self.now)
                self.note([reading], whole)

    def read_setting_history(self, estate: Estate) -> None:
        """Read what set the settings that nothing vouches for when the window begins, as far back as CloudTrail tells."""
        reach_at = max(self.window.start_at - CHANGES_REACH, self.now - setting_changes.KEPT_FOR)
        reach = TimeWindow(self.now - setting_changes.KEPT_FOR, reach_at)
        denied = {r.region for r in self.readings if r.source is setting_changes.SETTING_CHANGES and r.status != "ok"}
        if reach.start_at >= reach.end_at or not (
            missing := setting_history.wanted(self.lake, estate, self.window.start_at)
        ):
            return
        self.progress.stage("settings before the window")
        self.book.flush()  # what was read of the changes just now is not looked up again
        places = {(ref.account_id, ref.region): ref.aws for ref in reversed(estate.queues) if ref.region not in denied}
        for (account_id, region), aws in sorted(places.items(), key=lambda place: place[0]):
            for reading, span in setting_history.ingest(self.lake, aws, account_id, region, reach, missing, self.now):
                self.note([reading], span)

    def read_metrics(self, estate: Estate) -> None:
        """Read the metrics of everything in a region together: a call takes 500."""
        self.progress.stage("metrics")
        wanted = sorted(metrics.of_estate(estate), key=lambda m: (m.region, m.account_id))
        for _, of_region in groupby(wanted, key=lambda m: (m.region, id(m.aws))):
            mine = list(of_region)
            parts = [self.window]
            if not self.again:
                asked = (
                    self.book.due(
                        metrics.METRIC_POINTS,
                        m.resource,
                        m.account_id,
                        m.region,
                        m.queue_arns,
                        self.window,
                        self.now,
                        rungs=METRIC_RUNGS,
                    )
                    for m in mine
                )
                parts = joined(part for of_one in asked for part in of_one)
            for part in parts:
                self.note(metrics.ingest(self.lake, mine, part, self.now), part)

    def read_guard_tables(self, places: Sequence[guard_tables.Place]) -> None:
        """Read the idempotency tables that the settings name, as they are now."""
        due = [place for place in places if self.again or not self._was_just_read(place)]
        if due:
            self.progress.stage("idempotency tables")
        for place in due:
            moment = TimeWindow(self.now, self.now + timedelta(milliseconds=1))
            self.note(guard_tables.ingest(self.lake, place, self.now), moment)

    def _was_just_read(self, place: guard_tables.Place) -> bool:
        where = (guard_tables.GUARD_RECORDS, place.table.name, place.account_id, place.region, place.queue_arns)
        read_at = self.book.read_at(*where)
        return read_at is not None and read_at > self.now - TABLES_EVERY

    def read_log_group(self, group: LogGroup, producer: Producer | None = None) -> None:
        """Read what is due of a log group, a day at most at a time, and at an open end what is stamped ahead of time.

        Of a ``producer`` only the sends are kept.
        """
        self.progress.stage(
            said("sends in log group {name}", name=group.name)
            if producer
            else said("log group {name}", name=group.name)
        )
        read = partial(producers.ingest, producer=producer) if producer else log_events.ingest
        table, name = (producers.SEND_RECORDS, read_as(producer)) if producer else (log_events.LOG_EVENTS, group.name)
        where = (table, name, group.account_id, group.region, group.queue_arns)
        parts = [self.window] if self.again else self.book.due(*where, self.window, self.now)
        is_open = self.window.end_at >= self.now - SETTLING
        reach_at = self.now - REACH
        if is_open and not self.again and reach_at < self.window.start_at:
            before = TimeWindow(reach_at, self.window.start_at)
            parts = joined([*self.book.due(*where, before, self.now, only_known=True), *parts])
        if not parts:
            self.settled.append(name)
        for part in (piece for whole in parts for piece in pieces(whole)):
            reach = part
            if is_open and part.end_at == self.window.end_at:
                reach = TimeWindow(part.start_at, max(part.end_at, self.now + FUTURE_STAMPS))
            so_far = sum(r.seen_count for r in self.readings if r.source is log_events.LOG_EVENTS)
            reading = read(
                self.lake, group, window=reach, collected_at=self.now, progress=_since(self.progress, so_far)
            )
            self.note([reading], part)
            if reading.status in ("denied", "gone", "unsupported"):  # the rest would be refused as well
                if part.end_at < parts[-1].end_at:
                    refused = replace(reading, seen_count=0, stored_count=0, already_count=0, quarantined_count=0)
                    self.note([refused], TimeWindow(part.end_at, parts[-1].end_at))
                return


def _log_groups(consumers: list[Consumer]) -> list[LogGroup]:
    """Return each log group once, however many functions and queues it serves."""
    found: dict[tuple[str, str, str], list[Consumer]] = {}
    for consumer in consumers:
        account_id = consumer.function_arn.split(":")[4] if consumer.function_arn else consumer.queue.account_id
        found.setdefault((account_id, consumer.queue.region, consumer.log_group), []).append(consumer)
    return [
        LogGroup(name, account_id, region, tuple(sorted({c.queue.arn for c in mine})), mine[0].queue.aws)
        for (account_id, region, name), mine in found.items()
    ]


def _notes(estate: Estate, consumers: list[Consumer], groups: list[LogGroup]) -> tuple[str, ...]:
    consumed = {consumer.queue.arn for consumer in consumers}
    asked = estate.queues[: estate.asked_count]
    known = {ref.arn for ref in estate.queues}
    notes = [
        said(
            "queue {queue} takes the dead letters of {other}: add --queue {name} to read its consumers",
            queue=repr(ref.name),
            other=repr(source.name),
            name=source.name,
        )
        for ref in asked
        for source in estate.sources_of.get(ref.arn, ())
        if source.arn not in known
    ]
    notes += [
        said(
            "queue {queue} has no event source mapping: name its workers' logs with --log-group GROUP={name}",
            queue=repr(ref.name),
            name=ref.name,
        )
        for ref in asked
        if ref.arn not in consumed and ref.arn not in estate.dead_letter_queues
    ]
    notes += [
        said(
            "log group {group} is of the infrequent-access class: read with Logs Insights, which AWS bills by bytes",
            group=repr(group.name),
        )
        for group in groups
        if group.log_class == INFREQUENT_ACCESS
    ]
    return tuple(notes)


def _since(progress: Progress, before_count: int) -> Callable[[int], None]:
    return lambda so_far_count: progress.events(before_count + so_far_count)


@dataclass(frozen=True)
class _Silence:
    def stage(self, name: str) -> None:
        pass

    def events(self, seen_count: int) -> None:
        pass
