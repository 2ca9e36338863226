"""FIFO groups in a round: what is found about them is the same as if all had been looked at, and not all are."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from forensics.lake import Lake
from forensics.lake.schemas import to_arrow
from forensics.tables import Table
from forensics.tables import findings as T
from spark_jobs.blocked_groups import blocked_groups
from spark_jobs.commit_order import late_commits
from spark_jobs.kept_groups import KeptGroups, groups_in_round
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.manifest import Manifest, Part
from spark_jobs.message_groups import MessageGroups, is_fifo
from spark_jobs.session import spark_schema
from spark_jobs.small_frames import frame_of
from spark_jobs.writer import Writer

pytestmark = pytest.mark.spark

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
ROUND_AT = NOON + timedelta(minutes=40)
"""Where the lines of the round before end."""
ENDS = ("deleted", "deleted", "deleted", "visibility_expired", "dead_lettered", "delete_refused")


@dataclass
class Story:
    """What one run knows: deliveries by the file they stand in, verdicts, which messages belong to which incident."""

    files: dict[str, list[dict[str, Any]]]
    incident_by_item: dict[tuple[str, str], str]
    unaffected: frozenset[str] = frozenset()

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        return [row for rows in self.files.values() for row in rows]

    def members(self, incidents: Iterable[str] | None = None) -> list[tuple[Any, ...]]:
        asked = set(self.incident_by_item.values() if incidents is None else incidents)
        return [
            (*item, incident, item[1] not in self.unaffected)
            for item, incident in sorted(self.incident_by_item.items())
            if incident in asked
        ]


def delivery(
    queue: str, group: str | None, item: str, index: int, run: str, at: datetime, ended_by: str, **more: Any
) -> dict[str, Any]:
    """Return one delivery, received at a moment (UTC) with 30 s of visibility by a run of 3 s."""
    return {
        "queue_arn": f"arn:{queue}",
        "queue": queue,
        "item_id": item,
        "message_id": item,
        "delivery_index": index,
        "is_seen": True,
        "consumer": run,
        "group_id": group,
        "batch_position": 1,
        "sent_at": NOON,
        "received_at": at,
        "hidden_until_at": at + timedelta(seconds=30),
        "run_ended_at": at + timedelta(seconds=3),
        "run_status": "success" if ended_by == "deleted" else "timeout",
        "ended_by": ended_by,
        "effect": "no",
        "business_keys": [f"key {item}"],
        "evidence_ids": [f"log:{item}:{index}"],
        **more,
    }


def by_hand() -> list[dict[str, Any]]:
    """Two groups of a quiet queue. In one, a run that failed had messages of two incidents; the other is of the first."""
    made = []
    for group, item, run, again_at_min in (
        ("q-1", "q-a", "both", 5),
        ("q-1", "q-b", "both", 15),
        ("q-2", "q-c", "c", 6),
    ):
        at, again_at = NOON + timedelta(minutes=1), NOON + timedelta(minutes=again_at_min)
        made.append(delivery("quiet.fifo", group, item, 1, run, at, "visibility_expired"))
        made.append(delivery("quiet.fifo", group, item, 2, f"{item} again", again_at, "deleted"))
    return made


def group_of_deliveries(rng: random.Random, queue: str, name: str) -> list[dict[str, Any]]:
    """One group: messages sent one after another, each received until it is deleted or given up, some out of order."""
    rows, at = [], NOON + timedelta(seconds=rng.randrange(2400))
    for number in range(rng.randrange(2, 9)):
        item, sent_at = f"{name}-{number}", at - timedelta(seconds=rng.randrange(90))
        for index in range(1, 4):
            at += timedelta(seconds=rng.choice((1, 4, 20, 60, 300)))
            ended_by, done = rng.choice(ENDS), rng.choice(("yes", "yes", "no", "unknown"))
            group = None if name.endswith("0") and number % 2 else name
            run = f"run {name} {number // rng.choice((1, 1, 2))} {index}"
            effect_at = at + timedelta(seconds=rng.choice((1, 2, 900))) if done == "yes" else None
            row = delivery(queue, group, item, index, run, at, ended_by, effect=done, effect_at=effect_at)
            rows.append(row | {"sent_at": None if rng.random() < 0.05 else sent_at})
            at += timedelta(seconds=30)
            if ended_by in ("deleted", "dead_lettered"):
                break
    return rows


def story_until(rows: list[dict[str, Any]], until: datetime | None, old: set[str]) -> Story:
    """Return what is known at a moment, UTC; what was received last of a message that comes again was still in flight.

    Messages of the groups ``old`` stand in a file of their own.
    """
    seen = [row for row in rows if until is None or row["received_at"] < until]
    if until is not None:
        going_on = {row["consumer"] for row in seen if row["run_ended_at"] >= until}
        seen = [
            row | {"ended_by": "in_flight", "effect": "unknown", "effect_at": None}
            if row["consumer"] in going_on
            else row
            for row in seen
        ]
    files: dict[str, list[dict[str, Any]]] = {"old": [], "young": []}
    for row in seen:
        files["old" if row["item_id"].rpartition("-")[0] in old else "young"].append(row)
    again = [row for row in seen if row["delivery_index"] > 1]
    latest = max(row["received_at"] for row in seen)
    incidents = {}
    for row in again:
        number = (row["received_at"] - NOON) // timedelta(minutes=10)
        is_growing = number == (latest - NOON) // timedelta(minutes=10)  # an incident is named when it is over
        incidents[row["queue_arn"], row["item_id"]] = f"{row['queue']}-{number}{'?' if is_growing else ''}"
    return Story(files, incidents)


class Lab:
    """Two runs over one lake: the first looks at everything, the second at what differs from the first."""

    def __init__(self, spark, folder: Path) -> None:
        self.spark, self.lake, self.kept_before = spark, Lake(folder), None

    def look(self, run_id: str, story: Story, same_files: set[str]) -> tuple[MessageGroups, dict[str, list[Any]]]:
        """Return the groups that a run looks at, and everything that it finds about groups."""
        inputs = SimpleNamespace(spark=self.spark, versions={})
        kept = KeptRuns(self.lake, run_id, inputs, 0)  # type: ignore[arg-type]
        if before := self.kept_before:
            files, schemas, shelves = before._files, before._schemas, before._shelves
            parts = [Part("0", 1)]
            kept.manifest = Manifest("", {}, 0, "", NOON.isoformat(), [], parts, schemas, files, shelves)
            kept._schemas = dict(schemas)
        staged = []
        for name, rows in story.files.items():
            file = f"{'0' if name in same_files else run_id}-0-{name}.parquet"
            staged.append(self._write(T.DELIVERIES, run_id, file, rows))
        kept.keep_files(T.DELIVERIES.name, staged)
        told = [
            {"queue_arn": arn, "queue": arn[4:], "item_id": item, "incident_id": incident}
            for (arn, item), incident in story.incident_by_item.items()
        ]
        self._write(T.MESSAGES, run_id, "part.parquet", told)
        out = Writer(self.lake, run_id, self.spark, in_memory=True)
        whole = self._read(T.DELIVERIES, run_id)
        judged = whole.join(self._read(T.MESSAGES, run_id), ["queue_arn", "item_id"], "left_semi")
        members = self._members(story.members())
        held = (
            {i for i in story.incident_by_item.values() if not i.endswith(("?", "quiet.fifo-0"))} if before else set()
        )
        others = story.members(set(story.incident_by_item.values()) - held)
        of_incidents = SimpleNamespace(all_members=members, members=self._members(others))
        groups = groups_in_round(kept, out, whole, judged, self._read(T.MESSAGES, run_id), of_incidents)  # type: ignore[arg-type]
        found = found_about(groups, self._read(T.MESSAGES, run_id), members, whole)
        for table in (T.QUEUE_FINDINGS, T.INCIDENTS):
            rows = found[table.name]
            kept.keep_files(table.name, [self._write(table, run_id, "part.parquet", [r.asDict() for r in rows])])
        self.kept_before = kept
        return groups, {name: sorted(repr(row) for row in rows) for name, rows in found.items()}

    def all_at_once(self, story: Story, run_id: str) -> dict[str, list[Any]]:
        """Return what is found where every group is looked at; ``run_id`` has looked at the story."""
        whole, told = self._read(T.DELIVERIES, run_id), self._read(T.MESSAGES, run_id)
        found = found_about(MessageGroups(whole.where(is_fifo())), told, self._members(story.members()), whole)
        return {name: sorted(repr(row) for row in rows) for name, rows in found.items()}

    def _members(self, rows: list[tuple[Any, ...]]) -> DataFrame:
        return frame_of(self.spark, rows, "queue_arn string, item_id string, incident_id string, is_affected boolean")

    def _write(self, table: Table, run_id: str, file: str, rows: list[dict[str, Any]]) -> Path:
        path = self.lake.staging_folder(table, run_id) / file
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(to_arrow(table, rows), path)
        return path

    def _read(self, table: Table, run_id: str) -> DataFrame:
        return self.spark.read.schema(spark_schema(table)).parquet(str(self.lake.staging_folder(table, run_id)))


def found_about(groups: MessageGroups, told: DataFrame, members: DataFrame, whole: DataFrame) -> dict[str, list[Any]]:
    """Return blocked groups and late commits, how long incidents held groups, and next receives of dead letters."""
    incidents = told.select("queue_arn", "item_id", "incident_id")
    late = late_commits(groups.deliveries).join(incidents, ["queue_arn", "item_id"], "left")
    rows = late.unionByName(blocked_groups(groups.deliveries, told), allowMissingColumns=True)
    names = [name for name in T.QUEUE_FINDINGS.column_names if name in rows.columns]
    findings = rows.select(*names)
    if (before := groups.findings_before()) is not None:
        findings = findings.unionByName(before.select(*names))
    dead = whole.where("ended_by = 'dead_lettered'").withColumn("from_at", F.col("hidden_until_at"))
    held = groups.held_ms(members).join(members.select("incident_id").distinct(), "incident_id", "right")
    return {
        T.QUEUE_FINDINGS.name: findings.collect(),
        T.INCIDENTS.name: held.select("incident_id", F.coalesce("blocked_ms", F.lit(0)).alias("blocked_ms")).collect(),
        "next receives": groups.next_receives(dead).collect(),
    }


@pytest.fixture(scope="module")
def groups_drawn() -> list[dict[str, Any]]:
    rng = random.Random(5)
    return by_hand() + [
        row
        for number in range(60)
        for row in group_of_deliveries(rng, f"orders-{number % 2}.fifo", f"group-{number % 2}-{number}")
    ]


def test_groups_that_nothing_new_is_about_keep_what_was_found(groups_drawn, spark, tmp_path):
    last_by_group: dict[str, datetime] = {}
    for row in groups_drawn:
        name = row["item_id"].rpartition("-")[0]
        last_by_group[name] = max(row["run_ended_at"], last_by_group.get(name, NOON))
    old = {name for name, last in last_by_group.items() if last < ROUND_AT}
    lab = Lab(spark, tmp_path / "lake")
    before, now = story_until(groups_drawn, ROUND_AT, old), story_until(groups_drawn, None, old)
    ghosts = group_of_deliveries(random.Random(1), "orders-0.fifo", "ghost-0-1")
    before.files["young"].extend(ghosts)  # the run that named this group was read again, and names none now
    before.unaffected, now.unaffected = frozenset({"q-c"}), frozenset()  # judged again, its deliveries as they were

    first, _ = lab.look("1", before, {"old"})
    again, found = lab.look("2", now, {"old"})
    at_once = lab.all_at_once(now, "2")

    assert not isinstance(first, KeptGroups)
    assert isinstance(again, KeptGroups)
    for name, rows in at_once.items():
        assert Counter(found[name]) == Counter(rows), name
        assert len(rows) > 5, name
    looked_at = again.again.count()
    every = {(row["queue_arn"], row["group_id"]) for row in groups_drawn}
    assert 0 < looked_at < len(every)
    assert any(row["ended_by"] != "deleted" for row in ghosts), "there was nothing to find about the group that is gone"
