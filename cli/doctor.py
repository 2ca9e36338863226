"""The command that finds what is damaged in the lake: doctor."""

from typing import Annotated

import typer

from cli.options import Everywhere
from cli.output import say, warn
from cli.said import count_text, in_words, phrase
from forensics.errors import EXIT_LAW_BROKEN, EXIT_OK


def doctor(
    chosen: Everywhere,
    full: Annotated[
        bool, typer.Option("--full", help="Read every file to its end, however large the lake is, instead of a sample.")
    ] = False,
) -> int:
    """Find what a power cut, a full disk or a bad one did to the lake, set it aside, and have it collected again."""
    from forensics.lake.doctor import heal

    lake = chosen.open_lake()
    visit = heal(lake, full=full)
    for repair in visit.repairs:
        warn("  {sentence}", sentence=in_words(repair.sentence))
    looked = phrase("{file} read to the end", file=count_text(visit.read_count, "data file"))
    if visit.read_count < visit.file_count:
        looked += phrase(
            ", {n} more looked at only by size and footer (--full reads all)", n=visit.file_count - visit.read_count
        )
    if not visit.repairs:
        say(
            "the lake at {root} is sound: every commit can be read, every row is there; {looked}",
            root=repr(str(lake.root)),
            looked=looked,
        )
        return EXIT_OK
    say("  {looked}.", looked=looked)
    if not all(repair.is_mended for repair in visit.repairs):
        return EXIT_LAW_BROKEN
    warn("Set aside things lie in the lake's folder 'damaged'. Run `doubletake collect` again to fetch what was lost.")
    return EXIT_OK
