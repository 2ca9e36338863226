"""What the emulator says of a run becomes what AWS would have kept."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lab.function_logs import EmulatedRun, aws_lines

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "lab" / "emulator_run_logs.json").read_text())
REQUEST = "2530817c-8268-4fcf-bf32-eba83b866c85"
ENDED = datetime(2026, 11, 21, 13, 24, 48, 243_000, UTC)


def lines(kind: str, duration_ms: float = 2617, failed: bool = True) -> list[tuple[str, str]]:
    run = EmulatedRun(REQUEST, RECORDED[kind], ENDED, duration_ms, 2, 128, failed)
    return [(line.at.strftime("%S.%f")[:-3], line.text) for line in aws_lines(run, "stream")]


def test_a_timeout_is_told_as_aws_tells_it_today():
    told = lines("timed out")

    assert not any("Task timed out" in text for _, text in told)
    assert told[-1][1].endswith("\tStatus: timeout\n")
    assert "Duration: 2000.00 ms" in told[-1][1]


def test_lines_have_the_times_that_they_carry_and_the_others_follow():
    assert [at for at, _ in lines("timed out")] == ["46.100", "46.100", "46.100", "47.250", "48.243", "48.243"]


def test_a_run_starts_before_its_first_line():
    [(start, first), *_] = lines("raised", 400)

    assert first == f"START RequestId: {REQUEST} Version: $LATEST\n"
    assert start == "47.843"


def test_a_traceback_is_one_event_with_type_and_text():
    errors = [text for _, text in lines("raised", 400) if "Traceback" in text]

    assert len(errors) == 1
    assert errors[0].startswith("[ERROR] ValueError: bad body\nTraceback")
    assert not any("_worker.py" in text for _, text in lines("raised", 400))


@pytest.mark.parametrize("kind", RECORDED)
def test_every_run_has_start_end_and_report_in_order_of_time(kind):
    told = lines(kind)

    assert [text.split(" ")[0] for _, text in (told[0], *told[-2:])] == ["START", "END", "REPORT"]
    assert [at for at, _ in told] == sorted(at for at, _ in told)


def test_a_silent_success_reports_no_status():
    assert "Status:" not in lines("silent", 120, failed=False)[-1][1]
