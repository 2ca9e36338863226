"""The report as PDF: the page for print, set with one embedded font, so that every machine makes the same file."""

import io
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from forensics.clock import EPOCH
from forensics.report.case import Case
from forensics.report.options import ReportOptions
from forensics.report.pages import print_page

_FONT_URL = "doubletake:font"
_STYLE = {
    "font": "Report",
    "mono": "Report",
    "more_style": Markup(f"""@font-face {{ font-family: Report; src: url({_FONT_URL}); }}
@page {{ margin: 14mm 12mm; }}
/* The font's localised digits and ligatures cannot be copied out of a PDF. */
body {{ font-feature-settings: "locl" 0, "liga" 0; font-size: 9.5pt; margin: 0; max-width: none; }}
a {{ text-decoration: none; }}
summary {{ list-style: none; }}
svg, svg text {{ font-family: Report; }}
table {{ font-size: 8pt; }}
td.t {{ white-space: normal; min-width: 5.2em; }}
td small, td code {{ overflow-wrap: anywhere; }}
code, pre {{ font-size: 7.5pt; }}"""),  # noqa: S704 - ours, no evidence in it
}


class NothingIsLoadedError(Exception):
    """The page asked for something that is not its font."""


def to_pdf(case: Case, options: ReportOptions) -> bytes:
    """Set the report on A4. The same case gives the same bytes; nothing is read but the page and its font."""
    import plutoprint

    class OnlyTheFont(plutoprint.ResourceFetcher):
        def fetch_url(self, url: str) -> "plutoprint.ResourceData":
            if url != _FONT_URL:
                raise NothingIsLoadedError(url[:100])
            return plutoprint.ResourceData(_font(), "font/otf", "")

    book = plutoprint.Book(plutoprint.PAGE_SIZE_A4)
    book.custom_resource_fetcher = OnlyTheFont()
    book.load_html(print_page(case, options, _STYLE), base_url="doubletake:report")
    # PDF asks for a date; the evidence's own end takes the place of a clock. It knows no fractions of seconds.
    when = f"{case.data_until_at or EPOCH:%Y-%m-%dT%H:%M:%SZ}"
    for field, value in (
        (plutoprint.PDF_METADATA_TITLE, f"{case.incident_id}: {case.opening.headline}"),
        (plutoprint.PDF_METADATA_CREATOR, "Doubletake"),
        (plutoprint.PDF_METADATA_CREATION_DATE, when),
        (plutoprint.PDF_METADATA_MODIFICATION_DATE, when),
    ):
        book.set_metadata(field, value)
    return _written(book)


def _written(book: Any) -> bytes:
    out = io.BytesIO()
    book.write_to_pdf_stream(out)
    return out.getvalue()


@cache
def _font() -> bytes:
    """Return Noto Sans JP, which has Latin and Japanese letters."""
    return files("pylopdf_fonts_jp").joinpath("NotoSansJP-Regular.otf").read_bytes()
