"""An incident's bars and marks: which there are, from when to when, in which lane, and what shows them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.incidents.timeline import GIVEN, MARKED, mark_rows
from forensics.tables.findings import TIMELINE
from tests.forensics.incidents.builders import NOON, at, delivery, harmless, message


def rows(messages, ledger):
    mine = {(message.queue_arn, message.item_id) for message in messages}
    found = [dict(zip(GIVEN, row, strict=True)) for row in mark_rows(ledger, mine)]
    for row in found:
        marked = ledger[row.pop("place")]
        row |= {name: getattr(marked, name) for name in MARKED}
    return sorted(found, key=lambda r: (r["item_id"], r["delivery_index"]))


def of_one(**values):
    return {row["kind"]: row for row in rows([message("a")], [delivery("a", **values)])}


MARKS = {
    "a receive of which nothing more is known": ({}, {"in_flight": (0, None)}),
    "the message's own time": ({"sent_ms": NOON // 1000 - 5_000}, {"sent": (-5, None), "in_flight": (0, None)}),
    "hidden until its timeout": ({"hidden_until_at": at(30), "run_ended_at": at(9)}, {"in_flight": (0, 30)}),
    "no timeout known": ({"run_ended_at": at(9)}, {"in_flight": (0, 9)}),
    "not even the end of the run": ({"last_fact_at": at(4)}, {"in_flight": (0, 4)}),
    "deleted": (
        {"ended_by": "deleted", "delete_at": at(7), "run_ended_at": at(9), "hidden_until_at": at(30)},
        {"in_flight": (0, 7), "deleted": (7, None)},
    ),
    "deleted by the end of its run": (
        {"ended_by": "deleted", "run_ended_at": at(9), "finished_at": at(6), "hidden_until_at": at(30)},
        {"in_flight": (0, 9), "deleted": (9, None)},
    ),
    "deleted, and nothing tells when": (
        {"ended_by": "deleted", "finished_at": at(6)},
        {"in_flight": (0, 6), "deleted": (6, None)},
    ),
    "delete refused": (
        {"ended_by": "delete_refused", "delete_at": at(40), "hidden_until_at": at(30)},
        {"in_flight": (0, 30), "delete_refused": (40, None)},
    ),
    "dead-lettered": (
        {"ended_by": "dead_lettered", "hidden_until_at": at(30)},
        {"in_flight": (0, 30), "dead_lettered": (30, None)},
    ),
    "started and finished": (
        {"started_at": at(1), "finished_at": at(6), "run_ended_at": at(9)},
        {"in_flight": (0, 9), "handling": (1, 6)},
    ),
    "started and cut off": (
        {"started_at": at(1), "run_ended_at": at(9), "run_status": "timeout"},
        {"in_flight": (0, 9), "handling": (1, 9), "timeout": (9, None)},
    ),
    "a worker starts as it receives": ({"consumer_kind": "worker"}, {"in_flight": (0, None), "handling": (0, None)}),
    "done": ({"effect": "yes", "effect_at": at(5)}, {"in_flight": (0, None), "effect": (5, None)}),
    "done, and nothing tells when": ({"effect": "yes"}, {"in_flight": (0, None)}),
    "maybe done": ({"effect": "unknown", "effect_at": at(5)}, {"in_flight": (0, None)}),
    "raised": ({"run_status": "error", "run_ended_at": at(9)}, {"in_flight": (0, 9), "error": (9, None)}),
    "crashed": ({"run_status": "crash", "run_ended_at": at(9)}, {"in_flight": (0, 9), "crash": (9, None)}),
    "never began": ({"run_status": "init_failed", "run_ended_at": at(9)}, {"in_flight": (0, 9), "crash": (9, None)}),
    "unlogged": ({"is_seen": False, "received": None, "order_at": at(3), "consumer": None}, {"unseen": (3, None)}),
    "unlogged, but its time is known": (
        {"is_seen": False, "received": 2, "order_at": at(3), "sent_ms": NOON // 1000},
        {"unseen": (2, None)},
    ),
}


@pytest.mark.parametrize(("values", "expected"), MARKS.values(), ids=MARKS)
def test_what_is_drawn_of_one_delivery(values, expected):
    found = of_one(**values)

    assert {kind: (row["at"], row["until_at"]) for kind, row in found.items()} == {
        kind: (at(start), at(end)) for kind, (start, end) in expected.items()
    }


HIDDEN = {
    "nothing tells until when": ({"run_ended_at": at(45)}, (0, 30)),
    "its run ended before": ({"run_ended_at": at(9)}, (0, 9)),
    "its timeout is known": ({"run_ended_at": at(45), "hidden_until_at": at(29)}, (0, 29)),
}


@pytest.mark.parametrize(("values", "expected"), HIDDEN.values(), ids=HIDDEN)
def test_a_message_that_was_received_again_was_not_in_flight_any_more(values, expected):
    again = delivery("a", index=2, received=30)
    (first, *_) = rows([message("a")], [delivery("a", **values), again])

    assert (first["at"], first["until_at"]) == (at(expected[0]), at(expected[1]))


def test_a_label_says_what_a_reader_hovers_for():
    found = of_one(
        effect="yes", effect_at=at(5), basis="marker", run_status="error", run_ended_at=at(9), error_type="Boom"
    )

    assert found["in_flight"]["label"] == "in flight, receive #1"
    assert found["effect"]["label"] == "work done (marker)"
    assert found["error"]["label"] == "the run failed: Boom"
    assert (
        of_one(run_status="crash", run_ended_at=at(9), error_type="OOM")["crash"]["label"] == "the runtime crashed: OOM"
    )
    assert of_one(run_status="crash", run_ended_at=at(9))["crash"]["label"] == "the runtime crashed: no reason given"
    assert of_one(receive_count=None)["in_flight"]["label"] == "in flight, receive count not logged"


def test_a_mark_names_stream_and_request_or_says_that_it_is_derived():
    found = of_one(ended_by="dead_lettered", hidden_until_at=at(30))
    of_worker = of_one(request_id=None)

    assert found["in_flight"]["source"] == "stream request"
    assert found["dead_lettered"]["source"] == "derived"
    assert of_worker["in_flight"]["source"] == "stream"


def test_how_a_delivery_ended_stands_at_its_bar_alone():
    found = of_one(ended_by="deleted", delete_at=at(7), started_at=at(1))

    assert {kind: row["ended_by"] for kind, row in found.items()} == {
        "in_flight": "deleted",
        "handling": None,
        "deleted": None,
    }


def test_the_time_of_sending_stands_before_the_first_delivery_and_is_drawn_once():
    sent = NOON // 1000 - 1
    found = rows([message("a")], [delivery("a", n, n * 60, sent_ms=sent) for n in (1, 2)])

    assert [(row["kind"], row["delivery_index"]) for row in found] == [("sent", 0), ("in_flight", 1), ("in_flight", 2)]


def test_work_done_after_it_was_done_is_a_repeat_even_in_another_message_of_the_work():
    ledger = [
        delivery("a", 1, 0, work_id="w", effect="yes", effect_at=at(1)),
        delivery("a", 2, 60, work_id="w", effect="no"),
        delivery("b", 1, 30, work_id="w", effect="yes", effect_at=at(31)),
        delivery("c", 1, 90, effect="yes", effect_at=at(91)),
    ]
    found = rows([message("a"), message("b"), message("c")], ledger)

    assert {r["item_id"]: r["kind"] for r in found if r["kind"] in ("effect", "repeat")} == {
        "a": "effect",
        "b": "repeat",
        "c": "effect",
    }


def test_work_is_done_first_in_whichever_delivery_came_first():
    ledger = [
        delivery("a", 1, 60, effect="yes", effect_at=at(61), work_id="w"),
        delivery("b", 1, 0, effect="yes", effect_at=at(1), work_id="w", run_ended_at=at(90)),
    ]
    found = rows([message("a"), message("b")], ledger)

    assert {r["item_id"]: r["kind"] for r in found if r["kind"] in ("effect", "repeat")} == {
        "a": "repeat",
        "b": "effect",
    }


def test_work_is_done_again_by_the_slower_of_two_however_soon_it_was_received():
    ledger = [
        delivery("a", 1, 0, effect="yes", effect_at=at(45)),
        delivery("a", 2, 31, effect="yes", effect_at=at(32)),
        delivery("b", 1, 0, effect="yes", effect_at=None),
        delivery("b", 2, 31, effect="yes", effect_at=at(32)),
    ]
    found = rows([message("a"), message("b")], ledger)

    assert [(r["item_id"], r["delivery_index"], r["kind"]) for r in found if r["kind"] in ("effect", "repeat")] == [
        ("a", 1, "repeat"),
        ("a", 2, "effect"),
        ("b", 2, "repeat"),
    ]


def test_work_done_first_in_a_message_of_another_incident_makes_a_repeat_here():
    ledger = [
        delivery("a", 1, -9_000, work_id="w", effect="yes", effect_at=at(-8_999)),
        delivery("b", 1, 0, work_id="w", effect="yes", effect_at=at(1)),
    ]
    found = rows([message("b")], ledger)

    assert {(r["item_id"], r["kind"]) for r in found} == {("b", "in_flight"), ("b", "repeat")}


events = st.fixed_dictionaries(
    {
        "received": st.integers(0, 3),
        "work_id": st.sampled_from(["v", "w"]),
        "effect": st.sampled_from(["yes", "no", "unknown"]),
        "effect_at": st.just(at(9)),
        "batch_position": st.sampled_from([None, 1, 2]),
        "is_seen": st.booleans(),
        "run_status": st.sampled_from([None, "timeout", "success"]),
    }
)


@given(st.lists(st.tuples(st.sampled_from("abc"), events), max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_input_does_not_matter(drawn, random):
    counts: dict[str, int] = {}
    ledger = []
    for item, values in drawn:
        counts[item] = counts.get(item, 0) + 1
        ledger.append(delivery(item, counts[item], **values))
    messages = [message("a", 1), message("b", 1), harmless("c", 0)]
    expected = rows(messages, ledger)
    random.shuffle(ledger)
    random.shuffle(messages)

    assert rows(messages, ledger) == expected
    keys = [tuple(row[column] for column in TIMELINE.key if column in row) for row in expected]
    assert len(set(keys)) == len(keys)
