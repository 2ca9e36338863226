"""An incident's news for a webhook: a short message, told once per incident and change."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from forensics.errors import ForensicsError
from forensics.identity import evidence_id
from forensics.lake import Findings, Lake
from forensics.report.case import load_case
from forensics.report.opening import Opening
from forensics.report.provisional import provisional_sentence
from forensics.report.records import cause_counts, incident_record, verdict_counts
from forensics.tables.findings import INCIDENTS
from forensics.tables.people import NOTICES
from forensics.verdict.interval import AFFECTED, VERDICTS
from forensics.words import clock_text

Row = Mapping[str, Any]
_NEWS = (
    "incident_id",
    "headline",
    "cause_sentence",
    "messages",
    "messages_at_most",
    *VERDICTS,
    "primary_cause",
    "certainty",
)
"""What a change must touch to be told again: not the end, which moves with every message."""


class WebhookError(ForensicsError):
    """A webhook's address that cannot be used, or a webhook that did not take the notice."""

    exit_code = 3


@dataclass(frozen=True)
class Notice:
    """One incident's news: ``body`` is what the webhook gets, ``news`` the digest that a change changes."""

    incident_id: str
    news: str
    body: dict[str, Any]


def news_of(incident: Row) -> str:
    """Return the digest of what would be told: equal as long as nothing worth telling has changed."""
    told = {name: incident[name] for name in _NEWS} | {"causes": cause_counts(incident)}
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:32]


def notice_of(incident: Row, first: Opening, kind: str, dashboard: str | None, data_version: str) -> Notice:
    """Make the notice of an incident; ``kind`` is slack (Slack and its kin) or json (everything, for a program)."""
    link = f"{dashboard.rstrip('/')}/incident?{urlencode({'incident': incident['incident_id']})}" if dashboard else None
    record = incident_record(incident)
    if kind == "json":
        body = {
            "event": "doubletake.incident",
            "schema_version": 1,
            "news": news_of(incident),
            "data_version": data_version,
            "link": link,
            "repeats": first.repeats,
            "next": list(first.steps),
            "stop": [asdict(move) for move in first.moves],
            "incident": {k: v for k, v in record.items() if k != "evidence_ids"},
        }
    else:
        verdicts = " · ".join(f"{v} {count}" for v, count in verdict_counts(incident).items())
        lines = [f"*{_plain(first.headline)}*", _plain(first.why)]
        if first.repeats:
            lines.append(f"How often: {_plain(first.repeats)}")
        if first.steps:
            lines.append(f"*Next:* {_plain(first.next_line)}")
        if first.is_active and first.moves:
            lines.append(f"*{first.stop_heading}:* {_plain(first.moves[0].title)}")
            lines += [f"`{_plain(command).replace('`', '')}`" for command in first.moves[0].commands]
        lines.append(
            f"`{_plain(incident['incident_id']).replace('`', '')}` since {clock_text(incident['started_at'])[:19]} UTC · {verdicts}"
        )
        if provisional := provisional_sentence(incident):
            lines.append(provisional)
        if link:
            lines.append(f"<{link}|Open the timeline>")
        text = "\n".join(lines)
        body = {
            "text": f"{_plain(first.headline)} ({_plain(incident['incident_id'])})",
            "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": text[:3000]}}],
            "unfurl_links": False,
        }
    return Notice(incident["incident_id"], news_of(incident), body)


def _plain(text: Any) -> str:
    """Escape what Slack reads: a name from a log must not mention a channel or make a link."""
    line = " ".join(str(text).split())
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("*", "∗")


def target_of(address: str) -> str:
    """Name a webhook without telling its address: host and the start of a digest.

    Raises WebhookError for an address that is not https, unless it is on this machine.
    """
    parts = urlsplit(address)
    local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and local)):
        raise WebhookError(
            "the webhook's address is not an https address", "Put it whole into the variable, https:// included."
        )
    return f"{parts.hostname}~{hashlib.sha256(address.encode()).hexdigest()[:12]}"


def due(
    findings: Findings, target: str, kind: str, dashboard: str | None, incident_id: str | None = None
) -> list[Notice]:
    """Return the news that this webhook has not had, oldest incident first; incidents without a suspicion have none."""
    had = {(n["incident_id"], n["news"]) for n in findings.lake.read(NOTICES).to_pylist() if n["target"] == target}
    rows = [
        i
        for i in findings.read(INCIDENTS).to_pylist()
        if (incident_id in (None, i["incident_id"])) and (any(i[v] for v in AFFECTED) or i["messages_at_most"])
    ]
    rows.sort(key=lambda i: (i["started_at"], i["incident_id"]))
    fresh = [i for i in rows if (i["incident_id"], news_of(i)) not in had]
    version = findings.generation.data_version
    return [notice_of(i, load_case(findings, i["incident_id"]).opening, kind, dashboard, version) for i in fresh]


def record(lake: Lake, notice: Notice, target: str, data_version: str, now: datetime) -> None:
    """Keep that the webhook took the notice."""
    row = {
        "evidence_id": evidence_id("notice", target, notice.incident_id, notice.news),
        "incident_id": notice.incident_id,
        "target": target,
        "news": notice.news,
        "data_version": data_version,
        "sent_at": now,
    }
    lake.append(NOTICES, [row], "notices|webhook")
