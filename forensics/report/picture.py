"""The timeline of a case as a picture: what plotly, frames and SVG are loaded for."""

from zoneinfo import ZoneInfo

from markupsafe import Markup

from forensics.charts.groups import with_groups
from forensics.charts.static import MOST_LANES, timeline_svg
from forensics.language import Language
from forensics.report.case import Case
from forensics.report.options import ReportOptions
from forensics.report.timeline_html import lane_labels, timeline_frame


def picture(case: Case, options: ReportOptions) -> str:
    """Draw the timeline as SVG; empty where the logs name no message to draw."""
    if not any(row["at"] for row in case.timeline):
        return ""
    rows, groups = with_groups(timeline_frame(case), case.blocked)
    zone = options.local or ZoneInfo("UTC")
    language = Language(options.language)
    title = f"{case.incident_id}: {language.sentence(case.opening.headline)}"
    drawn = timeline_svg(rows, zone, lane_labels(case) | groups, title, language.maybe)
    return drawn[0] if drawn else ""


def captioned(case: Case, options: ReportOptions) -> Markup:
    """Draw the timeline as SVG, and say above it how many messages it leaves out."""
    drawn = picture(case, options)
    lanes = len({row["lane"] for row in case.timeline if row["at"]})
    if drawn and lanes > MOST_LANES:
        said = Language(options.language)(
            "{shown} of {lanes} messages are drawn.", shown=MOST_LANES, lanes=f"{lanes:,}"
        )
        drawn = f"<p>{said}</p>\n{drawn}"
    return Markup(drawn)  # noqa: S704 - ours, and every value in it escaped where it is drawn
