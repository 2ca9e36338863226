"""Where another id of the same work comes from, at the borders of each rule."""

import pytest

from forensics.origins import ORIGIN_RULES, IdPair, origin_of

SAME_ID = {"is_fifo": True, "has_same_deduplication_id": True}
UNKNOWN_ID = {"has_same_deduplication_id": None}
MOVED = {"earlier_was_dead_lettered": True, "was_moved_then": True, "has_same_body": True}

CASES = {
    "dlq_redrive": {
        "its deduplication id is the old message id": (dict(is_named_after_earlier=True), "supported"),
        "a move task, a dead letter, one body": (MOVED, "supported"),
        "another body": (MOVED | dict(has_same_body=False), "excluded"),
        "bodies not shown": (MOVED | dict(has_same_body=None), "undecidable"),
        "no move task was on": (MOVED | dict(was_moved_then=False), "excluded"),
        "nobody asked for move tasks": (MOVED | dict(was_moved_then=None), "undecidable"),
        "the earlier one was not dead-lettered": (MOVED | dict(earlier_was_dead_lettered=False), "excluded"),
        "it may have been, unread, and nobody asked for move tasks": (
            dict(earlier_was_dead_lettered=None),
            "undecidable",
        ),
        "it may have been, unread, and a move task was on": (
            MOVED | dict(earlier_was_dead_lettered=None),
            "undecidable",
        ),
        "it may have been, unread, and no move task was on": (
            MOVED | dict(earlier_was_dead_lettered=None, was_moved_then=False),
            "excluded",
        ),
        "equal bodies alone": (dict(has_same_body=True), "excluded"),
        "a call sent it while a move task was on": (MOVED | dict(shown_by="a record"), "excluded"),
        "a call sent it under the old message's id": (
            dict(is_named_after_earlier=True, shown_by="a record"),
            "supported",
        ),
    },
    "dedup_window_passed": {
        "300 s apart": (SAME_ID | dict(sent_gap_s=300), "excluded"),
        "a millisecond more": (SAME_ID | dict(sent_gap_s=300.001), "supported"),
        "times not shown": (SAME_ID, "undecidable"),
        "none of its producers sent it": (SAME_ID | dict(sent_gap_s=301, is_missing_send=True), "excluded"),
        "ids not shown, within the window": (SAME_ID | UNKNOWN_ID | dict(sent_gap_s=300), "excluded"),
        "ids not shown, after the window": (SAME_ID | UNKNOWN_ID | dict(sent_gap_s=301), "undecidable"),
        "a standard queue": (dict(is_fifo=False, has_same_deduplication_id=True, sent_gap_s=301), "excluded"),
        "other deduplication ids": (dict(is_fifo=True, sent_gap_s=301), "excluded"),
        "an id that may be its body's hash": (
            SAME_ID | dict(sent_gap_s=301, may_be_other_work=True, is_id_of_body=True),
            "undecidable",
        ),
    },
    "producer_retry": {
        "one key, two ids": (dict(has_same_business_key=True, sent_gap_s=2), "supported"),
        "one key, times not shown": (dict(has_same_business_key=True), "supported"),
        "one job id of a framework, two ids": (dict(has_same_job_id=True, sent_gap_s=2), "supported"),
        "one key, and none of its producers sent it": (
            dict(has_same_business_key=True, sent_gap_s=2, is_missing_send=True),
            "excluded",
        ),
        "no key in common": (dict(has_same_body=True, sent_gap_s=2), "excluded"),
        "the deduplication window had passed": (
            SAME_ID | dict(has_same_business_key=True, sent_gap_s=301),
            "excluded",
        ),
        "one deduplication id within the window": (
            SAME_ID | dict(has_same_business_key=True, sent_gap_s=300),
            "excluded",
        ),
        "one deduplication id, times not shown": (SAME_ID | dict(has_same_business_key=True), "undecidable"),
        "one deduplication id on a standard queue": (
            dict(is_fifo=False, has_same_deduplication_id=True, has_same_business_key=True, sent_gap_s=301),
            "supported",
        ),
        "FIFO, ids not shown, within the window": (
            UNKNOWN_ID | dict(is_fifo=True, has_same_business_key=True, sent_gap_s=300),
            "supported",
        ),
        "FIFO, ids not shown, after the window": (
            UNKNOWN_ID | dict(is_fifo=True, has_same_business_key=True, sent_gap_s=301),
            "undecidable",
        ),
        "named after the earlier one": (dict(is_named_after_earlier=True, has_same_business_key=True), "excluded"),
        "a redrive explains it": (MOVED | dict(has_same_business_key=True), "excluded"),
        "a redrive might explain it": (
            dict(has_same_business_key=True, earlier_was_dead_lettered=True),
            "undecidable",
        ),
        "a redrive of one that may have gone there unread might explain it": (
            dict(has_same_business_key=True, earlier_was_dead_lettered=None),
            "undecidable",
        ),
        "a move task was on, and it may have gone there unread": (
            MOVED | dict(has_same_business_key=True, earlier_was_dead_lettered=None),
            "undecidable",
        ),
        "a move task was on, and the bodies are not shown": (
            MOVED | dict(has_same_business_key=True, has_same_body=None),
            "undecidable",
        ),
        "a move task was on, and the body is another": (
            MOVED | dict(has_same_business_key=True, has_same_body=False),
            "supported",
        ),
        "a call sent it, whatever a redrive might explain": (
            dict(has_same_business_key=True, earlier_was_dead_lettered=True, shown_by="a record"),
            "supported",
        ),
        "a call sent it while a move task was on": (
            MOVED | dict(has_same_business_key=True, shown_by="a record"),
            "supported",
        ),
        "no redrive was on": (
            dict(has_same_business_key=True, earlier_was_dead_lettered=True, was_moved_then=False),
            "supported",
        ),
    },
}
EVERY_CASE = [
    pytest.param(code, facts, stance, id=f"{code}: {name}")
    for code, cases in CASES.items()
    for name, (facts, stance) in cases.items()
]


@pytest.mark.parametrize(("code", "facts", "stance"), EVERY_CASE)
def test_a_rule_answers_at_its_border(code, facts, stance):
    ruling = ORIGIN_RULES[code](IdPair(**facts))

    assert ruling.stance == stance, ruling.sentence
    assert bool(ruling.would_decide) == (stance == "undecidable")


@pytest.mark.parametrize(("code", "facts", "stance"), EVERY_CASE)
def test_no_two_origins_hold_at_once(code, facts, stance):
    held = [c for c, rule in ORIGIN_RULES.items() if rule(IdPair(**facts)).stance == "supported"]

    assert len(held) <= 1


def test_where_nothing_is_sure_there_is_no_origin():
    assert origin_of(IdPair(has_same_business_key=True, earlier_was_dead_lettered=True))[0] is None


SENDERS = {
    "nobody known": (None, None, "under another message id"),
    "only the later one known": (None, "AROA1:shop", "under another message id, the later one by AROA1:shop"),
    "one sender": ("AROA1:shop", "AROA1:shop", "under another message id, both by AROA1:shop"),
    "two senders": (
        "AROA1:shop",
        "AROA2:batch",
        "under another message id, by AROA2:batch, and the first time by AROA1:shop",
    ),
}


@pytest.mark.parametrize(("earlier", "later", "said"), SENDERS.values(), ids=SENDERS)
def test_a_producers_retry_says_who_sent(earlier, later, said):
    found = origin_of(IdPair(has_same_business_key=True, sent_gap_s=2, earlier_sender=earlier, sender=later))

    assert found.sentence.endswith(said)


def test_every_rival_origin_is_out_or_open_and_says_why():
    found = origin_of(IdPair(has_same_business_key=True, sent_gap_s=2))
    doubtful = origin_of(IdPair(has_same_business_key=True, earlier_was_dead_lettered=True))

    assert (found.code, found.still_open) == ("producer_retry", ())
    assert [text.partition(":")[0] for text in found.excluded] == ["dlq_redrive", "dedup_window_passed"]
    assert doubtful.code is None
    assert [text.partition(":")[0] for text in doubtful.still_open] == ["dlq_redrive", "producer_retry"]
    assert all("(would decide: the dead-letter queue's move tasks" in text for text in doubtful.still_open)
