"""HTML set on A4 with one embedded font, so that every machine makes the same file."""

import io
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from forensics.clock import EPOCH

_FONT_URL = "doubletake:font"
FONT = "Report"
PRINT_STYLE = Markup(f"""@font-face {{ font-family: {FONT}; src: url({_FONT_URL}); }}
@page {{ margin: 14mm 12mm 16mm; @bottom-right {{ content: counter(page) " / " counter(pages); font: 7.5pt {FONT}; }} }}
/* The font's localised digits and ligatures cannot be copied out of a PDF. */
body {{ font-feature-settings: "locl" 0, "liga" 0; font-size: 9.5pt; margin: 0; max-width: none; }}
a {{ text-decoration: none; }}
summary {{ list-style: none; }}
/* A table may stand apart from its heading, whatever break-after says: the heading itself takes room for its first row. */
h2, h3 {{ break-inside: avoid; border: 0; padding: 0; }}
h2::after, h3::after {{ content: ""; display: block; height: 9em; margin-bottom: -9em; }}
h2::after {{ border-top: 1px solid #d5d8dc; margin-top: .2rem; }}
svg, svg text {{ font-family: {FONT}; }}
table {{ font-size: 8pt; }}
code, pre {{ font-size: 7.5pt; }}
h2 code {{ font-size: 12pt; }} h2 .need {{ font-size: 9.5pt; }}""")  # noqa: S704 - ours, no evidence in it


class NothingIsLoadedError(Exception):
    """The page asked for something that is not its font."""


def printed(page: str, title: str, data_until_at: datetime | None, *, wide: bool = False) -> bytes:
    """Set a page of HTML as PDF. The same page gives the same bytes; nothing is read but its font.

    PDF asks for a date: the end of the evidence, UTC, takes the place of a clock. ``wide`` turns the paper.
    """
    import plutoprint

    class OnlyTheFont(plutoprint.ResourceFetcher):
        def fetch_url(self, url: str) -> "plutoprint.ResourceData":
            if url != _FONT_URL:
                raise NothingIsLoadedError(url[:100])
            return plutoprint.ResourceData(_font(), "font/otf", "")

    size = plutoprint.PAGE_SIZE_A4
    book = plutoprint.Book(size.landscape() if wide else size)
    book.custom_resource_fetcher = OnlyTheFont()
    book.load_html(page, base_url="doubletake:report")
    when = f"{data_until_at or EPOCH:%Y-%m-%dT%H:%M:%SZ}"  # it knows no fractions of seconds
    for field, value in (
        (plutoprint.PDF_METADATA_TITLE, title),
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
