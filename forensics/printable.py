r"""Evidence as people may see it: control and format characters stand as escapes.

An ESC drives a terminal, a bidirectional mark shows another text than the one that is there, an invisible character makes two
names look alike. JSON and CSV files keep the truth: their readers are programs.
"""

import unicodedata

LINES = "\n\t"
"""Kept where text has lines and columns."""
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))


def printable(text: str, keep: str = "") -> str:
    r"""Return text with every control and format character, but those in ``keep``, written as an escape.

    >>> printable("\x1b[31mred \u202egnp\n"), printable("a\tb", keep=LINES)
    ('\\x1b[31mred \\u202egnp\\n', 'a\tb')
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c in keep or unicodedata.category(c) not in _HIDDEN else c.encode("unicode_escape", "replace").decode()
        for c in text
    )
