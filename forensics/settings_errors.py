"""What is wrong with a settings file, in a sentence that names the place and the value, and what to do."""

import tomllib
from dataclasses import dataclass
from datetime import date
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from forensics.errors import SettingsError
from forensics.nearest import near
from forensics.sentence import joined, said
from forensics.settings_file import SettingsFile
from forensics.settings_values import REFUSED

_WRONG = {
    "string_type": "is not a text",
    "bool_type": "is not true or false",
    "int_type": "is not a whole number",
    "date_type": "is not a date",
    "tuple_type": "is not a list",
    "greater_than": "is not positive",
    "string_too_short": "is empty",
    "too_short": "is empty",
    "literal_error": "is unknown",
}


def read(text: str, where: str) -> SettingsFile:
    """Return what a settings file says; raises SettingsError for all in it that cannot be meant, misspelled keys first."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise SettingsError(
            said("{where} is not valid TOML: {problem}", where=where, problem=str(problem)),
            "Close the section's name: [[worker]] or [team]."
            if "array declaration" in str(problem) or "table declaration" in str(problem)
            else "Regular expressions go in 'single quotes'.",
        ) from problem
    try:
        return SettingsFile.model_validate(data)
    except ValidationError as problem:
        errors = sorted(problem.errors(), key=lambda error: error["type"] != "extra_forbidden")
        told = [_told(error, data) for error in errors]
        sentences, hints = (list(dict.fromkeys(column)) for column in zip(*told, strict=True))
        sentence, hint = joined(sentences, "; "), joined([hint for hint in hints if hint], " ")
        raise SettingsError(said("{where}: {problem}", where=where, problem=sentence), hint) from None


@dataclass
class _Place:
    """Where in the file something is wrong: in a section, its entry's name, and there under a key."""

    model: type[BaseModel] = SettingsFile
    names: tuple[str, ...] = ()
    is_list: bool = False
    entry: str | None = None
    key: str | None = None
    is_item: bool = False

    @property
    def heading(self) -> str:
        """Return the section as it is written."""
        name = ".".join(self.names)
        return f"[[{name}]]" if self.is_list else f"[{name}]"

    def __str__(self) -> str:
        if not self.names:
            return ""
        if self.entry is None:
            return self.heading
        return f"{self.heading} of {self.entry!r}" if len(self.names) > 1 else f"{self.heading} {self.entry!r}"


def _place(loc: tuple[int | str, ...], data: Any) -> _Place:
    """Follow an error's location through the models and through what was written."""
    place, written = _Place(), data
    for step in loc:
        if isinstance(step, int):
            place.is_item = True
            written = written[step] if isinstance(written, list) else written  # one text may stand for a list of it
            if place.entry is None and place.key is None and isinstance(written, dict):
                name = written.get("name", written.get("log_group", written.get("profile")))
                place.entry = name if isinstance(name, str) else None
            continue
        place.is_item = False
        inner = section_of(place.model, step)
        if inner is None:
            place.key = step
        else:
            place.model, place.names, place.is_list = inner[0], (*place.names, step), inner[1]
        written = written.get(step) if isinstance(written, dict) else None
    return place


def section_of(model: type[BaseModel], key: str) -> tuple[type[BaseModel], bool] | None:
    """Return the model of the section under a key, and whether there may be several; None where a value stands."""
    if key not in model.model_fields:
        return None
    annotation = model.model_fields[key].annotation
    inner = get_args(annotation)
    kind = inner[0] if inner else annotation
    return (kind, bool(inner)) if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _told(error: ErrorDetails, data: dict[str, Any]) -> tuple[str, str]:
    """Return the sentence and the hint."""
    place, kind, value = _place(error["loc"], data), error["type"], error["input"]
    if kind == "extra_forbidden":
        return _unknown_key(place)
    if kind == "missing":
        return said("{what} lacks {key}", what=str(place), key=repr(place.key)), _example(place)
    if place.key is None and kind in ("tuple_type", "model_type"):
        brackets = "Use double brackets: {heading}." if place.is_list else "Use single brackets: {heading}."
        return (
            said("{key} must be written as {heading}", key=repr(".".join(place.names)), heading=place.heading),
            said(brackets, heading=place.heading),
        )
    if kind == REFUSED:
        sentence, hint, key = (error["ctx"][name] for name in ("sentence", "hint", "key"))
        if key is not None:
            return said("{what} {clause}", what=str(place), clause=sentence) if place.names else sentence, hint
    else:
        sentence, hint = _WRONG.get(kind, error["msg"]), _example(place)
        if kind == "less_than_equal":
            sentence = said("is larger than {most}", most=error["ctx"]["le"])
        if kind == "literal_error":
            hint = said("Use {names}.", names=_choices(error["ctx"]["expected"].replace("'", '"')))
    what = f"{place} {place.key}" if place.names else place.key
    if place.is_item:
        return said("{what} has {value}, which {clause}", what=what, value=repr(value), clause=sentence), hint
    written = str(value) if isinstance(value, bool) else repr(value)
    return said("{what} = {value} {clause}", what=what, value=written, clause=sentence), hint


def _choices(expected: str) -> str:
    """Part Pydantic's ``"a", "b" or "c"``."""
    first, either, last = expected.rpartition(" or ")
    return said("{names} or {last}", names=first, last=last) if either else expected


def _unknown_key(place: _Place) -> tuple[str, str]:
    known = sorted(place.model.model_fields)
    found = near(str(place.key), known)
    meant = [said("Did you mean {name}?", name=repr(found[0]))] if found else []
    if place.names:
        return (
            said("{what} has no key {key}", what=str(place), key=repr(place.key)),
            joined([*meant, said("Known keys: {names}.", names=", ".join(known))]),
        )
    headings = [(name, section_of(SettingsFile, name)) for name in SettingsFile.model_fields]
    written = [f"[[{name}]]" if found[1] else f"[{name}]" for name, found in headings if found]
    alone = [name for name, found in headings if not found]
    return (
        said("{key} is not a section", key=repr(place.key)),
        joined(
            [
                *meant,
                said(
                    "Sections are {names} and {last}; {others} and {another} stand above them.",
                    names=", ".join(written[:-1]),
                    last=written[-1],
                    others=", ".join(alone[:-1]),
                    another=alone[-1],
                ),
            ]
        ),
    )


def _example(place: _Place) -> str:
    examples = place.model.model_fields[str(place.key)].examples if place.key else None
    return (
        said("Write {key} = {value}.", key=place.key, value=as_toml(examples[0]))
        if examples
        else "docs/settings.md shows how it is written."
    )


def as_toml(value: Any) -> str:
    """Write a value as TOML, expressions in single quotes.

    >>> as_toml(["a", True]), as_toml("\\\\d+"), as_toml(60)
    ('["a", true]', "'\\\\\\\\d+'", '60')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"'{value}'" if "\\" in value else f'"{value}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(as_toml, value))}]"
    return value.isoformat() if isinstance(value, date) else str(value)
