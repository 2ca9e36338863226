"""What the books say against what the logs prove, key by key. Pure: neither lake nor clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from forensics.books.amounts import sums, sums_text
from forensics.sentence import counted, joined, said

OUTCOMES = (
    "repeated",
    "unlogged",
    "agrees_repeated",
    "not_booked",
    "contradicts",
    "open",
    "cleared",
    "books_only",
    "logs_only",
    "agrees",
)
"""What a key's two sides come to, what matters most first."""
OUTCOME_WORDS = {
    "repeated": "the books prove the repeat",
    "unlogged": "repeated, and no log shows it",
    "agrees_repeated": "both say repeated",
    "not_booked": "logged more often than booked",
    "contradicts": "booked, though the logs say not done",
    "open": "still open",
    "cleared": "the books clear it",
    "books_only": "in the books alone",
    "logs_only": "in the logs alone",
    "agrees": "both say the same",
}
Span = tuple[datetime, datetime]
_AMOUNTS = ("amounts", "extra", "paid_back", "to_refund")


@dataclass(frozen=True)
class Booked:
    """One entry as it counts: ``book`` names its ledger; a negative amount pays back."""

    book: str
    entry_id: str | None
    amount: Decimal | None
    currency: str | None
    booked_at: datetime | None
    row_number: int
    evidence_id: str

    @property
    def is_refund(self) -> bool:
        """It pays money back, and is no work done."""
        return self.amount is not None and self.amount < 0


@dataclass(frozen=True)
class Logged:
    """What the logs say of one key's work: the interval, the verdict where there is one, and when anything was seen of it."""

    at_least: int
    at_most: int | None
    verdict: str | None = None
    incident_id: str | None = None
    item_ids: tuple[str, ...] = ()
    message_ids: tuple[str, ...] = ()
    span: Span | None = None


@dataclass(frozen=True)
class Line:
    """One key, by logs and by books. ``at_least`` and ``at_most`` are what both together leave; None: no upper bound.

    Amounts are per currency. ``extra`` is what was booked beyond the first entry, ``paid_back`` what was refunded,
    ``to_refund`` what is left of the one after the other. ``books_at_most`` is None where no ledger says that it is whole.
    """

    key: str
    outcome: str
    sentence: str
    logged: Logged | None
    booked: int
    books_at_most: int | None
    at_least: int
    at_most: int | None
    amounts: Mapping[str, Decimal]
    extra: Mapping[str, Decimal]
    paid_back: Mapping[str, Decimal]
    to_refund: Mapping[str, Decimal]
    evidence_ids: tuple[str, ...]

    @property
    def words(self) -> str:
        """Say what the two sides come to."""
        return OUTCOME_WORDS[self.outcome]

    @property
    def amounts_text(self) -> str:
        """Write what was booked."""
        return sums_text(dict(self.amounts))

    @property
    def to_refund_text(self) -> str:
        """Write what is to be refunded; empty where nothing is, or no amount is known."""
        return sums_text({c: a for c, a in self.to_refund.items() if a})


def line_record(line: Line) -> dict[str, Any]:
    """Return a line as programs read it; amounts are decimal text per currency."""
    logged = line.logged or Logged(0, None)
    plain = {name: {c: format(a, "f") for c, a in getattr(line, name).items()} for name in _AMOUNTS}
    return {
        "key": line.key,
        "outcome": line.outcome,
        "verdict": logged.verdict,
        "incident_id": logged.incident_id,
        "message_ids": list(logged.message_ids),
        "logs_at_least": logged.at_least if line.logged else None,
        "logs_at_most": logged.at_most,
        "books": line.booked,
        "books_at_most": line.books_at_most,
        "at_least": line.at_least,
        "at_most": line.at_most,
        **plain,
        "sentence": line.sentence,
        "evidence_ids": list(line.evidence_ids),
    }


def compare(
    entries: Mapping[str, Sequence[Booked]],
    logged: Mapping[str, Logged],
    whole: Mapping[str, Sequence[Span]],
) -> list[Line]:
    """Hold each key's entries against what the logs say of it; ``whole`` holds per ledger when nothing is missing in it.

    Ledgers are never added to one another: each may hold the same charge. Lines come in order of what matters.
    """
    lines = [_line(key, entries.get(key, ()), logged.get(key), whole) for key in {*entries, *logged}]
    rank = {outcome: n for n, outcome in enumerate(OUTCOMES)}
    return sorted(lines, key=lambda line: (rank[line.outcome], line.key))


def _line(key: str, entries: Sequence[Booked], logged: Logged | None, whole: Mapping[str, Sequence[Span]]) -> Line:
    by_book: dict[str, list[Booked]] = {}
    for entry in sorted(entries, key=lambda e: (e.booked_at is None, e.booked_at, e.row_number, e.evidence_id)):
        by_book.setdefault(entry.book, []).append(entry)
    counts = {book: sum(not e.is_refund for e in mine) for book, mine in by_book.items()}
    fullest = max(sorted(counts), key=lambda book: counts[book], default=None)
    booked = counts[fullest] if fullest is not None else 0
    covering = [b for b, spans in whole.items() if logged and logged.span and _covers(spans, logged.span)]
    books_at_most = max(booked, min(counts.get(book, 0) for book in covering)) if covering else None
    mine = by_book.get(fullest, []) if fullest is not None else []
    done = [e for e in mine if not e.is_refund]
    extra = sums((e.currency, e.amount) for e in done[1:] if e.amount is not None)
    paid_back = sums((e.currency, -e.amount) for e in mine if e.amount is not None and e.is_refund)
    left = {c: max(amount - paid_back.get(c, Decimal(0)), Decimal(0)) for c, amount in extra.items()}
    outcome, at_least, at_most = _outcome(logged, booked, books_at_most)
    return Line(
        key=key,
        outcome=outcome,
        sentence=_sentence(outcome, logged, booked, books_at_most, done, left),
        logged=logged,
        booked=booked,
        books_at_most=books_at_most,
        at_least=at_least,
        at_most=at_most,
        amounts=sums((e.currency, e.amount) for e in done if e.amount is not None),
        extra=extra,
        paid_back=paid_back,
        to_refund=left,
        evidence_ids=tuple(sorted(e.evidence_id for e in mine)),
    )


def _covers(spans: Sequence[Span], wanted: Span) -> bool:
    """Tell whether the spans together leave nothing of the wanted one out."""
    reached = wanted[0]
    for start, end in sorted(spans):
        if start <= reached:
            reached = max(reached, end)
    return reached > wanted[1]


def _outcome(logged: Logged | None, booked: int, books_at_most: int | None) -> tuple[str, int, int | None]:
    """Return what the two sides come to, and the interval that both together leave."""
    if logged is None:
        return "books_only", booked, None
    most = [n for n in (logged.at_most, books_at_most) if n is not None]
    at_least, at_most = max(logged.at_least, booked), min(most, default=None)
    if logged.at_most is not None and booked > logged.at_most:
        return ("unlogged" if booked > 1 else "contradicts"), booked, books_at_most
    if books_at_most is not None and logged.at_least > books_at_most:
        return ("logs_only" if not booked else "not_booked"), booked, logged.at_most
    if not booked and logged.at_least:
        return "logs_only", at_least, at_most
    if booked > 1:
        return ("repeated" if logged.at_least < 2 else "agrees_repeated"), at_least, at_most
    if logged.at_most is None or logged.at_most > 1:
        return ("cleared" if at_most is not None and at_most <= 1 else "open"), at_least, at_most
    return "agrees", at_least, at_most


def _sentence(
    outcome: str,
    logged: Logged | None,
    booked: int,
    books_at_most: int | None,
    done: Sequence[Booked],
    left: Mapping[str, Decimal],
) -> str:
    books = said("The books hold {entries}", entries=_entries(booked, done))
    if books_at_most is None and logged is not None:
        books = said("{books}, and nobody says that they are whole there", books=books)
    if logged is None:
        return said("{books}, and no delivery that was read names the key.", books=books)
    told = said("{books}; by the logs it was done {times}", books=books, times=_times(logged))
    told = said(_TAILS.get(outcome, "{told}."), told=told)
    refund = sums_text({c: a for c, a in left.items() if a})
    return joined([told, said("To refund: {left}.", left=refund)]) if refund else told


_TAILS = {
    "repeated": "{told}: the work was repeated.",
    "unlogged": "{told}: it was repeated where no log that was read shows it.",
    "not_booked": "{told}: the books lack what the logs prove, or the line is printed before the entry is kept.",
    "contradicts": "{told}: one of the two is wrong.",
    "cleared": "{told}: it was not repeated.",
    "logs_only": "{told}: look for a key that is written otherwise, or an entry that was never made.",
}


def _times(logged: Logged) -> str:
    least, most = logged.at_least, logged.at_most
    if most is None:
        return said("{n} or more times", n=least)
    return said("{n}×", n=least) if least == most else said("{n} to {most}×", n=least, most=most)


def _entries(booked: int, done: Sequence[Booked]) -> str:
    if not booked:
        return said("no entry")
    when = ", ".join(e.booked_at.strftime("%Y-%m-%d %H:%M:%S") for e in done[:3] if e.booked_at)
    entries = counted(booked, "entry", "entries")
    return said("{entries} ({times} UTC)", entries=entries, times=when) if when and booked > 1 else entries
