"""Whole works: what comes out does not depend on what else is judged, nor on the order it comes in."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from forensics.judging.ending import ends_surely
from forensics.judging.judge import judge, judge_alone
from forensics.judging.model import Judged
from tests.forensics.judging.plain import LATE, MIN, Around, S, delivery

QUEUES = ("arn:aws:sqs:eu-west-1:123456789012:orders", "arn:aws:sqs:eu-west-1:123456789012:parcels.fifo")
GROUPS = ("/aws/lambda/charge", "billing")
_few = st.sampled_from
_SHAPES = (
    {"reports_batch_item_failures": False, "run_ended_at": 2 * MIN},
    {"reports_batch_item_failures": False, "is_idempotent": False},
    {"reports_batch_item_failures": True},
    {"reports_batch_item_failures": True, "has_response": True, "is_named_failure": True},
    {"marker_at": 5 * MIN},
    {"run_status": "timeout", "run_ended_at": 9 * MIN, "end_ids": ["end"], "function_timeout_s": 30},
    {"run_status": "timeout", "marker_at": 5 * MIN, "key_marker_count": 2, "max_receive_count": 2},
    {"run_status": "error", "max_receive_count": 2, "hidden_until_at": 6 * MIN},
    {"run_status": "unknown", "max_receive_count": 2, "hidden_until_at": 5 * MIN},
    {"idempotency": "already_done"},
    {"idempotency": "validation", "delete_reason": "expired", "delete_at": 4 * MIN, "started_at": 3 * MIN},
)
_IN_BATCH = (
    {},
    {"is_batch_printed": True, "batch_position": 1},
    {"is_batch_printed": True, "batch_position": 2},
    {"is_batch_printed": True, "marker_at": 7 * MIN},
    {"consumer_kind": "worker", "log_group": GROUPS[1], "worker_finished_at": 8 * MIN},
)
_SHARING = (
    {},
    {},
    {"business_keys": ["k"]},
    {"business_keys": ["j", "k"]},
    {"deduplication_id": "m1"},
    {"job_id": "j"},
)
_PLACES = st.lists(st.tuples(_few(["m1", "m2", "m3", "key:k"]), st.integers(1, 4)), unique=True, max_size=6)


@st.composite
def deliveries(draw):
    """Draw what logs may show of a few messages in two queues, mostly in runs of one stream."""
    return [
        delivery(
            item_id,
            **{
                "queue_arn": draw(_few(QUEUES)),
                "consumer": f"run {run}",
                "received_at": run * 3 * MIN,
                "receive_count": draw(_few([None, 1, 2, 4])),
                "visibility_timeout_s": draw(_few([None, 30, 600])),
                "body_md5": draw(_few([None, "b"])),
                "sent_ms": draw(_few([None, 2, 5])),
                "fact_ids": [f"{item_id} in {run}"],
                **draw(_few(_SHAPES)),
                **draw(_few(_IN_BATCH)),
                **draw(_few(_SHARING)),
            },
        )
        for item_id, run in draw(_PLACES)
    ]


def around(**more) -> Around:
    return Around(
        read={GROUPS[0]: (0, 15 * MIN), GROUPS[1]: (-LATE, LATE)},
        throttles=(False, []),
        workers_read=True,
        grown_at=(5 * MIN,),
        dead_letter_sources={QUEUES[1]: []},
        groups_with_guard_lines=frozenset({GROUPS[0]}),
        **more,
    )


def test_a_missing_effect_line_says_nothing_where_no_line_at_all_is_like_it():
    run = {"has_effect": True, "is_exhaustive": True, "is_batch_printed": True, "batch_count": 1, "batch_position": 1}
    made = [delivery(receive_count=n, received_at=n * MIN, visibility_timeout_s=30, **run) for n in (1, 2)]
    shown, unlike = judge(made, Around()), judge(made, Around(groups_without_effects=frozenset({made[0].log_group})))

    assert {(d.effect, d.basis) for d in shown.ledger} == {("no", "no_marker")}
    assert {(d.effect, d.basis) for d in unlike.ledger} == {("unknown", "no_item_lines")}


def mentions(d) -> set[tuple[str, str]]:
    """What a delivery can share with others, whatever the queue."""
    told = {("item", d.item_id), *(("key", k) for k in d.business_keys), ("job", d.job_id or d.item_id)}
    return told | ({("item", d.deduplication_id)} if d.deduplication_id else set())


def apart(drawn) -> list[list]:
    """Part deliveries into what shares nothing."""
    parts: list[list] = []
    for one in drawn:
        near = [part for part in parts if any(mentions(one) & mentions(d) for d in part)]
        parts = [part for part in parts if part not in near] + [[one, *(d for part in near for d in part)]]
    return parts


def by_work(judged: Judged) -> tuple[list, list, list]:
    place = {(d.queue_arn, d.item_id): d.work_id for d in judged.ledger}
    return tuple(
        sorted(
            rows, key=lambda r: (r.queue_arn, place[r.queue_arn, r.item_id], r.item_id, getattr(r, "delivery_index", 0))
        )
        for rows in (judged.ledger, judged.redeliveries, judged.messages)
    )  # type: ignore[return-value]


@given(deliveries(), st.randoms())
def test_the_order_in_which_deliveries_come_does_not_matter(drawn, chance):
    shuffled = chance.sample(drawn, len(drawn))

    assert judge(shuffled, around(moved_from=4_000)) == judge(drawn, around(moved_from=4_000))


@given(deliveries())
def test_works_judged_together_come_out_as_each_does_alone(drawn):
    alone = Judged()
    for part in apart(drawn):
        judged = judge(part, around())
        alone.ledger += judged.ledger
        alone.redeliveries += judged.redeliveries
        alone.messages += judged.messages
    together = judge(drawn, around())

    assert by_work(together) == by_work(alone)
    assert by_work(together) == (together.ledger, together.redeliveries, together.messages)


@given(deliveries())
def test_judging_leaves_what_it_is_given_as_it_is(drawn):
    before = copy.deepcopy(drawn)

    judge(drawn, around())

    assert drawn == before


@given(deliveries())
def test_every_receive_stands_in_the_ledger_and_every_one_but_the_first_came_again(drawn):
    judged = judge(drawn, around())
    receives = [(d.queue_arn, d.item_id) for d in judged.ledger if not d.may_be_same_receive]

    assert len(judged.redeliveries) == len(receives) - len(set(receives))
    assert {f for d in judged.ledger for f in d.fact_ids} == {f for d in drawn for f in d.fact_ids}
    assert all(m.effects_at_most is None or m.effects_at_least <= m.effects_at_most for m in judged.messages)
    assert {(m.queue_arn, m.item_id) for m in judged.messages} >= {
        (r.queue_arn, r.item_id) for r in judged.redeliveries
    }


@given(deliveries())
def test_what_ends_surely_and_stands_alone_needs_no_surroundings(drawn):
    for one in drawn:
        if ends_surely(one) and (one.receive_count or 1) == 1:
            (judged,) = judge([one], around()).ledger
            alone = copy.copy(one)

            assert judge_alone(alone)
            alone.order_at, alone.work_id, alone.evidence_ids = judged.order_at, judged.work_id, judged.evidence_ids

            assert alone == judged


def test_a_message_that_came_again_after_a_timeout_is_told_in_full():
    timed_out = {"run_status": "timeout", "run_ended_at": 20 * S, "visibility_timeout_s": 30, "end_ids": ["end"]}
    first = delivery(marker_at=5 * S, receive_count=1, fact_ids=["a"], consumer="run 1", **timed_out)
    second = delivery(marker_at=36 * S, receive_count=2, fact_ids=["b"], consumer="run 2", received_at=31 * S)

    judged = judge([second, first], Around())

    assert [(d.delivery_index, d.effect, d.ended_by) for d in judged.ledger] == [
        (1, "yes", "visibility_expired"),
        (2, "yes", "deleted"),
    ]
    (message,) = judged.messages
    assert (message.verdict, message.effects_at_least, message.certainty) == ("confirmed", 2, "proved")
    assert message.evidence_ids == ["a", "b", "end"]


def test_a_receive_that_no_log_shows_stands_in_its_place():
    logged = [delivery(receive_count=n, consumer=f"run {n}", received_at=n * MIN) for n in (1, 3)]

    judged = judge(logged, Around(would_be_logged=True))

    assert [(d.receive_count, d.is_seen, d.effect, d.basis, d.ended_by) for d in judged.ledger[1:2]] == [
        (2, False, "no", "never_started", "visibility_expired")
    ]
    assert [r.delivery_index for r in judged.redeliveries] == [2, 3]


def test_a_second_message_of_the_same_work_that_only_returned_is_open():
    returned = {"business_keys": ["k"], "reports_batch_item_failures": False, "receive_count": 1}
    works = [delivery("m1", **returned), delivery("m2", **returned, consumer="run 2", received_at=MIN)]

    judged = judge(works, Around())

    assert [d.effect for d in judged.ledger] == ["yes", "unknown"]
    assert [m.verdict for m in judged.messages] == ["probable", "probable"]


def test_a_late_line_makes_no_delivery():
    printed = {"is_batch_printed": True, "receive_count": 1}
    home = delivery(batch_position=1, fact_ids=["a"], **printed)
    late = delivery(
        consumer="run 2", received_at=MIN, marker_at=MIN, fact_ids=["b"], **{**printed, "receive_count": None}
    )

    (only,) = judge([home, late], Around()).ledger

    assert (only.effect, only.effect_at, only.evidence_ids) == ("yes", MIN, ["a", "b"])


def test_nothing_to_judge_gives_nothing():
    assert judge([], Around()) == Judged()
