"""One queue's days as a chart."""

from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from forensics.charts.queue_days import incident_frame, queue_days_figure
from forensics.health import QueueReview, WeekReview, week_bounds
from pages._ui.device import is_phone
from pages._ui.plots import finished, legible, show
from pages._ui.said import in_words, language, say

CHART_PX = 900
"""Height of the chart, and of the frame that keeps its place while it is drawn."""
CONFIG: dict[str, Any] = {"displaylogo": False, "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"]}


def days_figure(queue: QueueReview, review: WeekReview, days: Any, incidents: list[dict[str, str]]) -> Any:
    """Draw the eight weeks up to the chosen one, or those of them that were read, a point a day."""
    first, _ = week_bounds(review.trend_weeks[0])
    if len(days):
        read = date.fromisoformat(min(days["day"]))
        first = max(first, read - timedelta(days=read.weekday()))
    figure = queue_days_figure(
        days,
        incident_frame(incidents),
        first,
        review.last_day,
        dict(queue.timeouts.steps),
        ZoneInfo(review.zone),
        review.data_until_at,
        language(),
        is_narrow=is_phone(),
    )
    return finished(legible(figure))


def days_chart(queue: QueueReview, review: WeekReview, figure: Any) -> None:
    """Show the drawn weeks."""
    show(
        figure,
        key=f"days-{queue.queue_arn}-{review.week}",
        config=CONFIG,
        alt=say(
            "{queue}, eight weeks by day: traffic, repeats, age and handler. {why}",
            queue=queue.queue,
            why=in_words(queue.why),
        ),
    )


def drawable(shares: list[float | None]) -> list[float] | None:
    """Return shares as per cent, weeks that nobody read left out: the column draws no holes, and one bar alone as a full cell.

    >>> drawable([None, 0.01, 0.025]), drawable([None, 0.015])
    ([1.0, 2.5], None)
    """
    known = [round(100 * share, 2) for share in shares if share is not None]
    return known if len(known) > 1 else None
