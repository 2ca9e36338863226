"""Findings about queues as the step writes them, at their borders: small ledgers, one queue each."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from forensics.clock import micros
from forensics.counting.frame_files import write_mapped
from forensics.counting.frames import frame, schema_of
from forensics.incidents.gaps import Gaps
from forensics.judging.finality import Finality
from forensics.judging.model import Judged, Message
from forensics.judging.rows import delivery_row
from forensics.known import Known
from forensics.queue_findings import MetricSeries
from forensics.queue_findings.queue import Measured
from forensics.settings_in_force import SettingsInForce
from forensics.streams.model import Delivery
from forensics.tables.evidence import QUEUE_SETTINGS
from forensics.tables.findings import DELIVERIES
from spark_jobs import publish
from spark_jobs.cache import Cache
from spark_jobs.judge import WORK_SCHEMA
from spark_jobs.members import AGAIN, MEMBERS, Members
from spark_jobs.parts import packed, written
from tests.forensics.queue_findings.ledgers import verdict

START = datetime(2026, 11, 20, 5, 0, tzinfo=UTC)
DATA_UNTIL_S = 7200


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def us(seconds: float) -> int:
    return micros(at(seconds))


@dataclass
class Ledger:
    """Deliveries, verdicts, settings and metric points of several queues. Times are seconds from START."""

    deliveries: list[Delivery] = field(default_factory=list)
    told: list[Message] = field(default_factory=list)
    settings: list[dict[str, Any]] = field(default_factory=list)
    points: list[dict[str, Any]] = field(default_factory=list)
    read: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def queue(self, name: str, read_until_s: float = DATA_UNTIL_S, **settings: Any) -> None:
        if dlq := settings.pop("dlq", None):
            settings["dead_letter_queue_arn"] = f"arn:{dlq}"
        said = {"evidence_id": f"queue:{name}", "queue_arn": f"arn:{name}", "queue_name": name, "observed_at": START}
        self.settings.append(dict.fromkeys(QUEUE_SETTINGS.column_names) | said | settings)
        self.read[f"log-{name}"] = [(us(-60), us(read_until_s))]

    def delivered(self, queue: str, item: str, *, received: float, ended_by: str, index: int = 1, **more: Any) -> None:
        for before in self.deliveries:
            before.came_again |= (before.queue, before.item_id) == (queue, item)
        sent, hidden = more.pop("sent_at", None), more.pop("hidden", received + 30)
        times = {c: None if (s := more.pop(c, None)) is None else us(s) for c in ("effect_at", "run_ended_at")}
        told = {
            "message_id": item,
            "queue_arn": f"arn:{queue}",
            "queue": queue,
            "delivery_index": index,
            "receive_count": index,
            "consumer": f"{item}-{index}",
            "received_at": us(received),
            "hidden_until_at": us(hidden),
            "sent_ms": None if sent is None else us(sent) // 1000,
            "ended_by": ended_by,
            "run_status": "success" if ended_by == "deleted" else "error",
            "effect": "yes" if times["effect_at"] else "unknown",
            "evidence_ids": [f"log:{item}-{index}"],
        }
        self.deliveries.append(Delivery(item_id=item, **told | times | more))

    def verdict(self, queue: str, item: str, at_least: int, at_most: int | None, receives: int) -> None:
        told = verdict(item, at_least=at_least, at_most=at_most, receives=receives, seen=receives)
        self.told.append(replace(told, queue_arn=f"arn:{queue}", queue=queue))

    def metric(self, metric: str, resource: str, point: float, value: float) -> None:
        said = {"metric": metric, "resource": resource, "period_s": 60, "point_at": us(point), "value": float(value)}
        self.points.append({"evidence_id": f"metric:{resource}-{point}", **said})


def blocked(w: Ledger) -> None:
    """FIFO groups: held by a failed delivery that ended at 10 s; the next one is received at ``until``."""
    for name, until, sent in (
        ("blocked-1000ms.fifo", 11.0, 9.0),
        ("blocked-999ms.fifo", 10.999, 9.0),
        ("nobody-waited.fifo", 40.0, 40.0),
        ("sent-unknown.fifo", 40.0, None),
    ):
        w.queue(name)
        w.delivered(name, "m1", received=5, ended_by="visibility_expired", run_ended_at=10, group_id="g", sent_at=1)
        w.delivered(name, "m2", received=until, ended_by="deleted", group_id="g", sent_at=sent)
    name = "failed-twice.fifo"
    w.queue(name)
    w.delivered(name, "m1", received=5, ended_by="visibility_expired", run_ended_at=10, group_id="g", sent_at=1)
    w.delivered(
        name, "m1", index=2, received=40, ended_by="visibility_expired", run_ended_at=41, group_id="g", sent_at=1
    )
    w.delivered(name, "m2", received=70, ended_by="deleted", group_id="g", sent_at=2)
    w.delivered(name, "m3", received=71, ended_by="deleted", group_id="g", sent_at=3)
    w.delivered(name, "other", received=20, ended_by="deleted", group_id="h", sent_at=3)
    name = "part-got-through.fifo"  # the second run finished m2 and gave m1 back: two stops, not one
    w.queue(name)
    w.delivered(name, "m1", received=5, ended_by="visibility_expired", run_ended_at=10, group_id="g", sent_at=1)
    both = {"received": 40, "run_ended_at": 41, "group_id": "g", "consumer": "run-2"}
    w.delivered(name, "m1", index=2, ended_by="visibility_expired", sent_at=1, **both)
    w.delivered(name, "m2", ended_by="deleted", sent_at=2, **both)
    w.delivered(name, "m1", index=3, received=70, ended_by="deleted", group_id="g", sent_at=1)
    w.delivered(name, "m3", received=70, ended_by="deleted", group_id="g", sent_at=3)
    name = "failed-twice.fifo"
    w.verdict(name, "m1", 0, 2, 2)
    name = "blocked-standard"
    w.queue(name)
    w.delivered(name, "m1", received=5, ended_by="visibility_expired", run_ended_at=10, group_id="g", sent_at=1)
    w.delivered(name, "m2", received=70, ended_by="deleted", group_id="g", sent_at=2)


def dead(w: Ledger) -> None:
    """Last allowed receives; the timeout ends at 130 s."""
    for name, before, after in (
        ("dead", 0, 1),
        ("dead-full", 5, 6),
        ("dead-same", 5, 5),
        ("dead-unmeasured", None, None),
    ):
        w.queue(name, dlq=f"{name}-dlq", max_receive_count=2)
        w.delivered(name, "m1", index=2, received=100, hidden=130, ended_by="dead_lettered")
        w.verdict(name, "m1", 0, 2, 2)
        if before is not None:
            w.metric("ApproximateNumberOfMessagesVisible", f"{name}-dlq", 60, before)
            w.metric("ApproximateNumberOfMessagesVisible", f"{name}-dlq", 120, after)
    w.queue("dead.fifo", dlq="dead-dlq.fifo", max_receive_count=1)
    w.delivered("dead.fifo", "m1", received=100, hidden=130, ended_by="dead_lettered", group_id="g", effect="no")
    w.delivered("dead.fifo", "m2", received=129, ended_by="deleted", group_id="h")
    w.delivered("dead.fifo", "m3", received=130.02, ended_by="deleted", group_id="g")
    w.queue("dead-fair", dlq="dead-fair-dlq", max_receive_count=1)  # its groups share fairly, and never wait
    w.delivered("dead-fair", "m1", received=100, hidden=130, ended_by="dead_lettered", group_id="g", effect="no")
    w.delivered("dead-fair", "m3", received=130.02, ended_by="deleted", group_id="g")


def order(w: Ledger) -> None:
    """m1 was sent before m2; m2 was done at 50 s."""
    for name, done, more in (
        ("order-later.fifo", 50.001, {}),
        ("order-same.fifo", 50.0, {}),
        ("order-kept.fifo", 49.0, {}),
        ("order-standard", 60.0, {}),
        ("order-no-group.fifo", 60.0, {"group_id": None}),
    ):
        w.queue(name)
        grouped = {"group_id": "g"} | more
        w.delivered(name, "m1", received=5, ended_by="deleted", sent_at=1, effect_at=done, **grouped)
        w.delivered(name, "m2", received=40, ended_by="deleted", sent_at=2, effect_at=50, **grouped)
    name = "order-repeated.fifo"  # both again, in order: what the later message wrote stays
    w.queue(name)
    for index, first in ((1, 10), (2, 100)):
        w.delivered(
            name, "m1", index=index, received=first, ended_by="deleted", sent_at=1, effect_at=first, group_id="g"
        )
        w.delivered(
            name, "m2", index=index, received=first, ended_by="deleted", sent_at=2, effect_at=first + 1, group_id="g"
        )
    name = "order-open.fifo"  # m2 may have been done once more after m1
    w.queue(name)
    w.delivered(name, "m1", received=5, ended_by="deleted", sent_at=1, effect_at=60, group_id="g")
    w.delivered(name, "m2", received=40, ended_by="visibility_expired", sent_at=2, effect_at=50, group_id="g")
    w.delivered(name, "m2", index=2, received=70, ended_by="deleted", run_ended_at=72, sent_at=2, group_id="g")


def lost(w: Ledger) -> None:
    """Sent at 10 s, retention 900 s: over at 910 s."""
    cases = {
        "lost": {},
        "lost-young": {"age": 400},
        "lost-unmeasured": {"age": None},
        "lost-unread": {"read_until_s": 909},
        "lost-read": {"read_until_s": 910},
        "lost-finished": {"ended_by": "deleted"},
        "lost-unknown": {"ended_by": "unknown"},
        "lost-not-yet": {"retention": DATA_UNTIL_S - 9},
        "lost-just-now": {"retention": DATA_UNTIL_S - 10},
    }
    for name, case in cases.items():
        retention = case.get("retention", 900)
        w.queue(name, read_until_s=case.get("read_until_s", DATA_UNTIL_S), message_retention_s=retention)
        w.delivered(name, "m1", received=20, ended_by=case.get("ended_by", "visibility_expired"), sent_at=10)
        if (age := case.get("age", retention - 20)) is not None:
            # The point of [d - 60, d) with an age that a message sent at 10 s has at its end.
            w.metric("ApproximateAgeOfOldestMessage", name, 10 + retention - 60, age)


def poison(w: Ledger) -> None:
    """Received so many times, never deleted."""
    for name, receives, dlq, ended_by in (
        ("poison-3", 3, None, "visibility_expired"),
        ("poison-2", 2, None, "visibility_expired"),
        ("poison-dlq", 3, "some-dlq", "visibility_expired"),
        ("poison-done", 3, None, "deleted"),
        ("poison-open", 3, None, "unknown"),
    ):
        w.queue(name, dlq=dlq)
        for index in range(1, receives + 1):
            last = index == receives
            w.delivered(
                name, "m1", index=index, received=60 * index, ended_by=ended_by if last else "visibility_expired"
            )
        w.verdict(name, "m1", 0, receives, receives)


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[str, list[dict[str, Any]]]:
    """Findings per queue."""
    world = Ledger()
    for tell in (blocked, dead, order, lost, poison):
        tell(world)
    cache = Cache(tmp_path_factory.mktemp("queues"))
    names = [s["queue_name"] for s in world.settings]
    around = publish.Surrounding(
        cache,
        Known(consumers=[{"queue_arn": f"arn:{n}", "log_group": f"log-{n}"} for n in names]),
        Gaps([]),
        world.points,
        Measured(
            SettingsInForce.of(world.settings, [], []),
            MetricSeries("ApproximateNumberOfMessagesVisible", world.points),
            MetricSeries("ApproximateAgeOfOldestMessage", world.points),
            world.read,
            us(DATA_UNTIL_S),
        ),
        Finality(),
        ZoneInfo("UTC"),
        Members(tmp_path_factory.mktemp("members"), cache.root, []),
    )
    return {name: findings_of(name, world, around) for name in names}


def findings_of(name: str, world: Ledger, around: publish.Surrounding) -> list[dict[str, Any]]:
    """Write what was judged of a queue as the steps before leave it, and read what the step makes of it."""
    arn = f"arn:{name}"
    ledger = [d for d in world.deliveries if d.queue == name]
    told = [m for m in world.told if m.queue == name]
    judged = around.cache.entry("judge", name)
    judged.mkdir(parents=True)
    written(judged, "deliveries", frame(map(delivery_row, ledger), schema_of(DELIVERIES)), DELIVERIES.key)
    works = []
    for item in sorted({d.item_id for d in ledger}):
        mine = Judged([d for d in ledger if d.item_id == item], messages=[m for m in told if m.item_id == item])
        if mine.ledger[-1].ended_by != "deleted":
            works.append((arn, item, packed(mine)))
    written(judged, "ends", pl.DataFrame(works, schema=WORK_SCHEMA, orient="row"))
    members = Members(around.cache.entry("members", name), around.cache.entry("settled_members", name), [])
    of_incidents = [(arn, m.item_id, f"{name}-incident", True, 0, 0) for m in told]
    schema = ["queue_arn", "item_id", "incident_id", "is_member_affected", "place", "part"]
    kinds = [pl.String, pl.String, pl.String, pl.Boolean, pl.UInt32, pl.UInt32]
    placed = pl.DataFrame(of_incidents, schema=dict(zip(schema, kinds, strict=True)), orient="row")
    for folder, rows in ((members.folder, placed), (members.source, placed.clear())):
        folder.mkdir(parents=True)
        write_mapped(rows, folder / MEMBERS)
    write_mapped(placed.select("place").clear(), members.folder / AGAIN)
    around = publish.Surrounding(**vars(around) | {"members": members})
    unit: dict[str, Any] = {"name": name, "entries": [["judge", name]]}
    parts = []
    if arn.endswith(".fifo"):
        publish.group_runs(around, unit)
        publish.settle_groups(around, before := {"name": f"before {name}", "runs": []})
        mine = {**unit, "runs": [name], "settled": [], "before": before["name"]}
        parts = publish.stretches(around, mine)["units"]
    groups = [{**part, "name": f"{name}-{n}", "stretches": name} for n, part in enumerate(parts)]
    for group in groups:
        publish.groups(around, group)
    told = {"judged": [name], "groups": [group["name"] for group in groups]}
    publish.queue(around, {"name": name, "queue_arn": arn, **told})
    written_by = [("queue", name), *(("groups", group["name"]) for group in groups)]
    files = [around.cache.entry(*entry) / "queue_findings.parquet" for entry in written_by]
    return [row for file in files for row in pq.read_table(file).to_pylist()]


STANCES = {
    "blocked-1000ms.fifo": [("fifo_group_blocked", "supported")],
    "blocked-999ms.fifo": [],
    "nobody-waited.fifo": [],
    "sent-unknown.fifo": [("fifo_group_blocked", "supported")],
    "failed-twice.fifo": [("fifo_group_blocked", "supported")],
    "part-got-through.fifo": [("fifo_group_blocked", "supported")] * 2,
    "blocked-standard": [],
    "dead": [("dead_lettered", "supported")],
    "dead-full": [("dead_lettered", "supported")],
    "dead-same": [("dead_lettered", "undecidable")],
    "dead-unmeasured": [("dead_lettered", "undecidable")],
    "dead-fair": [("dead_lettered", "undecidable")],
    "dead.fifo": [("dead_lettered", "undecidable"), ("fifo_group_blocked", "supported")],
    "order-later.fifo": [("out_of_order_commit", "supported")],
    "order-same.fifo": [],
    "order-kept.fifo": [],
    "order-standard": [],
    "order-no-group.fifo": [],
    "order-repeated.fifo": [],
    "order-open.fifo": [("out_of_order_commit", "undecidable")],
    "lost": [("retention_expired", "supported")],
    "lost-young": [("retention_expired", "undecidable")],
    "lost-unmeasured": [("retention_expired", "undecidable")],
    "lost-unread": [("retention_expired", "undecidable")],
    "lost-read": [("retention_expired", "supported")],
    "lost-finished": [],
    "lost-unknown": [],
    "lost-not-yet": [],
    "lost-just-now": [("retention_expired", "supported")],
    "poison-3": [("poison_without_dlq", "supported")],
    "poison-2": [],
    "poison-dlq": [],
    "poison-done": [],
    "poison-open": [("poison_without_dlq", "undecidable")],
}


@pytest.mark.parametrize("queue", STANCES)
def test_a_small_world_comes_out_as_it_should(found, queue):
    assert sorted((row["code"], row["stance"]) for row in found[queue]) == STANCES[queue]


def test_every_world_is_expected_and_every_finding_cites_evidence(found):
    assert set(found) == set(STANCES)
    assert all(row["evidence_ids"] for rows in found.values() for row in rows)


def test_a_group_that_failed_twice_stood_still_once(found):
    [row] = found["failed-twice.fifo"]

    assert (row["from_at"], row["until_at"], row["span_ms"]) == (
        at(10),
        at(70),
        60_000,
    )
    assert (row["item_id"], row["incident_id"]) == ("m1", "failed-twice.fifo-incident")
    assert (row["message_count"], row["message_ids"]) == (2, ["m2", "m3"])


def test_what_got_through_ends_one_stop_and_begins_the_next(found):
    spans = sorted((row["span_ms"], row["message_ids"]) for row in found["part-got-through.fifo"])

    assert spans == [(29_000, ["m3"]), (30_000, ["m2", "m3"])]


def test_a_group_whose_send_times_are_unknown_counts_nobody(found):
    [row] = found["sent-unknown.fifo"]

    assert row["message_count"] is None


def test_a_move_lies_between_the_timeout_and_the_first_sign_of_it(found):
    [grown], [fifo] = found["dead"], [row for row in found["dead.fifo"] if row["code"] == "dead_lettered"]

    assert grown["from_at"] == at(130)
    assert grown["until_at"] == at(180)
    assert fifo["span_ms"] == 20


def test_the_next_message_of_a_fair_group_shows_no_move(found):
    """Groups of a standard queue do not wait for one another."""
    [moved] = found["dead-fair"]

    assert moved["until_at"] is None


def test_redriving_is_safe_only_where_the_work_was_not_done(found):
    [maybe], [never] = found["dead"], [row for row in found["dead.fifo"] if row["code"] == "dead_lettered"]

    assert (maybe["effects_at_least"], maybe["effects_at_most"], maybe["redrive"]) == (0, 2, "may_repeat")
    assert (never["effects_at_least"], never["effects_at_most"], never["redrive"]) == (0, 0, "safe")


def test_the_metric_that_shows_it_is_cited(found):
    [grown], [late] = found["dead"], found["lost"]

    assert "metric:dead-dlq-120" in grown["evidence_ids"]
    assert "metric:lost-850" in late["evidence_ids"]


def test_a_late_commit_names_both_messages(found):
    [row] = found["order-later.fifo"]

    assert (row["message_ids"], row["span_ms"]) == (["m1", "m2"], 1)
