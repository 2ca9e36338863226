"""The key of a lake's receipt-handle tokens, if the team wants one: kept outside the lake, which holds only what tells it."""

import hashlib
import hmac
import os
import stat
from pathlib import Path

from forensics.errors import SettingsError
from forensics.tables.evidence import LOG_EVENTS

LEAST_BYTES = 32
MARK = "handle-key"
"""File of a lake that says which key its tokens were made with, without telling the key."""


def read_key(file: str) -> bytes:
    """Return the key in a file; raises SettingsError where it is missing, too short, or open to other users."""
    path = Path(file).expanduser()
    try:
        with path.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            key = opened.read(4096)
    except OSError as problem:
        raise SettingsError(
            f"handle_key_file = {file!r} cannot be read: {problem.strerror or problem}",
            "Make one with `head -c 32 /dev/urandom > FILE && chmod 600 FILE`, or bring the one this lake was begun with.",
        ) from problem
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(
            f"handle_key_file = {file!r} can be read by other users (mode {stat.S_IMODE(mode):04o})",
            "Keep it to yourself: `chmod 600 FILE`.",
        )
    if len(key) < LEAST_BYTES:
        raise SettingsError(
            f"handle_key_file = {file!r} holds {len(key)} bytes, which can be guessed",
            f"Make one of {LEAST_BYTES}: `head -c {LEAST_BYTES} /dev/urandom > FILE && chmod 600 FILE`.",
        )
    return key


def hold_to_key(lake_folder: Path, key: bytes | None, key_file: str | None) -> None:
    """See to it that all handles of a lake get their tokens in one way; else the same handle would have two.

    Marks a lake without log events; raises SettingsError where a lake was begun with another key, or with none.
    """
    if key_file and Path(key_file).expanduser().resolve().is_relative_to(lake_folder.resolve()):
        raise SettingsError(
            f"handle_key_file = {key_file!r} lies inside the lake, and would leave with it", "Keep it somewhere else."
        )
    mark = lake_folder / MARK
    begun_with = mark.read_text(encoding="ascii").strip() if mark.exists() else None
    told = None if key is None else hmac.new(key, b"which key", hashlib.sha256).hexdigest()[:16]
    if begun_with == told:
        return
    if begun_with is None and not (lake_folder / LOG_EVENTS.layer / LOG_EVENTS.name).exists():
        lake_folder.mkdir(parents=True, exist_ok=True)
        draft = lake_folder / f"{MARK}.{os.getpid()}"
        draft.write_text(f"{told}\n", encoding="ascii")
        draft.replace(mark)
        return
    ways = "without a key" if begun_with is None else "with another key" if key else "with a key"
    raise SettingsError(
        f"receipt handles in the lake at {str(lake_folder)!r} were replaced {ways}: new ones would not join them",
        "Take handle_key_file out of the settings, or begin a new lake."
        if begun_with is None
        else 'Say handle_key_file = "FILE" in the settings, with the key this lake was begun with.',
    )
