"""Expressions that give nothing back once it is found, as every Python reads them."""

import re

ESCAPE_OR_CLASS = r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]"
"""What in an expression stands for itself: a parenthesis in it begins and ends nothing."""
_GROUPS = re.compile(ESCAPE_OR_CLASS + r"|\)(?:[*+?]|\{(?!\})[0-9]*,?[0-9]*\})\+|.", re.DOTALL)


def compiled(text: str, flags: int = 0) -> re.Pattern[str]:
    """Compile an expression; a group that is repeated and gives nothing back is compiled as an atomic one, which means the same.

    Python before 3.11.5 goes on behind what a last repeat of a possessive group had begun in vain: handles were not found in
    lines, nor timeouts (https://github.com/python/cpython/issues/106052; Debian 12 has 3.11.2). Raises re.error.

    >>> compiled(r"(?:[a-z]++,?)*+;").pattern
    '(?>(?:[a-z]++,?)*);'
    """
    parts: list[str] = []
    begun: list[int] = []
    for part in _GROUPS.findall(text):
        if part == "(":
            begun.append(len(parts))
        elif part[0] == ")" and begun:
            start = begun.pop()
            if len(part) > 1:
                parts[start] = f"(?>{parts[start]}"
                part = f"{part[:-1]})"
        parts.append(part)
    return re.compile("".join(parts), flags)
