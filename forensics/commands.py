"""Our own commands as sentences name them, between backticks."""

import os
import re
import shlex
from pathlib import Path

_COMMAND = re.compile(r"`(doubletake [a-z][^`]*)`|(?:(?<=: )|(?<=：))(doubletake [a-z].*)\Z")
"""A command between backticks, or all that stands behind a colon."""
_OF_NO_LAKE = re.compile(r"--lake|--help|doubletake verify ")


def shown_place(path: str | Path) -> Path:
    """Return a place as people are told it: absolute, and without a step back up.

    >>> str(shown_place("/lakes/old/../new"))
    '/lakes/new'
    """
    return Path(os.path.normpath(Path(path).absolute()))  # as the lake itself is opened


def of_lake(lake: str | Path) -> str:
    """Return the option with which a command means this lake, wherever it is pasted.

    >>> of_lake("/var/lakes/my lake")
    "--lake '/var/lakes/my lake'"
    """
    return f"--lake {shlex.quote(str(shown_place(lake)))}"


def in_lake(sentence: str, lake: str | Path) -> str:
    """Have the commands that a sentence names mean this lake; one that names a lake, or asks for help, stays as it is.

    >>> in_lake("Run `doubletake correlate` first, or see `doubletake correlate --help`.", "/var/lake")
    'Run `doubletake correlate --lake /var/lake` first, or see `doubletake correlate --help`.'
    >>> in_lake("Name it: doubletake ask why pay-1001", "/var/lake")
    'Name it: doubletake ask why pay-1001 --lake /var/lake'
    """

    def named(found: re.Match[str]) -> str:
        if _OF_NO_LAKE.search(found[0]):
            return found[0]
        option = of_lake(lake)  # few sentences name a command, and every cell of a table is asked
        return f"`{found[1]} {option}`" if found[1] else f"{found[2]} {option}"

    return _COMMAND.sub(named, sentence)
