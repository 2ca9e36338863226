"""Row filters as plain values: they can be kept, compared and hashed, and callers need not import Arrow."""

from typing import Any

import pyarrow.compute as pc
from pyarrow.parquet import filters_to_expression

Condition = tuple[str, str, Any]
"""Column, comparison and value. Comparisons: ==, !=, <, <=, >, >=, in, not in, starts and ends (text), holds (list of text).

An empty list of values holds no row, for every type: "in" keeps none, "not in" keeps all."""


def all_of(*conditions: Condition) -> pc.Expression | None:
    """Keep rows that pass every condition; None, which keeps all rows, if there is none."""
    kept = [_condition(c) for c in conditions]
    if not kept:
        return None
    whole = kept[0]
    for one in kept[1:]:
        whole &= one
    return whole


def any_of(*conditions: Condition) -> pc.Expression:
    """Keep rows that pass at least one condition; ValueError if there is none."""
    if not conditions:
        raise ValueError("any_of needs a condition")
    whole = _condition(conditions[0])
    for one in conditions[1:]:
        whole |= _condition(one)
    return whole


def _condition(condition: Condition) -> pc.Expression:
    column, comparison, value = condition
    field = pc.field(column)
    if comparison == "starts":
        return pc.starts_with(field, pattern=value)
    if comparison == "ends":
        return pc.ends_with(field, pattern=value)
    if comparison == "holds":
        # Items never hold the separator, a control character, so its neighbours tell a whole item from a part.
        joined = pc.binary_join(field, "\x1f")
        return pc.match_substring_regex(joined, pattern=f"(^|\x1f){_literal(value)}($|\x1f)")
    if comparison in ("in", "not in") and all(
        v is None for v in value
    ):  # Arrow takes such a list for one of its type null
        found = field.is_null() if value else pc.scalar(False)
        return found if comparison == "in" else ~found
    return filters_to_expression([condition])


def _literal(text: str) -> str:
    """Escape a text for RE2, which Arrow matches with."""
    return "".join(c if c.isalnum() or c == "_" or ord(c) > 127 else f"\\{c}" for c in text.replace("\x00", ""))
