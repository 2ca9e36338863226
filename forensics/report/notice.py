"""An incident's news for a webhook: a short message, told once per incident and change."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from forensics.choices import WebhookKind
from forensics.errors import ForensicsError
from forensics.identity import evidence_id
from forensics.lake import Findings, Lake
from forensics.lake.rows import plain_rows
from forensics.language import ENGLISH, Language
from forensics.people import People, aside_text, judged, people_of
from forensics.report.alerts import Alert, alerts
from forensics.report.case import load_case
from forensics.report.faults import Fault, fault_record, faults
from forensics.report.notice_forms import News, body_of
from forensics.report.notice_forms import escaped as _plain
from forensics.report.opening import Opening
from forensics.report.over import Ended, ended, standing_news
from forensics.report.provisional import provisional_sentence
from forensics.report.records import cause_counts, counted_record, incident_record, verdicts_told
from forensics.report.standing import standing_incidents
from forensics.report.told import cause
from forensics.sentence import capitalized, said
from forensics.settings import Settings
from forensics.tables.people import NOTICES
from forensics.verdict.interval import AFFECTED, VERDICTS
from forensics.words import clock_text, time_text

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


CLOSES = ("fixed", "accepted")
"""Marks on a whole incident after which nobody has to be kept awake by it."""


class WebhookError(ForensicsError):
    """A webhook's address that cannot be used, or a webhook that did not take the notice."""

    exit_code = 3


@dataclass(frozen=True)
class Notice:
    """The news of a fault: ``body`` is what the webhook gets and speaks of the incident named, the newest with news.

    ``news`` is the digest that a change changes; ``also`` holds incident and digest of earlier ones that it tells with it.
    """

    incident_id: str
    news: str
    body: dict[str, Any]
    also: tuple[tuple[str, str], ...] = ()
    is_critical: bool = True


def news_of(incident: Row) -> str:
    """Return the digest of what would be told: equal as long as nothing worth telling has changed."""
    told = {name: incident[name] for name in _NEWS} | {"causes": cause_counts(incident)}
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:32]


def notice_of(
    incident: Row,
    first: Opening,
    kind: WebhookKind,
    dashboard: str | None,
    data_version: str,
    fault: Fault | None = None,
    say: Language = ENGLISH,
    until: datetime | None = None,
) -> Notice:
    """Make the notice of an incident; ``kind`` is slack (Slack and its kin) or json (everything, for a program).

    ``fault`` is told where the incident is not the first of it, with its state where the data ends (``until``, UTC).
    """
    link = f"{dashboard.rstrip('/')}/incident?{urlencode({'incident': incident['incident_id']})}" if dashboard else None
    record = incident_record(judged(incident))
    if kind not in ("slack", "json"):
        steps = " " + say("Next: {steps}", steps=say.sentence(first.next_line)) if first.steps else ""
        title = _of_queue(incident, first, say)
        told = News(
            key=incident["incident_id"],
            news=news_of(incident),
            severity="critical" if incident["confirmed"] else "warning",
            title=title,
            text=f"{cause(say, incident)}{steps}{_set_aside(incident, say)}",
            at=incident["started_at"],
            link=link,
            data_version=data_version,
        )
        return Notice(told.key, told.news, body_of(told, kind), is_critical=told.severity == "critical")
    if kind == "json":
        body = {
            "event": "doubletake.incident",
            "schema_version": 1,
            "news": news_of(incident),
            "data_version": data_version,
            "link": link,
            "fault": fault_record(fault, until) if fault else None,
            "repeats": first.repeats,
            "next": list(first.steps),
            "stop": [asdict(move) for move in first.moves],
            "incident": {k: v for k, v in record.items() if k != "evidence_ids"},
            "counted": counted_record(incident),
        }
    else:
        counts, aside = verdicts_told(incident)
        verdicts = " · ".join(f"{say.maybe(v)} {count}" for v, count in counts.items())
        verdicts += f" · {say('{n} of all set aside by people', n=aside)}" if aside else ""
        headline = _of_queue(incident, first, say)
        lines = [f"*{_plain(headline)}*", _plain(cause(say, incident))]
        if first.repeats:
            lines.append(say("How often: {repeats}", repeats=_plain(say.sentence(first.repeats))))
        if fault and fault.times:
            least, most = fault.repeats
            times, repeats = say.sentence(fault.times), say.interval(least, most)
            lines.append(say("It came back: {times}, {repeats} repeats in all", times=times, repeats=repeats))
        if first.steps:
            lines.append(say("*Next:* {steps}", steps=_plain(say.sentence(first.next_line))))
        if first.is_active and first.moves:
            lines.append(f"*{say(first.stop_heading)}:* {_plain(say.sentence(first.moves[0].title))}")
            lines += [f"`{_plain(command).replace('`', '')}`" for command in first.moves[0].commands]
        lines.append(
            say(
                "`{incident}` since {at} UTC · {verdicts}",
                incident=_plain(incident["incident_id"]).replace("`", ""),
                at=clock_text(incident["started_at"])[:19],
                verdicts=verdicts,
            )
        )
        if provisional := provisional_sentence(incident):
            lines.append(say.sentence(provisional))
        if link:
            lines.append(f"<{link}|{say('Open the timeline')}>")
        text = "\n".join(lines)
        body = {
            "text": f"{_plain(headline)} ({_plain(incident['incident_id'])})",
            "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": text[:3000]}}],
            "unfurl_links": False,
        }
    return Notice(incident["incident_id"], news_of(incident), body, is_critical=bool(incident["confirmed"]))


def _of_queue(incident: Row, first: Opening, say: Language) -> str:
    """Say what happened, its queue first: a pager or a mailbox shows nothing else."""
    return f"{incident['queue']}: {say.sentence(first.headline)}"


def _set_aside(incident: Row, say: Language) -> str:
    """Say in a notice what people's marks took out of its numbers."""
    aside = aside_text(incident.get("set_aside") or ())
    return " " + say.sentence(said("Set aside, {aside}.", aside=aside)) if aside else ""


def alert_notice(
    alert: Alert, kind: WebhookKind, dashboard: str | None, data_version: str, say: Language = ENGLISH
) -> Notice:
    """Make the notice of an alert."""
    link = f"{dashboard.rstrip('/')}/queue_health" if dashboard else None
    title = say.sentence(capitalized(alert.title))
    told = News(alert.key, alert.news, alert.severity, title, say.sentence(alert.text), alert.at, link, data_version)
    return Notice(alert.key, alert.news, body_of(told, kind), is_critical=alert.severity == "critical")


def trial_notice(kind: WebhookKind, now: datetime, say: Language = ENGLISH) -> Notice:
    """Make a notice that says nothing but that it came."""
    key = f"test:{time_text(now)}"
    digest = hashlib.sha256(key.encode()).hexdigest()[:32]
    text = say("Notices come here. Nothing has happened.")
    told = News(key, digest, "info", say("A test of Doubletake"), text, now, None, "-")
    return Notice(key, told.news, body_of(told, kind))


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
    findings: Findings,
    target: str,
    kind: WebhookKind,
    dashboard: str | None,
    incident_id: str | None = None,
    settings: Settings | None = None,
    now: datetime | None = None,
    say: Language = ENGLISH,
) -> list[Notice]:
    """Return the news that this webhook has not had, one notice per fault, the oldest first; without a suspicion there is none.

    With settings and the time (UTC) also alerts, and in quiet hours only what is critical.
    """
    told = standing_news(plain_rows(findings.lake.read(NOTICES)), target)
    had = {(key, n["news"]) for key, mine in told.items() for n in mine}
    people = people_of(findings)
    every = standing_incidents(findings, people)
    rows = [i for i in every if incident_id in (None, i["incident_id"]) and is_told(i)]
    settled = _settled(every, told, people)
    rows = [i for i in rows if i["incident_id"] not in settled]
    rows.sort(key=lambda i: (i["started_at"], i["incident_id"]))
    fresh = {i["incident_id"]: i for i in rows if (i["incident_id"], news_of(i)) not in had}
    version = findings.generation.data_version
    notices = []
    for fault in faults(rows, None):
        mine = [fresh[name] for name in fault.incident_ids if name in fresh]
        if mine:
            first = load_case(findings, mine[0]["incident_id"], people=people).opening
            whole = fault if len(fault.incidents) > 1 else None
            notice = notice_of(mine[0], first, kind, dashboard, version, whole, say, findings.generation.data_until_at)
            notices.append(replace(notice, also=tuple((i["incident_id"], news_of(i)) for i in mine[1:])))
    notices.sort(key=lambda n: (fresh[n.incident_id]["started_at"], n.incident_id))
    if incident_id is not None or settings is None or now is None:
        return notices
    found = alerts(findings, settings, now)
    of_alerts = [alert_notice(a, kind, dashboard, version, say) for a in found]
    notices += [n for n in of_alerts if (n.incident_id, n.news) not in had]
    if findings.generation.data_since_at:  # what is not among these findings may only be left out of them
        known = {i["incident_id"] for i in every}
        told = {key: rows for key, rows in told.items() if key in known}
    over = ended(
        told, kind, settings.notify.alerts, {a.key for a in found}, settled, findings.generation.data_until_at, now
    )
    notices += [over_notice(o, kind, version, now, say) for o in over]
    is_quiet = settings.notify.is_quiet(now.astimezone(settings.team.local))
    return [n for n in notices if n.is_critical] if is_quiet else notices


def is_told(incident: Row) -> bool:
    """Tell whether anything of an incident counts."""
    return bool(any(incident[v] for v in AFFECTED) or incident["messages_at_most"])


def _settled(incidents: Sequence[Row], told: Mapping[str, Any], people: People) -> dict[str, str]:
    """Say of incidents why they are over: people say so, or what was told is in another incident by now."""
    found = {key: "its messages are told under another incident by now" for key in told if ":" not in key}
    for incident in incidents:
        key = incident["incident_id"]
        found.pop(key, None)
        last = incident["ended_at"] or incident["started_at"]
        closing = [m for m in people.of(key).whole if m.mark in CLOSES and m.marked_at >= last]
        if not is_told(incident):
            aside = aside_text(incident.get("set_aside") or ())
            set_aside = said("people set all of it aside: {aside}", aside=aside)
            found[key] = set_aside if aside else "nothing of it is suspected any more"
        elif closing:
            last_mark = closing[-1]
            by = {"words": last_mark.words, "who": last_mark.author, "name": last_mark.reason}
            found[key] = said("{words} ({who}): {name}", **by)
    return found


def over_notice(over: Ended, kind: WebhookKind, data_version: str, now: datetime, say: Language = ENGLISH) -> Notice:
    """Make the notice that something is over: PagerDuty closes the alert of the same key."""
    news = News(
        over.key, over.news, "info", say.sentence(over.title), say.sentence(over.text), now, None, data_version, True
    )
    return Notice(over.key, over.news, body_of(news, kind), is_critical=kind == "pagerduty")


def record(lake: Lake, notice: Notice, target: str, data_version: str, now: datetime) -> None:
    """Keep that the webhook took the notice, of every incident that it tells."""
    rows = [
        {
            "evidence_id": evidence_id("notice", target, incident_id, news, time_text(now)),
            "incident_id": incident_id,
            "target": target,
            "news": news,
            "data_version": data_version,
            "sent_at": now,
        }
        for incident_id, news in ((notice.incident_id, notice.news), *notice.also)
    ]
    lake.append(NOTICES, rows, "notices|webhook")
