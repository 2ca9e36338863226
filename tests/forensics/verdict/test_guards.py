"""What the verdict says of guards: the one that stopped a repeat, and the lock that ended too early."""

import pytest

from forensics.verdict import guard_sentence

CASES = {
    "nothing": (dict(stopped={}), "No idempotency guard was logged."),
    "a guard that was never needed": (
        dict(stopped={}, is_in_place=True),
        "A guard is in place, and no line shows that it stopped a repeat.",
    ),
    "two kinds": (
        dict(stopped={"in_progress": 1, "already_done": 2}),
        "A guard stopped 3 repeats: the idempotency store had the result; the idempotency store held its lock, another run "
        "was still at it.",
    ),
    "the lock ended at the deadline": (
        dict(stopped={}, is_in_place=True, lock_ended=True, lock_ended_s=30),
        "An idempotency guard is in place, but its lock ended when the run before was killed at its 30 s deadline, so the "
        "repeat ran.",
    ),
    "it stopped one repeat and missed another": (
        dict(stopped={"already_done": 1}, lock_ended=True),
        "A guard stopped 1 repeat: the idempotency store had the result. An idempotency guard is in place, but its lock "
        "ended when the run before was killed at its deadline, so the repeat ran.",
    ),
    "two runs at once": (
        dict(stopped={}, is_in_place=True, overlapped=True),
        "A guard is in place, and no line shows that it stopped a repeat. Two runs were on at once: a guard that looks first "
        "and records later lets both pass.",
    ),
    "two runs at once, and no guard": (dict(stopped={}, overlapped=True), "No idempotency guard was logged."),
    "done under two message ids": (
        dict(stopped={}, is_in_place=True, ids_done=2),
        "A guard is in place, and no line shows that it stopped a repeat. It was done under 2 message ids: a guard that keys "
        "on the message id takes each for new.",
    ),
    "done under one message id": (
        dict(stopped={}, is_in_place=True, ids_done=1),
        "A guard is in place, and no line shows that it stopped a repeat.",
    ),
    "done again after the record's hour": (
        dict(stopped={}, is_in_place=True, record_gap_s=3601),
        "A guard is in place, and no line shows that it stopped a repeat. It was done again after 3,601 s: the guard's record "
        "may have expired (Powertools keeps one for 3,600 s unless told otherwise).",
    ),
    "done again within the record's hour": (
        dict(stopped={}, is_in_place=True, record_gap_s=3600),
        "A guard is in place, and no line shows that it stopped a repeat.",
    ),
    "another payload": (
        dict(stopped={}, is_in_place=True, other_payloads=2),
        "A guard is in place, and no line shows that it stopped a repeat. The idempotency store met another payload under "
        "the same key 2 times.",
    ),
}


@pytest.mark.parametrize(("facts", "sentence"), CASES.values(), ids=CASES)
def test_the_guard_sentence(facts, sentence):
    assert guard_sentence(**facts) == sentence
