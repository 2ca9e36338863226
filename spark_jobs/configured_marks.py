"""The marks a team configured for its consumers, as Spark columns."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from forensics.errors import SettingsError
from forensics.parsers import marks
from forensics.settings import Consumer
from spark_jobs.grammar_columns import cases, has, lowered, raw

MARKS = {
    "effect": "effect",
    "started": "started",
    "guard": "guard_mark",
    "deleted": "deleted_mark",
    "failed": "failed_mark",
}
"""Setting to column."""

PLACES = ("message_id", "receive_count")
"""Settings that say where every line of a consumer carries a value."""

_GROUPS = ("message_id", "key")


def check_marks(session: SparkSession, consumers: Mapping[str, Consumer]) -> None:
    """Raise SettingsError for a configured pattern that Python reads and Java does not."""
    for name, expression in sorted(
        {(n, getattr(said, n)) for said in _by_kind(consumers) for n in _Said._fields if getattr(said, n)}
    ):
        if expression.startswith("$"):
            continue
        try:
            session._jvm.java.util.regex.Pattern.compile(marks.mark_pattern(expression).java)  # type: ignore[union-attr]
        except Exception as problem:
            raise SettingsError(
                f"{name} = {expression!r} is a regular expression for Python only; Spark's Java cannot read it",
                "Leave out conditionals and other forms that only Python has.",
            ) from problem


def kind_of_consumer(consumers: Mapping[str, Consumer]) -> Column:
    """Return the number of the log group's kind of consumer; null for a group of which nothing is configured.

    Teams say the same of many consumers. What is looked for in a line then costs by how different they are, not by how many.
    """
    branches = [(F.col("log_group").isin(groups), F.lit(n)) for n, groups in enumerate(_by_kind(consumers).values())]
    return cases(*branches) if branches else F.lit(None).cast("int")


def placed_values(text: Column, kind: Column, consumers: Mapping[str, Consumer]) -> dict[str, Column]:
    """What stands at each configured place, as columns ``_line_<place>``; null where nothing does.

    ``kind`` is ``kind_of_consumer`` for an application's line, else null.
    """
    values = {}
    for name in PLACES:
        branches = []
        for (place,), here in _alike((name,), kind, consumers):
            if place.startswith("$"):
                branches.append((here, F.get_json_object(text, place)))
            else:
                branches.append((_may_match(text, here, place), raw(text, marks.mark_pattern(place), name)))
        found = cases(*branches) if branches else F.lit(None).cast("string")
        values[f"_line_{name}"] = F.nullif(found, F.lit(""))
    return values


def marked_values(text: Column, kind: Column, consumers: Mapping[str, Consumer]) -> dict[str, Column]:
    """What each configured pattern finds first, as columns ``_<mark>_<group>``: empty where it finds nothing.

    Where a consumer's lines carry their message id at a configured place (``_line_message_id``), a pattern that names no
    message is about that one.
    """
    values = {}
    for name in MARKS:
        for group in _GROUPS:
            branches = []
            for (expression, place), here in _alike((name, "message_id"), kind, consumers):
                pattern, may = marks.mark_pattern(expression), _may_match(text, here, expression)
                is_placed = group == "message_id" and place is not None
                value = raw(text, pattern, group) if group in pattern.groups else F.lit("")
                if is_placed:
                    value = F.when(
                        has(text, pattern), F.coalesce(F.nullif(value, F.lit("")), F.col("_line_message_id"))
                    )
                if is_placed or group in pattern.groups:
                    branches.append((may, value))
            if branches:
                values[f"_{name}_{group}"] = cases(*branches)
    return values


def mark(name: str, columns: Sequence[str]) -> Column:
    """One mark from its ``marked_values``, which are among ``columns``; null where neither group found anything."""
    found = {g: F.col(f"_{name}_{g}") if f"_{name}_{g}" in columns else F.lit(None).cast("string") for g in _GROUPS}
    named = {g: F.when(value != "", value) for g, value in found.items()}
    return F.when(
        named["message_id"].isNotNull() | named["key"].isNotNull(),
        F.struct(lowered(named["message_id"]).alias("message_id"), named["key"].alias("key")),
    )


class _Said(NamedTuple):
    """What a team says of how a consumer's lines are to be read."""

    effect: str | None
    started: str | None
    guard: str | None
    deleted: str | None
    failed: str | None
    message_id: str | None
    receive_count: str | None


def _by_kind(consumers: Mapping[str, Consumer]) -> dict[_Said, list[str]]:
    """Return the log groups of each kind of consumer: of those of which the same is said."""
    kinds: dict[_Said, list[str]] = defaultdict(list)
    for log_group, consumer in sorted(consumers.items()):
        said = _Said(*(getattr(consumer, name) for name in _Said._fields))
        if any(said):
            kinds[said].append(log_group)
    return kinds


def _alike(
    names: Sequence[str], kind: Column, consumers: Mapping[str, Consumer]
) -> list[tuple[tuple[str, ...], Column]]:
    """Return the different values of some settings where the first is set, each with which lines it is for."""
    numbers: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, said in enumerate(_by_kind(consumers)):
        if getattr(said, names[0]):
            numbers[tuple(getattr(said, name) for name in names)].append(number)
    return [(values, kind.isin(kinds)) for values, kinds in numbers.items()]


def _may_match(text: Column, here: Column, expression: str) -> Column:
    needle = marks.needle_of(expression)
    return here & text.contains(needle) if needle else here
