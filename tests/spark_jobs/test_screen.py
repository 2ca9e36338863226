"""What vectors make of lines is what the grammar makes of them: recorded lines, simulated worlds, scenarios, and texts nobody saw."""

import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import accumulate, cycle
from typing import Any
from unittest.mock import MagicMock

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.counting.survey import surveyed
from forensics.settings import Consumer, Queue, Settings
from forensics.settings_in_force import SettingsInForce
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.groups import LogGroups, log_groups_of
from forensics.streams.model import LogGroup
from forensics.streams.reading import Reading
from lab.scenarios import SCENARIOS, eight_weeks
from spark_jobs.evidence import pinned
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


@pytest.mark.slow
def test_recorded_lines_are_read_alike():
    assert_alike(everywhere(sample_lines()))


@pytest.mark.slow
def test_what_becomes_of_recorded_lines_is_read_alike():
    assert_alike(everywhere(every_line(seed=1, share=0.15)))


@pytest.mark.slow
def test_lines_of_simulated_worlds_are_read_alike(tmp_path):
    worlds = [World(seed) for seed in range(40)]
    lake, said = fill_lake(worlds, tmp_path), settings_of(worlds)
    evidence = pinned(lake, said, lake.versions(), None)
    (file,) = evidence.files
    events = pl.read_parquet(file.path, columns=LINE_COLUMNS).with_columns(part=pl.lit(0, pl.UInt32))

    told = assert_alike(events, evidence.reading([{"groups": surveyed(file.path, None)}]))

    assert told.deliveries.height > 500
    assert told.facts.height > 100


ENOUGH_LINES = 2_000


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


@pytest.mark.slow
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
    streams = [([(at - first, text) for at, text in lines], *of) for of, lines in sorted(aws.events.items())]
    streams = streams[
        :: -(-sum(len(lines) for lines, *_ in streams) // ENOUGH_LINES)
    ]  # each says what its neighbours do

    told = assert_alike(pl.concat([log_events(*stream) for stream in streams]), reading)

    assert told.deliveries.height + told.facts.height > 20


# -- texts that nobody has seen -----------------------------------------------------------------------------------------

OWN, OTHER, MESSAGE = "<own>", "<other>", "<message>"
"""What stands for ids in a form: its invocation's, another's, one of the printed messages'."""
FORMS = [
    f"charged payment_id={KEY}",
    f"2026-11-20T12:00:00.000Z\t{OWN}\tINFO\tcharged payment_id={KEY}",
    f"2026-11-20T12:00:00.000Z\t{OTHER}\tINFO\tprocessing {MESSAGE}",
    "2026-11-20T12:00:00.000Z\t9f29xmpl-ba7e-49fe-a1b9-9a7ad6313712\tINFO\tconnected",
    f"[INFO]\t2026-11-20T12:00:00.000Z\t{OWN}\talready charged payment_id={KEY}",
    f"already charged payment_id={KEY}",
    f"processing {MESSAGE}",
    f"acknowledged {MESSAGE}",
    f"gave up on {KEY}",
    f"status=200 {KEY}",
    f"status=500 {KEY} after 409 {KEY}",
    f"attempt 2 of 17 {KEY}",
    f"did {MESSAGE}",
    "charged 1234",
    f"charged {MESSAGE}",
    f"begin {MESSAGE} begin x",
    json.dumps({"level": "info", "elapsed": 12, "sqs": {"id": MESSAGE, "count": 2}, "message": "charged, processing"}),
    json.dumps({"level": "info", "elapsed": 12, "s3": {"id": MESSAGE}, "message": "charged"}),
    json.dumps({"level": "info", "function_name": "keys-2", "function_request_id": OWN, "message": f"did {MESSAGE}"}),
    json.dumps({"level": "info", "function_name": "keys-1", "requestId": OTHER, "message": "connected"}),
    json.dumps({"invoked": "arn:aws:lambda:eu-west-1:123456789012:function:keys-2", "xray": OWN}),
    f"mid={MESSAGE} charged for the 2th time",
    "ord-17 done",
    f"paid {MESSAGE}",
    "INFO dup-ab",
    f"done {KEY}",
    f"message {MESSAGE} of {MESSAGE}",
    f"record {OWN}",
    f"sent {{'MD5OfMessageBody': 'd41d8cd98f00b204e9800998ecf8427e', 'MessageId': '{MESSAGE}'}}",
    json.dumps({"batchItemFailures": []}),
    json.dumps({"batchItemFailures": [{"itemIdentifier": MESSAGE}]}),
    html.escape(json.dumps({"batchItemFailures": [{"itemIdentifier": MESSAGE}]})).replace("quot", "#34"),
    "batchItemFailures&#39;: []",
    "connected to the database in 12 ms",
    "2026-11-20T12:00:00.000Z <guid> Task timed out after 3.00 seconds",
    f"2026-11-20T12:00:00.000Z {OWN} Task timed out after 3.00 seconds",
    "[ERROR] KeyError: 'id'\nTraceback (most recent call last):\n  File \"/var/task/app.py\", line 7, in handler",
    f"[ERROR] S3Error: no {MESSAGE}\nTraceback (most recent call last):",
    f"2026-11-20T12:00:00.000Z START RequestId: {OTHER} Version: $LATEST",
    START.format(OWN),
    START.format(OTHER),
    END.format(OTHER),
    REPORT.format(OWN),
    REPORT.format(OWN) + "\tStatus: timeout",
    json.dumps(EVENT),
    repr(EVENT),
    f"2026-11-20T12:00:00.000Z\t{OWN}\tINFO\t" + json.dumps(EVENT),
    f"charged payment_id={KEY} of " + json.dumps(EVENT),
    json.dumps({"message": json.dumps(EVENT)}),
    "SQS delete message failed",
    "Execution already in progress with idempotency key: body=fn#5f",
    "An error occurred (InvalidParameterValue) when calling the DeleteMessage operation: Value AQEBx for parameter"
    " ReceiptHandle is invalid. Reason: The receipt handle has expired.",
    *sample_lines()[::7],
]


@pytest.mark.slow
def test_lines_of_every_bearing_are_read_alike_whatever_a_team_says_of_its_lines():
    ids = {OWN: RUNS[0], OTHER: RUNS[1], MESSAGE: MESSAGES[1]}
    lines = [re.sub("<(?:own|other|message)>", lambda found: ids[found[0]], form) for form in FORMS]
    over = [
        log_events(in_time(invocation(RUNS[0], json.dumps(EVENT), line)), group, f"{group}-{n}")
        for group in GROUPS
        for n, line in enumerate(lines)
    ]
    workers = [log_events(in_time(lines), group, group) for group in WORKERS]

    assert_alike(pl.concat([*over, *workers]))


LOOK_ALIKES = {"R": "\uff32", "e": "\u0435", "I": "\u0130", " ": "\u00a0", "-": "\u2011", "0": "\u0660", "1": "\uff11"}
CONTROLS = ["\0", "\x1b[31m", "\r", "\x0b", "\x1c", "\x85", "\u2028", "\ufeff", "\U0001f600"]

BECOMES: tuple[Callable[[st.DrawFn, str, str, str, str, str], str], ...] = (
    lambda draw, line, before, after, known, other: before,
    lambda draw, line, before, after, known, other: after,
    lambda draw, line, before, after, known, other: line.replace(" ", "  "),
    lambda draw, line, before, after, known, other: line.replace("\t", " "),
    lambda draw, line, before, after, known, other: line.upper(),
    lambda draw, line, before, after, known, other: line.lower(),
    lambda draw, line, before, after, known, other: line.replace(known, known.upper()),
    lambda draw, line, before, after, known, other: line.replace(known, known + "0"),
    lambda draw, line, before, after, known, other: line.replace(known, "x" + known),
    lambda draw, line, before, after, known, other: line.replace(known, known.replace("-", "")),
    lambda draw, line, before, after, known, other: before + known + after,
    lambda draw, line, before, after, known, other: line.replace(other, LOOK_ALIKES[other]),
    lambda draw, line, before, after, known, other: before + draw(st.sampled_from(CONTROLS)) + after,
    lambda draw, line, before, after, known, other: before + str(draw(st.integers(0, 999))) + after,
    lambda draw, line, before, after, known, other: html.escape(line),
    lambda draw, line, before, after, known, other: json.dumps({"level": "info", "message": line}),
    lambda draw, line, before, after, known, other: (
        line + draw(st.sampled_from((" ", "\n", "\t", ""))) + draw(st.sampled_from(FORMS[:30]))
    ),
    lambda draw, line, before, after, known, other: (
        draw(st.sampled_from((" ", "\t", "\n"))) * draw(st.sampled_from((1, 300))) + line
    ),
    lambda draw, line, before, after, known, other: line + "\n",
    lambda draw, line, before, after, known, other: before + "x" * draw(st.sampled_from((500, 5_000, 50_000))) + after,
)
"""What else becomes of a line; only what is drawn is made."""


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw a line: a form of any bearing, and what else becomes of lines."""
    ids = {OWN: RUNS[0], OTHER: draw(st.sampled_from(RUNS)), MESSAGE: draw(st.sampled_from(MESSAGES))}
    line = draw(st.sampled_from(FORMS))
    for name, value in ids.items():
        line = line.replace(name, value)
    for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2, 3)))):
        place = draw(st.integers(0, len(line)))
        before, after = line[:place], line[place:]
        known = draw(st.sampled_from((*RUNS, *MESSAGES)))
        other = draw(st.sampled_from(sorted(LOOK_ALIKES)))
        become = draw(st.sampled_from(BECOMES))
        line = become(draw, line, before, after, known, other)
    return line


@st.composite
def logs(draw: st.DrawFn) -> list[tuple[str, list[Line]]]:
    """Draw streams: the log group, and its lines, mostly of whole invocations, some of one moment and some told twice."""
    found = []
    for group in draw(st.lists(st.sampled_from(sorted({**GROUPS, **WORKERS})), min_size=4, max_size=10)):
        lines: list[str] = []
        for request_id in RUNS[: draw(st.integers(1, 3))]:
            said = [text.replace(RUNS[0], request_id) for text in draw(st.lists(texts(), max_size=4))]
            said += draw(st.sampled_from(([], said[:1], said[-1:])))
            event = draw(st.sampled_from(([json.dumps(EVENT)], [json.dumps(EVENT)], [repr(EVENT)], [])))
            lines += invocation(request_id, *event, *said, is_over=draw(st.sampled_from((True, True, True, False))))
        steps = st.sampled_from(draw(st.sampled_from(((1,), (0, 0, 0, 1)))))
        found.append((group, list(zip(accumulate(draw(steps) for _ in lines), lines, strict=True))))
    return found


@settings(max_examples=40)
@given(logs())
def test_texts_that_nobody_has_seen_are_read_alike(drawn):
    assert_alike(pl.concat([log_events(lines, group, f"s{n}") for n, (group, lines) in enumerate(drawn)]))


# -- what each can and cannot read --------------------------------------------------------------------------------------

READ_BY_VECTORS = {
    "no line": ("no-marks", []),
    "a silent line": ("no-marks", ["connected to the database in 12 ms"]),
    "a silent line with its request": ("no-marks", [f"2026-11-20T12:00:00.000Z\t{RUNS[0]}\tINFO\tconnected"]),
    "a silent line in JSON": ("no-marks", [json.dumps({"level": "INFO", "requestId": RUNS[0], "message": "connected"})]),
    "a JSON line of its function": (
        "no-marks",
        [json.dumps({"level": "INFO", "function_name": "no-marks-1", "function_request_id": RUNS[0], "message": "x"})],
    ),
    "the answer to a send": ("no-marks", [f"{{'MD5OfMessageBody': 'd41d8cd9', 'MessageId': '{MESSAGES[1]}'}}"]),
    "a mention": ("no-marks", [f"working on message {MESSAGES[1]}"]),
    "the request's own id behind a word for messages": ("no-marks", [f"record {RUNS[0]}", f"working on message {MESSAGES[1]}"]),
    "an empty batch response": ("no-marks", [json.dumps({"batchItemFailures": []})]),
    "an effect by its key": ("keys", [f"charged payment_id={KEY}"]),
    "an effect by its key, with its request": ("keys", [f"[INFO]\t2026-11-20T12:00:00.000Z\t{RUNS[0]}\tcharged payment_id={KEY}"]),
    "a start and an effect": ("keys", [f"processing {MESSAGES[0]}", f"charged payment_id={KEY}"]),
    "an effect by its message": ("either", [f"paid {MESSAGES[0]}"]),
}  # fmt: skip
BY_THE_GRAMMAR = {
    "a literal with digits": ("numbers", [f"status=200 {KEY}"]),
    "a class of some digits": ("numbers", [f"attempt 2 of {KEY[4:]}", "attempt 2 of 17"]),
    "a guard with digits": ("numbers", [f"409 {KEY}"]),
    "digits of an id": ("digits", [f"charged {MESSAGES[1]}"]),
    "a place in JSON": ("places", [json.dumps({"elapsed": 12, "sqs": {"id": MESSAGES[0]}, "m": "charged"})]),
    "a name with digits on the way to a place": ("place-3", [json.dumps({"s3": {"id": MESSAGES[0]}, "m": "charged"})]),
    "a count in words": ("named-places", [f"mid={MESSAGES[0]} charged for the 2th time"]),
    "quotes as numbers": ("no-marks", ["{&#34;batchItemFailures&#34;: [{&#34;itemIdentifier&#34;: &#34;" + MESSAGES[0]]),
    "another function's name": ("no-marks", [json.dumps({"function_name": "no-marks-2", "requestId": RUNS[0]})]),
    "an event behind a mark": ("keys", [f"charged payment_id={KEY} of " + json.dumps(EVENT)]),
    "a START behind a blank": ("no-marks", ["\n" + START.format(RUNS[1]), START.format(RUNS[1])]),
    "a request id that is none": ("no-marks", [" " * 300 + "2026-11-20T12:00:00.000Z\t9f29xmpl-ba7e-49fe-a1b9-9a7ad6313712\tINFO\tx"]),
    "an answer about another run's timeout": ("no-marks", [json.dumps({"errorMessage": f"RequestId: {RUNS[1]} Error: Task timed out after 3.00 seconds"})]),
    "ids in capitals": ("upper-case", [f"did {MESSAGES[0].upper()}"]),
}  # fmt: skip


def of_one(name: str, lines: list[str]) -> pl.DataFrame:
    """Return the log events of one invocation of a function that prints its event and some lines."""
    return log_events(in_time(invocation(RUNS[0], json.dumps(EVENT), *lines)), f"/aws/lambda/{name}-1")


def is_read_by_vectors(told: Part) -> bool:
    """An ordinary delivery is kept in columns alone."""
    return told.deliveries.height > 0 and told.deliveries["raw"].null_count() == told.deliveries.height


@pytest.mark.parametrize("said", ["99999999999999", "100000000000000", "1326795176000000"])
def test_a_time_beyond_what_a_date_can_hold_is_none(said):
    event = json.dumps(EVENT).replace("1795176000000", said)
    told = assert_alike(log_events(in_time(invocation(RUNS[0], event)), "/aws/lambda/keys-1"))

    assert {row["sent_at"] is None for row in told.deliveries.rows(named=True)} == {len(said) > 14}


OF_ONE_MOMENT = {
    "an effect told twice": ("either", [f"paid {MESSAGES[0]}"] * 2, True),
    "a start told twice": ("keys", [f"processing {MESSAGES[0]}"] * 2, True),
    "a mention told twice": ("no-marks", [f"working on message {MESSAGES[1]}"] * 2, True),
    "two mentions": ("no-marks", [f"working on message {MESSAGES[1]}", f"record {MESSAGES[1]} is here"], True),
    "a mention with its request, and one without": (
        "no-marks",
        [f"2026-11-20T12:00:00.000Z\t{RUNS[0]}\tINFO\tmessage {MESSAGES[1]}", f"message {MESSAGES[1]}"],
        True,
    ),
    "a mention in hand, and one of which nothing tells that": (
        "no-marks",
        [f"processing message {MESSAGES[1]}", f"message {MESSAGES[1]} came from the queue"],
        True,
    ),
    "the effects of two messages": ("either", [f"paid {MESSAGES[0]}", f"paid {MESSAGES[1]}"], True),
    "an effect by its key told twice": ("keys", [f"charged payment_id={KEY}"] * 2, False),
    "a timeout told twice": ("keys", [f"2026-11-20T12:00:00.000Z {RUNS[0]} Task timed out after 3.00 seconds"] * 2, False),
}  # fmt: skip


@pytest.mark.parametrize(("name", "lines", "is_by_vectors"), OF_ONE_MOMENT.values(), ids=OF_ONE_MOMENT)
def test_lines_of_one_moment_are_read_alike(name, lines, is_by_vectors):
    start, event, *said, end, report = invocation(RUNS[0], json.dumps(EVENT), *lines)
    told = assert_alike(
        log_events(
            [(0, start), (1, event), *((2, line) for line in said), (3, end), (3, report)], f"/aws/lambda/{name}-1"
        )
    )

    assert is_read_by_vectors(told) == is_by_vectors


@pytest.mark.parametrize(("name", "lines"), READ_BY_VECTORS.values(), ids=READ_BY_VECTORS)
def test_the_commonest_forms_are_read_by_vectors_and_alike(name, lines):
    events = of_one(name, lines)

    assert is_read_by_vectors(assert_alike(events))


RAISED = '[ERROR] ValueError: the provider answered {}\nTraceback (most recent call last):\n  File "app.py", line 7, in handler'
TIMED_OUT = f"2026-11-20T12:00:00.000Z {RUNS[0]} Task timed out after 3.00 seconds"
CHARGED = [f"processing {MESSAGES[0]}", f"charged payment_id={KEY}", f"processing {MESSAGES[1]}"]
STATUS = "\tStatus: timeout"
FAILED_BY_VECTORS = {
    "a timeout by its REPORT": ("no-marks", [], STATUS, "timeout"),
    "a timeout by its REPORT, with marks": ("keys", CHARGED, STATUS + "\n", "timeout"),
    "a timeout by its line": ("keys", [*CHARGED, TIMED_OUT], "", "timeout"),
    "a timeout by both": ("either", [f"paid {MESSAGES[0]}", TIMED_OUT], STATUS, "timeout"),
    "an error": ("keys", [*CHARGED, RAISED.format(502)], "", "error"),
    "an error, then a timeout": ("no-marks", [RAISED.format(502), TIMED_OUT], "", "timeout"),
}
FAILED_BY_THE_GRAMMAR = {
    "an error of the platform": ("no-marks", [RAISED.replace("ValueError", "Runtime.ExitError")], ""),
    "an error whose name has a digit": ("no-marks", [RAISED.replace("ValueError", "S3Error")], ""),
    "an error that names a message": ("no-marks", [RAISED.format(f"of message {MESSAGES[0]}")], ""),
    "an error that names a key": ("keys", [*CHARGED, RAISED.format(f"502 for {KEY}")], ""),
    "another run's timeout": ("no-marks", [TIMED_OUT.replace(RUNS[0], RUNS[1])], ""),
    "an error by its REPORT": ("no-marks", [], "\tStatus: error\tError Type: Runtime.ExitError"),
    "a timeout said twice": ("no-marks", [], STATUS + STATUS),
}


def of_failed(name: str, lines: list[str], status: str) -> pl.DataFrame:
    """Return the log events of one invocation that prints its event and some lines, and whose REPORT ends with a status."""
    *begun, end, report = invocation(RUNS[0], json.dumps(EVENT), *lines)
    return log_events(in_time([*begun, end, report + status]), f"/aws/lambda/{name}-1")


@pytest.mark.parametrize(("name", "lines", "status", "ended"), FAILED_BY_VECTORS.values(), ids=FAILED_BY_VECTORS)
def test_runs_that_failed_in_the_commonest_ways_are_read_by_vectors_and_alike(name, lines, status, ended):
    events = of_failed(name, lines, status)
    told = assert_alike(events)

    assert is_read_by_vectors(told)
    assert {(row["run_status"], row["is_open"]) for row in told.deliveries.rows(named=True)} == {(ended, True)}


@pytest.mark.parametrize(("name", "lines", "status"), FAILED_BY_THE_GRAMMAR.values(), ids=FAILED_BY_THE_GRAMMAR)
def test_runs_that_failed_otherwise_go_to_the_grammar(name, lines, status):
    events = of_failed(name, lines, status)

    assert not is_read_by_vectors(assert_alike(events))


@pytest.mark.parametrize("named", [None, 1, 2])
def test_a_message_that_an_error_names_was_reached_though_the_line_of_its_start_is_lost(named):
    consumer = Consumer(started=r"processing (?P<message_id>\S{36})", order="sequential")
    group = LogGroup("/aws/lambda/pay", "lambda", "pay", QUEUE_ARN, consumer)
    reading = Reading(LogGroups({group.name: group}), READING.in_force, READING.keys)
    records = [record(message_id) for message_id in MESSAGES]
    key = "" if named is None else f" for {json.loads(records[named]['body'])['payment_id']}"
    event = json.dumps({"Records": records})
    events = log_events(
        in_time(invocation(RUNS[0], event, f"processing {MESSAGES[0]}", RAISED.format(f"502{key}"))), group.name
    )
    told = assert_alike(events, reading)
    not_reached = told.deliveries.filter("is_not_reached")["message_id"].to_list()

    assert sorted(not_reached) == sorted(MESSAGES[1 if named is None else named + 1 :])
    assert is_read_by_vectors(told) == (named is None)


def test_an_error_behind_its_end_goes_to_the_grammar():
    *begun, end, report = invocation(RUNS[0], json.dumps(EVENT))
    events = log_events(in_time([*begun, end, RAISED, report]), "/aws/lambda/no-marks-1")

    assert not is_read_by_vectors(assert_alike(events))


@pytest.mark.parametrize("order", ["sequential", "parallel", None])
@pytest.mark.parametrize("is_exhaustive", [True, False], ids=["exhaustive", "not exhaustive"])
@pytest.mark.parametrize("charged", [0, 1, 2, 3])
def test_how_far_a_batch_got_is_told_alike(charged, is_exhaustive, order):
    consumer = Consumer(effect=r"paid (?P<message_id>\S{36})", effect_is_exhaustive=is_exhaustive, order=order)
    group = LogGroup("/aws/lambda/pay", "lambda", "pay", QUEUE_ARN, consumer)
    reading = Reading(LogGroups({group.name: group}), READING.in_force, READING.keys)
    event = json.dumps({"Records": [record(message_id) for message_id in MESSAGES]})
    lines = invocation(RUNS[0], event, *(f"paid {message_id}" for message_id in MESSAGES[:charged]))
    events = log_events(in_time([*lines[:-1], lines[-1] + STATUS]), group.name)

    assert is_read_by_vectors(assert_alike(events, reading))


@pytest.mark.parametrize(("name", "lines"), BY_THE_GRAMMAR.values(), ids=BY_THE_GRAMMAR)
def test_what_vectors_cannot_tell_for_sure_goes_to_the_grammar(name, lines):
    events = of_one(name, lines)

    assert not is_read_by_vectors(assert_alike(events))
