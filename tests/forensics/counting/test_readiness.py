"""What a log tells is counted part by part, and said once of all of it."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting.readiness import handling_counts, invocation_counts, together, with_failed_alone, with_unmarked
from forensics.known import Known
from forensics.lake import to_arrow
from forensics.readiness import COUNTS, logging_readiness
from forensics.settings import Consumer
from forensics.streams.invocations import invocation_row, lines_row
from forensics.streams.model import Fact, Invocation, LogGroup
from forensics.tables.evidence import CONSUMERS
from forensics.tables.findings import LOGGING_READINESS
from tests.spark_jobs.health_world import CONSUMER, GROUP, ORDERS, whole

AT = datetime(2026, 11, 16, tzinfo=UTC)
MICROS = int(AT.timestamp()) * 1_000_000
WORKER = "/app/worker"
SHAPE = {
    "log_group": pl.String,
    "function_name": pl.String,
    "first_line_at": pl.Datetime("us", "UTC"),
    "last_line_at": pl.Datetime("us", "UTC"),
    "names_items": pl.Boolean,
    "shows_counts": pl.Boolean,
    "shows_starts": pl.Boolean,
    "shows_effects": pl.Boolean,
    "has_response": pl.Boolean,
    "has_start": pl.Boolean,
    "first_mark_id": pl.String,
}


def run(*facts, marks=("log:1",), start_at=MICROS, has_response=False, at=MICROS, function="ship"):
    return Invocation(
        invocation_id="i",
        log_group=GROUP,
        log_stream="s",
        request_id="r",
        start_index=1,
        function_name=function,
        start_at=start_at,
        first_line_at=at,
        last_line_at=at + 1_000,
        ended_at=None,
        duration_ms=None,
        end_status="success",
        error_type=None,
        has_response=has_response,
        any_line_id="log:0",
        facts=list(facts),
        mark_ids=list(marks),
    )


def fact(role, **more):
    return Fact(role, MICROS, "log:2", **more)


def counted(*runs):
    return invocation_counts(
        pl.DataFrame(
            [{**invocation_row(r, LogGroup(GROUP, "lambda")), **lines_row(r, LogGroup(GROUP, "lambda"))} for r in runs],
            schema=SHAPE,
        )
    )


SHOWN = {
    "nothing but its own lines": (run(), {"with_start"}),
    "no START": (run(start_at=None), set()),
    "a batch with receive counts": (
        run(fact("record", message_id="m", receive_count=1)),
        {"with_start", "with_message", "with_count"},
    ),
    "a receive count of a message without a name": (run(fact("record", receive_count=1)), {"with_start", "with_count"}),
    "a business key": (run(fact("mention", key="order-7")), {"with_start", "with_message"}),
    "a message that only its response names": (run(fact("failure", message_id="m")), {"with_start"}),
    "an item's start": (run(fact("started", message_id="m")), {"with_start", "with_message", "with_item_start"}),
    "an effect": (run(fact("effect", message_id="m")), {"with_start", "with_message", "with_effect"}),
    "a response": (run(has_response=True), {"with_start", "with_response"}),
}


@pytest.mark.parametrize(("one", "expected"), SHOWN.values(), ids=SHOWN)
def test_an_invocation_is_counted_for_what_its_lines_show(one, expected):
    (counts,) = counted(one)

    assert {name for name in COUNTS if counts[name]} == expected | {"handlings"}


def test_a_log_group_stands_for_itself_by_its_first_and_last_line_by_id():
    (counts,) = counted(run(marks=("log:5", "log:1"), at=MICROS + 9), run(marks=("log:7",)), run(marks=()))

    assert counts["samples"] == ["log:5", "log:7"]
    assert (counts["first_at"], counts["last_at"]) == (MICROS, MICROS + 1_009)


def test_runs_without_a_line_of_the_platform_give_no_sample():
    assert counted(run(marks=()))[0]["samples"] == []


def handlings(*rows):
    names = ("log_group", "first_at", "last_at", "first_id", "item_id", "shows_count", "shows_start", "shows_effect")
    return handling_counts(pl.DataFrame(rows, schema=names, orient="row"))


def test_a_workers_handlings_are_counted_for_what_their_lines_show():
    later = AT + timedelta(seconds=1)

    found = handlings(
        (WORKER, AT, later, "log:2", "m", True, False, None),
        (WORKER, AT, AT, "log:1", None, False, True, True),
    )

    assert found == [
        {
            "log_group": WORKER,
            "function_name": None,
            "handlings": 2,
            "with_message": 1,
            "with_count": 1,
            "with_item_start": 1,
            "with_effect": 1,
            "with_response": 0,
            "with_start": 0,
            "samples": ["log:1", "log:2"],
            "first_at": MICROS,
            "last_at": MICROS + 1_000_000,
        }
    ]


LATER = AT + timedelta(seconds=1)
DELIVERY = {
    "consumer_kind": "worker",
    "log_group": WORKER,
    "run_status": "error",
    "received_at": AT,
    "run_ended_at": AT,
    "receive_count": None,
    "started_at": None,
    "finished_at": None,
    "effect_at": None,
}
KNOWN_BY = {
    "the line of its failure": ({}, "blind"),
    "a line before its failure": ({"run_ended_at": LATER}, "partial"),
    "a start at the time of its failure": ({"started_at": AT}, "partial"),
    "its receive count": ({"receive_count": 1}, "partial"),
    "a line that tells no failure": ({"run_status": "unknown"}, "partial"),
}


@pytest.mark.parametrize(("told", "level"), KNOWN_BY.values(), ids=KNOWN_BY)
def test_a_worker_that_names_its_messages_only_where_they_fail_is_blind(told, level):
    times = dict.fromkeys(
        ("received_at", "run_ended_at", "started_at", "finished_at", "effect_at"), pl.Datetime("us", "UTC")
    )
    deliveries = pl.DataFrame([DELIVERY | told], schema_overrides=times)
    counts = with_failed_alone(handlings((WORKER, AT, AT, "log:1", "m", False, False, False)), deliveries)

    (row,) = ready(of_handlings=counts, consumers=[consumer(log_group=WORKER, kind="worker", function_name=None)])

    assert (row["level"], row["named_count"]) == (level, 1)


def test_a_worker_one_of_whose_parts_names_what_went_well_is_not_blind():
    (counts,) = handlings((WORKER, AT, AT, "log:1", "m", False, False, False))
    parts = [{**counts, "failed_alone": 1}, {**counts, "failed_alone": 0}]

    (row,) = ready(
        of_handlings=together([parts]), consumers=[consumer(log_group=WORKER, kind="worker", function_name=None)]
    )

    assert (row["level"], row["handling_count"]) == ("partial", 2)


RUNS = st.builds(
    run,
    st.sampled_from((fact("record", message_id="m", receive_count=1), fact("effect", key="k"), fact("failure"))),
    marks=st.lists(st.sampled_from(("log:1", "log:2", "log:3")), max_size=2),
    at=st.integers(MICROS, MICROS + 5),
    has_response=st.booleans(),
    function=st.sampled_from(("ship", "bill", None)),
)


@given(st.lists(RUNS), st.data())
def test_two_parts_together_are_the_whole(runs, data):
    here = data.draw(st.integers(0, len(runs)))

    assert together([counted(*runs[here:]), counted(*runs[:here])]) == counted(*runs)


def consumer(**more):
    return whole(CONSUMERS, CONSUMER | more)


def ready(of_invocations=(), of_handlings=(), written=None, **known):
    kinds = {c["log_group"]: "lambda" for c in of_invocations} | {c["log_group"]: "worker" for c in of_handlings}
    rows = logging_readiness(
        together([of_invocations]),
        together([of_handlings]),
        Known(**{"consumers": [CONSUMER]} | known),
        kinds if written is None else written,
    )
    assert to_arrow(LOGGING_READINESS, rows).num_rows == len(rows)
    return rows


def test_a_log_group_without_a_line_is_unread():
    (row,) = ready()

    assert (row["queue_arn"], row["log_group"], row["level"]) == (ORDERS, GROUP, "unread")
    assert (row["handling_count"], row["missing"], row["evidence_ids"]) == (0, [], [])


def test_a_workers_log_of_which_no_line_names_a_message_is_blind_and_not_unread():
    nobody_said = consumer(log_group=WORKER, kind=None, function_name=None)

    (row,) = ready(consumers=[nobody_said], written={WORKER: "worker"})

    assert (row["level"], row["consumer_kind"], row["handling_count"]) == ("blind", "worker", 0)
    assert row["missing"][0] == "the message"


def test_a_log_that_names_no_message_is_blind():
    (row,) = ready(counted(run()))

    assert (row["level"], row["missing"][0], row["handling_count"]) == ("blind", "the batch", 1)
    assert row["evidence_ids"] == ["log:1", "log:1"]


def test_functions_that_share_a_log_group_are_told_apart():
    shown = counted(
        run(fact("record", message_id="m", receive_count=1), marks=("log:3",)),
        run(function="bill"),
        run(function="bill", at=MICROS + 5),
        run(function=None),
    )
    bill, ship = ready(shown, consumers=[CONSUMER, consumer(function_name="bill")])

    assert [(r["function_name"], r["handling_count"], r["level"]) for r in (bill, ship)] == [
        ("bill", 2, "blind"),
        ("ship", 1, "partial"),
    ]
    assert ship["evidence_ids"] == ["log:3", "log:3"]
    (other,) = ready(shown, consumers=[consumer(function_name="post")])
    assert (other["level"], other["sentence"]) == ("unread", "No line of post of this log group is in evidence.")


def test_lines_of_nobodys_runs_count_for_the_only_function_of_a_log_group():
    (row,) = ready(counted(run(), run(function=None)))

    assert row["handling_count"] == 2


@pytest.mark.parametrize("declared_of", [GROUP, "ship"], ids=["its log group", "the function"])
def test_a_declared_effect_line_that_stands_in_the_log_is_not_missing(declared_of):
    shown = counted(run(fact("effect", message_id="m"), fact("started", message_id="m", receive_count=1)))

    assert ready(shown)[0]["missing"] == ["the effect"]
    (row,) = ready(shown, consumers_by_group={declared_of: Consumer(name="ship", effect="done")})
    assert (row["level"], row["missing"]) == ("ready", [])


def test_a_mapping_that_takes_partial_responses_asks_for_a_logged_one():
    mapping = {"function_name": "ship", "reports_batch_item_failures": True}

    (row,) = ready(counted(run()), event_source_mappings=[mapping])

    assert "the response" in row["missing"]


KINDS = {
    "what the evidence says": ("worker", False, "worker"),
    "a function where nothing tells": (None, False, "lambda"),
    "a worker where its lines tell": (None, True, "worker"),
}


@pytest.mark.parametrize(("said", "has_handlings", "kind"), KINDS.values(), ids=KINDS)
def test_who_writes_a_log_group_is(said, has_handlings, kind):
    shown = handlings((WORKER, AT, AT, "log:2", "m", True, True, True)) if has_handlings else []

    (row,) = ready(of_handlings=shown, consumers=[consumer(log_group=WORKER, kind=said, function_name=None)])

    assert row["consumer_kind"] == kind


def test_a_log_group_of_two_queues_has_a_row_for_each():
    rows = ready(counted(run()), consumers=[consumer(queue_arn="arn:z", queue_name="z"), CONSUMER, CONSUMER])

    assert [r["queue_arn"] for r in rows] == [ORDERS, "arn:z"]


WITHOUT_LINE = {
    "item_id": "m",
    "log_group": GROUP,
    "function_name": "ship",
    "basis": "no_marker",
    "ended_by": "deleted",
}
DELIVERED = {
    "received once": ([{}], 1),
    "twice": ([{}, {"item_id": "a"}], 2),
    "of another function": ([{"function_name": "pay"}], 0),
    "received again, as what was given back is": ([{}, {"receive_count": 2, "basis": "marker"}], 0),
    "a repeat, which a guard may have stopped": ([{"receive_count": 2}], 0),
    "a line shows the guard": ([{"basis": "guard"}], 0),
    "it was not deleted": ([{"ended_by": "unknown"}], 0),
}


@pytest.mark.parametrize(("rows", "count"), DELIVERED.values(), ids=DELIVERED)
def test_messages_lack_the_line_that_every_effect_is_to_print(rows, count):
    deliveries = pl.DataFrame([{**WITHOUT_LINE, "receive_count": 1, **row} for row in rows])
    (told,) = with_unmarked([{"log_group": GROUP, "function_name": "ship"}], deliveries)

    assert told["unmarked"] == count
    assert told["unmarked_id"] == (min(r.get("item_id", "m") for r in rows) if count else None)
