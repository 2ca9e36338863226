"""The cause chain of a work that came under another message id: sent, done, sent again, done again."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.report.chain import Fact
from forensics.report.runs import consumer_text, ids_of
from forensics.sentence import said
from forensics.words import ms_between, span_text

Row = Mapping[str, Any]


def sent_again_chain(incident: Row, messages: Sequence[Row], deliveries: Sequence[Row]) -> tuple[Fact, ...]:
    """Return the facts about the first work of an incident that was sent again; none where none was.

    ``messages`` and ``deliveries`` are those of the incident, times UTC; offsets count from its start.
    """
    again = [m for m in messages if m["origin"] and m["first_received_at"]]
    if not again:
        return ()
    second = min(again, key=lambda m: (m["first_received_at"], m["item_id"]))
    earlier = [m for m in messages if m["work_id"] == second["work_id"] and _sent(m) < _sent(second)]
    facts: list[Fact] = []

    def add(at: datetime | None, sentence: str, rows: Sequence[Row]) -> None:
        facts.append(Fact(at, ms_between(incident["started_at"], at), sentence, ids_of(rows)))

    if earlier:
        first = max(earlier, key=_sent)
        if first["sent_at"]:
            add(first["sent_at"], _told("Message {id} was sent{by}.", first), [first])
        _add_done(add, first, deliveries, _ONCE)
    if second["sent_at"]:
        later = ms_between(first["sent_at"], second["sent_at"]) if earlier else None
        phrase = "The same work was sent as message {id}{by}." if later is None else _LATER
        add(second["sent_at"], _told(phrase, second, gap=span_text(later)), [second])
    _add_done(add, second, deliveries, _AGAIN if earlier else _ONCE)
    return tuple(sorted(facts, key=lambda fact: (fact.at is None, fact.at or incident["started_at"])))


_LATER = "The same work was sent {gap} later as message {id}{by}."
_ONCE = (
    "{who} received {id}, and the work was done ({basis}).",
    "{who} received {id}; the work may have been done.",
)
_AGAIN = (
    "{who} received {id}, and the work was done again ({basis}).",
    "{who} received {id}; the work may have been done again.",
)


def _add_done(add: Any, message: Row, deliveries: Sequence[Row], phrases: tuple[str, str]) -> None:
    """Tell the first delivery in which the work was done; where it was in none for sure, who received the message first."""
    mine = [d for d in deliveries if d["item_id"] == message["item_id"]]
    sure = [d for d in mine if d["effect"] == "yes"]
    if sure:
        one = sure[0]
        at = one["effect_at"] or one["finished_at"] or one["run_ended_at"]
        add(at, said(phrases[0], who=consumer_text(one), id=_name(message), basis=one["basis"]), [one])
    elif mine:
        one = mine[0]
        add(one["received_at"], said(phrases[1], who=consumer_text(one), id=_name(message)), [one])


def _sent(message: Row) -> tuple[bool, Any, Any, str]:
    at = message["sent_at"]
    return at is None, at or message["first_received_at"], message["first_received_at"], message["item_id"]


def _name(message: Row) -> str:
    return str(message["message_id"] or message["item_id"])


def _told(phrase: str, message: Row, **values: Any) -> str:
    """Say what was sent, and by whom where that is known."""
    by = " by {sender}" if message["sender_id"] else ""
    return said(phrase.replace("{by}", by), id=_name(message), sender=message["sender_id"], **values)
