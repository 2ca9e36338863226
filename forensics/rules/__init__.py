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
from forensics.rules.pair import DeliveryPair
from forensics.rules.partial_response import partial_response
from forensics.rules.released import released
from forensics.rules.ruling import EXCLUDED, SUPPORTED, UNDECIDABLE, Ruling
from forensics.rules.runtime_crash import runtime_crash
from forensics.rules.throttled import throttled
from forensics.rules.unseen_receive import unseen_receive
from forensics.rules.visibility_expired import visibility_expired
from forensics.rules.worker_killed import worker_killed
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

ANSWERS_KEPT = 2_000
"""So many answers of the rules are kept for pairs that are alike: those of a few batches."""
_OF_ONE_MESSAGE = ("batch_collateral", "function_timeout", "runtime_crash", "function_error")
"""Rules that ask whether the message itself had been finished; the others say the same of all that two runs had."""


class Decision(NamedTuple):
    """What all rules say together of one pair. ``causes`` is empty where none is supported."""

    cause: str
    causes: list[str]
    sentence: str
    excluded: list[str]
    would_decide: str | None
    rulings: list[tuple[str, Ruling]]


def decide(pair: DeliveryPair) -> Decision:
    """Ask every rule; take what is supported, else say what would decide.

    A copy by the broker is the last resort: it holds when nothing else is left.

    >>> decide(DeliveryPair(earlier_status="timeout", gap_ms=31_000, is_fifo=True)).cause
    'function_timeout'
    """
    of_both_runs = _of_both_runs(pair._replace(earlier_has_finish_mark=False))
    rulings = [(code, of_both_runs.get(code) or RULES[code](pair)) for code in RULES]
    causes = [code for code, r in rulings if r.stance == SUPPORTED]
    open_codes = [code for code, r in rulings if r.stance == UNDECIDABLE]
    if not causes and open_codes == ["broker_copy"] and pair.is_fifo is False:
        causes = ["broker_copy"]
        rulings[-1] = ("broker_copy", NOTHING_ELSE)
    out = [labelled(code, r.sentence) for code, r in rulings if r.stance == EXCLUDED]
    by_code = dict(rulings)
    if causes:
        sentence = joined((by_code[code].sentence for code in causes), "; ")
        return Decision(causes[0], causes, sentence, out, None, rulings)
    if open_codes:
        missing = joined(dict.fromkeys(by_code[code].would_decide or "" for code in open_codes), "; ")
        codes = joined(open_codes, " or ")
        return Decision("undecidable", [], said("{codes} would explain it", codes=codes), out, missing, rulings)
    return Decision(
        "undecidable", [], "every known cause is excluded by the evidence", out, "the consumer's full log", rulings
    )


@lru_cache(maxsize=ANSWERS_KEPT)
def _of_both_runs(pair: DeliveryPair) -> dict[str, Ruling]:
    """Ask the rules to which it is all one whether the message had been finished."""
    return {code: rule(pair) for code, rule in RULES.items() if code not in _OF_ONE_MESSAGE}


__all__ = [
    "ANSWERS_KEPT",
    "EXCLUDED",
    "RULES",
    "SUPPORTED",
    "UNDECIDABLE",
    "Decision",
    "DeliveryPair",
    "Ruling",
    "decide",
]
