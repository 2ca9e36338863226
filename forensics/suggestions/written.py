"""Proposals written into the text of a settings file, which otherwise stays as its team wrote it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Table

from forensics.errors import SettingsError
from forensics.sentence import said
from forensics.suggestions.model import Proposal

_IDENTITY = {"function": "name", "worker": "log_group", "queue": "name"}

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""What TOML has in no comment and in no string without escapes."""


def settings_text(text: str, proposals: Iterable[Proposal]) -> str:
    """Return a settings file's text with proposals written in, each with its evidence in a comment above it.

    What stands in the file stays, comments and order too; a key that is there is not written again. Raises SettingsError for
    text that is no TOML, and for rivals for one key.
    """
    proposals = list(proposals)
    if rivals := rivals_in(proposals):
        raise SettingsError(
            said("{name} has {n} lines that may be its {kind}, and one can be written", **rivals),
            "Accept the one that means that the work was done.",
        )
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as problem:
        raise SettingsError(
            said("the settings file is not valid TOML: {problem}", problem=problem), "Mend it first."
        ) from problem
    for proposal in proposals:
        table = _table(document, proposal.section, proposal.name)
        if proposal.kind in table:
            continue
        table.add(tomlkit.comment(evidence_text(proposal)))
        table.add(proposal.kind, _value(proposal.value))
    return tomlkit.dumps(document)


def rivals_in(proposals: Iterable[Proposal]) -> Mapping[str, Any] | None:
    """Return whose key several proposals rival for: its ``name``, the ``kind``, and ``n`` of them; None where none do."""
    counts = Counter((p.name, p.kind) for p in proposals if p.is_rival)
    return next(({"name": name, "kind": kind, "n": n} for (name, kind), n in counts.items() if n > 1), None)


def evidence_text(proposal: Proposal) -> str:
    """Return in one line what a proposal rests on.

    >>> evidence_text(Proposal("function", "f", "effect", "x", 99, 100, "messages", "it closes the work"))
    'fits 99.0 % of 100 messages: it closes the work'
    """
    return _CONTROL.sub(" ", f"fits {proposal.fit}: {proposal.sentence}")


def _table(document: Any, section: str, name: str) -> Table:
    if section not in document:
        document.add(section, tomlkit.aot())
    tables: AoT = document[section]
    for table in tables:
        if table.get(_IDENTITY[section]) == name:
            return table
    if tables:
        tables[-1].add(tomlkit.nl())
    table = tomlkit.table()
    table.add(_IDENTITY[section], name)
    tables.append(table)
    return tables[-1]


def _value(value: str | bool) -> Any:
    """Return a value as TOML; an expression in single quotes, in which nothing is escaped."""
    if isinstance(value, str) and "\\" in value and "'" not in value and not _CONTROL.search(value):
        return tomlkit.string(value, literal=True)
    return value
