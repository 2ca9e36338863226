"""Findings in words: short, with numbers, nothing claimed that the interval does not say."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forensics.origins import ORIGIN_RULES
from forensics.sentence import capitalized, counted, joined, said
from forensics.terms import BASIS_WORDS, CAUSE_WORDS, INVOKED_AGAIN
from forensics.verdict.interval import VERDICTS


def interval_words(at_least: int, at_most: int | None) -> str:
    """Say an interval.

    >>> interval_words(2, 2), interval_words(1, 2), interval_words(0, None), interval_words(0, 1)
    ('exactly 2 times', '1 to 2 times', 'an unknown number of times', 'at most once')
    """
    if at_most is None:
        if at_least == 0:
            return "an unknown number of times"
        return "at least once" if at_least == 1 else said("at least {n} times", n=at_least)
    if at_least == at_most:
        if at_least == 0:
            return "not at all"
        return "exactly once" if at_least == 1 else said("exactly {n} times", n=at_least)
    if (at_least, at_most) == (0, 1):
        return "at most once"
    return said("{low} to {high} times", low=at_least, high=at_most)


def trigger_sentence(
    causes: Sequence[str],
    seen: int,
    receive_count: int | None,
    origin: str | None = None,
    dead_letter_queue: str | None = None,
    maybe_same: int = 0,
) -> str:
    """Say why the message was redelivered; ``origin`` says where another id of the same work came from.

    ``dead_letter_queue``: it was also received from there, to do the same work. ``maybe_same``: so many of those ``seen`` may be
    another's receive, told once more.

    >>> trigger_sentence([], 1, 1, "the same business key was sent again 2 s later under another message id")
    'It was delivered 1 time. The same business key was sent again 2 s later under another message id.'
    >>> trigger_sentence(["released", "function_error"], 2, None)
    'It was delivered 2 times: it was redelivered because its visibility timeout was cut short and because the handler raised an error.'
    >>> trigger_sentence(["function_timeout"], 2, 1)
    'It was delivered 2 times: it was redelivered because the function timed out.'
    >>> trigger_sentence([], 2, None, None, "orders-dlq")
    'It was delivered 2 times. It was moved to the dead-letter queue orders-dlq, whose consumer does the same work.'
    >>> trigger_sentence([], 2, None, maybe_same=1)
    'It was delivered 1 to 2 times.'
    """
    count, surely = max(receive_count or 0, seen), max(receive_count or 0, seen - maybe_same, 1)
    if surely < count:
        times = interval_words(surely, count)
    else:
        times = said("{count} time" if count == 1 else "{count} times", count=count)
    if causes:
        why = joined(map(_because, causes), " and " if count == 2 else ", then ")  # two deliveries are one redelivery
        told = said("It was delivered {times}: it was redelivered {why}.", times=times, why=why)
    else:
        told = said("It was delivered {times}.", times=times)
    if dead_letter_queue:
        moved = said(
            "It was moved to the dead-letter queue {queue}, whose consumer does the same work.", queue=dead_letter_queue
        )
        told = joined([told, moved])
    return joined([told, _sentence_of(origin)]) if origin else told


def _because(cause: str) -> str:
    """Say why a message was redelivered, as a part of a sentence."""
    if cause == "undecidable":
        return "for a reason that the evidence leaves open"
    if cause == INVOKED_AGAIN:
        return "by its poller, which invoked the function again with one receive"
    return said("because {cause}", cause=CAUSE_WORDS.get(cause, cause))


def _sentence_of(clause: str) -> str:
    """Make a sentence of a clause."""
    return said("{clause}.", clause=capitalized(clause))


OPEN_WORDS = {
    "unread": "Nothing bounds it: it may have been redelivered while the log of one of its consumers was not read.",
    "unseen_runs": "Nothing bounds it: of some receives no log shows a run, and of a function that may be durable, or was invoked again for one receive, several runs may each have done the work.",
    "outlived": "Nothing bounds it: its last run outlived the visibility timeout, so it may have been redelivered to a consumer whose log "
    "does not show every run.",
    "key_alone": "Nothing bounds it: only its business key is logged, so lines that name a message id may be of it too.",
    "late_delete": "Nothing bounds it: its delete was tried so long after the work that it may be the delete of a further delivery, of which "
    "no other line is there.",
    "not_ended": "Nothing bounds it: its last delivery seen failed, so it was to be redelivered, and logs that print no receive count may hide that.",
    "partly_counted": "Nothing bounds it: not every delivery's receive count is logged, so further deliveries may hide.",
    "uncounted": "Nothing bounds it: the logs print no receive count, so further deliveries may hide.",
}
"""Why there is no upper bound, the surest first."""


def effect_sentence(
    at_least: int,
    at_most: int | None,
    bases: Sequence[str],
    order_runs: int | None = None,
    maybe_ids: Sequence[str] = (),
    open_by: str | None = None,
    unrun: int = 0,
    by: str = "id",
    of_key: int = 0,
    lone_marks: int = 0,
    tried_again: int = 0,
) -> str:
    """Say how often the work was done, and what shows it; ``order_runs``: from so many runs an order was inferred for it.

    ``maybe_ids``: messages that are counted in, and may be the same work; the first of them are named. ``open_by``: the code of
    ``OPEN_WORDS`` for why there is no upper bound; ``unrun`` counts receives that no run followed, and no throttling explains.
    ``by``: what makes them so, see ``_COUNTED_IN``. ``of_key``: so often its key alone was done, in whichever queues.
    ``lone_marks``: so often its effect line stands once more, and nothing else of a delivery. ``tried_again``: in so many tries more of one
    delivery it was or may have been done.

    >>> effect_sentence(0, 1, [], 30)
    'The work was done at most once. At least 30 runs, and none against it, show that a batch is taken one message after the other.'
    """
    times = interval_words(at_least, at_most)
    shown = [BASIS_WORDS[b] for b in dict.fromkeys(bases) if b in BASIS_WORDS]
    if shown:
        told = said("The work was done {times}, shown by {shown}.", times=times, shown=joined(shown, " and "))
    else:
        told = said("The work was done {times}.", times=times)
    if open_by:
        told = joined([told, OPEN_WORDS[open_by]])
    elif unrun:
        phrase = "Counted as not done: {receives} that no run followed, for no other consumer of the queue is known."
        told = joined([told, said(phrase, receives=counted(unrun, "receive"))])
    if of_key:
        phrase = "Its key was done {n} times, and no line tells from which queue: in different queues one key is different work."
        told = joined([told, said(phrase, n=of_key)])
    if lone_marks:
        phrase = "Its effect line stands {times} more, with nothing else of a delivery: as a late copy of the line, or for work done again."
        told = joined([told, said(phrase, times=counted(lone_marks, "time"))])
    if tried_again:
        phrase = "Its worker tried it {times} more in one delivery, after an error: that is counted in."
        told = joined([told, said(phrase, times=counted(tried_again, "time"))])
    if maybe_ids:
        told = joined([told, _counted_in(maybe_ids, by)])
    if not order_runs:
        return told
    runs = said("{count} run" if order_runs == 1 else "{count} runs", count=order_runs)
    phrase = "At least {runs}, and none against it, show that a batch is taken one message after the other."
    return joined([told, said(phrase, runs=runs)])


_COUNTED_IN = {
    "id": (
        "Counted in is {id}, which may be the same work: its deduplication id is the same, and its body differs only in times,"
        " attempts or request ids.",
        "Counted in are {n} other messages that may be the same work, the nearest {id}: their deduplication id is the same, and"
        " their bodies differ only in times, attempts or request ids.",
    ),
    "body": (
        "Counted in is {id}, which may be the same work: its deduplication id is the same, but that may be the hash of its body"
        " alone, and an equal body may be other work.",
        "Counted in are {n} other messages that may be the same work, the nearest {id}: their deduplication id is the same, but"
        " that may be the hash of their body alone, and an equal body may be other work.",
    ),
    "key": (
        "Counted in is {id}, which may be the same work: its business key is the same, and no line tells from which queue either came.",
        "Counted in are {n} other messages that may be the same work, the nearest {id}: their business key is the same, and no line"
        " tells from which queue they came.",
    ),
}
"""What makes others perhaps the same work, to the sentence about one of them and about several."""


def _counted_in(message_ids: Sequence[str], by: str) -> str:
    """Say which messages may be the same work, and why."""
    of_one, of_several = _COUNTED_IN[by]
    return said(of_one if len(message_ids) == 1 else of_several, n=len(message_ids), id=message_ids[0])


def noun_of(cause: str | None, are_all_redelivered: bool = True) -> str:
    """Return what an incident's messages are called: by its primary cause, or by where further ids came from if nothing was redelivered.

    Not ``are_all_redelivered`` where some came under a further id, or no redelivery of them is seen.

    >>> noun_of("function_timeout"), noun_of("dedup_window_passed"), noun_of(None)
    ('redelivered message', 'message sent again', 'message')
    >>> noun_of("function_timeout", are_all_redelivered=False)
    'message'
    """
    if cause in ORIGIN_RULES:
        return "message sent again"
    return "redelivered message" if cause and are_all_redelivered else "message"


def headline_of(incidents: Iterable[Mapping[str, Any]], works: Mapping[str, int]) -> str:
    """Say of rows of ``incidents`` together what happened; ``works`` per verdict may be less than the rows have.

    Where works came under several ids, or not all in one way, they are called works: nobody can tell which was redelivered.
    """
    nouns = set()
    for row in incidents:
        if row.get("messages") is None and row.get("messages_at_most") is not None:
            continue  # no line names its messages, so that none is counted here
        ids, known = (sum(row.get(prefix + v) or 0 for v in VERDICTS) for prefix in ("", "works_"))
        is_mixed = row.get("works") is not None and (ids != known or bool(row.get("works_shared")))
        nouns.add("work" if is_mixed else noun_of(row.get("primary_cause"), not row.get("received_once")))
    noun = nouns.pop() if len(nouns) == 1 else "work"
    return headline(works["confirmed"], works["probable"], works["possible"], sum(works[v] for v in VERDICTS), noun)


def _plural_noun(noun: str) -> str:
    """Say the noun of several: its word ``message`` or ``work`` takes the s."""
    return re.sub("message|work", r"\g<0>s", noun)


def headline(
    confirmed: int,
    probable: int,
    possible: int,
    total: int,
    noun: str = "redelivered message",
    message_count: int | None = None,
) -> str:
    """Say what happened, with the interval of works that were processed more than once.

    All counts but the last are of works; ``message_count`` is told where a work came under several message ids.

    >>> headline(7, 1, 0, 10)
    '7 to 8 of 10 redelivered messages were processed more than once'
    >>> headline(0, 0, 1, 1)
    '1 redelivered message may have been processed more than once'
    >>> headline(2, 0, 0, 2, "message sent again")
    '2 of 2 messages sent again were processed more than once'
    >>> headline(1, 0, 0, 1, "message sent again", 2)
    '1 work, sent in 2 messages, was processed more than once'
    """
    maybe = probable + possible
    if message_count in (None, total):
        what = _plural_noun(noun) if total != 1 else noun
    else:
        what = "works, sent in {n} messages," if total != 1 else "work, sent in {n} messages,"
    some = "{low} of {total}" if total != 1 else "{low}"
    if confirmed and maybe:
        phrase = f"{{low}} to {{high}} of {{total}} {what} were processed more than once"
    elif confirmed:
        phrase = f"{some} {what} {'was' if confirmed == 1 else 'were'} processed more than once"
    else:
        phrase = f"{some} {what} may have been processed more than once"
    return said(phrase, low=confirmed or maybe, high=confirmed + maybe, total=total, n=message_count)
