"""The grammar's patterns as Spark columns."""

from collections.abc import Callable, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from forensics.parsers.grammar import Pattern, Replacement


def raw(text: Column, pattern: Pattern, group: str | int = 0) -> Column:
    """Return what a group matched first; empty where nothing did."""
    return F.regexp_extract(text, pattern.java, pattern.index(group))


def find(text: Column, pattern: Pattern, group: str | int = 0) -> Column:
    """Return what a group matched first; null where nothing did. The pattern runs once."""
    return F.get(F.array_remove(F.array(raw(text, pattern, group)), F.lit("")), F.lit(0))


def find_all(text: Column, pattern: Pattern, group: str | int = 0) -> Column:
    """Return what a group matched, each time."""
    return F.regexp_extract_all(text, F.lit(pattern.java), F.lit(pattern.index(group)))


def has(text: Column, pattern: Pattern) -> Column:
    """Tell whether a pattern matches anywhere."""
    return F.rlike(text, F.lit(pattern.java))


def replaced(text: Column, *replacements: Replacement) -> Column:
    """Replace every match, one replacement after the other."""
    for replacement in replacements:
        text = F.regexp_replace(text, replacement.pattern.java, replacement.with_text)
    return text


def contains_any(text: Column, needles: Sequence[str]) -> Column:
    """Tell whether any of these texts is there; much cheaper than a pattern."""
    found = text.contains(needles[0])
    for needle in needles[1:]:
        found = found | text.contains(needle)
    return found


def cases(*branches: tuple[Column, Column | str]) -> Column:
    """Return the value of the first condition that holds; null where none does."""
    (condition, value), *rest = branches
    chain = F.when(condition, value)
    for condition, value in rest:
        chain = chain.when(condition, value)
    return chain


def let(value: Column, then: Callable[[Column], Column]) -> Column:
    """Return ``then(value)`` with ``value`` computed once, outside the generated code.

    For what few lines need: the JVM does not compile a generated method of more than 8,000 bytes of code, and then runs
    every line ten times slower. What stands in here adds nothing to it.
    """
    return F.get(F.transform(F.array(value), then), F.lit(0))


def lowered(text: Column) -> Column:
    """Return a short text in lower case; Spark's own lower() is slow, and ids rarely need it."""
    return F.when(F.rlike(text, F.lit("[A-Z]")), F.lower(text)).otherwise(text)
