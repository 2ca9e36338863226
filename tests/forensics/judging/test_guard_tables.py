"""What an idempotency table decides: which deliveries its record answered, and why it did not stop the others."""

import pickle
from dataclasses import fields

import pytest

from forensics.clock import moment
from forensics.judging import guard_tables
from forensics.verdict.guard_tables import TableWord
from tests.forensics.judging.plain import S
from tests.forensics.judging.records import KEY, TABLE, digest, guard_records, reading, record, run, settings_row

UNKNOWN = {"effect": "unknown"}
OTHER = f"charge.app.mail#{digest(KEY)}"
BY_ID = f"charge.app.pay#{digest('m1')}"
FIRST, LATER = run(0), run(600, **UNKNOWN)

ANSWERED = {
    "a completed record of the run before held": ([[FIRST, LATER]], [record()], [1]),
    "it held to the end of the later run": ([[FIRST, LATER]], [record(expires=605.001)], [1]),
    "it ended as the later run did": ([[FIRST, LATER]], [record(expires=605)], []),
    "it never expires": ([[FIRST, LATER]], [record(expires=None)], [1]),
    "it is in progress": ([[FIRST, LATER]], [record(status="INPROGRESS")], []),
    "its status is none that the settings name": ([[FIRST, LATER]], [record(status="?")], []),
    "no library wrote it": ([[FIRST, LATER]], [record(guarded=None)], []),
    "the later run wrote it": ([[FIRST, LATER]], [record(locked=630)], []),
    "nothing tells who wrote it": ([[FIRST, LATER]], [record(locked=None)], []),
    "it was locked a second beside the deadline": ([[FIRST, LATER]], [record(locked=31)], [1]),
    "it was locked two seconds after it": ([[FIRST, LATER]], [record(locked=32)], [1]),
    "it was locked more than two seconds after it": ([[FIRST, LATER]], [record(locked=32.001)], []),
    "it was locked more than two seconds before it": ([[FIRST, LATER]], [record(locked=27.999)], []),
    "two runs have its deadline": ([[FIRST, run(1, "no"), LATER]], [record(locked=30.5)], []),
    "the later run was received before the writer had ended": (
        [[run(0, took_s=20), run(19, **UNKNOWN)]],
        [record()],
        [],
    ),
    "as it ended": ([[run(0, took_s=20), run(20, **UNKNOWN)]], [record()], []),
    "after it had ended": ([[run(0, took_s=20), run(20.001, **UNKNOWN)]], [record()], [1]),
    "nothing tells when the writer ended": ([[run(0, run_ended_at=None), LATER]], [record()], []),
    "the writer's end is but its last line": ([[run(0, is_end_known=False), LATER]], [record()], []),
    "nothing tells when the later run ended": ([[FIRST, run(600, run_ended_at=None, **UNKNOWN)]], [record()], []),
    "the later run's end is but its last line": ([[FIRST, run(600, is_end_known=False, **UNKNOWN)]], [record()], []),
    "nothing tells when the later run was received": ([[FIRST, run(600, received_at=None, **UNKNOWN)]], [record()], []),
    "the later one did the work, as its line says": ([[FIRST, run(600)]], [record()], []),
    "no log shows the later one": ([[FIRST, run(600, is_seen=False, **UNKNOWN)]], [record()], []),
    "an unlogged one between": (
        [[FIRST, run(300, is_seen=False, run_started_at=None, **UNKNOWN), LATER]],
        [record()],
        [2],
    ),
    "one between of which nothing tells when it began": (
        [[FIRST, run(300, run_started_at=None, **UNKNOWN), LATER]],
        [record()],
        [],
    ),
    "one between that did nothing, of which nothing tells when it began": (
        [[FIRST, run(300, "no", run_started_at=None), LATER]],
        [record()],
        [2],
    ),
    "the function timeout is not known": ([[run(0, function_timeout_s=None), LATER]], [record()], []),
    "another function's": ([[FIRST, run(600, function_name="refund", **UNKNOWN)]], [record()], []),
    "another function than the one that names the table": (
        [[FIRST, run(600, guard_table=None, **UNKNOWN)]],
        [record()],
        [],
    ),
    "two guarded functions, both completed": (
        [[FIRST, LATER]],
        [record(), record(key=OTHER, guarded="charge.app.mail")],
        [1],
    ),
    "two guarded functions, one in progress": (
        [[FIRST, LATER]],
        [record(), record(key=OTHER, guarded="charge.app.mail", status="INPROGRESS")],
        [],
    ),
    "two states of one record": ([[FIRST, LATER]], [record(status="INPROGRESS", observed=10), record()], [1]),
    "another message of the same work": ([[FIRST], [run(600, item_id="m2", **UNKNOWN)]], [record()], [1]),
    "another message, the record is of the first one's id": (
        [[FIRST], [run(600, item_id="m2", **UNKNOWN)]],
        [record(key=BY_ID)],
        [],
    ),
    "the same message, the record is of its id": ([[FIRST, LATER]], [record(key=BY_ID)], [1]),
    "a record of its id, with another message of the same deadline": (
        [[FIRST, LATER], [run(0.5, "no", item_id="m2")]],
        [record(key=BY_ID)],
        [1],
    ),
    "another message in the same run": ([[FIRST], [run(0, item_id="m2", **UNKNOWN)]], [record()], []),
    "no record": ([[FIRST, LATER]], [], []),
}
"""The work's items with their deliveries, the table's records, and which deliveries a record answered, by their place."""


def copied(work):
    return pickle.loads(pickle.dumps(work))  # a fifth of what copy.deepcopy takes


def answered(of, work, records):
    work = copied(work)
    of.add_records(work, guard_records(records))
    deliveries = [d for item in work for d in item]
    found = [place for place, d in enumerate(deliveries) if d.is_answered_by_record]
    assert all(
        (deliveries[n].effect, deliveries[n].basis, deliveries[n].effect_at) == ("no", "guard", None) for n in found
    )
    return found


@pytest.mark.parametrize(("work", "records", "expected"), ANSWERED.values(), ids=ANSWERED)
def test_a_completed_record_answers_what_comes_while_it_holds(work, records, expected):
    assert answered(guard_tables, work, records) == expected


OPEN = run(0, **UNKNOWN)
RECORDED = {
    "the run that completed its record": ([[OPEN, LATER]], [record()], [0]),
    "a record in progress": ([[OPEN, LATER]], [record(status="INPROGRESS")], []),
    "no library wrote it": ([[OPEN, LATER]], [record(guarded=None)], []),
    "nothing tells who wrote it": ([[OPEN, LATER]], [record(locked=None)], []),
    "two runs have its deadline": ([[OPEN, run(1, **UNKNOWN)]], [record(locked=30.5)], []),
    "another delivery counts as done": ([[OPEN, run(600)]], [record()], []),
    "the later one completed it": ([[OPEN, LATER]], [record(locked=630)], [1]),
    "it did nothing, as a line says": ([[run(0, "no"), LATER]], [record()], []),
    "two guarded functions, both completed": (
        [[OPEN, LATER]],
        [record(), record(key=OTHER, guarded="charge.app.mail")],
        [0],
    ),
    "two guarded functions, one in progress": (
        [[OPEN, LATER]],
        [record(), record(key=OTHER, guarded="charge.app.mail", status="INPROGRESS")],
        [],
    ),
    "a record of its own id, and another message is done": (
        [[OPEN], [run(600, item_id="m2")]],
        [record(key=BY_ID)],
        [0],
    ),
    "a record of another message's id": ([[run(600)], [run(0, item_id="m2", **UNKNOWN)]], [record(key=BY_ID)], []),
    "a record of its own id, and one in progress of another message's": (
        [[OPEN], [run(600, "no", item_id="m2")]],
        [
            record(key=BY_ID),
            record(key=f"charge.app.mail#{digest('m2')}", guarded="charge.app.mail", status="INPROGRESS"),
        ],
        [0],
    ),
    "a function that does not ask the table": ([[run(0, guard_table=None, **UNKNOWN)], [LATER]], [record()], []),
    "no log shows it": ([[run(0, is_seen=False, **UNKNOWN), LATER]], [record()], []),
    "no record": ([[OPEN, LATER]], [], []),
}
"""The work's items with their deliveries, the table's records, and which deliveries completed theirs, by their place."""


def recorded(of, work, records):
    work = copied(work)
    of.add_records(work, guard_records(records))
    return [n for n, d in enumerate(d for item in work for d in item) if d.basis == "recorded" and d.effect == "yes"]


@pytest.mark.parametrize(("work", "records", "expected"), RECORDED.values(), ids=RECORDED)
def test_a_completed_record_tells_in_which_run_the_work_was_done(work, records, expected):
    assert recorded(guard_tables, work, records) == expected


CITED = {
    "by business key, every message": ([[FIRST], [run(600, item_id="m2")]], [record()], [1, 1]),
    "by message id, that message alone": ([[FIRST], [run(600, item_id="m2")]], [record(key=BY_ID)], [1, 0]),
    "no record": ([[FIRST], [run(600, item_id="m2")]], [], [0, 0]),
}


def cited(of, work, records):
    work = copied(work)
    of.add_records(work, guard_records(records))
    return [len(item[0].evidence_ids) for item in work]


@pytest.mark.parametrize(("work", "records", "expected"), CITED.values(), ids=CITED)
def test_a_message_cites_the_records_that_are_about_it(work, records, expected):
    assert cited(guard_tables, work, records) == expected


AGAIN = run(600)
TWICE = [[FIRST, AGAIN]]


def at(seconds: float):
    return moment(int(seconds * S))


def completed(until: float) -> dict:
    return {"is_completed": True, "completed_until": at(until)}


TOLD = {
    "it expired between": (TWICE, [record(expires=599)], {"expired_at": at(599), "repeat_at": at(600)}),
    "it expired as the repeat came": (TWICE, [record(expires=600)], {"expired_at": at(600), "repeat_at": at(600)}),
    "it expired after the repeat came, and the work was done later": (TWICE, [record(expires=604)], completed(604)),
    "it expired as the first began": (TWICE, [record(expires=0, locked=30)], completed(0)),
    "it expired just after the first began": (
        TWICE,
        [record(expires=0.001)],
        {"expired_at": at(0.001), "repeat_at": at(600)},
    ),
    "a record without a status expired": (
        TWICE,
        [record(expires=599, status=None)],
        {"expired_at": at(599), "repeat_at": at(600), "bears_no_status": True},
    ),
    "a record in progress expired": (
        TWICE,
        [record(expires=599, status="INPROGRESS")],
        {"is_in_progress": True, "lock_until": at(30), "is_lock_past": True},
    ),
    "the state before expired, this one is the repeat's": (
        TWICE,
        [record(expires=599, observed=100), record(expires=1199, locked=630)],
        {"expired_at": at(599), "repeat_at": at(600)},
    ),
    "the repeat wrote it anew, kept shorter than the gap": (
        TWICE,
        [record(expires=900, locked=630)],
        {"kept_s": 300, "gap_s": 595},
    ),
    "kept just shorter than the gap": (
        TWICE,
        [record(expires=1194.999, locked=630)],
        {"kept_s": 595, "gap_s": 595},
    ),
    "kept as long as the gap": (TWICE, [record(expires=1195, locked=630)], completed(1195)),
    "written anew, and nothing tells when the first ended": (
        [[run(0, run_ended_at=None), AGAIN]],
        [record(expires=900, locked=630)],
        completed(900),
    ),
    "written anew, the first's end is but its last line": (
        [[run(0, is_end_known=False), AGAIN]],
        [record(expires=900, locked=630)],
        completed(900),
    ),
    "written anew by no library": (TWICE, [record(expires=900, locked=630, guarded=None)], completed(900)),
    "it held, and the work was done all the same": (TWICE, [record()], {"is_passed": True, "passed_until": at(3600)}),
    "it held until just after": (TWICE, [record(expires=605.001)], {"is_passed": True, "passed_until": at(605.001)}),
    "it ended as the work was done": (TWICE, [record(expires=605)], completed(605)),
    "it held for ever": (TWICE, [record(expires=None)], {"is_passed": True, "never_expires": True}),
    "it was read before the repeat, whoever wrote it": (
        TWICE,
        [record(locked=None, observed=599)],
        {"is_passed": True, "passed_until": at(3600)},
    ),
    "it was read as the repeat came": (TWICE, [record(locked=None, observed=600)], completed(3600)),
    "it is the repeat's own": (TWICE, [record(locked=630)], completed(3600)),
    "two runs at once": ([[run(0, took_s=20), run(10)]], [record()], completed(3600)),
    "in progress without an end of its lock": (
        TWICE,
        [record(status="INPROGRESS", locked=None)],
        {"is_in_progress": True, "is_lock_open": True, "lock_until": at(3600)},
    ),
    "in progress without any end": (
        TWICE,
        [record(status="INPROGRESS", locked=None, expires=None)],
        {"is_in_progress": True, "is_lock_open": True},
    ),
    "in progress, and nothing came after its lock": (
        [[FIRST]],
        [record(status="INPROGRESS")],
        {"is_in_progress": True, "lock_until": at(30)},
    ),
    "in progress, the repeat came as its lock ended": (
        [[FIRST, run(30)]],
        [record(status="INPROGRESS")],
        {"is_in_progress": True, "lock_until": at(30), "is_lock_past": True},
    ),
    "in progress, the repeat came before its lock ended": (
        [[FIRST, run(29.999)]],
        [record(status="INPROGRESS")],
        {"is_in_progress": True, "lock_until": at(30)},
    ),
    "completed, and done once": ([[FIRST, run(600, "no")]], [record()], {}),
    "it never expires, and done once": ([[FIRST, run(600, "no")]], [record(expires=None)], {"never_expires": True}),
    "no status, and done once": ([[FIRST, run(600, "no")]], [record(status=None)], {}),
    "no status, and done again": (TWICE, [record(status=None, guarded=None)], {"bears_no_status": True}),
    "no status in one state alone": (
        TWICE,
        [record(status=None, guarded=None, locked=None, observed=8000), record(guarded=None, locked=None)],
        completed(3600),
    ),
    "two guarded functions, one in progress still": (
        [[FIRST]],
        [record(key=OTHER, guarded="charge.app.mail", status="INPROGRESS"), record(observed=9001)],
        {"is_in_progress": True, "lock_until": at(30)},
    ),
    "in progress, then completed": ([[FIRST]], [record(status="INPROGRESS", observed=10), record()], {}),
    "an unknown status": (TWICE, [record(status="?")], {}),
    "an unknown status, expired": (TWICE, [record(status="?", expires=599)], {}),
    "each message id has its own": (
        [[FIRST], [run(600, item_id="m2")]],
        [record(key=BY_ID), record(key=f"charge.app.pay#{digest('m2')}", locked=630)],
        {"ids_recorded": 2},
    ),
    "only one message id has its own": ([[FIRST], [run(600, item_id="m2")]], [record(key=BY_ID)], completed(3600)),
    "the second id's work is not known to be done": (
        [[FIRST], [run(600, "unknown", item_id="m2")]],
        [record(key=BY_ID), record(key=f"charge.app.pay#{digest('m2')}", locked=630)],
        {},
    ),
    "the record of one id expired, the other is done": (
        [[FIRST], [run(600, item_id="m2")]],
        [record(key=BY_ID, expires=599)],
        completed(599),
    ),
    "the record of its id expired": (
        TWICE,
        [record(key=BY_ID, expires=599)],
        {"expired_at": at(599), "repeat_at": at(600)},
    ),
    "the second id's record, kept shorter than the gap, is not of the first": (
        [[FIRST], [run(600, item_id="m2")]],
        [record(key=f"charge.app.pay#{digest('m2')}", locked=630, expires=900)],
        completed(900),
    ),
    "written anew, kept for ever": (
        TWICE,
        [record(expires=None, locked=630)],
        {"is_completed": True, "never_expires": True},
    ),
    "in progress, and no log shows who came after its lock": (
        [[FIRST, run(600, "unknown", is_seen=False)]],
        [record(status="INPROGRESS")],
        {"is_in_progress": True, "lock_until": at(30)},
    ),
    "it expired between the second and the third": (
        [[FIRST, run(300), AGAIN]],
        [record(expires=500, locked=330)],
        {"expired_at": at(500), "repeat_at": at(600)},
    ),
    "nothing tells when the repeat was received": ([[FIRST, run(600, received_at=None)]], [record(expires=599)], {}),
}
"""The work's items, the table's records, and what is told of them beside the table's name."""


def told(of, work, records):
    (found,) = of.words_of_tables(copied(work), guard_records(records))
    plain = TableWord(TABLE)
    return {f.name: getattr(found, f.name) for f in fields(found) if getattr(found, f.name) != getattr(plain, f.name)}


@pytest.mark.parametrize(("work", "records", "expected"), TOLD.values(), ids=TOLD)
def test_why_a_record_did_not_stop_the_repeat(work, records, expected):
    assert told(guard_tables, work, records) == expected


KEYED = {"keyed_by": "business_key", "readings": [reading()], "tables": [settings_row(False)]}
DECIDED = {"absence": "decided", "read_at": at(9000)}
FAILED = {"absence": "failed"}
ABSENT = {
    "read whole, and it deletes nothing": (TWICE, KEYED, DECIDED),
    "nobody read it": (TWICE, {**KEYED, "readings": []}, {"gap": "unread"}),
    "reading was denied": (TWICE, {**KEYED, "readings": [reading(status="denied")]}, {"gap": "denied"}),
    "it was not there": (TWICE, {**KEYED, "readings": [reading(status="gone")]}, {"gap": "gone"}),
    "read in part": (TWICE, {**KEYED, "readings": [reading(status="partial")]}, {"absence": "part"}),
    "read whole before the work alone": (TWICE, {**KEYED, "readings": [reading(604.9)]}, {"absence": "part"}),
    "read whole as the work ended": (
        TWICE,
        {**KEYED, "readings": [reading(605)]},
        {"absence": "decided", "read_at": at(605)},
    ),
    "read whole, then denied": (
        TWICE,
        {**KEYED, "readings": [reading(8000), reading(status="denied")]},
        {"absence": "decided", "read_at": at(8000)},
    ),
    "it deletes what has expired": (TWICE, {**KEYED, "tables": [settings_row(True)]}, {"absence": "deleted"}),
    "it once deleted what has expired": (
        TWICE,
        {**KEYED, "tables": [settings_row(False), settings_row(True)]},
        {"absence": "deleted"},
    ),
    "whether it deletes is not known": (TWICE, {**KEYED, "tables": []}, {"absence": "deleted"}),
    "whether it deletes could not be read": (TWICE, {**KEYED, "tables": [settings_row(None)]}, {"absence": "deleted"}),
    "it deletes, but keeps what is told longer": (
        TWICE,
        {**KEYED, "tables": [settings_row(True)], "guard_s": 8396},
        DECIDED,
    ),
    "it deletes, and may just have": (
        TWICE,
        {**KEYED, "tables": [settings_row(True)], "guard_s": 8395},
        {"absence": "deleted"},
    ),
    "a repeat raised, and may have deleted it": ([[FIRST, run(600, "no", run_status="error")]], KEYED, FAILED),
    "a repeat was given back": ([[FIRST, run(600, "no", is_named_failure=True)]], KEYED, FAILED),
    "nothing tells how a repeat ended": ([[FIRST, run(600, **UNKNOWN, run_status="unknown")]], KEYED, FAILED),
    "nothing tells when a repeat that raised ended": (
        [[run(-60, "no", run_status="error", run_ended_at=None), FIRST]],
        KEYED,
        FAILED,
    ),
    "the last line of what raised is no end": (
        [[run(-60, "no", run_status="error", is_end_known=False), FIRST]],
        KEYED,
        FAILED,
    ),
    "it was done in a run that then raised": ([[run(0, run_status="error")]], KEYED, FAILED),
    "what raised had ended when the work was done": (
        [[run(-5.001, "no", took_s=10, run_status="error"), FIRST]],
        KEYED,
        DECIDED,
    ),
    "the settings do not say by what it keys": (TWICE, {**KEYED, "keyed_by": None}, {"absence": "key"}),
    "no line tells the business key": (
        [[run(0, business_keys=[]), run(600, business_keys=[])]],
        KEYED,
        {"absence": "key"},
    ),
    "lines tell its event's id alone": (
        [[run(0, business_keys=["sns:22b8"]), run(600, business_keys=["sns:22b8"])]],
        KEYED,
        {"absence": "key"},
    ),
    "it keys by message id": (
        [[run(0, business_keys=[]), run(600, business_keys=[])]],
        {**KEYED, "keyed_by": "message_id"},
        DECIDED,
    ),
    "nothing tells that the work was done": (
        [[run(0, **UNKNOWN), run(600, **UNKNOWN)]],
        KEYED,
        {"absence": "deleted"},
    ),
    "nothing tells that the work was done, and how long a record is kept is told": (
        [[run(0, **UNKNOWN), run(600, **UNKNOWN)]],
        {**KEYED, "tables": [settings_row(True)], "guard_s": 86_400},
        {"absence": "deleted"},
    ),
    "it keeps everything, and a record holds for a minute": (TWICE, {**KEYED, "guard_s": 60}, DECIDED),
    "a record of another region": (
        TWICE,
        {**KEYED, "records": [record(region="us-east-1")]},
        DECIDED,
    ),
    "read in another region alone": (TWICE, {**KEYED, "readings": [reading(region="us-east-1")]}, {"gap": "unread"}),
    "no consumer names a table": ([[run(0, guard_table=None)]], KEYED, None),
    "nothing tells when it was received": ([[run(0, received_at=None)]], KEYED, None),
}


KEPT = {"records": [record(expires=599)]}
EXPIRED = {"expired_at": at(599), "repeat_at": at(600)}
ABSENT |= {
    "there is one, and time to live is off": (
        TWICE,
        {**KEPT, "tables": [settings_row(False)]},
        EXPIRED | {"keeps_expired": True},
    ),
    "there is one, and time to live is on": (TWICE, {**KEPT, "tables": [settings_row(True)]}, EXPIRED),
    "there is one, and nothing tells of time to live": (TWICE, KEPT, EXPIRED),
    "there is one, time to live is off, and the work was done once": (
        [[FIRST]],
        {**KEPT, "tables": [settings_row(False)]},
        {},
    ),
}


def absent(of, work, around):
    found = of.words_of_tables(copied(work), guard_records(**around))
    plain = TableWord(TABLE)
    told = [
        {f.name: getattr(r, f.name) for f in fields(r) if getattr(r, f.name) != getattr(plain, f.name)} for r in found
    ]
    return told[0] if told else None


@pytest.mark.parametrize(("work", "around", "expected"), ABSENT.values(), ids=ABSENT)
def test_that_there_is_no_record_counts_only_where_none_can_be_missing(work, around, expected):
    assert absent(guard_tables, work, around) == expected
