"""A guard that tells in words of its own, by the payment's key or by nothing, that it stopped a repeat; no settings name its line."""

import pytest

from forensics.settings import Settings
from forensics.tables.findings import DELIVERIES, MESSAGES
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.spark_jobs.small_lake import SmallLake, record, run, some_id

pytestmark = pytest.mark.slow

TASK, ORDER = some_id("a task"), some_id("an order")
JOBS = {name: some_id(name) for name in ("by-key", "by-an-id-of-its-own", "done-twice")}
FIRST, SECOND = some_id("sent first"), some_id("sent again")
SKIPPED = "payment pay-1 already charged, skipping"
SAID = {
    "by-key": SKIPPED,
    "by-an-id-of-its-own": f"order {ORDER} was already paid",
    "done-twice": "charged payment pay-1",
}


def shoryuken(name: str) -> list[tuple[float, str]]:
    """A job in two deliveries, of which the second says something between its begin and its end."""
    of_job = f"71 TID-ox9 ChargeWorker/{name}/{JOBS[name]} INFO:"
    times = [(0, "charged payment pay-1"), (31, SAID[name])]
    ends = [
        [(s, f"{of_job} started at now"), (s + 0.3, says), (s + 1, f"{of_job} completed in: 900 ms")]
        for s, says in times
    ]
    return [line for lines in ends for line in lines]


def celery(*results: str) -> list[tuple[float, str]]:
    ends = [
        [(31 * n, f"Task charge[{TASK}] received"), (31 * n + 1, f"Task charge[{TASK}] succeeded in 0.3s: {result}")]
        for n, result in enumerate(results)
    ]
    return [line for lines in ends for line in lines]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    lake = SmallLake()
    for name in JOBS:
        lake.queue(name)
        lake.worker(name, *shoryuken(name))
    lake.queue("tasks")
    lake.worker("tasks", *celery("None", "'skipped: duplicate'"))
    lake.queue("orders")
    first, failed, second = (record(m, n, "orders", "{}", 0) for m, n in ((FIRST, 1), (SECOND, 1), (SECOND, 2)))
    lake.function(
        "orders",
        "orders",
        *run("o1", 1, 1, first, says=("charged payment pay-1",)),
        *run("o2", 2, 10, failed, status="timeout"),
        *run("o3", 40, 1, second, says=(SKIPPED,)),
    )
    written = lake.write(tmp_path_factory.mktemp("skipped"))
    correlate(written, Settings.parse(""), carrier=Here())
    return written.findings()


EXPECTED = {
    "by-key": ("probable", 1),
    "by-an-id-of-its-own": ("probable", 1),
    "done-twice": ("confirmed", 2),
    "tasks": ("probable", 1),
    "orders": ("possible", 0),
}


@pytest.mark.parametrize(("queue", "expected"), EXPECTED.items(), ids=EXPECTED)
def test_what_a_line_says_was_not_done_again_is_not_counted(judged, queue, expected):
    rows = [row for row in judged.read(MESSAGES).to_pylist() if row["queue"] == queue]

    assert [(row["verdict"], row["effects_at_least"]) for row in rows] == [expected]


def test_the_line_stands_among_the_evidence(judged):
    rows = [row for row in judged.read(DELIVERIES).to_pylist() if row["queue"] == "by-key"]

    assert [len(row["evidence_ids"]) for row in sorted(rows, key=lambda row: row["delivery_index"])] == [2, 3]
