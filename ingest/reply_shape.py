"""A reply of AWS held against the service's own model: what fits is kept, the rest is left out and told, row by row.

One value of a wrong type would otherwise cost the whole reply, or end a collection far from where it came in.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from forensics.sentence import said

MOST_TEXT_CHARS = 4 * 1024**2
"""No text in a reply is longer: a log event has 1 MB at most."""
MOST_TOLD = 3
_NEEDED = {
    "EventSourceMappingConfiguration": ("UUID", "FunctionArn"),
    "FunctionConfiguration": ("FunctionArn",),
    "LogGroup": ("logGroupName",),
    "MetricDataResult": ("Id",),
}
"""Structures of a list that say nothing without these members."""
_WHOLE = {"MetricDataResult"}
"""Structures whose members belong together: a time left out would give its value to another."""
_KEPT_AS_TEXT = {"FilteredLogEvent": "message", "Event": "CloudTrailEvent"}
"""Structures that their reader quarantines one by one; what is no structure at all goes there as text."""
_NUMBER = re.compile(r"-?\d{1,18}")


class _Misfit(Exception):  # noqa: N818
    pass


@dataclass
class ReplyShape:
    """Fits replies to a service's model; ``misfits`` says where something was left out and why, not what it was."""

    misfits: list[str] = field(default_factory=list)
    _is_changed: bool = False

    def fitted(self, operation: str, body: bytes, shape: Any) -> bytes:
        """Return the body of a JSON reply with what fits ``shape``, a model of botocore's; what is no JSON as it is."""
        try:
            reply = json.loads(body)
        except (ValueError, RecursionError):
            return body
        if not isinstance(reply, dict) or shape is None:
            return body
        before, self._is_changed = len(self.misfits), False
        try:
            kept = self._fit(reply, shape, operation)
        except _Misfit as problem:
            self.misfits.append(str(problem))
            kept = {}
        return json.dumps(kept).encode() if self._is_changed or len(self.misfits) > before else body

    def take(self) -> list[str]:
        """Return what was left out since this was asked last."""
        taken, self.misfits = self.misfits, []
        return taken

    def _fit(self, value: Any, shape: Any, where: str) -> Any:
        return _FITS[shape.type_name](self, value, shape, where)

    def _structure(self, value: Any, shape: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise _Misfit(f"{where} is not an object but {_kind(value)}")
        kept = {}
        for name, member in shape.members.items():
            key = member.serialization.get("name", name)
            if value.get(key) is None:
                continue
            try:
                kept[key] = self._fit(value[key], member, f"{where}.{name}")
            except _Misfit as problem:
                if shape.name in _WHOLE or name in _NEEDED.get(shape.name, ()):
                    raise
                self.misfits.append(str(problem))
        if lacking := [name for name in _NEEDED.get(shape.name, ()) if not kept.get(name)]:
            raise _Misfit(f"{where} has no {lacking[0]}")
        return kept

    def _list(self, value: Any, shape: Any, where: str) -> Any:
        if not isinstance(value, list):
            raise _Misfit(f"{where} is not a list but {_kind(value)}")
        if (name := shape.member.name) in _KEPT_AS_TEXT:
            return [
                self._row(item, shape.member, f"{where}[{number}]", _KEPT_AS_TEXT[name])
                for number, item in enumerate(value)
            ]
        kept = []
        for number, item in enumerate(value):
            try:
                kept.append(self._fit(item, shape.member, f"{where}[{number}]"))
            except _Misfit as problem:
                if shape.name in ("Timestamps", "DatapointValues"):
                    raise
                self.misfits.append(str(problem))
        return kept

    def _row(self, item: Any, shape: Any, where: str, text: str) -> Any:
        """Keep a row as it is, but for a time that botocore's parser would end on, and with it the whole reply."""
        if isinstance(item, dict):
            kept = dict(item)
            for name, member in shape.members.items():
                if member.type_name == "timestamp" and item.get(name) is not None:
                    try:
                        self._time(item[name], member, f"{where}.{name}")
                    except _Misfit as problem:
                        self.misfits.append(str(problem))
                        del kept[name]
            return kept
        self._is_changed = True
        return {text: json.dumps(item)}

    def _map(self, value: Any, shape: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise _Misfit(f"{where} is not an object but {_kind(value)}")
        kept = {}
        for key, item in value.items():
            try:
                kept[self._fit(key, shape.key, where)] = self._fit(item, shape.value, f"{where}.{key:.80}")
            except _Misfit as problem:
                self.misfits.append(str(problem))
        return kept

    def _text(self, value: Any, shape: Any, where: str) -> Any:
        if not isinstance(value, str):
            raise _Misfit(f"{where} is not text but {_kind(value)}")
        if len(value) > MOST_TEXT_CHARS:
            raise _Misfit(f"{where} is a text of {len(value):,} characters")
        try:
            value.encode()
        except UnicodeEncodeError as problem:
            raise _Misfit(f"{where} holds half a surrogate pair") from problem
        return value

    def _whole_number(self, value: Any, shape: Any, where: str) -> Any:
        bits = 31 if shape.type_name == "integer" else 63
        if isinstance(value, str) and _NUMBER.fullmatch(value):  # some emulators
            value = int(value)
        if isinstance(value, float) and math.isfinite(value) and abs(value) < 2**53:
            value = int(value)
        if type(value) is not int or not -(2**bits) <= value < 2**bits:
            raise _Misfit(f"{where} is not a whole number of {bits + 1} bits but {_kind(value)}")
        return value

    def _number(self, value: Any, shape: Any, where: str) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            raise _Misfit(f"{where} is not a number but {_kind(value)}")
        return value

    def _truth(self, value: Any, shape: Any, where: str) -> Any:
        if not isinstance(value, bool):
            raise _Misfit(f"{where} is neither true nor false but {_kind(value)}")
        return value

    def _time(self, value: Any, shape: Any, where: str) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e11:
            return value
        if isinstance(value, str) and _is_time(value):
            return value
        raise _Misfit(f"{where} is not a time but {_kind(value)}")

    def _anything(self, value: Any, shape: Any, where: str) -> Any:
        return value


_FITS: dict[str, Callable[[ReplyShape, Any, Any, str], Any]] = {
    "structure": ReplyShape._structure,
    "list": ReplyShape._list,
    "map": ReplyShape._map,
    "string": ReplyShape._text,
    "character": ReplyShape._text,
    "integer": ReplyShape._whole_number,
    "long": ReplyShape._whole_number,
    "float": ReplyShape._number,
    "double": ReplyShape._number,
    "boolean": ReplyShape._truth,
    "timestamp": ReplyShape._time,
    "blob": ReplyShape._anything,
}


def in_words(misfits: list[str]) -> str:
    """Say what was left out of replies, the first few pieces of it.

    >>> in_words(["a is not text but a number"] * 5)
    'AWS answered otherwise than its model says: a is not text but a number; and 4 more'
    """
    told = list(dict.fromkeys(misfits))[:MOST_TOLD]
    what, more = "; ".join(told), len(misfits) - len(told)
    if more:
        return said("AWS answered otherwise than its model says: {what}; and {n} more", what=what, n=more)
    return said("AWS answered otherwise than its model says: {what}", what=what)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_time(text: str) -> bool:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return False
    return 1970 <= moment.year < 2200


def _kind(value: Any) -> str:
    """Name what was there without showing it: settings may hold what was never to be kept."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "nothing"}
    return kinds.get(type(value), "a number")
