"""Vectors count runs in order, and runs against it, as the plain function says of each."""

from collections import Counter

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting.orders import order_counts, orders_together
from forensics.judging.order import ItemTimes, OrderCounts, is_in_order

BEGAN_MS = 1_000
TIMES = st.none() | st.integers(BEGAN_MS + 1, BEGAN_MS + 12)
SCHEMA = {
    **dict.fromkeys(("consumer", "consumer_kind", "log_group", "function_name"), pl.String),
    **dict.fromkeys(("batch_count", "batch_position"), pl.Int32),
    **dict.fromkeys(("started_at", "finished_at"), pl.Datetime("us", "UTC")),
}
RUNS = st.lists(st.lists(st.tuples(TIMES, TIMES), min_size=2, max_size=4), max_size=4)


def rows(runs: list[list[tuple[int | None, int | None]]], late: int | None = None) -> pl.DataFrame:
    """Deliveries of the runs of one function, in no order; ``late``: a run in which an effect of an earlier one is logged."""
    found = []
    for number, items in enumerate(runs):
        named = [*enumerate(items, start=1), *([(None, (None, BEGAN_MS + 1))] if number == late else [])]
        for place, (started, finished) in named:
            row = {
                "consumer": f"/aws/lambda/charge|s|run-{number}|{BEGAN_MS}",
                "consumer_kind": "lambda",
                "log_group": "/aws/lambda/charge",
                "function_name": "charge",
                "batch_count": len(items),
                "batch_position": place,
                "started_at": None if started is None else started * 1000,
                "finished_at": None if finished is None else finished * 1000,
            }
            found.append(row)
    return pl.DataFrame(found, schema=SCHEMA).reverse()


def counts(frame: pl.DataFrame) -> OrderCounts:
    told = orders_together([order_counts(frame)])
    return told.get(("/aws/lambda/charge", "charge"), OrderCounts())


@given(RUNS)
def test_vectors_and_the_plain_function_agree(runs):
    said = Counter(is_in_order(BEGAN_MS, [ItemTimes(*item) for item in items]) for items in runs)

    assert counts(rows(runs)) == OrderCounts(said[True], said[False])


def test_an_effect_of_a_message_that_is_not_in_the_batch_speaks_against_an_order():
    in_order = [(1_002, 1_005), (1_006, 1_009)]

    assert counts(rows([in_order, in_order])) == OrderCounts(2, 0)
    assert counts(rows([in_order, in_order], late=1)) == OrderCounts(1, 1)


def test_what_parts_of_a_lake_tell_is_added_up():
    part = order_counts(rows([[(1_002, 1_005), (1_006, 1_009)], [(None, 1_009), (None, 1_005)]]))

    assert orders_together([part, part]) == {("/aws/lambda/charge", "charge"): OrderCounts(2, 2)}
