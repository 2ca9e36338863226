"""The repeats of an incident's work, put to every change and counted."""

from hypothesis import given
from hypothesis import strategies as st

from forensics.counterfactuals import CHANGES, Repeat
from forensics.incidents.repeats import WorkRepeat, counted, counterfactual_rows, repeats
from forensics.tables.findings import COUNTERFACTUALS
from tests.forensics.incidents.builders import ARN, at, delivery, message, redelivery


def found(ledger, redeliveries=(), messages=(), affected=("a", "b")):
    return repeats(messages, redeliveries, ledger, set(affected))


def test_a_delivery_that_may_have_done_the_work_after_another_may_have_is_a_repeat():
    ledger = [delivery("a", n, n * 60, effect=e) for n, e in enumerate(("no", "unknown", "no", "yes", "unknown"), 1)]

    assert [(r.delivery_index, r.asked.earlier_effect) for r in found(ledger)] == [(4, "unknown"), (5, "yes")]


def test_a_line_that_names_a_key_alone_is_a_repeat_of_its_messages_work_where_it_shows_one_for_sure():
    def line(effect, seconds=90, work_id="a"):
        return delivery("key:k", 1, seconds, work_id=work_id, effect=effect, message_id=None)

    def places(*effects, beside):
        ledger = [delivery("a", n, n * 60, effect=effect) for n, effect in enumerate(effects, 1)]
        return [(r.item_id, r.delivery_index) for r in found([*ledger, beside], affected=("a", "key:k"))]

    assert places("yes", beside=line("yes")) == [("key:k", 1)]
    assert places("yes", beside=line("unknown")) == []
    assert places("unknown", "unknown", beside=line("yes")) == [("a", 2)]
    assert places("unknown", beside=line("unknown", 0)) == []
    assert len(found([line("unknown", n, "key:k") for n in (1, 2)], affected=("key:k",))) == 1


def test_a_worker_that_tries_a_message_again_repeats_its_work_in_one_delivery():
    def tries(effect, done, maybe):
        of = delivery("a", 1, effect=effect, consumer_kind="worker", done_more_count=done, maybe_more_count=maybe)
        return [(r.is_sure, r.asked.earlier_effect) for r in found([of])]

    assert tries("yes", 1, 2) == [(True, "yes"), (False, "yes"), (False, "yes")]
    assert tries("unknown", 1, 1) == [(False, "unknown"), (False, "unknown")]
    assert tries("yes", 0, 0) == []
    assert [r.asked.cause for r in found([delivery("a", 1, effect="yes", maybe_more_count=1)])] == ["tried_again"]
    assert found([delivery("c", 1, effect="yes", done_more_count=1)]) == []


def test_work_that_was_done_at_most_once_has_no_repeats():
    assert found([delivery("a", 1, effect="no"), delivery("a", 2, 60, effect="yes")]) == []


def test_a_repeat_in_another_message_has_its_origin_for_a_cause_and_its_own_evidence():
    ledger = [
        delivery("a", 1, 0, work_id="w", effect="yes"),
        delivery("b", 1, 60, work_id="w", effect="yes", is_fifo=True),
    ]
    (repeat,) = found(ledger, messages=[message("b", origin="producer_retry")])

    assert repeat == WorkRepeat(
        "b", 1, Repeat(cause="producer_retry", is_fifo=True, earlier_effect="yes"), ["log:b-1"], True
    )


def test_a_repeat_of_which_nothing_tells_why_is_undecidable():
    ledger = [delivery("a", 1, 0, work_id="w"), delivery("b", 1, 60, work_id="w")]

    assert [r.asked.cause for r in found(ledger)] == ["undecidable"]


def test_a_redelivery_tells_what_was_before_and_brings_its_evidence():
    ledger = [delivery("a", 1, 0, effect="yes"), delivery("a", 2, 60, effect="yes", is_fifo=False)]
    (repeat,) = found(ledger, [redelivery("a", earlier_status=None, earlier_is_named_failure=True)])

    assert repeat.asked == Repeat(
        cause="function_timeout",
        is_fifo=False,
        earlier_effect="yes",
        earlier_batch_count=1,
        earlier_is_printed=True,
        earlier_is_named_failure=True,
        batch_size=10,
        visibility_timeout_s=30,
        function_timeout_s=10,
        run_ms=10_000,
    )
    assert repeat.evidence_ids == ["log:a-2", "log:a-1"]


def test_only_repeats_of_affected_messages_count_but_what_was_done_in_others_does():
    ledger = [
        delivery("a", 1, 0, work_id="w", effect="yes"),
        delivery("b", 1, 60, work_id="w"),
        delivery("b", 2, 90, work_id="w"),
    ]

    assert [(r.item_id, r.asked.earlier_effect) for r in found(ledger, affected="b")] == [("b", "yes"), ("b", "yes")]
    assert found(ledger, affected="a") == []


def test_an_unlogged_receive_stands_where_it_can_have_been():
    ledger = [
        delivery("a", 1, 0, effect="unknown"),
        delivery("a", 2, None, effect="unknown", is_seen=False, order_at=at(30)),
        delivery("a", 3, 60, effect="no"),
    ]

    assert [r.delivery_index for r in found(ledger)] == [2]


def test_what_came_first_is_told_by_the_receive_and_where_it_is_unknown_by_the_place_it_can_have_had():
    by_receive = [delivery("a", 1, 60, work_id="w", order_at=at(-9)), delivery("b", 1, 0, work_id="w", order_at=at(99))]
    by_place = [delivery("a", 1, 0, work_id="w"), delivery("b", 1, None, work_id="w", order_at=at(-5), is_seen=False)]

    assert [r.item_id for r in found(by_receive)] == ["a"]
    assert [r.item_id for r in found(by_place)] == ["a"]


def test_repeats_come_by_message_and_delivery():
    ledger = [delivery(item, n, n) for item in "ba" for n in (3, 1, 2)]

    assert [(r.item_id, r.delivery_index) for r in found(ledger)] == [("a", 2), ("a", 3), ("b", 2), ("b", 3)]


def test_a_delivery_before_of_which_nothing_tells_what_it_was_is_taken_for_lambdas():
    (repeat,) = found([delivery("a", 1), delivery("a", 2, 60)], [redelivery("a", earlier_kind=None)])

    assert repeat.asked.earlier_kind == "lambda"


def one(index: int, **values) -> WorkRepeat:
    asked = Repeat(cause="function_timeout", earlier_status="timeout", earlier_effect="yes")._replace(**values)
    return WorkRepeat("a", index, asked, [f"log:{index:03d}"])


def by_change(repeated):
    rows = counterfactual_rows("payments-1", ARN, "payments", counted(repeated))
    return {row["change"]: row for row in rows}


def test_there_is_a_row_per_change_with_the_declared_columns():
    rows = by_change([one(2)])

    assert tuple(rows) == tuple(CHANGES)
    assert {tuple(row) for row in rows.values()} == {COUNTERFACTUALS.given_names}


def test_an_incident_without_repeats_has_no_rows():
    assert by_change([]) == {}


def test_outcomes_are_counted_and_told_prevented_first_with_the_most_frequent_reason():
    row = by_change([one(2, batch_size=1), one(3), one(4, cause="batch_collateral"), one(5, cause="batch_collateral")])[
        "batch_size_1"
    ]

    assert (row["repeats"], row["prevented"], row["undecided"], row["prevented_percent"]) == (4, 2, 1, 50)
    assert row["reason"] == (
        "2 prevented: it was finished before its batch failed; alone it would have been deleted; "
        "1 undecided: it was not finished when its run timed out; alone it might have been, or have ended the same way; "
        "1 not prevented: it was alone in the run that timed out"
    )


def test_what_nothing_speaks_for_is_counted_as_none():
    row = by_change([one(2)])["maximum_concurrency"]

    assert (row["prevented"], row["undecided"], row["prevented_percent"]) == (0, 0, 0)


def test_of_equally_frequent_reasons_the_first_by_name_is_told():
    late = {"cause": "visibility_expired"}
    row = by_change([one(2, **late, run_ms=45_000), one(3, **late, run_ms=31_000)])["longer_visibility"]

    assert row["reason"].startswith("2 prevented: the run took 31 s;")


def test_a_share_is_rounded_down():
    row = by_change([one(2), one(3), one(4, earlier_effect="unknown")])["idempotency_key"]

    assert row["prevented_percent"] == 66


def test_a_hundred_repeats_are_cited_in_the_order_of_messages_and_deliveries():
    row = by_change([one(n) for n in range(150, 0, -1)])["batch_size_1"]

    assert row["repeats"] == 150
    assert row["evidence_ids"] == [f"log:{n:03d}" for n in range(1, 101)]


deliveries = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.integers(0, 3),
        st.sampled_from(["v", "w"]),
        st.sampled_from(["yes", "no", "unknown"]),
    ),
    max_size=9,
)


@given(deliveries, st.randoms(use_true_random=False))
def test_the_order_of_input_does_not_matter(drawn, random):
    ledger = [
        delivery(item, n, second, work_id=work, effect=effect) for n, (item, second, work, effect) in enumerate(drawn)
    ]
    pairs = [redelivery(d.item_id, d.delivery_index, cause=f"cause {d.delivery_index % 2}") for d in ledger]
    expected = found(ledger, pairs)
    random.shuffle(ledger)
    random.shuffle(pairs)

    assert found(ledger, pairs) == expected
    shuffled = random.sample(expected, len(expected))
    assert by_change(shuffled) == by_change(expected)
