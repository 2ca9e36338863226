"""Which records of an idempotency table are about a work: by its key as a guard writes it, and by their time."""

import base64
import hashlib
import json

import pytest

from forensics.judging.guard_records import GuardRecords
from forensics.judging.surroundings import Surroundings
from forensics.settings import Consumer, GuardTable, Settings
from tests.forensics.judging.around import CHARGE, PAYMENTS, consumer
from tests.forensics.judging.around import at as minutes
from tests.forensics.judging.around import read as read_in_minutes
from tests.forensics.judging.plain import S
from tests.forensics.judging.records import KEY, PLACE, TABLE, guard_records, reading, record, run, settings_row


def powertools(text: str, algorithm: str = "md5", is_hex: bool = True, before: str = "charge.app.pay") -> dict:
    made = hashlib.new(algorithm, text.encode())
    written = made.hexdigest() if is_hex else base64.b64encode(made.digest()).decode()
    return record(key=f"{before}#{written}", guarded=before)


ODD = 'p"é'
KEYS = {
    "a JSON text, in hexadecimal digits (Python)": (KEY, powertools('"p-1"'), {}, "business_key"),
    "a JSON text, in base64 (TypeScript)": (KEY, powertools('"p-1"', is_hex=False), {}, "business_key"),
    "the bare text (Java, .NET)": (KEY, powertools("p-1"), {}, "business_key"),
    "a number": ("17", powertools("17"), {}, "business_key"),
    "a list of one": (KEY, powertools('["p-1"]'), {}, "business_key"),
    "by SHA-256": (KEY, powertools('"p-1"', "sha256"), {}, "business_key"),
    "by SHA-512, in base64": (KEY, powertools('"p-1"', "sha512", is_hex=False), {}, "business_key"),
    "letters beyond ASCII, written as escapes": (ODD, powertools(json.dumps(ODD)), {}, "business_key"),
    "letters beyond ASCII, as they are": (ODD, powertools(json.dumps(ODD, ensure_ascii=False)), {}, "business_key"),
    "the message id": (KEY, powertools('"m1"'), {}, "message_id"),
    "the value itself": (KEY, record(key=KEY, guarded=None), {}, "business_key"),
    "the message id itself": (KEY, record(key="m1", guarded=None), {}, "message_id"),
    "a part of the key, by a pattern": (
        KEY,
        record(key="charge#p-1", guarded=None),
        {"key_pattern": r"charge#(?P<key>\S+)"},
        "business_key",
    ),
    "a message id, by a pattern": (
        KEY,
        record(key="seen/m1", guarded=None),
        {"key_pattern": r"seen/(?P<message_id>\S+)"},
        "message_id",
    ),
    "a business key where the pattern looks for a message id": (
        KEY,
        record(key="seen/p-1", guarded=None),
        {"key_pattern": r"seen/(?P<message_id>\S+)"},
        None,
    ),
    "what the pattern does not find": (KEY, record(key=KEY, guarded=None), {"key_pattern": "charge#(?P<key>.+)"}, None),
    "a value that only looks alike": (KEY, record(key="p-10", guarded=None), {}, None),
    "another key's digest": (KEY, powertools('"p-2"'), {}, None),
    "a digest of no known length": (KEY, record(key="charge.app.pay#" + "f" * 34), {}, None),
    "the message id, where the settings say business key": (
        KEY,
        powertools('"m1"'),
        {"keyed_by": "business_key"},
        None,
    ),
    "the business key, where the settings say so": (
        KEY,
        powertools('"p-1"'),
        {"keyed_by": "business_key"},
        "business_key",
    ),
    "a table of another account": (KEY, record(account_id="999999999999"), {}, None),
    "a table of another region": (KEY, record(region="us-east-1"), {}, None),
    "an imported table of no known place": (KEY, record(account_id=None, region=None), {}, "business_key"),
    "another table": (KEY, record(guard_table="other"), {}, None),
}


@pytest.mark.parametrize(("key", "row", "form", "by"), KEYS.values(), ids=KEYS)
def test_a_record_is_about_a_work_whose_id_it_holds(key, row, form, by):
    found = guard_records([row], **form).of_work(TABLE, [run(0, business_keys=[key])])

    assert [r.by for r in found] == ([by] if by else [])


TIMES = {
    "locked until the deadline of the work's last run": ({"locked": 630}, True),
    "locked a quarter of an hour after the work's end": ({"locked": 605 + 900 + 2}, True),
    "locked later than any run of the work can have set": ({"locked": 605 + 900 + 2.001}, False),
    "locked until just before the work": ({"locked": -2}, True),
    "locked before the work": ({"locked": -2.001}, False),
    "no lock, expired as the work began": ({"locked": None, "expires": 0}, True),
    "no lock, expired before the work": ({"locked": None, "expires": -0.001}, False),
    "no lock, never expires": ({"locked": None, "expires": None}, True),
}


@pytest.mark.parametrize(("times", "is_found"), TIMES.values(), ids=TIMES)
def test_a_record_is_of_the_works_own_time(times, is_found):
    found = guard_records([record(**times)]).of_work(TABLE, [run(0), run(600)])

    assert bool(found) is is_found


ARN = "arn:aws:dynamodb:eu-west-1:999988887777:table/idempotency"


@pytest.mark.parametrize(("account_id", "is_there"), [("999988887777", True), ("123456789012", False), (None, True)])
def test_a_table_named_by_its_arn_is_where_that_says(account_id, is_there):
    said = Settings(functions=(Consumer(name="charge", guard_table=ARN),), guard_tables=(GuardTable(ARN),))
    where = {"account_id": account_id}
    found = GuardRecords(
        said,
        [record(guard_table=ARN, **where)],
        [settings_row(False, guard_table=ARN, **where)],
        [reading(resource=ARN, **where)],
    )
    told = found.reading(ARN, run(0).queue_arn, 0)

    assert bool(found.of_work(ARN, [run(0)])) is is_there
    assert (told.status, told.keeps_expired) == (("ok", True) if is_there else (None, None))


def test_a_business_key_of_no_time_has_no_records():
    assert guard_records([record()]).of_work(TABLE, [run(0, received_at=None)]) == []


ASKED = (["charge"], ["arn:aws:sqs:eu-west-1:123456789012:orders"], 0, 605 * S)
BEARS = {
    "a record of the work's time": (dict(records=[record()]), True),
    "a record of another time": (dict(records=[record(locked=-90)]), False),
    "a first reading after it": (dict(readings=[reading()]), True),
    "that it deletes what has expired": (dict(tables=[settings_row(True)]), True),
    "how long a record holds": (dict(guard_s=60), True),
    "what its keys are": (dict(keyed_by="message_id"), True),
    "which of a key is the id": (dict(key_pattern="x(?P<key>.+)"), True),
    "its word for completed": (dict(completed="done"), True),
    "its word for in progress": (dict(in_progress="begun"), True),
}


@pytest.mark.parametrize(("world", "bears"), BEARS.values(), ids=BEARS)
def test_what_bears_on_a_work_shows_in_what_its_verdict_rests_on(world, bears):
    assert (guard_records(**world).bearing(*ASKED) != guard_records().bearing(*ASKED)) is bears


def test_a_second_reading_after_the_work_does_not_bear_on_it():
    once, twice = ([reading()], [reading(), reading(9900)])

    assert guard_records(readings=once).bearing(*ASKED) == guard_records(readings=twice).bearing(*ASKED)


def test_a_table_that_nobody_names_bears_on_nothing():
    silent = GuardRecords(Settings(functions=(Consumer(name="charge"),)), [record()], [settings_row(True)], [reading()])

    assert silent.bearing(*ASKED) == []


def test_surroundings_hold_the_tables_of_their_functions_and_workers():
    said = Settings(functions=(Consumer(name="charge", guard_table=TABLE),), guard_tables=(GuardTable(TABLE),))
    row = record(locked=None, expires=None) | PLACE
    asked = ([PAYMENTS], [CHARGE], minutes(30), minutes(34))
    known = {"consumers": [consumer()], "coverage": [read_in_minutes(0, 60)], "settings": said}
    of_worker = Settings(workers=(Consumer(log_group=CHARGE, guard_table=TABLE),))
    plain, with_it = (Surroundings(**known, guard_records=rows).bearing(*asked) for rows in ([], [row]))

    assert plain != with_it
    assert Surroundings(**known | {"settings": of_worker}, guard_records=[row]).bearing(*asked) == with_it
