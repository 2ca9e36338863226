"""One incident in a row: counts, causes, what is ruled out, settings, and the sentences made of them."""

from forensics.incidents.incident import NO_QUEUE_SETTINGS, NOT_SENT_TWICE, incident_row
from forensics.tables.findings import INCIDENTS
from tests.forensics.incidents.builders import at, delivery, harmless, message, redelivery, ruled

ID = "payments-20261122T1200Z"


def row(messages, redeliveries=(), ledger=(), blocked_ms=None, gaps=()):
    affected = {m.item_id for m in messages if m.is_affected}
    return incident_row(ID, messages, redeliveries, ledger, affected, blocked_ms, gaps)


def test_a_row_has_exactly_the_declared_columns():
    assert tuple(row([message("a")])) == INCIDENTS.column_names


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
        ]
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
    assert found["extra_effects_at_least"] == 2


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
    assert row([message("a")], gaps=["a gap"])["unread_sources"] == ["a gap", NO_QUEUE_SETTINGS]
