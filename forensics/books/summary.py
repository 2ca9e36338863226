"""What a reconciliation comes to, in sentences."""

from collections import Counter
from collections.abc import Iterator, Sequence

from forensics.books.amounts import sums, sums_text
from forensics.books.compare import Line
from forensics.sentence import counted, said

_SENTENCES = (
    ("repeated", "{keys} that the logs left open: the books prove the repeat."),
    ("unlogged", "{keys} repeated where no log that was read shows it."),
    ("agrees_repeated", "{keys} repeated by the logs and by the books."),
    ("cleared", "{keys} that the logs left open: the books show one charge, and are whole there."),
    ("not_booked", "{keys} that the logs prove more often than the books hold: look at them by hand."),
    ("contradicts", "{keys} booked though the logs say that it was not done: look at them by hand."),
    ("open", "{keys} still open: the books are not said to be whole there (`--complete-since`)."),
    ("books_only", "{keys} in the books alone: no delivery that was read names them."),
    ("logs_only", "{keys} in the logs alone: done, and not in the books."),
)


def told(queue: str, lines: Sequence[Line]) -> Iterator[str]:
    """Yield what a queue's books and logs come to, with sums per currency."""
    counts = Counter(line.outcome for line in lines)
    yield said(
        "{queue}: {keys}, of which {n} say the same on both sides.",
        queue=queue,
        keys=counted(len(lines), "key"),
        n=counts["agrees"],
    )
    for outcome, sentence in _SENTENCES:
        if counts[outcome]:
            yield said(sentence, keys=counted(counts[outcome], "key"))
    found = book_sums(lines)
    if not found["amounts"]:
        yield said("No amounts: `--amount` names the column that holds them.")
        return
    nothing = said("nothing")
    yield said(
        "Booked {amounts}; beyond the first entry of a key {extra}; paid back {paid_back}.",
        amounts=found["amounts"],
        extra=found["extra"] or nothing,
        paid_back=found["paid_back"] or nothing,
    )
    yield said("To refund: {left}.", left=found["to_refund"] or nothing)


def book_sums(lines: Sequence[Line]) -> dict[str, str]:
    """Return the sums of all lines per kind of amount, each per currency in words; empty where there is nothing to add."""
    found = {}
    for kind in ("amounts", "extra", "paid_back", "to_refund"):
        totals = sums(pair for line in lines for pair in getattr(line, kind).items())
        found[kind] = sums_text({currency: amount for currency, amount in totals.items() if amount})
    return found
