"""From judged works to the files of the findings tables: who belongs to which incident, and what is told of it."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from forensics.clock import micros
from forensics.counting import fifo_groups
from forensics.counting import members as counted
from forensics.counting.frames import schema_of
from forensics.counting.hashes import settled_parts
from forensics.counting.periods import HASHES_PER_ROW, ROWS_SPARED, stretches
from forensics.identity import is_fifo_name
from forensics.incidents.gaps import Gaps
from forensics.judging.written import Writer
from forensics.known import Known
from forensics.queue_findings import MetricSeries
from forensics.queue_findings.queue import Measured
from forensics.tables import FINDINGS, Table
from forensics.tables import findings as T
from spark_jobs import publish
from spark_jobs.cache import Summary, digest
from spark_jobs.carried import Carried, Unit
from spark_jobs.evidence import Evidence
from spark_jobs.members import Members, place, settle
from spark_jobs.steps import Shared


@dataclass
class Parts:
    """Scanned files and joined streams, as (step, name), each with what it says of itself."""

    entries: list[tuple[str, str]]
    told: list[Summary]


@dataclass
class Telling:
    """What one run tells of its judged works (names of ``judged`` entries) and of what needed no judging (``settled``)."""

    carried: Carried
    evidence: Evidence
    shared: Shared
    parts: Parts
    judged: Sequence[str]
    of_judged: Sequence[Summary]
    settled: Sequence[str]
    data_until: int | None
    blind: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=schema_of(T.INCIDENTS)))
    """Incidents of queues whose logs name no message."""

    def tell(self) -> dict[Table, list[Path]]:
        """Write what people read; returns the files of each findings table."""
        shared, parts, judged, settled, data_until = self.shared, self.parts, self.judged, self.settled, self.data_until
        assert (reading := shared.reading) is not None and shared.around is not None
        known = Known.of(self.evidence.small, reading.groups, self.evidence.settings.functions)
        points = [{**p, "point_at": micros(p["point_at"])} for p in self.evidence.rule_points]
        members, of_members = self._members()
        around = publish.Surrounding(
            self.carried.cache,
            known,
            Gaps(self.evidence.small["coverage"]),
            points,
            Measured(
                reading.in_force,
                MetricSeries("ApproximateNumberOfMessagesVisible", points),
                MetricSeries("ApproximateAgeOfOldestMessage", points),
                shared.around.read_of_logs,
                data_until,
            ),
            shared.around.finality,
            self.evidence.settings.team.local,
            members,
        )
        placed = [digest("messages", name, of_members["told"].get(name, "")) for name in judged]
        messages: list[Unit] = [
            {"name": placed[part], "judged": name, "part": part} for part, name in enumerate(judged)
        ]
        named = dict(zip(judged, placed, strict=True))
        everything = self._everything()
        queues = self._queues()
        runs = self._group_runs()
        of_messages, told = self.carried.both(
            around,
            (publish.messages, messages, [told["messages"] for told in self.of_judged]),
            (publish.group_runs, runs, [0] * len(runs)),
        )
        groups = self._groups(around, runs, told) if runs else []
        for queue in queues:
            of_queue = {unit["name"]: told["following"].get(queue["queue_arn"]) for unit, told in groups}
            nexts = {name: said for name, said in of_queue.items() if said is not None}
            ends = [
                n for n, told in zip(judged, self.of_judged, strict=True) if queue["queue_arn"] in told["unfinished"]
            ]
            rests_on = (queue["queue_arn"], ends, sorted(nexts.values()), members.name, everything, data_until)
            queue.update(name=digest("queue", *rests_on), groups=sorted(nexts), judged=ends)
        blocked = _blocked(groups)
        units: list[dict[str, Any]] = [
            {
                **unit,
                "name": digest("incidents", unit["judged"], unit["members"], lacking, held),
                "shares": [named[name] for name in unit["judged"]],
                "blocked_ms": held,
            }
            for unit in of_members["units"]
            for held in [{name: blocked[name] for name in unit["held"]}]
            for lacking in [around.gaps.between(unit["queues"], unit["from_at"], unit["until_at"])]
        ]
        days = self._days(around, placed, of_messages)
        told, of_days = self.carried.both(
            around,
            (publish.incidents, units, [unit["messages"] for unit in units]),
            (publish.days, days, [0] * len(days)),
        )
        ids = [incident_id for unit in told for incident_id in unit["ids"]]
        names_items: dict[Writer, bool] = defaultdict(bool)
        for part in parts.told:
            for group in part["groups"]:
                names_items[group["log_group"], group["function_name"]] |= bool(group["names_items"])
        health: dict[str, Any] = {
            "name": digest("health", settled, parts.entries, judged, placed, everything, data_until),
            "days": self._days_together(around, days, of_days),
            "parts": [list(entry) for entry in parts.entries],
            "judge": judged,
            "metric_files": self.evidence.metric_files,
            "of_invocations": [t["of_invocations"] for t in parts.told],
            "of_handlings": [t["of_handlings"] for t in parts.told],
            "written": {name: group.kind for name, group in reading.groups.items()},
        }
        self.carried.both(around, (publish.queue, queues, [1] * len(queues)), (publish.health, [health], [2]))
        self.blind = publish.blind(around, parts.entries, names_items, ids)
        staged: dict[Table, list[Path]] = {table: [] for table in FINDINGS}

        def add(table: Table, step: str, names: Iterable[str]) -> None:
            staged[table] += [self.carried.cache.entry(step, name) / f"{table.name}.parquet" for name in names]

        staged[T.INVOCATIONS] += [self.carried.cache.entry(*e) / "invocations.parquet" for e in parts.entries]
        add(T.DELIVERIES, "settle", settled)
        for table in (T.DELIVERIES, T.REDELIVERIES, T.RULINGS):
            add(table, "judge", judged)
        for table in (T.MESSAGES, T.TIMELINE):
            add(table, "messages", placed)
        for table in (T.INCIDENTS, T.COUNTERFACTUALS):
            add(table, "incidents", [u["name"] for u in units])
        add(T.QUEUE_FINDINGS, "groups", [unit["name"] for unit, _ in groups])
        add(T.QUEUE_FINDINGS, "queue", [unit["name"] for unit in queues])
        for table in (T.QUEUE_HEALTH, T.QUEUE_WEEKS, T.SETTING_FINDINGS, T.LOGGING_READINESS):
            add(table, "health", [health["name"]])
        return staged

    def _members(self) -> tuple[Members, Summary]:
        """Place messages in incidents; those of units that were judged long ago are looked at together."""
        judged, carried = list(self.judged), self.carried
        sizes = [told["messages"] for told in self.of_judged]
        settled = settled_parts(range(len(judged)), sizes, counted.HASHES_PER_VERDICT, counted.VERDICTS_SPARED)
        old = [judged[n] for n in settled]
        before: Unit = {"name": digest("settled_members", *old), "judged": old}
        told = carried.one(settle, self.shared, before)
        unit: Unit = {"name": digest("members", *judged), "judged": judged, "settled": settled}
        summary = carried.one(place, self.shared, unit | {"before": before["name"], "told": told})
        source = carried.cache.entry("settled_members", before["name"])
        return Members(carried.cache.entry("members", unit["name"]), source, settled), summary

    def _days(self, around: publish.Surrounding, placed: Sequence[str], of_messages: Sequence[Summary]) -> list[Unit]:
        """Return stretches of time, each with the files of what was measured in it: new lines make few of them anew."""
        files = [
            *(
                [("settle", n, "measures"), (*e, "run_measures")]
                for n, e in zip(self.settled, self.parts.entries, strict=True)
            ),
            *(
                [("judge", n, "measures"), ("messages", m, "measures")]
                for n, m in zip(self.judged, placed, strict=True)
            ),
        ]
        told = [*((told,) for told in self.parts.told), *zip(self.of_judged, of_messages, strict=True)]
        spans = [[end for one in mine for end in one["measured"] or ()] for mine in told]
        units: list[Unit] = []
        for mine, ends in stretches(spans, around.until, publish.MEASURED_PER_UNIT):
            of_files = sorted(file for n in mine for file in files[n])
            units.append({"name": digest("days", of_files, around.zone, ends), "files": of_files})
        return units

    def _days_together(
        self, around: publish.Surrounding, days: Sequence[Unit], of_days: Iterable[Summary]
    ) -> list[tuple[str, str]]:
        """Count together what was counted of days long ago; returns the entries of all."""
        settled = settled_parts(range(len(days)), [told["rows"] for told in of_days], HASHES_PER_ROW, ROWS_SPARED)
        old = [days[n]["name"] for n in settled]
        before: list[Unit] = [{"name": digest("settled_days", *old), "days": old}] if old else []
        self.carried.map(publish.settle_days, around, before)
        new = [("days", unit["name"]) for n, unit in enumerate(days) if n not in set(settled)]
        return [*(("settled_days", unit["name"]) for unit in before), *new]

    def _everything(self) -> dict[str, str]:
        """Return digests of the small evidence, by table."""
        told = {
            name: digest(name, json.dumps(rows, default=str, sort_keys=True))
            for name, rows in self.evidence.small.items()
        }
        told["points"] = digest("points", *self.evidence.metric_files)
        return told | {"settings": digest("settings", self.evidence.settings.text)}

    def _queues(self) -> list[Unit]:
        """Return the queues of which there is something to find."""
        names = {q for told in self.of_judged for q in told["queues"]}
        names |= {q for told in self.parts.told for q in told["queues"] if is_fifo_name(q)}
        return [{"queue_arn": arn} for arn in sorted(names)]

    def _group_runs(self) -> list[Unit]:
        """Return the entries that tell of message groups."""
        settled = [(["settle", name], told) for name, told in zip(self.settled, self.parts.told, strict=True)]
        judged = [(["judge", name], told) for name, told in zip(self.judged, self.of_judged, strict=True)]
        entries = [entry for entry, told in settled + judged if any(map(is_fifo_name, told["queues"]))]
        return [{"name": digest("group_runs", entry), "entries": [entry]} for entry in entries]

    def _groups(
        self, around: publish.Surrounding, runs: Sequence[Unit], told: Sequence[Summary]
    ) -> list[tuple[Unit, Summary]]:
        """Return what was found of message groups; ``told`` is what ``group_runs`` says of each of the ``runs``."""
        names = [unit["name"] for unit in runs]
        at = [(one["until"], name) for one, name in zip(told, names, strict=True)]
        sizes = [one["runs"] for one in told]
        settled = settled_parts(at, sizes, fifo_groups.HASHES_PER_RUN, fifo_groups.RUNS_SPARED)
        old = [names[n] for n in settled]
        before: Unit = {"name": digest("settled_groups", *old), "runs": old}
        self.carried.one(publish.settle_groups, around, before)
        fifo: Unit = {
            "name": digest("stretches", names, around.members.name),
            "entries": [entry for unit in runs for entry in unit["entries"]],
            "runs": names,
            "settled": settled,
            "before": before["name"],
        }
        parted = self.carried.one(publish.stretches, around, fifo)
        groups: list[Unit] = [
            {**one, "name": digest("groups", one), "stretches": fifo["name"]} for one in parted["units"]
        ]
        return list(zip(groups, self.carried.map(publish.groups, around, groups), strict=True))


def _blocked(groups: Iterable[tuple[Unit, Summary]]) -> dict[str, int]:
    """Return for how long the message groups of each incident (queue ARN, blank, id) were held in all, in milliseconds."""
    blocked: dict[str, int] = defaultdict(int)
    for _, told in groups:
        for incident, held_ms in told["held_ms"].items():
            blocked[incident] += held_ms
    return blocked
