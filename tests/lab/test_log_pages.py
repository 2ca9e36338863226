import pytest

from lab import log_pages

GROUP = "/ecs/paged"
START_MS = 1_795_000_000_000


def put(logs, stream: str, messages: list[str], at_ms) -> None:
    logs.create_log_stream(logGroupName=GROUP, logStreamName=stream)
    events = [{"timestamp": at_ms(number), "message": message} for number, message in enumerate(messages)]
    for first in range(0, len(events), 5_000):
        logs.put_log_events(logGroupName=GROUP, logStreamName=stream, logEvents=events[first : first + 5_000])


@pytest.fixture(scope="module")
def logs(aws):
    """A group with 23,000 short events, three to a millisecond, and 40 long ones."""
    client = aws.client("logs")
    client.create_log_group(logGroupName=GROUP)
    put(client, "short", [f"line {n}" for n in range(23_000)], lambda n: START_MS + n // 3)
    put(client, "long", [f"{n} " + "x" * 60_000 for n in range(40)], lambda n: START_MS + 20_000 + n)
    put(client, "twins", ["the same"] * 4, lambda n: START_MS + 30_000)
    return client


def all_pages(logs, **asked) -> list[list[dict]]:
    pages = logs.get_paginator("filter_log_events").paginate(logGroupName=GROUP, **asked)
    return [page["events"] for page in pages]


@pytest.mark.emulator
def test_more_than_ten_thousand_events_come_complete_and_once(logs):
    pages = all_pages(logs, logStreamNamePrefix="short")

    lines = [event["message"] for page in pages for event in page]
    assert max(len(page) for page in pages) <= log_pages.PAGE_EVENTS
    assert sorted(lines) == sorted(f"line {n}" for n in range(23_000))


@pytest.mark.emulator
def test_a_page_holds_no_more_than_a_megabyte(logs):
    pages = all_pages(logs, startTime=START_MS + 20_000, endTime=START_MS + 20_039)

    assert sum(len(page) for page in pages) == 40
    assert all(sum(len(e["message"]) for e in page) <= log_pages.PAGE_BYTES for page in pages)


@pytest.mark.emulator
def test_event_ids_look_like_cloudwatchs_and_do_not_change(logs):
    asked = {"startTime": START_MS + 20_000}
    ids = [event["eventId"] for page in all_pages(logs, **asked) for event in page]
    again = [event["eventId"] for page in all_pages(logs, **asked, limit=7) for event in page]

    assert len(set(ids)) == len(ids) == 44
    assert all(len(event_id) == 56 and event_id.isdigit() for event_id in ids)
    assert again == ids


@pytest.mark.emulator
def test_a_made_up_token_is_refused_not_taken_for_the_start(logs):
    with pytest.raises(logs.exceptions.InvalidParameterException):
        logs.filter_log_events(logGroupName=GROUP, nextToken="bogus")


def test_a_millisecond_too_full_for_a_page_is_an_error_not_a_loop():
    raw = [{"timestamp": 5, "message": str(n), "logStreamName": "s"} for n in range(log_pages.PAGE_EVENTS)]
    first = log_pages.page({"logGroupName": "g", "startTime": 5}, raw)

    with pytest.raises(log_pages.CrowdedMillisecondError):
        log_pages.page({"logGroupName": "g", "startTime": 5, "nextToken": first["nextToken"]}, raw)
