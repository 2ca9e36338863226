import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from forensics.commands import in_lake
from forensics.coverage import UNSURE_WHEN
from forensics.errors import LakeMissingError
from forensics.lake import Lake
from forensics.language import Language
from forensics.report.lake_status import bytes_below, is_complete, lake_status, queue_records, source_statuses
from forensics.report.log_readiness import not_checked_text, readiness_lines
from forensics.report.records import plain_value
from forensics.tables.evidence import LOG_EVENTS
from tests.forensics.report import world
from tests.pages.english import english_in

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def reading(number, start_h, end_h, status="ok", provisional=False):
    return {
        "evidence_id": f"coverage:{number}",
        "queue_arn": "arn:aws:sqs:eu-west-1:111122223333:orders",
        "source": "log_events",
        "resource": "/ecs/orders",
        "window_start_at": NOON + timedelta(hours=start_h),
        "window_end_at": NOON + timedelta(hours=end_h),
        "status": status,
        "detail": None if status == "ok" else "ThrottlingException",
        "seen_count": 1,
        "stored_count": 1,
        "is_provisional": provisional,
        "collected_at": NOON + timedelta(hours=10, minutes=number),
    }


WHOLE = {
    "read in full": ([reading(1, 0, 1), reading(2, 1, 2)], True),
    "nothing was asked for": ([], True),
    "an hour between": ([reading(1, 0, 1), reading(2, 2, 3)], False),
    "denied": ([reading(1, 0, 1), reading(2, 1, 2, "denied")], False),
    "its end may still change": ([reading(1, 0, 1, provisional=True)], False),
}


@pytest.mark.parametrize(("coverage", "is_whole"), WHOLE.values(), ids=WHOLE)
def test_what_was_asked_for_was_read_in_full(coverage, is_whole):
    of_no_queue = [row | {"queue_arn": None} for row in coverage]

    assert is_complete(coverage) is is_complete(coverage, "orders") is is_complete(of_no_queue, "orders") is is_whole
    assert is_complete(coverage, "mails")


def test_a_failed_reading_leaves_a_gap_and_its_error():
    (status,) = source_statuses([reading(1, 0, 1), reading(2, 1, 2, "failed"), reading(3, 2, 3)])

    assert status.gaps == ((NOON + timedelta(hours=1), NOON + timedelta(hours=2)),)
    assert (status.status, status.read_until_at) == ("ok", NOON + timedelta(hours=3))


def test_the_newest_reading_says_the_state():
    (status,) = source_statuses([reading(1, 0, 1), reading(2, 1, 2, "failed")])

    assert (status.status, status.detail) == ("failed", "ThrottlingException")
    assert status.read_until_at == NOON + timedelta(hours=1)


def test_what_was_read_from_files_is_not_called_unreadable(lake):
    files = reading(1, 0, 1, "partial") | {"detail": "from files: what else was logged there is not known"}
    sources = source_statuses([files])
    told = " ".join(replace(lake_status(lake), sources=sources).sentences())

    assert not sources[0].is_not_readable
    assert "1 source read from files; whether they hold everything is not known" in told
    assert "could not be read" not in told
    assert "--complete-since --lake" not in in_lake(told, "/lake")
    (row,) = queue_records(sources)
    assert row["evidence"] == "1 source from files"
    assert (row["read_from"], row["read_until"]) == ("2026-11-20 12:00", "2026-11-20 13:00")
    assert source_statuses([reading(1, 0, 1, "partial")])[0].is_not_readable


def test_of_an_idempotency_table_from_files_it_is_said_that_nobody_knows_when_it_was_read(lake):
    table = reading(1, 0, 1, "partial") | {"source": "guard_records", "resource": "idempotency", "detail": UNSURE_WHEN}
    told = " ".join(replace(lake_status(lake), sources=source_statuses([table])).sentences())

    assert (
        "1 idempotency table read from files; when is not known, unless an import with `--observed-at` says so" in told
    )
    assert "whether they hold everything" not in told
    assert "could not be read" not in told


def test_an_end_is_provisional_until_it_was_read_again():
    fresh = [reading(1, 0, 1, provisional=True)]

    assert source_statuses(fresh)[0].provisional
    assert not source_statuses([*fresh, reading(2, 0, 1)])[0].provisional


def test_the_lake_says_its_rows_size_and_data_version(lake):
    status = lake_status(lake)

    assert status.evidence_rows["log_events"] == len(world.lines())
    assert status.size_bytes > 0
    assert status.as_record()["findings_rows"]["messages"] == 3
    assert not status.is_stale


@pytest.mark.lake
def test_evidence_newer_than_the_findings_is_told(tmp_path):
    lake = world.save(tmp_path / "lake")
    extra = world.lines()[0] | {"evidence_id": "log:new", "event_id": "new"}
    lake.append(LOG_EVENTS, [extra], "test|more")

    status = lake_status(lake)

    assert status.is_stale
    assert any("doubletake correlate" in line for line in status.sentences())


@pytest.mark.lake
def test_logs_that_the_findings_leave_out_are_told(tmp_path):
    lake = world.save(tmp_path / "lake")
    world.publish(lake, {}, "run-2", data_since_at=world.after(0))
    status = lake_status(lake)

    assert status.as_record()["data_since_at"] == plain_value(world.after(0))
    assert any("are left out of data version run-2" in line for line in status.sentences())


def test_there_is_no_status_of_no_lake(tmp_path):
    with pytest.raises(LakeMissingError):
        lake_status(Lake(tmp_path / "nothing"))


def test_a_file_under_two_names_counts_once(tmp_path):
    """Findings that still hold are linked from one run to the next."""
    (tmp_path / "run-1").mkdir()
    (tmp_path / "run-2").mkdir()
    (tmp_path / "run-1" / "a.parquet").write_bytes(b"12345")
    (tmp_path / "run-2" / "a.parquet").hardlink_to(tmp_path / "run-1" / "a.parquet")

    assert bytes_below(tmp_path) == 5


def test_all_of_it_is_said_in_another_language_by_its_phrases(lake):
    sources = source_statuses(
        [reading(1, 0, 1), reading(2, 1, 2, "failed"), reading(3, 2, 3), reading(4, 3, 4, "failed")]
    )
    status = replace(lake_status(lake), sources=sources, grown_rows=1_200)
    told = [*status.sentences(), *readiness_lines(lake), *(row["evidence"] for row in queue_records(sources))]
    told += [not_checked_text("orders", "ship")]
    names = r"/ecs/orders|log_\w+|queue_settings|\w+_points|\w+_settings|\w+_mappings|consumers|coverage|\w+_events|deliveries|messages|incidents|charge-card|payments|ship|orders|doubletake status --sources"

    assert [str(text) for text in told if english_in(re.sub(names, "", Language("ja").sentence(text)))] == []
    assert len(told) > 6
    assert Language("ja").sentence(queue_records(sources)[0]["evidence"]) == "取得元 1 件：失敗しました、欠落 1 件"
