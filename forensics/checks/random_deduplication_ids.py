"""Whether FIFO can know a repeated send again."""

from forensics.checks.answer import NOT_HERE, NOTE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.estimates import share_interval
from forensics.sentence import counted, said
from forensics.words import percent

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
            said("the logs show the deduplication ids of {messages}", messages=counted(known, "message")),
            "MessageDeduplicationId in the printed batch",
            *uses,
        )
    low, high = share_interval(odd, known)
    share = f"{percent(low)} to {percent(high)}"
    told = said("{odd} of {known} deduplication ids are random ({share} at 95 %)", odd=odd, known=known, share=share)
    if odd <= MOST_RANDOM * known:
        return passes(told, *uses)
    again = setup.sent_again_count or 0
    advice = "Derive the id from the work (a payment id, an order's version), so that a repeated send is known again."
    if again:
        twice = said("{told}, and {works} came under two ids", told=told, works=counted(again, "work"))
        return fails(WARNING, twice, advice, *uses)
    if_retried = said("{told}: if a producer makes a new one at each try, a retry is another message", told=told)
    return fails(NOTE, if_retried, advice, *uses)
