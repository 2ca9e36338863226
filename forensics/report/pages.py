"""A case as a page for people: HTML, HTML for print, or Markdown, in a language and with local times beside UTC."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from typing import Any
from zoneinfo import ZoneInfo

from jinja2 import Environment

from forensics.books import book_sums
from forensics.language import Language
from forensics.people import marks_text
from forensics.report import markdown
from forensics.report.case import Case
from forensics.report.changes import when_before
from forensics.report.environment import environment
from forensics.report.evidence_lines import EvidenceLine
from forensics.report.folded import Part, parts
from forensics.report.opening import headline
from forensics.report.options import ReportOptions
from forensics.report.prevention import ASIDE_WORDS, CHANGE_WORDS, FINDING_WORDS, REDRIVE_WORDS, dead_of, share_text
from forensics.report.records import cause_counts, verdicts_told
from forensics.report.runs import came_at
from forensics.report.summary import certainty_text, state_text
from forensics.report.told import cause, rival
from forensics.report.works import by_work, repeated_text
from forensics.sentence import said
from forensics.terms import TRIGGER_NAMES
from forensics.words import clock_text, interval_text, ms_between, offset_text, span_text

MOST_EVIDENCE_LINES = 2000
"""Evidence lines printed in HTML and Markdown; JSON has all of them."""
MOST_EVENTS = 5000
FIRST_WORKS = 25
"""Works whose keys stand on the first page."""
MOST_LEDGER = {"incident.html.j2": 2000, "incident.md.j2": 400}
"""Deliveries in the appendix; JSON has all of them."""
MOST_PRINTED_CHARS = 800
"""Characters of a cited row on paper: a printed batch would fill a page."""
SHORT_ID_CHARS = 8
MOST_LINKS = 6
"""Links from a finding to its evidence."""
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
    from forensics.report.timeline_html import policy

    still: dict[str, Any] = {"figure": None, "lanes": "", "scripts": (), "policy": policy(())}
    return _render(case, "incident.html.j2", options, static=True, picture=captioned(case, options), **style, **still)


def markdown_page(case: Case, options: ReportOptions) -> str:
    """Write the report as Markdown."""
    return _render(case, "incident.md.j2", options)


def _render(case: Case, template: str, options: ReportOptions, **more: Any) -> str:
    language = Language(options.language)
    works = case.first_works
    works_count = case.judged.get("works") or len(works)
    verdicts, aside = verdicts_told(case.incident)
    is_printed = bool(more.get("static"))

    def marks_of(work: Mapping[str, Any]) -> str:
        return marks_text(case.marks.of(work["item_ids"]))

    evidence = (_proving(case) if is_printed else case.evidence)[:MOST_EVIDENCE_LINES]
    linked: set[str] = set()

    def link(ids: Sequence[str] | None, from_ledger: bool = False) -> list[str]:
        labels = case.labels(list(ids or ()))[:MOST_LINKS]
        linked.update(() if from_ledger else labels)
        return labels

    page = _environment(options).get_template(template)
    return page.render(
        shown_chars=MOST_PRINTED_CHARS if is_printed else None,
        case=case,
        incident=case.incident,
        language=options.language,
        zone=options.zone if options.local else None,
        headline=language.sentence(case.opening.headline),
        opening=case.opening,
        cause=cause(language, case.incident),
        certainty=certainty_text(case),
        state=language.sentence(state_text(case)),
        cause_counts=cause_counts(case.incident),
        sent_again=_sent_again(case),
        verdicts=verdicts,
        aside=aside,
        repeat_span=_repeat_span(case),
        works=works,
        more_works=f"{more_works:,}" if (more_works := works_count - len(works)) > 0 else None,
        first_works=works[:FIRST_WORKS],
        more_than_first=f"{more_works:,}" if (more_works := works_count - FIRST_WORKS) > 0 else None,
        reasons=_reasons(works),
        facts=_facts(case, options),
        left_out_words=language(
            "This report tells of the first {shown} of {all} messages, affected ones first: moments, cause chain, ledger and "
            "evidence are theirs. The counts are of all, and the CSV lists the work of every affected one.",
            shown=f"{len(case.messages):,}",
            all=f"{len(case.messages) + case.left_out:,}",
        ),
        most_ledger=MOST_LEDGER[template],
        book_sums=book_sums(case.books),
        dead=dead_of(case.queue_findings),
        marks_of=marks_of,
        has_marks=any(map(marks_of, works)),
        named=lambda code: language(TRIGGER_NAMES[code]) if code in TRIGGER_NAMES else language.maybe(code),
        said_of=lambda incident: language.sentence(headline(incident)),
        events=case.timeline[:MOST_EVENTS] if options.all_events else (),
        evidence=evidence,
        link=link,
        parts=lambda: [Part(evidence)] if is_printed else list(parts(evidence, linked)),
        _=language,
        d=language.maybe,
        place=language.place,
        u=language.units,
        say=language.sentence,
        rival=partial(rival, language),
        **more,
    )


def _reasons(works: Sequence[Mapping[str, Any]]) -> dict[tuple[str, ...], list[str]]:
    """Return each set of sentences that says why, with the keys of the works that it is said of."""
    found: dict[tuple[str, ...], list[str]] = {}
    for work in works:
        said = tuple(work[name] for name in ("trigger_sentence", "guard_sentence", "effect_sentence") if work[name])
        found.setdefault(said, []).append((work["business_keys"] or work["message_ids"] or [work["item_id"]])[0])
    return found


def _facts(case: Case, options: ReportOptions) -> dict[str, str]:
    """Return where and when it was, and what this report was made from, by the words for it."""
    incident = case.incident
    start, end = incident["started_at"], incident["ended_at"]
    _, _, _, region, account, *_ = [*str(incident["queue_arn"] or "").split(":"), *[""] * 5]
    period = f"{clock_text(start)} – {clock_text(end)} UTC"
    if options.local:
        period += f" ({_there(options.local, start)} – {_there(options.local, end)} {options.zone})"
    facts = {
        "Account": account,
        "Region": region,
        "Queue": incident["queue"] + (" (FIFO)" if incident["is_fifo"] else ""),
        "Period": period,
        "Data version": case.data_version,
        "Made at": said("{at} UTC", at=clock_text(case.made_at)) if case.made_at else "",
        "Evidence until": said("{at} UTC", at=clock_text(case.data_until_at)) if case.data_until_at else "",
    }
    return {name: value for name, value in facts.items() if value}


def _proving(case: Case) -> tuple[EvidenceLine, ...]:
    """Return the cited rows that the cause chain, the key moments and the settings rest on."""
    told = (case.chain, case.moments, case.settings, case.changes, case.blocked)
    cited = {i for facts in told for fact in facts for i in fact.evidence_ids}
    return tuple(line for line in case.evidence if line.evidence_id in cited)


def _sent_again(case: Case) -> dict[str, int]:
    """Count the affected works that have a further message id, by where it comes from; nothing where not all are in the case."""
    if case.left_out:
        return {}
    return dict(Counter(work["origin"] for work in by_work(case.affected) if work["origin"]).most_common())


def _repeat_span(case: Case) -> str:
    affected = {m["item_id"] for m in case.affected}
    repeats = [at for r in case.redeliveries if r["item_id"] in affected and (at := came_at(r))]
    if not case.left_out:
        repeats += [at for work in case.works() for at in (work["first_repeat_at"], *work["other_ids_at"]) if at]
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
        "repeated": repeated_text,
        "share": share_text,
        "change_words": CHANGE_WORDS,
        "aside_words": ASIDE_WORDS,
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
