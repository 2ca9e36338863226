"""What a file of log events holds."""

import pytest

from forensics.counting.survey import surveyed
from tests.spark_jobs.streams import log_events

STREAM = f"2026/11/20/[{{}}]{'a' * 32}"
START = "START RequestId: 4dc1e1a0-6e4f-4c6e-a6a5-1f8c29a1ae2b Version: {}\n"
JSON_START = (
    '{{"time":"2026-11-20T12:00:00Z","type":"platform.start","record":'
    '{{"requestId":"4dc1e1a0-6e4f-4c6e-a6a5-1f8c29a1ae2b","functionArn":"arn","version":"{}"}}}}'
)
FUNCTION, SHARED = "/aws/lambda/charge", "app"
VERSIONS = {
    "of a START line": (FUNCTION, "exported", [START.format("$LATEST")], ["$LATEST"]),
    "of one behind a time": (FUNCTION, "exported", ["2026-11-20T12:00:00.000Z " + START.format(7)], ["7"]),
    "of one of the JSON format": (FUNCTION, "exported", [JSON_START.format("$LATEST")], ["$LATEST"]),
    "of several": (FUNCTION, "exported", [START.format(7), START.format(8), START.format(7)], ["7", "8"]),
    "in a group of another name": (SHARED, "exported", [START.format("$LATEST")], ["$LATEST"]),
    "not of a stream whose name tells": (FUNCTION, STREAM.format(7), [START.format(7)], []),
    "not of a run that the application speaks of": (FUNCTION, "exported", ["a run of Version: 7 began"], []),
    "not of what an application logs of a version": (FUNCTION, "exported", ['{"version": "7", "level": "INFO"}'], []),
    "not of workers": ("/ecs/pay", "exported", ["pay-service, Version: 7"], []),
}


@pytest.mark.parametrize(("group", "stream", "lines", "expected"), VERSIONS.values(), ids=VERSIONS)
def test_which_versions_run_in_streams_that_lambda_did_not_name(group, stream, lines, expected, tmp_path):
    path = tmp_path / "events.parquet"
    log_events(list(enumerate(lines)), group, stream).write_parquet(path)

    (told,) = surveyed(str(path), None)

    assert told["versions"] == expected
