"""What was told and is over: an alert whose condition ended, an incident that people settled."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, get_args

from forensics.choices import AlertKind, WebhookKind
from forensics.sentence import said
from forensics.words import clock_text

Row = Mapping[str, Any]
OVER = "over:"
"""What the news of a notice begins with that says: what this was about is over."""
KIND_WORDS: dict[AlertKind, str] = {
    "dead_letter": "Over: dead letters of {about}",
    "lost": "Over: messages lost on {about}",
    "poison": "Over: a message of {about} redelivered indefinitely",
    "blocked": "Over: blocked message groups of {about}",
    "age": "Over: waiting over the promise: {about}",
    "throttled": "Over: throttled consumers: {about}",
    "source": "Over: a source that could not be read: {about}",
}
_LASTS: frozenset[str] = frozenset({"poison", "blocked", "age", "throttled", "source"})
"""Kinds of which a person wants to hear that they ended; a message that was lost stays lost."""
LATEST = timedelta(days=7)
"""How long after a notice its end is still news."""
_KINDS = frozenset(get_args(AlertKind))


@dataclass(frozen=True)
class Ended:
    """Something that was told and is over. ``news`` names this end; times are UTC."""

    key: str
    news: str
    title: str
    text: str


def standing_news(rows: Iterable[Row], target: str) -> dict[str, list[Row]]:
    """Return per key the notices that a target took since the last one that said it is over, oldest first."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in sorted((r for r in rows if r["target"] == target), key=lambda r: (r["sent_at"], r["evidence_id"])):
        if row["news"].startswith(OVER):
            found.pop(row["incident_id"], None)
        else:
            found[row["incident_id"]].append(row)
    return found


def ended(
    told: Mapping[str, list[Row]],
    kind: WebhookKind,
    wanted: Collection[str],
    on: Collection[str],
    settled: Mapping[str, str],
    until: datetime | None,
    now: datetime,
) -> list[Ended]:
    """Return what of all that was ``told`` is over, by when it was told.

    ``on`` are the keys of alerts that hold now, of the kinds that are ``wanted``; ``settled`` says of incidents why they are
    over. PagerDuty, which keeps an alert open until somebody closes it, hears of every end; others of what lasts.
    """
    found = []
    for key, rows in sorted(told.items(), key=lambda pair: pair[1][-1]["sent_at"]):
        if now - rows[-1]["sent_at"] > LATEST:
            continue
        alert, _, about = key.partition(":")
        at = f"{clock_text(rows[-1]['sent_at'])[:16]}"
        news = f"{OVER}{rows[-1]['evidence_id']}"
        if alert in _KINDS and alert in wanted:
            if key not in on and (kind == "pagerduty" or alert in _LASTS):
                title = said(KIND_WORDS[alert], about=about.replace(":", ", "))  # type: ignore[index]
                text = said(
                    "It was told here at {at} UTC; it no longer holds where the evidence ends, at {until} UTC.",
                    at=at,
                    until=clock_text(until)[:16],
                )
                found.append(Ended(key, news, title, text))
        elif why := settled.get(key):
            text = said("It was told here at {at} UTC; {why}.", at=at, why=why)
            found.append(Ended(key, news, said("Over: {incident}", incident=key), text))
    return found
