"""The marks a team configured for its consumers, as Spark columns."""

from collections.abc import Mapping, Sequence

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
    for consumer in consumers.values():
        for name in (*MARKS, *PLACES):
            expression = getattr(consumer, name)
            if expression is None or expression.startswith("$"):
                continue
            try:
                session._jvm.java.util.regex.Pattern.compile(marks.mark_pattern(expression).java)  # type: ignore[union-attr]
            except Exception as problem:
                raise SettingsError(
                    f"{name} = {expression!r} is a regular expression for Python only; Spark's Java cannot read it",
                    "Leave out conditionals and other forms that only Python has.",
                ) from problem


def placed_values(text: Column, is_app: Column, consumers: Mapping[str, Consumer]) -> dict[str, Column]:
    """What stands at each configured place, as columns ``_line_<place>``; null where nothing does."""
    values = {}
    for name in PLACES:
        branches = []
        for log_group, place in _patterns(name, consumers).items():
            here = is_app & (F.col("log_group") == log_group)
            if place.startswith("$"):
                branches.append((here, F.get_json_object(text, place)))
            else:
                branches.append(
                    (here & _may_match(text, is_app, log_group, place), raw(text, marks.mark_pattern(place), name))
                )
        found = cases(*branches) if branches else F.lit(None).cast("string")
        values[f"_line_{name}"] = F.nullif(found, F.lit(""))
    return values


def marked_values(text: Column, is_app: Column, consumers: Mapping[str, Consumer]) -> dict[str, Column]:
    """What each configured pattern finds first, as columns ``_<mark>_<group>``: empty where it finds nothing.

    Where a consumer's lines carry their message id at a configured place (``_line_message_id``), a pattern that names no
    message is about that one.
    """
    values = {}
    for name in MARKS:
        patterns = _patterns(name, consumers)
        for group in _GROUPS:
            branches = []
            for log_group, expression in patterns.items():
                pattern, may = marks.mark_pattern(expression), _may_match(text, is_app, log_group, expression)
                is_placed = group == "message_id" and consumers[log_group].message_id is not None
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


def _patterns(name: str, consumers: Mapping[str, Consumer]) -> dict[str, str]:
    return {group: getattr(c, name) for group, c in sorted(consumers.items()) if getattr(c, name)}


def _may_match(text: Column, is_app: Column, log_group: str, expression: str) -> Column:
    here, needle = is_app & (F.col("log_group") == log_group), marks.needle_of(expression)
    return here & text.contains(needle) if needle else here
