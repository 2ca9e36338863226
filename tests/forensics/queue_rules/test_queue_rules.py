"""Every rule about queues and groups, at its borders."""

import pytest

from forensics.queue_rules import QUEUE_RULES, QueueFacts

DEAD = QueueFacts(
    receive_count=2, max_receive_count=2, has_settings=True, dead_letter_queue="dlq", is_in_dead_letter_queue=True
)
LOST = QueueFacts(retention_s=900, is_watched=True, age_s=880, fitting_count=1)
POISON = QueueFacts(receive_count=3, has_settings=True, span_ms=60_000)

CASES = {
    "a group that stood still for a second": (
        "fifo_group_blocked",
        QueueFacts(span_ms=1000, waiting_count=1),
        "supported",
    ),
    "a group that went on a millisecond sooner": (
        "fifo_group_blocked",
        QueueFacts(span_ms=999, waiting_count=1),
        "excluded",
    ),
    "a group in which nobody waited": (
        "fifo_group_blocked",
        QueueFacts(span_ms=60_000, waiting_count=0),
        "excluded",
    ),
    "a group whose send times are not logged": ("fifo_group_blocked", QueueFacts(span_ms=60_000), "supported"),
    "a group still held where the evidence ends": (
        "fifo_group_blocked",
        QueueFacts(is_going_on=True, waiting_count=2),
        "supported",
    ),
    "the last allowed receive, and the dead-letter queue grew": ("dead_lettered", DEAD, "supported"),
    "one receive below the limit": ("dead_lettered", DEAD._replace(receive_count=1), "excluded"),
    "one receive above it": ("dead_lettered", DEAD._replace(receive_count=3), "supported"),
    "no metric of the dead-letter queue": (
        "dead_lettered",
        DEAD._replace(is_in_dead_letter_queue=False),
        "undecidable",
    ),
    "no snapshot of the queue": ("dead_lettered", QueueFacts(receive_count=2), "undecidable"),
    "a receive count that is not logged": ("dead_lettered", DEAD._replace(receive_count=None), "undecidable"),
    "the oldest message was this one": ("retention_expired", LOST, "supported"),
    "the oldest message was this one or another": (
        "retention_expired",
        LOST._replace(fitting_count=2),
        "undecidable",
    ),
    "no metric of that age": (
        "retention_expired",
        LOST._replace(age_s=None, fitting_count=None),
        "undecidable",
    ),
    "a consumer's log was not read": ("retention_expired", LOST._replace(is_watched=False), "undecidable"),
    "no retention is known": ("retention_expired", LOST._replace(retention_s=None), "undecidable"),
    "the retention was not over": ("retention_expired", LOST._replace(is_going_on=True), "excluded"),
    "three receives without a dead-letter queue": ("poison_without_dlq", POISON, "supported"),
    "two receives": ("poison_without_dlq", POISON._replace(receive_count=2), "excluded"),
    "receives that nobody counted": ("poison_without_dlq", POISON._replace(receive_count=None), "excluded"),
    "a queue with a dead-letter queue": ("poison_without_dlq", POISON._replace(dead_letter_queue="dlq"), "excluded"),
    "a queue of unknown settings": ("poison_without_dlq", POISON._replace(has_settings=False), "undecidable"),
    "a last delivery of unknown end": ("poison_without_dlq", POISON._replace(is_unfinished=False), "undecidable"),
    "finished a millisecond late": ("out_of_order_commit", QueueFacts(late_ms=1), "supported"),
    "finished in the same millisecond": ("out_of_order_commit", QueueFacts(late_ms=0), "excluded"),
    "the later one may have been done again since": (
        "out_of_order_commit",
        QueueFacts(late_ms=1, is_later_settled=False),
        "undecidable",
    ),
}


@pytest.mark.parametrize(("code", "facts", "stance"), CASES.values(), ids=CASES)
def test_a_finding_at_its_border(code, facts, stance):
    ruling = QUEUE_RULES[code](facts)

    assert ruling.stance == stance
    assert ruling.sentence
    assert bool(ruling.would_decide) == (stance == "undecidable")


@pytest.mark.parametrize("code", QUEUE_RULES)
def test_nothing_known_supports_nothing(code):
    """Without any fact no finding is claimed; a group's stop is told by Spark only where one was seen."""
    if code != "fifo_group_blocked":
        assert QUEUE_RULES[code](QueueFacts()).stance != "supported"


@pytest.mark.parametrize("code", QUEUE_RULES)
def test_every_finding_can_be_supported_and_withheld(code):
    stances = {stance for tested, _, stance in CASES.values() if tested == code}

    assert "supported" in stances
    assert len(stances) >= 2


WORDS = {
    "one message waited": ("fifo_group_blocked", QueueFacts(span_ms=6_100, waiting_count=1), "1 message waited"),
    "the move names its receive": ("dead_lettered", DEAD, "receive number 3 moves it to dlq"),
    "one allowed receive": (
        "dead_lettered",
        DEAD._replace(receive_count=1, max_receive_count=1),
        "received once, as often as the queue allows",
    ),
    "retention in days": ("retention_expired", LOST._replace(retention_s=345_600), "retention of 4 days"),
    "retention that is no round time": ("retention_expired", LOST._replace(retention_s=899), "retention of 899 s"),
    "retention in one hour": ("retention_expired", LOST._replace(retention_s=3600), "retention of 1 hour "),
}


@pytest.mark.parametrize(("code", "facts", "words"), WORDS.values(), ids=WORDS)
def test_the_sentence_has_the_numbers(code, facts, words):
    assert words in QUEUE_RULES[code](facts).sentence
