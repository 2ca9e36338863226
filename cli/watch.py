"""The command that goes on and on: watch collects and correlates again and again, with one Spark, until it is stopped."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import complete
from cli.dashboard import ending_on_sigterm
from cli.ledger import count
from cli.options import Everywhere, LogGroupOption, MasterOption, QueueNotNamedError, accesses
from cli.output import say, warn
from cli.said import in_words
from cli.watching import Watch, WatchRun, must_judge
from cli.webhook import tell, webhook_of
from forensics.errors import EXIT_OK, ForensicsError
from forensics.printable import printable
from forensics.sentence import said

if TYPE_CHECKING:
    from forensics.lake import Lake
    from forensics.settings import Settings
    from ingest.clients import Aws
    from ingest.collect import CollectReport

DEFAULT_INTERVAL = "1m"
SHORTEST_S, LONGEST_S = 5, 86_400


class BadIntervalError(ForensicsError):
    """The interval makes no sense."""


def watch(
    chosen: Everywhere,
    queues: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUEUE", autocompletion=complete.queues, help="The queues' names, URLs or ARNs."),
    ] = None,
    queue: Annotated[
        list[str] | None,
        typer.Option("--queue", metavar="NAME", autocompletion=complete.queues, help="The same as QUEUE; repeatable."),
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
        int | None, typer.Option("--runs", min=1, metavar="N", help="End after so many runs. [default: never]")
    ] = None,
) -> int:
    """Collect and correlate again and again, one line per run; Ctrl-C or SIGTERM ends it."""
    queues = [*(queues or []), *(queue or [])]
    if bool(queues) == all_queues:
        raise QueueNotNamedError(
            "give queues or --all-queues, not both" if queues else "no queue was named",
            "For example: doubletake watch payments.fifo --interval 1m",
        )
    interval_s = _span_s(interval, "--interval")
    _span_s(since, "--since")
    if notify:
        webhook_of(chosen.settings())  # what is missing is said now, not at the first incident
    stop = threading.Event()
    work = _Work(chosen, queues or None, since, log_group or [], master, notify)
    watching = Watch(work.one_run, interval_s, stop.wait, _print, most_runs=runs)
    with ending_on_sigterm():
        try:
            watching.run()
        except KeyboardInterrupt:
            say("stopped after {runs} runs; the lake holds what was read, whole.", runs=watching.runs)
        finally:
            count(runs=watching.runs)
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
        raise BadIntervalError(
            said("{option} {text} is not a span", option=option, text=repr(text)), "Write it like 30s, 5m or 6h."
        ) from problem
    if option == "--interval" and not SHORTEST_S <= round(span_s) <= LONGEST_S:
        raise BadIntervalError(
            said("--interval {text} is not between 5 seconds and a day", text=repr(text)), "Try --interval 1m."
        )
    return span_s


MOST_BACK = timedelta(days=7)
"""So far a run goes back at most for what runs before it could not read."""


@dataclass
class _Work:
    """What every run does, and what stays warm between runs: the AWS clients and Spark."""

    chosen: Everywhere
    queues: Sequence[str] | None
    since: str
    log_groups: list[str]
    master: str | None
    notify: bool = False
    _aws: "list[Aws] | None" = None
    _read_until: datetime | None = None
    """The end of the last window of which no source failed; what is denied or gone is not waited for."""
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
        from spark_jobs.context import end_spark

        end_spark()

    def _collect(self, lake: "Lake", settings: "Settings", now: datetime) -> "CollectReport":
        from forensics.window import TimeWindow
        from ingest.collect import collect

        if self._aws is None:
            self._aws = accesses(self.chosen, settings)
        window = TimeWindow.parse(self.since, None, now)
        if self._read_until and self._read_until < window.start_at:  # asleep, or cut off, for longer than --since
            window = TimeWindow(max(self._read_until, now - MOST_BACK), window.end_at)
        queues = None if self.queues is None else list(self.queues)
        try:
            report = collect(lake, self._aws, queues, window, self.log_groups, settings, now=now)
        except ForensicsError:
            self._aws = None  # credentials and endpoints may be others the next time
            raise
        if not any(reading.status == "failed" for reading in report.readings):
            self._read_until = window.end_at
        return report

    def _read_settings(self) -> "Settings":
        """Read the settings file again; one that is being edited, and wrong, is taken as it was."""
        try:
            self._settings = self.chosen.settings()
        except ForensicsError as problem:
            if self._settings is None:
                raise
            warn("doubletake: {problem}; the settings stay as they were", problem=in_words(problem.sentence))
        return self._settings

    def _spark(self) -> Any:
        from spark_jobs.context import spark_context

        return spark_context(self.master, say)


def _tell(lake: "Lake", settings: "Settings") -> int:
    """Tell the webhook what it has not had; what it does not take is one line, and is due again in the next run."""
    count = 0
    try:
        findings, webhook = lake.findings(), webhook_of(settings)
        for _ in tell(findings, webhook, webhook.due(findings)):
            count += 1
    except ForensicsError as problem:
        warn("doubletake: {problem} {hint}", problem=in_words(problem.sentence), hint=in_words(problem.hint))
    return count


def _incidents(lake: "Lake") -> tuple[tuple[str, str], ...]:
    from forensics.errors import LakeMissingError
    from forensics.lake.rows import plain_rows
    from forensics.tables.findings import INCIDENTS

    try:
        rows = plain_rows(lake.findings().read(INCIDENTS, ["incident_id", "headline", "started_at"]))
    except LakeMissingError:
        return ()
    rows.sort(key=lambda row: (row["started_at"], row["incident_id"]), reverse=True)
    return tuple((row["incident_id"], row["headline"] or "") for row in rows)
