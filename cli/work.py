"""Commands that fill the lake: collect, correlate, investigate."""

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import Everywhere, accesses
from cli.output import printable, say
from forensics.errors import ForensicsError

if TYPE_CHECKING:
    from forensics.lake import Findings, Generation
    from forensics.window import TimeWindow
    from ingest.collect import CollectReport

SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="Start: a span back from now (90m, 6h, 2d) or a time with a zone."),
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="WHEN", help="End, written like --since; now if not said.")
]
LogGroupOption = Annotated[
    list[str] | None,
    typer.Option(
        "--log-group", metavar="GROUP[=QUEUE]", help="A worker's log group, and the queue it consumes; repeatable."
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="URL", help="A Spark cluster, e.g. spark://host:7077; inside this process if not said."
    ),
]
DASHBOARD = "http://127.0.0.1:8501"


class QueueNotNamedError(ForensicsError):
    """The command line does not say which queues, or says it twice."""


def collect(
    chosen: Everywhere,
    more: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Further queues: --queue NAME NAME ...")
    ] = None,
    queue: Annotated[
        list[str] | None, typer.Option("--queue", metavar="NAME", help="A queue's name, URL or ARN; repeatable.")
    ] = None,
    all_queues: Annotated[
        bool, typer.Option("--all-queues", help="Every queue of the region, or of all regions the settings name.")
    ] = False,
    since: SinceOption = "6h",
    until: UntilOption = None,
    log_group: LogGroupOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many calls, seconds and bytes it would take.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Read the whole window again, also what was read before and has settled.")
    ] = False,
) -> int:
    """Read evidence from AWS into the lake; looking changes nothing in the account."""
    queues = [*(queue or []), *(more or [])]
    if bool(queues) == all_queues:
        raise QueueNotNamedError(
            "give --queue NAME or --all-queues, not both" if queues else "no queue was named",
            "For example: doubletake collect --queue payments.fifo --since 6h",
        )
    from forensics.window import TimeWindow

    window = TimeWindow.parse(since, until, datetime.now(UTC))
    if dry_run:
        from cli.estimate import tell_estimate

        return tell_estimate(chosen, queues or None, window, log_group or [])
    return _collect(chosen, queues or None, window, log_group or [], again).exit_code


def correlate(
    chosen: Everywhere,
    since: SinceOption = None,
    master: MasterOption = None,
    anew: Annotated[bool, typer.Option("--anew", help="Make everything anew: use nothing of the cache.")] = False,
) -> None:
    """Turn the evidence in the lake into findings (Spark)."""
    _correlate(chosen, since, master, anew)


def investigate(
    chosen: Everywhere,
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="The queue's name, URL or ARN.")],
    since: SinceOption = "6h",
    until: UntilOption = None,
    log_group: LogGroupOption = None,
    master: MasterOption = None,
) -> int:
    """Collect, correlate, and print the verdict and where its timeline is."""
    from forensics.window import TimeWindow

    window = TimeWindow.parse(since, until, datetime.now(UTC))
    report = _collect(chosen, [queue], window, log_group or [])
    _correlate(chosen, None, master)
    print_verdict(
        chosen.open_lake().findings(), report.queues, window, chosen_lake=Path(chosen.lake) if chosen.lake else None
    )
    from forensics.report.freshness import freshness

    print(freshness(chosen.open_lake(), report.log_groups, window, report.stored_count, datetime.now(UTC)))
    return report.exit_code


def _collect(
    chosen: Everywhere, queues: list[str] | None, window: "TimeWindow", log_groups: list[str], again: bool = False
) -> "CollectReport":
    from cli.progress import collecting
    from ingest.collect import collect as collect_evidence

    settings = chosen.settings()
    aws = accesses(chosen, settings)
    with collecting() as progress:
        report = collect_evidence(chosen.open_lake(), aws, queues, window, log_groups, settings, progress, again=again)
    for line in collected(report):
        say(line)
    return report


def collected(report: "CollectReport") -> Iterator[str]:
    """Yield what a collection read, and what it lacks, in words."""
    from forensics.report.words import clock_text, count_text

    queues = [*report.queues, *(f"{q} (its dead-letter queue)" for q in report.dead_letter_queues)]
    yield f"Read {', '.join(queues)} from {clock_text(report.window.start_at)} to {clock_text(report.window.end_at)} UTC:"
    yield (
        f"  {count_text(report.seen_count, 'log event')} of {count_text(len(report.log_groups), 'log group')}, "
        f"{report.stored_count:,} of them new; {count_text(report.points_stored_count, 'new metric point')}."
    )
    if report.settled:
        yield f"  {count_text(len(report.settled), 'log group')} had been read before and settled: nothing to read again."
    if report.quarantined_count:
        yield f"  {count_text(report.quarantined_count, 'log event')} could not be kept as they were: see quarantine."
    for gap in report.gaps:
        yield f"  Gap: {gap}"
    for note in report.notes:
        yield f"  Note: {note}"


def _correlate(chosen: Everywhere, since: str | None, master: str | None, anew: bool = False) -> "Generation":
    from cli.progress import steps
    from forensics.window import TimeWindow
    from spark_jobs.runner import correlate as correlate_evidence

    lake = chosen.open_lake()
    lake.check()
    start_at = TimeWindow.parse(since, None, datetime.now(UTC)).start_at if since else None
    with steps() as progress:
        generation = correlate_evidence(
            lake, chosen.settings(), master=master, since=start_at, progress=progress, force=anew
        )
    counts = generation.row_counts
    say(
        f"Correlated: {counts.get('deliveries', 0):,} deliveries, {counts.get('messages', 0):,} messages with a verdict, "
        f"{counts.get('incidents', 0):,} incidents; data version {generation.data_version}."
    )
    return generation


def print_verdict(
    findings: "Findings",
    queues: tuple[str, ...],
    window: "TimeWindow",
    dashboard: str | None = None,
    chosen_lake: Path | None = None,
) -> None:
    """Print the verdict on some queues in a window, newest incident first, and where to look further."""
    from forensics.lake.filters import one_of
    from forensics.report import load_case, verdict_text
    from forensics.tables.findings import INCIDENTS

    rows = [
        r
        for r in findings.read(INCIDENTS, where=one_of("queue", queues)).to_pylist()
        if r["started_at"] and r["started_at"] < window.end_at and (r["ended_at"] or r["started_at"]) >= window.start_at
    ]
    rows.sort(key=lambda r: (r["started_at"], r["incident_id"]), reverse=True)
    lake = f" --lake {shlex.quote(_short(chosen_lake))}" if chosen_lake else ""
    serve_first = "" if dashboard else f"  (after: doubletake serve{lake})"
    for row in rows:
        incident_id = row["incident_id"]
        print(f"\n{printable(verdict_text(load_case(findings, incident_id)), keep=chr(10))}\n")
        print(f"  Timeline: {timeline_link(dashboard or DASHBOARD, incident_id)}{serve_first}")
        print(f"  Messages: doubletake messages --incident {shlex.quote(incident_id)}{lake}")
        print(f"  Report:   doubletake report {shlex.quote(incident_id)} -o report.html{lake}")
    print()
    for queue in queues:
        if queue not in {r["queue"] for r in rows}:
            print(f"{printable(queue)}: no suspicion that a message was processed twice in this window.")
    for line in _beside(findings, queues, window):
        print(printable(line))


MOST_BESIDE = 5


def _beside(findings: "Findings", queues: tuple[str, ...], window: "TimeWindow") -> Iterator[str]:
    """Yield what went wrong with the queues themselves, the first few of each kind."""
    from forensics.lake.filters import one_of
    from forensics.report.prevention import FINDING_WORDS
    from forensics.report.words import clock_text
    from forensics.tables.findings import QUEUE_FINDINGS

    found = [
        r
        for r in findings.read(QUEUE_FINDINGS, where=one_of("queue", queues)).to_pylist()
        if r["from_at"] < window.end_at and (r["until_at"] or r["from_at"]) >= window.start_at
    ]
    for queue in queues:
        for code, words in FINDING_WORDS.items():
            of_code = sorted((r for r in found if (r["queue"], r["code"]) == (queue, code)), key=lambda r: r["from_at"])
            for r in of_code[:MOST_BESIDE]:
                doubt = "maybe " if r["stance"] == "undecidable" else ""
                yield f"{queue}: {doubt}{words}, from {clock_text(r['from_at'])} UTC: {r['sentence']}."
            if len(of_code) > MOST_BESIDE:
                yield f"{queue}: {words}, {len(of_code) - MOST_BESIDE:,} more: doubletake findings --queue {queue}"


def _short(folder: Path) -> str:
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def timeline_link(dashboard: str, incident_id: str) -> str:
    """Return the address of an incident's page."""
    from urllib.parse import quote

    return f"{dashboard}/incident?incident={quote(incident_id, safe='')}"
