"""What lines say of single messages, from the line's text on."""

import json

import pytest

from forensics.parsers import parse_line
from forensics.settings import Consumer
from forensics.streams.facts import facts_of, of_line
from forensics.streams.model import REPEAT, SKIPPED, Fact

A, B = "861bec95-b670-4f2a-acf9-19d5bdd7cbe5", "949de5cd-d2b0-400c-86ce-d86da8f7dacd"
HANDLE = "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a"
CONSUMER = Consumer(
    effect=r"charged (?:k=(?P<key>[a-z0-9]+))?(?:m=(?P<message_id>[0-9a-f-]{36}))?",
    guard=r"already charged k=(?P<key>[a-z0-9]+)",
    started=r"working on (?P<message_id>[0-9a-f-]{36})",
    deleted=r"deleted (?P<message_id>[0-9a-f-]{36})",
    failed=r"gave back (?P<message_id>[0-9a-f-]{36})",
    visibility_set=r"lease of (?P<message_id>[0-9a-f-]{36}) (?:ends|runs (?P<seconds>\S+) s)",
    receive_count=r"attempt (?P<receive_count>[0-9]+)",
)
REFUSED = (
    "An error occurred (InvalidParameterValue) when calling the DeleteMessage operation: "
    f"Value {HANDLE} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired."
)
JOB = f"[2026-11-21 09:00:00,000: INFO/MainProcess] Task shop.charge[{A}] received"


RAILS = f"[ActiveJob] [ChargeJob] [{A}] Performing ChargeJob (Job ID: {A}) from Sqs(default) enqueued at 2026-11-21"


def said(line, log_group="/ecs/worker", consumer=CONSUMER):
    return facts_of(parse_line(line, consumer, log_group), 5_000, "e-1")


def roles(line):
    return [(fact.role, fact.message_id, fact.key, fact.detail) for fact in said(line)]


CASES = {
    "nothing": ("hello", []),
    "a message in hand": (f"handled message {A}", [("mention", A, None, "taken")]),
    "a message that it is handed": (f"message {A} received", [("mention", A, None, "taken")]),
    "a message id in passing": (f"next step is message {A}", [("mention", A, None, None)]),
    "the rest of a cut event": (f'17", \\"message_id\\": \\"{A}\\"}}}}"}}]}}', []),
    "an effect by key": ("charged k=p7", [("effect", None, "p7", None)]),
    "an effect by message": (f"charged m={A}", [("effect", A, None, None)]),
    "a stopped repeat is no effect": ("already charged k=p7", [("guard", None, "p7", None)]),
    "a message is deleted": (
        f"deleted {A} of message {A}",
        [("mention", A, None, None), ("deleted", A, None, None)],
    ),
    "a message that Powertools for Java returns as failed": (
        f"ERROR Error while processing message with messageId {A}: 502, adding it to batch item failures",
        [("mention", A, None, "taken"), ("failure", A, None, None)],
    ),
    "a record of a stream that it returns as failed": (
        "ERROR Error while processing record with eventID 4961: 502, adding it to batch item failures",
        [],
    ),
    "a message of which it says only that it failed": (
        f"ERROR Error while processing message with messageId {A}: 502",
        [("mention", A, None, "taken")],
    ),
    "a message given back failed": (
        f"gave back {A}",
        [("worker_failed", A, None, None)],
    ),
    "a lease in words of the team's own": (
        f"lease of {A} runs 90 s",
        [("worker_visibility_set", A, None, "90")],
    ),
    "one that was given up, of no more seconds": (f"lease of {A} ends", [("worker_visibility_set", A, None, "0")]),
    "one whose seconds are none": (f"lease of {A} runs 1.5 s", []),
    "one that any grammar knows, said once": (
        f"visibility: lease of {A} runs 90 s, changed visibility timeout of message {A} to 90 seconds",
        [("mention", A, None, None), ("worker_visibility_set", A, None, "90")],
    ),
    "failed items, one of them nameless": (
        json.dumps({"batchItemFailures": [{"itemIdentifier": A}, {"itemIdentifier": ""}]}),
        [("failure", A, None, None), ("failure", None, None, None)],
    ),
    "a refused delete of the one message named": (
        f"{REFUSED} message {A}",
        [("mention", A, None, None), ("handle_error", A, None, "expired:DeleteMessage")],
    ),
    "a refused delete where two are named": (
        f"{REFUSED} messages {A}, {B}",
        [("mention", A, None, None), ("mention", B, None, None), ("handle_error", None, None, "expired:DeleteMessage")],
    ),
    "a framework's failure, whose message is named beside its words": (
        json.dumps({"msg": "Unexpected message handler failure: boom", "messageId": A}),
        [("mention", A, None, None), ("worker_failed", A, None, None)],
    ),
    "a framework's failure, where two are named beside its words": (
        json.dumps({"msg": "Unexpected message handler failure: boom", "ids": f"messages {A}, {B}"}),
        [("mention", A, None, None), ("mention", B, None, None), ("worker_failed", None, None, None)],
    ),
    "a framework's failed delete, which SQS refused, said once": (
        json.dumps({"msg": f"SQSError: SQS delete message failed: {REFUSED}", "messageId": A}),
        [("mention", A, None, None), ("handle_error", A, None, "expired:DeleteMessage")],
    ),
    "a framework's failed delete, which names the message before its words": (
        f"2026-11-29T09:02:41.200Z 1 TID-ox0abc ChargeWorker/pay/{A} ERROR: Could not delete 0, "
        "code: 'ReceiptHandleIsInvalid', message: 'The receipt handle has expired', sender_fault: true",
        [("handle_error", A, None, "expired:DeleteMessageBatch")],
    ),
    "a framework's failed delete of several messages": (
        f"Error acknowledging in queue pay messages {A}, {B} in 3ms: The receipt handle has expired",
        [
            *(("mention", one, None, None) for one in (A, B)),
            ("handle_error", None, None, "expired:DeleteMessage"),
            *(("worker_delete_failed", one, None, None) for one in (A, B)),
        ],
    ),
    "a framework's failed delete, said once": (
        json.dumps({"msg": "SQSError: SQS delete message failed: socket hang up", "messageId": A}),
        [("mention", A, None, None), ("handle_error", A, None, "other:DeleteMessage")],
    ),
    "a process that is told to stop, which is no word on the message named": (
        f"Received SIGTERM, will shutdown gracefully, message {A}",
        [("mention", A, None, "taken"), ("worker_stopping", None, None, None)],
    ),
    "an idempotency library's refusal": (
        "Execution already in progress with idempotency key: body=fn#5f",
        [("idempotency", None, None, "in_progress")],
    ),
}


BOTH_SAY = {
    "a failure": (
        f"Failed to process message {A}",
        Consumer(failed=r"Failed to process message (?P<message_id>\S+)"),
        [("mention", A, None), ("worker_failed", A, None)],
    ),
    "one whose setting alone names the message": (
        f"{A} Message handler timed out after 9000ms",
        Consumer(failed=r"(?P<message_id>\S{36}) Message handler timed out"),
        [("worker_timed_out", A, None)],
    ),
    "a failure of another message": (
        f"Failed to process message {A}, giving back {B}",
        Consumer(failed=r"giving back (?P<message_id>\S+)"),
        [("mention", A, None), ("worker_failed", B, None), ("worker_failed", A, None)],
    ),
    "a failure of a task and of its message": (
        f"Task shop.charge[{A}] raised unexpected: error, so {B} fails",
        Consumer(failed=r"(?P<message_id>\S{36}) fails"),
        [("worker_failed", B, None), ("worker_failed", A, None)],
    ),
    "deletes": (
        f"Done acknowledging in queue pay, messages: {A}, {B}",
        Consumer(deleted=r"messages: (?P<message_id>[0-9a-f-]+)"),
        [("mention", A, None), ("mention", B, None), ("deleted", A, None), ("worker_acknowledged", B, None)],
    ),
}


@pytest.mark.parametrize(("line", "consumer", "expected"), BOTH_SAY.values(), ids=BOTH_SAY)
def test_an_end_that_a_pattern_of_the_settings_and_a_framework_tell_is_one(line, consumer, expected):
    facts = [(fact.role, fact.message_id, fact.key) for fact in said(line, consumer=consumer)]

    assert facts == expected


@pytest.mark.parametrize(("line", "expected"), CASES.values(), ids=CASES)
def test_a_line_says(line, expected):
    assert roles(line) == expected


def test_every_fact_stands_at_its_lines_time_and_id():
    assert {(fact.at, fact.evidence_id) for fact in said(f"message {A}: charged m={A}, working on {B}")} == {
        (5_000, "e-1")
    }


def test_the_receive_count_of_a_line_is_of_the_message_it_starts():
    counts = {fact.role: fact.receive_count for fact in said(f"message {A}: working on {A}, attempt 3")}

    assert counts == {"mention": None, "started": 3}


def test_the_receive_count_of_a_line_that_names_one_message_and_its_handle_is_that_messages():
    handed_out = f'{{"messageId":"{A}","receiptHandle":"AQEBx"}}'

    assert [f.receive_count for f in said(f"attempt 3: {handed_out}")] == [3]
    assert [f.receive_count for f in said(f"attempt 3: {handed_out}, {handed_out}")] == [None, None]


def test_a_workers_facts_of_one_message_all_have_the_receive_count_of_their_line():
    for line, counts in (
        (f"message {A}: charged m={A}, attempt 3", {3}),
        (f"message {A}: charged m={B}, attempt 3", {None}),
    ):
        parsed = parse_line(line, CONSUMER, "/ecs/pay")
        assert {fact.receive_count for fact in of_line(facts_of(parsed, 0, "e-1"), parsed, line, 0, "e-1")} == counts


def test_what_sqs_counted_itself_stands():
    assert [f.receive_count for f in said(f'attempt 3: {{"messageId":"{A}","ApproximateReceiveCount":"2"}}')] == [2]


def test_celerys_task_id_is_the_key_because_it_names_no_message():
    for consumer in (None, Consumer(effect=r"charged k=(?P<key>\S+)")):
        started = [f for f in said(JOB, consumer=consumer) if f.role == "worker_started"]
        assert started == [Fact("worker_started", 5_000, "e-1", key=A, detail=A)]


@pytest.mark.parametrize("consumer", [CONSUMER, Consumer(message_id=r"Task \S+\[(?P<message_id>[^\]]+)")])
def test_celerys_task_id_stands_for_the_message_where_the_settings_name_messages(consumer):
    (started,) = [f for f in said(JOB, consumer=consumer) if f.role == "worker_started"]

    assert (started.message_id, started.key, started.detail) == (A, None, A)


def test_active_jobs_job_id_stands_for_the_message_as_its_tags_name_it_so():
    facts = {fact.role: fact.message_id for fact in said(RAILS, consumer=None)}

    assert facts == {"mention": A, "worker_started": A}


def test_no_framework_deletes_anything_in_lambdas_own_log_groups():
    assert not [f for f in said(JOB, "/aws/lambda/charge") if f.role.startswith("worker_")]


def test_printed_messages_come_first_with_all_that_was_printed_of_them():
    record = {
        "messageId": A,
        "receiptHandle": HANDLE,
        "body": "p7",
        "md5OfBody": "0" * 32,
        "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:orders.fifo",
        "attributes": {
            "ApproximateReceiveCount": "2",
            "SentTimestamp": "1700000000000",
            "ApproximateFirstReceiveTimestamp": "1700000000001",
            "MessageGroupId": "g-1",
            "MessageDeduplicationId": "d-1",
            "DeadLetterQueueSourceArn": "arn:aws:sqs:eu-west-1:123456789012:source",
            "SenderId": "AROAEXAMPLE:charge-card",
        },
    }
    parsed = parse_line("charged k=p9 " + json.dumps({"Records": [record]}), CONSUMER)
    printed, effect = facts_of(parsed, 5_000, "e-1", lambda r: r.body)

    assert printed == Fact(
        role="record",
        at=5_000,
        evidence_id="e-1",
        message_id=A,
        key="p7",
        receive_count=2,
        position=1,
        sent_ms=1_700_000_000_000,
        first_receive_ms=1_700_000_000_001,
        group_id="g-1",
        deduplication_id="d-1",
        receipt_handle=HANDLE,
        body_md5="0" * 32,
        queue_arn="arn:aws:sqs:eu-west-1:123456789012:orders.fifo",
        dead_letter_source_arn="arn:aws:sqs:eu-west-1:123456789012:source",
        sender_id="AROAEXAMPLE:charge-card",
        detail="whole batch",
    )
    assert (effect.role, effect.key) == ("effect", "p9")


BODIES = {
    "alone": ({}, None, "p7"),
    "with an event's id for a key": ({}, "sns:1", "p7"),
    "with its business key": ({}, "pay-1", None),
    "in a whole batch": ({"Records": []}, None, None),
}


@pytest.mark.parametrize(("around", "key", "body"), BODIES.values(), ids=BODIES)
def test_whose_key_a_line_names_is_told_by_the_body_of_a_record_that_is_printed(around, key, body):
    record = {"messageId": A, "receiptHandle": HANDLE, "body": "p7"}
    parsed = parse_line(json.dumps({"Records": [record]} if around else record))

    (kept,) = facts_of(parsed, 5_000, "e-1", lambda r: key, with_bodies=True)
    (of_worker,) = facts_of(parsed, 5_000, "e-1", lambda r: key)

    assert (kept.key, kept.body) == (key, body)
    assert of_worker.body is None


SAYS_OF_ITSELF = {
    "its thread and its own time": ("2026-01-05 12:00:00.123 [sqs-3] done", "sqs-3", True),
    "its thread": ("[sqs-3] done", "sqs-3", False),
    "its own time": ("2026-01-05 12:00:00.123 done", None, True),
    "nothing": ("done", None, False),
}


@pytest.mark.parametrize(("line", "thread", "is_timed"), SAYS_OF_ITSELF.values(), ids=SAYS_OF_ITSELF)
def test_the_facts_of_a_workers_line_bear_what_it_says_of_itself(line, thread, is_timed):
    facts = of_line([Fact("effect", 0, "e-1", "a"), Fact("deleted", 0, "e-1", "a")], parse_line(line), line, 0, "e-1")

    assert {fact.thread for fact in facts} == {thread}
    assert [fact.line_mark is not None for fact in facts] == [is_timed] * 2


REPEATS = {
    "already done": f"already charged pay-1 message_id={A}",
    "already done, in JSON": f'{{"msg": "Order was already processed", "message_id": "{A}"}}',
    "already done, in another trade's word": f"already notified customer of message {A}",
    "skipped": f"Skipping message {A}: nothing left of order 7",
    "a duplicate": f"DUPLICATE message {A}",
    "an idempotency key": f"message {A}: idempotency key order-7 is taken",
    "seen before": f"message {A} was seen before",
    "done before, in another trade's word": f"invoice 7 was sent before, ignoring message {A}",
    "the word behind it": f"message {A}: order 7 is paid already",
    "in Japanese": f"message {A} は処理済みです",
}


@pytest.mark.parametrize("line", REPEATS.values(), ids=REPEATS)
def test_a_workers_line_reads_as_if_the_work_was_not_done_again(line):
    parsed = parse_line(line)

    facts = of_line(facts_of(parsed, 0, "e-1"), parsed, line, 0, "e-1")

    assert [(fact.role, fact.message_id, fact.detail) for fact in facts] == [
        ("mention", A, SKIPPED),
        (REPEAT, None, line),
    ]


@pytest.mark.parametrize(
    "said",
    ["charged", "is ready for", "processed order 7 before noon for", "skips nothing for", "sent before noon for"],
)
def test_a_workers_line_reads_as_if_work_was_done(said):
    line = f"{said} message {A}"
    parsed = parse_line(line)

    facts = of_line(facts_of(parsed, 0, "e-1"), parsed, line, 0, "e-1")

    assert [fact.role for fact in facts if fact.detail != SKIPPED] == ["mention"]


def test_a_workers_line_that_names_nobody_reads_as_if_the_work_was_not_done_again():
    line = "2026-01-05 12:00:00.123 [sqs-3] pay-1 already charged, skipping"
    parsed = parse_line(line)
    (fact,) = of_line(facts_of(parsed, 5_000, "e-1"), parsed, line, 5_000, "e-1")

    assert (fact.role, fact.at, fact.evidence_id, fact.item_id, fact.thread) == (REPEAT, 5_000, "e-1", None, "sqs-3")


def test_a_line_that_says_nothing_states_nothing():
    assert of_line([], parse_line("done"), "done", 0, "e-1") == []


ERRORS = {
    "by its level": (f"2026-01-05 12:00:00,123 ERROR card declined for message {A}", ["mention", "error"]),
    "in JSON": (f'{{"level": "error", "message": "card declined", "message_id": "{A}"}}', ["mention", "error"]),
    "at another level": (f"2026-01-05 12:00:00,123 WARNING card declined for message {A}", ["mention"]),
    "that is an effect's line": (f"ERROR charged m={A}", ["effect"]),
}


@pytest.mark.parametrize(("line", "roles"), ERRORS.values(), ids=ERRORS)
def test_an_error_of_a_worker_is_of_the_message_that_its_line_names(line, roles):
    parsed = parse_line(line, CONSUMER)
    facts = of_line(facts_of(parsed, 5_000, "e-1", lambda r: None), parsed, line, 5_000, "e-1")

    assert [(fact.role, fact.message_id) for fact in facts] == [(role, A) for role in roles]
