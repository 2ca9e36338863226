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
WEEK_FORMATS = ("html", "pdf", "md", "csv")
"""Formats of the weekly review."""
