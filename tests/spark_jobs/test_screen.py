"""What vectors make of lines is what the grammar makes of them: recorded lines, simulated worlds, scenarios, and texts nobody saw."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import cycle
from typing import Any
from unittest.mock import MagicMock

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.settings import Consumer, Queue, Settings
from forensics.settings_in_force import SettingsInForce
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.groups import LogGroups, log_groups_of
from forensics.streams.model import LogGroup
from lab.scenarios import SCENARIOS, eight_weeks
from spark_jobs.assemble import Reading
from spark_jobs.evidence import pinned, surveyed
from spark_jobs.parts import Part
from spark_jobs.scan import LINE_COLUMNS
from tests.forensics.parsers.lines import every_line, sample_lines
from tests.oracle import World
from tests.oracle.bundle import fill_lake, settings_of
from tests.spark_jobs.small_lake import some_id
from tests.spark_jobs.streams import Line, by_the_grammar, file_by_file, log_events, rows

QUEUE_ARN = "arn:aws:sqs:eu-west-1:123456789012:payments"
ID = r"[0-9a-f-]{36}"
CONSUMERS = {
    "no-marks": Consumer(),
    "keys": Consumer(
        effect=r"charged payment_id=(?P<key>[\w-]+)",
        started=rf"processing (?P<message_id>{ID})",
        guard=r"already charged payment_id=(?P<key>[\w-]+)",
        deleted=rf"acknowledged (?P<message_id>{ID})",
        failed=r"gave up on (?P<key>\S+)",
    ),
    "numbers": Consumer(
        effect=r"status=200 (?P<key>\S+)",
        started=r"attempt [1-3] of (?P<key>[1-9][0-9]*)",
        guard=r"409 (?P<key>\S+)",
        failed=r"5\d\d (?P<key>\S+)",
    ),
    "ids-version-4": Consumer(effect=r"did (?P<message_id>[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})"),
    "upper-case": Consumer(effect=r"did (?P<message_id>[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12})"),
    "digits": Consumer(effect="charged (?P<key>[0-9]+)", started="begin (?P<key>[a-z]+)"),
    "places": Consumer(effect="charged", started="processing", message_id="$.sqs.id", receive_count="$.sqs.count"),
    "place-3": Consumer(effect="charged", message_id="$.s3.id"),
    "named-places": Consumer(
        effect="charged", guard="again", message_id=r"mid=(?P<message_id>\S{36})", receive_count="(?P<receive_count>[1-9])th"
    ),
    "either": Consumer(effect=rf"(?P<key>ord-[0-9]+) done|paid (?P<message_id>{ID})", guard="INFO (?P<key>dup-[a-z]+)$"),
    "looks-around": Consumer(effect=r"(?<=done )(?P<key>\w+)$", started=r"\bbegin\b (?P<key>.*)"),
}  # fmt: skip
"""What teams say of their lines; some of it vectors cannot read, and some of it tells digits or letters of ids apart."""
GROUPS = {
    f"/aws/lambda/{name}-1": LogGroup(f"/aws/lambda/{name}-1", "lambda", f"{name}-1", QUEUE_ARN, consumer, silence_ms=5)
    for name, consumer in CONSUMERS.items()
}
WORKERS = {
    f"/ecs/{name}": LogGroup(f"/ecs/{name}", "worker", None, QUEUE_ARN, consumer, silence_ms=5)
    for name, consumer in CONSUMERS.items()
}
READING = Reading(
    LogGroups({**GROUPS, **WORKERS}),
    SettingsInForce.of([], [], []),
    BusinessKeys([Queue("payments", business_key="$.payment_id")]),
)
RUNS = [some_id(f"run {n}") for n in range(3)]
MESSAGES = [some_id(f"message {n}") for n in range(3)]


def record(message_id: str) -> dict[str, Any]:
    return {
        "messageId": message_id,
        "receiptHandle": "AQEB" + message_id,
        "body": json.dumps({"payment_id": f"pay-{message_id[:4]}"}),
        "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "1795176000000"},
        "eventSourceARN": QUEUE_ARN,
    }


EVENT = {"Records": [record(message_id) for message_id in MESSAGES[:2]]}
KEY = json.loads(EVENT["Records"][0]["body"])["payment_id"]
START, END, REPORT = (
    "START RequestId: {} Version: $LATEST",
    "END RequestId: {}",
    "REPORT RequestId: {}\tDuration: 5.00 ms\tBilled Duration: 6 ms\tMemory Size: 128 MB\tMax Memory Used: 52 MB",
)


def invocation(request_id: str, *between: str, is_over: bool = True) -> list[str]:
    """Return one invocation's lines: START, what is between, and, where it is over, END and REPORT."""
    ends = [END.format(request_id), REPORT.format(request_id)] if is_over else []
    return [START.format(request_id), *between, *ends]


def in_time(lines: Sequence[str]) -> list[Line]:
    return list(enumerate(lines))


def assert_alike(events: pl.DataFrame, reading: Reading = READING) -> Part:
    """Hold what the steps make of log events against what the grammar says of each line; returns the first."""
    told, expected = file_by_file(events, reading), by_the_grammar(events, reading)
    for name in ("facts", "invocations", "deliveries"):
        mine, theirs = Counter(rows(getattr(told, name))), Counter(rows(getattr(expected, name)))
        assert sorted(mine - theirs) == sorted(theirs - mine), name
    return told


def everywhere(lines: Sequence[str]) -> pl.DataFrame:
    """Put each line into an invocation that is over and into one that is not, of functions in turn, and into a worker's log."""
    found = []
    functions, workers = cycle(GROUPS), cycle(WORKERS)
    for number, line in enumerate(lines):
        function = next(functions)
        if number % len(lines) % len(GROUPS) == 0:
            next(functions)  # a line's variants come one after the other: not each in the same place
        found += [
            log_events(in_time(invocation(RUNS[0], json.dumps(EVENT), line)), function, f"over-{number}"),
            log_events(in_time(invocation(RUNS[0], line, is_over=False)), function, f"open-{number}"),
            log_events([(0, line)], next(workers), f"worker-{number}"),
        ]
    return pl.concat(found)


# -- recorded lines, worlds, scenarios ----------------------------------------------------------------------------------


def test_recorded_lines_are_read_alike():
    assert_alike(everywhere(sample_lines()))


def test_what_becomes_of_recorded_lines_is_read_alike():
    assert_alike(everywhere(every_line(seed=1, share=0.15)))


def test_lines_of_simulated_worlds_are_read_alike(tmp_path):
    worlds = [World(seed) for seed in range(60)]
    lake, said = fill_lake(worlds, tmp_path), settings_of(worlds)
    evidence = pinned(lake, said, lake.versions(), None)
    (file,) = evidence.files
    events = pl.read_parquet(file.path, columns=LINE_COLUMNS).with_columns(part=pl.lit(0, pl.UInt32))

    told = assert_alike(events, evidence.reading([{"groups": surveyed(file.path, None)}]))

    assert told.deliveries.height > 500
    assert told.facts.height > 100


class Recorder:
    """Stands for the embedded AWS: keeps what is put into logs, and who writes which group."""

    region, account_id = "eu-west-1", "123456789012"

    def __init__(self) -> None:
        self.events: dict[tuple[str, str], list[Line]] = defaultdict(list)
        self.functions: dict[str, str] = {}

    def clock_at(self, _: datetime) -> Any:
        return nullcontext()

    def client(self, _: str) -> Any:
        service = MagicMock()
        service.put_log_events.side_effect = self._put
        service.create_function.side_effect = lambda **said: self.functions.update(
            {said["LoggingConfig"]["LogGroup"]: said["FunctionName"]}
        )
        return service

    def _put(self, logGroupName: str, logStreamName: str, logEvents: list[dict[str, Any]]) -> None:  # noqa: N803
        mine = self.events[logGroupName, logStreamName]
        mine += [(event["timestamp"], event["message"]) for event in logEvents]


@pytest.mark.parametrize("name", SCENARIOS)
def test_lines_of_a_scenario_are_read_alike(name):
    aws, now = Recorder(), datetime(2026, 11, 20, 12, tzinfo=UTC)
    few = {"weeks": 1} if name == eight_weeks.NAME else {}
    said = Settings.parse(SCENARIOS[name].play(aws, now, **few).settings_text)
    rows_of = [
        {"log_group": g, "kind": "lambda" if f else "worker", "function_name": f, "queue_arn": QUEUE_ARN, "queue_name": "q"}
        for g in sorted({group for group, _ in aws.events})
        for f in [aws.functions.get(g)]
    ]  # fmt: skip
    groups = log_groups_of(said, rows_of, [], [], {row["log_group"]: bool(row["function_name"]) for row in rows_of})
    reading = Reading(groups, SettingsInForce.of([], [], []), BusinessKeys(said.queues))
    first = min(at for lines in aws.events.values() for at, _ in lines)
    streams = [([(at - first, text) for at, text in lines], *of) for of, lines in aws.events.items()]

    told = assert_alike(pl.concat([log_events(*stream) for stream in streams]), reading)

    assert told.deliveries.height + told.facts.height > 20


# -- texts nobody saw ---------------------------------------------------------------------------------------------------

WORDS = (
    "charged payment_id=", "already charged payment_id=", "processing ", "acknowledged ", "gave up on ", "status=200 ", "status=500 ",
    "attempt 2 of 15 ", "409 ", "512 MB ", "did ", "charged ", "begin ", "again ", "mid=", "3th ", " done", "paid ", "INFO dup-a", "ord-77",
    KEY, KEY.upper(), *MESSAGES, MESSAGES[0].upper(), some_id("nobody"), *RUNS[:2], "0f0e0d0c-0b0a-4908-8706-050403020100",
    "[INFO]\t2026-11-20T12:00:00.000Z\t" + RUNS[0] + "\t", "2026-11-20T12:00:00.000Z " + RUNS[1] + " ", "RequestId: " + RUNS[0] + " ",
    " ", "\t", "\n", "\u00a0", "\u0085", "\x1b[1m", "٣", "é", "1", "200", "-", "'", '"', "{", "}",
    '{"batchItemFailures": []}', '{"batchItemFailures":[{"itemIdentifier":"' + MESSAGES[1] + '"}]}', "ReceiptHandleIsInvalid",
    "Task timed out after 3.00 seconds", "[ERROR] KeyError: 'id'\nTraceback (most recent call last):", '"messageId": "' + MESSAGES[0] + '"',
)  # fmt: skip
"""What marks, ids and the grammar look for, and what may stand between."""


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Return a line of such words, plain or in JSON with numbers, ids and counts at configured places."""
    words = "".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5)))
    if not draw(st.integers(0, 2)):
        place = {"id": draw(st.sampled_from(MESSAGES)), "count": draw(st.integers(0, 120))}
        whole = {"level": "INFO", "message": words, draw(st.sampled_from(("sqs", "s3"))): place, "took_ms": 12.5}
        return json.dumps(whole | ({"requestId": RUNS[0]} if draw(st.booleans()) else {}))
    return words


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(GROUPS)), st.lists(texts(), max_size=5), st.booleans()),
        min_size=20,
        max_size=40,
    )
)
def test_texts_of_what_is_looked_for_are_read_alike(drawn):
    streams = [
        log_events(in_time(invocation(RUNS[0], json.dumps(EVENT), *lines, is_over=is_over)), group, f"s{n}")
        for n, (group, lines, is_over) in enumerate(drawn)
    ]
    assert_alike(pl.concat(streams))
