"""Which findings are kept: what the newest generations name, whatever the clock said when they were made."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from forensics.lake import Lake, commits, handles, to_arrow
from forensics.lake.doctor import heal
from forensics.lake.forgetting import KEEP_GENERATIONS, forget_generations, nameless_folders
from forensics.tables.evidence import LOG_EVENTS
from forensics.tables.findings import INCIDENTS, MESSAGES

pytestmark = pytest.mark.lake

T = datetime(2026, 11, 20, 5, tzinfo=UTC)
AHEAD = T + timedelta(days=400)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path / "lake")
    lake.append(LOG_EVENTS, [{"evidence_id": "log:1", "logged_at": T, "collected_at": T}], "log_events|/g")
    return lake


def run_id(at: datetime) -> str:
    """Name a run as a correlation does: by its clock."""
    return f"{at:%Y%m%dT%H%M%S%fZ}-0badcafe"


def stage(lake: Lake, at: datetime, count: int) -> None:
    for table in (MESSAGES, INCIDENTS):
        folder = lake.staging_folder(table, run_id(at))
        folder.mkdir(parents=True)
        rows = [{table.key[0]: f"{at}-{n}"} for n in range(count)]
        pq.write_table(to_arrow(table, rows), folder / "part-0.parquet")


def correlate(lake: Lake, at: datetime, count: int) -> None:
    """Publish findings and forget old ones, as a run whose clock says ``at`` does."""
    stage(lake, at, count)
    about = {"generation_id": f"{at}", "inputs": lake.versions(), "rules_version": "1", "data_until_at": T}
    lake.publish(run_id(at), about, (MESSAGES, INCIDENTS))
    forget_generations(lake)


def shown(lake: Lake) -> tuple[int, int]:
    findings = lake.findings()
    return findings.read(MESSAGES).num_rows, findings.read(INCIDENTS).num_rows


def staged(lake: Lake) -> set[str]:
    return {folder.name for table in (MESSAGES, INCIDENTS) for folder in (lake.path(table) / "data").iterdir()}


@pytest.mark.parametrize("ahead", [KEEP_GENERATIONS, KEEP_GENERATIONS + 3])
def test_a_run_whose_clock_was_set_back_keeps_what_it_has_just_published(lake, ahead):
    for number in range(ahead):
        correlate(lake, AHEAD + timedelta(minutes=number), count=1)
    for number in range(2, KEEP_GENERATIONS + 2):
        correlate(lake, T + timedelta(minutes=number), count=number)

        assert shown(lake) == (number, number)
    assert staged(lake) == {run_id(T + timedelta(minutes=n)) for n in range(2, KEEP_GENERATIONS + 2)}


def test_the_newest_generations_stay_readable_and_older_ones_are_forgotten(lake):
    clock = [
        AHEAD,
        T,
        AHEAD + timedelta(days=1),
        T - timedelta(days=1),
        T + timedelta(days=2),
        T,
        AHEAD - timedelta(days=9),
    ]
    for number, at in enumerate(clock):
        correlate(lake, at + timedelta(seconds=number), count=number + 1)
    kept = lake.generations(KEEP_GENERATIONS)

    assert [g.row_counts["messages"] for g in kept] == [7, 6, 5, 4, 3]
    assert [lake.read(MESSAGES, version=g.versions["messages"]).num_rows for g in kept] == [7, 6, 5, 4, 3]
    assert len(staged(lake)) == KEEP_GENERATIONS


def test_an_earlier_version_is_not_opened_to_be_kept(lake, monkeypatch):
    for number in range(KEEP_GENERATIONS + 1):
        correlate(lake, T + timedelta(minutes=number), count=number)
    seen, files = [], Lake.files
    monkeypatch.setattr(
        Lake,
        "files",
        lambda self, table, version=None: seen.append((table.name, version)) or files(self, table, version),
    )

    assert nameless_folders(lake, keep=1) != []
    assert not [version for name, version in seen if name != "generations"]


def test_to_know_what_is_kept_no_table_is_opened(lake):
    correlate(lake, T, count=1)
    handles._opened.clear()

    assert nameless_folders(lake) == []
    assert not handles._opened


def test_a_table_of_findings_that_was_only_added_to_is_asked_for_its_files(lake):
    for minutes in range(2):
        correlate(lake, T + timedelta(minutes=minutes), count=1)
    kept = max((lake.path(MESSAGES) / "data").iterdir())
    (commit,) = (
        file for file in commits.log_folder(lake.path(MESSAGES)).glob("*.json") if "Overwrite" in file.read_text()
    )
    commit.write_text(commit.read_text().replace('"Overwrite"', '"Append"'))

    assert commits.replaced_by(lake.path(MESSAGES), lake.versions((MESSAGES,))["messages"]) is None
    forget_generations(lake)
    assert kept.is_dir()


def test_what_a_killed_run_staged_is_swept_by_the_next_and_counts_as_no_generation(lake):
    for number in range(KEEP_GENERATIONS):
        correlate(lake, T + timedelta(minutes=number), count=1)
    for number in range(KEEP_GENERATIONS):
        stage(lake, AHEAD + timedelta(minutes=number), count=1)
    correlate(lake, T + timedelta(hours=1), count=2)

    assert staged(lake) == {run_id(T + timedelta(minutes=n)) for n in range(1, KEEP_GENERATIONS)} | {
        run_id(T + timedelta(hours=1))
    }
    assert len([g for g in lake.generations() if g.row_counts]) > KEEP_GENERATIONS


def test_what_a_killed_run_staged_is_swept_by_the_doctor_who_says_so(lake):
    correlate(lake, T, count=1)
    stage(lake, AHEAD, count=3)
    (repair,) = heal(lake).repairs

    assert repair.is_mended
    assert "staged by a correlation that never published them removed" in repair.sentence
    assert run_id(AHEAD) in repair.sentence
    assert shown(lake) == (1, 1)
    assert staged(lake) == {run_id(T)}
    assert heal(lake).repairs == ()


def test_a_first_run_that_was_killed_before_it_published_anything_is_swept_too(lake):
    stage(lake, T, count=3)
    heal(lake)

    assert staged(lake) == set()


def test_a_run_that_was_killed_while_it_published_is_no_damage(lake, monkeypatch):
    correlate(lake, T, count=1)
    replace = Lake._replace

    def replace_then_die(self, table, *told):
        if table is INCIDENTS:
            raise KeyboardInterrupt
        return replace(self, table, *told)

    monkeypatch.setattr(Lake, "_replace", replace_then_die)
    with pytest.raises(KeyboardInterrupt):
        correlate(lake, T + timedelta(hours=1), count=5)
    monkeypatch.setattr(Lake, "_replace", replace)
    for _ in range(2):
        assert all("never published" in repair.sentence for repair in heal(lake).repairs)
        assert shown(lake) == (1, 1)
