"""What a framework says of the end of a job."""

import json

import pytest

from forensics.parsers.workers import worker

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
