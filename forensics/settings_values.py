"""What may stand as a value in the settings file, and the sentence for what cannot be meant."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, NoReturn
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, Strict
from pydantic.json_schema import WithJsonSchema
from pydantic_core import PydanticCustomError

from forensics.clock import ZONE_HINT, zone_of
from forensics.json_path import is_path
from forensics.patterns import BadPatternError, compiled
from forensics.regions import partition_of
from forensics.sentence import said

REFUSED = "refused"
"""The type of an error whose sentence and hint are ours: the context's ``sentence`` and ``hint``."""
SEND_GROUPS = ("message_id", "key", "deduplication_id", "request_id", "sent_at")
"""What a producer's line may tell of a send."""


MOST_COUNT = 1_000_000_000
"""Seconds of 31 years, and minutes that a calendar still has."""


def refuse(sentence: str, hint: str, key: str | None = None) -> NoReturn:
    """Refuse a value. With ``key``, which may be empty, the sentence tells itself what it is about."""
    raise PydanticCustomError(REFUSED, "{sentence}", {"sentence": sentence, "hint": hint, "key": key})


def _path(text: str) -> str:
    if not is_path(text):
        refuse("is not a JSON path", "Write it like $.payment_id or $.order.id.")
    return text


def groups_of(expression: str) -> set[str]:
    """Return the named groups of an expression, read as log lines are: with ASCII classes. Raises ValueError."""
    try:
        return set(re.compile(expression, re.ASCII).groupindex)
    except (re.error, OverflowError, RecursionError) as problem:
        raise ValueError(problem) from problem


def _expression(known: tuple[str, ...]) -> Callable[[str], str]:
    def check(text: str) -> str:
        try:
            groups = groups_of(text)
        except ValueError as problem:
            refuse(said("is not a regular expression: {problem}", problem=str(problem)), "Test it on one line.")
        if groups - set(known):
            named = " and/or ".join(f"(?P<{name}>...)" for name in known)
            refuse(
                said("has the groups {names}", names=str(sorted(groups))),
                said("Name what it finds: {names}, no other groups by name.", names=named),
            )
        return text

    return check


def checked_place(group: str) -> Callable[[str], str]:
    """Check a value; refuses what cannot be meant."""

    def check(text: str) -> str:
        if text.startswith("$"):
            return _path(text)
        try:
            groups = groups_of(text)
        except ValueError as problem:
            refuse(
                said("is neither a JSON path nor a regular expression: {problem}", problem=str(problem)),
                "A JSON path begins with $.",
            )
        if groups != {group}:
            refuse(
                said("has the groups {names}", names=str(sorted(groups))),
                said("Name what it finds: {names}, nothing else.", names=f"(?P<{group}>...)"),
            )
        return text

    return check


def checked_day(value: Any) -> Any:
    """Check a value; refuses what cannot be meant."""
    return value.date() if isinstance(value, datetime) else value


def checked_zone(name: str) -> str:
    """Check a value; refuses what cannot be meant."""
    if zone_of(name) is None:
        refuse("is not a time zone", ZONE_HINT)
    return name


def checked_region(name: Any) -> Any:
    """Check a value; refuses what cannot be meant."""
    if not isinstance(name, str) or not partition_of(name):
        refuse("is not a region", 'Write it like "eu-west-1"; a newer boto3 may know newer ones.')
    return name


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_address = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        is_address = False
    if not is_address or re.search(r"\s", text):
        refuse("is not the address of a server", "Write it whole, like https://doubletake.example.com.")
    return text


def checked_variable(name: str) -> str:
    """Check a value; refuses what cannot be meant."""
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        refuse(
            "is not the name of a variable",
            "A webhook's address is a secret: keep it in an environment variable and name that here.",
        )
    return name


def checked_quiet(text: str) -> str:
    """Check a value; refuses what cannot be meant."""
    if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d", text):
        refuse("is not a span of hours", "Write it like 22:00-07:00.")
    return text


def checked_file_path(path: Any) -> Any:
    """Check a value; refuses what cannot be meant."""
    if not isinstance(path, str) or not path:
        refuse("is not a path", 'Write handle_key_file = "~/.doubletake-key".')
    return path


def _queue_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo", name):
        refuse("is not a queue's name", "Write the last part of its ARN or URL, like payments.fifo.")
    return name


def checked_function_name(name: str) -> str:
    """Check a value; refuses what cannot be meant."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        refuse("is not a function's name", "Write the name alone, without ARN and version.")
    return name


def checked_table_name(name: str) -> str:
    """Check a value; refuses what cannot be meant."""
    if not re.fullmatch(r"(?:arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/)?[A-Za-z0-9_.-]{3,255}", name):
        refuse("is neither a DynamoDB table's name nor its ARN", "A name is 3 to 255 of A-Z a-z 0-9 _ . -")
    return name


def checked_emails(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """Check a value; refuses what cannot be meant."""
    if not all("@" in entry.strip() for entry in entries):
        refuse("are not e-mail addresses", 'Write ["ana@example.com", "@team.example.com"].')
    return entries


def checked_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Check a value; refuses what cannot be meant."""
    for some in (*((p,) for p in patterns), *([patterns] if patterns else ())):
        try:
            compiled(some)
        except BadPatternError as problem:
            refuse(
                said("redact has {value}, which cannot be used: {problem}", value=repr(some[0]), problem=str(problem)),
                "Patterns are RE2: no lookaround, no back-references, so that no line can make them slow.",
                "redact",
            )
    return patterns


def once(identity: Callable[[Any], Any]) -> AfterValidator:
    """Refuse a second entry of the same name: which of the two would be meant?"""

    def check(entries: tuple[Any, ...]) -> tuple[Any, ...]:
        seen = set()
        for entry in entries:
            name = identity(entry)
            if name in seen:
                refuse(said("has {value} twice", value=repr(name)), "Write what belongs to it under one heading.", "")
            seen.add(name)
        return entries

    return AfterValidator(check)


Text = Annotated[str, Field(min_length=1)]
Flag = Annotated[bool, Strict()]
Count = Annotated[int, Strict(), Field(gt=0, le=MOST_COUNT)]
Port = Annotated[int, Strict(), Field(gt=0, le=65_535)]
Expression = Annotated[Text, AfterValidator(_expression(("message_id", "key")))]
VisibilityExpression = Annotated[Text, AfterValidator(_expression(("message_id", "key", "seconds")))]
SendExpression = Annotated[Text, AfterValidator(_expression(SEND_GROUPS))]
JsonPath = Annotated[Text, AfterValidator(_path)]
_TEXT_SCHEMA = {"type": "string", "minLength": 1}
KeyPaths = Annotated[
    tuple[JsonPath, ...],
    Field(min_length=1),
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
    AfterValidator(lambda paths: paths[0] if len(paths) == 1 else paths),
    WithJsonSchema({"anyOf": [_TEXT_SCHEMA, {"type": "array", "items": _TEXT_SCHEMA, "minItems": 1}]}),
]
QueueName = Annotated[Text, AfterValidator(_queue_name)]
Address = Annotated[Text, AfterValidator(_address)]
