"""Evidence to findings: runs the steps in their order and publishes one generation."""

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forensics.clock import moment
from forensics.counting.halves import stretch_of
from forensics.counting.hashes import RECENTLY, settled_parts, shard_bounds
from forensics.counting.orders import orders_together
from forensics.counting.runs import blind_starts, runs_of_mappings
from forensics.counting.waiting_lines import HASHES_PER_BORDER
from forensics.errors import CacheDamagedError
from forensics.health.accepted import check_codes
from forensics.judging.recorded import Recorded
from forensics.judging.surroundings import Surroundings
from forensics.judging.written import lines_of_writers
from forensics.lake import Generation, Lake
from forensics.lake.data_files import sha256_of
from forensics.lake.forgetting import forget_generations
from forensics.parsers.sends import pattern_of
from forensics.sentence import counted, said
from forensics.settings import Settings
from forensics.settings_text import bearing_text, text_digest
from forensics.streams.groups import LAMBDA
from forensics.streams.reading import Reading
from forensics.tables import Table
from forensics.tables import findings as T
from spark_jobs import steps
from spark_jobs.cache import Cache, Summary, code_digest, digest, linked
from spark_jobs.candidates import Plan
from spark_jobs.carried import Carried, Progress, Unheard
from spark_jobs.carrier import Carrier, OnSpark
from spark_jobs.evidence import Evidence, LogFile, pinned
from spark_jobs.parts import all_invocations, all_runs, written
from spark_jobs.steps import Shared
from spark_jobs.telling import Parts, Telling

_BEFORE_US = 12 * 3_600 * 1_000_000
"""A message can have been received so long before the first line about it: the longest visibility timeout."""
LINES_PER_PIECE = 150_000
"""A file with more lines is read in pieces, each with some of its streams: so that cores end together, and for their memory."""
_MOST_ATTEMPTS = 5
"""Each attempt that stumbles over damage removes it, and the next may meet what lay behind; a disk that fails ends it."""


def correlate(
    lake: Lake,
    settings: Settings,
    master: str | None = None,
    since: datetime | None = None,
    progress: Progress | None = None,
    spark: Any = None,
    force: bool = False,
    carrier: Carrier | None = None,
) -> Generation:
    """Judge the evidence of a lake and publish the findings; returns the generation that readers see from now on.

    ``since`` leaves out log events before it (UTC). Where the newest generation was made from the same evidence, settings
    and code, nothing is done, unless ``force``, which makes everything anew. ``carrier`` None means Spark: the running
    context ``spark``, or one on ``master``. Raises LakeMissingError, LakeBusyError, SettingsError, SparkEndedError,
    CacheDamagedError.
    """
    progress = progress or Unheard()
    check_codes(settings)
    lake.check()
    with lake.writing("correlate"):
        versions = lake.versions()
        generation_id = fingerprint(lake, settings, since)
        newest = lake.generation()
        if newest and newest.generation_id == generation_id and not force:
            progress.step("findings are up to date with the evidence")
            return newest
        carrier = carrier or _on_spark(master, progress, spark)
        for attempt in range(1, _MOST_ATTEMPTS + 1):
            run = _Run(lake, settings, versions, since, progress, carrier, force and attempt == 1)
            try:
                return run.run(generation_id)
            except Exception as problem:
                damaged = run.cache.remove_damaged(run.carried.used)
                if not damaged:
                    raise
                if attempt == _MOST_ATTEMPTS:
                    raise CacheDamagedError.of(run.cache.root, damaged) from problem
                progress.step(
                    said("making again what an earlier run left damaged: {names}", names=", ".join(damaged[:3]))
                )
        raise AssertionError("the last attempt returns or raises")


def fingerprint(lake: Lake, settings: Settings, since: datetime | None) -> str:
    """Name a run by what it reads: the same inputs give the same name. Merged files are no new data."""
    return (
        digest("generation", sorted(lake.contents().items()), settings.text, since.isoformat() if since else None)
        + code_digest()[:32]
    )


def _on_spark(master: str | None, progress: Progress, spark: Any) -> Carrier:
    from spark_jobs.context import spark_context

    return OnSpark(spark or spark_context(master, progress.step))


class _Run:
    """One correlation: what it reads, who carries it, and what it used of the cache."""

    def __init__(
        self,
        lake: Lake,
        settings: Settings,
        versions: Mapping[str, int],
        since: datetime | None,
        progress: Progress,
        carrier: Carrier,
        force: bool,
    ) -> None:
        self.lake, self.settings, self.versions, self.progress = lake, settings, dict(versions), progress
        self.cache = Cache(lake.root / "findings" / ".cache")
        if force:
            self.cache.clear()
        self.carried = Carried(self.cache, carrier, progress)
        self.evidence = pinned(lake, settings, versions, since)
        self.sources: dict[Path, Path] = {}
        """Staged files and what they were linked to."""
        self.run_id = f"{time.time_ns() // 1_000_000:015d}-{uuid.uuid4().hex[:12]}"

    def run(self, generation_id: str) -> Generation:
        """Run every step and make its findings visible."""
        shared = Shared(self.cache, self.evidence.since, call_files=self.evidence.call_files)
        surveys = self._surveyed(shared)
        reading = self.evidence.reading(surveys)
        shared = replace(shared, reading=reading)
        parts = self._parts(shared, surveys)
        calls = self._calls(shared, parts)
        around, data_until = self._surroundings(surveys, parts, reading, calls)
        shared = replace(shared, around=around, entries=tuple(parts.entries))
        where, plan = self._plan(shared, parts)
        shared = replace(shared, plan=where)
        self.progress.step("judging what was redelivered")
        judged, of_judged, settled = self._judged(shared, parts, plan)
        self.progress.step("weighing incidents, settings and the health of the queues")
        telling = Telling(self.carried, self.evidence, shared, parts, judged, of_judged, settled, data_until)
        for table, files in telling.tell().items():
            self._stage(table, files)
        if not (blind := telling.blind).is_empty():
            written(self.lake.staging_folder(T.INCIDENTS, self.run_id), "blind", blind, T.INCIDENTS.key)
        settings = bearing_text(self.settings)
        about = {
            "generation_id": generation_id,
            "inputs": self.versions,
            "rules_version": code_digest()[:12],
            "data_since_at": self.evidence.since,
            "data_until_at": None if data_until is None else moment(data_until),
            "made_at": datetime.now(UTC),
            "settings_text": settings,
            "settings_digest": text_digest(settings),
        }
        generation = self.lake.publish(self.run_id, about, digest=self._sha256)
        self.cache.sweep(self.carried.used)
        forget_generations(self.lake)
        return generation

    def _surveyed(self, shared: Shared) -> list[Summary]:
        units = [
            {"name": digest("survey", file.identity, shared.since), "path": file.path} for file in self.evidence.files
        ]
        return self.carried.map(steps.survey, shared, units)

    def _parts(self, shared: Shared, surveys: Sequence[Summary]) -> Parts:
        assert shared.reading is not None
        units: list[dict[str, Any]] = []
        lines: list[int] = []
        of_pieces: list[Summary] = []
        for file, survey in zip(self.evidence.files, surveys, strict=True):
            name = _scan_name(file, survey, shared.reading, self.evidence)
            count = sum(group["count"] for group in survey["groups"])
            pieces = max(1, -(-count // LINES_PER_PIECE))
            for n in range(pieces):
                piece = {"name": digest(name, n, pieces), "path": file.path, "sha256": file.sha256}
                units.append({**piece, "piece": n, "pieces": pieces})
                lines.append((count + n) // pieces)
                of_pieces.append(survey)
        self.progress.step(said("reading {events}", events=counted(sum(lines), "log event")))
        told = self.carried.map(steps.scan, shared, units, lines, "log events read")
        told = self._with_receives_out_of_reach(shared, units, of_pieces, told)
        held = ("rest", "facts", "borders")
        scanned = [
            {"name": unit["name"], **{name: t[name] for name in held}} for unit, t in zip(units, told, strict=True)
        ]
        sizes = [one["borders"] + one["rest"] for one in scanned]
        at = [_time_of(unit["name"], one) for unit, one in zip(units, told, strict=True)]
        settled = settled_parts(at, sizes, HASHES_PER_BORDER)
        old = [scanned[n] for n in settled]
        before = {"name": digest("settled_joins", *(one["name"] for one in old)), "parts": old}
        self.carried.one(steps.settle_joins, shared, before)
        plan: dict[str, Any] = {"name": digest("plan_joins", *(u["name"] for u in units)), "parts": scanned}
        plan |= {"settled": settled, "before": before["name"]}
        planned = self.carried.one(steps.plan_joins, shared, plan)
        source = str(self.cache.entry("plan_joins", plan["name"]))
        paths = [unit["path"] for unit in units]
        joins = [{**unit, "source": source, "paths": [paths[n] for n in unit["files"]]} for unit in planned["units"]]
        joined = self.carried.map(steps.join, shared, joins, [u["lines"] for u in joins])
        entries = [("scan", unit["name"]) for unit in units]
        if planned["without"]:
            taken = [
                {"name": digest("without", name, streams), "part": name, "streams": streams}
                for name, streams in sorted(planned["without"].items())
            ]
            less = self.carried.map(steps.without, shared, taken)
            for unit, summary in zip(taken, less, strict=True):
                place = entries.index(("scan", unit["part"]))
                entries[place], told[place] = ("without", unit["name"]), summary
        entries += [("join", unit["name"]) for unit in joins]
        return Parts(entries, [*told, *joined])

    def _calls(self, shared: Shared, parts: Parts) -> Recorded:
        """Return which calls are recorded, and add a part of the messages that recorded sends link to others."""
        patterns = sorted(pattern_of(producer) for producer in self.settings.producers)
        units: list[dict[str, Any]] = [
            {"name": digest("calls", Path(path).name, patterns), "path": path, "patterns": patterns}
            for path in self.evidence.call_files
        ]
        told = self.carried.map(steps.calls, shared, units)
        if units:
            sends = [("calls", unit["name"]) for unit in units]
            unit = {"name": digest("resent", sends, parts.entries), "sends": sends, "parts": list(parts.entries)}
            parts.told.append(self.carried.one(steps.resent, shared, unit))
            parts.entries.append(("resent", str(unit["name"])))
        return Recorded(one["queues"] for one in told)

    def _with_receives_out_of_reach(
        self, shared: Shared, units: list[dict[str, Any]], surveys: Sequence[Summary], told: list[Summary]
    ) -> list[Summary]:
        """Name files anew that print messages received long before or after their lines, by the settings of that time, too."""
        assert shared.reading is not None
        odd = []
        for number, (survey, summary) in enumerate(zip(surveys, told, strict=True)):
            low, high = _span_of(survey)
            received = summary["received"]
            if received and not low <= received[0] <= received[1] <= high:
                bearing = shared.reading.in_force.bearing_of_all(*received)
                units[number] = {**units[number], "name": digest(units[number]["name"], bearing)}
                odd.append(number)
        again = self.carried.map(steps.scan, shared, [units[n] for n in odd])
        return [dict(zip(odd, again, strict=True)).get(n, summary) for n, summary in enumerate(told)]

    def _surroundings(
        self, surveys: Sequence[Summary], parts: Parts, reading: Reading, calls: Recorded
    ) -> tuple[Surroundings, int | None]:
        """Return what is known beside the lines of works, and until when any log group was read (µs)."""
        orders = orders_together(told["orders"] for told in parts.told)
        blind = [
            starts
            for entry, told in zip(parts.entries, parts.told, strict=True)
            if any(writer["blind"] for writer in _of_groups([told]))
            for starts in blind_starts(*all_runs(self.cache.entry(*entry)), reading.in_force, orders)
        ]
        functions = {name: group.function_name for name, group in reading.groups.items()}
        lines = lines_of_writers(_of_groups(surveys), _of_groups(parts.told), blind, functions, orders)
        around = Surroundings(
            **self.evidence.small,
            recorded=calls,
            producers=self.settings.producers,
            metric_points=self.evidence.rule_points,
            runs=runs_of_mappings(
                self.evidence.small["event_source_mappings"],
                (all_invocations(self.cache.entry(*entry)) for entry in parts.entries),
            ),
            lines=lines,
            settings=self.evidence.settings,
        )
        borders = [span[1] for told in lines if (span := around.read_span(told.log_group))]
        return around, max(borders, default=None)

    def _plan(self, shared: Shared, parts: Parts) -> tuple[Plan, Summary]:
        assert shared.around is not None
        moves = {queue: list(spans) for queue, spans in shared.around.moves.items()}
        moved: list[dict[str, Any]] = [
            {"name": digest("moved", *entry, sorted(moves.items())), "part": number}
            for number, (entry, told) in enumerate(zip(parts.entries, parts.told, strict=True))
            if moves.keys() & set(told["queues"])
        ]
        self.carried.map(steps.find_moved, shared, moved)
        bounds = shard_bounds(sum(told["hashes"] for told in parts.told))
        names = [f"{step}/{name}" for step, name in parts.entries] + [str(unit["name"]) for unit in moved]
        asked = [[unit["part"], unit["name"]] for unit in moved]
        at = [_time_of(*one) for one in zip(parts.entries, parts.told, strict=True)]
        sizes = [told["hashes"] for told in parts.told]
        settled = settled_parts(at, sizes)
        rest = sorted(set(range(len(sizes))) - set(settled))
        recent = [rest[n] for n in settled_parts([at[n] for n in rest], [sizes[n] for n in rest], RECENTLY)]
        old = [names[n] for n in settled]
        units = [
            {"name": digest("hashes", *ends, *old), "low": ends[0], "high": ends[1], "settled": settled}
            for ends in bounds
        ]
        self.carried.map(steps.settle_hashes, shared, units)
        hashes = [unit["name"] for unit in units]
        before = {"name": digest("settled_plan", *hashes), "hashes": hashes}
        told = self.carried.one(steps.settle_plan, shared, before)
        for unit in units:
            name = digest("recent_hashes", unit["name"], *(names[n] for n in recent))
            unit.update(hashes=unit["name"], name=name, recent=recent)
        self.carried.map(steps.gather_hashes, shared, units)
        for unit in units:
            name = digest("shared", unit["low"], unit["high"], *names)
            unit.update(gathered=unit["name"], name=name, moved=asked)
        self.carried.map(steps.find_shared, shared, units)
        name = digest("plan", *(unit["name"] for unit in units))
        plan = {"name": name, "shards": [unit["name"] for unit in units], "before": before["name"], "told": told}
        where = Plan(self.cache.entry("plan", name), self.cache.entry("settled_plan", str(before["name"])), settled)
        return where, self.carried.one(steps.plan, shared, plan | {"settled": settled})

    def _judged(self, shared: Shared, parts: Parts, plan: Summary) -> tuple[list[str], list[Summary], list[str]]:
        """Judge what needs it, and write down what does not; returns the names of both, and what is told of what was judged."""
        assert shared.around is not None
        judged: list[dict[str, Any]] = []
        for name, unit in plan["units"].items():
            pieces = unit["pieces"]
            queues = sorted({q for piece in pieces for q in parts.told[piece["part"]]["queues"]})
            groups = sorted({g for piece in pieces for g in parts.told[piece["part"]]["log_groups"]})
            low, high = min(p["low"] for p in pieces), max(p["high"] for p in pieces)
            rests_on = [(*parts.entries[piece["part"]], piece["owners"]) for piece in pieces]
            functions = {f for piece in pieces for f in parts.told[piece["part"]]["functions"]}
            bearing = shared.around.bearing(queues, groups, low, high, functions)
            judged.append({"name": digest("judge", rests_on, bearing), "began": stretch_of(name)})
        settled: list[dict[str, Any]] = [
            {"name": digest("settle", *entry, plan["by_part"].get(str(number), "")), "part": number}
            for number, entry in enumerate(parts.entries)
        ]
        told, _ = self.carried.both(
            shared,
            (steps.judge, judged, [unit["messages"] for unit in plan["units"].values()]),
            (steps.settle, settled, [0] * len(settled)),
            what="messages judged",
        )
        return [unit["name"] for unit in judged], told, [unit["name"] for unit in settled]

    def _stage(self, table: Table, files: Sequence[Path]) -> None:
        folder = self.lake.staging_folder(table, self.run_id)
        folder.mkdir(parents=True, exist_ok=True)
        for number, file in enumerate(files):
            linked(file, staged := folder / f"part-{number:05d}-{file.parent.name}.parquet")
            self.sources[staged] = file

    def _sha256(self, staged: Path) -> str:
        return self.cache.sha256(self.sources[staged]) if staged in self.sources else sha256_of(staged)


def _of_groups(told: Iterable[Summary]) -> Iterable[dict[str, Any]]:
    return (group for one in told for group in (*one["groups"], *one.get("workers", ())))


def _scan_name(file: LogFile, told: Summary, reading: Reading, evidence: Evidence) -> str:
    """Name what is read of a file: its content, who writes its log groups, and the settings in force in its time."""
    groups = reading.groups
    mine = [
        [
            groups[name := group["log_group"]],
            *(groups.written_by(name, function) for function in group["functions"]),
            *dict.fromkeys(groups.of(name, s) for s, _ in group["streams"] if groups[name].kind == LAMBDA),
        ]
        for group in told["groups"]
    ]
    bearing = reading.in_force.bearing_of_all(*_span_of(told))
    return digest("scan", file.identity, evidence.since, mine, evidence.settings.queues, bearing)


def _time_of(part: Any, told: Summary) -> tuple[int, str]:
    """Return by what parts are put in the order of time: when the first message was received in it (µs), and its name."""
    return (told["received"] or [0])[0], str(part)


def _span_of(told: Summary) -> tuple[int, int]:
    """Return when the messages that a file's lines speak of may have been received (µs)."""
    low = min((group["first_at"] for group in told["groups"]), default=0) - _BEFORE_US
    return low, max((group["last_at"] for group in told["groups"]), default=0)
