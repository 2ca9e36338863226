"""What a reconciliation comes to, in sentences."""

from collections import Counter
from collections.abc import Iterator, Sequence

from forensics.books.amounts import sums, sums_text
from forensics.books.compare import Line
from forensics.words import count_text

_SENTENCES = (
    ("repeated", "{} that the logs left open: the books prove the repeat."),
    ("unlogged", "{} repeated where no log that was read shows it."),
    ("agrees_repeated", "{} repeated by the logs and by the books."),
    ("cleared", "{} that the logs left open: the books show one charge, and are whole there."),
    ("not_booked", "{} that the logs prove more often than the books hold: look at them by hand."),
    ("contradicts", "{} booked though the logs say that it was not done: look at them by hand."),
    ("open", "{} still open: the books are not said to be whole there (--complete-since)."),
    ("books_only", "{} in the books alone: no delivery that was read names them."),
    ("logs_only", "{} in the logs alone: done, and not in the books."),
)


def told(queue: str, lines: Sequence[Line]) -> Iterator[str]:
    """Yield what a queue's books and logs come to, with sums per currency."""
    counts = Counter(line.outcome for line in lines)
    yield f"{queue}: {count_text(len(lines), 'key')}, of which {counts['agrees']:,} say the same on both sides."
    for outcome, sentence in _SENTENCES:
        if counts[outcome]:
            yield f"  {sentence.format(count_text(counts[outcome], 'key'))}"
    found = book_sums(lines)
    if not found["amounts"]:
        yield "  No amounts: --amount names the column that holds them."
        return
    beyond, paid_back = found["extra"] or "nothing", found["paid_back"] or "nothing"
    yield f"  Booked {found['amounts']}; beyond the first entry of a key {beyond}; paid back {paid_back}."
    yield f"  To refund: {found['to_refund'] or 'nothing'}."


def book_sums(lines: Sequence[Line]) -> dict[str, str]:
    """Return the sums of all lines per kind of amount, each per currency in words; empty where there is nothing to add."""
    found = {}
    for kind in ("amounts", "extra", "paid_back", "to_refund"):
        totals = sums(pair for line in lines for pair in getattr(line, kind).items())
        found[kind] = sums_text({currency: amount for currency, amount in totals.items() if amount})
    return found
