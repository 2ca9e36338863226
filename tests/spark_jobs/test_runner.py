"""A correlation run as a whole: the same evidence gives the same findings, and every claim leads to its lines."""

import random
from collections import Counter

import pytest

from forensics.lake import Lake
from forensics.tables import BY_NAME, FINDINGS
from forensics.tables.evidence import LOG_EVENTS
from forensics.tables.findings import DELIVERIES, INCIDENTS, INVOCATIONS, MESSAGES, REDELIVERIES
from spark_jobs import tuning
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.runner import correlate
from spark_jobs.shelves import Shelves
from tests.oracle import World
from tests.oracle.bundle import TABLES
from tests.spark_jobs import redriven, small_worlds
from tests.spark_jobs.small_lake import at, some_id

pytestmark = pytest.mark.spark

WORLDS = [World(seed) for seed in (3, 7, 11, 14, 24)]
"""Of those that are judged in any case; the worlds written by hand come with them, which end last in every lake."""


def evidence() -> dict[str, list[dict]]:
    """Return the rows of the worlds, by table."""
    by_hand = small_worlds.world().rows
    rows = {name: [row for world in WORLDS for row in world.rows(name)] for name in TABLES}
    return {name: rows.get(name, []) + by_hand.get(name, []) for name in rows | by_hand}


def contents(lake: Lake, evidence: dict[str, list[dict]]) -> dict[str, list[str]]:
    """Return what is said of the queues of some evidence, by table of findings."""
    known = [row for name in ("queue_settings", "consumers") for row in evidence[name]]
    arns = {row.get(column) for row in known for column in ("queue_arn", "dead_letter_queue_arn")}
    groups = {row["log_group"] for row in evidence["consumers"]}
    found = lake.findings()
    items = {row["item_id"] for row in found.read(DELIVERIES).to_pylist() if row["queue_arn"] in arns}

    def is_mine(row: dict) -> bool:
        if row.get("queue_arn"):
            return row["queue_arn"] in arns
        return row["log_group"] in groups if "log_group" in row else row["item_id"] in items

    return {t.name: sorted(repr(row) for row in found.read(t).to_pylist() if is_mine(row)) for t in FINDINGS}


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


MUST_HAVE = {"deliveries", "incidents", "invocations", "messages", "queue_findings", "redeliveries", "timeline"}
LATE = {"coverage": 24, "metric_points": 14}
"""Of which world a source was read only after the first round. They have dead letters, and not a line more then: what becomes
of their verdicts is told by what was read alone."""


def test_evidence_that_came_in_rounds_is_judged_as_if_it_had_come_at_once(many_worlds, spark, tmp_path, monkeypatch):
    """Row for row: one round under the plan for large lakes and one under that for small ones, against one for all."""
    in_rounds, whole = Lake(tmp_path / "lake"), evidence()
    late = {name: next(w for w in WORLDS if w.seed == seed).rows(name) for name, seed in LATE.items()}
    unsplit = {row["evidence_id"] for w in WORLDS if w.seed in LATE.values() for row in w.rows(LOG_EVENTS.name)}
    redrives = [row for row in whole[LOG_EVENTS.name] if row["log_group"] == redriven.GROUP]
    unsplit |= {row["evidence_id"] for row in redrives}
    split = [row for row in whole[LOG_EVENTS.name] if row["evidence_id"] not in unsplit]
    parts: list[dict[str, list]] = [{LOG_EVENTS.name: part} for part in in_two_rounds(split, random.Random(11))]
    parts[1][LOG_EVENTS.name].extend(row for row in redrives if row["logged_at"] >= at(redriven.SOON_S))
    at_last = {row["evidence_id"] for row in parts[1][LOG_EVENTS.name]}
    parts[0][LOG_EVENTS.name].extend(row for row in whole[LOG_EVENTS.name] if row["evidence_id"] in unsplit - at_last)
    for name, rows in whole.items():
        if name != LOG_EVENTS.name:
            parts[0][name] = [row for row in rows if row not in late.get(name, ())]
    parts[1].update(late)
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

    def as_for_few(spark, line_count, is_small):  # generating code for each step of so few lines took half of this test
        tune(spark, line_count, is_small=True)

    tune = tuning.tune
    monkeypatch.setattr(tuning, "tune", as_for_few)
    monkeypatch.setattr(KeptRuns, "lines", watched)
    monkeypatch.setattr(Shelves, "take_down", counted)
    for few_lines, part in zip((0, tuning.FEW_LINES), parts, strict=True):
        monkeypatch.setattr(tuning, "FEW_LINES", few_lines)
        monkeypatch.setattr(tuning, "HELD_LINES", few_lines)
        for name, rows in part.items():
            in_rounds.append(BY_NAME[name], rows, f"{name}|oracle")
        correlate(in_rounds, many_worlds.settings, spark=spark, in_rounds=True)
    read = in_rounds.findings().read
    found = {table.name: [repr(row) for row in read(table).to_pylist()] for table in FINDINGS}

    assert in_rounds.count(LOG_EVENTS) == len(whole[LOG_EVENTS.name])
    for name, rows in contents(many_worlds.lake, whole).items():
        assert rows or name not in MUST_HAVE, name
        extra, lacking = Counter(found[name]) - Counter(rows), Counter(rows) - Counter(found[name])
        assert (list(extra)[:2], list(lacking)[:2]) == ([], []), name
    assert any(cuts), "no stream was read on from the middle"
    assert None in cuts, "no stream was read from its beginning"
    for kind in ("left", "touched", "others"):
        assert works[kind], f"no judged work was {kind}"


def test_redrives_are_judged_in_rounds_with_all_messages_of_their_bodies(many_worlds, spark, tmp_path, monkeypatch):
    """In a lake of their own, where nothing else has them judged again."""
    lake, taken, take_down = Lake(tmp_path / "lake"), [], Shelves.take_down
    rows = {name: [row for row in found if "parcels" in repr(row)] for name, found in small_worlds.world().rows.items()}

    def watched(shelves, touched, seen, horizon):
        standing = {row["item_id"] for row in shelves.frame("items").collect()}
        again = take_down(shelves, touched, seen, horizon)
        taken.append(standing - {row["item_id"] for row in again.collect()})
        return again

    monkeypatch.setattr(Shelves, "take_down", watched)
    early = [row for row in rows[LOG_EVENTS.name] if row["logged_at"] < at(redriven.SOON_S)]
    for part in (rows | {LOG_EVENTS.name: early}, {LOG_EVENTS.name: rows[LOG_EVENTS.name][len(early) :]}):
        for name, some in part.items():
            lake.append(BY_NAME[name], some, f"{name}|oracle")
        correlate(lake, many_worlds.settings, spark=spark, in_rounds=True)
    known = contents(many_worlds.lake, {**dict.fromkeys(TABLES, []), **rows})

    assert taken == [{some_id(name) for name in ("alone", "alone back")}]
    for table in (DELIVERIES, REDELIVERIES, MESSAGES, INCIDENTS):
        assert sorted(repr(row) for row in lake.findings().read(table).to_pylist()) == known[table.name], table.name


def test_unchanged_evidence_is_not_judged_again(many_worlds, spark):
    before = many_worlds.lake.generation()

    again = correlate(many_worlds.lake, many_worlds.settings, spark=spark)

    assert again.versions == before.versions


def test_every_cited_evidence_id_resolves_to_one_row(many_worlds):
    findings = many_worlds.lake.findings()
    cited = {i for t in FINDINGS for ids in findings.read(t, ["evidence_ids"])["evidence_ids"].to_pylist() for i in ids}

    found = [row["evidence_id"] for rows in findings.evidence_rows(sorted(cited)).values() for row in rows]

    assert cited
    assert sorted(found) == sorted(cited)


@pytest.mark.parametrize("table", [INVOCATIONS, DELIVERIES, REDELIVERIES, MESSAGES, INCIDENTS], ids=lambda t: t.name)
def test_whatever_happened_rests_on_evidence(many_worlds, table):
    rows = many_worlds.lake.findings().read(table).to_pylist()

    assert rows
    assert [row for row in rows if not row["evidence_ids"]] == []


def test_the_ledger_keeps_one_row_per_key(many_worlds):
    rows = many_worlds.lake.findings().read(DELIVERIES, list(DELIVERIES.key)).to_pylist()

    assert len({tuple(r.values()) for r in rows}) == len(rows)


def test_nothing_is_left_in_the_work_folder(many_worlds):
    left = list((many_worlds.lake.root / "findings" / ".work").glob("*"))

    assert left == []
