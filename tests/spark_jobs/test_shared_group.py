"""Functions that share a log group: each is read by its own marks, in whichever files its lines lie."""

import json

import pytest

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import BY_NAME
from forensics.tables.findings import DELIVERIES
from lab.loglines import end_line, platform_event, report_line, start_line
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.spark_jobs.small_lake import SmallLake, at, record, some_id

pytestmark = pytest.mark.slow

GROUP = "/payments/all"
SAID = Settings.parse(
    """
[[function]]
name = "charge"
effect = 'charged message_id=(?P<message_id>[0-9a-f-]+)'
[[function]]
name = "post"
effect = 'posted message_id=(?P<message_id>[0-9a-f-]+)'
order = "sequential"
"""
)


def run(second: float, name: str, queue: str, *said: str) -> list[tuple[float, str]]:
    batch = json.dumps({"Records": [record(some_id(f"message of {name}"), 1, queue, "{}", second - 1)]})
    own = some_id(f"run of {name}")
    lines = [start_line(own), batch, *said, end_line(own), report_line(own, 900.0, 901, 128, 64)]
    return [(second + n / 10, line) for n, line in enumerate(lines)]


def found(lake: Lake) -> dict[str, tuple]:
    correlate(lake, SAID, carrier=Here())
    rows = lake.findings().read(DELIVERIES).to_pylist()
    return {row["message_id"]: (row["queue"], row["function_name"], row["effect"], row["basis"]) for row in rows}


def test_marks_order_and_queue_are_those_of_the_function_whose_stream_it_is(tmp_path):
    lake = SmallLake()
    for name, queue in (("charge", "payments"), ("post", "ledger")):
        both = [f"{verb} message_id={some_id(f'message of {name}')}" for verb in ("charged", "looked at")]
        stream = f"2026/11/20/{name}[$LATEST]{'b' * 32}"
        lake.queue(queue)
        lake.function(queue, name, *run(1, name, queue, *both), group=GROUP, stream=stream)

    assert found(lake.write(tmp_path)) == {
        some_id("message of charge"): ("payments", "charge", "yes", "marker"),
        some_id("message of post"): ("ledger", "post", "unknown", "no_item_lines"),
    }


@pytest.mark.parametrize("stream", ["host-1", f"2026/11/20/[$LATEST]{'c' * 32}"], ids=["not Lambda's", "nobody's"])
def test_a_function_named_by_a_platform_event_in_one_file_is_known_in_all(tmp_path, stream):
    lake = SmallLake()
    posted = f"posted message_id={some_id('message of post')}"
    lake.queue("ledger")
    lake.function("ledger", "charge", group=GROUP)
    lake.function("ledger", "post", *run(1, "post", "ledger", posted), group=GROUP, stream=stream)
    event = platform_event("2026-11-20T11:59:00.000Z", "initStart", {"functionName": "post", "phase": "init"})
    written = lake.write(tmp_path)

    assert found(written)[some_id("message of post")][1:3] == (None, "unknown")

    later = dict(lake.rows["log_events"][0], evidence_id="log:later", logged_at=at(-60), order_in_ms=0, line=event)
    written.append(BY_NAME["log_events"], [later], "log_events|later")

    assert found(written)[some_id("message of post")] == ("ledger", "post", "yes", "marker")
