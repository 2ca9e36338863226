"""The files that a report can be, and how their names end."""

ENDINGS = {
    "html": ".html",
    "md": ".md",
    "pdf": ".pdf",
    "json": ".json",
    "csv": "-messages.csv",
    "svg": ".svg",
    "timesketch": "-timesketch.csv",
    "trace": "-trace.json",
    "zip": ".zip",
}
"""Format of an incident's report to the end of its file's name."""
FORMATS = tuple(ENDINGS)
_ENDINGS_OF = {
    "timesketch": ("timesketch.csv", ".timesketch"),
    "trace": ("trace.json", ".trace"),
    "html": (".html", ".htm"),
    "md": (".md", ".markdown"),
    "pdf": (".pdf",),
    "json": (".json",),
    "csv": (".csv",),
    "svg": (".svg",),
    "zip": (".zip",),
}
"""What names of files end in, by format; of two that fit the first counts."""
WEEK_FORMATS = ("html", "pdf", "md", "csv")
"""Formats of the weekly review."""


def format_of(name: str) -> str | None:
    """Return the format that a file's name ends in; None for any other ending, or none.

    >>> [format_of(name) for name in ("x.trace.json", "trace.json", "backtrace.json", "X.PDF", "r.txt")]
    ['trace', 'trace', 'json', 'pdf', None]
    """
    lower = name.lower()
    for kind, endings in _ENDINGS_OF.items():
        for ending in endings:
            before = lower.removesuffix(ending)
            if before != lower and (ending.startswith(".") or before[-1:] in ("", ".", "-", "_")):
                return kind
    return None


def may_be(kind: str, name: str) -> bool:
    """Tell whether a file of this format may have the name: one without a known ending may, and a trace is JSON too.

    >>> may_be("trace", "x.json"), may_be("json", "x.trace.json"), may_be("html", "report"), may_be("pdf", "x.html")
    (True, False, True, False)
    """
    told = format_of(name)
    return told in (None, kind, {"trace": "json", "timesketch": "csv"}.get(kind))
