"""The marks a team configured for its consumers, as Spark columns."""

from collections.abc import Mapping

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from forensics.errors import SettingsError
from forensics.parsers import marks
from forensics.settings import Consumer
from spark_jobs.grammar_columns import cases, lowered, raw

MARKS = {"effect": "effect", "started": "started", "guard": "guard_mark"}
"""Setting to column."""

_GROUPS = ("message_id", "key")


def check_marks(session: SparkSession, consumers: Mapping[str, Consumer]) -> None:
    """Raise SettingsError for a configured pattern that Python reads and Java does not."""
    for consumer in consumers.values():
        for name in MARKS:
            expression = getattr(consumer, name)
            if expression is None:
                continue
            try:
                session._jvm.java.util.regex.Pattern.compile(marks.mark_pattern(expression).java)  # type: ignore[union-attr]
            except Exception as problem:
                raise SettingsError(
                    f"{name} = {expression!r} is a regular expression for Python only; Spark's Java cannot read it",
                    "Leave out conditionals and other forms that only Python has.",
                ) from problem


def marked_values(text: Column, is_app: Column, consumers: Mapping[str, Consumer]) -> dict[str, Column]:
    """What each configured pattern finds first, as columns ``_<mark>_<group>``: empty where it finds nothing."""
    values = {}
    for name in MARKS:
        patterns = _patterns(name, consumers)
        for group in _GROUPS:
            branches = [
                (_may_match(text, is_app, log_group, expression), raw(text, marks.mark_pattern(expression), group))
                for log_group, expression in patterns.items()
                if group in marks.mark_pattern(expression).groups
            ]
            if branches:
                values[f"_{name}_{group}"] = cases(*branches)
    return values


def mark(name: str, consumers: Mapping[str, Consumer]) -> Column:
    """One mark from its ``marked_values``; null where neither group found anything."""
    groups = {g for e in _patterns(name, consumers).values() for g in marks.mark_pattern(e).groups}
    found = {g: F.col(f"_{name}_{g}") if g in groups else F.lit(None).cast("string") for g in _GROUPS}
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
