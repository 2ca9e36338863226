"""A stream told in several files is told as if its lines had come in one, whatever the lines and wherever they are cut."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.counting.spoken import SPOKEN_SCHEMA
from forensics.counting.waiting_lines import placed
from forensics.settings import Consumer
from forensics.settings_in_force import SettingsInForce
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.groups import LogGroups
from forensics.streams.model import LogGroup
from forensics.streams.reading import Reading
from spark_jobs import joins, steps
from spark_jobs.cache import Cache
from spark_jobs.parts import all_deliveries, read_part
from spark_jobs.scan import scanned
from spark_jobs.steps import Shared
from tests.spark_jobs.small_lake import some_id
from tests.spark_jobs.streams import Line, by_the_grammar, file_by_file, log_events, rows, some_settled

GROUP = LogGroup(
    "/aws/lambda/f",
    "lambda",
    "f",
    "arn:aws:sqs:eu-west-1:123456789012:q",
    Consumer(name="f", effect=r"did (?P<message_id>[0-9a-f-]{36})"),
    silence_ms=5,
)
READING = Reading(LogGroups({GROUP.name: GROUP}), SettingsInForce.of([], [], []), BusinessKeys([]))
RUNS = [some_id(f"run {n}") for n in range(4)]
MESSAGES = [some_id(f"message {n}") for n in range(3)]


def printed(message_id: str) -> str:
    attributes = {"ApproximateReceiveCount": "1", "SentTimestamp": "1795176000000"}
    record = {"messageId": message_id, "receiptHandle": "AQEB" + message_id, "body": "{}", "attributes": attributes}
    return json.dumps({"Records": [record]})


def forms(run: str, message_id: str) -> dict[str, str]:
    """Return lines of every bearing on which invocation a line belongs to."""
    return {
        "start": f"START RequestId: {run} Version: $LATEST",
        "end": f"END RequestId: {run}",
        "report": f"REPORT RequestId: {run}\tDuration: 5.00 ms\tBilled Duration: 6 ms",
        "timeout report": f"REPORT RequestId: {run}\tDuration: 5.00 ms\tStatus: timeout",
        "event": printed(message_id),
        "effect": f"did {message_id}",
        "effect with its request": f"2026-11-20T12:00:00.000Z\t{run}\tINFO\tdid {message_id}",
        "silence": "connected to the database",
        "silence with its request": f"2026-11-20T12:00:00.000Z\t{run}\tINFO\tconnected",
        "timeout": f"2026-11-20T12:00:00.000Z {run} Task timed out after 3.00 seconds",
        "answer about a timeout": f'{{"errorMessage":"2026-11-20T12:00:00.000Z {run} Task timed out after 3.00 seconds"}}',
        "json start": f'{{"time":"2026-11-20T12:00:00.000Z","type":"platform.start","record":{{"requestId":"{run}"}}}}',
        "start without a request": "START RequestId: <guid> Version: $LATEST",
        "late start": f"2026-11-20T12:00:00.000Z START RequestId: {run} Version: $LATEST",
    }


NAMES = list(forms("", ""))
USUAL = ("start", "event", "effect", "end", "report")


@st.composite
def streams(draw: st.DrawFn) -> list[Line]:
    """The lines of one stream, in order: invocations that are mostly whole, with anything in and around them."""
    lines: list[Line] = []
    at = 0
    for run in draw(st.lists(st.sampled_from(RUNS), min_size=1, max_size=5)):
        message = draw(st.sampled_from(MESSAGES))
        names = list(USUAL)
        for _ in range(draw(st.integers(0, 3))):
            names.insert(draw(st.integers(0, len(names))), draw(st.sampled_from(NAMES)))
        for _ in range(draw(st.integers(0, 2))):
            names.pop(draw(st.integers(0, len(names) - 1)))
        for name in names:
            at += draw(st.sampled_from((0, 1, 1, 1, 3, 9)))
            own = draw(st.sampled_from((run, run, run, run, run, draw(st.sampled_from(RUNS)))))
            lines.append((at, forms(own, message)[name]))
    return lines


@st.composite
def cut_streams(draw: st.DrawFn) -> tuple[list[Line], list[int]]:
    """A stream, and the file of each of its lines: one file after the other, but for lines that come late."""
    lines = draw(streams())
    borders = sorted(draw(st.lists(st.integers(0, len(lines)), max_size=3)))
    files = [sum(place >= border for border in borders) for place in range(len(lines))]
    for place in draw(st.lists(st.integers(0, len(lines) - 1), max_size=3)) if lines else ():
        files[place] = draw(st.integers(0, 3))
    return lines, files


@settings(max_examples=40)
@given(st.lists(cut_streams(), min_size=3, max_size=12))
def test_files_together_tell_what_one_file_tells(drawn):
    events = pl.concat([log_events(lines, GROUP.name, f"s{n}", files) for n, (lines, files) in enumerate(drawn)])
    expected, told = by_the_grammar(events, READING), file_by_file(events, READING)

    assert rows(told.invocations) == rows(expected.invocations)
    assert rows(told.deliveries) == rows(expected.deliveries)


A, B, C, D = RUNS
M, N, _ = MESSAGES


def run(request: str, at: int, *between: str, without: tuple[str, ...] = ()) -> list[Line]:
    """One invocation from a moment on, a line each 2 ms."""
    said = forms(request, M)
    texts = [said["start"], *between, said["end"], said["report"]]
    kept = [text for text in texts if text not in [said[name] for name in without]]
    return [(at + 2 * place, text) for place, text in enumerate(kept)]


def late(lines: list[Line], at: int, text: str) -> tuple[list[Line], list[int]]:
    """A line that comes in a file of its own, after all others."""
    in_order = sorted([*((moment, 0, text_) for moment, text_ in lines), (at, 1, text)], key=lambda row: row[:2])
    return [(moment, text_) for moment, _, text_ in in_order], [number for _, number, _ in in_order]


TWO = [*run(A, 0, f"did {M}"), *run(B, 100, f"did {N}")]
OPEN_END = [*run(A, 0, f"did {M}", without=("end", "report")), *run(B, 100, f"did {N}")]
BY_HAND = {
    "in the middle of an invocation": (TWO, [0, 0, 1, 1, 1, 1, 1, 1]),
    "in the middle of an invocation that has no end": (OPEN_END, [0, 1, 1, 1, 1, 1]),
    "between invocations": (TWO, [0, 0, 0, 0, 1, 1, 1, 1]),
    "in every place": (TWO, list(range(8))),
    "a line without a request comes late into an invocation": late(TWO, 3, f"did {N}"),
    "a line without a request comes late behind a REPORT": late(TWO, 50, f"did {N}"),
    "a silent line comes late behind a REPORT": late(TWO, 50, "connected"),
    "a silent line comes late behind an invocation without an end": late(OPEN_END, 50, "connected"),
    "the REPORT comes late": late(OPEN_END, 50, forms(A, M)["report"]),
    "the REPORT comes after the next START": late(OPEN_END, 101, forms(A, M)["report"]),
    "a line with its request comes late": late(TWO, 103, forms(A, N)["effect with its request"]),
    "a START comes late into an invocation": late(TWO, 3, forms(C, M)["start"]),
    "a START comes late between invocations": late(TWO, 50, forms(C, M)["start"]),
    "a START of the same request comes again": late(TWO, 300, forms(A, M)["start"]),
    "a line before all others comes late": late(TWO, -5, f"did {N}"),
    "a request is invoked again in another file": (
        [*run(A, 0, f"did {M}"), *run(A, 100, f"did {M}")],
        [0] * 4 + [1] * 4,
    ),
    "a request that is invoked again waits on both sides of an invocation that is over": (
        [(0, forms(A, M)["start"]), *run(B, 10, without=("end",)), (20, f"did {M}"), *run(A, 30, without=("end",))],
        [0, 1, 1, 1, 1, 2],
    ),
    "a line stands between REPORT and END": (
        [*run(A, 0, printed(M), without=("end",)), (10, f"did {M}"), (20, forms(A, M)["end"])],
        [0] * 5,
    ),
    "a START without a request stands on both sides of another START of its moment": (
        [(0, forms(A, M)[name]) for name in ("start without a request", "start", "start without a request")],
        [0] * 3,
    ),
    "two files hold invocations at the same time": (
        sorted([*run(A, 0, f"did {M}"), *run(B, 1, f"did {N}")]),
        [0, 1] * 4,
    ),
    "an invocation stands inside another": (
        sorted([*run(A, 0, *[f"did {M}"] * 9), *run(B, 5)]),
        [int(B in text) for _, text in sorted([*run(A, 0, *[f"did {M}"] * 9), *run(B, 5)])],
    ),
    "a batch without its request stands before a run without a START": (
        [*run(C, 0), (20, printed(M)), (22, forms(A, M)["effect with its request"]), (30, forms(A, M)["report"])],
        [0, 0, 0, 1, 2, 2],
    ),
    "a silent line stands between such a batch and its run": (
        [(20, printed(M)), (21, "connected"), (22, forms(A, M)["effect with its request"]), *run(C, 40)],
        [0, 1, 2, 2, 2, 2],
    ),
    "a silent line of another request stands between such a batch and its run": (
        [
            (20, printed(M)),
            (21, forms(B, M)["silence with its request"]),
            (22, forms(A, M)["effect with its request"]),
            (90, forms(B, M)["silence with its request"]),
        ],
        [0, 1, 2, 2],
    ),
    "a run that was over stands between such a batch and its run": (
        [(0, printed(M)), *run(C, 2), (22, forms(A, M)["effect with its request"]), (90, forms(A, M)["report"])],
        [0, 1, 1, 1, 2, 2],
    ),
    "lines that wait on both sides of an invocation that is over": (
        [*run(C, 0, without=("end", "report")), *TWO[0:0], *run(A, 10, f"did {M}"), (40, f"did {N}")],
        [0, 1, 1, 1, 1, 2],
    ),
}


def steps_over(events: pl.DataFrame, folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the invocations and deliveries that the steps leave in the cache."""
    shared = Shared(Cache(folder / "cache"), reading=READING)
    paths, held = {}, []
    for (number,), mine in events.group_by("part", maintain_order=True):
        name = f"file-{number}"
        paths[name] = str(folder / f"{name}.parquet")
        mine.write_parquet(paths[name])
        told = steps.scan(shared, {"name": name, "path": paths[name], "sha256": None, "pieces": 1})
        held.append({"name": name, **{k: told[k] for k in ("rest", "facts", "borders")}})
    old = list(range(len(held)))[::2]
    steps.settle_joins(shared, {"name": "old", "parts": [held[n] for n in old]})
    planned = steps.plan_joins(shared, {"name": "plan", "parts": held, "settled": old, "before": "old"})
    entries = {name: ("scan", name) for name in paths}
    for part, without in planned["without"].items():
        steps.without(shared, {"name": f"less {part}", "part": part, "streams": without})
        entries[part] = ("without", f"less {part}")
    for unit in planned["units"]:
        more = {
            "source": str(shared.cache.entry("plan_joins", "plan")),
            "paths": [paths[held[n]["name"]] for n in unit["files"]],
        }
        steps.join(shared, {**unit, **more})
        entries[unit["name"]] = ("join", unit["name"])
    folders = [shared.cache.entry(*entry) for entry in entries.values()]
    runs = [pl.concat([read_part(f, "invocations"), read_part(f, "runs")], how="horizontal").collect() for f in folders]
    return pl.concat(runs), pl.concat([all_deliveries(f).collect() for f in folders])


Told = tuple[pl.DataFrame, pl.DataFrame]
"""Invocations and deliveries."""


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> tuple[Told, Told, Told]:
    """What is told of all streams written by hand, beside one another in the same files: by the grammar, by the steps, file by file."""
    events = pl.concat([log_events(lines, GROUP.name, name, files) for name, (lines, files) in BY_HAND.items()])
    expected, apart = by_the_grammar(events, READING), file_by_file(events, READING)
    by_steps = steps_over(events, tmp_path_factory.mktemp("steps"))
    return (expected.invocations, expected.deliveries), by_steps, (apart.invocations, apart.deliveries)


@pytest.mark.slow
@pytest.mark.parametrize("stream", BY_HAND)
def test_it_is_the_same_where_it_is_cut(stream, told):
    expected, *others = [[rows(found.filter(log_stream=stream)) for found in one] for one in told]

    assert expected[0]
    assert others == [expected, expected]


def test_a_stream_that_is_only_cut_is_not_read_again():
    """Only lines that wait are put together anew: a stream may be long."""
    lines = [line for n in range(20) for line in run(some_id(f"many {n}"), 100 * n, f"did {M}")]
    events = log_events(lines, GROUP.name, files=[place // 19 for place in range(len(lines))])
    parts = [(n, scanned(mine, READING)) for (n,), mine in events.group_by("part", maintain_order=True)]
    rest, borders = (
        pl.concat([getattr(part, name).with_columns(part=pl.lit(n, pl.UInt32)) for n, part in parts])
        for name in ("rest", "borders")
    )

    waiting, tangled = placed(rest, some_settled(borders))

    assert tangled.is_empty()
    assert waiting.group_by("piece").len().sort("piece")["len"].to_list() == [4, 4, 4]


def test_new_lines_of_workers_leave_what_was_put_together_before(monkeypatch, tmp_path):
    """Workers write one stream without end: what new lines cost must not grow with it."""
    monkeypatch.setattr(joins, "LINES_PER_UNIT", 20)
    of_messages = [(n, 7, 60_000_000 * n, 60_000_000 * n + 2, 3, 0) for n in range(100)]
    schema = SPOKEN_SCHEMA | {"part": pl.UInt32}
    before = pl.DataFrame(of_messages, schema=schema, orient="row")
    late = [(100, 7, 6_000_000_000, 6_000_000_000, 1, 1), (99, 7, 6_000_000_001, 6_000_000_001, 1, 1)]
    new = pl.DataFrame(late, schema=schema, orient="row")
    parts = [{"name": "first file"}, {"name": "second file"}]

    first = {unit["name"] for unit in joins._of_items(parts[:1], before, tmp_path)}
    second = {unit["name"] for unit in joins._of_items(parts, pl.concat([before, new]), tmp_path)}

    assert len(first) > 15
    assert len(second - first) <= 2


def test_tangled_streams_are_read_together_and_stay_where_they_are_while_there_are_about_as_many():
    """A file is read once for all of a unit's streams: late lines of ninety streams cost no ninety readings of it."""
    streams = [("/aws/lambda/f", f"stream {number}") for number in range(90)]

    units = joins._packed(streams, 90 * joins._LINES_OF_TANGLED)
    with_another = joins._packed([*streams, ("/aws/lambda/g", "another")], 91 * joins._LINES_OF_TANGLED)

    assert sorted(stream for unit in units for stream in unit) == sorted(streams)
    assert 4 <= len(units) <= 8
    assert len([unit for unit in with_another if unit not in units]) == 1
