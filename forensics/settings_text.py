"""The part of the settings that findings rest on, as text that is kept with them, and what differs between two."""

import hashlib
import json
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from forensics.sentence import said
from forensics.settings import Consumer, GuardTable, Producer, Settings

_SECTIONS = ("function", "worker", "producer", "queue", "guard_table")
_MOST_CHARS = 80


def bearing_text(settings: Settings) -> str:
    """Write what findings rest on as a settings file: consumers, producers, business keys, idempotency tables, the team's zone.

    The same settings give the same text, whatever comments and order their file had. Who may look, where incidents are
    told and which account is read stay out.

    >>> print(bearing_text(Settings(functions=(Consumer(name="charge-card", order="sequential"),))), end="")
    [[function]]
    name = "charge-card"
    order = "sequential"
    """
    parts = [_section("function", _said(consumer)) for consumer in settings.functions]
    parts += [_section("worker", _said(consumer)) for consumer in settings.workers]
    parts += [_section("producer", _said(producer)) for producer in settings.producers]
    keys = [(queue.name, queue.business_key) for queue in settings.queues if queue.business_key]
    parts += [_section("queue", {"name": name, "business_key": key}) for name, key in keys]
    parts += [_section("guard_table", _said(table)) for table in settings.guard_tables]
    if settings.team.zone:
        parts.append(f"[team]\nzone = {_value(settings.team.zone)}\n")
    return "\n".join(sorted(parts))


def text_digest(text: str) -> str:
    """Name a text by 12 characters of its SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def changed_since(made_with: str | None, today: Settings) -> list[str]:
    """Tell what today's settings say otherwise than those findings were made with; nothing where these were not kept."""
    return [] if made_with is None else differences(made_with, bearing_text(today))


def differences(then: str, now: str) -> list[str]:
    """Tell each difference between two texts of ``bearing_text``, as ``now`` beside ``then``.

    >>> differences('[[queue]]\\nname = "a"\\nbusiness_key = "$.id"\\n', '[team]\\nzone = "Asia/Tokyo"\\n')
    ["queue a is no longer in them: business_key '$.id'", "zone under [team] was not set, now 'Asia/Tokyo'"]
    """
    before, after = tomllib.loads(then), tomllib.loads(now)
    told = []
    for section in _SECTIONS:
        old, new = dict(_named(before, section)), dict(_named(after, section))
        for name in sorted(old.keys() | new.keys()):
            if name not in new:
                told.append(
                    said(
                        "{section} {name} is no longer in them: {all}", section=section, name=name, all=_all(old[name])
                    )
                )
            elif name not in old:
                told.append(
                    said("{section} {name} is new in them: {all}", section=section, name=name, all=_all(new[name]))
                )
            else:
                told += [
                    said("{key} of {section} {name} was {a}, now {b}", key=key, section=section, name=name, a=a, b=b)
                    for key, a, b in _changed(old[name], new[name])
                ]
    told += [
        said("{key} under [team] was {a}, now {b}", key=key, a=a, b=b)
        for key, a, b in _changed(before.get("team", {}), after.get("team", {}))
    ]
    return told


def quoted(text: str) -> str:
    r"""Write a text as people write an expression in the file: in single quotes, with no backslash doubled.

    >>> print(quoted(r"charged (?P<key>\S+)"), quoted("it's"))
    'charged (?P<key>\S+)' "it's"
    """
    return f"'{text}'" if "'" not in text and text.isprintable() else repr(text)


def _said(section: Consumer | GuardTable | Producer) -> dict[str, Any]:
    """Return what is said of a consumer, table or producer; what is not said is left out."""
    values = {f.name: (getattr(section, f.name), f.default) for f in fields(section)}
    return {name: value for name, (value, default) in values.items() if value is not None and value != default}


def _section(name: str, values: dict[str, Any]) -> str:
    return f"[[{name}]]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in values.items())


def _value(value: Any) -> str:
    """Write a text or a truth as TOML does: as JSON, but for the one character that only TOML escapes."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _named(said: dict[str, Any], section: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in said.get(section, ()):
        keys = {"worker": ("log_group",), "producer": ("log_group", "queue")}.get(section, ("name",))
        yield " ".join(str(row[key]) for key in keys), {k: v for k, v in row.items() if k not in keys}


def _all(values: dict[str, Any]) -> str:
    return ", ".join(f"{key} {_short(value)}" for key, value in values.items()) or "nothing else set"


def _changed(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            yield key, _short(old.get(key)), _short(new.get(key))


def _short(value: Any) -> str:
    if value is None:
        return "not set"
    text = quoted(value) if isinstance(value, str) else str(value).lower()
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}…"
