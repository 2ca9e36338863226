"""Evidence that comes in rounds is judged as if it had come at once, whatever an earlier run left behind."""

import json
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from forensics.counting import fifo_groups, hashes, members
from forensics.counting import plans as unit_plans
from forensics.errors import CacheDamagedError
from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import BY_NAME, FINDINGS
from forensics.tables.evidence import LOG_EVENTS
from spark_jobs import publish, runner, telling
from spark_jobs.cache import Cache
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import TABLES, settings_of
from tests.spark_jobs import redriven, small_worlds
from tests.spark_jobs.small_lake import SmallLake, at, record, run, some_id
from tests.spark_jobs.thought_up import plans

pytestmark = pytest.mark.slow

UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)
"""A smaller world costs as much to judge: looking for one took minutes."""

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module", autouse=True)
def small_parts_are_taken_as_one():
    """Let a world's few hashes lie together as those of a long history do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashes, "_LOOSE", 40)
        patch.setattr(fifo_groups, "RUNS_SPARED", 2)
        patch.setattr(unit_plans, "ROWS_PER_UNIT", 15)
        patch.setattr(members, "VERDICTS_SPARED", 8)
        patch.setattr(telling, "ROWS_SPARED", 2)
        yield


def evidence_of(worlds: list[World], *others: Rows) -> Rows:
    """Return the rows of worlds and others, by table."""
    told = [{name: world.rows(name) for name in TABLES} for world in worlds] + list(others)
    names = dict.fromkeys(name for rows in told for name in rows)
    return {name: [row for rows in told for row in rows.get(name, ())] for name in names}


def in_rounds(evidence: Rows, count: int, rng: random.Random) -> list[Rows]:
    """Cut evidence into rounds: each stream at some places or nowhere, some lines late, other rows in any round."""
    rounds: list[Rows] = [{name: [] for name in evidence} for _ in range(count)]
    by_stream: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in evidence.get(LOG_EVENTS.name, ()):
        by_stream.setdefault((row["log_group"], row["log_stream"]), []).append(row)
    for lines in by_stream.values():
        lines.sort(key=lambda row: (row["logged_at"], row["order_in_ms"]))
        borders = [rng.choice((0, len(lines), rng.randrange(len(lines) + 1))) for _ in range(count - 1)]
        for place, row in enumerate(lines):
            number = sum(place >= border for border in borders)
            is_late = rng.random() < 0.02
            rounds[rng.randrange(number, count) if is_late else number][LOG_EVENTS.name].append(row)
    for name, rows in evidence.items():
        if name != LOG_EVENTS.name:
            for row in rows:
                rounds[rng.randrange(count)][name].append(row)
    return rounds


def append(lake: Lake, rows: Rows) -> None:
    """Append the rows of one round, each table in one commit."""
    for name, mine in rows.items():
        if mine:
            lake.append(BY_NAME[name], mine, f"{name}|oracle")


def judged(lake: Lake, said: Settings) -> dict[str, bytes]:
    """Correlate, and return every findings table as bytes that are the same for the same rows."""
    correlate(lake, said, carrier=Here())
    return findings_of(lake)


def findings_of(lake: Lake) -> dict[str, bytes]:
    """Return every findings table as bytes that are the same for the same rows: a JSON object a line, sorted."""
    pinned = lake.findings().generation.versions
    files = {table.name: lake.files(table, pinned[table.name]) for table in FINDINGS}
    rows = {name: pl.read_parquet(mine).write_ndjson() if mine else "" for name, mine in files.items()}
    return {name: "\n".join(sorted(lines.splitlines())).encode() for name, lines in rows.items()}


def assert_same(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    """Name the rows that differ."""
    for name, rows in expected.items():
        told, wanted = found[name].decode().split("\n"), rows.decode().split("\n")
        extra, lacking = sorted({*told} - {*wanted}), sorted({*wanted} - {*told})
        assert (extra[:2], lacking[:2]) == ([], []), name
    assert found == expected


def anew(evidence: Rows, said: Settings, folder: Path) -> dict[str, bytes]:
    """Return the findings of a lake into which all evidence came at once."""
    lake = Lake(folder)
    append(lake, evidence)
    return judged(lake, said)


BETWEEN: dict[str, Callable[[Lake], Any]] = {
    "nothing": lambda lake: None,
    "files are merged": lambda lake: lake.compact(LOG_EVENTS, at_files=2),
    "the cache is removed": lambda lake: shutil.rmtree(lake.root / "findings" / ".cache"),
}
"""What may happen to a lake between two runs."""


def check(worlds: list[World], said: Settings, count: int, seed: str, folder: Path, *others: Rows) -> None:
    """Judge in rounds, with something happening after each, and compare with judging at once."""
    rng = random.Random(seed)
    evidence = evidence_of(worlds, *others)
    lake = Lake(folder / "in-rounds")
    for rows in in_rounds(evidence, count, rng):
        append(lake, rows)
        if any(rows.values()):
            correlate(lake, said, carrier=Here())
            BETWEEN[rng.choice(sorted(BETWEEN))](lake)

    assert_same(findings_of(lake), anew(evidence, said, folder / "at-once"))


@settings(max_examples=5, suppress_health_check=list(HealthCheck), phases=UNSHRUNK)
@given(st.lists(plans(), min_size=2, max_size=3), st.integers(2, 3), st.randoms(use_true_random=False))
def test_worlds_that_come_in_rounds_are_judged_as_if_they_had_come_at_once(drawn, count, rng):
    worlds = [World(300_000 + number, plan) for number, plan in enumerate(drawn)]
    with tempfile.TemporaryDirectory() as folder:
        check(worlds, settings_of(worlds), count, f"rounds {rng.random()}", Path(folder))


MIXED = [World(seed) for seed in (3, 7, 11, 14, 24)]
"""Functions and workers, FIFO queues and dead letters."""


@pytest.fixture(scope="module")
def said() -> Settings:
    return Settings.parse(settings_of(MIXED).text + small_worlds.SETTINGS.text)


@pytest.fixture(scope="module")
def by_hand() -> Rows:
    return small_worlds.world().rows


def test_worlds_by_hand_among_others_are_judged_alike_in_rounds(said, by_hand, tmp_path):
    check(MIXED, said, 3, "by hand", tmp_path, by_hand)


@dataclass(frozen=True)
class Begun:
    """A lake judged when half its evidence was there, of which the rest has come since."""

    lake: Lake
    before: dict[str, bytes]
    expected: dict[str, bytes]

    @property
    def cache(self) -> Path:
        return self.lake.root / "findings" / ".cache"


@pytest.fixture(scope="module")
def of_every_step() -> Rows:
    """Evidence of which every step makes something: a worker, functions, one of a FIFO queue, and what a move task brought back."""
    parcels = SmallLake()
    redriven.add_parcels(parcels)
    return evidence_of([MIXED[0], MIXED[1], MIXED[3]], parcels.rows)


@pytest.fixture(scope="module")
def halves(of_every_step, said, tmp_path_factory) -> Begun:
    """A lake judged with the first half of some evidence, with the second half in it."""
    evidence, folder = of_every_step, tmp_path_factory.mktemp("halves")
    first, second = in_rounds(evidence, 2, random.Random("halves"))
    lake = Lake(folder / "halves")
    append(lake, first)
    before = judged(lake, said)
    append(lake, second)
    return Begun(lake, before, anew(evidence, said, folder / "at-once"))


@pytest.fixture
def begun(halves, tmp_path) -> Begun:
    """A copy of that lake, whose files are its own: a damaged one must not harm what was published."""
    shutil.copytree(halves.lake.root, tmp_path / "lake")
    return replace(halves, lake=Lake(tmp_path / "lake"))


def entries(begun: Begun) -> list[Path]:
    """Return every output in the cache."""
    return sorted(entry for step in begun.cache.iterdir() if step.name != "runs" for entry in step.iterdir())


def test_a_removed_cache_costs_nothing_but_time(begun, said):
    shutil.rmtree(begun.cache)

    assert_same(judged(begun.lake, said), begun.expected)


def test_a_file_that_is_read_in_pieces_says_what_it_says_whole(begun, said, monkeypatch):
    monkeypatch.setattr(runner, "LINES_PER_PIECE", 20)
    shutil.rmtree(begun.cache)

    assert_same(judged(begun.lake, said), begun.expected)
    assert len(list((begun.cache / "scan").iterdir())) > 2 * len(begun.lake.files(LOG_EVENTS))


def test_part_of_the_cache_may_be_removed(begun, said):
    for entry in entries(begun)[::3]:
        shutil.rmtree(entry)

    assert_same(judged(begun.lake, said), begun.expected)


def cut_in_half(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def fill_with_garbage(file: Path) -> None:
    file.write_bytes(random.Random(file.name).randbytes(file.stat().st_size))


TEARS: dict[str, Callable[[Path], Any]] = {
    "is empty": lambda file: file.write_bytes(b""),
    "is cut in half": cut_in_half,
    "is gone": lambda file: file.unlink(),
    "is garbage": fill_with_garbage,
}


@pytest.mark.parametrize("which", ["*.parquet", "summary.json"])
@pytest.mark.parametrize("tear", TEARS.values(), ids=TEARS)
def test_of_every_output_a_file_that_is_torn_is_made_anew_in_the_same_run(tear, which, begun, said):
    for entry in entries(begun):
        for file in entry.glob(which):
            tear(file)
    assert findings_of(begun.lake) == begun.before

    assert_same(judged(begun.lake, said), begun.expected)


def test_a_disk_that_damages_what_is_made_ends_the_run_with_a_sentence(begun, said, monkeypatch):
    made = Cache.made

    def made_and_spoilt(cache, step, name, make):
        summary = made(cache, step, name, make)
        for file in cache.entry(step, name).glob("*.parquet"):
            fill_with_garbage(file)
        return summary

    monkeypatch.setattr(Cache, "made", made_and_spoilt)
    for entry in entries(begun):
        shutil.rmtree(entry)

    with pytest.raises(CacheDamagedError, match="again and again"):
        correlate(begun.lake, said, carrier=Here())
    assert findings_of(begun.lake) == begun.before


def test_what_releases_before_the_cache_kept_is_removed(begun, said):
    kept = begun.cache.with_name(".kept")
    kept.mkdir()
    (kept / "scan").write_text("x")

    assert_same(judged(begun.lake, said), begun.expected)
    assert not kept.exists()


def test_notes_of_earlier_runs_that_are_torn_are_forgotten(begun, said):
    for file in (begun.cache / "runs").iterdir():
        file.write_text("3")
    (begun.cache / "stray").write_text("not ours")

    assert_same(judged(begun.lake, said), begun.expected)


def test_what_a_killed_run_left_is_swept_by_the_next(begun, said):
    draft = begun.cache / "scan" / f".{'0' * 32}-{'1' * 32}"
    staged = [begun.lake.staging_folder(table, "000000000000001-killed") for table in FINDINGS]
    for folder in (draft, *staged):
        folder.mkdir(parents=True)
        (folder / "deliveries.parquet").write_bytes(b"PAR1")

    assert_same(judged(begun.lake, said), begun.expected)
    assert [folder for folder in (draft, *staged) if folder.exists()] == []


STEPS = (
    "survey",
    "scan",
    "settled_joins",
    "hashes",
    "settled_plan",
    "plan",
    "judge",
    "settle",
    "members",
    "incidents",
    "health",
)


def killed_in(step: str) -> Callable[..., Any]:
    """Return a ``Cache.made`` that is killed when the first output of a step is made and not yet in its place."""
    made, count = Cache.made, iter(range(1000))

    def killed(cache: Cache, of: str, name: str, make: Callable[[Path], Any]) -> Any:
        def broken(folder: Path) -> Any:
            told = make(folder)
            if of == step and next(count) == 0:
                raise KeyboardInterrupt
            return told

        return made(cache, of, name, broken)

    return killed


@pytest.fixture(scope="module")
def killed(halves, said, tmp_path_factory) -> tuple[Lake, dict[str, dict[str, bytes]]]:
    """A lake after runs that were killed, each in the step behind; and what its readers saw after each, by step."""
    lake, seen = Lake(shutil.copytree(halves.lake.root, tmp_path_factory.mktemp("killed") / "lake")), {}
    for step in STEPS:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Cache, "made", killed_in(step))
            correlate(lake, said, carrier=Here())
        seen[step] = findings_of(lake)
    return lake, seen


@pytest.mark.parametrize("step", STEPS)
def test_a_run_that_is_killed_in_a_step_leaves_readers_on_what_was_before(step, killed, halves):
    _, seen = killed

    assert seen[step] == halves.before


def test_runs_that_are_killed_one_step_further_each_are_taken_up_by_the_next(killed, halves, said):
    lake, _ = killed

    assert_same(judged(lake, said), halves.expected)


def test_a_run_that_is_killed_while_it_publishes_leaves_readers_on_what_was_before(begun, said, monkeypatch):
    replace, count = Lake._replace, iter(range(1000))

    def killed(lake: Lake, *args: Any) -> Any:
        if next(count) == 5:
            raise KeyboardInterrupt
        return replace(lake, *args)

    monkeypatch.setattr(Lake, "_replace", killed)
    with pytest.raises(KeyboardInterrupt):
        correlate(begun.lake, said, carrier=Here())
    assert findings_of(begun.lake) == begun.before

    assert_same(judged(begun.lake, said), begun.expected)


OTHER_SETTINGS = {
    "an effect line": ("effect = 'charged", "effect = 'booked"),
    "a business key": ('business_key = "$.payment_id"', 'business_key = "$.customer"'),
    "the order of work": ('order = "sequential"', 'order = "parallel"'),
    "a team's zone": ("[[queue]]", '[team]\nzone = "Asia/Tokyo"\n\n[[queue]]'),
}


@pytest.mark.parametrize(("old", "new"), OTHER_SETTINGS.values(), ids=OTHER_SETTINGS)
def test_settings_that_are_changed_and_changed_back(old, new, begun, said, of_every_step, tmp_path):
    assert old in said.text
    other = Settings.parse(said.text.replace(old, new, 1 if "zone" in new else -1))

    changed = judged(begun.lake, other)

    assert changed != begun.expected
    assert_same(changed, anew(of_every_step, other, tmp_path / "anew"))
    assert_same(judged(begun.lake, said), begun.expected)


def test_a_lake_that_was_moved_is_judged_on_from_where_it_is(begun, said, tmp_path):
    correlate(begun.lake, said, carrier=Here())
    root = begun.lake.root.rename(tmp_path / "elsewhere")
    for step in ("join", "without", "incidents"):
        shutil.rmtree(root / "findings" / ".cache" / step, ignore_errors=True)

    assert_same(judged(Lake(root), Settings.parse(said.text + "\n# so that it runs")), begun.expected)


def test_the_same_evidence_again_makes_nothing_anew(begun, said, monkeypatch):
    correlate(begun.lake, said, carrier=Here())
    steps, made = [], Cache.made
    monkeypatch.setattr(Cache, "made", lambda cache, *a: steps.append(a[0]) or made(cache, *a))

    correlate(begun.lake, Settings.parse(said.text + "\n# nothing else"), carrier=Here())

    assert set(steps) <= {"queue", "health"}, "all that rests on the settings file as a whole"


DAYS = {0: 1, 4: 1, 9: 2, 9.1: 1, 16.5: 4}
"""How many days are counted when lines of a day come: it, and those from then on longer ago than settings checks look back."""


def of_days(days: list[float]) -> SmallLake:
    lake = SmallLake()
    lake.queue("daily")
    lines = [
        line
        for day in days
        for line in run(f"r{day}", 86_400 * day, 3, record(some_id(f"m{day}"), 1, "daily", "{}", 86_400 * day - 1))
    ]
    lake.function("daily", "nightly", *lines)
    return lake


def test_lines_of_a_new_day_leave_what_was_counted_of_days_that_are_as_recent_as_before(monkeypatch, tmp_path):
    monkeypatch.setattr(publish, "MEASURED_PER_UNIT", 1)
    said = Settings.parse("")
    lake, there = Lake(tmp_path / "daily"), 0
    made, counted = Cache.made, []
    monkeypatch.setattr(Cache, "made", lambda cache, *a: counted.append(a[0]) or made(cache, *a))
    for number, expected in enumerate(DAYS.values(), 1):
        rows = of_days(list(DAYS)[:number]).rows
        events = rows.pop("log_events")
        append(lake, {"log_events": events[there:], **(rows if number == 1 else {})})
        there = len(events)
        counted.clear()
        found = judged(lake, said)

        assert counted.count("days") == expected, number
        assert_same(found, anew(of_days(list(DAYS)[:number]).rows, said, tmp_path / f"anew-{number}"))


def test_a_reading_of_another_queue_tells_no_incident_anew(begun, said, monkeypatch):
    correlate(begun.lake, said, carrier=Here())
    coverage = BY_NAME["coverage"]
    elsewhere = {
        "evidence_id": "coverage:elsewhere",
        "resource": "/elsewhere",
        "queue_arn": "arn:aws:sqs:eu-west-1:123456789012:elsewhere",
    }
    begun.lake.append(coverage, [{**begun.lake.read(coverage).to_pylist()[0], **elsewhere}], "coverage|elsewhere")
    steps, made = [], Cache.made
    monkeypatch.setattr(Cache, "made", lambda cache, *a: steps.append(a[0]) or made(cache, *a))

    correlate(begun.lake, said, carrier=Here())

    assert "queue" in steps
    assert "incidents" not in steps


def of_shared_group() -> SmallLake:
    """A log group that two functions write; only a line of the application says which."""
    lake = SmallLake()
    lake.queue("shared")
    said = (json.dumps({"level": "INFO", "function_name": "one", "message": "working"}),)
    lines = run("r", 1, 3, record(some_id("m"), 1, "shared", "{}", 0), says=said)
    lake.function("shared", "one", *lines, timeout_s=3)
    lake.function("shared", "two")
    for name in ("log_events", "consumers", "coverage"):
        for row in lake.rows[name]:
            row.update({"log_group": "/shared"} if name != "coverage" else {"resource": "/shared"})
    for row in lake.rows["function_settings"]:
        row["log_group"] = None
    return lake


@pytest.fixture(scope="module")
def at_once(tmp_path_factory) -> Callable[[Callable[[], SmallLake]], dict[str, bytes]]:
    """Return what gives the findings of a small world of which all was known at once."""
    return cache(lambda small: anew(small().rows, small_worlds.SETTINGS, tmp_path_factory.mktemp("at-once")))


LATER = ("function_settings", "event_source_mappings", "queue_settings", "coverage", "consumers")


@pytest.mark.parametrize("table", LATER)
@pytest.mark.parametrize("small", [of_shared_group, small_worlds.world])
def test_what_is_known_of_settings_later_is_as_if_it_had_been_known_at_once(small, table, at_once, tmp_path):
    rows, said, lake = small().rows, small_worlds.SETTINGS, Lake(tmp_path / "lake")
    append(lake, {name: mine for name, mine in rows.items() if name != table})
    correlate(lake, said, carrier=Here())
    append(lake, {table: rows.get(table, [])})

    assert_same(judged(lake, said), at_once(small))


def test_settings_of_the_time_of_an_old_receive_that_become_known_later(tmp_path):
    """An event printed two days after its message was received."""
    small = SmallLake()
    for seen_s, visibility_s in ((-20 * 3600, 30), (-40 * 3600, 77)):
        small.queue("old", visibility_s, changed=-100 * 3600)
        small.rows["queue_settings"][-1] |= {"observed_at": at(seen_s), "last_modified_at": None}
    first = {"ApproximateFirstReceiveTimestamp": str(int(at(-48 * 3600).timestamp() * 1000))}
    small.function("old", "reprinting", *run("r", 1, 3, record(some_id("m"), 1, "old", "{}", -48 * 3600, **first)))
    rows, said, lake = small.rows, Settings.parse(""), Lake(tmp_path / "lake")
    append(lake, rows | {"queue_settings": rows["queue_settings"][:1]})
    correlate(lake, said, carrier=Here())
    append(lake, {"queue_settings": rows["queue_settings"][1:]})

    found = judged(lake, said)

    assert b'"visibility_timeout_s":77' in found["deliveries"]
    assert_same(found, anew(rows, said, tmp_path / "anew"))
