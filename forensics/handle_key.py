"""The key of a lake's receipt-handle tokens, if the team wants one: kept outside the lake."""

import os
import stat
from pathlib import Path

from forensics.errors import SettingsError
from forensics.sentence import said

LEAST_BYTES = 32


def read_key(file: str) -> bytes:
    """Return the key in a file; raises SettingsError where it is missing, too short, or open to other users."""
    path = Path(file).expanduser()
    try:
        with path.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            key = opened.read(4096)
    except OSError as problem:
        raise SettingsError(
            said("handle_key_file = {file} cannot be read: {why}", file=repr(file), why=problem.strerror or problem),
            "Make one with `head -c 32 /dev/urandom > FILE && chmod 600 FILE`, or bring the one this lake was begun with.",
        ) from problem
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(
            said(
                "handle_key_file = {file} can be read by other users (mode {mode})",
                file=repr(file),
                mode=f"{stat.S_IMODE(mode):04o}",
            ),
            "Keep it to yourself: `chmod 600 FILE`.",
        )
    if len(key) < LEAST_BYTES:
        raise SettingsError(
            said("handle_key_file = {file} holds {count} bytes, which can be guessed", file=repr(file), count=len(key)),
            said(
                "Make one of {n}: `{command}`.",
                n=LEAST_BYTES,
                command=f"head -c {LEAST_BYTES} /dev/urandom > FILE && chmod 600 FILE",
            ),
        )
    return key
