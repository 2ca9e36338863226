"""Files first, the API later: the same events, in whatever pages and however often, stay one."""

from datetime import timedelta

import pytest

from forensics.window import TimeWindow
from ingest import log_events
from ingest.file_run import ImportChoices
from ingest.files import import_files
from ingest.log_events import LogGroup
from tests.ingest import saved_files
from tests.ingest.stand_ins import AsModelled
from tests.ingest.test_files import ACCOUNT, FORMS, GROUP, REGION, ROWS, SAID, START, events_of, expected, row

pytestmark = pytest.mark.lake

HOUR = TimeWindow(START, START + timedelta(hours=1))


class Pages(AsModelled):
    """Gives FilterLogEvents' replies, so many events a page, some pages twice."""

    def __init__(self, rows: list[dict], size: int = 3, again: bool = False) -> None:
        events = [
            {
                "logStreamName": r["log_stream"],
                "timestamp": saved_files.ms(r["logged_at"]),
                "message": r["line"],
                "ingestionTime": saved_files.ms(r["ingested_at"]),
                "eventId": r["event_id"],
            }
            for r in rows
        ]
        self.pages = (
            [list(page) for page in (events[n : n + size] for n in range(0, len(events), size))] if size else [events]
        )
        if again:
            self.pages = [page for page in self.pages for _ in range(2)]

    def call(self, service: str, operation: str, demand: str, **asked):
        number = int(asked.get("nextToken", "0"))
        following = {"nextToken": str(number + 1)} if number + 1 < len(self.pages) else {}
        return {"events": self.pages[number], **following}


def read_api(lake, rows, **how):
    group = LogGroup(GROUP, ACCOUNT, REGION, (), Pages(rows, **how))
    return log_events.ingest(lake, group, HOUR, START + timedelta(hours=2))


@pytest.mark.parametrize("again", [False, True], ids=["each page once", "each page twice"])
@pytest.mark.parametrize("append_rows", [1, 50_000], ids=["a commit per page", "one commit"])
@pytest.mark.parametrize("form", FORMS)
def test_what_a_file_brought_the_api_does_not_bring_again(form, append_rows, again, lake, tmp_path, monkeypatch):
    monkeypatch.setattr(log_events, "APPEND_ROWS", append_rows)
    import_files(lake, [FORMS[form](tmp_path)], SAID)
    reading = read_api(lake, ROWS, again=again)

    assert reading.stored_count == 0
    assert reading.seen_count == reading.already_count
    assert events_of(lake) == expected()


def test_what_a_file_lacked_the_api_adds_and_a_second_reading_adds_nothing(lake, tmp_path):
    equal = [row(n, "charged", after_ms=0, order=n) for n in range(4)]
    import_files(lake, [saved_files.export(equal[:2], tmp_path / "e")], SAID)
    first = read_api(lake, equal)
    second = read_api(lake, list(reversed(equal)))

    assert (first.stored_count, second.stored_count) == (2, 0)
    assert len(events_of(lake)) == 4


def test_a_log_that_was_imported_under_its_file_name_is_known_to_the_api(lake, tmp_path):
    rows = [row(n, f"2026-11-20T05:12:00.{n:03d}Z took {n}", stream="ecs/worker/1f") for n in range(5)]
    (tmp_path / "worker.log").write_text("\n".join(r["line"] for r in rows))
    import_files(lake, [tmp_path / "worker.log"], ImportChoices(log_groups=(GROUP,)))
    reading = read_api(lake, rows)

    assert (reading.stored_count, reading.already_count) == (0, 5)
