"""What an idempotency table tells of a work, in words."""

import re
from datetime import UTC, datetime

import pytest

from forensics.language import Language
from forensics.sentence import joined
from forensics.verdict import guard_sentence
from forensics.verdict.guard_tables import TableWord, table_sentences
from forensics.verdict.guards import GUARDS

NOON, LATER = datetime(2026, 11, 20, 12, tzinfo=UTC), datetime(2026, 11, 20, 12, 10, 0, 500_000, tzinfo=UTC)
LAST = "only a reading of the table before the repeat would tell whether it stood there then."

TOLD = {
    "nobody read it": (
        {"gap": "unread"},
        "The idempotency table done was not read: a collection or an export of it would tell what it recorded.",
    ),
    "reading was denied": (
        {"gap": "denied"},
        "The idempotency table done could not be read (denied): what it recorded of this work is not known.",
    ),
    "a record for each message id": (
        {"ids_recorded": 2},
        "The table done holds a record for each of 2 message ids: its guard keys on the message id and takes each for new.",
    ),
    "one record of a message id": ({"ids_recorded": 1}, ""),
    "expired before the repeat": (
        {"expired_at": NOON, "repeat_at": LATER},
        "Its record in the table done expired at 2026-11-20 12:00:00.000 UTC, before the repeat at 2026-11-20 12:10:00.500 UTC.",
    ),
    "written again": (
        {"kept_s": 300, "gap_s": 1595},
        "The repeat wrote its record in the table done again 1,595 s after the work was done: a record is kept for 300 s at most, so the "
        "one before had expired.",
    ),
    "it held all the same": (
        {"is_passed": True, "passed_until": NOON},
        "A completed record in the table done held until 2026-11-20 12:00:00.000 UTC when the repeat did the work: it was done without "
        "asking the table, or under another key.",
    ),
    "it held for ever": (
        {"is_passed": True},
        "A completed record in the table done held when the repeat did the work: it was done without asking the table, or under another key.",
    ),
    "in progress, its lock without an end": (
        {"is_in_progress": True, "is_lock_open": True, "lock_until": NOON},
        "Its record in the table done is still in progress and its lock has no end of its own: every repeat is refused until "
        "2026-11-20 12:00:00.000 UTC.",
    ),
    "in progress for ever": (
        {"is_in_progress": True, "is_lock_open": True},
        "Its record in the table done is still in progress and its lock has no end of its own: every repeat is refused until somebody deletes it.",
    ),
    "in progress, its lock over": (
        {"is_in_progress": True, "is_lock_past": True, "lock_until": NOON},
        "Its record in the table done is still in progress; its lock ends at 2026-11-20 12:00:00.000 UTC: a repeat that came after it ran.",
    ),
    "in progress, its lock on": (
        {"is_in_progress": True, "lock_until": NOON},
        "Its record in the table done is still in progress; its lock ends at 2026-11-20 12:00:00.000 UTC: whoever comes after it runs.",
    ),
    "it never expires": ({"never_expires": True}, "Its record in the table done never expires."),
    "nothing is deleted": (
        {"keeps_expired": True},
        "Time to live is not enabled on the table done: what has expired stays until somebody deletes it.",
    ),
    "it bears no status": (
        {"bears_no_status": True},
        "Its record in the table done bears no status that could hold off a second run while the first is at work.",
    ),
    "completed, nothing tells since when": (
        {"is_completed": True, "completed_until": NOON},
        f"Its record in the table done is completed until 2026-11-20 12:00:00.000 UTC; {LAST}",
    ),
    "completed for ever, nothing tells since when": (
        {"is_completed": True},
        f"Its record in the table done is completed; {LAST}",
    ),
    "no record, and that decides": (
        {"absence": "decided", "read_at": NOON},
        "The idempotency table done, read whole at 2026-11-20 12:00:00.000 UTC, has no record of it, and none can have been deleted as "
        "expired: its guard did not record this work as done.",
    ),
    "no record, read in part": (
        {"absence": "part"},
        "The idempotency table done has no record of it, which decides nothing: it was not read whole after the work.",
    ),
    "no record, it may be deleted": (
        {"absence": "deleted"},
        "The idempotency table done has no record of it, which decides nothing: what has expired is deleted, and when this would have "
        "expired is not known (guard_s).",
    ),
    "no record, its keys are not known": (
        {"absence": "key"},
        "The idempotency table done has no record of it, which decides nothing: the settings do not say what its guard takes for its key "
        "(keyed_by).",
    ),
}


@pytest.mark.parametrize(("facts", "sentence"), TOLD.values(), ids=TOLD)
def test_what_a_table_tells_in_words(facts, sentence):
    assert " ".join(table_sentences(TableWord("done", **facts))) == sentence


@pytest.mark.parametrize("facts", [f for f, text in TOLD.values() if text], ids=[n for n, (_, s) in TOLD.items() if s])
def test_what_a_table_tells_in_japanese(facts):
    sentence = joined(table_sentences(TableWord("done", **facts)))
    told = re.sub(r"UTC|ID|TTL|guard_s|keyed_by|Powertools|done", "", Language("ja").sentence(sentence))

    assert not re.search("[A-Za-z]", told), told
    assert told.endswith("。")
    assert re.findall(r"\d\d:\d\d", told) == re.findall(r"\d\d:\d\d", sentence)


GUARDS_SAID = {
    **{kind: guard_sentence({kind: 2}) for kind in GUARDS},
    "a lock ended": guard_sentence({}, is_in_place=True, lock_ended=True),
    "a lock ended, its limit known": guard_sentence({}, is_in_place=True, lock_ended=True, lock_ended_s=30),
    "what may have let it pass": guard_sentence(
        {}, is_in_place=True, overlapped=True, ids_done=2, record_gap_s=7200, other_payloads=1
    ),
}


@pytest.mark.parametrize("sentence", GUARDS_SAID.values(), ids=GUARDS_SAID)
def test_what_guards_did_in_japanese(sentence):
    said = re.sub(r"ID|Powertools", "", Language("ja").sentence(sentence))

    assert not re.search("[A-Za-z]", said), said


def test_what_could_be_is_not_said_where_a_record_tells_what_was():
    asked = {"stopped": {}, "is_in_place": True, "ids_done": 2, "record_gap_s": 4000}
    silent, told = guard_sentence(**asked), guard_sentence(**asked, recorded=[TableWord("done", is_completed=True)])

    assert "a guard that keys on the message id" in silent and "may have expired" in silent
    assert "keys on the message id" not in told and "may have expired" not in told and "is completed" in told


def test_what_could_be_is_still_said_where_the_table_holds_nothing():
    told = guard_sentence({}, is_in_place=True, ids_done=2, recorded=[TableWord("done", absence="key")])

    assert "a guard that keys on the message id" in told


def test_a_record_that_answered_a_repeat_is_named():
    assert guard_sentence({"record": 1}) == (
        "A guard stopped 1 repeat: its record in the idempotency table was completed and still held."
    )
