"""Numbered sends of one group: gaps, sends out of order, and numbers that stand twice. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise


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
            sentence = f"Number {number} was sent under {len(ids)} message ids: {', '.join(ids[:3])}."
            yield Broken("twice", group, number, number, 1, sentence, _ids(mine))
    for (before, left), (after, right) in pairwise(by_number):
        missing = after - before - 1
        if missing:
            which = f"Number {before + 1} was" if missing == 1 else f"Numbers {before + 1} to {after - 1} were"
            times = f" {_when(left, 'after')} {_when(right, 'before')}".rstrip()
            sentence = f"{which} never seen: not sent, or not received where the logs were read{times}."
            yield Broken("gap", group, before + 1, after - 1, missing, sentence, _ids([*left, *right]))
    timed = [s for s in sends if s.sent_at is not None]
    in_time = sorted(timed, key=lambda s: (s.sent_at, s.number))
    highest: Sent | None = None
    for sent in in_time:
        if highest and sent.number < highest.number and sent.sent_at != highest.sent_at:
            sentence = (
                f"Number {sent.number} was sent at {_clock(sent)} UTC, after {highest.number} at {_clock(highest)} UTC."
            )
            yield Broken("out_of_order", group, sent.number, highest.number, 1, sentence, _ids([sent, highest]))
        if highest is None or sent.number > highest.number:
            highest = sent


def _by_number(sent: Sent) -> tuple[int, str]:
    return sent.number, sent.message_id


def _when(sends: Sequence[Sent], word: str) -> str:
    known = [s for s in sends if s.sent_at]
    return f"({word} {_clock(known[0])} UTC)" if known else ""


def _clock(sent: Sent) -> str:
    return f"{sent.sent_at:%Y-%m-%d %H:%M:%S}" if sent.sent_at else "unknown"


def _ids(sends: Sequence[Sent]) -> tuple[str, ...]:
    return tuple(sorted({s.evidence_id for s in sends if s.evidence_id}))
