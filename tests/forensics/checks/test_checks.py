"""Each check at its borders, and what holds for all of them."""

import inspect
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forensics.checks import CHECKS, CONSUMER_CHECKS, QUEUE_CHECKS, Setup, answers
from forensics.checks.answer import SEVERITIES
from forensics.checks.setup import SOURCES
from forensics.readiness import LogFacts, readiness

HEALTHY = Setup(
    "payments.fifo",
    "charge-card",
    "lambda",
    is_fifo=True,
    visibility_timeout_s=180,
    message_retention_s=345_600,
    receive_wait_s=20,
    content_based_deduplication=False,
    dead_letter_queue="payments-dlq.fifo",
    max_receive_count=5,
    dead_letter_retention_s=1_209_600,
    function_timeout_s=30,
    log_format="JSON",
    system_log_level="INFO",
    batch_size=10,
    batching_window_s=0,
    reports_batch_item_failures=True,
    maximum_concurrency=5,
    reserved_concurrency=5,
    counts_events=True,
    mapping_state="Enabled",
    mapping_changed_at=datetime(2026, 9, 1, tzinfo=UTC),
    first_visibility_timeout_s=180,
    first_function_timeout_s=30,
    run_count=1000,
    timeout_count=0,
    failed_run_count=0,
    run_p99_ms=4000,
    run_max_ms=9000,
    item_p99_ms=400,
    delivery_count=9000,
    highest_receive_count=1,
    has_one_group=False,
    returned_whole_count=0,
    throttle_count=0,
    recursion_dropped_count=0,
    known_dedup_count=1000,
    random_dedup_count=0,
    self_sent_count=0,
    redelivery_count=3,
    consumers=("charge-card",),
    has_guard_line=True,
    empty_receive_count=10,
    received_count=9000,
    in_flight_max_count=200,
    sent_again_count=0,
    stopped_count=0,
    filtered_event_count=0,
    backlog_max_count=40,
    logging_level="ready",
    logging_sentence="1,000 of 1,000 handlings name their messages, starts and effects.",
    handling_count=1000,
    named_count=1000,
    counted_count=1000,
    response_count=0,
    evidence={
        "queue": ("queue:1",),
        "function": ("function:1",),
        "mapping": ("mapping:1",),
        "observed": ("log:1",),
        "logs": ("log:2",),
        "days": ("metric:1",),
        "consumers": ("mapping:1",),
    },
)


def asked(code: str, **changed):
    values = {f: getattr(HEALTHY, f) for f in HEALTHY.__dataclass_fields__} | changed
    return CHECKS[code](Setup(**values))


LACKS_BATCH = {"logging_level": "blind", "named_count": 0, "line_to_add": "print(event) (Python)"}
LACKS_EFFECT = {
    "logging_level": "partial",
    "logging_sentence": readiness(LogFacts("lambda", 9, 9, 9, 9, 0, 0, 9)).sentence,
    "line_to_add": "print(key)",
}

BORDERS = {
    "visibility equals function timeout": ("visibility_below_timeout", {"visibility_timeout_s": 30}, "passes"),
    "visibility one second short": ("visibility_below_timeout", {"visibility_timeout_s": 29}, "critical"),
    "the batching window counts": (
        "visibility_below_timeout",
        {"visibility_timeout_s": 30, "batching_window_s": 1},
        "critical",
    ),
    "a worker has no function timeout": ("visibility_below_timeout", {"consumer_kind": "worker"}, "does not apply"),
    "function settings not read": ("visibility_below_timeout", {"function_timeout_s": None}, "unknown"),
    "six timeouts": ("visibility_below_advice", {"visibility_timeout_s": 180}, "passes"),
    "one second below six timeouts": ("visibility_below_advice", {"visibility_timeout_s": 179}, "warning"),
    "six timeouts without the window": ("visibility_below_advice", {"batching_window_s": 5}, "warning"),
    "below one timeout another check speaks": (
        "visibility_below_advice",
        {"visibility_timeout_s": 29},
        "does not apply",
    ),
    "no DLQ": ("dead_letter_queue_missing", {"dead_letter_queue": None}, "warning"),
    "no DLQ and nine receives": (
        "dead_letter_queue_missing",
        {"dead_letter_queue": None, "highest_receive_count": 9},
        "warning",
    ),
    "no DLQ and ten receives": (
        "dead_letter_queue_missing",
        {"dead_letter_queue": None, "highest_receive_count": 10},
        "critical",
    ),
    "a DLQ needs no DLQ": (
        "dead_letter_queue_missing",
        {"dead_letter_queue": None, "is_dead_letter_queue": True},
        "does not apply",
    ),
    "no queue settings is not no DLQ": (
        "dead_letter_queue_missing",
        {"dead_letter_queue": None, "has_queue_settings": False},
        "unknown",
    ),
    "maxReceiveCount 5": ("max_receive_count", {"max_receive_count": 5}, "passes"),
    "maxReceiveCount 4": ("max_receive_count", {"max_receive_count": 4}, "warning"),
    "maxReceiveCount 100": ("max_receive_count", {"max_receive_count": 100}, "passes"),
    "maxReceiveCount 101": ("max_receive_count", {"max_receive_count": 101}, "note"),
    "DLQ keeps as long": ("dead_letter_retention", {"is_fifo": False, "dead_letter_retention_s": 345_600}, "warning"),
    "DLQ of a FIFO queue keeps as long": ("dead_letter_retention", {"dead_letter_retention_s": 345_600}, "note"),
    "DLQ keeps a second longer": ("dead_letter_retention", {"dead_letter_retention_s": 345_601}, "passes"),
    "both keep the longest": (
        "dead_letter_retention",
        {"message_retention_s": 1_209_600, "dead_letter_retention_s": 1_209_600},
        "passes",
    ),
    "DLQ settings not read": ("dead_letter_retention", {"dead_letter_retention_s": None}, "unknown"),
    "partial responses off, runs failed": (
        "partial_responses",
        {"reports_batch_item_failures": False, "failed_run_count": 1},
        "warning",
    ),
    "partial responses off, no run failed": ("partial_responses", {"reports_batch_item_failures": False}, "note"),
    "partial responses off, no run seen": (
        "partial_responses",
        {"reports_batch_item_failures": False, "run_count": None, "failed_run_count": None},
        "warning",
    ),
    "batch of one needs none": (
        "partial_responses",
        {"reports_batch_item_failures": False, "batch_size": 1},
        "does not apply",
    ),
    "on, and a whole batch came back": ("partial_responses", {"returned_whole_count": 1}, "critical"),
    "on, and no run was seen": ("partial_responses", {"run_count": None}, "unknown"),
    "mapping not read": ("partial_responses", {"reports_batch_item_failures": None}, "unknown"),
    "one group asks for one run": ("concurrency_limit", {"has_one_group": True, "maximum_concurrency": None}, "passes"),
    "one group, throttled by others": (
        "concurrency_limit",
        {"has_one_group": True, "throttle_count": 2},
        "critical",
    ),
    "reserved without maximum": ("concurrency_limit", {"maximum_concurrency": None}, "warning"),
    "reserved without maximum, throttled": (
        "concurrency_limit",
        {"maximum_concurrency": None, "throttle_count": 1},
        "critical",
    ),
    "maximum equals reserved": ("concurrency_limit", {}, "passes"),
    "maximum above reserved": ("concurrency_limit", {"maximum_concurrency": 6}, "warning"),
    "nothing reserved, throttled": (
        "concurrency_limit",
        {"reserved_concurrency": None, "throttle_count": 3},
        "unknown",
    ),
    "neither reserved concurrency nor throttles read": (
        "concurrency_limit",
        {"reserved_concurrency": None, "throttle_count": None},
        "unknown",
    ),
    "nothing reserved": ("concurrency_limit", {"reserved_concurrency": None}, "passes"),
    "one group, quick items": ("fifo_single_group", {"has_one_group": True}, "passes"),
    "one group, slow items": ("fifo_single_group", {"has_one_group": True, "item_p99_ms": 1500}, "warning"),
    "one group, items a shade quicker": ("fifo_single_group", {"has_one_group": True, "item_p99_ms": 1499}, "passes"),
    "one group, timeouts": ("fifo_single_group", {"has_one_group": True, "timeout_count": 2}, "critical"),
    "one group, batch of one": ("fifo_single_group", {"has_one_group": True, "batch_size": 1}, "does not apply"),
    "groups not logged": ("fifo_single_group", {"has_one_group": None}, "unknown"),
    "several groups": ("fifo_single_group", {"timeout_count": 2}, "passes"),
    "a standard queue": ("fifo_single_group", {"is_fifo": False, "has_one_group": True}, "does not apply"),
    "p99 at four fifths": ("run_near_timeout", {"run_p99_ms": 24_000}, "warning"),
    "p99 below four fifths": ("run_near_timeout", {"run_p99_ms": 23_999}, "passes"),
    "one timeout": ("run_near_timeout", {"timeout_count": 1}, "critical"),
    "no run seen": ("run_near_timeout", {"run_p99_ms": None}, "unknown"),
    "a full batch just fits": ("batch_outgrows_timeout", {"item_p99_ms": 3000}, "passes"),
    "a full batch does not fit": ("batch_outgrows_timeout", {"item_p99_ms": 3001}, "warning"),
    "items without times": ("batch_outgrows_timeout", {"item_p99_ms": None}, "unknown"),
    "handling as long as visibility": ("handling_outgrows_visibility", {"run_p99_ms": 180_000}, "warning"),
    "handling longer than visibility": ("handling_outgrows_visibility", {"run_p99_ms": 180_001}, "critical"),
    "handling at four fifths": ("handling_outgrows_visibility", {"run_p99_ms": 144_000}, "warning"),
    "handling below four fifths": ("handling_outgrows_visibility", {"run_p99_ms": 143_999}, "passes"),
    "only the slowest outgrows it": ("handling_outgrows_visibility", {"run_max_ms": 180_001}, "warning"),
    "the slowest just fits": ("handling_outgrows_visibility", {"run_max_ms": 180_000}, "passes"),
    "a worker is checked too": (
        "handling_outgrows_visibility",
        {"consumer_kind": "worker", "run_p99_ms": 200_000},
        "critical",
    ),
    "no change": ("drift", {}, "passes"),
    "AWS would refuse the mapping": ("drift", {"function_timeout_s": 181}, "critical"),
    "timeout raised within the advice": ("drift", {"first_function_timeout_s": 10}, "passes"),
    "timeout raised beyond the advice": ("drift", {"function_timeout_s": 31}, "warning"),
    "was no better before": (
        "drift",
        {"first_function_timeout_s": 40, "function_timeout_s": 60},
        "passes",
    ),
    "log level WARN": ("logging_readiness", {"system_log_level": "WARN"}, "warning"),
    "no line names a message": ("logging_readiness", LACKS_BATCH, "warning"),
    "no effect line": ("logging_readiness", LACKS_EFFECT, "note"),
    "one handling without a receive count": ("logging_readiness", {"counted_count": 999}, "note"),
    "no line of its log": ("logging_readiness", {"logging_level": "unread"}, "unknown"),
    "no log at all": ("logging_readiness", {"logging_level": None}, "unknown"),
    "ten receives of 12 h outlast 4 days": (
        "receives_outlast_retention",
        {"max_receive_count": 10, "visibility_timeout_s": 43_200},
        "critical",
    ),
    "receives take just as long as the retention": (
        "receives_outlast_retention",
        {"max_receive_count": 10, "visibility_timeout_s": 34_560},
        "critical",
    ),
    "receives end a second before the retention": (
        "receives_outlast_retention",
        {"max_receive_count": 1, "visibility_timeout_s": 345_599},
        "passes",
    ),
    "no DLQ, no move": ("receives_outlast_retention", {"dead_letter_queue": None}, "does not apply"),
    "the default for short work": (
        "visibility_default",
        {"visibility_timeout_s": 30, "function_timeout_s": None, "run_p99_ms": 14_999},
        "passes",
    ),
    "the default for work of half of it": (
        "visibility_default",
        {"visibility_timeout_s": 30, "function_timeout_s": None, "run_p99_ms": 15_000},
        "warning",
    ),
    "the default, and work nobody timed": (
        "visibility_default",
        {"visibility_timeout_s": 30, "run_p99_ms": None},
        "note",
    ),
    "the default is six timeouts": (
        "visibility_default",
        {"visibility_timeout_s": 30, "function_timeout_s": 5},
        "passes",
    ),
    "half of the ids are random": ("random_deduplication_ids", {"random_dedup_count": 500}, "passes"),
    "more than half are random": ("random_deduplication_ids", {"random_dedup_count": 501}, "note"),
    "random, and sent again": (
        "random_deduplication_ids",
        {"random_dedup_count": 1000, "sent_again_count": 1},
        "warning",
    ),
    "few ids seen": ("random_deduplication_ids", {"known_dedup_count": 19, "random_dedup_count": 19}, "unknown"),
    "standard queues have no such ids": ("random_deduplication_ids", {"is_fifo": False}, "does not apply"),
    "a worker polls short, mostly in vain": (
        "short_polling",
        {"consumer_kind": "worker", "receive_wait_s": 0, "empty_receive_count": 9001},
        "note",
    ),
    "a worker polls short, and always finds something": (
        "short_polling",
        {"consumer_kind": "worker", "receive_wait_s": 0, "empty_receive_count": 9000},
        "passes",
    ),
    "empty receives not read": (
        "short_polling",
        {"consumer_kind": "worker", "receive_wait_s": 0, "empty_receive_count": None},
        "unknown",
    ),
    "Lambda polls by itself": ("short_polling", {"receive_wait_s": 0}, "passes"),
    "below four fifths of the quota": ("in_flight_quota", {"in_flight_max_count": 95_999}, "passes"),
    "four fifths of the quota": ("in_flight_quota", {"in_flight_max_count": 96_000}, "warning"),
    "the quota all but reached": ("in_flight_quota", {"in_flight_max_count": 114_000}, "critical"),
    "in flight not read": ("in_flight_quota", {"in_flight_max_count": None}, "unknown"),
    "it sends to itself": ("recursion", {"self_sent_count": 1}, "warning"),
    "Lambda stopped a loop": ("recursion", {"recursion_dropped_count": 1}, "critical"),
    "no delivery seen": ("recursion", {"delivery_count": 0}, "unknown"),
    "disabled, and messages wait": ("mapping_disabled", {"mapping_state": "Disabled"}, "critical"),
    "disabled, and nothing waits": (
        "mapping_disabled",
        {"mapping_state": "Disabled", "backlog_max_count": 0},
        "warning",
    ),
    "disabled long ago, and deliveries since": (
        "mapping_disabled",
        {"mapping_state": "Disabled", "seen_from": datetime(2026, 9, 2, tzinfo=UTC)},
        "unknown",
    ),
    "disabled within these days": (
        "mapping_disabled",
        {"mapping_state": "Disabled", "seen_from": datetime(2026, 8, 30, tzinfo=UTC)},
        "critical",
    ),
    "its mapping was not read": ("mapping_disabled", {"mapping_state": None}, "unknown"),
    "a filter that deletes": (
        "mapping_filters",
        {"filter_patterns": ("{}",), "filtered_event_count": 1},
        "warning",
    ),
    "a filter that deleted nothing": ("mapping_filters", {"filter_patterns": ("{}",)}, "note"),
    "a filter nobody counts": (
        "mapping_filters",
        {"filter_patterns": ("{}",), "filtered_event_count": None},
        "unknown",
    ),
    "no filter": ("mapping_filters", {}, "passes"),
    "two consumers": ("several_consumers", {"consumers": ("charge_card", "ship_it")}, "warning"),
    "one consumer": ("several_consumers", {}, "passes"),
    "failures that nobody hears": (
        "responses_ignored",
        {"response_count": 1, "reports_batch_item_failures": False},
        "critical",
    ),
    "failures that are heard": ("responses_ignored", {"response_count": 1}, "passes"),
    "charges without a guard, and repeats": ("guard_missing", {"has_guard_line": False}, "warning"),
    "charges without a guard": ("guard_missing", {"has_guard_line": False, "redelivery_count": 0}, "note"),
    "a guard that stopped a repeat": ("guard_missing", {"has_guard_line": False, "stopped_count": 1}, "passes"),
    "nothing is charged": (
        "guard_missing",
        {"queue": "thumbnails", "consumer": "resize", "has_guard_line": False},
        "does not apply",
    ),
    "metrics off": ("mapping_metrics_off", {"counts_events": False}, "note"),
    "metrics on": ("mapping_metrics_off", {}, "passes"),
}


@pytest.mark.parametrize(("code", "changed", "expected"), BORDERS.values(), ids=BORDERS)
def test_a_check_at_its_border(code, changed, expected):
    answer = asked(code, **changed)

    assert (answer.severity or answer.status) == expected


def test_every_check_has_a_border_here():
    assert {code for code, _, _ in BORDERS.values()} == set(CHECKS)


def test_a_healthy_setup_passes_every_check_that_applies():
    given = {code: answer.status for code, answer in answers(HEALTHY, CHECKS)}

    assert set(given.values()) == {"passes"}
    assert len(given) == len(CHECKS)


@pytest.mark.parametrize("code", CHECKS)
def test_nothing_known_is_unknown_or_silent_and_never_a_failure(code):
    kinds = ("lambda", "worker") if code in CONSUMER_CHECKS else (None,)
    given = [CHECKS[code](Setup("q", "f", kind, has_queue_settings=False)) for kind in kinds]

    assert {answer.status for answer in given} <= {"unknown", "does not apply"}
    assert all(answer.would_decide for answer in given if answer.status == "unknown")


FAILURES = {name: row[:2] for name, row in BORDERS.items() if row[2] in SEVERITIES}


@pytest.mark.parametrize(("code", "changed"), FAILURES.values(), ids=FAILURES)
def test_a_failure_says_what_to_change_and_names_its_numbers(code, changed):
    answer = asked(code, **changed)

    assert answer.advice.endswith(".")
    assert answer.severity in SEVERITIES
    assert set(answer.uses) <= set(SOURCES)
    assert HEALTHY.ids(answer.uses)


def test_the_numbers_of_a_sentence_are_the_settings_it_compares():
    answer = asked("visibility_below_timeout", visibility_timeout_s=29)

    assert answer.sentence.startswith("visibility timeout 29 s < function timeout 30 s")
    assert HEALTHY.numbers(answer.uses) == [
        *("visibility_timeout_s=180", "function_timeout_s=30", "batching_window_s=0"),
        "run_max_ms=9000",
    ]


HALF_A_DAY, TWO_WEEKS = 43_200, 1_209_600
ADVICE = {
    "fewer receives, where that leaves five": (
        "receives_outlast_retention",
        {"max_receive_count": 10, "visibility_timeout_s": HALF_A_DAY},
        "Lower maxReceiveCount to 7 or less, or shorten the visibility timeout to 34559 s or less, or keep messages for 432001 s or "
        "longer.",
    ),
    "no fewer receives than AWS advises": (
        "receives_outlast_retention",
        {"max_receive_count": 1, "visibility_timeout_s": HALF_A_DAY, "message_retention_s": HALF_A_DAY},
        "Shorten the visibility timeout to 43199 s or less, or keep messages for 43201 s or longer.",
    ),
    "no visibility timeout below six function timeouts": (
        "receives_outlast_retention",
        {
            "max_receive_count": 100,
            "visibility_timeout_s": 5400,
            "function_timeout_s": 900,
            "message_retention_s": 345_600,
        },
        "Lower maxReceiveCount to 63 or less, or keep messages for 540001 s or longer.",
    ),
    "no retention beyond 14 days": (
        "receives_outlast_retention",
        {"max_receive_count": 50, "visibility_timeout_s": HALF_A_DAY, "message_retention_s": TWO_WEEKS},
        "Lower maxReceiveCount to 27 or less, or shorten the visibility timeout to 24191 s or less.",
    ),
    "nothing alone is enough": (
        "receives_outlast_retention",
        {"max_receive_count": 1000, "visibility_timeout_s": HALF_A_DAY, "message_retention_s": 60},
        "Keep messages for 14 days and lower maxReceiveCount to 27 or less.",
    ),
    "more receives that the retention has room for": (
        "max_receive_count",
        {"max_receive_count": 3},
        "Raise maxReceiveCount to 5 or more.",
    ),
    "more receives than the retention has room for": (
        "max_receive_count",
        {"max_receive_count": 1, "visibility_timeout_s": HALF_A_DAY, "message_retention_s": 172_800},
        "Raise maxReceiveCount to 5 or more, and keep messages for longer than 2 d 12 h, which so many receives take.",
    ),
    "a batch of fewer": (
        "batch_outgrows_timeout",
        {"item_p99_ms": 4000},
        "Set the batch size to 7 or less, or raise the function timeout.",
    ),
    "not even one fits": ("batch_outgrows_timeout", {"item_p99_ms": 31_000}, "Raise the function timeout."),
    "Lambda's longest timeout": (
        "batch_outgrows_timeout",
        {"item_p99_ms": 100_000, "function_timeout_s": 900},
        "Set the batch size to 9 or less.",
    ),
    "one item beyond Lambda's longest timeout": (
        "batch_outgrows_timeout",
        {"item_p99_ms": 900_001, "function_timeout_s": 900},
        "Make one item's work shorter: no run may take longer than 900 s.",
    ),
    "timeouts of single messages": (
        "run_near_timeout",
        {"timeout_count": 1, "batch_size": 1},
        "Raise the function timeout (at most 900 s).",
    ),
    "timeouts after 900 s": (
        "run_near_timeout",
        {"timeout_count": 1, "function_timeout_s": 900},
        "Set the batch size so that its slowest items fit.",
    ),
    "timeouts of single messages after 900 s": (
        "run_near_timeout",
        {"timeout_count": 1, "function_timeout_s": 900, "batch_size": 1},
        "Make one item's work shorter: no run may take longer than 900 s.",
    ),
    "three times the slowest is more than SQS hides": (
        "handling_outgrows_visibility",
        {"consumer_kind": "worker", "function_timeout_s": None, "run_p99_ms": 20_000_000},
        "Raise the visibility timeout to 43200 s, the longest, or make handling shorter.",
    ),
    "three times a worker's slowest handling, in whole minutes": (
        "handling_outgrows_visibility",
        {
            "consumer_kind": "worker",
            "function_timeout_s": None,
            "visibility_timeout_s": 30,
            "run_p99_ms": 5_520,
            "run_max_ms": 46_330,
        },
        "Raise the visibility timeout to 180 s or more (three times the slowest handling, in whole minutes), or let the consumer "
        "extend it while it works.",
    ),
    "a function's is the one that AWS advises, wherever it is told": (
        "handling_outgrows_visibility",
        {"visibility_timeout_s": 30, "function_timeout_s": 60, "run_p99_ms": 40_200, "run_max_ms": 43_000},
        "Raise the visibility timeout to 360 s or more, or let the consumer extend it while it works.",
    ),
    "so it is where nobody chose one": (
        "visibility_default",
        {"visibility_timeout_s": 30, "function_timeout_s": 60, "run_p99_ms": 40_200},
        "Set it to 360 s or more, or let the consumer extend it while it works.",
    ),
    "SQS hides no longer": (
        "handling_outgrows_visibility",
        {"consumer_kind": "worker", "visibility_timeout_s": HALF_A_DAY, "run_p99_ms": 40_000_000},
        "Make handling shorter, or split the work: SQS hides a message for 12 hours at most.",
    ),
    "runs that a shorter timeout would leave time for": (
        "visibility_below_timeout",
        {"visibility_timeout_s": 29},
        "Raise the queue's visibility timeout to 180 s, or lower the function timeout to 29 s or less.",
    ),
    "runs that a shorter timeout would stop": (
        "visibility_below_timeout",
        {"visibility_timeout_s": 9},
        "Raise the queue's visibility timeout to 180 s.",
    ),
    "the least maximum there is": (
        "concurrency_limit",
        {"maximum_concurrency": None, "reserved_concurrency": 2},
        "Set the mapping's maximum concurrency to 2.",
    ),
}


@pytest.mark.parametrize(("code", "changed", "advice"), ADVICE.values(), ids=ADVICE)
def test_advice_is_possible_under_the_settings_in_force_and_changes_something(code, changed, advice):
    assert asked(code, **changed).advice == advice


def test_drift_names_what_was_changed_after_the_mapping_was_made():
    later = datetime(2026, 10, 2, 8, 30, tzinfo=UTC)
    answer = asked("drift", visibility_timeout_s=20, function_changed_at=later)

    assert "the function was changed on 2026-10-02 08:30 UTC after it was made" in answer.sentence


@pytest.mark.parametrize("code", CHECKS)
def test_a_check_is_one_file_with_its_name(code):
    file = Path(inspect.getsourcefile(CHECKS[code]))

    assert file.name == f"{code}.py"
    assert inspect.getdoc(CHECKS[code]).count(">>>") == 1


def test_every_file_is_a_check_that_is_asked():
    folder = Path(inspect.getsourcefile(Setup)).parent
    files = {f.stem for f in folder.glob("*.py")} - {"__init__", "setup", "findings", "answer"}

    assert files == set(QUEUE_CHECKS) | set(CONSUMER_CHECKS)


def test_what_the_logs_lack_is_said_in_the_words_of_the_readiness_table():
    blind, partial = asked("logging_readiness", **LACKS_BATCH), asked("logging_readiness", **LACKS_EFFECT)

    assert blind.sentence.startswith("none of 1,000 handlings names a message")
    assert blind.advice == "Add to the handler: print(event) (Python)."
    assert partial.sentence == "9 of 9 handlings name their messages; missing: the effect"


def test_a_missing_guard_is_told_in_words_that_fit_any_effect():
    assert "charges" not in asked("guard_missing", has_guard_line=False).sentence
