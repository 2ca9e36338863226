"""A correlation run as a whole: the same evidence gives the same findings, and every claim leads to its lines."""

import random
from collections import Counter

import pytest

from forensics.lake import Lake
from forensics.tables import BY_NAME, FINDINGS
from forensics.tables.evidence import LOG_EVENTS
from forensics.tables.findings import DELIVERIES, MESSAGES
from spark_jobs import runner
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.runner import correlate
from spark_jobs.shelves import Shelves
from tests.oracle import World
from tests.oracle.bundle import TABLES, fill_lake, settings_of

pytestmark = pytest.mark.spark

WORLDS = [World(seed) for seed in (3, 7, 11, 14, 24)]


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    return fill_lake(WORLDS, tmp_path_factory.mktemp("runner") / "lake")


@pytest.fixture(scope="module")
def first(lake, spark):
    correlate(lake, settings_of(WORLDS), spark=spark)
    return _contents(lake)


def _contents(lake: Lake) -> dict[str, list[str]]:
    findings = lake.findings()
    return {t.name: sorted(repr(row) for row in findings.read(t).to_pylist()) for t in FINDINGS}


def in_two_rounds(rows: list[dict], rng: random.Random) -> tuple[list[dict], list[dict]]:
    """Cut log events in two: each stream at some place or not at all, and a few lines that come late."""
    late = {row["evidence_id"] for row in rng.sample(rows, len(rows) // 60)}
    by_stream: dict[str, list[dict]] = {}
    for row in sorted(rows, key=lambda row: (row["logged_at"], row["order_in_ms"])):
        by_stream.setdefault(row["log_stream"], []).append(row)
    first, second = [], []
    for stream in by_stream.values():
        border = rng.choice([0, len(stream), rng.randrange(len(stream) + 1), rng.randrange(len(stream) + 1)])
        for number, row in enumerate(stream):
            (second if number >= border or row["evidence_id"] in late else first).append(row)
    return first, second


LATE = {"coverage": 24, "metric_points": 14}
"""Of which world a source was read only after the first round. They have dead letters, and not a line more then: what becomes
of their verdicts is told by what was read alone."""


def test_evidence_that_came_in_rounds_is_judged_as_if_it_had_come_at_once(first, spark, tmp_path, monkeypatch):
    """Row for row: one round under the plan for large lakes and one under that for small ones, against one for all."""
    in_rounds = Lake(tmp_path / "lake")
    by_world = {world.seed: world.rows(LOG_EVENTS.name) for world in WORLDS}
    lines = [row for rows in by_world.values() for row in rows]
    split = [row for seed, rows in by_world.items() if seed not in LATE.values() for row in rows]
    parts: list[dict[str, list]] = [{LOG_EVENTS.name: part} for part in in_two_rounds(split, random.Random(11))]
    parts[0][LOG_EVENTS.name].extend(row for seed in LATE.values() for row in by_world[seed])
    for name in TABLES:
        for world in WORLDS if name != LOG_EVENTS.name else ():
            parts[LATE.get(name) == world.seed].setdefault(name, []).extend(world.rows(name))
    cuts, works = [], Counter()
    lines_of, take_down = KeptRuns.lines, Shelves.take_down

    def watched(kept, groups, streams):
        cuts.extend(row["cut_at"] for row in streams.collect()) if kept.is_round else None
        return lines_of(kept, groups, streams)

    def counted(shelves, touched, seen, horizon):
        before, asked = shelves.frame("items").count(), {row["item_hash"] for row in touched.collect()}
        again = [row["item_hash"] for row in take_down(shelves, touched, seen, horizon).collect()]
        works.update(left=before - len(again), touched=len(asked & {*again}), others=len({*again} - asked))
        return shelves._again

    monkeypatch.setattr(KeptRuns, "lines", watched)
    monkeypatch.setattr(Shelves, "take_down", counted)
    for few_lines, part in zip((0, runner.FEW_LINES), parts, strict=True):
        monkeypatch.setattr(runner, "FEW_LINES", few_lines)
        monkeypatch.setattr(runner, "HELD_LINES", few_lines)
        for name, rows in part.items():
            in_rounds.append(BY_NAME[name], rows, f"{name}|oracle")
        correlate(in_rounds, settings_of(WORLDS), spark=spark, in_rounds=True)
    found = _contents(in_rounds)

    assert in_rounds.count(LOG_EVENTS) == len(lines)
    for name, rows in first.items():
        extra, lacking = Counter(found[name]) - Counter(rows), Counter(rows) - Counter(found[name])
        assert (list(extra)[:2], list(lacking)[:2]) == ([], []), name
    assert any(cuts), "no stream was read on from the middle"
    assert None in cuts, "no stream was read from its beginning"
    for kind in ("left", "touched", "others"):
        assert works[kind], f"no judged work was {kind}"


def test_unchanged_evidence_is_not_judged_again(lake, first, spark):
    before = lake.generation()

    again = correlate(lake, settings_of(WORLDS), spark=spark)

    assert again.versions == before.versions


def test_every_cited_evidence_id_resolves_to_one_row(lake, first):
    findings = lake.findings()
    cited = {i for t in FINDINGS for ids in findings.read(t, ["evidence_ids"])["evidence_ids"].to_pylist() for i in ids}

    found = [row["evidence_id"] for rows in findings.evidence_rows(sorted(cited)).values() for row in rows]

    assert cited
    assert sorted(found) == sorted(cited)


def test_every_message_that_is_judged_rests_on_evidence(lake, first):
    rows = lake.findings().read(MESSAGES, ["item_id", "evidence_ids"]).to_pylist()

    assert rows
    assert [r["item_id"] for r in rows if not r["evidence_ids"]] == []


def test_the_ledger_keeps_one_row_per_key(lake, first):
    rows = lake.findings().read(DELIVERIES, list(DELIVERIES.key)).to_pylist()

    assert len({tuple(r.values()) for r in rows}) == len(rows)


def test_nothing_is_left_in_the_work_folder(lake, first):
    left = list((lake.root / "findings" / ".work").glob("*"))

    assert left == []
