"""The command that finds the marks in a consumer's log: suggest."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import Everywhere, QueueArgument, SameQueueOption
from cli.output import FormatOption, RowFormat, answer, print_rows, say
from cli.said import in_words, phrase
from cli.table import Layout
from forensics.errors import ForensicsError
from forensics.identity import queue_name

if TYPE_CHECKING:
    from forensics.suggestions import Proposal, Suggestions

_TABLE = Layout(
    ("section", "name", "key", "value", "fits", "why"),
    row=("name", "key", "fits"),
    sentences=("value", "why"),
)
_COLUMNS = (*_TABLE.columns, "fits_count", "of_count", "examples", "counter_examples")
_HERE = Path("doubletake.toml")


class Kind(StrEnum):
    """What can be proposed."""

    ALL = "all"
    EFFECT = "effect"
    EFFECT_IS_EXHAUSTIVE = "effect_is_exhaustive"
    STARTED = "started"
    GUARD = "guard"
    DELETED = "deleted"
    FAILED = "failed"
    RECEIVE_COUNT = "receive_count"
    ORDER = "order"
    MESSAGE_ID = "message_id"
    BUSINESS_KEY = "business_key"


class NothingAcceptedError(ForensicsError):
    """Proposals are to be written, and nobody said which."""


def suggest(
    chosen: Everywhere,
    queue: QueueArgument = None,
    how: FormatOption = RowFormat.TABLE,
    write: Annotated[
        bool,
        typer.Option("--write", help="Write what you accept into the settings file, with its evidence as a comment."),
    ] = False,
    accept: Annotated[
        list[Kind] | None,
        typer.Option("--accept", metavar="KEY", help="With --write: accept proposals of this key, or all; repeatable."),
    ] = None,
    same_queue: SameQueueOption = None,
) -> None:
    """Find in the logs of a queue's consumers the lines that tell what was done, and propose the settings for them."""
    queue = chosen.one_queue(queue, same_queue)
    if accept and not write:
        raise NothingAcceptedError("--accept says what --write may write, and --write was not given", "Add --write.")
    from cli.progress import steps
    from forensics.settings import Settings
    from forensics.suggestions import suggest as find

    is_new = write and chosen.config is not None and not chosen.config.exists()
    settings = Settings() if is_new else chosen.settings()
    with steps(says_steps=False) as progress:
        found = find(chosen.findings(queue_name(queue)), queue, settings, progress.step)
    print_rows([record(p) for p in found.proposals], how, _TABLE, _COLUMNS)
    for sentence in found.cannot_tell:
        say("Not told: {sentence}", sentence=in_words(sentence))
    (answer if how is RowFormat.TABLE else say)(found.decides)
    if write and found.proposals:
        _write(chosen, found, accept or [])
    elif found.proposals:
        say("`--write` puts those you accept into the settings file; correlate again afterwards.")
    if found.proposals and found.cannot_tell and "effect" not in {p.kind for p in found.proposals}:
        say(
            "Then ask `doubletake suggest` once more: where more lines name their message, another one may tell the effect."
        )


def record(proposal: "Proposal") -> dict[str, Any]:
    """Return a proposal as the formats print it."""
    return {
        "section": proposal.section,
        "name": proposal.name,
        "key": proposal.kind,
        "value": proposal.value,
        "fits": proposal.fit,
        "why": proposal.sentence,
        "fits_count": proposal.fits,
        "of_count": proposal.of,
        "examples": list(proposal.examples),
        "counter_examples": list(proposal.counter_examples),
    }


def _write(chosen: Everywhere, found: "Suggestions", accept: list[Kind]) -> None:
    from forensics.settings import Settings, settings_file_text
    from forensics.suggestions import rivals_in, settings_text

    accepted = _accepted(found, accept)
    if rivals := rivals_in(accepted):
        raise NothingAcceptedError(
            phrase("{name} has {n} lines that may be its {kind}, and one can be written", **rivals),
            "Answer the questions of --write in a terminal, or copy the value of the one that means that the work was done into the "
            "settings file.",
        )
    if not accepted:
        say("Nothing was accepted, and nothing was written.")
        return
    file = chosen.settings_file() or _HERE
    text = settings_text(settings_file_text(file) if file.exists() else "", accepted)
    Settings.parse(text, str(file))
    beside = file.with_name(f".{file.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)
    say(
        "Wrote {names} into {file}; now run `doubletake correlate`.",
        names=", ".join(p.kind for p in accepted),
        file=file,
    )


def _accepted(found: "Suggestions", accept: list[Kind]) -> "list[Proposal]":
    if accept:
        return [p for p in found.proposals if Kind.ALL in accept or p.kind in accept]
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise NothingAcceptedError(
            "nobody is here to be asked which proposals to write",
            "Say it: --accept effect --accept started, or --accept all.",
        )
    accepted: list[Proposal] = []
    for p in found.proposals:
        is_settled = p.is_rival and any((taken.name, taken.kind) == (p.name, p.kind) for taken in accepted)
        asked = phrase("{kind} = {value} for {name} ({fit})?", kind=p.kind, value=repr(p.value), name=p.name, fit=p.fit)
        if not is_settled and typer.confirm(asked, err=True):
            accepted.append(p)
    return accepted
