"""What producers' own lines tell of sends: which messages stand for one work, who sent it twice, and who did not."""

import pytest

from forensics.judging.judge import judge
from forensics.judging.sends import SEND
from forensics.judging.surroundings import Surroundings
from forensics.parsers.sends import pattern_of, read_as
from forensics.settings import Producer
from tests.forensics.judging.around import PAYMENTS, at, moment, read
from tests.forensics.judging.test_calls import worked

SHOP = Producer("/ecs/shop", "payments", sent=r"sent (?P<message_id>\S+)", sent_is_exhaustive=True)


def line(minute: float, message_id: str | None, key="pay-1", producer=SHOP, **said):
    return {
        "evidence_id": f"send:{message_id}:{minute}",
        "called_at": moment(minute),
        "operation": SEND,
        "queue_arn": PAYMENTS,
        "message_id": message_id,
        "deduplication_id": None,
        "business_key": key,
        "producer_request_id": None,
        "actor": None,
        "error_code": None,
        "log_group": producer.log_group,
        "pattern": pattern_of(producer),
        **said,
    }


def judged(*lines, work=None, producers=(SHOP,), coverage=()):
    work = work or [worked(0, item_id="m1"), worked(0.5, item_id="m2")]
    around = Surroundings(send_records=lines, producers=producers, coverage=coverage)
    return {m.message_id: m for m in judge(work, around).messages}


def test_messages_of_one_key_are_one_work_where_only_the_producer_tells_it():
    lines = line(-2, "m1"), line(-1, "m2")
    found = judged(*lines)

    assert (found["m1"].related_message_ids, found["m2"].origin) == (["m2"], "producer_retry")
    assert found["m2"].business_keys == ["pay-1"]
    assert {told["evidence_id"] for told in lines} <= {e for m in found.values() for e in m.evidence_ids}
    assert "a line of /ecs/shop" in found["m2"].trigger_sentence
    assert judged(line(-2, "m1"), line(-1, "m2", key="pay-2")) == {}


def test_sends_of_one_request_of_the_producer_are_said_to_be():
    lines = [line(minute, m, producer_request_id="req-7") for minute, m in ((-2, "m1"), (-1, "m2"))]

    assert "both sends were of the producer's request req-7" in judged(*lines)["m2"].trigger_sentence


WORK = [
    worked(0, item_id="m1", business_keys=["pay-1"], sent_ms=at(-2) // 1000),
    worked(0.5, item_id="m2", business_keys=["pay-1"], sent_ms=at(-1.5) // 1000),
]
WHOLE = [read(-60, 60, read_as(SHOP), "send_records")]


def test_a_send_that_no_line_shows_before_one_that_a_line_does_was_the_sdks():
    lone = judged(line(-1.5, "m2"), work=WORK, coverage=WHOLE)["m2"]

    assert "its SDK had asked before and got no answer" in lone.trigger_sentence
    assert "its SDK" not in judged(line(-1.5, "m2"), work=WORK)["m2"].trigger_sentence


def test_a_send_that_no_line_shows_where_each_prints_one_was_none_of_the_producers():
    other = judged(line(-2, "m1"), work=WORK, coverage=WHOLE)["m2"]

    assert other.origin is None
    assert any(said.startswith("producer_retry: its producers log every send") for said in other.origin_excluded)


@pytest.mark.parametrize(
    ("producers", "coverage"),
    [
        ((SHOP,), []),
        ((SHOP,), [read(-60, -1.6, read_as(SHOP), "send_records")]),
        ((SHOP, Producer("/ecs/jobs", "payments", key="$.id")), WHOLE),
        ((Producer("/ecs/shop", "payments", sent=SHOP.sent),), WHOLE),
    ],
    ids=["never read", "not read then", "another producer may have", "not every send prints one"],
)
def test_where_a_line_may_be_missing_its_absence_tells_nothing(producers, coverage):
    found = judged(line(-2, "m1"), work=WORK, producers=producers, coverage=coverage)

    assert found["m2"].origin == "producer_retry"


def test_lines_that_earlier_settings_read_do_not_count():
    mended = Producer("/ecs/shop", "payments", sent=r"sent (?P<message_id>\S+) to payments")

    assert judged(line(-2, "m1"), line(-1, "m2"), producers=(mended,)) == {}


def test_a_line_that_names_no_message_is_of_the_one_sent_then():
    named = [line(-2, None, producer_request_id="req-7"), line(-1.5, None, producer_request_id="req-7")]
    far = [line(-2.2, None, producer_request_id="req-7"), line(-1.7, None, producer_request_id="req-7")]

    assert "request req-7" in judged(*named, work=WORK)["m2"].trigger_sentence
    assert "request req-7" not in judged(*far, work=WORK)["m2"].trigger_sentence


def test_sends_bear_on_works_and_so_does_when_all_of_them_would_show():
    asked = ([PAYMENTS], ["/aws/lambda/charge"], at(10), at(20))
    told = [
        Surroundings(producers=[SHOP]).bearing(*asked),
        Surroundings(producers=[SHOP], coverage=WHOLE).bearing(*asked),
        Surroundings(producers=[SHOP], send_records=[line(-2000, "m1")]).bearing(*asked),
    ]

    assert len(set(told)) == 3


def marked(minute: float, **facts):
    """A line that names only the payment, in a worker's stream."""
    return worked(minute, item_id="key:pay-1", business_keys=["pay-1"], marker_at=at(minute), has_effect=True, **facts)


OPEN = {"is_end_known": False, "run_status": "unknown", "has_effect": True}


def verdicts(*more, **facts):
    work = [worked(0, item_id="m1", **OPEN, **facts), worked(0.5, item_id="m2", log_stream="other", **OPEN)]
    found = judged(line(-2, "m1"), line(-1, "m2"), work=[*work, *more])
    return {name: m.effects_at_least for name, m in found.items()}


def test_a_mark_that_names_only_the_key_is_of_the_message_that_its_send_names():
    once = verdicts(marked(0.1, log_stream="stream"), log_stream="stream")
    twice = verdicts(marked(0.1, log_stream="stream"), marked(0.6, log_stream="other"), log_stream="stream")

    assert once == {"m1": 1, "m2": 1}
    assert twice == {"m1": 2, "m2": 2}


@pytest.mark.parametrize(
    ("marks", "facts"),
    [
        ([marked(0.1, log_stream="elsewhere")], {"log_stream": "stream"}),
        ([marked(0.6, log_stream="other")], {"log_stream": "other"}),
        ([marked(-0.1, log_stream="stream")], {"log_stream": "stream"}),
    ],
    ids=["another stream", "both in hand there", "before it was received"],
)
def test_a_mark_that_may_be_of_another_message_is_of_none_and_shows_that_their_work_was_done(marks, facts):
    work = [worked(0, item_id="m1", **OPEN, **facts), worked(0.5, item_id="m2", log_stream="other", **OPEN)]
    around = Surroundings(send_records=[line(-2, "m1"), line(-1, "m2")], producers=[SHOP])
    found = judge([*work, *marks], around)

    assert {d.item_id for d in found.ledger if d.effect == "yes"} == {"key:pay-1"}
    assert {message.effects_at_least for message in found.messages} == {1}
