"""Why messages were redelivered, in one or two sentences: what triggered it, then what it did to the messages."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from forensics.terms import INVOKED_AGAIN
from forensics.words import span_text

ENDS = {
    "function_timeout": "{who} timed out{after} with {batch}.",
    "function_error": "{who} failed with an error{after} with {batch}.",
    "runtime_crash": "{who} crashed{after} with {batch}.",
}
"""Trigger that cuts a whole run off to what the run did."""
BEFORE = {
    "visibility_expired": "{who} was still working on {what} when the visibility timeout{of} expired.",
    "handle_expired": "{who} finished {what} after the visibility timeout{of} had expired, so the delete was refused (receipt "
    "handle expired).",
    "delete_failed": "{who} finished {what}, but the delete failed.",
    "delete_ineffective": "{who} succeeded with {what}, but nothing was deleted.",
    "partial_response": "{who} returned {what} through its partial batch response.",
    "worker_killed": "{who} was stopped while it had {what}.",
    "released": "{who} cut the visibility timeout of {what} short.",
    "throttled": "{who} was throttled, so {what} was received without a run.",
    "unseen_receive": "Something received {what} without leaving a log line.",
    "batch_collateral": "The batch of {who} failed on another message after {what} had finished.",
}
"""Every other trigger to what happened before SQS redelivered."""
ALONE = {
    INVOKED_AGAIN: "The poller invoked {who} again with {what} that it had by one receive, as it may without a failure.",
    "broker_copy": "SQS delivered a second copy of {what} to {who}.",
    "undecidable": "{who} received {what} again, and the evidence leaves several causes open.",
    "producer_retry": "The producer sent the same work to {queue} again in another message.",
    "dedup_window_passed": "The producer sent the same work to {queue} again after the 5 min deduplication window.",
    "dlq_redrive": "Messages were redriven from the dead-letter queue to {queue}.",
}
"""Triggers that are the whole story."""
NOT_REDELIVERED = "Nothing shows that SQS redelivered a message of {queue}; what another message or line tells may be of the same work."
_NEAR = 0.05
"""A measured span this close above a setting is told as the setting."""


class Why(NamedTuple):
    """The first redelivery that the trigger led to, and its run; None: nothing tells.

    ``messages`` counts the run's batch, ``done`` those of it whose work was done in it, ``redelivered`` those that SQS gave out
    again and ``done_again`` those done in both. ``runs`` counts all runs with affected messages that this trigger ended, this one included. ``is_part`` is 1
    where more messages may have been in the batch than lines name.
    """

    queue: str
    consumers: Sequence[str] = ()
    trigger: str = "undecidable"
    messages: int = 1
    done: int = 0
    redelivered: int = 1
    done_again: int = 0
    ran_ms: float | None = None
    gap_ms: float | None = None
    overlap_ms: float | None = None
    function_timeout_s: int | None = None
    visibility_timeout_s: int | None = None
    runs: int = 1
    is_part: int | None = None

    @property
    def values(self) -> list[str]:
        """What is known, as name=value; queue and consumers stand in the incident's own columns."""
        told = self._asdict()
        return [f"{n}={told[n]:.15g}" for n in _NUMBERS if told[n] is not None]


_NUMBERS = tuple(n for n in Why._fields if n not in ("queue", "consumers", "trigger"))


def why_of(queue: str, consumers: Sequence[str], trigger: str, values: Sequence[str]) -> Why:
    """Return what ``values`` were made of.

    >>> told = Why("orders", ["worker"], "released", gap_ms=2500)
    >>> why_of("orders", ["worker"], "released", told.values) == told
    True
    """
    read = {name: float(value) for name, _, value in (pair.partition("=") for pair in values)}
    kept = {n: v if n.endswith("_ms") else int(v) for n, v in read.items() if n in _NUMBERS}
    return Why(queue, consumers, trigger, **kept)  # type: ignore[arg-type]


def _english(phrase: str, **values: Any) -> str:
    return phrase.format(**values)


def why_sentence(why: Why, say: Callable[..., str] = _english, span: Callable[[float], str] = span_text) -> str:
    """Say why, the trigger first; ``say`` puts a phrase of this file into a language, ``span`` a number of milliseconds.

    >>> print(why_sentence(Why("payments.fifo", ["charge-card"], "function_timeout", 10, 7, 10, 7, 30_040, 600_100, 0, 30, 600)))
    charge-card timed out after 30 s with 10 messages of payments.fifo in the batch. 7 had finished; SQS redelivered all 10 after \
the visibility timeout of 10 min, and 7 were processed again.
    >>> print(why_sentence(Why("orders", ["worker"], "visibility_expired", gap_ms=30_020, overlap_ms=9000, visibility_timeout_s=30)))
    worker was still working on a message of orders when the visibility timeout of 30 s expired. SQS redelivered it, with both \
runs at work for 9 s.
    >>> why_sentence(Why("orders", ["worker"], "producer_retry"))
    'The producer sent the same work to orders again in another message.'
    >>> why_sentence(Why("orders", redelivered=0))
    'Nothing shows that SQS redelivered a message of orders; what another message or line tells may be of the same work.'
    """
    who = ", ".join(why.consumers) or say("the consumer")
    what = say("a message of {queue}", queue=why.queue)
    if why.redelivered != 1:
        what = say("{n} messages of {queue}", n=f"{why.redelivered:,}", queue=why.queue)
    if why.trigger in ENDS:
        sentences = [say(ENDS[why.trigger], who=who, after=_after(why, say, span), batch=_batch(why, say))]
        redelivered = _redelivered(why, say, span, is_told=False)
        sentences.append(say(done, n=f"{why.done:,}", rest=redelivered) if (done := _done(why)) else redelivered)
        if why.runs > 1:
            sentences.append(say("{n} runs with messages of this incident ended so.", n=f"{why.runs:,}"))
    elif why.trigger in BEFORE:
        of = say(" of {span}", span=span(1000 * why.visibility_timeout_s)) if why.visibility_timeout_s else ""
        told = BEFORE[why.trigger]
        sentences = [say(told, who=who, what=what, of=of), _redelivered(why, say, span, is_told="{of}" in told)]
        if why.runs > 1:
            sentences.append(say("It happened {n} times.", n=f"{why.runs:,}"))
    else:
        told = ALONE.get(why.trigger, ALONE["undecidable"]) if why.redelivered else NOT_REDELIVERED
        sentences = [say(told, who=who, what=what, queue=why.queue)]
    said = " ".join(sentences)
    return said if why.consumers else said[:1].upper() + said[1:]


def _after(why: Why, say: Callable[..., str], span: Callable[[float], str]) -> str:
    limit = why.function_timeout_s
    if why.trigger == "function_timeout" and limit is not None and _is_near(why.ran_ms, limit):
        return say(" after {span}", span=span(1000 * limit))
    return "" if why.ran_ms is None else say(" after {span}", span=span(why.ran_ms))


def _batch(why: Why, say: Callable[..., str]) -> str:
    if why.messages == 1:
        one = "at least one message of {queue} in the batch" if why.is_part else "one message of {queue}"
        return say(one, queue=why.queue)
    if why.is_part:
        return say("at least {n} messages of {queue} in the batch", n=f"{why.messages:,}", queue=why.queue)
    return say("{n} messages of {queue} in the batch", n=f"{why.messages:,}", queue=why.queue)


def _done(why: Why) -> str:
    if not why.done:
        return ""
    if why.messages == 1:
        return "Its work had finished; {rest}"
    return "All had finished; {rest}" if why.done == why.messages and not why.is_part else "{n} had finished; {rest}"


def _redelivered(why: Why, say: Callable[..., str], span: Callable[[float], str], is_told: bool) -> str:
    """Say that SQS gave them out again, and when, unless the visibility timeout ``is_told`` already."""
    is_one = why.messages == 1 if why.trigger in ENDS else why.redelivered == 1
    if is_one:
        which = say("it")
    elif why.trigger not in ENDS:
        which = say("them")
    else:
        all_of = why.redelivered == why.messages and not why.is_part
        which = say("all {n}" if all_of else "{n} of them", n=f"{why.redelivered:,}")
    when = overlap = again = ""
    visibility = why.visibility_timeout_s
    if visibility is not None and _is_near(why.gap_ms, visibility):
        when = "" if is_told else say(" after the visibility timeout of {span}", span=span(1000 * visibility))
    elif why.gap_ms is not None:
        is_pronoun = is_one or why.trigger not in ENDS
        told = " {span} after the previous receive" if is_pronoun else ", {span} after the previous receive"
        when = say(told, span=span(why.gap_ms))
    if why.overlap_ms:
        overlap = say(", with both runs at work for {span}", span=span(why.overlap_ms))
    if why.done_again and is_one:
        again = say(", and it was processed again")
    elif why.done_again:
        phrase = ", and {n} was processed again" if why.done_again == 1 else ", and {n} were processed again"
        again = say(phrase, n=f"{why.done_again:,}")
    return say("SQS redelivered {which}{when}{overlap}{again}.", which=which, when=when, overlap=overlap, again=again)


def _is_near(span_ms: float | None, setting_s: int) -> bool:
    return span_ms is not None and 0 <= span_ms / 1000 - setting_s <= max(1, _NEAR * setting_s)
