"""What a framework says of the end of a job."""

import json

import pytest

from forensics.parsers.workers import worker
from tests.waiting import grows_with_its_input

ID = "949de5cd-d2b0-400c-86ce-d86da8f7dacd"


def laravel(status: str, result: str | None, **more: str) -> str:
    said = {"level": "warning", "id": ID, "queue": "q", "job": "App\\Jobs\\Charge", "status": status, "result": result}
    return json.dumps({**said, "attempts": 3, **more})


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (laravel("released_after_exception", "released"), "failed"),
        (laravel("failed", "deleted"), "gave_up"),
        (laravel("failed", None), "failed"),
        (laravel("failed", "deleted", exception="Illuminate\\Queue\\MaxAttemptsExceededException"), "refused"),
        (laravel("success", "deleted"), "finished"),
    ],
)
def test_a_laravel_job_that_failed_for_good_is_told_from_one_that_comes_again(line, event):
    said = worker(line)

    assert said is not None
    assert (said.event, said.message_id, said.receive_count) == (event, ID, 3)


OTHER = "0f2a4c1e-93f6-4a43-8a57-1d4dd3b9d0aa"
SAID = {
    "sqs-consumer deletes what its handler is through with": (
        f"2026-11-20T12:00:00.000Z sqs-consumer deleting_message {{ messageId: '{ID}' }}",
        ("sqs-consumer", "finished", ID, ()),
    ),
    "Spring acknowledged one": (
        f"TRACE 1 --- [sqs-1] SqsAcknowledgementExecutor : Done acknowledging in queue orders messages: {ID} in 5ms",
        ("spring", "acknowledged", ID, ()),
    ),
    "Spring acknowledged several": (
        f"Done acknowledging in queue orders messages: {ID}, {OTHER} in 5ms",
        ("spring", "acknowledged", ID, (OTHER,)),
    ),
    "Spring could not acknowledge several": (
        f"Error acknowledging in queue orders messages {ID}, {OTHER} in 31ms",
        ("spring", "delete_failed", ID, (OTHER,)),
    ),
    **{
        f"Laravel tells with -v {words}": (
            f"  2026-11-20 12:00:00 App\\Jobs\\Charge {ID}{words}",
            ("laravel", event, ID, ()),
        )
        for words, event in (
            (" sqs https://sqs.eu-west-1.amazonaws.com/111122223333/orders  RUNNING", "started"),
            (" sqs https://sqs.eu-west-1.amazonaws.com/111122223333/orders  345.67ms DONE", "finished"),
            (" sqs orders ............... 2m 3s FAIL", "failed"),
            (" ......................... RUNNING", "started"),
            ("  1s DONE", "finished"),
        )
    },
    "Laravel reports an exception": (
        '[2026-11-20 12:00:00] production.ERROR: declined {"exception":"[object] (App\\\\Declined(code: 0): declined at ',
        ("laravel", "raised", None, ()),
    ),
    **{
        f"a worker's own words: {words}": (f"worker-3 {words}: provider answered 502", ("lines", "failed", ID, ()))
        for words in (
            f"failed message_id={ID}",
            f"Failed to process message {ID}",
            f"ERROR processing message id={ID}",
            f'error: messageId: "{ID}"',
            f"failure of {ID}",
        )
    },
    **{
        f"Active Job: {words.split(' Charge')[0]}": (
            f"I, [2026-11-20T05:00:00.1 #31]  INFO -- : [ActiveJob] [ChargeJob] [{ID}] {words}",
            ("activejob", event, None, ()),
        )
        for words, event in (
            (
                f"Performing ChargeJob (Job ID: {ID}) from Shoryuken(default) enqueued at 2026-11-20T04:59:59Z",
                "started",
            ),
            (f"Performed ChargeJob (Job ID: {ID}) from Sqs(default) in 30.4ms", "finished"),
            (
                f"Error performing Charge::CardJob (Job ID: {ID}) from Sqs(default) in 9ms: Declined (declined):",
                "failed",
            ),
        )
    },
    "NServiceBus tries a message again that it has in hand": (
        f"INFO  NServiceBus.RecoverabilityExecutor Immediate Retry is going to retry message '{ID}' because of an exception:",
        ("nservicebus", "retrying", ID, ()),
    ),
    "NServiceBus sends a message again later": (
        f"WARN Delayed Retry will reschedule message '{ID}' after a delay of 00:00:10 because of an exception:",
        ("nservicebus", "failed", ID, ()),
    ),
    "NServiceBus gives a message up": (
        f"ERROR Moving message '{ID}' to the error queue 'error' because processing failed due to an exception:",
        ("nservicebus", "gave_up", ID, ()),
    ),
    "Rebus": (
        f'[WRN] Unhandled exception 1 while handling message with ID "{ID}"',
        ("rebus", "failed", ID, ()),
    ),
    "NServiceBus, in .NET's JSON": (
        f'{{"LogLevel":"Information","Message":"Immediate Retry is going to retry message \\u0027{ID}\\u0027 because of an exception:"}}',
        ("nservicebus", "retrying", ID, ()),
    ),
    "Rebus, in JSON": (
        f'{{"@l":"Warning","@m":"Unhandled exception 1 while handling message with ID \\"{ID}\\""}}',
        ("rebus", "failed", ID, ()),
    ),
    "Rebus, for the last time": (
        f"[WRN] Unhandled exception 5 (FINAL) while handling message with ID {ID}",
        ("rebus", "failed", ID, ()),
    ),
    **{
        f"Watermill: {line[:20]}": (line, ("watermill", "failed", None, ()))
        for line in (
            '[watermill] 2026/11/20 05:00:00.330183 router.go:725:   level=ERROR msg="Handler returned error" err="declined"',
            '{"time":"2026-11-20T05:00:00Z","level":"ERROR","msg":"Handler returned error","err":"declined"}',
            'level=ERROR msg="Panic recovered in handler. Stack: …" err="declined"',
        )
    },
    "Celery is told to stop": ("worker: Warm shutdown (MainProcess)", ("celery", "stopping", None, ())),
    "a worker is told to stop": ("received SIGTERM, stopping", ("lines", "stopping", None, ())),
    "a worker is told to stop by the signal's number": ("Caught signal 15, exiting", ("lines", "stopping", None, ())),
    "a worker is told to stop by the signal's short name": ("Handling signal: TERM", ("lines", "stopping", None, ())),
}


OF_OTHER_CALLS = [
    f"delete failed message_id={ID}: InternalError",
    f"Deleting failed message {ID} now",
    f"changing visibility failed message_id={ID}",
    f"no error; next message {ID}",
    f"failed {ID[:20]}",
    f"charge-failed-{ID}",
]


@pytest.mark.parametrize("line", OF_OTHER_CALLS)
def test_what_failed_was_not_the_handling_of_the_message(line):
    assert worker(line) is None


@pytest.mark.parametrize("line", ["the handler returned error 502", f"Moving message '{ID}' to the error table"])
def test_what_only_sounds_like_a_framework_is_none(line):
    assert worker(line) is None


@pytest.mark.parametrize("line", ["Registered handlers for SIGTERM and SIGINT", "listening for SIGTERM"])
def test_who_would_hear_of_a_stop_was_not_told_to(line):
    assert worker(line) is None


def test_an_exception_of_aws_client_tells_of_its_own_call():
    line = '[2026-11-20 12:00:00] production.ERROR: refused {"exception":"[object] (Aws\\\\Sqs\\\\Exception\\\\SqsException(code: 0)'

    assert worker(line) is None


@pytest.mark.parametrize(("line", "expected"), SAID.values(), ids=SAID)
def test_a_framework_says_of_its_messages(line, expected):
    said = worker(line)

    assert said is not None
    assert (said.format, said.event, said.message_id, said.more_ids) == expected


HIDES = {
    "Shoryuken extends": (f"TID-x DEBUG: Extending message pay/{ID} visibility timeout by 30s", 30),
    "Shoryuken backs off": (f"Message {ID} failed, will be retried in 75 seconds", 75),
    "a heartbeat": (f"heartbeat: message {ID} visibility set to 60s", 60),
    "a team's words": (f"extended visibility timeout of message {ID} to 300 seconds", 300),
    "a JSON line": (f'{{"msg": "ChangeMessageVisibility", "messageId": "{ID}", "visibilityTimeout": 300}}', 300),
    "a release": (f"{ID}: visibility changed, VisibilityTimeout=0", 0),
    "a change that failed": (f"failed to extend visibility of {ID} by 60 s", None),
    "one that AWS refused": (f"set visibility of {ID} to 60 s: The receipt handle has expired", None),
    "no change": (f"Received {ID}, visibility timeout: 30", None),
    "no message": ("extended visibility timeout by 60 seconds", None),
    "no number of seconds": (f"extended visibility of {ID} for worker 12", None),
}


@pytest.mark.parametrize(("line", "seconds"), HIDES.values(), ids=HIDES)
def test_for_how_long_a_worker_says_that_it_hid_a_message(line, seconds):
    said = worker(line)

    assert (said and said.visibility_s) == seconds


def test_a_refused_extension_is_told():
    lines = (
        f"Could not auto extend the message pay/{ID} visibility timeout. Error: gone",
        "Error changing visibility timeout: x",
    )

    assert [worker(line).event for line in lines] == ["visibility_refused"] * 2


@pytest.mark.parametrize(
    "text", ["visibility set " * 50_000 + ID, f"set visibility for 3 {ID}" * 5_000, "visibility" * 50_000]
)
def test_no_line_makes_looking_for_a_change_of_visibility_slow(text):
    assert grows_with_its_input(worker, text)
