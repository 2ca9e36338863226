"""Sentences of the findings keep their phrase and values, so that another language says them without knowing their form."""

import pickle
import re

import pyarrow as pa
import pytest

from forensics.lake.findings import rows_of
from forensics.lake.schemas import to_arrow
from forensics.language import Language
from forensics.origins import ORIGIN_RULES, IdPair
from forensics.queue_rules import QUEUE_RULES
from forensics.queue_rules.facts import QueueFacts
from forensics.report.told import rival
from forensics.report.works import by_work
from forensics.rules import RULES, DeliveryPair, decide
from forensics.sentence import capitalized, joined, labelled, marked, plain, said
from forensics.tables.findings import MESSAGES, REDELIVERIES
from forensics.verdict import OPEN_WORDS, effect_sentence, guard_sentence, redrive_sentence, trigger_sentence
from forensics.verdict.guard_tables import TableWord, table_sentences
from tests.forensics.rules.borders import CASES
from tests.pages.english import english_in

JA = Language("ja")
NAMED = {
    "earlier_name": said("run {id} of {name}", id="7f3c", name="charge-card"),
    "function_timeout_s": 30,
    "earlier_receiver": "pay",
}


def rulings():
    """Yield every rule's answer at each of its borders, and at those of the others."""
    facts = [case[0] for cases in CASES.values() for case in cases.values()]
    for fields in facts:
        pair = DeliveryPair(**(NAMED | fields))
        yield from ((code, rule(pair)) for code, rule in RULES.items())


OTHERS_NAMES = re.compile(
    "Powertools|md5OfBody|None|Errors|"
    + "|".join(
        c[0]["earlier_receiver"]
        for c in (case for cases in CASES.values() for case in cases.values())
        if c[0].get("earlier_receiver")
    )
)


def left_in_english(text):
    return english_in(OTHERS_NAMES.sub(" ", JA.sentence(text))) if text else []


def test_every_answer_of_every_rule_is_said_in_japanese():
    left = {
        (code, plain(text)): words
        for code, ruling in rulings()
        for text in (ruling.sentence, ruling.would_decide)
        if (words := left_in_english(text))
    }

    assert left == {}


IDS = (
    {},
    {"is_fifo": True, "is_named_after_earlier": True},
    {"shown_by": "CloudTrail's record of SendMessage", "has_same_business_key": True, "sender": "pay"},
    {"has_same_body": False},
    {"was_moved_then": True, "earlier_was_dead_lettered": True, "has_same_body": True},
    {"was_moved_then": True, "earlier_was_dead_lettered": True},
    {"was_moved_then": False, "earlier_was_dead_lettered": True},
    {"earlier_was_dead_lettered": True, "has_same_business_key": True},
    {"earlier_was_dead_lettered": None, "has_same_business_key": True},
    {"earlier_was_dead_lettered": None, "was_moved_then": True},
    {"is_fifo": False},
    {"is_missing_send": True, "has_same_deduplication_id": True},
    {"has_same_deduplication_id": True, "is_fifo": True},
    {"has_same_deduplication_id": True, "is_fifo": True, "sent_gap_s": 12},
    {"has_same_deduplication_id": True, "is_fifo": True, "sent_gap_s": 312.5, "sender": "pay", "earlier_sender": "pay"},
    {"has_same_deduplication_id": None, "is_fifo": True, "sent_gap_s": 312.5},
    {"has_same_job_id": True, "sent_gap_s": 2, "sender": "pay", "earlier_sender": "mail"},
    {"has_same_event": True, "has_same_business_key": True, "request_id": "7f3c", "is_only_send_logged": True},
)


@pytest.mark.parametrize("fields", IDS, ids=str)
def test_every_answer_about_another_id_is_said_in_japanese(fields):
    answers = [rule(IdPair(**fields)) for rule in ORIGIN_RULES.values()]

    assert [left_in_english(text) for answer in answers for text in answer[1:] if left_in_english(text)] == []


FACTS = (
    {},
    {"span_ms": 6_100, "waiting_count": 1},
    {"span_ms": 100, "waiting_count": 4, "is_going_on": True},
    {"span_ms": 480_000, "waiting_count": 0, "receive_count": 9, "has_settings": True, "late_ms": 15_200},
    {"receive_count": 2, "max_receive_count": 2, "dead_letter_queue": "orders-dlq", "is_in_dead_letter_queue": True},
    {
        "receive_count": 3,
        "max_receive_count": 2,
        "dead_letter_queue": "orders-dlq",
        "is_going_on": True,
        "retention_s": 60,
    },
    {"receive_count": 1, "max_receive_count": 2, "dead_letter_queue": "orders-dlq"},
    {"receive_count": 5, "is_unfinished": False, "retention_s": 86_400, "late_ms": 10, "is_later_settled": False},
    {"retention_s": 7_200, "is_watched": True},
    {"retention_s": 901, "is_watched": True, "age_s": 880, "fitting_count": 1},
    {"retention_s": 3_600, "is_watched": True, "age_s": 880, "fitting_count": 2},
)


@pytest.mark.parametrize("fields", FACTS, ids=str)
def test_every_answer_about_a_queue_is_said_in_japanese(fields):
    answers = [rule(QueueFacts(**fields)) for rule in QUEUE_RULES.values()]

    assert [left_in_english(text) for answer in answers for text in answer[1:] if left_in_english(text)] == []


INTERVALS = [(0, 0), (0, 1), (0, 2), (0, None), (1, 1), (1, None), (2, None), (2, 2), (1, 3)]


@pytest.mark.parametrize(("least", "most"), INTERVALS)
def test_what_a_verdict_says_is_said_in_japanese(least, most):
    causes, origin = [], ORIGIN_RULES["producer_retry"](IdPair(has_same_business_key=True, sent_gap_s=2)).sentence
    told = [
        trigger_sentence(causes, 1, 1, origin),
        trigger_sentence(["function_timeout", "batch_collateral"], 3, None),
        effect_sentence(least, most, ["marker", "returned"], 30),
        effect_sentence(least, most, []),
        *(effect_sentence(least, None, [], open_by=code) for code in OPEN_WORDS),
        redrive_sentence(least, most),
        guard_sentence({"line": 2, "already_done": 1}, True, other_payloads=2),
        guard_sentence({}, True, 30, True, overlapped=True, ids_done=3, record_gap_s=4_000),
    ]

    assert [left_in_english(text) for text in told if left_in_english(text)] == []


def test_a_measure_has_the_units_of_the_language_and_a_name_stays():
    told = said(
        "it was sent {gap} after {id}, inside the {window} window", gap="12 s", id="timeout of mail", window="300 s"
    )

    assert told == "it was sent 12 s after timeout of mail, inside the 300 s window"
    assert JA.sentence(told) == "timeout of mail の 12 秒後に送信され、300 秒の期間内です"


@pytest.mark.parametrize("name", ["done", "timeout", "error", "success"])
def test_a_name_that_reads_like_one_of_our_words_stays_a_name(name):
    run = said("run {id} of {name}", id="7f3c", name=name)

    assert name in JA.sentence(run)
    assert name in JA.sentence(said("the queue sets such messages aside in {dlq}", dlq=name))
    assert name in JA.sentence(joined(table_sentences(TableWord(name, gap="unread"))))


def test_a_clause_that_became_a_sentence_is_known_by_its_own_phrase():
    told = joined(
        [said("It was delivered {times}.", times="7"), said("{clause}.", clause=capitalized("the function timed out"))]
    )

    assert told == "It was delivered 7. The function timed out."
    assert JA.sentence(told) == "7配信されました。関数のタイムアウト。"


NAMES_FIRST = {
    "a message id": said("{id} was not deleted", id="a387fd78-4bd0-59c2-a3d5-937f35fe75b8"),
    "an id of letters alone": said("{id} was not deleted", id="abcdef"),
    "a queue": said("{queue} is empty", queue="orders"),
    "a name inside a sentence of its own": said("{what}; {more}", what=said("{name} is new", name="charge"), more="so"),
    "code": "`$.payment_id` names the work",
    "an id in a sentence of an earlier release": "a387fd78-4bd0 may have gone to the dead-letter queue",
    "a function that is one of several names": said("{who} received it", who="charge-card"),
}


@pytest.mark.parametrize("clause", NAMES_FIRST.values(), ids=NAMES_FIRST)
def test_an_id_a_name_or_code_keeps_its_first_letter(clause):
    assert capitalized(clause) == plain(clause)


WORDS_FIRST = {
    "a word": said("the run of {who} failed", who="charge"),
    "words in the place of a name": said("{who} timed out", who="the consumer"),
    "a sentence in the place of a value": said("{what}, so", what=said("{word} of {n}", word="none", n=3)),
}


@pytest.mark.parametrize("clause", WORDS_FIRST.values(), ids=WORDS_FIRST)
def test_any_other_first_word_gets_a_capital(clause):
    assert capitalized(clause) == plain(clause)[0].upper() + plain(clause)[1:]


def test_a_sentence_is_the_same_after_it_was_packed_and_copied():
    told = decide(DeliveryPair(earlier_status="timeout", gap_ms=31_000, is_fifo=True, **NAMED)).sentence

    assert marked(pickle.loads(pickle.dumps(told))) == marked(told)
    assert plain(marked(told)) == told


def test_what_a_log_writes_is_never_taken_for_a_sign_of_ours():
    told = said("{run} took {span}", run="\x02run\x1fa\x1f", span="3 s")

    assert plain(marked(told)).replace("\x1f", "") == "runa took 3 s"
    assert JA.sentence(told)


def test_a_rival_keeps_its_reason_behind_its_code():
    out = labelled(
        "released", said("it was redelivered after {gap}, not before the {limit}", gap="600.06 s", limit="30 s")
    )

    assert out == "released: it was redelivered after 600.06 s, not before the 30 s"
    assert JA.sentence(out).endswith("：600.06 秒後の再配信で、30 秒より前ではありません")
    assert rival(JA, out)[1] == "600.06 秒後の再配信で、30 秒より前ではありません"


def test_a_table_keeps_both_forms_and_gives_one_sentence_back():
    told, alone = said("{count} times", count=7), "a FIFO queue does not deliver copies"
    kept = to_arrow(REDELIVERIES, [{"sentence": told, "excluded": [alone, told], "would_decide": None}])
    (row,) = rows_of(kept.select(["sentence", "sentence_marked", "excluded", "excluded_marked"]))

    assert kept["sentence"].to_pylist() == ["7 times"]
    assert set(row) == {"sentence", "excluded"}
    assert [marked(text) for text in (row["sentence"], *row["excluded"])] == [marked(told), alone, marked(told)]


def test_rows_of_an_earlier_release_are_read_in_english():
    old = pa.table({"sentence": ["it was delivered 7 times"], "sentence_marked": pa.array([None], pa.string())})

    assert rows_of(old) == [{"sentence": "it was delivered 7 times"}]


def test_of_a_work_with_several_ids_each_reason_is_said():
    causes = (["released"], ["throttled"])
    told = [trigger_sentence(why, 2, 2) for why in causes]
    rows = [dict.fromkeys(MESSAGES.given_names) | {"work_id": "w", "item_id": str(n), "deliveries": 1} for n in (1, 2)]
    said = zip(rows, causes, told, strict=True)
    (work,) = by_work([row | {"causes": why, "trigger_sentence": text} for row, why, text in said])

    assert str(work["trigger_sentence"]) == " ".join(map(str, told))
    assert english_in(JA.sentence(work["trigger_sentence"])) == []
