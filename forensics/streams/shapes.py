"""Lines of one shape say the same but for the values in them, so the grammar is asked about each shape once.

A shape is a line whose request id, other ids and digits are masked.
"""

import re
from typing import NamedTuple

from forensics.parsers import parse_line
from forensics.parsers.error_lines import is_error_line
from forensics.parsers.grammar import REQUEST_ID
from forensics.parsers.line import ParsedLine
from forensics.parsers.mentions import SEND_NEEDLE
from forensics.streams.invocations import ENDED, end_said
from forensics.streams.model import LogGroup
from forensics.streams.repeats import is_asked, reads_as_repeat

OWN_ID, OTHER_ID = "eeeeeeee-eeee-eeee-eeee-eeeeeeeeeeee", "ffffffff-ffff-ffff-ffff-ffffffffffff"
"""What stands in a shape for the invocation's own request id and for any other id; without digits, which are masked."""
SEND = "\x01" + "send".ljust(len(SEND_NEEDLE) - 2, "_") + "\x01"
"""What stands there for the answer to a send, whose needle has a digit; as long as that."""

MENTION, EFFECT, STARTED, RESPONSE = 1, 2, 4, 8
"""What a line of some shape states, as bits: it mentions the message, shows its effect or that work on it began, or is an empty
batch response."""


VECTORS_TELL = ("timeout", "error")
"""Ends of runs that failed, which vectors put together from lines of known shapes."""
_ENDS = frozenset({"timeout", "unhandled_error"})
"""Kinds of lines that tell of their run's end, where they say nothing else."""


class Shape(NamedTuple):
    """What the grammar says of every line of one shape; ``end``: so much of its run's end (``end_said``), 0 for nothing."""

    is_odd: bool
    says: int = 0
    names_message: bool = False
    effect_key: str | None = None
    started_key: str | None = None
    names_function: bool = False
    """It names its function, by a name with digits: whether by the same is seen in each line."""
    end: int = 0
    error_type: str | None = None
    besides: str = ""
    """What else tells one line of a moment from another that says the same of the same message (``statements_once``)."""


ODD, SILENT = Shape(True), Shape(False)


JSON_ID = rf'equest_?[Ii]d"\s*:\s*"({REQUEST_ID})'
"""Where an application's JSON line carries its request id."""
_JSON_ID = re.compile(JSON_ID)


def with_own_id(shape: str) -> str:
    """Return the shape of lines that carry their invocation's own id: the first of their ids, in JSON that of the request."""
    if shape.startswith("{"):
        return _JSON_ID.sub(f'equestId":"{OWN_ID}', shape, count=1)
    return shape.replace(OTHER_ID, OWN_ID, 1)


def ask(shape: str, group: LogGroup) -> Shape:
    """Ask the grammar what every line of a shape says."""
    line = shape.replace(SEND, SEND_NEEDLE)
    said = parse_line(line, group.consumer, group.name)
    is_odd = is_error_line(said, line) or (is_asked(group.consumer) and reads_as_repeat(said, line))
    return ODD if is_odd else _shape_of(said, group)


def _shape_of(said: ParsedLine, group: LogGroup) -> Shape:
    is_end = said.kind in _ENDS
    if not (is_end or said.kind in ("app", "other")) or said.request_id not in (None, OWN_ID):
        return ODD
    if any((said.records, said.handle_error, said.idempotency, said.worker, said.guard_mark, said.batch_item_failures)):
        return ODD
    if (
        said.given_back
        or said.deleted_mark
        or said.failed_mark
        or said.visibility_mark
        or said.receive_count is not None
    ):
        return ODD
    function_name = re.sub(r"[0-9]", "0", group.function_name or "")
    if said.function_name is not None and said.function_name != function_name:
        return ODD
    says = RESPONSE if said.batch_item_failures is not None else 0
    marks = [(m, bit) for m, bit in ((said.effect, EFFECT), (said.started, STARTED)) if m]
    ids = {i for i in (*(said.mentions or ()), *(m.message_id for m, _ in marks)) if i is not None}
    if ids - {OTHER_ID}:
        return ODD
    says |= (MENTION if said.mentions else 0) | sum(bit for _, bit in marks)
    names = {m.message_id is not None for m, _ in marks}
    if len(names) > 1 or (is_end and (says or _is_masked(said.error_type or ""))):
        return ODD
    end = end_said(said) if is_end else 0
    if is_end and ENDED[end] not in VECTORS_TELL:
        return ODD
    return Shape(
        False,
        says,
        bool(ids),
        said.effect.key if said.effect else None,
        said.started.key if said.started else None,
        said.function_name is not None and "0" in function_name,
        end,
        said.error_type if is_end else None,
        f"{said.kind} {said.function_name} {said.takes_mentioned} {len(said.mentions or ())}",
    )


def _is_masked(text: str) -> bool:
    """Tell whether a text taken from a shape may be another in each line of it."""
    return any(mask in text for mask in ("0", OWN_ID, OTHER_ID))
