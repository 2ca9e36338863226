"""One incident in a row: counts, causes, what is ruled out, settings, and the sentences made of them."""

from collections import Counter

import pytest

from forensics.incidents.incident import (
    NO_QUEUE_SETTINGS,
    NO_RECEIVE_COUNTS,
    NOT_RECEIVED_TWICE,
    NOT_SENT_TWICE,
    incident_row,
)
from forensics.incidents.shares import share_of
from forensics.tables.findings import INCIDENTS
from forensics.verdict import headline_of
from tests.forensics.incidents.builders import ARN, at, delivery, harmless, message, redelivery, ruled

ID = "payments-20261122T1200Z"


def row(messages, redeliveries=(), ledger=(), blocked_ms=None, gaps=()):
    affected = {m.item_id for m in messages if m.is_affected}
    return incident_row(ID, ARN, share_of(messages, redeliveries, ledger, affected), blocked_ms, gaps)


def test_a_row_has_exactly_the_declared_columns():
    assert tuple(row([message("a")])) == INCIDENTS.given_names


def test_an_incident_lasts_from_the_first_receive_to_the_last_activity_of_affected_messages():
    found = row([message("a", 10, 20), message("b", 5, 6, last_active_at=at(40)), harmless("c", 0, 90)])

    assert (found["started_at"], found["ended_at"]) == (at(5), at(40))


def test_bystanders_count_by_their_verdict_and_not_as_affected():
    found = row(
        [
            message("a", verdict="confirmed", effects_at_least=3, effects_at_most=3),
            message("b"),
            harmless("c"),
            harmless("d", verdict="absorbed"),
        ],
        [redelivery("a"), redelivery("b")],
    )

    assert {c: found[c] for c in ("messages", "messages_at_most", "confirmed", "probable", "absorbed", "harmless")} == {
        "messages": 2,
        "messages_at_most": 2,
        "confirmed": 1,
        "probable": 1,
        "absorbed": 1,
        "harmless": 1,
    }
    assert found["headline"] == "1 to 2 of 4 redelivered messages were processed more than once"


def sent_twice(**values):
    """One work under two message ids, done in each of them; the second was also sent to somebody who may have done it."""
    both = {"work_id": "a", "verdict": "confirmed", "effects_at_least": 2, "effects_at_most": 3} | values
    messages = [
        message("a", 0, related_message_ids=["b"], **both),
        message("b", 400, origin="dedup_window_passed", related_message_ids=["a"], **both),
    ]
    ledger = [
        delivery("a", 1, 0, work_id="a", effect="yes"),
        delivery("b", 1, 400, work_id="a", effect="yes"),
        delivery("b", 2, 500, work_id="a", effect="unknown"),
    ]
    return messages, ledger


def test_a_work_under_two_message_ids_is_one_work_with_one_extra_effect():
    messages, ledger = sent_twice()
    found = row([*messages, harmless("c")], ledger=ledger)

    assert (found["messages"], found["confirmed"]) == (2, 2)
    assert (found["works"], found["works_confirmed"], found["works_harmless"], found["works_shared"]) == (1, 1, 1, 0)
    assert (found["extra_effects_at_least"], found["extra_effects_at_most"]) == (1, 2)
    assert found["headline"] == "1 of 2 works, sent in 3 messages, was processed more than once"
    assert found["first_repeat_at"] == at(400), "the other id's receive"


def test_extra_effects_belong_to_the_incident_that_saw_the_work_done_again():
    messages, ledger = sent_twice()
    first, second = (row([one], ledger=ledger) for one in messages)

    assert [(r["extra_effects_at_least"], r["extra_effects_at_most"]) for r in (first, second)] == [(0, 0), (1, 2)]
    assert (first["works_shared"], second["works_shared"]) == (1, 1)
    assert (first["repeated_elsewhere"], second["repeated_elsewhere"]) == (["a"], [])
    assert first["headline"] == "1 work was processed more than once", "its message was not"


def test_where_a_repeat_may_hide_in_it_an_incident_leaves_none_to_another():
    messages, ledger = sent_twice(effects_at_most=None)

    assert row(messages[:1], ledger=ledger)["repeated_elsewhere"] == []


def test_without_an_upper_bound_of_one_work_there_is_none_of_the_extra_effects():
    messages, ledger = sent_twice(effects_at_most=None)

    assert row(messages, ledger=ledger)["extra_effects_at_most"] is None


def test_a_message_and_a_line_that_names_only_its_key_are_one_message():
    named = message("key:pay-1", message_id=None, work_id="a")

    found = row([message("a"), named], [redelivery("a")])

    assert found["headline"] == "1 redelivered message may have been processed more than once"


def test_where_some_were_redelivered_and_others_sent_again_they_are_called_neither():
    found = row([message("a", origin="producer_retry"), message("b")], [redelivery("b")])

    assert found["headline"] == "2 of 2 messages may have been processed more than once"


def test_causes_are_told_most_frequent_first_and_equal_ones_by_name():
    found = row(
        [message("a"), message("b"), harmless("c")],
        [
            redelivery("a", cause="throttled"),
            redelivery("a", 3, cause="released"),
            redelivery("b", cause="throttled"),
            redelivery("b", 3, cause="broker_copy"),
            redelivery("c", cause="released"),
        ],
    )

    assert found["causes"] == ["throttled=2", "broker_copy=1", "released=1"]
    assert found["primary_cause"] == "throttled"


def test_the_first_repeat_is_the_first_to_come():
    found = row(
        [message("a"), message("b")],
        [
            redelivery("b", 2, 60, gap_ms=12_340),
            redelivery("a", 3, 60, gap_ms=7),
            redelivery("a", 2, None, gap_ms=1),
            redelivery("b", 3, 90, gap_ms=3),
            redelivery("a", 2, 60, gap_ms=5_678),
        ],
    )

    assert found["first_repeat_at"] == at(60)
    assert "SQS redelivered it 5.67 s after the previous receive" in found["cause_sentence"]


TRIGGERS = {
    "the most frequent": (
        [("a", 2, 60, "throttled"), ("b", 2, 10, "released"), ("b", 3, 90, "throttled")],
        "throttled",
    ),
    "of equally frequent ones the first in time": (
        [("a", 2, 60, "broker_copy"), ("b", 2, 30, "throttled")],
        "throttled",
    ),
    "one that is known, if later": ([("a", 2, 60, "throttled"), ("b", 2, 30, "undecidable")], "throttled"),
    "one whose time is known": ([("a", 2, None, "broker_copy"), ("b", 2, 30, "throttled")], "throttled"),
}


@pytest.mark.parametrize(("redeliveries", "expected"), TRIGGERS.values(), ids=TRIGGERS)
def test_the_trigger_that_is_told_first_is(redeliveries, expected):
    made = [redelivery(item, index, later, cause=cause) for item, index, later, cause in redeliveries]

    assert row([message("a"), message("b")], made)["trigger"] == expected


def test_a_rival_cause_is_out_where_it_is_for_every_redelivery_with_its_most_frequent_reason():
    found = row(
        [message("a"), message("b"), harmless("c")],
        [
            redelivery("a", rulings=[ruled("throttled", "excluded", "none was"), ruled("released", "excluded", "no")]),
            redelivery("b", rulings=[ruled("throttled", "excluded", "never"), ruled("released", "supported", "yes")]),
            redelivery("b", 3, rulings=[ruled("throttled", "excluded", "never"), ruled("released", "excluded", "no")]),
            redelivery("c", rulings=[ruled("throttled", "supported", "it was")]),
        ],
    )

    assert found["excluded"] == ["throttled: never", NOT_SENT_TWICE]


def test_rival_causes_that_are_out_are_told_by_name():
    codes = ["throttled", "released", "broker_copy"]
    found = row([message("a")], [redelivery("a", rulings=[ruled(code, "excluded", "no") for code in codes])])

    assert found["excluded"] == ["broker_copy: no", "released: no", "throttled: no", NOT_SENT_TWICE]


def test_of_several_origins_the_last_by_name_is_told_be_it_that_of_a_bystander():
    origins = ["dlq_redrive", None, "producer_retry", "dedup_window_passed"]
    found = row([message("z"), *[harmless(str(n), origin=origin) for n, origin in enumerate(origins)]])

    assert found["primary_cause"] == "producer_retry"


OUT = ["dlq_redrive: nothing shows it in the dead-letter queue", "dedup_window_passed: sent too soon"]


def test_an_incident_of_the_producers_doing_says_which_rivals_are_out():
    again = {"origin": "producer_retry", "receive_count": 1}
    both = [message("b", origin_excluded=OUT, **again), message("c", origin_excluded=OUT[:1], **again)]
    found = row([message("a", receive_count=1), *both])

    assert found["excluded"] == [OUT[0], NOT_RECEIVED_TWICE]
    assert found["still_open"] == []


def test_an_id_whose_origin_is_open_is_not_called_sent_once_and_its_rivals_are_named():
    doubt = "dlq_redrive: nobody asked (would decide: move tasks)"
    found = row([message("a"), message("b", origin_open=[doubt], receive_count=None)])

    assert found["excluded"] == []
    assert found["still_open"] == [doubt, NO_RECEIVE_COUNTS]


def test_a_rival_that_is_open_for_any_redelivery_is_named_with_for_how_many():
    unread, held = ruled("throttled", "undecidable", "not read"), ruled("released", "undecidable", "not shown")
    unread, held = unread._replace(would_decide="Throttles"), held._replace(would_decide="the call")
    found = row(
        [message("a"), message("b"), harmless("c")],
        [redelivery("a", rulings=[unread, held]), redelivery("b", rulings=[unread]), redelivery("c", rulings=[held])],
    )

    assert found["still_open"] == [
        "throttled: not read (would decide: Throttles)",
        "released: for 1 of 2 redeliveries: not shown (would decide: the call)",
    ]


def test_evidence_is_told_in_order_and_once():
    lines = [f"log:{n}" for n in range(9)]
    found = row([message("a", evidence_ids=lines[::-1]), message("b", evidence_ids=lines[2:5])])

    assert found["evidence_ids"] == lines


def test_of_equally_frequent_reasons_the_first_by_name_is_told():
    pairs = [redelivery("a", n, rulings=[ruled("throttled", "excluded", f"reason {n}")]) for n in (3, 2)]

    assert row([message("a")], pairs)["excluded"][0] == "throttled: reason 2"


def test_where_only_the_producer_sent_twice_the_origin_is_the_cause_and_the_noun_says_so():
    found = row([message("a", origin="producer_retry"), message("b")])

    assert (found["primary_cause"], found["causes"], found["excluded"]) == ("producer_retry", [], [])
    assert found["headline"] == "2 of 2 messages sent again may have been processed more than once"
    assert "The producer sent the same work" in found["cause_sentence"]


def test_an_incident_is_proved_when_every_confirmed_verdict_is():
    proved = message("a", verdict="confirmed", certainty="proved")
    inferred = message("b", verdict="confirmed", certainty="inferred")

    assert [
        row(m)["certainty"] for m in ([proved, message("c")], [proved, inferred], [message("c", certainty="proved")])
    ] == [
        "proved",
        "inferred",
        "inferred",
    ]


def test_settings_and_consumers_come_from_deliveries_of_affected_messages():
    found = row(
        [message("a"), harmless("b")],
        ledger=[
            delivery("a", function_timeout_s=10, queue_settings_id="set:1", mapping_id="set:2", batch_size=5),
            delivery("a", 2, function_name=None, log_group="/ecs/worker", visibility_timeout_s=60, is_fifo=False),
            delivery("a", 3, function_name=None, log_group=None, visibility_timeout_s=None),
            delivery("b", function_name="other", visibility_timeout_s=900, is_fifo=True, queue_settings_id="set:9"),
        ],
    )

    assert found["functions"] == ["/ecs/worker", "charge"]
    assert found["is_fifo"] is False
    assert (found["visibility_timeout_s"], found["function_timeout_s"], found["batch_size"]) == (60, 10, 5)
    assert found["evidence_ids"] == ["log:a", "set:1", "set:2"]


def test_a_queue_is_fifo_when_any_snapshot_in_force_says_so_and_unknown_without_one():
    ledgers = [
        [delivery("a", n, is_fifo=f) for n, f in enumerate(known)] for known in ((False, True, None), (False,), (None,))
    ]

    assert [row([message("a")], ledger=ledger)["is_fifo"] for ledger in ledgers] == [True, False, None]


def test_how_long_groups_were_held_is_told_of_fifo_queues_only():
    fifo, standard = [delivery("a", is_fifo=True)], [delivery("a", is_fifo=False)]
    held = [
        row([message("a")], ledger=d, blocked_ms=b)["blocked_ms"]
        for d, b in ((fifo, 7), (fifo, None), (standard, 7), ((), 7))
    ]

    assert held == [7, 0, None, None]


def test_message_groups_are_counted_among_affected_messages_and_unknown_is_not_zero():
    grouped = [
        message("a", group_id="g"),
        message("b", group_id="g"),
        message("c", group_id="h"),
        harmless("d", group_id="i"),
    ]

    assert row(grouped)["group_count"] == 2
    assert row([message("a"), harmless("d", group_id="i")])["group_count"] is None


def test_what_the_evidence_lacks_is_named_and_settings_that_nobody_read_with_it():
    assert row([message("a")], ledger=[delivery("a")], gaps=["a gap"])["unread_sources"] == ["a gap"]
    unknown_then = delivery("a", visibility_timeout_s=None, queue_settings_id="queue:1")
    assert row([message("a")], ledger=[unknown_then], gaps=["a gap"])["unread_sources"] == ["a gap"]
    assert row([message("a")], gaps=["a gap"])["unread_sources"] == ["a gap", NO_QUEUE_SETTINGS]


STOPPED = {
    "by runs of one length": ([20.0, 20.2], 20),
    "by runs of several": ([20.0, 60.0], None),
    "by none": ([], None),
}


@pytest.mark.parametrize(("lengths", "told"), STOPPED.values(), ids=STOPPED)
def test_a_function_timeout_that_no_setting_tells_is_what_stopped_runs_say(lengths, told):
    runs = [
        delivery("a", n, run_status="timeout", run_started_at=at(0), run_ended_at=at(seconds), function_timeout_s=None)
        for n, seconds in enumerate(lengths, 1)
    ]

    assert row([message("a")], ledger=runs)["function_timeout_s"] == told
    assert row([message("a")], ledger=[*runs, delivery("a", 9, function_timeout_s=30)])["function_timeout_s"] == 30


def test_the_limit_that_stopped_runs_is_the_incident_s_whatever_later_runs_may_have_had():
    stopped = delivery("a", 1, run_status="timeout", run_started_at=at(0), run_ended_at=at(20), function_timeout_s=20)

    assert row([message("a")], ledger=[stopped, delivery("a", 2, function_timeout_s=60)])["function_timeout_s"] == 20


SEEN = {
    "every message was seen again": ([{}, {}], "2 redelivered messages"),
    "the receive count alone tells of it": ([{}, {"deliveries": 1, "receive_count": 2}], "2 redelivered messages"),
    "of one only lines of its key tell": ([{}, {"deliveries": 1, "receive_count": 1}], "2 messages"),
    "of one, whose count is not logged, too": ([{}, {"deliveries": 1, "receive_count": None}], "2 messages"),
    "a bystander was received once": (
        [{}, {"deliveries": 1, "receive_count": 1, "verdict": "harmless", "effects_at_most": 1}],
        "2 messages",
    ),
}


@pytest.mark.parametrize(("messages", "called"), SEEN.values(), ids=SEEN)
def test_a_headline_calls_redelivered_only_what_was_seen_redelivered(messages, called):
    found = row([message(name, **told) for name, told in zip("ab", messages, strict=True)], [redelivery("a")])

    assert f" of {called} " in found["headline"]
    assert found["received_once"] == ("redelivered" not in called)
    assert headline_of([found], Counter(possible=1, harmless=1)).startswith(f"1 of {called} ")
