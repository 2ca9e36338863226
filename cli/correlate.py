"""The command that turns evidence into findings: correlate."""

from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from cli.ledger import count
from cli.options import Everywhere, MasterOption, SinceOption
from cli.output import say
from cli.said import count_text, in_words
from forensics.errors import BadTimeError
from forensics.sentence import said
from forensics.words import clock_text

if TYPE_CHECKING:
    from forensics.lake import Generation, Lake
    from forensics.settings import Settings


def correlate(
    chosen: Everywhere,
    since: SinceOption = None,
    master: MasterOption = None,
    anew: Annotated[bool, typer.Option("--anew", help="Recompute everything: use nothing of the cache.")] = False,
) -> None:
    """Turn the evidence in the lake into findings (Spark)."""
    correlate_lake(chosen, since, master, anew)


def tell_changed_settings(before: "Generation | None", settings: "Settings") -> None:
    """Say what today's settings say otherwise than those of the newest findings, which are about to be replaced."""
    from forensics.settings_text import changed_since

    changed = changed_since(before.settings, settings) if before else []
    if before and changed:
        say("The settings are not those of data version {data_version}:", data_version=before.data_version)
        for line in changed:
            say(f"  {line}")


def _start_of(since: str, lake: "Lake") -> datetime:
    """Return the time that --since means; raises BadTimeError where no log was read after it.

    Its findings would be empty, replace those that are there, and look like calm.
    """
    from forensics.lake.filters import equals
    from forensics.tables.evidence import COVERAGE, LOG_EVENTS
    from forensics.window import TimeWindow

    start_at = TimeWindow.parse(since, None, datetime.now(UTC)).start_at
    ends = lake.read(COVERAGE, ["window_end_at"], equals("source", LOG_EVENTS.name))["window_end_at"].to_pylist()
    if ends and (last := max(ends)) <= start_at:
        raise BadTimeError(
            said(
                "no log in the lake was read after --since {text} ({start} UTC): the evidence ends at {end} UTC",
                text=repr(since),
                start=clock_text(start_at),
                end=clock_text(last),
            ),
            "Collect what is newer, or leave --since out: then all evidence counts.",
        )
    return start_at


def correlate_lake(chosen: Everywhere, since: str | None, master: str | None, anew: bool = False) -> "Generation":
    """Correlate with the steps told, and say what came of it."""
    from cli.progress import steps
    from forensics.report.log_readiness import not_checked, unlike_effects, unlike_keys
    from forensics.report.settings_names import unlike_names
    from forensics.suggestions.slow_expressions import slow_expressions
    from spark_jobs.runner import correlate as correlate_evidence

    lake = chosen.open_lake()
    lake.check()
    start_at = _start_of(since, lake) if since else None
    settings = chosen.settings()
    tell_changed_settings(lake.generation(), settings)
    for sentence in slow_expressions(lake, settings):
        say("{sentence}", sentence=in_words(sentence))
    with steps() as progress:
        generation = correlate_evidence(lake, settings, master=master, since=start_at, progress=progress, force=anew)
    counts = generation.row_counts
    count(**{name: counts.get(name, 0) for name in ("deliveries", "messages", "incidents")})
    say(
        "Correlated: {deliveries}, {messages} with a verdict, {incidents}; data version {data_version}.",
        deliveries=count_text(counts.get("deliveries", 0), "delivery", "deliveries"),
        messages=count_text(counts.get("messages", 0), "message"),
        incidents=count_text(counts.get("incidents", 0), "incident"),
        data_version=generation.data_version,
    )
    findings = chosen.findings()
    told = (
        not_checked(findings),
        unlike_names(findings, settings),
        unlike_effects(findings),
        unlike_keys(findings),
    )
    for sentence in chain.from_iterable(told):
        say("{sentence}", sentence=in_words(sentence))
    return generation
