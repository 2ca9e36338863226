"""The command that checks the settings file and prints what it says: settings."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.options import Everywhere
from cli.output import say
from cli.said import in_words
from forensics.errors import LakeMissingError


def _unlike_names(chosen: Everywhere) -> list[str]:
    """Return what the lake has under other names than the settings; nothing where there are no findings yet."""
    from forensics.report.settings_names import unlike_names

    try:
        return unlike_names(chosen.findings(), chosen.settings())
    except LakeMissingError:
        return []


def _slow_expressions(chosen: Everywhere) -> list[str]:
    """Return what takes long of the expressions; nothing where there is no lake to try them on."""
    from forensics.suggestions.slow_expressions import slow_expressions

    try:
        return slow_expressions(chosen.open_lake(), chosen.settings())
    except LakeMissingError:
        return []


def settings(
    chosen: Everywhere,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema with which an editor completes the file, and stop.")
    ] = False,
) -> None:
    """Check the settings file, and print as JSON what it says."""
    if schema:
        from forensics.docsettings import SCHEMA_FILE

        print(SCHEMA_FILE.read_text(encoding="utf-8"), end="")
        return
    said: dict[str, Any] = asdict(chosen.settings())
    del said["text"]
    print(json.dumps(said, indent=1, ensure_ascii=False, default=str))
    file = chosen.settings_file()
    if file:
        say("Every key of {file} is known, and every value can be meant.", file=repr(str(file)))
        for sentence in (*_unlike_names(chosen), *_slow_expressions(chosen)):
            say("{sentence}", sentence=in_words(sentence))
    else:
        from forensics.settings import NAME

        say(
            "There is no settings file, neither ./doubletake.toml nor {file}: these are the defaults.",
            file=repr(str(Path(chosen.lake_folder()) / NAME)),
        )
