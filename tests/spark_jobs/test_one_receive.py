"""One receive that two runs of a function had: a standard queue's copy, a poller that invoked twice, or a durable function's replay."""

import pytest

from forensics.identity import handle_token
from forensics.settings import Settings
from forensics.tables.findings import DELIVERIES, INCIDENTS, MESSAGES, REDELIVERIES
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.spark_jobs.small_lake import SmallLake, at, record, run, some_id

pytestmark = pytest.mark.lake

SAID = Settings.parse(
    r"""
[[function]]
name = "charge"
effect = 'charged (?P<key>\S+)'
effect_is_exhaustive = true
"""
)
TWICE, RESUMED, ONCE = (some_id(name) for name in ("charged by two runs", "charged by the first", "had by one run"))
HANDLES = {TWICE: handle_token("AQEB" + "x" * 200), RESUMED: handle_token("AQEB" + "y" * 200)}


def lake_of(tmp_path, queue="payments", is_durable=False, handles=HANDLES):
    """Return a lake in which two messages are in two runs each; all that the runs print of one is the same."""

    def received(message, second):
        first = {"ApproximateFirstReceiveTimestamp": str(int(at(second).timestamp() * 1000))}
        handle = {"receiptHandle": handles[message]} if message in handles else {}
        return record(message, 1, queue, f"body of {message}", second - 1, **first) | handle

    lake = SmallLake()
    lake.queue(queue, visibility_s=300)
    twice, resumed, once = received(TWICE, 0), received(RESUMED, 50), received(ONCE, 100)
    lines = [
        *run("charges", 0.1, 2, twice, says=("charged pay-1",)),
        *run("charges again", 30, 2, twice, says=("charged pay-1",)),
        *run("charges and waits", 50.1, 2, resumed, says=("charged pay-2",)),
        *run("goes on", 80, 2, resumed),
        *run("alone", 100.1, 2, once, says=("charged pay-3",)),
    ]
    lake.function(queue, "charge", *lines, is_durable=is_durable)
    return lake.write(tmp_path)


def judged(lake):
    correlate(lake, SAID, carrier=Here())
    findings = lake.findings()
    found = {m["item_id"]: (m["effects_at_least"], m["effects_at_most"]) for m in findings.read(MESSAGES).to_pylist()}
    return findings, {name: found.get(item) for name, item in (("twice", TWICE), ("resumed", RESUMED), ("once", ONCE))}


CASES = {
    "counts alone: a copy": ({"handles": {}}, {"twice": (2, 2), "resumed": (1, 1), "once": None}),
    "one handle: invoked twice": ({}, {"twice": (2, 2), "resumed": (1, 1), "once": None}),
    "one handle of a FIFO queue": ({"queue": "payments.fifo"}, {"twice": (2, 2), "resumed": (1, 1), "once": None}),
    "one handle, of a function that may be durable": (
        {"is_durable": None},
        {"twice": (1, 2), "resumed": (1, 2), "once": None},
    ),
    "one handle: replayed": ({"is_durable": True}, {"twice": (1, 2), "resumed": None, "once": None}),
    "counts alone: perhaps replayed": (
        {"is_durable": True, "handles": {}},
        {"twice": (1, 2), "resumed": (1, 1), "once": None},
    ),
}


@pytest.mark.parametrize(("given", "expected"), CASES.values(), ids=CASES)
def test_what_two_runs_had_was_done_in_both_unless_one_may_be_a_replay(tmp_path, given, expected):
    _, found = judged(lake_of(tmp_path, **given))

    assert found == expected


def test_the_ledger_counts_both_runs_and_says_that_it_was_one_receive(tmp_path):
    findings, _ = judged(lake_of(tmp_path))
    indexes = sorted((d["item_id"] == ONCE, d["delivery_index"]) for d in findings.read(DELIVERIES).to_pylist())
    told = findings.read(REDELIVERIES).to_pylist()

    assert indexes == [(False, 1), (False, 1), (False, 2), (False, 2), (True, 1)]
    assert {(r["cause"], r["sentence"]) for r in told} == {
        (
            "undecidable",
            "both runs had it by one receive: the poller invoked the function again, as it may without a failure",
        )
    }


def test_the_incident_says_that_its_poller_invoked_it_again(tmp_path):
    findings, _ = judged(lake_of(tmp_path))
    (incident,) = findings.read(INCIDENTS).to_pylist()
    told = {m["item_id"]: m["trigger_sentence"] for m in findings.read(MESSAGES).to_pylist()}

    assert (incident["primary_cause"], incident["trigger"]) == ("undecidable", "invoked_again")
    assert incident["cause_sentence"] == (
        "The poller invoked charge again with a message of payments that it had by one receive, as it may without a failure."
    )
    assert told[TWICE] == (
        "It was delivered 2 times: it was redelivered by its poller, which invoked the function again with one receive."
    )
