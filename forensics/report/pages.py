"""A case as a page for people: HTML, HTML for print, or Markdown, in a language and with local times beside UTC."""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache, partial
from typing import Any
from zoneinfo import ZoneInfo

from jinja2 import Environment

from forensics.books import book_sums
from forensics.report import markdown
from forensics.report.annotations import marks_text, standing
from forensics.report.case import Case
from forensics.report.changes import when_before
from forensics.report.environment import environment
from forensics.report.language import Language
from forensics.report.options import ReportOptions
from forensics.report.prevention import CHANGE_WORDS, FINDING_WORDS, REDRIVE_WORDS, dead_of, share_text
from forensics.report.records import cause_counts, verdict_counts
from forensics.report.summary import certainty_text, state_text
from forensics.report.works import by_work
from forensics.words import clock_text, interval_text, ms_between, offset_text, span_text

MOST_EVIDENCE_LINES = 2000
"""Evidence lines printed in HTML and Markdown; JSON has all of them."""
MOST_WORKS = 2000
"""Works listed in HTML and Markdown; CSV and JSON have all of them."""
MOST_EVENTS = 5000
SHORT_ID_CHARS = 8
SCREEN = {"font": "system-ui, sans-serif", "mono": "ui-monospace, monospace", "more_style": ""}


def html_page(case: Case, options: ReportOptions) -> str:
    """Write the HTML report with its interactive timeline: one file that loads nothing."""
    from forensics.report.picture import captioned
    from forensics.report.timeline_html import timeline_parts

    moving = timeline_parts(case, Language(options.language))
    return _render(
        case, "incident.html.j2", options, static=False, picture=captioned(case, options), **SCREEN, **moving
    )


def print_page(case: Case, options: ReportOptions, style: dict[str, str]) -> str:
    """Write the same report without a script, the picture drawn: what becomes a PDF."""
    from forensics.report.picture import captioned

    still: dict[str, Any] = {"figure": None, "lanes": "", "scripts": (), "policy": "default-src 'none'"}
    return _render(case, "incident.html.j2", options, static=True, picture=captioned(case, options), **style, **still)


def markdown_page(case: Case, options: ReportOptions) -> str:
    """Write the report as Markdown."""
    return _render(case, "incident.md.j2", options)


def _render(case: Case, template: str, options: ReportOptions, **more: Any) -> str:
    language = Language(options.language)
    marks = standing(case.annotations)
    works = by_work(case.affected)
    page = _environment(options).get_template(template)
    return page.render(
        case=case,
        incident=case.incident,
        language=options.language,
        zone=options.zone if options.local else None,
        headline=language.headline(case.incident, case.opening.headline),
        opening=case.opening,
        cause=language.cause(case.incident),
        certainty=certainty_text(case),
        state=language.state(case.incident, case.data_until_at, state_text(case)),
        cause_counts=cause_counts(case.incident),
        verdicts=verdict_counts(case.incident),
        repeat_span=_repeat_span(case),
        works=works[:MOST_WORKS],
        more_works=len(works[MOST_WORKS:]),
        book_sums=book_sums(case.books),
        dead=dead_of(case.queue_findings),
        marks_of=lambda work: marks_text([mark for item in work["item_ids"] for mark in marks.get(item, ())]),
        events=case.timeline[:MOST_EVENTS] if options.all_events else (),
        evidence=case.evidence[:MOST_EVIDENCE_LINES],
        _=language,
        d=language.maybe,
        u=language.units,
        say=language.sentence,
        **more,
    )


def _repeat_span(case: Case) -> str:
    affected = {m["item_id"] for m in case.affected}
    repeats = [r["later_received_at"] for r in case.redeliveries if r["item_id"] in affected and r["later_received_at"]]
    if not repeats:
        return "no repeat seen"
    span_ms = ms_between(min(repeats), max(repeats))
    return span_text(span_ms) if span_ms else "all at once"


@lru_cache(maxsize=16)
def _environment(options: ReportOptions) -> Environment:
    language = Language(options.language)
    filters: dict[str, Callable[..., Any]] = {
        "clock": clock_text,
        "there": partial(_there, options.local),
        "local": partial(_local, options),
        "span": language.span,
        "offset": lambda ms: language.units(offset_text(ms)),
        "before": when_before,
        "id": (lambda i: f"…{i[-SHORT_ID_CHARS:]}") if options.short_ids else str,
        "code": markdown.code,
        "text": markdown.text,
        "fence": markdown.fence,
    }
    names = {
        "interval": interval_text,
        "share": share_text,
        "change_words": CHANGE_WORDS,
        "finding_words": FINDING_WORDS,
        "redrive_words": REDRIVE_WORDS,
    }
    return environment(filters, names)


def _there(zone: ZoneInfo | None, at: datetime | None) -> str:
    if zone is None or at is None:
        return ""
    here = at.astimezone(zone)
    return here.strftime("%Y-%m-%d %H:%M:%S.") + f"{here.microsecond // 1000:03d}"


def _local(options: ReportOptions, at: datetime | None) -> str:
    return f" · {_there(options.local, at)} {options.zone}" if options.local and at else ""
