"""One receive that two runs of a function had: a standard queue's copy, a poller that invoked twice, or a durable function's replay."""

import pytest

from forensics.counterfactuals import CHANGES
from forensics.identity import handle_token
from forensics.language import Language
from forensics.report.case import load_case
from forensics.report.message_sentence import message_sentence
from forensics.report.options import ReportOptions
from forensics.report.pages import markdown_page
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


def lake_of(tmp_path, queue="payments", is_durable=False, handles=HANDLES, qualifier=""):
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
    lake.function(queue, "charge", *lines, is_durable=is_durable, qualifier=qualifier)
    return lake.write(tmp_path)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Return what gives the findings of such a lake, judged once."""
    judged = {}

    def findings(**given):
        if repr(given) not in judged:
            lake = lake_of(tmp_path_factory.mktemp("one receive"), **given)
            correlate(lake, SAID, carrier=Here())
            judged[repr(given)] = lake.findings()
        return judged[repr(given)]

    return findings


CASES = {
    "counts alone: a copy": ({"handles": {}}, {"twice": (2, 2), "resumed": (1, 1), "once": None}),
    "one handle: invoked twice": ({}, {"twice": (2, 2), "resumed": (1, 1), "once": None}),
    "one handle of a FIFO queue": ({"queue": "payments.fifo"}, {"twice": (2, 2), "resumed": (1, 1), "once": None}),
    "one handle, of a function that may be durable": (
        {"is_durable": None, "qualifier": "live"},
        {"twice": (1, 2), "resumed": (1, 2), "once": None},
    ),
    "one handle, of a function of which its mapping alone tells that it is not": (
        {"is_durable": None},
        {"twice": (2, 2), "resumed": (1, 1), "once": None},
    ),
    "one handle: replayed": ({"is_durable": True}, {"twice": (1, 2), "resumed": None, "once": None}),
    "counts alone: perhaps replayed": (
        {"is_durable": True, "handles": {}},
        {"twice": (1, 2), "resumed": (1, 1), "once": None},
    ),
}


@pytest.mark.parametrize(("given", "expected"), CASES.values(), ids=CASES)
def test_what_two_runs_had_was_done_in_both_unless_one_may_be_a_replay(judged, given, expected):
    rows = judged(**given).read(MESSAGES).to_pylist()
    found = {m["item_id"]: (m["effects_at_least"], m["effects_at_most"]) for m in rows}

    assert {
        name: found.get(item) for name, item in (("twice", TWICE), ("resumed", RESUMED), ("once", ONCE))
    } == expected


def test_the_ledger_counts_both_runs_and_says_that_it_was_one_receive(judged):
    findings = judged()
    indexes = sorted((d["item_id"] == ONCE, d["delivery_index"]) for d in findings.read(DELIVERIES).to_pylist())
    told = findings.read(REDELIVERIES).to_pylist()

    assert indexes == [(False, 1), (False, 1), (False, 2), (False, 2), (True, 1)]
    assert {(r["cause"], r["sentence"]) for r in told} == {
        (
            "undecidable",
            "both runs had it by one receive: the poller invoked the function again, as it may without a failure",
        )
    }


def test_the_incident_says_that_its_poller_invoked_it_again(judged):
    findings = judged()
    (incident,) = findings.read(INCIDENTS).to_pylist()
    told = {m["item_id"]: m["trigger_sentence"] for m in findings.read(MESSAGES).to_pylist()}

    assert (incident["primary_cause"], incident["trigger"]) == ("undecidable", "invoked_again")
    assert incident["cause_sentence"] == (
        "The poller invoked charge again with a message of payments that it had by one receive, as it may without a failure."
    )
    assert told[TWICE] == (
        "It was delivered 2 times: it was redelivered by its poller, which invoked the function again with one receive."
    )


def case_of(judged, **given):
    findings = judged(**given)
    (incident,) = findings.read(INCIDENTS).to_pylist()
    return load_case(findings, incident["incident_id"])


def test_the_cause_chain_tells_when_the_poller_invoked_it_again_and_of_no_other_receive(judged):
    chain = case_of(judged).chain

    assert [(fact.at, fact.sentence.partition(" (")[0]) for fact in chain] == [
        (at(0), "charge received 1 message of payments"),
        (at(1.1), "The message had finished"),
        (at(2.1), "The run ended in success after 2 s."),
        (
            at(30),
            "The poller invoked charge again with 1 message of the same receive, 29.9 s after the first run began.",
        ),
        (at(31), "The work was done again."),
    ]
    assert Language("ja").sentence(chain[3].sentence) == (
        "ポーラーが最初の実行の開始から 29.9 秒後に同じ受信のメッセージ 1 件で charge を再度呼び出し。"
    )


def test_a_copy_is_told_to_have_been_received_again(judged):
    chain = case_of(judged, handles={}).chain

    assert "charge received 1 message again" in chain[1].sentence


def test_its_first_repeat_is_when_the_second_run_began(judged):
    case = case_of(judged)
    (again,) = (r for r in case.redeliveries if r["item_id"] == TWICE)
    told = {moment.what: moment.at for moment in case.moments}

    assert (again["is_one_receive"], again["invoked_again_at"], again["gap_ms"]) == (True, at(30), None)
    assert case.incident["first_repeat_at"] == at(30)
    assert [work["first_repeat_at"] for work in case.works()] == [at(30)]
    assert told["first repeat: the poller invoked the function again by the same receive"] == at(30)
    assert not {"first repeat received", "first message visible again"} & set(told)


def test_its_timeline_has_one_receive_and_the_message_in_the_second_run_from_when_that_began(judged):
    in_flight = [
        (row["at"], row["label"])
        for row in case_of(judged).timeline
        if row["item_id"] == TWICE and row["kind"] == "in_flight"
    ]

    assert in_flight == [
        (at(0), "in flight, receive #1"),
        (at(30), "the poller invoked the function again by the same receive: receive #1"),
    ]


def test_the_answer_to_an_id_counts_one_receive_and_one_delete(judged):
    case = case_of(judged)
    mine = [d for d in case.deliveries if d["item_id"] == TWICE]
    (verdict,) = (m for m in case.messages if m["item_id"] == TWICE)

    assert message_sentence(mine, verdict) == "Received once, given to 2 runs, deleted once, work done 2 times."


def test_no_setting_would_have_prevented_it_and_no_line_is_asked_for(judged):
    case = case_of(judged)
    told = {row["change"]: (row["prevented"], row["undecided"]) for row in case.counterfactuals}

    assert told == {change: (int(change == "idempotency_key"), 0) for change in CHANGES}
    assert not any("Several causes remain" in suggestion.reason for suggestion in case.follow_ups)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_no_report_says_that_it_was_received_again(judged, language):
    case = case_of(judged)
    page = markdown_page(case, ReportOptions(language=language, all_events=True))

    again = {"en": "The poller invoked charge again", "ja": "charge を再度呼び出し"}[language]
    assert again in page
    assert not any(words in page for words in ("previous receive", "前回の受信", "received 1 message again"))
    assert (" before)" in page) == (language == "en")
