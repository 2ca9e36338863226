"""One case as a file: HTML, Markdown, JSON or CSV. The same case gives the same bytes; no clock is asked."""

import json
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from forensics.report import markdown
from forensics.report.case import Case
from forensics.report.csv_text import to_csv
from forensics.report.prevention import CHANGE_WORDS, FINDING_WORDS, REDRIVE_WORDS, dead_of, share_text
from forensics.report.records import (
    cause_counts,
    delivery_record,
    incident_record,
    message_record,
    plain_value,
)
from forensics.report.summary import certainty_text, headline, state_text, summary
from forensics.report.words import clock_text, count_text, interval_text, ms_between, offset_text, span_text
from forensics.verdict.interval import VERDICTS

FORMATS = ("html", "md", "json", "csv")
SCHEMA_VERSION = 1
"""Version of the JSON report; fields are only added within one."""
MOST_EVIDENCE_LINES = 2000
"""Evidence lines printed in HTML and Markdown; JSON has all of them."""
MOST_MESSAGES = 2000
"""Messages listed in HTML and Markdown; CSV and JSON have all of them."""

CSV_COLUMNS = (
    "message_id",
    "business_keys",
    "verdict",
    "certainty",
    "effects_at_least",
    "effects_at_most",
    "queue",
    "group_id",
    "deduplication_id",
    "receive_count",
    "deliveries",
    "causes",
    "origin",
    "first_received_at",
    "last_received_at",
    "dead_lettered",
    "incident_id",
    "work_id",
    "related_message_ids",
    "effect_sentence",
)


def render(case: Case, format: str) -> bytes:
    """Return the report of a case as UTF-8 bytes; ValueError for a format that is not in FORMATS."""
    if format == "html":
        return _page(case, "incident.html.j2")
    if format == "md":
        return _page(case, "incident.md.j2")
    if format == "json":
        return (json.dumps(as_json(case), indent=1, allow_nan=False) + "\n").encode()
    if format == "csv":
        return to_csv([message_record(m) for m in case.affected], CSV_COLUMNS).encode()
    raise ValueError(f"{format!r} is not one of {FORMATS}")


def as_json(case: Case) -> dict[str, Any]:
    """Return everything the case holds as plain values; times are ISO 8601 UTC text."""

    def rows(items: tuple[Any, ...]) -> list[dict[str, Any]]:
        return [{k: plain_value(v) for k, v in row.items()} for row in items]

    def told(items: tuple[Any, ...]) -> list[dict[str, Any]]:
        return rows(tuple({**vars(item), "evidence_ids": list(item.evidence_ids)} for item in items))

    return {
        "schema": "doubletake.incident-report",
        "schema_version": SCHEMA_VERSION,
        "data_version": case.data_version,
        "rules_version": case.rules_version,
        "data_until_at": plain_value(case.data_until_at),
        "incident": incident_record(case.incident),
        "summary": summary(case),
        "key_moments": told(case.moments),
        "cause_chain": told(case.chain),
        "excluded": list(case.excluded),
        "batches_at_end": rows(
            tuple(
                {**vars(b), "items": [vars(i) | {"business_keys": list(i.business_keys)} for i in b.items]}
                | {"evidence_ids": list(b.evidence_ids)}
                for b in case.batches
            )
        ),
        "blocked_groups": told(case.blocked),
        "settings": told(case.settings),
        "changes_before": told(case.changes),
        "gaps": list(case.gaps),
        "follow_ups": rows(tuple(vars(f) for f in case.follow_ups)),
        "counterfactuals": rows(case.counterfactuals),
        "queue_findings": rows(case.queue_findings),
        "messages": [message_record(m) for m in case.messages],
        "deliveries": [delivery_record(d) for d in case.deliveries],
        "redeliveries": rows(case.redeliveries),
        "rulings": rows(case.rulings),
        "timeline": rows(case.timeline),
        "evidence": rows(tuple(vars(line) for line in case.evidence)),
    }


def _page(case: Case, template: str) -> bytes:
    page = _environment().get_template(template)
    text = page.render(
        case=case,
        incident=case.incident,
        headline=headline(case),
        certainty=certainty_text(case),
        state=state_text(case),
        cause_counts=cause_counts(case.incident),
        verdicts=VERDICTS,
        repeat_span=_repeat_span(case),
        dead=dead_of(case.queue_findings),
        messages=case.affected[:MOST_MESSAGES],
        evidence=case.evidence[:MOST_EVIDENCE_LINES],
        **(_html_parts(case) if template.endswith(".html.j2") else {}),
    )
    return text.encode("utf-8", "replace")


def _repeat_span(case: Case) -> str:
    affected = {m["item_id"] for m in case.affected}
    repeats = [r["later_received_at"] for r in case.redeliveries if r["item_id"] in affected and r["later_received_at"]]
    if not repeats:
        return "no repeat seen"
    span_ms = ms_between(min(repeats), max(repeats))
    return span_text(span_ms) if span_ms else "all at once"


def _html_parts(case: Case) -> dict[str, Any]:
    from forensics.report.timeline_html import timeline_parts

    return timeline_parts(case)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("forensics.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        clock=clock_text,
        span=span_text,
        offset=offset_text,
        code=markdown.code,
        text=markdown.text,
        fence=markdown.fence,
    )
    environment.globals.update(
        share=share_text, change_words=CHANGE_WORDS, finding_words=FINDING_WORDS, redrive_words=REDRIVE_WORDS
    )
    environment.globals.update(interval=interval_text, count=count_text, Markup=Markup)
    return environment
