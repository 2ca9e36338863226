"""What tells which key the receipt-handle tokens of a lake were made with."""

import hashlib
import hmac
import os
from pathlib import Path

from forensics.errors import SettingsError
from forensics.lake.delta import flush_path
from forensics.sentence import said
from forensics.tables.evidence import LOG_EVENTS

MARK = "handle-key"
"""File of a lake that says which key its tokens were made with, without telling the key."""


def hold_to_key(lake_folder: Path, key: bytes | None, key_file: str | None) -> None:
    """See to it that all handles of a lake get their tokens in one way; else the same handle would have two.

    Called by whoever writes the lake and nobody else does at that time: two that begin a lake would each mark it. Marks a lake without log events; raises SettingsError where a lake was begun with another key, or with none.
    """
    if key_file and Path(key_file).expanduser().resolve().is_relative_to(lake_folder.resolve()):
        raise SettingsError(
            said("handle_key_file = {file} lies inside the lake, and would leave with it", file=repr(key_file)),
            "Keep it somewhere else.",
        )
    mark = lake_folder / MARK
    begun_with = mark.read_text(encoding="ascii").strip() if mark.exists() else None
    told = None if key is None else hmac.new(key, b"which key", hashlib.sha256).hexdigest()[:16]
    if begun_with == told:
        return
    if begun_with is None and not (lake_folder / LOG_EVENTS.layer / LOG_EVENTS.name).exists():
        draft = lake_folder / f"{MARK}.{os.getpid()}"
        draft.write_text(f"{told}\n", encoding="ascii")
        flush_path(draft)
        draft.replace(mark)
        flush_path(lake_folder)
        return
    phrase = (
        "receipt handles in the lake at {lake} were replaced without a key: new ones would not join them"
        if begun_with is None
        else "receipt handles in the lake at {lake} were replaced with another key: new ones would not join them"
        if key
        else "receipt handles in the lake at {lake} were replaced with a key: new ones would not join them"
    )
    raise SettingsError(
        said(phrase, lake=repr(str(lake_folder))),
        "Take handle_key_file out of the settings, or begin a new lake."
        if begun_with is None
        else 'Say handle_key_file = "FILE" in the settings, with the key this lake was begun with.',
    )
