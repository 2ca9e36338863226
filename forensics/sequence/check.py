"""Numbered sends of one group: gaps, sends out of order, and numbers that stand twice. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise

from forensics.sentence import said


@dataclass(frozen=True, order=True)
class Sent:
    """One message: its number, when it was sent (UTC; None where not logged), its id and its group."""

    number: int
    sent_at: datetime | None
    message_id: str
    group: str = ""
    evidence_id: str = ""


@dataclass(frozen=True)
class Broken:
    """One thing wrong with a group's numbers: ``kind`` is gap, out_of_order or twice. ``count`` numbers are concerned."""

    kind: str
    group: str
    first: int
    last: int
    count: int
    sentence: str
    evidence_ids: tuple[str, ...]


def check(sends: Sequence[Sent]) -> Iterator[Broken]:
    """Yield what is wrong with the numbers of one group, by number.

    A gap lies between two numbers that were seen: what came before the first or after the last nobody can tell. Sends at the
    same time have no order.
    """
    group = sends[0].group if sends else ""
    by_number = [
        (number, list(mine)) for number, mine in groupby(sorted(sends, key=_by_number), key=lambda s: s.number)
    ]
    for number, mine in by_number:
        ids = sorted({s.message_id for s in mine})
        if len(ids) > 1:
            sentence = said(
                "Number {n} was sent under {m} message ids: {ids}.", n=str(number), m=len(ids), ids=", ".join(ids[:3])
            )
            yield Broken("twice", group, number, number, 1, sentence, _ids(mine))
    for (before, left), (after, right) in pairwise(by_number):
        missing = after - before - 1
        if missing:
            sentence = _never_seen(before + 1, after - 1, _when(left, right))
            yield Broken("gap", group, before + 1, after - 1, missing, sentence, _ids([*left, *right]))
    timed = [s for s in sends if s.sent_at is not None]
    in_time = sorted(timed, key=lambda s: (s.sent_at, s.number))
    highest: Sent | None = None
    for sent in in_time:
        if highest and sent.number < highest.number and sent.sent_at != highest.sent_at:
            sentence = said(
                "Number {n} was sent at {a} UTC, after {m} at {b} UTC.",
                n=str(sent.number),
                a=_clock(sent),
                m=str(highest.number),
                b=_clock(highest),
            )
            yield Broken("out_of_order", group, sent.number, highest.number, 1, sentence, _ids([sent, highest]))
        if highest is None or sent.number > highest.number:
            highest = sent


def _by_number(sent: Sent) -> tuple[int, str]:
    return sent.number, sent.message_id


def _never_seen(first: int, last: int, when: str) -> str:
    if first == last:
        return said(
            "Number {n} was never seen: not sent, or not received where the logs were read{when}.",
            n=str(first),
            when=when,
        )
    return said(
        "Numbers {a} to {b} were never seen: not sent, or not received where the logs were read{when}.",
        a=str(first),
        b=str(last),
        when=when,
    )


def _when(left: Sequence[Sent], right: Sequence[Sent]) -> str:
    """Say between which sends it was, as far as their times are known; begins with a blank where anything is."""
    after, before = ([_clock(s) for s in sends if s.sent_at] for sends in (left, right))
    if after and before:
        return said(" (after {a} UTC) (before {b} UTC)", a=after[0], b=before[0])
    if after:
        return said(" (after {a} UTC)", a=after[0])
    return said(" (before {b} UTC)", b=before[0]) if before else ""


def _clock(sent: Sent) -> str:
    return f"{sent.sent_at:%Y-%m-%d %H:%M:%S}" if sent.sent_at else "unknown"


def _ids(sends: Sequence[Sent]) -> tuple[str, ...]:
    return tuple(sorted({s.evidence_id for s in sends if s.evidence_id}))
