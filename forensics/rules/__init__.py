"""Why was it delivered again? One rule per cause, each asked about every pair of deliveries."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from forensics.rules.batch_collateral import batch_collateral
from forensics.rules.broker_copy import NOTHING_ELSE, broker_copy
from forensics.rules.delete_failed import delete_failed
from forensics.rules.delete_ineffective import delete_ineffective
from forensics.rules.function_error import function_error
from forensics.rules.function_timeout import function_timeout
from forensics.rules.handle_expired import handle_expired
from forensics.rules.kept import ANSWERS_KEPT
from forensics.rules.pair import DeliveryPair
from forensics.rules.partial_response import partial_response
from forensics.rules.released import released
from forensics.rules.ruling import EXCLUDED, SUPPORTED, UNDECIDABLE, Ruled, Ruling, excluded
from forensics.rules.runtime_crash import runtime_crash
from forensics.rules.throttled import throttled
from forensics.rules.unseen_receive import unseen_receive
from forensics.rules.visibility_expired import visibility_expired
from forensics.rules.worker_killed import worker_killed
from forensics.run_ends import CUT_OFF
from forensics.sentence import joined, labelled, said

RULES: dict[str, Callable[[DeliveryPair], Ruling]] = {
    "handle_expired": handle_expired,
    "released": released,
    "batch_collateral": batch_collateral,
    "function_timeout": function_timeout,
    "runtime_crash": runtime_crash,
    "function_error": function_error,
    "partial_response": partial_response,
    "worker_killed": worker_killed,
    "delete_failed": delete_failed,
    "visibility_expired": visibility_expired,
    "throttled": throttled,
    "unseen_receive": unseen_receive,
    "delete_ineffective": delete_ineffective,
    "broker_copy": broker_copy,
}
"""Cause code to rule, the surest explanation first: where several hold, the first is the primary cause."""

_OF_ONE_MESSAGE = {
    "batch_collateral": CUT_OFF,
    "function_timeout": ("timeout",),
    "runtime_crash": ("crash",),
    "function_error": ("error",),
}
"""Rules that ask whether the message itself had been finished, where the earlier run ended so; all else is the same of all that two runs had."""


class Decision(NamedTuple):
    """What all rules say together of one pair. ``causes`` is empty where none is supported."""

    cause: str
    causes: list[str]
    sentence: str
    excluded: list[str]
    would_decide: str | None
    rulings: list[Ruled]


def decide(pair: DeliveryPair) -> Decision:
    """Ask every rule; take what is supported, else say what would decide.

    A copy by the broker is the last resort: it holds when nothing else is left.

    >>> decide(DeliveryPair(earlier_status="timeout", gap_ms=31_000, is_fifo=True)).cause
    'function_timeout'
    """
    if pair.is_one_receive:
        return _ONE_RECEIVE
    of_both_runs = _of_both_runs(pair._replace(earlier_has_finish_mark=False) if pair.earlier_has_finish_mark else pair)
    answers = [answer or _asked(code, pair) for code, answer in of_both_runs.items()]
    rulings = [ruled for ruled, _ in answers]
    causes = [ruled.code for ruled in rulings if ruled.stance == SUPPORTED]
    still_open = [ruled for ruled in rulings if ruled.stance == UNDECIDABLE]
    if not causes and [ruled.code for ruled in still_open] == ["broker_copy"] and pair.is_fifo is False:
        causes = ["broker_copy"]
        rulings[-1] = Ruled("broker_copy", *NOTHING_ELSE)
    out = [label for _, label in answers if label is not None]
    if causes:
        sentence = joined((ruled.sentence for ruled in rulings if ruled.code in causes), "; ")
        return Decision(causes[0], causes, sentence, out, None, rulings)
    if still_open:
        missing = joined(dict.fromkeys(ruled.would_decide or "" for ruled in still_open), "; ")
        codes = joined((ruled.code for ruled in still_open), " or ")
        sentence = said("{codes} would explain it", codes=codes)
        if pair.clocks_words is not None:
            sentence = joined((pair.clocks_words, sentence), "; ")
        return Decision("undecidable", [], sentence, out, missing, rulings)
    return Decision(
        "undecidable", [], "every known cause is excluded by the evidence", out, "the consumer's full log", rulings
    )


_BY_ONE_RECEIVE = said(
    "both runs had it by one receive: the poller invoked the function again, as it may without a failure"
)
_ONE_RECEIVE = Decision(
    "undecidable",
    [],
    _BY_ONE_RECEIVE,
    [labelled(code, _BY_ONE_RECEIVE) for code in RULES],
    None,
    [Ruled(code, *excluded(_BY_ONE_RECEIVE)) for code in RULES],
)
"""What is said of two runs that had one receive: whatever brings a message back, its next receive would be another."""

Answer = tuple[Ruled, str | None]
"""What a rule says, and that with its code where it excludes its cause."""


@lru_cache(maxsize=ANSWERS_KEPT)
def _of_both_runs(pair: DeliveryPair) -> dict[str, Answer | None]:
    """Ask the rules to which it is all one whether the message had been finished; None: this one asks for that."""
    status = pair.earlier_status
    return {code: None if status in _OF_ONE_MESSAGE.get(code, ()) else _asked(code, pair) for code in RULES}


def _asked(code: str, pair: DeliveryPair) -> Answer:
    ruling = RULES[code](pair)
    label = labelled(code, ruling.sentence) if ruling.stance == EXCLUDED else None
    return Ruled(code, *ruling), label


__all__ = [
    "EXCLUDED",
    "RULES",
    "SUPPORTED",
    "UNDECIDABLE",
    "Decision",
    "DeliveryPair",
    "Ruling",
    "decide",
]
