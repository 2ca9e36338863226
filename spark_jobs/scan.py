"""One evidence file to what it alone can tell: invocations and deliveries that are over, and the lines that wait for others.

An *ordinary* invocation (START, at most one printed event, lines of known shapes, END and a plain REPORT, nothing late) is
put together by vectors. One that is over but not ordinary goes line by line through ``forensics.streams``. Lines of an
invocation that begins or ends in another file, of a stream whose invocations are interleaved, and of workers, are ``rest``:
they are put together with those of other files (``assemble``).
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import polars as pl

from forensics.counting.cut_off import failed_runs, naming_runs
from forensics.counting.line_shapes import Shapes, hold_any, shapes_of
from forensics.counting.prefix_columns import prefix_ids
from forensics.counting.printed_columns import records_of
from forensics.counting.told_once import told_once
from forensics.counting.vector_marks import Marks
from forensics.counting.waiting_lines import STREAM
from forensics.parsers.grammar import REQUEST_ID
from forensics.parsers.line import parse_line
from forensics.streams.model import LogGroup
from forensics.streams.reading import Reading
from forensics.streams.shapes import EFFECT, MENTION, ODD, OTHER_ID, STARTED, ask, with_own_id
from spark_jobs import screen
from spark_jobs.assemble import facts_of_workers, of_streams, said_by
from spark_jobs.ordinary import Ordinary, in_force_at
from spark_jobs.parts import LINE_SCHEMA, Part
from spark_jobs.screen import END, EVENT, REPORT, START

LINE_COLUMNS = ["evidence_id", "log_group", "log_stream", "logged_at", "order_in_ms", "line"]
_IN_STREAM = ["stream", "at", "order_in_ms"]


def scanned(events: pl.DataFrame, reading: Reading, *, with_vectors: bool = True) -> Part:
    """Read the log events of one file (``LINE_COLUMNS``); a group that is not known is left out.

    Without vectors every invocation that is over goes line by line; the answer is the same.
    """
    events = events.with_columns(
        at=pl.col("logged_at").dt.epoch("us"),
        order_in_ms=pl.col("order_in_ms").fill_null(0),
        stream=pl.struct(*STREAM).hash(),
    )
    groups, numbers = _writers(events, reading)
    events = events.join(numbers, on="stream", how="inner")
    of_functions = [n for n, group in enumerate(groups) if group.kind == "lambda"]
    is_function = pl.col("group").is_in(of_functions)
    part = Part(facts=facts_of_workers(events.filter(~is_function).select(*LINE_SCHEMA), reading))
    mine = events.filter(is_function)
    if mine.is_empty():
        return part
    lines = _Lines(mine, groups, reading)
    if with_vectors:
        part = part.and_part(lines.ordinary())
    part = part.and_part(of_streams(lines.over(), reading))
    return part.and_part(Part(rest=said_by(lines.rest(), reading), borders=lines.borders()))


def _writers(events: pl.DataFrame, reading: Reading) -> tuple[list[LogGroup], pl.DataFrame]:
    """Return who writes the streams of some events, and of each stream of a known group the number of its writer."""
    groups: dict[LogGroup, int] = {}
    rows = []
    streams = events.select("stream", *STREAM).unique("stream").sort(*STREAM)
    for stream, log_group, log_stream in streams.iter_rows():
        if log_group in reading.groups:
            rows.append((stream, groups.setdefault(reading.groups.of(log_group, log_stream), len(groups))))
    return list(groups), pl.DataFrame(rows, schema={"stream": pl.UInt64, "group": pl.UInt32}, orient="row")


class _Lines:
    """A file's lines of functions by invocation: which are ordinary, which are over, and which wait for other files.

    A *run* here is what stands from one START of a stream to the next, or before the first.
    """

    def __init__(self, events: pl.DataFrame, groups: Sequence[LogGroup], reading: Reading) -> None:
        self.groups, self.reading = groups, reading
        self.marks = [Marks(group.consumer) for group in groups]
        lines = events.sort(_IN_STREAM)
        same = pl.all_horizontal(pl.col(name) == pl.col(name).shift(1) for name in _IN_STREAM)
        if lines.select(same.any()).item():
            lines = lines.sort([*_IN_STREAM, "evidence_id"])
        kind, line = pl.col("kind"), pl.col("line")
        lines = lines.with_columns(screen.kinds(lines["line"]))
        lines = lines.with_columns(
            run=((kind == START) | (pl.col("stream") != pl.col("stream").shift(1)).fill_null(True)).cum_sum() - 1,
            said_id=screen.said_ids(kind, line),
        )
        begins = pl.col("run") != pl.col("run").shift(1).fill_null(pl.lit(2**32 - 1, pl.UInt32))
        own = pl.when(kind == START).then(pl.col("said_id")).when(begins).then(pl.lit(""))
        is_application = kind == screen.APPLICATION
        has_shape = is_application & (line.str.len_bytes() <= screen.LONGEST_SHAPE)
        self.texts, shape = shapes_of(lines.select(pl.when(has_shape).then(line)).to_series())
        said = lines.select(pl.when(is_application | (kind == EVENT)).then(line)).to_series()
        self.lines = lines.with_columns(
            own_id=own.forward_fill(),
            begins=begins,
            shape=shape,
            line_id=prefix_ids(said, Shapes(self.texts, shape)),
        )
        self._settle_ids()
        self.runs = self._runs()
        self.taken = np.zeros(self.runs.height, bool)

    def _settle_ids(self) -> None:
        """Ask the grammar about ids of lines that are not their invocation's own: most are of messages."""
        is_other = (pl.col("line_id") != pl.col("own_id")).fill_null(False)
        mine = self.lines.with_row_index("place").filter(
            (pl.col("own_id") != "") & (is_other | (pl.col("kind") == screen.APPLICATION))
        )
        is_odd = screen.may_be_of_platform(pl.col("line"))
        of_shapes = self.texts.to_frame("line").select(is_odd).to_series().gather(mine["shape"])
        unshaped = pl.when(pl.col("shape").is_null() & (pl.col("kind") == screen.APPLICATION)).then(pl.col("line"))
        odd = mine.filter(is_other | of_shapes.fill_null(False) | screen.may_be_of_platform(unshaped).fill_null(False))
        odd = odd.select("place", "line", "group")
        if odd.is_empty():
            return
        told = [parse_line(t, None, self.groups[g].name).request_id for _, t, g in odd.iter_rows()]
        place = odd["place"].to_numpy()
        ids = self.lines["line_id"].to_list()
        for at, said in zip(place, told, strict=True):
            ids[at] = said
        self.lines = self.lines.with_columns(line_id=pl.Series(ids, dtype=pl.String))

    def _runs(self) -> pl.DataFrame:
        """One row per run: what its platform lines say, whether it is over, and whether its stream is tangled."""
        lines, kind = self.lines, pl.col("kind")
        count = lines.select(pl.col("run").max()).item() + 1
        run = lines["run"].to_numpy()
        kinds = lines["kind"].to_numpy()

        def counted(which: np.ndarray) -> np.ndarray:
            return np.bincount(run[which], minlength=count)

        first = np.flatnonzero(lines["begins"].to_numpy())
        last = np.append(first[1:], lines.height) - 1
        names_other = pl.when(kind.is_in([END, REPORT])).then(pl.col("said_id")).otherwise(pl.col("line_id"))
        is_foreign = (names_other != pl.col("own_id")).fill_null(False) & (pl.col("own_id") != "")
        is_nameless = (kind == START) & ~pl.col("said_id").str.contains(f"^{REQUEST_ID}$")
        foreign = lines.select(is_foreign | is_nameless).to_series().to_numpy()
        runs = lines[first].select(
            "run",
            "stream",
            "group",
            "log_group",
            "log_stream",
            "kind",
            own_id="own_id",
            start_at="at",
            start_id="evidence_id",
        )
        ends_with_platform = np.isin(kinds[last], (END, REPORT))
        has_next = np.append(runs["stream"].to_numpy()[1:] == runs["stream"].to_numpy()[:-1], False)
        starts = runs["kind"].to_numpy() == START
        repeated = (
            runs.select((pl.struct("stream", "own_id").is_duplicated()) & (pl.col("kind") == START))
            .to_series()
            .to_numpy()
        )
        tangled_streams = np.unique(
            runs["stream"].to_numpy()[np.bincount(run[foreign], minlength=count).astype(bool) | repeated]
        )
        tangled = np.isin(runs["stream"].to_numpy(), tangled_streams)
        reports = counted(kinds == REPORT)
        is_closed = (reports > 0) & ends_with_platform
        is_behind_report = (kinds[last] == END) & (kinds[last - 1] != REPORT)  # what stands between is in no invocation
        ends_once = (counted(kinds == END) == 1) & (reports == 1) & ~is_behind_report
        return runs.with_columns(
            is_over=starts & ~tangled & (has_next | is_closed),
            is_closed=is_closed,
            is_whole=starts & ~tangled & is_closed & ends_once,
            event_count=counted(kinds == EVENT),
            last_at=lines["at"].to_numpy()[last],
        ).drop("kind")

    def ordinary(self) -> Part:
        """Return what ordinary runs tell; they are not looked at again."""
        odd = ~self.runs["is_whole"].to_numpy() | (self.runs["event_count"].to_numpy() > 1)
        platform, at_limit = self._platform(odd)
        said, ends = self._said(odd)
        ended = self._ended(platform, ends, odd)
        self._mark_odd(odd, at_limit.filter(~at_limit.is_in(ended["run"].implode())))
        records = self._records(odd)
        self._mark_odd(odd, naming_runs(ends, records))
        said = self._settled(said, records, odd)
        self.taken = ~odd
        keep = pl.Series("run", np.flatnonzero(self.taken), dtype=pl.UInt32)
        runs = (
            self.runs.filter(pl.col("run").is_in(keep.implode()))
            .join(platform, on="run", how="left")
            .join(ended, on="run", how="left")
        )
        records = records.join(runs.select("run"), on="run", how="semi")
        said = said.join(runs.select("run"), on="run", how="semi")
        return Ordinary(runs, records, said, self.groups, self.reading).part()

    def _mark_odd(self, odd: np.ndarray, runs: pl.Series) -> None:
        odd[runs.to_numpy()] = True

    def _platform(self, odd: np.ndarray) -> tuple[pl.DataFrame, pl.Series]:
        """Return END and REPORT of each run that is whole; one that is not plain makes its run odd.

        And which runs took as long as the function may, so that they did not succeed for sure.
        """
        kind, line = pl.col("kind"), pl.col("line")
        lines = self.lines.filter(kind.is_in([START, END, REPORT])).select("run", "kind", "line", "evidence_id", "at")
        starts, ends, reports = (lines.filter(kind == one) for one in (START, END, REPORT))
        reports = reports.with_columns(duration_ms=screen.durations_ms(line), timed_out=screen.timed_out(line))
        self._mark_odd(odd, starts.filter(~line.str.contains(rf"^START RequestId: {screen.UUID}[ \t\r\n]"))["run"])
        self._mark_odd(odd, ends.filter(~line.str.contains(rf"^END RequestId: {screen.UUID}\s*$"))["run"])
        self._mark_odd(odd, reports.filter(pl.col("duration_ms").is_null())["run"])
        ends = ends.select("run", end_id="evidence_id", end_at="at").unique("run", keep="first")
        reports = reports.select("run", "duration_ms", "timed_out", report_id="evidence_id", report_at="at")
        reports = reports.unique("run", keep="first")
        found = ends.join(reports, on="run", how="inner")
        timed = self.runs.select("run", "group", "start_at").join(found, on="run", how="inner")
        return found, timed["run"].filter(pl.Series(timed["duration_ms"].to_numpy() >= self._limits(timed)))

    def _ended(self, platform: pl.DataFrame, ends: pl.DataFrame, odd: np.ndarray) -> pl.DataFrame:
        """Return how each run ended of which a line tells that it failed, and the lines that do; such a line behind END, or twice, makes it odd."""
        end_place = np.zeros(self.runs.height, np.int64)
        places = np.flatnonzero(self.lines["kind"].to_numpy() == END)
        end_place[self.lines["run"].to_numpy()[places]] = places
        is_again = ends.select(pl.struct("run", "at", "end", "error_type").is_duplicated()).to_series()
        self._mark_odd(odd, ends["run"].filter(is_again | (ends["place"] > pl.Series(end_place).gather(ends["run"]))))
        return failed_runs(ends, platform.filter("timed_out")["run"])

    def _limits(self, timed: pl.DataFrame) -> np.ndarray:
        """Return the function timeout in force at each START, in milliseconds; infinite where none is reading."""
        limits = np.full(timed.height, np.inf)
        group, at = timed["group"].to_numpy(), timed["start_at"].to_numpy()
        for number in np.unique(group):
            name = self.groups[number].function_name
            mine = np.flatnonzero(group == number)
            found = in_force_at(partial(self.reading.in_force.function, name), at[mine])
            for row, where in found:
                if row and row["timeout_s"] is not None:
                    limits[mine[where]] = row["timeout_s"] * 1000
        return limits

    def _said(self, odd: np.ndarray) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return one row per line that states something, and one per line that tells of its run's failure.

        A line whose shape the grammar does not read for sure makes its run odd.
        """
        is_mine = (pl.col("kind") == screen.APPLICATION) & ~pl.Series(odd)[self.lines["run"]].alias("odd")
        needed = ("place", "run", "group", "evidence_id", "at", "line", "shape")
        is_own = (pl.col("line_id") == pl.col("own_id")).fill_null(False)
        lines = self.lines.lazy().with_row_index("place").filter(is_mine).select(*needed, is_own=is_own).collect()
        line = pl.col("line")
        asks = [n for n, marks in enumerate(self.marks) if marks.asks_every_line]
        unshaped = lines.filter(pl.col("shape").is_null())
        is_worth = line.str.contains_any(screen.needles_of(self.marks)) | pl.col("group").is_in(asks)
        ids = line.str.count_matches(screen.UUID).cast(pl.Int64)
        self._mark_odd(odd, unshaped.filter(is_worth | (ids > pl.col("is_own").cast(pl.Int64)))["run"])
        lines = lines.join(self._answers(lines, asks), on=["group", "shape", "is_own"], how="inner")
        names = pl.Series([group.function_name for group in self.groups], dtype=pl.String)
        named = screen.function_names(pl.when("names_function").then(line))
        of_other = pl.col("names_function") & named.ne_missing(names.gather(lines["group"]))
        is_odd = pl.col("is_odd") | of_other
        self._mark_odd(odd, lines.filter(is_odd)["run"])
        lines = lines.filter(~is_odd)
        for marks, mine in self._by_marks(lines):
            self._mark_odd(odd, mine.filter(marks.unsaid(line, pl.col("says")))["run"])
        return self._values(lines.filter(pl.col("says") > 0), odd), lines.filter(pl.col("end") > 0)

    def _answers(self, lines: pl.DataFrame, asks: Sequence[int]) -> pl.DataFrame:
        """Return what lines of each shape say, for shapes that say anything; those that the grammar does not read for sure are odd."""
        key = ("group", "shape", "is_own")
        counts = lines.filter(pl.col("shape").is_not_null()).group_by(*key).len()
        found = counts.with_columns(text=self.texts.gather(counts["shape"]))
        text = pl.col("text")
        may_say = hold_any(self.texts, screen.needles_of(self.marks))
        is_worth = may_say.gather(found["shape"]) | found["group"].is_in(asks)
        ids = text.str.count_matches(OTHER_ID, literal=True).cast(pl.Int64)
        found = found.filter(is_worth | (ids > pl.col("is_own").cast(pl.Int64)))
        found = found.sort("len", "group", "text", "is_own", descending=[True, False, False, False])
        unreadable = [n for n, marks in enumerate(self.marks) if not marks.readable]
        is_odd = text.str.contains(screen.NUMBERED_ENTITY, literal=True) | pl.col("group").is_in(unreadable)
        odd = found.select(is_odd | (pl.int_range(pl.len()) >= screen.MOST_SHAPES)).to_series()
        texts = [with_own_id(told) if own else told for told, own in found.select("text", "is_own").iter_rows()]
        asked = [
            ODD if is_odd else ask(told, self.groups[group])
            for told, is_odd, group in zip(texts, odd, found["group"], strict=True)
        ]
        return found.select(
            *key,
            is_odd=pl.Series([a.is_odd for a in asked], dtype=pl.Boolean),
            says=pl.Series([a.says for a in asked], dtype=pl.UInt8),
            names=pl.Series([a.names_message for a in asked], dtype=pl.Boolean),
            effect_mask=pl.Series([a.effect_key for a in asked], dtype=pl.String),
            started_mask=pl.Series([a.started_key for a in asked], dtype=pl.String),
            names_function=pl.Series([a.names_function for a in asked], dtype=pl.Boolean),
            end=pl.Series([a.end for a in asked], dtype=pl.UInt8),
            error_type=pl.Series([a.error_type for a in asked], dtype=pl.String),
            besides=pl.Series([a.besides for a in asked], dtype=pl.String),
            id_count=pl.Series([told.count(OTHER_ID) for told in texts], dtype=pl.UInt32),
        )

    def _by_marks(self, lines: pl.DataFrame) -> Iterator[tuple[Marks, pl.DataFrame]]:
        """Yield the lines of groups with the same marks together."""
        patterns: dict[tuple[tuple[str, str], ...], list[int]] = {}
        for number, marks in enumerate(self.marks):
            patterns.setdefault(tuple(sorted((k, v or "") for k, v in marks.patterns.items())), []).append(number)
        for numbers in patterns.values():
            mine = lines.filter(pl.col("group").is_in(numbers))
            if not mine.is_empty():
                yield self.marks[numbers[0]], mine

    def _values(self, lines: pl.DataFrame, odd: np.ndarray) -> pl.DataFrame:
        """Take the values that the lines' marks name: ``message_id``, ``effect_key``, ``started_key``."""
        parts = []
        line, says = pl.col("line"), pl.col("says")
        for marks, mine in self._by_marks(lines):
            alone, in_effect, in_start = (
                mine.select(pl.when(which).then(line)).to_series()
                for which in (says & (EFFECT | STARTED) == 0, says & EFFECT > 0, says & STARTED > 0)
            )
            shapes = Shapes(self.texts, mine["shape"])
            effect, started = marks.values("effect", in_effect, shapes), marks.values("started", in_start, shapes)
            mentioned = alone.str.extract_all(screen.UUID).list.last()
            found = mine.with_columns(
                message_id=pl.coalesce(effect["message_id"], started["message_id"], mentioned).str.to_lowercase(),
                effect_key=effect["key"],
                started_key=started["key"],
                differs=effect["key_shape"].ne_missing(mine["effect_mask"])
                | started["key_shape"].ne_missing(mine["started_mask"]),
            )
            parts.append(found.with_columns(message_id=pl.when("names").then("message_id")))
        if not parts:
            none = pl.lit(None, pl.String)
            return lines.with_columns(message_id=none, effect_key=none, started_key=none)
        found = pl.concat(parts)
        is_nameless = pl.col("names") & ~pl.col("message_id").str.contains(rf"^{screen.UUID}$").fill_null(False)
        ambiguous = (says & MENTION > 0) & (pl.col("id_count") != 1)
        is_odd = found.select(pl.col("differs") | is_nameless | ambiguous).to_series()
        self._mark_odd(odd, found.filter(is_odd)["run"])
        return found.filter(~is_odd)

    def _records(self, odd: np.ndarray) -> pl.DataFrame:
        """Return the records of the printed events of runs that are not odd so far."""
        is_event = (pl.col("kind") == EVENT) & ~pl.Series(odd)[self.lines["run"]].alias("odd")
        events = self.lines.filter(is_event).select("run", "group", "line", event_id="evidence_id", event_at="at")
        groups = [self.groups[number] for number in events["group"]]
        records, odd_events = records_of(events["line"].to_list(), groups, self.reading.keys)
        self._mark_odd(odd, events["run"][odd_events])
        places = events.drop("line", "group").with_row_index("event")
        return records.join(places, on="event", how="left").drop("event")

    def _settled(self, said: pl.DataFrame, records: pl.DataFrame, odd: np.ndarray) -> pl.DataFrame:
        """Give lines that name only a business key the one message of their event that has it; others make their run odd."""
        said = said.filter(~pl.Series(odd)[said["run"]].alias("odd"))
        key = pl.coalesce("effect_key", "started_key")
        about = said.with_columns(by_key=~pl.col("names") & (pl.col("says") & (EFFECT | STARTED) > 0), key=key)
        unique = records.filter(pl.col("key").is_not_null() & pl.struct("run", "key").is_unique())
        found = about.join(unique.select("run", "key", keyed_id="message_id"), on=["run", "key"], how="left")
        found = found.with_columns(message_id=pl.coalesce("message_id", pl.when("by_key").then(pl.col("keyed_id"))))
        both = (pl.col("says") & EFFECT > 0) & (pl.col("says") & STARTED > 0) & pl.col("by_key")
        there = records.select("run", "message_id", there=pl.lit(True))
        found = found.join(there, on=["run", "message_id"], how="left")
        speaks = pl.col("says") & (MENTION | EFFECT | STARTED) > 0
        found = found.with_columns(is_again=pl.struct("run", "at", "message_id", "says").is_duplicated())
        lost = found.filter((speaks & pl.col("there").is_null()) | both | (pl.col("by_key") & pl.col("is_again")))
        self._mark_odd(odd, lost["run"])
        return told_once(found).drop("there", "keyed_id", "is_again")

    def over(self) -> pl.DataFrame:
        """Return the lines of runs that are over and were not ordinary."""
        return self._of(self.runs["is_over"].to_numpy() & ~self.taken)

    def rest(self) -> pl.DataFrame:
        """Return the lines of runs that are not over in this file; ``line`` is null where it says nothing."""
        waiting = self._of(~self.runs["is_over"].to_numpy() & ~self.taken, ["kind", "line_id", "group"])
        line, kind = pl.col("line"), pl.col("kind")
        says = line.str.contains_any(screen.needles_of(self.marks)) | line.str.contains(screen.UUID)
        asks = [number for number, marks in enumerate(self.marks) if marks.asks_every_line]
        speaks = (kind != screen.APPLICATION) | pl.col("line_id").is_not_null() | says | pl.col("group").is_in(asks)
        return waiting.select(*list(LINE_SCHEMA)[:-1], line=pl.when(speaks).then(line))

    def borders(self) -> pl.DataFrame:
        """Return from when until when each run that is over lasts."""
        return self.runs.filter("is_over").select(
            "stream",
            request=pl.col("own_id").hash(),
            start_at="start_at",
            end_at="last_at",
            is_closed="is_closed",
        )

    def _of(self, which: np.ndarray, more: Sequence[str] = ()) -> pl.DataFrame:
        return self.lines.filter(pl.Series(which)[self.lines["run"]].alias("of")).select(*LINE_SCHEMA, *more)
