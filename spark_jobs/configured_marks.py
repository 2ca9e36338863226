"""The marks a team configured for its consumers, as Spark columns."""

from collections.abc import Callable, Mapping

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from forensics.errors import SettingsError
from forensics.parsers import marks
from forensics.parsers.grammar import Pattern
from forensics.settings import Consumer
from spark_jobs.grammar_columns import cases, find, let, lowered

MARKS = {"effect": "effect", "started": "started", "guard": "guard_mark"}
"""Setting to column."""

_GROUPS = ("message_id", "key")
_TYPE = "struct<message_id:string,key:string>"


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


def mark(text: Column, is_app: Column, consumers: Mapping[str, Consumer], name: str) -> Column:
    """What a log group's configured pattern finds first; one branch per configured group."""
    branches = []
    for group, consumer in sorted(consumers.items()):
        expression = getattr(consumer, name)
        if not expression:
            continue
        pattern, needle = marks.mark_pattern(expression), marks.needle_of(expression)
        here = is_app & (F.col("log_group") == group)
        branches.append((here & text.contains(needle) if needle else here, let(text, _found(pattern))))
    return cases(*branches) if branches else F.lit(None).cast(_TYPE)


def _found(pattern: Pattern) -> Callable[[Column], Column]:
    def found(text: Column) -> Column:
        values = {g: find(text, pattern, g) if g in pattern.groups else F.lit(None).cast("string") for g in _GROUPS}
        both = F.struct(lowered(values["message_id"]).alias("message_id"), values["key"].alias("key"))
        return let(both, lambda b: F.when(b["message_id"].isNotNull() | b["key"].isNotNull(), b))

    return found
