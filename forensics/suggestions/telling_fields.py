"""Fields of a line that say in words what happened: its message text, in JSON or as ``msg="..."``.

What makes a line the line it is stands there, before the value that names its item or behind it. An expression holds it, also where less
would do to tell the lines seen so far apart: a line that is written first tomorrow may have the same level and the same names.
"""

import re
from typing import NamedTuple

JSON_FIELD = re.compile(
    r'(?P<quote>\\?")(?P<name>[A-Za-z@_][\w@.-]*)(?P=quote): ?(?P=quote)(?=[^"\\]*[A-Za-z]{2})(?:[^"\\]|(?!(?P=quote))\\.)*(?P=quote)',
    re.ASCII,
)
"""A field of a JSON line that says something in words, whatever fills them."""
_TEXT_FIELD = re.compile(
    r"""(?<![\w."'-])(?P<name>[A-Za-z_][\w.-]*)=(?:"(?=[^"\\]*[A-Za-z]{2})[^"\\]*"|(?=[^\s"',;)\]}]*[A-Za-z]{2})[^\s"',;)\]}]+(?![^\s,;)\]}]))""",
    re.ASCII,
)
JSON_NAME = re.compile(r'(?P<quote>\\?")[A-Za-z@_][\w@.-]*(?P=quote): ?(?P=quote)\Z', re.ASCII)
_TEXT_NAME = re.compile(r"""(?<![\w."'-])[A-Za-z_][\w.-]*="?\Z""", re.ASCII)
SAYS = re.compile(r"(?:message|msg|event|@mt?|text|log|action|operation)\Z", re.ASCII | re.IGNORECASE)
"""Names of fields that say what happened."""
_IS_TEXT = re.compile(r"(?:^|[@._-])(?:message|msg|mt?)\Z", re.ASCII | re.IGNORECASE)
"""Those of them that hold the whole sentence, where others may name the kind of thing alone."""
LEVEL = re.compile(
    r'": ?\\?"(?:trace|debug|info|notice|warn|warning|error|severe|fatal|critical|information|verbose)\\?"\Z',
    re.ASCII | re.IGNORECASE,
)
"""How grave a line is says nothing of what happened, though few lines may be as grave."""
SAYS_WHERE = re.compile(
    r"(?:^|[._-])(?:logger(?:[._-]?name)?|thread(?:[._-]?name)?|host(?:name)?|service|app|application|env|environment|caller|source(?:context)?|"
    r"class|module|file|func|function|version|queue|region|pod|container)\Z",
    re.ASCII | re.IGNORECASE,
)
"""Names of fields that say who writes, and where: all lines of a process may have them alike."""
_OPEN_FIELD = re.compile(
    r"""(?:"(?P<json>[A-Za-z@_][\w@.-]*)": ?|(?<![\w."'-])(?P<text>[A-Za-z_][\w.-]*)=)"(?P<said>[^"]*)\Z""", re.ASCII
)
"""A field that is still open where a value stands."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_NAMES_ID = re.compile(
    r"(?:[^A-Za-z]*(?:sqs|message|msg|record|item|job|task|delivery|id)(?![A-Za-z]))*[^A-Za-z]*\Z",
    re.ASCII | re.IGNORECASE,
)
_METADATA = re.compile(
    r"\[[^\]]*\]|(?<![\w.-])(?:[A-Za-z_][\w.-]*=(?:\"[^\"]*\"|[^\s\"]*)|(?i:trace|debug|info|notice|warn|warning|error|fatal)(?![\w.-]))",
    re.ASCII,
)
"""What a logger puts before each line: tags, fields, a level."""


def is_metadata(text: str) -> bool:
    """Tell whether what stands before a value is a logger's own, so that what the line says can only stand behind it.

    >>> is_metadata("[info] pid=7 message_id="), is_metadata("[info] charged message_id=")
    (True, False)
    """
    return re.search("[A-Za-z]{2}", _METADATA.sub("", text)) is None


def only_names_id(text: str) -> bool:
    """Tell whether words say of an id what it is of, and nothing of what happened.

    >>> only_names_id("(SQS message id: "), only_names_id("message deleted ")
    (True, False)
    """
    return _NAMES_ID.match(text) is not None


class Telling(NamedTuple):
    """What a line's field says, with its name, masked as the line is; whether that stands behind the value."""

    text: str
    is_behind: bool


def telling_field(lead: str, tail: str) -> Telling | None:
    """Return the field that says what happened in a line, given what stands before its value and behind it; None if none does.

    >>> telling_field('{"level":"debug","message_id":"', '","message":"message deleted"}')
    Telling(text='"message":"message deleted"', is_behind=True)
    >>> telling_field('{"text":"05:00 | INFO | deleted","id":"', '","message":"deleted"}')
    Telling(text='"message":"deleted"', is_behind=True)
    >>> telling_field('time=1 level=info msg="order charged" message_id=', "")
    Telling(text='msg="order charged"', is_behind=False)
    >>> telling_field('{"message":"charged ', ' in 3 ms","event":"app"}')
    >>> telling_field('{"id":"', '","err":{"message":"read timed out"},"msg":"charge failed"}')
    Telling(text='"msg":"charge failed"', is_behind=True)
    >>> telling_field('{"message":"message ', ' of queue q deleted","event":"app"}')
    Telling(text=' of queue q deleted', is_behind=True)
    """
    inside = _OPEN_FIELD.search(lead)
    if inside and SAYS.search(inside["json"] or inside["text"]):
        rest = tail.partition('"')[0]
        return Telling(rest, True) if only_names_id(inside["said"]) and not only_names_id(rest) else None
    is_json = lead.lstrip().startswith("{")
    fields = [
        (
            told["name"],
            is_behind,
            told[0],
            _depth(f"{lead}{tail[: told.start()]}" if is_behind else lead[: told.start()]),
        )
        for is_behind, text in enumerate((lead, tail))
        for told in (JSON_FIELD if is_json else _TEXT_FIELD).finditer(text)
    ]
    said = [field for field in fields if SAYS.search(field[0])]
    if not said and is_json:
        said = [field for field in fields if not SAYS_WHERE.search(field[0]) and not LEVEL.search(field[2])]
        said = said if len(said) == 1 else []
    if not said:
        return None
    _, is_behind, text, _ = min(said, key=lambda field: (_IS_TEXT.search(field[0]) is None, field[3], field[1]))
    return Telling(text, bool(is_behind))


def _depth(text: str) -> int:
    """Return in how many objects of JSON a text ends: an error's own message stands deeper than the line's."""
    without = _QUOTED.sub("", text)
    return without.count("{") - without.count("}")


def said_before(lead: str) -> str:
    """Return what the field that says what happened says up to a value in it, with the field's name; '' where it stands in none.

    >>> said_before('{"id":"7","message":"created order 7 ('), said_before('{"message":"created","id":"')
    ('"message":"created order 7 (', '')
    """
    inside = _OPEN_FIELD.search(lead)
    return inside[0] if inside and SAYS.search(inside["json"] or inside["text"]) else ""


def name_before(lead: str) -> str:
    """Return the name of the field that a value stands in, with all signs between; '' where it stands in none.

    >>> name_before('{"level":"info","message_id":"'), name_before("msg=deleted id="), name_before("deleted ")
    ('"message_id":"', 'id=', '')
    """
    found = JSON_NAME.search(lead) or _TEXT_NAME.search(lead)
    return found[0] if found else ""
