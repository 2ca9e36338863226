"""The command that goes on and on: watch collects and correlates again and again, with one Spark session, until it is stopped."""

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.notify import tell, webhook_of
from cli.options import Everywhere, accesses
from cli.output import about_file, printable, say
from cli.serve import ending_on_sigterm
from cli.work import LogGroupOption, MasterOption, QueueNotNamedError
from forensics.errors import EXIT_OK, EXIT_USAGE, ForensicsError

if TYPE_CHECKING:
    from forensics.lake import Generation, Lake
    from forensics.settings import Settings
    from ingest.clients import Aws
    from ingest.collect import CollectReport

DEFAULT_INTERVAL = "1m"
SHORTEST_S, LONGEST_S = 5, 86_400
LONGEST_BACK_OFF_S = 900.0
"""A run that failed is tried again after ever longer waits, up to this."""
SLOW_TABLES = frozenset({"coverage", "metric_points", "quarantine"})
"""Evidence that grows in every run, on a quiet queue too: it is judged, but not every minute."""
SLOW_EVERY = timedelta(minutes=10)


class BadIntervalError(ForensicsError):
    """The interval makes no sense."""


@dataclass
class WatchRun:
    """What one run did: what is new, and how things stand. Times are UTC."""

    stored_count: int = 0
    gap_count: int = 0
    generation: "Generation | None" = None
    is_new: bool = False
    incidents: tuple[tuple[str, str], ...] = ()
    """Incident id and headline, newest first."""
    told_count: int = 0
    """Notices that the webhook took."""


@dataclass
class Watch:
    """Runs at an interval, with longer waits after failures. ``wait`` returns true when it is time to end.

    ``one_run`` does the work and raises ForensicsError or OSError where it cannot; what is wrong in the very first run
    and only a person can mend ends the watch.
    """  # noqa: D205

    one_run: Callable[[datetime], WatchRun]
    interval_s: float
    wait: Callable[[float], bool]
    tell: Callable[[str], None]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    clock: Callable[[], float] = time.monotonic
    most_runs: int | None = None
    _known: set[str] | None = None
    _failures: int = 0
    runs: int = field(default=0)

    def run(self) -> int:
        """Run again and again until it is time to end; returns how often."""
        while True:
            began_at, began = self.now(), self.clock()
            try:
                done = self.one_run(began_at)
            except ForensicsError as problem:
                if self.runs == 0 and problem.exit_code == EXIT_USAGE:
                    raise
                pause_s = self._failed(began_at, f"{problem} {problem.hint}")
            except OSError as problem:
                if self.runs == 0:
                    raise
                pause_s = self._failed(began_at, f"{about_file(problem)}.")
            else:
                self._failures = 0
                took_s = self.clock() - began
                self.tell(self._line(began_at, done, took_s))
                pause_s = max(0.0, self.interval_s - took_s)
            self.runs += 1
            if self.runs == self.most_runs or self.wait(pause_s):
                return self.runs

    def _failed(self, began_at: datetime, said: str) -> float:
        """Tell that a run failed; returns the seconds to wait before the next."""
        pause_s = self._back_off()
        self.tell(f"{_clock(began_at)}  {said} Trying again in {pause_s:.0f} s.")
        return pause_s

    def _back_off(self) -> float:
        """Return a wait that doubles with each failure in a row, with some chance in it: others may be waiting, too."""
        self._failures += 1
        longest = min(self.interval_s * 2**self._failures, max(LONGEST_BACK_OFF_S, self.interval_s))
        return longest * random.uniform(0.75, 1.0)  # noqa: S311 (not a secret)

    def _line(self, began_at: datetime, done: WatchRun, took_s: float) -> str:
        from forensics.report.words import count_text

        new = [(i, h) for i, h in done.incidents if self._known is not None and i not in self._known]
        self._known = {i for i, _ in done.incidents}
        parts = [f"{count_text(done.stored_count, 'new log event')}"]
        if done.gap_count:
            parts.append(f"{count_text(done.gap_count, 'source')} not readable")
        if done.generation is not None:
            parts.append(count_text(len(done.incidents), "incident"))
            version = f"data version {done.generation.data_version}"
            parts.append(version if done.is_new else f"{version} as before")
            if done.generation.data_until_at:
                parts.append(f"evidence until {_clock(done.generation.data_until_at)}")
        if done.told_count:
            parts.append(f"{count_text(done.told_count, 'notice')} sent")
        line = f"{_clock(began_at)}  {', '.join(parts)}; {took_s:.1f} s."
        return "  ".join([line, *(f"NEW {incident_id}: {headline}" for incident_id, headline in new)])


def _clock(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def must_judge(
    before: Mapping[str, int] | None, versions: Mapping[str, int], judged_at: datetime | None, now: datetime
) -> bool:
    """Tell whether there is evidence that is worth a correlation now; ``before`` are the versions judged last."""
    changed = {name for name, version in versions.items() if before is None or before.get(name) != version}
    return bool(changed - SLOW_TABLES) or bool(changed) and (judged_at is None or now - judged_at >= SLOW_EVERY)


def watch(
    chosen: Everywhere,
    queues: Annotated[
        list[str] | None, typer.Argument(metavar="QUEUE...", help="The queues' names, URLs or ARNs.")
    ] = None,
    all_queues: Annotated[
        bool, typer.Option("--all-queues", help="Every queue of the region, or of all regions the settings name.")
    ] = False,
    interval: Annotated[
        str, typer.Option("--interval", metavar="SPAN", help="From the start of one run to the next: 30s, 5m.")
    ] = DEFAULT_INTERVAL,
    since: Annotated[
        str, typer.Option("--since", metavar="SPAN", help="How far back each run looks for what was not read yet.")
    ] = "6h",
    log_group: LogGroupOption = None,
    master: MasterOption = None,
    notify: Annotated[
        bool,
        typer.Option("--notify", help="After each run tell the webhook of [notify] what it has not heard of yet."),
    ] = False,
    runs: Annotated[
        int | None, typer.Option("--runs", min=1, metavar="N", help="End after so many runs; never if not said.")
    ] = None,
) -> int:
    """Collect and correlate again and again, one line per run; Ctrl-C or SIGTERM ends it."""
    if bool(queues) == all_queues:
        raise QueueNotNamedError(
            "give queues or --all-queues, not both" if queues else "no queue was named",
            "For example: doubletake watch payments.fifo --interval 1m",
        )
    interval_s = _span_s(interval, "--interval")
    _span_s(since, "--since")
    if notify:
        webhook_of(chosen.settings().notify)  # what is missing is said now, not at the first incident
    stop = threading.Event()
    work = _Work(chosen, queues or None, since, log_group or [], master, notify)
    watching = Watch(work.one_run, interval_s, stop.wait, _print, most_runs=runs)
    with ending_on_sigterm():
        try:
            watching.run()
        except KeyboardInterrupt:
            say(f"stopped after {watching.runs} runs; the lake holds what was read, whole.")
        finally:
            work.end()
    return EXIT_OK


def _print(line: str) -> None:
    print(printable(line), flush=True)


def _span_s(text: str, option: str) -> float:
    from forensics.window import TimeWindow

    now = datetime.now(UTC)
    try:
        span_s = (now - TimeWindow.parse(text, None, now).start_at).total_seconds()
    except ForensicsError as problem:
        raise BadIntervalError(f"{option} {text!r} is not a span", "Write it like 30s, 5m or 6h.") from problem
    if option == "--interval" and not SHORTEST_S <= round(span_s) <= LONGEST_S:
        raise BadIntervalError(f"--interval {text!r} is not between 5 seconds and a day", "Try --interval 1m.")
    return span_s


@dataclass
class _Work:
    """What every run does, and what stays warm between runs: the AWS clients and the Spark session."""

    chosen: Everywhere
    queues: Sequence[str] | None
    since: str
    log_groups: list[str]
    master: str | None
    notify: bool = False
    _aws: "list[Aws] | None" = None
    _settings: "Settings | None" = None
    _judged: Mapping[str, int] | None = None
    _judged_at: datetime | None = None
    _judged_settings: "Settings | None" = None

    def one_run(self, now: datetime) -> WatchRun:
        """Collect what is new, and correlate if it is worth it."""
        settings = self._read_settings()
        lake = self.chosen.open_lake()
        report = self._collect(lake, settings, now)
        done = WatchRun(report.stored_count, len(report.gaps), lake.generation())
        versions = lake.data_versions()
        if must_judge(self._judged, versions, self._judged_at, now) or settings != self._judged_settings:
            from cli.progress import steps
            from spark_jobs.runner import correlate

            with steps(says_steps=False) as progress:
                generation = correlate(lake, settings, self.master, progress=progress, spark=self._spark())
            done.is_new = done.generation is None or generation.generation_id != done.generation.generation_id
            done.generation = generation
            self._judged, self._judged_at, self._judged_settings = versions, now, settings
        done.incidents = _incidents(lake)
        if self.notify and done.generation is not None:
            done.told_count = _tell(lake, settings)
        return done

    def end(self) -> None:
        """Stop Spark and its Java process."""
        from spark_jobs.session import end_session

        end_session()

    def _collect(self, lake: "Lake", settings: "Settings", now: datetime) -> "CollectReport":
        from forensics.window import TimeWindow
        from ingest.collect import collect

        if self._aws is None:
            self._aws = accesses(self.chosen, settings)
        window = TimeWindow.parse(self.since, None, now)
        queues = None if self.queues is None else list(self.queues)
        try:
            return collect(lake, self._aws, queues, window, self.log_groups, settings, now=now)
        except ForensicsError:
            self._aws = None  # credentials and endpoints may be others the next time
            raise

    def _read_settings(self) -> "Settings":
        """Read the settings file again; one that is being edited, and wrong, is taken as it was."""
        try:
            self._settings = self.chosen.settings()
        except ForensicsError as problem:
            if self._settings is None:
                raise
            say(f"doubletake: {problem}; the settings stay as they were")
        return self._settings

    def _spark(self) -> Any:
        from spark_jobs.session import spark_session

        return spark_session(self.master, say)


def _tell(lake: "Lake", settings: "Settings") -> int:
    """Tell the webhook what it has not had; what it does not take is one line, and is due again in the next run."""
    count = 0
    try:
        findings, webhook = lake.findings(), webhook_of(settings.notify)
        for _ in tell(findings, webhook, webhook.due(findings)):
            count += 1
    except ForensicsError as problem:
        say(f"doubletake: {problem} {problem.hint}")
    return count


def _incidents(lake: "Lake") -> tuple[tuple[str, str], ...]:
    from forensics.errors import LakeMissingError
    from forensics.tables.findings import INCIDENTS

    try:
        rows = lake.findings().read(INCIDENTS, ["incident_id", "headline", "started_at"]).to_pylist()
    except LakeMissingError:
        return ()
    rows.sort(key=lambda row: (row["started_at"], row["incident_id"]), reverse=True)
    return tuple((row["incident_id"], row["headline"] or "") for row in rows)
