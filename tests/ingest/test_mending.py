"""A file that was mended and imported again: what it left in quarantine is cleared, and nothing else is."""

import gzip
from dataclasses import replace

import pytest

from forensics.lake import Lake
from forensics.lake.findings import rows_of
from forensics.quarantine import quarantine_records, standing_pieces
from forensics.report.lake_status import lake_status
from forensics.sentence import plain
from forensics.tables.evidence import QUARANTINE
from ingest.file_run import ImportChoices
from ingest.files import import_files
from ingest.mending import Mending

pytestmark = pytest.mark.lake

GOOD = b"2026-11-20T05:12:00.000Z fine\n"
BAD = b"2026-11-20T05:12:01.000Z ung\xfcltige PLZ 70372\n"
MENDED = BAD.decode("latin-1").encode()
OTHER = b"2026-11-21T05:12:00.000Z another day\n"
UTF_16 = (GOOD + MENDED).decode().encode("utf-16-le")


def imported(tmp_path, content, name="worker.log"):
    (tmp_path / "logs").mkdir(exist_ok=True)
    (tmp_path / "logs" / name).write_bytes(content)
    return import_files(Lake(tmp_path / "lake"), [tmp_path / "logs"], ImportChoices(log_groups=("g",)))


def standing(tmp_path):
    return standing_pieces(rows_of(Lake(tmp_path / "lake").read(QUARANTINE)))


def test_a_piece_in_quarantine_names_its_file_and_line(tmp_path):
    imported(tmp_path, GOOD + b"  at a stack\n" + BAD)
    (row,) = standing(tmp_path)

    assert (row["file"], row["line_number"], row["offset"]) == ("worker.log", 3, 1)


def test_lines_above_the_first_time_name_the_first_of_them_that_says_something(tmp_path):
    imported(tmp_path, b"\n\nno time\nnone here\n" + GOOD)

    assert [row["line_number"] for row in standing(tmp_path)] == [3]


AGAIN = {
    "mended": (GOOD + BAD, GOOD + MENDED, 0),
    "without the line": (GOOD + BAD, GOOD, 0),
    "as it was": (GOOD + BAD, GOOD + BAD, 1),
    "grown, and not mended": (GOOD + BAD, GOOD + BAD + OTHER, 1),
    "mended where nothing of it could be read": (BAD, MENDED, 0),
    "another file of that name": (GOOD + BAD, OTHER, 1),
    "another file of that name, of which nothing could be read before": (BAD, OTHER, 1),
}


@pytest.mark.parametrize(("first", "again", "left"), AGAIN.values(), ids=AGAIN)
def test_what_stands_after_a_file_is_imported_again(tmp_path, first, again, left):
    imported(tmp_path, first)
    assert len(standing(tmp_path)) == 1
    report = imported(tmp_path, again)

    assert len(standing(tmp_path)) == left
    assert report.cleared_count == 1 - left
    assert imported(tmp_path, again).cleared_count == 0


def test_a_line_that_another_file_still_holds_stands(tmp_path):
    imported(tmp_path, GOOD + BAD)
    imported(tmp_path, OTHER + BAD, "other.log")
    imported(tmp_path, GOOD + MENDED)

    assert [row["file"] for row in standing(tmp_path)] == ["other.log"]


def test_a_line_that_is_spoiled_once_more_stands_again_and_can_be_cleared_again(tmp_path):
    counts = []
    for content in (BAD, MENDED, BAD, BAD, MENDED, BAD):
        imported(tmp_path, GOOD + content)
        counts.append(len(standing(tmp_path)))

    assert counts == [1, 0, 1, 1, 0, 1]


def test_a_file_that_breaks_off_clears_nothing_and_is_cleared_when_it_is_read_whole(tmp_path):
    whole = gzip.compress(b"".join(b"2026-11-20T05:%02d:00.000Z took %d\n" % (n % 60, n * 7919) for n in range(400)))
    imported(tmp_path, whole[:-40], "worker.log.gz")
    assert len(standing(tmp_path)) == 1
    imported(tmp_path, whole[:-30], "worker.log.gz")
    broken = len(standing(tmp_path))
    imported(tmp_path, whole, "worker.log.gz")

    assert (broken, standing(tmp_path)) == (1, [])


def older(tmp_path, monkeypatch):
    """Write a quarantine row as a release without these columns did."""
    new = ("file", "line_number", "replaces", "is_cleared")
    table = replace(QUARANTINE, columns=tuple(c for c in QUARANTINE.columns if c.name not in new))
    with monkeypatch.context() as as_it_was:
        as_it_was.setattr(Mending, "piece", lambda _, row, __: row)
        (tmp_path / "first").mkdir()
        imported(tmp_path / "first", GOOD + BAD)
    (row,) = rows_of(Lake(tmp_path / "first" / "lake").read(QUARANTINE))
    lake = Lake(tmp_path / "lake")
    lake.append(table, [{name: value for name, value in row.items() if name not in new}], "quarantine|import")
    return lake


OLDER = {"mended": (MENDED, 0, None), "as it was": (BAD, 1, "worker.log"), "another": (OTHER, 1, None)}


@pytest.mark.parametrize(("again", "left", "file"), OLDER.values(), ids=OLDER)
def test_a_row_of_an_older_lake_that_names_no_file_is_read_cleared_or_given_its_file(
    tmp_path, again, left, file, monkeypatch
):
    lake = older(tmp_path, monkeypatch)
    assert lake_status(lake).evidence_rows == {"quarantine": 1}
    imported(tmp_path, GOOD + again)
    told = standing(tmp_path)

    assert (len(told), [row["file"] for row in told]) == (left, [file] * left)


def test_the_same_imports_leave_the_same_rows(tmp_path):
    told = []
    for folder in ("a", "b"):
        for content in (GOOD + BAD, GOOD + MENDED, GOOD + BAD):
            imported((tmp_path / folder), content) if (tmp_path / folder).exists() else (tmp_path / folder).mkdir()
        rows = rows_of(Lake(tmp_path / folder / "lake").read(QUARANTINE))
        told.append(sorted((row["evidence_id"], row["replaces"] or "") for row in rows))

    assert told[0] == told[1]


def test_status_says_which_file_and_line_and_what_is_wrong(tmp_path):
    imported(tmp_path, GOOD + BAD + BAD.replace(b"70372", b"10115"))
    status = lake_status(Lake(tmp_path / "lake"))
    (record,) = status.quarantined
    told = [plain(sentence) for sentence in status.sentences()]

    assert (record["file"], record["count"], record["first_line"]) == ("worker.log", 2, 2)
    assert any(line.startswith("In quarantine: 2 pieces of worker.log, first in line 2: the message") for line in told)
    assert status.as_record()["quarantined"] == [record]

    imported(tmp_path, GOOD + MENDED + MENDED.replace(b"70372", b"10115"))
    cleared = lake_status(Lake(tmp_path / "lake"))
    assert "quarantine" not in cleared.evidence_rows
    assert not any("quarantine" in plain(sentence) for sentence in cleared.sentences())


def test_of_many_files_the_worst_are_named_and_the_rest_counted():
    rows = [
        {
            "evidence_id": f"{n}",
            "resource": "g",
            "reason": "bad",
            "offset": n,
            "file": f"{n % 7}.log",
            "line_number": None,
        }
        for n in range(21)
    ]
    records = quarantine_records(rows)

    assert [record["count"] for record in records] == [3] * 7
