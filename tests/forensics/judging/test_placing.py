"""Where and when a delivery was received, and which settings were in force then."""

from dataclasses import replace
from datetime import timedelta

import pytest

from forensics.clock import moment
from forensics.judging.placing import place, place_by_message
from forensics.settings import Consumer
from forensics.settings_in_force import SettingsInForce
from forensics.streams.model import Delivery, LogGroup
from tests.forensics.judging.plain import Around

ACCOUNT = "arn:aws:sqs:eu-west-1:111122223333:"
PAYMENTS, ORDERS = ACCOUNT + "payments", ACCOUNT + "orders.fifo"
NOON_MS = 1_795_176_000_123
NOON = NOON_MS * 1000
AT_NOON = moment(NOON)


def queue(arn=PAYMENTS, hours=-1, **more):
    return {
        "evidence_id": f"queue:{hours}",
        "queue_arn": arn,
        "observed_at": AT_NOON + timedelta(hours=hours),
        "last_modified_at": None,
        "visibility_timeout_s": 30,
        "is_fifo": False,
        "max_receive_count": 5,
        "dead_letter_queue_arn": ACCOUNT + "dead",
        **more,
    }


FUNCTION = {"evidence_id": "function:1", "function_name": "charge", "observed_at": AT_NOON, "timeout_s": 10}
MAPPING = {
    "evidence_id": "mapping:1",
    "mapping_uuid": "u-1",
    "queue_arn": PAYMENTS,
    "function_name": "charge",
    "observed_at": AT_NOON - timedelta(hours=1),
    "batch_size": 10,
    "reports_batch_item_failures": True,
}
IN_FORCE = SettingsInForce.of([queue()], [FUNCTION], [MAPPING])
NOTHING_KNOWN = SettingsInForce([], [], [])
GROUP = LogGroup("/aws/lambda/charge", "lambda", "charge", PAYMENTS)


def placed(delivery=None, group=GROUP, in_force=IN_FORCE, **more):
    delivery = delivery or Delivery(item_id="m", consumer_kind="lambda", run_started_at=NOON)
    for name, value in more.items():
        setattr(delivery, name, value)
    place(delivery, group, in_force)
    return delivery


QUEUES = {
    "the one the record names": (ORDERS, PAYMENTS, ORDERS, "orders.fifo"),
    "else the one its log group's consumer reads": (None, PAYMENTS, PAYMENTS, "payments"),
    "else the log group stands for it": (None, None, "/aws/lambda/charge", "/aws/lambda/charge"),
}


@pytest.mark.parametrize(("of_record", "of_group", "arn", "name"), QUEUES.values(), ids=QUEUES)
def test_the_queue_of_a_delivery_is(of_record, of_group, arn, name):
    delivery = placed(record_queue_arn=of_record, group=LogGroup("/aws/lambda/charge", "lambda", None, of_group))

    assert (delivery.queue_arn, delivery.queue) == (arn, name)


GROUP_NAME = "/aws/lambda/charge"


def placed_by_message(*deliveries, queues=frozenset({PAYMENTS, ORDERS})):
    around = Around(queues={GROUP_NAME: queues}, in_force=IN_FORCE)
    place_by_message(deliveries, around)
    return [(d.queue_arn, d.queue, d.visibility_timeout_s) for d in deliveries]


def received(queue_arn=GROUP_NAME, at=NOON, message_id="m"):
    return Delivery(
        item_id=message_id or "key:k",
        message_id=message_id,
        queue_arn=queue_arn,
        queue=queue_arn.rpartition(":")[2],
        log_group=GROUP_NAME,
        received_at=at,
    )


NOT_PLACED = (GROUP_NAME, GROUP_NAME, None)


def test_a_delivery_is_of_the_queue_in_which_its_message_was_received_by_somebody_who_says_so():
    found = placed_by_message(received(PAYMENTS), received())

    assert found[1] == (PAYMENTS, "payments", queue()["visibility_timeout_s"])


def test_of_two_queues_the_one_nearer_in_time():
    two = received(ORDERS, NOON - 10), received(PAYMENTS, NOON + 9)

    assert placed_by_message(*two, received())[2][0] == PAYMENTS
    assert placed_by_message(*two, received(at=NOON - 1))[2][0] == ORDERS


BESIDE = {
    "another message": (received(PAYMENTS, message_id="n"), received(), {PAYMENTS, ORDERS}),
    "a queue that its consumer does not read": (received(PAYMENTS), received(), {ORDERS}),
    "another that nobody can place": (received(), received(at=NOON + 1), {PAYMENTS}),
    "a key, which is in several queues": (
        received(PAYMENTS, message_id=None),
        received(message_id=None),
        {PAYMENTS, ORDERS},
    ),
}


@pytest.mark.parametrize(("other", "mine", "queues"), BESIDE.values(), ids=BESIDE)
def test_a_delivery_stays_where_it_is_beside(other, mine, queues):
    assert placed_by_message(other, mine, queues=queues)[1] == NOT_PLACED


RECEIVES = {
    "SQS says when a message was first received": (
        {"receive_count": 1, "first_receive_ms": 7, "run_started_at": NOON},
        (7000, "first_receive"),
    ),
    "of a later receive it does not": (
        {"receive_count": 2, "first_receive_ms": 7, "run_started_at": NOON},
        (NOON, "run_start"),
    ),
    "nor where the receive count was not logged": (
        {"receive_count": None, "first_receive_ms": 7, "run_started_at": NOON},
        (NOON, "run_start"),
    ),
    "nor when the environment began to come up for its run": (
        {"receive_count": 2, "run_started_at": NOON, "init_ms": 2500},
        (NOON - 2_500_000, "run_start"),
    ),
    "for more than the ten seconds that Lambda allows": (
        {"receive_count": 2, "run_started_at": NOON, "init_ms": 10_007},
        (NOON - 10_000_000, "run_start"),
    ),
    "which was before the message was sent: it had come up ahead of need": (
        {"receive_count": 2, "run_started_at": NOON, "init_ms": 2500, "sent_ms": NOON // 1000 - 2000},
        (NOON - 2_000_000, "run_start"),
    ),
    "before its first receive": (
        {"receive_count": 2, "run_started_at": NOON, "init_ms": 2500, "first_receive_ms": NOON // 1000 - 1000},
        (NOON - 1_000_000, "run_start"),
    ),
    "a worker has no run: the line that prints the message": (
        {"consumer_kind": "worker", "run_started_at": 1, "record_at": 2, "first_fact_at": 1},
        (2, "line"),
    ),
    "else the first line about it": (
        {"consumer_kind": "worker", "run_started_at": 1, "record_at": None, "first_fact_at": 3},
        (3, "line"),
    ),
}


@pytest.mark.parametrize(("said", "expected"), RECEIVES.values(), ids=RECEIVES)
def test_when_it_was_received(said, expected):
    delivery = placed(**said)

    assert (delivery.received_at, delivery.received_basis) == expected


LATEST_STREAM, PUBLISHED_STREAM = (f"2026/11/20/[{version}]{'a' * 32}" for version in ("$LATEST", "3"))
ANY_STREAM = "exported"
DURABILITIES = {
    "as its settings say": (True, "", LATEST_STREAM, None, True),
    "as its settings say, though its mapping names an alias": (False, "live", PUBLISHED_STREAM, None, False),
    "of a mapping that names no version: Lambda would refuse": (None, "", PUBLISHED_STREAM, None, False),
    "of a mapping that names an alias": (None, "live", PUBLISHED_STREAM, None, None),
    "of a mapping that names the last code": (None, "$LATEST", LATEST_STREAM, None, None),
    "where no mapping tells, in a run of the last code": (None, None, LATEST_STREAM, None, False),
    "where no mapping tells, in a run of a version": (None, None, PUBLISHED_STREAM, None, None),
    "in a stream of another name, whose runs say that they are of the last code": (None, None, ANY_STREAM, True, False),
    "whose runs say that they are of a version": (None, None, ANY_STREAM, False, None),
    "whose runs say nothing": (None, None, ANY_STREAM, None, None),
    "in a stream that says so itself, whatever others say": (None, None, PUBLISHED_STREAM, True, None),
}


def durability(said, qualifier, log_stream, runs_latest):
    in_force = SettingsInForce.of([], [FUNCTION | {"is_durable": said}], [MAPPING | {"qualifier": qualifier}])
    group = replace(GROUP, runs_latest=runs_latest)
    return placed(group=group, in_force=in_force, log_stream=log_stream).is_durable


@pytest.mark.parametrize("case", DURABILITIES.values(), ids=DURABILITIES)
def test_a_function_is_durable(case):
    *known, expected = case

    assert durability(*known) is expected


def test_a_queue_that_a_delivery_is_placed_in_later_tells_of_its_mapping():
    in_force = SettingsInForce.of([queue()], [], [MAPPING | {"qualifier": ""}])
    unplaced = placed(group=replace(GROUP, queue_arn=None), in_force=in_force, message_id="m", log_stream=ANY_STREAM)
    assert unplaced.is_durable is None

    unplaced.log_group = GROUP_NAME
    place_by_message([received(PAYMENTS), unplaced], Around(queues={GROUP_NAME: {PAYMENTS}}, in_force=in_force))

    assert unplaced.is_durable is False


@pytest.mark.parametrize(
    ("runtime", "expected"), [("python3.13", True), ("provided.al2023", False), (None, False)], ids=repr
)
def test_the_settings_tell_whether_the_runtime_is_one_of_lambdas_own(runtime, expected):
    in_force = SettingsInForce.of([], [FUNCTION | {"runtime": runtime}], [])

    assert placed(in_force=in_force).is_runtime_lambdas is expected


def test_the_settings_are_those_in_force_at_the_receive():
    delivery = placed()

    assert (delivery.visibility_timeout_s, delivery.max_receive_count) == (30, 5)
    assert (delivery.dead_letter_queue_arn, delivery.batch_size) == (ACCOUNT + "dead", 10)
    assert (delivery.function_timeout_s, delivery.reports_batch_item_failures) == (10, True)
    assert delivery.setting_ids == ["queue:-1", "mapping:1", "function:1"]
    assert (delivery.is_visibility_assumed, delivery.is_function_timeout_assumed) == (False, False)


def test_a_timeout_that_only_a_later_snapshot_shows_is_assumed():
    later = SettingsInForce.of([queue(hours=1)], [FUNCTION | {"observed_at": AT_NOON + timedelta(hours=1)}], [])
    delivery = placed(in_force=later)

    assert (delivery.is_visibility_assumed, delivery.is_function_timeout_assumed) == (True, True)


def test_a_timeout_that_a_recorded_call_set_is_not_assumed_though_the_rest_of_the_queue_is():
    call = {
        "evidence_id": "change:1",
        "changed_at": AT_NOON - timedelta(days=2),
        "resource_kind": "queue",
        "resource": "payments",
        "queue_arn": PAYMENTS,
        "function_name": None,
        "settings": ["VisibilityTimeout=20"],
        "error_code": None,
    }
    set_again = call | {"evidence_id": "change:2", "changed_at": AT_NOON + timedelta(minutes=20)}
    delivery = placed(in_force=SettingsInForce.of([queue(hours=1)], [], [], [call, set_again]))

    assert (delivery.visibility_timeout_s, delivery.max_receive_count) == (20, 5)
    assert delivery.is_visibility_assumed is False


def test_where_no_settings_are_known_all_of_them_are():
    delivery = placed(in_force=NOTHING_KNOWN)

    assert delivery.setting_ids == []
    assert (delivery.visibility_timeout_s, delivery.hidden_until_at, delivery.is_visibility_assumed) == (None,) * 3
    assert (delivery.function_timeout_s, delivery.batch_size, delivery.max_receive_count) == (None,) * 3


def test_a_delivery_placed_anew_keeps_nothing_of_settings_that_no_longer_hold():
    delivery = placed()

    assert placed(delivery, in_force=NOTHING_KNOWN) == placed(in_force=NOTHING_KNOWN)


HIDDEN = {
    "whole milliseconds, as SQS counts": (NOON + 999, 30, NOON + 30_000_000),
    "not known how long": (NOON, None, None),
    "not hidden at all": (NOON, 0, NOON),
}


@pytest.mark.parametrize(("received_at", "visibility_s", "expected"), HIDDEN.values(), ids=HIDDEN)
def test_until_when_it_was_hidden(received_at, visibility_s, expected):
    settings = SettingsInForce.of([queue(visibility_timeout_s=visibility_s)], [], [])

    assert placed(in_force=settings, run_started_at=received_at).hidden_until_at == expected


FIFO = {
    "as its settings say": (PAYMENTS, [queue(is_fifo=True)], True),
    "else by its name": (ORDERS, [], True),
    "also where a snapshot does not say": (ORDERS, [queue(ORDERS, is_fifo=None)], True),
    "else not": (PAYMENTS, [], False),
}


@pytest.mark.parametrize(("arn", "snapshots", "expected"), FIFO.values(), ids=FIFO)
def test_its_queue_is_fifo(arn, snapshots, expected):
    assert placed(record_queue_arn=arn, in_force=SettingsInForce.of(snapshots, [], [])).is_fifo is expected


def test_the_function_that_a_line_names_counts_before_that_of_the_log_group():
    assert placed(function_name="refund").function_name == "refund"
    assert placed().function_name == "charge"


def test_what_the_team_says_of_the_consumer_goes_with_each_delivery():
    said = Consumer(effect="charged (?P<key>.+)", effect_is_exhaustive=True, order="sequential", idempotent=False)
    delivery = placed(group=LogGroup("g", "worker", None, PAYMENTS, said))

    assert (delivery.has_effect, delivery.is_exhaustive, delivery.has_started) == (True, True, False)
    assert (delivery.order_declared, delivery.is_idempotent) == ("sequential", False)


def test_the_evidence_is_the_lines_about_it_and_the_end_of_its_run_each_once():
    assert placed(fact_ids=["log:3", "log:1"], end_ids=["log:2", "log:3"]).evidence_ids == ["log:1", "log:2", "log:3"]


CHANGES = {
    "an extension in time": ([(NOON + 20_000_000, NOON + 80_000_000)], NOON_MS + 80_000),
    "a second one while the first holds": (
        [(NOON + 20_000_000, NOON + 80_000_000), (NOON + 70_000_000, NOON + 130_000_000)],
        NOON_MS + 130_000,
    ),
    "one that came when it was visible again": ([(NOON + 31_000_000, NOON + 91_000_000)], NOON_MS + 30_000),
    "a release": ([(NOON + 5_000_000, NOON + 5_000_000)], NOON_MS + 5_000),
}


@pytest.mark.parametrize(("changes", "until_ms"), CHANGES.values(), ids=CHANGES)
def test_what_its_worker_set_moves_until_when_it_was_hidden(changes, until_ms):
    known = {"record_queue_arn": PAYMENTS, "record_at": NOON, "consumer_kind": "worker"}
    delivery = placed(Delivery(item_id="m", visibility_set=changes, **known))

    assert delivery.hidden_until_at // 1000 == until_ms
    assert delivery.is_hidden_by_call == (until_ms != NOON_MS + 30_000)


S = 1_000_000
BEATS = {
    "again and again for as long": ((10, 30), (30, 30), True),
    "first for longer, then for as long as that left": ((10, 60), (40, 30), False),
    "kept, then let go": ((10, 30), (30, 0), False),
    "let go twice": ((10, 0), (10, 0), False),
    "once in time, then when it was visible again": ((10, 30), (41, 30), False),
    "kept once": ((10, 30), None, False),
}


@pytest.mark.parametrize(("first", "second", "expected"), BEATS.values(), ids=BEATS)
def test_changes_that_hide_it_for_as_long_each_are_a_heartbeat(first, second, expected):
    changes = [(NOON + at * S, NOON + (at + held_s) * S) for at, held_s in filter(None, (first, second))]
    known = {"record_queue_arn": PAYMENTS, "record_at": NOON, "consumer_kind": "worker"}

    assert placed(Delivery(item_id="m", visibility_set=changes, **known)).has_heartbeat is expected


KILLED = {
    "at another limit, which a later snapshot does not show": (20, "timeout", "g|s|r|5", (20, False)),
    "at about the limit that the snapshot shows": (11, "timeout", "g|s|r|5", (10, True)),
    "by an error": (20, "error", "g|s|r|5", (10, True)),
    "and its START is not logged": (3, "timeout", "g|s|r|0", (10, True)),
}


@pytest.mark.parametrize(("seconds", "status", "consumer", "expected"), KILLED.values(), ids=KILLED)
def test_a_run_that_was_stopped_tells_its_limit_where_only_a_later_snapshot_does(seconds, status, consumer, expected):
    later = SettingsInForce.of([], [FUNCTION | {"observed_at": AT_NOON + timedelta(hours=1)}], [])
    ended_at = NOON + seconds * 1_000_000
    delivery = placed(in_force=later, run_started_at=NOON, run_ended_at=ended_at, run_status=status, consumer=consumer)

    assert (delivery.function_timeout_s, delivery.is_function_timeout_assumed) == expected


def test_a_snapshot_from_before_the_run_stands_against_how_long_it_took():
    delivery = placed(run_started_at=NOON, run_ended_at=NOON + 20_000_000, run_status="timeout", consumer="g|s|r|5")

    assert (delivery.function_timeout_s, delivery.is_function_timeout_assumed) == (10, False)
