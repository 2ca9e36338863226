"""One case as a file. The same case and options give the same bytes; no clock is asked."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from types import ModuleType
from typing import Any

from forensics.books import Line
from forensics.extras import is_installed, need
from forensics.language import Language
from forensics.people import marks_text
from forensics.report.bundle import to_zip
from forensics.report.case import Case
from forensics.report.chrome_trace import to_chrome_trace
from forensics.report.csv_text import to_csv
from forensics.report.formats import ENDINGS, FORMATS
from forensics.report.json_report import SCHEMA_VERSION, as_json, to_json
from forensics.report.options import ReportOptions
from forensics.report.records import message_record, plain_value
from forensics.report.timesketch import to_timesketch

__all__ = ["CSV_COLUMNS", "SCHEMA_VERSION", "as_json", "file_name", "render"]

CSV_COLUMNS = (
    "message_id",
    "business_keys",
    "verdict",
    "certainty",
    "is_provisional",
    "effects_at_least",
    "effects_at_most",
    "extra_effects_at_least",
    "extra_effects_at_most",
    "queue",
    "group_id",
    "deduplication_id",
    "receive_count",
    "deliveries",
    "causes",
    "origin",
    "first_received_at",
    "first_repeat_at",
    "last_received_at",
    "dead_lettered",
    "incident_id",
    "other_incident_ids",
    "work_id",
    "message_ids",
    "effect_sentence",
    "booked_count",
    "to_refund",
    "marks",
    "set_aside",
)


_OF_WORK = (
    "message_ids",
    "other_incident_ids",
    "extra_effects_at_least",
    "extra_effects_at_most",
    "first_repeat_at",
)


def render(case: Case, format: str, options: ReportOptions | None = None) -> bytes:
    """Return the report of a case as bytes, text as UTF-8; the ZIP has the PDF in it where that can be made.

    Raises ValueError for a format that is not in FORMATS, ExtraMissingError for a PDF that cannot be made here.
    """
    options = options or ReportOptions()
    if format == "pdf":
        need("pdf", "a report as PDF")
        from forensics.report.pdf import to_pdf

        return to_pdf(case, options)
    if format == "zip":
        left_out = {"zip"} if is_installed("pdf") else {"zip", "pdf"}
        names = {kind: file_name(case, kind) for kind in FORMATS if kind not in left_out}
        return to_zip(case, options, render, names)
    writers = {
        "html": lambda: _pages().html_page(case, options),
        "md": lambda: _pages().markdown_page(case, options),
        "json": lambda: to_json(case),
        "csv": lambda: _messages_csv(case, options),
        "svg": lambda: _picture(case, options),
        "timesketch": lambda: to_timesketch(case),
        "trace": lambda: to_chrome_trace(case),
    }
    if format not in writers:
        raise ValueError(f"{format!r} is not one of {FORMATS}")
    return writers[format]().encode("utf-8", "replace")


def _picture(case: Case, options: ReportOptions) -> str:
    from forensics.report.picture import picture

    return picture(case, options) or _NO_PICTURE


def _pages() -> ModuleType:
    """Return what fills templates, which take longer to load than another form to write."""
    from forensics.report import pages

    return pages


_NO_PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="480" height="40"><text x="10" y="24" font-family="sans-serif">'
    "The logs name no message that could be drawn.</text></svg>\n"
)


def file_name(case: Case, format: str) -> str:
    """Name the report's file: letters, digits, dots, dashes and underscores only."""
    return (
        "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in case.incident_id) + ENDINGS[format]
    )


def _messages_csv(case: Case, options: ReportOptions) -> str:
    columns = (*CSV_COLUMNS, "first_received_local", "last_received_local", "zone") if options.local else CSV_COLUMNS
    return to_csv(_records(case, options), columns)


def _records(case: Case, options: ReportOptions) -> Iterator[dict[str, Any]]:
    booked, say = _booked(case), Language(options.language)
    for work in case.works():
        aside = case.people.aside_of(work["item_ids"])
        told = {name: plain_value(work[name]) for name in _OF_WORK} | {
            "marks": marks_text(case.marks.of(work["item_ids"])),
            "set_aside": aside.mark.words if aside else "",
            "effect_sentence": say.sentence(work["effect_sentence"]),
        }
        books = _of_books(booked, work) | ({"to_refund": "0"} if aside else {})
        yield message_record(work) | told | books | _local_times(work, options)


def _booked(case: Case) -> dict[str, list[Line]]:
    """Return per item id the lines of ledgers that are about it."""
    found: dict[str, list[Line]] = {}
    for line in case.books:
        for item in line.logged.item_ids if line.logged else ():
            found.setdefault(item, []).append(line)
    return found


def _of_books(booked: Mapping[str, list[Line]], work: Any) -> dict[str, Any]:
    """Return what the books hold of a work, and what is to be refunded, as decimals with their currency."""
    mine = list({id(line): line for item in work["item_ids"] for line in booked.get(item, ())}.values())
    if not mine:
        return {}
    left = [f"{amount:f} {currency}".strip() for line in mine for currency, amount in line.to_refund.items() if amount]
    return {"booked_count": sum(line.booked for line in mine), "to_refund": "; ".join(left)}


def _local_times(message: Any, options: ReportOptions) -> dict[str, str]:
    if not options.local:
        return {}

    def there(at: datetime | None) -> str:
        return at.astimezone(options.local).isoformat(timespec="milliseconds") if at else ""

    return {
        "first_received_local": there(message["first_received_at"]),
        "last_received_local": there(message["last_received_at"]),
        "zone": str(options.zone),
    }
