"""The command that packs a case so that it can be judged again: bundle."""

import re
from datetime import timedelta
from hashlib import sha256
from typing import Annotated

import typer

from cli import complete
from cli.options import Everywhere
from cli.output import answer, check_place, say, write_out
from cli.said import count_text
from forensics.errors import ForensicsError
from forensics.sentence import said

_SPAN = re.compile(r"(\d{1,6})([mhd])")


class MarginError(ForensicsError):
    """A margin that is no span."""


def bundle(
    chosen: Everywhere,
    incident: Annotated[
        str, typer.Argument(metavar="INCIDENT", autocompletion=complete.incidents, help="The incident's id.")
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it. [default: INCIDENT-evidence.zip]"),
    ] = None,
    redact: Annotated[
        list[str] | None,
        typer.Option(
            "--redact",
            metavar="PRESET|PATTERN",
            help="Replace cards, emails, tokens, or what an RE2 pattern matches, each value by a name of its own; repeatable.",
        ),
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(
            "--margin", metavar="SPAN", help="Only lines so far around the incident (30m, 6h, 2d). [default: all]"
        ),
    ] = None,
) -> None:
    """Pack an incident's report with its raw rows, settings, versions and queries: who imports it judges it again."""
    from forensics.report.case import load_case
    from forensics.report.evidence_bundle import evidence_bundle
    from forensics.report.pseudonyms import Pseudonyms
    from forensics.report.render import file_name

    check_place(output)
    findings = chosen.findings()
    names = Pseudonyms(redact or ())
    around = None if margin is None else _span(margin)
    case = load_case(findings, incident)
    content = evidence_bundle(findings, case, redact=names, margin=around)
    write_out(content, output or file_name(case, "zip").replace(".zip", "-evidence.zip"))
    (say if output == "-" else answer)(f"SHA-256: {sha256(content).hexdigest()}")
    say("Tell its receiver this digest in another way, or sign the file: `minisign -Sm FILE`.")
    if names.asked:
        say(
            "{redaction}: look through the bundle before you hand it on; the PDF was left out.",
            redaction=count_text(len(names.asked), "redaction"),
        )


def _span(text: str) -> timedelta:
    found = _SPAN.fullmatch(text)
    if not found:
        raise MarginError(
            said("{option} {text} is not a span", option="--margin", text=repr(text)), "Write it like 30m, 6h or 2d."
        )
    return int(found[1]) * {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}[found[2]]
