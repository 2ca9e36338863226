"""Our own commands as sentences name them, between backticks."""

import re
import shlex
from pathlib import Path

_COMMAND = re.compile(r"`(doubletake [a-z][^`]*)`")


def of_lake(lake: str | Path) -> str:
    """Return the option with which a command means this lake, wherever it is pasted.

    >>> of_lake("/var/lakes/my lake")
    "--lake '/var/lakes/my lake'"
    """
    return f"--lake {shlex.quote(str(Path(lake).absolute()))}"


def in_lake(sentence: str, lake: str | Path) -> str:
    """Have the commands that a sentence names mean this lake; one that names a lake, or asks for help, stays as it is.

    >>> in_lake("Run `doubletake correlate` first, or see `doubletake correlate --help`.", "/var/lake")
    'Run `doubletake correlate --lake /var/lake` first, or see `doubletake correlate --help`.'
    """
    option = of_lake(lake)
    return _COMMAND.sub(
        lambda found: found[0] if "--lake" in found[1] or "--help" in found[1] else f"`{found[1]} {option}`", sentence
    )
