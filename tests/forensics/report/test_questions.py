"""The three questions of a double, answered from one generation and what people said."""

import re
from datetime import timedelta

import pytest

from forensics.books import Columns, read_books
from forensics.language import Language
from forensics.people import annotate, people_of
from forensics.report.questions import refund, still, why
from forensics.sentence import plain, said
from forensics.terms import CLOCKS_APART as CLOCKS
from tests.forensics.report import world
from tests.forensics.report.test_log_readiness import consumer
from tests.pages.english import english_in

pytestmark = pytest.mark.lake

STALE = timedelta(hours=1)


@pytest.fixture
def lake(tmp_path):
    return world.save(tmp_path / "lake")


def put(lake, message, mark):
    annotate(lake.findings(), None, message, mark, "r", "Ana", world.after(9000))


def ask(question, lake, *args):
    return question(lake.findings(), *args, people_of(lake.findings()))


def test_why_is_answered_by_a_key_with_trigger_guard_and_effect_and_who_marked_it(lake):
    put(lake, "pay-1001", "refunded")
    reply = ask(why, lake, "pay-1001")

    assert reply.rows[0]["verdict"] == "confirmed"
    assert reply.sentence == " ".join(reply.rows[0]["because"]).rstrip(".") + "; marked: refunded (Ana)"


def test_why_of_a_work_that_was_sent_again_says_so_whichever_of_its_ids_is_found(tmp_path):
    found = world.findings()
    told = {
        "work_id": "one",
        "business_keys": ["pay-1001"],
        "causes": [],
        "trigger_sentence": "It was delivered 1 time.",
    }
    found["messages"][0] |= told
    found["messages"][1] |= told | {"origin": "producer_retry", "trigger_sentence": "The same key was sent again."}
    reply = ask(why, world.save(tmp_path / "lake", found), "pay-1001")

    told = "The work came in 2 messages, delivered 4 times in all. Message 2 of 2: The same key was sent again."

    assert reply.sentence.startswith(told)


TWO_CLOCKS = said(
    "{words}; {codes} would explain it",
    words="it was received again 2 s before its previous receive, by the clocks of two hosts: they differ by that at least",
    codes="released or broker_copy",
)
OPEN = {
    "left open by two clocks": ({"cause": "undecidable", "would_decide": CLOCKS}, True),
    "left open by them and more": ({"cause": "undecidable", "would_decide": f"{CLOCKS}; the full log"}, True),
    "left open by something else": ({"cause": "undecidable", "would_decide": "the full log"}, False),
    "decided whatever the clocks": ({"cause": "worker_killed", "would_decide": CLOCKS}, False),
}


@pytest.mark.parametrize(("redelivery", "is_told"), OPEN.values(), ids=OPEN)
def test_why_tells_that_two_clocks_leave_it_open_where_they_do_as_the_report_has_it(tmp_path, redelivery, is_told):
    found = world.findings()
    (mine,) = (m["item_id"] for m in found["messages"] if "pay-1001" in m["business_keys"])
    for row in found["redeliveries"]:
        row |= {"sentence": TWO_CLOCKS, **redelivery} if row["item_id"] == mine else {}
    lake = world.save(tmp_path / "lake", found)
    reply = ask(why, lake, "pay-1001")
    sentence = f"I{plain(TWO_CLOCKS)[1:]}. What would decide it: {redelivery['would_decide']}"

    assert (sentence in plain(reply.sentence)) is is_told
    assert sum(sentence in plain(told) for told in reply.rows[0]["because"]) == is_told
    assert not any(plain(TWO_CLOCKS)[1:] in plain(told) for told in ask(why, lake, "pay-1003").rows[0]["because"])


def test_a_message_that_was_done_once_is_told_so_and_an_unknown_one_too(lake):
    assert ask(why, lake, "pay-1003").sentence.startswith("Nothing shows that it was processed twice: ")
    assert ask(why, lake, "pay-9").sentence.startswith("pay-9 names no message")


def test_it_is_over_only_where_the_evidence_ends_and_it_is_said_how_long_ago_that_was(lake):
    people, until = people_of(lake.findings()), lake.findings().generation.data_until_at
    told = still(lake.findings(), people, until + timedelta(hours=5), STALE).sentence

    assert told.startswith("Not where the evidence ends: no repeat for 1 h 49 min")
    assert told.endswith("5 h ago")


def test_what_goes_on_where_nobody_has_looked_since_is_no_yes(tmp_path):
    found = world.findings()
    found["incidents"][0] |= {"ended_at": world.after(7000)}
    lake = world.save(tmp_path / "lake", found)
    people, until = people_of(lake.findings()), lake.findings().generation.data_until_at
    fresh, old = (still(lake.findings(), people, until + timedelta(minutes=m), STALE).sentence for m in (5, 300))

    assert fresh.startswith("Yes: payments.fifo")
    assert old.startswith("It was when anybody looked last: payments.fifo")


def test_what_to_refund_leaves_out_what_people_settled_or_set_aside(lake):
    both = ask(refund, lake)
    put(lake, "pay-1001", "charged-once")
    put(lake, "pay-1002", "refunded")
    none = ask(refund, lake)

    assert both.sentence == "Refund or undo 1 work; check 1 by hand"
    assert [(row["business_keys"], row["do"]) for row in both.rows] == [
        (["pay-1001"], "refund"),
        (["pay-1002"], "check"),
    ]
    assert (none.sentence, none.rows) == ("1 settled by people; 1 set aside by people", ())


def test_a_ledger_adds_amounts_clears_and_proves_and_brings_doubles_that_no_log_shows(lake, tmp_path):
    rows = ["pay-1001,10", "pay-1001,10", "pay-1002,7", "pay-1002,7", "pay-1003,5", "pay-1003,5"]
    (tmp_path / "c.csv").write_text("\n".join(["id,amount", *rows]) + "\n")
    read_books(
        lake.findings(), tmp_path / "c.csv", Columns("id", "amount", "EUR", same_rows="count"), world.after(9000)
    )
    reply = ask(refund, lake)

    assert [(r["business_keys"], r["do"], r["to_refund"]) for r in reply.rows] == [
        (["pay-1001"], "refund", "10 EUR"),
        (["pay-1002"], "refund", "7 EUR"),
        (["pay-1003"], "refund", "5 EUR"),
    ]
    assert reply.sentence == "Refund or undo 3 works; by the books 22 EUR"


@pytest.mark.parametrize("found", [{}, None], ids=["nothing else", "a fault that is over"])
def test_what_was_not_checked_is_neither_over_nor_without_refunds(tmp_path, found):
    rows = (world.findings() if found is None else found) | {"logging_readiness": [consumer(world.GROUP, "blind")]}
    findings = world.save(tmp_path / "lake", rows).findings()
    people = people_of(findings)
    told = still(findings, people, world.after(9_000), timedelta(days=9)).sentence

    assert f"what it got of {world.QUEUE} was not checked" in told
    assert told.startswith("Unknown" if found == {} else "Not where the evidence ends")
    assert "no incident" not in told
    if found == {}:
        assert "was not checked" in refund(findings, people).sentence


def test_every_answer_is_said_in_another_language_by_its_phrases(tmp_path):
    found = world.findings()
    for message in found["messages"]:
        if message["trigger_sentence"]:
            why_again = said("the function timed out")
            message["trigger_sentence"] = said(
                "It was delivered {times}: it was redelivered {why}.",
                times=said("{count} times", count=2),
                why=why_again,
            )
            message["guard_sentence"] = "No idempotency guard was logged."
            message["effect_sentence"] = said("It was delivered {times}.", times=said("{count} times", count=2))
    lake = world.save(tmp_path / "lake", found)
    people, until = people_of(lake.findings()), lake.findings().generation.data_until_at
    running = world.findings()
    running["incidents"][0] |= {"ended_at": world.after(7000)}
    open_lake = world.save(tmp_path / "open", running | {"logging_readiness": [consumer(world.GROUP, "blind")]})
    nothing = world.save(tmp_path / "none", {"logging_readiness": [consumer(world.GROUP, "blind")]})
    replies = [ask(why, lake, key) for key in ("pay-1001", "pay-1002", "pay-1003", "pay-9", "")]
    put(lake, "pay-1001", "refunded")
    replies += [ask(why, lake, "pay-1001"), ask(refund, lake), ask(refund, nothing), ask(refund, open_lake)]
    for of in (lake, open_lake, nothing):
        replies += [still(of.findings(), people, until + timedelta(minutes=m), STALE) for m in (5, 300)]
    told = [said("{clause}.", clause=reply.sentence) for reply in replies]
    told += [row["sentence"] for reply in replies for row in reply.rows if "sentence" in row]
    names = r"pay-\w+|payments\.fifo|charge-card|refunded|Ana|`[^`]*`|/aws/\S+"

    say = Language("ja").sentence
    assert {str(text): say(text) for text in told if english_in(re.sub(names, "", say(text)))} == {}
    assert (
        say(told[0])
        == "2 回配信されました。原因：関数のタイムアウト。重複防止が働いたことを示す行はありません。2 回配信されました。"
    )
    assert not any("。。" in say(text) for text in told)
    assert len(told) > 18


def test_what_goes_on_in_several_queues_is_said_whole_in_another_language(tmp_path):
    found = world.findings()
    first = found["incidents"][0] | {"ended_at": world.after(7000)}
    found["incidents"] = [
        first,
        first | {"incident_id": "other-1", "queue": "other", "queue_arn": "arn:aws:sqs:eu-west-1:1:other"},
    ]
    lake = world.save(tmp_path / "lake", found)
    until = lake.findings().generation.data_until_at
    told = still(lake.findings(), people_of(lake.findings()), until + timedelta(minutes=5), STALE).sentence

    assert ", and 1 more; the evidence ends " in told
    assert "、ほか 1 件。証拠は " in Language("ja").sentence(told)
