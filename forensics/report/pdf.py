"""The report as PDF: the page for print."""

from markupsafe import Markup

from forensics.report.case import Case
from forensics.report.options import ReportOptions
from forensics.report.pages import print_page
from forensics.report.paper import FONT, PRINT_STYLE, printed

_STYLE = {
    "font": FONT,
    "mono": FONT,
    "more_style": PRINT_STYLE
    + Markup("""
td.t { white-space: normal; min-width: 5.2em; }
td small, td code { overflow-wrap: anywhere; }"""),
}


def to_pdf(case: Case, options: ReportOptions) -> bytes:
    """Set the report on A4. The same case gives the same bytes; nothing is read but the page and its font."""
    page = print_page(case, options, _STYLE)
    return printed(page, f"{case.incident_id}: {case.opening.headline}", case.data_until_at)
