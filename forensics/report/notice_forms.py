"""One piece of news in the forms that others take: Slack, Teams, PagerDuty Events v2, SNS, e-mail, JSON."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.choices import WebhookKind
from forensics.words import time_text

PAGERDUTY = "https://events.pagerduty.com/v2/enqueue"
MOST_TITLE, MOST_TEXT = 200, 3000


@dataclass(frozen=True)
class News:
    """What is told: ``key`` names the thing it is about, ``news`` this state of it, ``is_over`` its end; ``at`` is UTC."""

    key: str
    news: str
    severity: str
    title: str
    text: str
    at: datetime | None
    link: str | None
    data_version: str
    is_over: bool = False


def body_of(told: News, kind: WebhookKind) -> dict[str, Any]:
    """Return the body for a kind of receiver; what comes from a log neither mentions anybody nor makes a link."""
    return _FORMS[kind](told)


def escaped(text: Any) -> str:
    """Escape what Slack reads: a name from a log must not mention a channel or make a link."""
    line = " ".join(str(text).split())
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("*", "∗")


def _line(text: str, most: int) -> str:
    return " ".join(text.split())[:most]


def _slack(told: News) -> dict[str, Any]:
    lines = [f"*{escaped(told.title)}*", escaped(told.text)]
    if told.link:
        lines.append(f"<{told.link}|Open Doubletake>")
    block = {"type": "section", "text": {"type": "mrkdwn", "text": "\n".join(lines)[:MOST_TEXT]}}
    return {"text": escaped(told.title), "blocks": [block], "unfurl_links": False}


def _teams(told: News) -> dict[str, Any]:
    colour = {"critical": "attention", "warning": "warning"}.get(told.severity, "default")
    texts = [
        {"type": "TextBlock", "text": _markdown(told.title), "weight": "bolder", "wrap": True, "color": colour},
        {"type": "TextBlock", "text": _markdown(told.text), "wrap": True},
    ]
    actions = [{"type": "Action.OpenUrl", "title": "Open Doubletake", "url": told.link}] if told.link else []
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": texts,
        "actions": actions,
    }
    return {
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}],
    }


def _markdown(text: str) -> str:
    """Escape what an adaptive card reads as Markdown."""
    line = _line(text, MOST_TEXT)
    return "".join(f"\\{c}" if c in "\\*_[]()#>`~" else c for c in line)


def _pagerduty(told: News) -> dict[str, Any]:
    if told.is_over:
        return {"event_action": "resolve", "dedup_key": told.key[:255]}
    payload: dict[str, Any] = {
        "summary": _line(told.title, 1024),
        "source": "doubletake",
        "severity": told.severity,
        "custom_details": {"text": told.text[:MOST_TEXT], "key": told.key, "data_version": told.data_version},
    }
    if told.at:
        payload["timestamp"] = time_text(told.at)
    links = [{"href": told.link, "text": "Open Doubletake"}] if told.link else []
    return {"event_action": "trigger", "dedup_key": told.key[:255], "payload": payload, "links": links}


def _sns(told: News) -> dict[str, Any]:
    text = told.text if not told.link else f"{told.text}\n{told.link}"
    return {
        "Type": "Notification",
        "MessageId": told.news,
        "Subject": _line(told.title, 100),
        "Message": f"{told.title}\n{text}"[:MOST_TEXT],
        "Timestamp": time_text(told.at),
        "MessageAttributes": {"severity": {"Type": "String", "Value": told.severity}},
    }


def _email(told: News) -> dict[str, Any]:
    parts = [
        told.title,
        "",
        told.text,
        *(["", told.link] if told.link else []),
        "",
        f"Data version {told.data_version}",
    ]
    return {"subject": f"[Doubletake] {_line(told.title, MOST_TITLE)}", "text": "\n".join(parts)}


def _json(told: News) -> dict[str, Any]:
    return {
        "event": "doubletake.alert",
        "schema_version": 1,
        "key": told.key,
        "news": told.news,
        "severity": told.severity,
        "title": told.title,
        "text": told.text,
        "at": time_text(told.at),
        "link": told.link,
        "data_version": told.data_version,
        "state": "over" if told.is_over else "on",
    }


_FORMS = {"slack": _slack, "teams": _teams, "pagerduty": _pagerduty, "sns": _sns, "email": _email, "json": _json}
