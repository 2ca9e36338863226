"""The grammar on recorded lines: what each must be read as stands beside it in its data file."""

import pytest

from forensics.parsers import parse_line
from forensics.parsers.line import NO_STATUS
from tests.forensics.parsers.lines import recorded, sample_lines

PLATFORM = [r for r in recorded("lambda-text.jsonl") if isinstance(r.get("expected"), dict)]
READ = ("request_id", "duration_ms", "status", "error_type", "timeout_s", "init_ms", "phase")


@pytest.mark.parametrize("row", PLATFORM, ids=[f"{n}-{r['kind']}" for n, r in enumerate(PLATFORM)])
def test_a_recorded_platform_line_is_read_as_told(row):
    parsed = parse_line(row["message"])
    expected = {name: value for name, value in row["expected"].items() if name in READ}
    expected |= {"status": expected["status"].lower()} if expected.get("status") else {}

    assert {name: getattr(parsed, name) for name in expected} == expected


ERRORS = recorded("receipt-handle-errors.jsonl")


@pytest.mark.parametrize("row", ERRORS, ids=[f"{n}-{r['kind']}" for n, r in enumerate(ERRORS)])
def test_a_recorded_handle_error_is_classified_as_told(row):
    found = parse_line(row["message"]).handle_error
    reason = (row.get("expected") or {}).get("reason")

    if row["kind"] != "receipt_handle_error":
        assert found is None
    else:
        assert found is not None
        assert found.reason == reason


EXITS = {
    "on a line of its own": ("exit status 1\nRuntime.ExitError", ("exit status 1", "Runtime.ExitError")),
    "on the line of its cause": ("exit status 1 Runtime.ExitError\n", ("exit status 1", "Runtime.ExitError")),
    "behind a tab": ("signal: killed\tRuntime.ExitError", ("signal: killed", "Runtime.ExitError")),
    "not at all": ("signal: killed", ("signal: killed", None)),
    "named inside the cause": ("Runtime.Foo was met: exit 2", ("Runtime.Foo was met: exit 2", None)),
}


@pytest.mark.parametrize(("said", "expected"), EXITS.values(), ids=EXITS)
def test_the_error_type_of_an_exit_is_read_wherever_it_stands(said, expected):
    parsed = parse_line(f"RequestId: 9f294aed-ba7e-49fe-a1b9-9a7ad6313712 Error: Runtime exited with error: {said}")

    assert (parsed.kind, parsed.error_text, parsed.error_type) == ("runtime_error", *expected)


UNCAUGHT = recorded("uncaught-errors.jsonl")


@pytest.mark.parametrize("row", UNCAUGHT, ids=[f"{n}-{r['kind']}" for n, r in enumerate(UNCAUGHT)])
def test_a_runtimes_own_report_of_an_error_is_told_from_one_that_was_caught_and_logged(row):
    parsed = parse_line(row["message"])

    assert (parsed.kind, parsed.error_type) == (row["kind"], row["error_type"])


def test_every_recorded_line_is_read_without_an_error():
    kinds = {parse_line(line).kind for line in sample_lines()}

    assert {"start", "end", "report", "timeout", "runtime_error", "handle_error", "app"} <= kinds


def test_a_report_of_the_platform_without_a_status_is_none_of_a_success():
    line = '{"time":"2026-11-20T05:00:00Z","type":"platform.report","record":{"requestId":"a","metrics":{"durationMs":5.0}}}'

    assert parse_line(line).status == NO_STATUS
    assert parse_line(line.replace("report", "start")).status is None
