"""What the line under the navigation says of how much was read."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from forensics.coverage import UNSURE_WHEN
from pages._ui import completeness
from pages._ui.coverage import Gap, by_day

pytestmark = pytest.mark.page

AT = datetime(2026, 11, 20, tzinfo=UTC)
FILES = Gap("log_events", "worker", AT, AT, "from files (1 file)")
DENIED = Gap("queue_settings", "orders", AT, AT, "AccessDenied")
SAID = {
    "all was read": (1.0, [], None, "100 % of the evidence read"),
    "files alone": (0.0, [FILES], None, "read from files, in part"),
    "files, and a call that was denied": (0.0, [FILES, DENIED], None, "0 % of the evidence read"),
    "files, and a part that was collected": (0.5, [FILES], None, "50.0 % of the evidence read"),
    "logs left out": (1.0, [], AT, "evidence checked in part"),
}


@pytest.mark.parametrize(("share", "gaps", "since", "said"), SAID.values(), ids=SAID)
def test_the_share_that_was_read_is_said(share, gaps, since, said, monkeypatch):
    monkeypatch.setattr(completeness, "_read", lambda board: (share, gaps))

    assert completeness.read_share(board(since)) == said


def board(since=None):
    return SimpleNamespace(generation=SimpleNamespace(data_since_at=since))


def of_files(**values):
    row = {"source": "log_events", "resource": "worker", "queue_arn": "arn:aws:sqs:eu-west-1:111122223333:orders"}
    row |= {"window_start_at": AT, "window_end_at": AT + timedelta(hours=1), "collected_at": AT + timedelta(days=1)}
    return row | {"status": "partial", "detail": "from files: what else was logged there is not known"} | values


TOLD = {
    "log lines": (FILES, "worker: 00:00 to 00:00 UTC is known from files; what else was logged then is not, unless "),
    "an idempotency table": (
        Gap("guard_records", "idempotency", AT, AT, UNSURE_WHEN),
        "idempotency is known from files; when the table was read is not, unless an import with --observed-at says so",
    ),
    "a table that nobody may read": (
        Gap("guard_records", "idempotency", AT, AT, "AccessDenied"),
        "idempotency: 00:00 to 00:00 UTC was not read (AccessDenied)",
    ),
}


@pytest.mark.parametrize(("gap", "said"), TOLD.values(), ids=TOLD)
def test_the_note_says_of_files_what_they_do_not_tell(gap, said):
    assert completeness._words(gap, ToTheMinute()).startswith(said)


class ToTheMinute:
    def minute(self, at):
        return f"{at:%H:%M}"

    def label(self, at=None):
        return "UTC"


SHOWN = {
    "files alone": ([of_files()], "not known", "files"),
    "files, and what could not be read": (
        [of_files(), of_files(resource="b", status="denied", detail="AccessDenied")],
        "0 %",
        "missing",
    ),
    "what was read in part otherwise": ([of_files(detail="2 replies were left out")], "0 %", "missing"),
    "an idempotency table": ([of_files(source="guard_records", detail=UNSURE_WHEN)], "not known", "files"),
    "what a person vouched for": ([of_files(status="ok", detail=None)], "100 %", "complete"),
}


@pytest.mark.parametrize(("coverage", "value", "day"), SHOWN.values(), ids=SHOWN)
def test_of_files_no_share_is_told(coverage, value, day, monkeypatch):
    shown = []
    monkeypatch.setattr(completeness, "card", lambda grid, label, value, help=None: shown.append((label, value)))

    completeness.share_card(None, coverage, board(), None)

    assert shown == [("Evidence complete", value)]
    assert by_day(coverage) == {("orders", AT.date()): day}


def test_a_look_up_of_one_call_is_a_day_of_cloudtrail():
    asked = of_files(source="setting_changes", queue_arn=None, status="ok", detail=None)
    coverage = [
        asked | {"resource": "CloudTrail"},
        asked | {"resource": "CloudTrail UpdateFunctionConfiguration20150331v2"},
    ]

    assert by_day(coverage) == {("CloudTrail", AT.date()): "complete"}
    assert by_day([coverage[0], coverage[1] | {"status": "denied"}]) == {("CloudTrail", AT.date()): "partial"}
