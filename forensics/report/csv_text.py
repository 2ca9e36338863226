"""CSV that opens in a spreadsheet without running anything."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_FORMULA_STARTS = frozenset("=+-@")
_LINE_CONTROLS = ("\t", "\r", "\n")


def cell_text(value: Any) -> Any:
    """Return a value as a cell: text that a spreadsheet could take for a formula gets a leading apostrophe.

    Full-width forms count, and so do formulas behind blanks or invisible characters. Numbers stay numbers.

    >>> cell_text("=1+1"), cell_text("  \uff0dcmd"), cell_text("pay-17"), cell_text(-3), cell_text(["a", "b"])
    ("'=1+1", "'  \uff0dcmd", 'pay-17', -3, 'a; b')
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return value
        if isinstance(value, list | tuple):
            value = "; ".join(map(str, value))
        elif isinstance(value, Mapping):
            value = "; ".join(f"{key}={count}" for key, count in value.items())
    text = str(value).replace("\x00", "\ufffd")
    return f"'{text}" if _may_be_formula(text) else text


def _may_be_formula(text: str) -> bool:
    if text[:1].isascii() and text[:1].isalnum():
        return False
    if text.startswith(_LINE_CONTROLS):
        return True
    for char in text:
        # Separators, controls and format characters: what a spreadsheet may skip before it looks.
        if char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Zs", "Zl", "Zp"):
            continue
        return unicodedata.normalize("NFKC", char)[:1] in _FORMULA_STARTS
    return False


def to_csv(records: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Write records as CSV with a header, every cell quoted, lines ended by a line feed."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell_text(record.get(name)) for name in columns] for record in records)
    return out.getvalue()
