"""Values inside Markdown: shown as they are, never read as Markdown or HTML."""

import re

from markupsafe import Markup

from forensics.printable import LINES, printable

_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_AT_START = re.compile(r"^(?:([0-9]+)([.)])(?=\s|$)|([-+#>=]))")


def text(value: object) -> Markup:
    """Return a value as running text or a table cell: one line, with what Markdown would read escaped.

    >>> print(text("a|b <img> ![x](http://e)"))
    a\\|b &lt;img> !\\[x\\](http&#58;//e)
    """
    one_line = _one_line(value)
    escaped = _SPECIAL.sub(r"\\\1", one_line.replace("&", "&amp;").replace("<", "&lt;"))
    # What makes a list, heading or quote at the start of a line: - + # > = and the dot or bracket after a number.
    escaped = _AT_START.sub(lambda m: f"{m[1] or ''}\\{m[2] or m[3]}", escaped)
    # Bare addresses become links by themselves in many renderers.
    return Markup(escaped.replace("://", "&#58;//").replace("www.", "www&#46;").replace("@", "&#64;"))  # noqa: S704


def code(value: object) -> Markup:
    """Return a value as a code span; inside one only the fence itself needs care, and | in tables."""
    one_line = _one_line(value) or " "
    if "\\|" in one_line:  # no renderer agrees what this means inside a code span of a table
        return text(one_line)
    runs = [len(run) for run in re.findall(r"`+", one_line)]
    tick = "`" * (max(runs, default=0) + 1)
    pad = " " if one_line.startswith("`") or one_line.endswith("`") else ""
    return Markup(tick + pad + one_line.replace("|", "\\|") + pad + tick)  # noqa: S704


def _one_line(value: object) -> str:
    return printable(" ".join(str(value).split()))


def fence(value: object) -> Markup:
    """Return lines as a fenced block that nothing inside can close."""
    lines = printable(str(value).replace("\r\n", "\n"), keep=LINES)
    runs = [len(run) for run in re.findall(r"`{3,}", lines)]
    tick = "`" * (max(runs, default=2) + 1)
    return Markup(f"{tick}text\n{lines}\n{tick}")  # noqa: S704
