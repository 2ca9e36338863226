"""What became of messages since a moment: runs that ended at once are all runs since, however they ended."""

from datetime import UTC, datetime

from forensics.redrive.since import Since, _Run

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def test_runs_that_ended_at_once_need_no_order():
    since = Since([_Run(NOON, None), _Run(NOON, "timeout"), _Run(NOON, None)], [], [], None, None)

    assert [run.status for run in since._runs] == [None, "timeout", None]
