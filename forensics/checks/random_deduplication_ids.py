"""Whether FIFO can know a repeated send again."""

from forensics.checks.answer import NOT_HERE, NOTE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.estimates import share_interval
from forensics.words import count_text, percent

LEAST_SEEN, MOST_RANDOM = 20, 0.5


def random_deduplication_ids(setup: Setup) -> Answer:
    """Deduplication ids come from what the message is about: a random one (UUID v4, no business key) differs at each send.

    >>> random_deduplication_ids(Setup("q.fifo", "f", "lambda", is_fifo=True, known_dedup_count=50,
    ...     random_dedup_count=50)).severity
    'note'
    """
    if not setup.is_fifo:
        return NOT_HERE
    uses = ("known_dedup_count", "random_dedup_count", "sent_again_count", "content_based_deduplication")
    known, odd = setup.known_dedup_count or 0, setup.random_dedup_count or 0
    if known < LEAST_SEEN:
        return unknown(
            f"the logs show the deduplication ids of {count_text(known, 'message')}",
            "MessageDeduplicationId in the printed batch",
            *uses,
        )
    low, high = share_interval(odd, known)
    said = f"{odd:,} of {known:,} deduplication ids are random ({percent(low)} to {percent(high)} at 95 %)"
    if odd <= MOST_RANDOM * known:
        return passes(said, *uses)
    again = setup.sent_again_count or 0
    advice = "Derive the id from the work (a payment id, an order's version), so that a repeated send is known again."
    if again:
        return fails(WARNING, f"{said}, and {count_text(again, 'work')} came under two ids", advice, *uses)
    return fails(NOTE, f"{said}: if a producer makes a new one at each try, a retry is another message", advice, *uses)
