"""Files that a run asks for no test of, as the marks of the whole file tell: to read them in, and what they import, is work for nothing."""

import re
from collections.abc import Iterable
from pathlib import Path

_NONE_OF = re.compile(r"not \w+(?: and not \w+)*")
_OF_FILE = re.compile(r"^pytestmark = (.*?)(?=^[^\s)\]]|\Z)", re.MULTILINE | re.DOTALL)


def left_out(files: Iterable[Path], expression: str) -> frozenset[Path]:
    """Return the files all of whose tests an expression of marks (``-m``) leaves out for sure; of any other form than "not a and not b", none."""
    if not _NONE_OF.fullmatch(expression):
        return frozenset()
    unasked = {word for word in expression.split() if word not in ("not", "and")}
    return frozenset(file for file in files if unasked & marks_of(file))


def marks_of(file: Path) -> set[str]:
    """Return the marks that every test of a file has."""
    told = _OF_FILE.search(file.read_text(encoding="utf-8"))
    return set(re.findall(r"pytest\.mark\.(\w+)", told[1])) if told else set()
