"""The grammar gives in Spark what it gives in Python: over every recorded line, and over what becomes of them."""

from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime

import pytest

from forensics.parsers import parse_line
from forensics.settings import Settings
from spark_jobs import tuning
from spark_jobs.parsed_lines import COLUMNS, marks_of_runs, parsed_lines
from tests.forensics.parsers.lines import every_line

pytestmark = pytest.mark.spark

WORKER, FUNCTION = "/ecs/orders-worker", "/aws/lambda/charge-card"
SETTINGS = Settings.parse(
    r"""
[[worker]]
log_group = "/ecs/orders-worker"
message_id = "$.sqs.id"
receive_count = "$.sqs.count"
started = '"event": "start"'
deleted = '"event": "deleted"'
failed = '"event": "failed"'
effect = 'charged payment_id=(?P<key>\S+)'

[[function]]
name = "charge-card"
message_id = 'msg=(?P<message_id>[0-9a-fA-F-]{36})'
receive_count = 'attempt=(?P<receive_count>[0-9]+)'
started = 'begin'
effect = 'charged (?P<key>p-[0-9]+)'
guard = 'already charged (?P<key>p-[0-9]+)'
"""
)
CONSUMERS = {WORKER: SETTINGS.workers[0], FUNCTION: SETTINGS.functions[0]}
LIKE_THE_WORKER = "/ecs/refunds-worker"
"""A consumer of which the same is said as of another."""
CONFIGURED = [
    '{"event": "start", "sqs": {"id": "861bec95-b670-4f2a-acf9-19d5bdd7cbe5", "count": 3}}',
    '{"event": "deleted", "sqs": {"id": "861BEC95-B670-4F2A-ACF9-19D5BDD7CBE5", "count": "2"}}',
    '{"event": "failed", "sqs": {"count": "many"}}',
    '{"event": "failed", "sqs": ["861bec95"]}',
    "charged payment_id=p-9",
    "begin msg=861BEC95-b670-4f2a-acf9-19d5bdd7cbe5 attempt=2",
    "begin attempt=2",
    "charged p-7 msg=861bec95-b670-4f2a-acf9-19d5bdd7cbe5",
    "already charged p-7",
    '{"event": "start", "note": "' + "\\u00e9 \U0001f600 " * 30_000 + '", "sqs": {"id": "A1"}}',
]
AT = datetime(2026, 1, 5, tzinfo=UTC)
LINES = "evidence_id string, log_group string, log_stream string, logged_at timestamp, order_in_ms int, line string"


@pytest.fixture(scope="module")
def read(spark) -> list[tuple[str, str, dict]]:
    """Each line with its log group, and what Spark read of it, with generated code: a lake of few lines is read without."""
    lines = [(group, line) for group in CONSUMERS for line in [*every_line(seed=7, share=0.25), *CONFIGURED]]
    lines += [(LIKE_THE_WORKER, line) for line in CONFIGURED]
    rows = [(f"{n:06d}", group, "stream", AT, n, line) for n, (group, line) in enumerate(lines)]
    frame = spark.createDataFrame(rows, LINES)
    consumers = CONSUMERS | {LIKE_THE_WORKER: CONSUMERS[WORKER]}
    tuning.tune(spark, tuning.FEW_LINES, is_small=False)
    found = sorted(parsed_lines(frame, consumers).collect(), key=lambda row: row["evidence_id"])
    tuning.tune(spark, len(lines), is_small=True)
    return [(group, line, row.asDict(recursive=True)) for (group, line), row in zip(lines, found, strict=True)]


def test_both_engines_read_the_same(read):
    compared = COLUMNS[5:]
    differences = []
    for group, line, row in read:
        told = asdict(parse_line(line, CONSUMERS.get(group, CONSUMERS[WORKER]), group))
        wrong = {c: (told[c], row[c]) for c in compared if told[c] != row[c]}
        if wrong:
            differences.append((line[:200], wrong))

    assert len(read) > 800
    assert differences == []


def test_a_place_said_once_names_the_message_on_every_line(read):
    by_line = {(group, line): row for group, line, row in read}
    start, deleted = by_line[WORKER, CONFIGURED[0]], by_line[WORKER, CONFIGURED[1]]

    assert (start["started"]["message_id"], start["receive_count"]) == ("861bec95-b670-4f2a-acf9-19d5bdd7cbe5", 3)
    assert deleted["deleted_mark"]["message_id"] == "861bec95-b670-4f2a-acf9-19d5bdd7cbe5"
    assert by_line[WORKER, CONFIGURED[2]]["failed_mark"] is None


def test_the_lines_that_mark_a_run_are_known_without_reading_the_rest(spark, read):
    rows = [("e", group, "stream", AT, n, line) for n, (group, line, _) in enumerate(read)]
    frame = spark.createDataFrame(rows, LINES)

    found = Counter((row["log_group"], row["kind"]) for row in marks_of_runs(frame).collect())

    assert found == Counter((g, row["kind"]) for g, _, row in read if row["kind"] in ("start", "end", "report"))
    assert {kind for _, kind in found} == {"start", "end", "report"}
