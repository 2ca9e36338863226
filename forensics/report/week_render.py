"""The weekly review as a file: HTML, PDF, Markdown or CSV. The same review gives the same bytes; no clock is asked."""

from collections.abc import Callable
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from jinja2 import Environment
from markupsafe import Markup

from forensics.extras import need
from forensics.health import NUMBERS, QueueReview, WeekReview, week_title
from forensics.health.signals import interval, percent_interval, span
from forensics.language import Language
from forensics.people import aside_text
from forensics.report import markdown
from forensics.report.csv_text import to_csv
from forensics.report.environment import environment
from forensics.report.formats import WEEK_FORMATS
from forensics.report.paper import FONT, PRINT_STYLE, printed
from forensics.report.week import WEEK_COLUMNS, headline, set_aside, spark_line, week_record
from forensics.sentence import counted
from forensics.sentence import said as filled
from forensics.words import clock_text, percent, span_text

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_WIDTH, _HEIGHT = 84, 24
QUEUES_ABREAST = 6
"""Queues beside one another in a table of numbers: more are wider than a page."""


def render_week(review: WeekReview, format: str, language: str = "en") -> bytes:
    """Return the review as bytes, text as UTF-8; ValueError for a format that is not in WEEK_FORMATS.

    The PDF needs an optional package: raises ExtraMissingError where it is not installed.

    ``language`` is one of LANGUAGES; the CSV, which programs read, is the same in each.
    """
    if format == "csv":
        return to_csv([week_record(review, q) for q in review.queues], WEEK_COLUMNS).encode("utf-8", "replace")
    if format not in WEEK_FORMATS:
        raise ValueError(f"{format!r} is not one of {WEEK_FORMATS}")
    if format == "pdf":
        need("pdf", "the weekly review as PDF")
    spoken = Language(language)
    title = week_title(review.week)
    if language != "en":
        title = spoken("{first} to {last}", first=review.first_day, last=review.last_day)
    is_paper = format == "pdf"
    page = _environment(language).get_template(f"week.{'html' if is_paper else format}.j2")
    written = page.render(
        font=FONT if is_paper else "system-ui, sans-serif",
        mono=FONT if is_paper else "ui-monospace, monospace",
        more_style=PRINT_STYLE if is_paper else "",
        review=review,
        language=language,
        title=title,
        policy=_POLICY,
        cards=cards(review),
        aside=aside_text(set_aside(review)),
        _=spoken,
    )
    if is_paper:
        name = spoken("Queue health, {week}", week=review.week)
        return printed(written, f"{name}: {spoken.sentence(headline(review))}", review.data_until_at, wide=True)
    return written.encode("utf-8", "replace")


def reach(review: WeekReview) -> str:
    """Say how far the evidence reaches into the week, in the zone of its days; empty where it covers the whole of it."""
    if review.is_running and review.data_until_at:
        until = review.data_until_at.astimezone(ZoneInfo(review.zone))
        return filled("The week so far: evidence to {at} {zone}.", at=f"{until:%Y-%m-%d %H:%M}", zone=review.zone)
    return ""


def compared_with(review: WeekReview) -> str:
    """Say what the changes are against: never a part of a week against a whole one."""
    if not review.is_running:
        return "Changes are against the week before."
    if not any(q.compared is not None for q in review.queues):
        return "No day of it can be compared yet, so no change is shown."
    if review.days == 1:
        return "Changes compare the day that is over with the same day of the week before."
    return filled(
        "Changes compare the {count} days that are over with the same days of the week before.", count=review.days
    )


def cards(review: WeekReview) -> list[tuple[str, str, str | None]]:
    """Return the numbers on top: label, value, and the change against the week before (None where unknown)."""
    change = review.redelivered_change()
    points = (
        None if change is None else filled("{n} pt", n=f"{100 * change:+.1f}") if abs(change) >= 0.0005 else "no change"
    )
    least, most = review.total("twice_at_least"), review.total("twice_at_most")
    twice = "unknown" if least is None or most is None else interval(least, most)
    numbers = [
        (label, _number(review.total(column)), _change(review.change(column)))
        for label, column in (
            ("Timeouts", "timeout_count"),
            ("Moved to a DLQ", "dead_lettered_count"),
            ("Expired handles", "expired_handle_count"),
        )
    ]
    return [
        ("Queues needing work", filled("{count} of {total}", count=len(review.needy), total=len(review.queues)), None),
        ("Redelivered", percent(review.redelivered()), points),
        ("Processed twice", twice, _change(review.change("twice_at_least"))),
        *numbers,
    ]


def twice_words(queue: QueueReview) -> str:
    """Say how many messages were processed twice, with their share."""
    least, most = queue.number("twice_at_least"), queue.number("twice_at_most")
    if least is None or most is None:
        return "unknown"
    share = f" ({percent_interval(*queue.twice)})" if queue.twice and most else ""
    return interval(least, most) + share


def spark_svg(values: list[float | None], unknown: str = "unknown") -> Markup:
    """Draw numbers as a small line; where nothing is known the line is broken. Text for readers without pictures."""
    known = [v for v in values if v is not None]
    top = max(known, default=0.0) or 1.0
    step = _WIDTH / max(len(values) - 1, 1)
    marks: list[str] = []
    run: list[str] = []
    for n, value in enumerate([*values, None]):
        if value is not None:
            run.append(f"{n * step:.1f},{_HEIGHT - 3 - (value / top) * (_HEIGHT - 6):.1f}")
            continue
        if len(run) > 1:
            marks.append(f'<polyline points="{" ".join(run)}"/>')
        elif run:
            x, _, y = run[0].partition(",")
            marks.append(f'<circle cx="{x}" cy="{y}" r="2"/>')
        run = []
    label = ", ".join(unknown if v is None else percent(v) for v in values)
    return Markup(  # noqa: S704 - made of numbers and a word of ours
        f'<svg class="spark" role="img" aria-label="{label}" viewBox="-2 0 {_WIDTH + 4} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}">{"".join(marks)}</svg>'
    )


def _number(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _change(change: int | None) -> str | None:
    return None if change is None else f"{change:+,}" if change else "no change"


@cache
def _environment(code: str) -> Environment:
    language = Language(code)
    say = language.sentence
    filters: dict[str, Callable[..., Any]] = {
        "percent": lambda share: say(percent(share)),
        "number": lambda value: say(_number(value)),
        "clock": clock_text,
        "code": markdown.code,
        "text": markdown.text,
        "spark": lambda values: spark_svg(values, language.maybe("unknown")),
        "blocks": spark_line,
        "twice": lambda queue: say(twice_words(queue)),
        "span": lambda value_s: say(_span(value_s)),
        "handler": lambda value_ms: say(_handler(value_ms)),
        "say": say,
        "units": language.units,
        "told": lambda incident: say(incident["headline"] or ""),
    }
    names = {
        "headline": headline,
        "reach": reach,
        "compared_with": compared_with,
        "count": counted,
        "stop": language("."),
        "numbers": NUMBERS,
        "QUEUES_ABREAST": QUEUES_ABREAST,
    }
    return environment(filters, names)


def _span(value_s: int | None) -> str:
    return "unknown" if value_s is None else span(value_s)


def _handler(value_ms: int | None) -> str:
    return "unknown" if value_ms is None else span_text(value_ms)
