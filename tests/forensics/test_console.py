from datetime import UTC, datetime
from urllib.parse import unquote

import pytest

from forensics.console import console_link, insights_query

LINE = {
    "account_id": "210987654321",
    "region": "eu-central-1",
    "log_group": "/aws/lambda/charge-card",
    "log_stream": "2026/11/20/[$LATEST]0f3a",
    "logged_at": datetime(2026, 11, 20, 5, 22, 1, 300_000, tzinfo=UTC),
}


def test_a_line_is_linked_at_its_moment_in_its_stream():
    link = console_link(LINE)
    host, _, fragment = link.partition("/cloudwatch/home?region=eu-central-1#")
    path = unquote(unquote(fragment.replace("$", "%")))

    assert host == "https://eu-central-1.console.aws.amazon.com"
    assert path.startswith(
        "logsV2:log-groups/log-group//aws/lambda/charge-card/log-events/2026/11/20/[$LATEST]0f3a?start="
    )
    assert fragment.endswith("$3Fstart$3D1795152120300$26end$3D1795152122300")
    assert "%" not in fragment


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("cn-north-1", "cn-north-1.console.amazonaws.cn"),
        ("us-gov-west-1", "us-gov-west-1.console.amazonaws-us-gov.com"),
        ("eusc-de-east-1", "eusc-de-east-1.console.amazonaws-eusc.eu"),
    ],
)
def test_every_partition_has_a_console_of_its_own(region, host):
    assert console_link(LINE | {"region": region}).startswith(f"https://{host}/cloudwatch/home?region={region}#")


@pytest.mark.parametrize(
    "lacks",
    [
        {"region": "us-iso-east-1"},
        {"region": "narnia"},
        {"region": None},
        {"account_id": "000000000000"},
        {"account_id": "123456789012"},
        {"account_id": "imported"},
        {"log_stream": ""},
    ],
)
def test_a_line_that_no_public_console_shows_has_no_link(lacks):
    assert console_link(LINE | lacks) is None


def test_the_query_names_stream_and_moment_and_a_quote_in_a_name_does_not_end_the_string():
    query = insights_query(LINE | {"log_stream": 'worker "a"'})

    assert r'@logStream = "worker \"a\""' in query
    assert "toMillis(@timestamp) = 1795152121300" in query
