"""Log events over HTTP: every page, each event once, in order, whatever the service does."""

from datetime import timedelta

import pytest

from forensics.errors import ConservationError
from forensics.identity import evidence_id
from forensics.lake import Appended, Lake
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import log_events
from ingest.clients import Aws
from ingest.log_events import LogGroup
from tests.ingest.proxy import EmptyPage, Proxy, Reply, SamePageAgain, cut, drop, edit_events, refuse
from tests.ingest.world import HANDLE, REGION, START, World, ms

pytestmark = pytest.mark.emulator

LOG_EVENTS, QUARANTINE = BY_NAME["log_events"], BY_NAME["quarantine"]
NOW = START + timedelta(hours=2)


def group_of(aws: Aws, name: str) -> LogGroup:
    return LogGroup(name, "000000000000", REGION, ("arn:aws:sqs:eu-west-1:000000000000:q",), aws)


def lines(lake: Lake) -> list[str]:
    rows = lake.read(LOG_EVENTS).to_pylist()
    rows.reverse()  # the order must come from the columns, not from the files
    return [r["line"] for r in sorted(rows, key=lambda r: (r["logged_at"], r["log_stream"], r["order_in_ms"]))]


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_events, "PAGE_EVENTS", 10)


@pytest.fixture
def twenty_five(moto_world: World) -> str:
    group = moto_world.name("/app/paged")
    moto_world.log(group, [(n * 10, f"line {n:02}") for n in range(25)])
    return group


WANTED = [f"line {n:02}" for n in range(25)]


def test_all_pages_are_read(lake, moto_aws, moto_proxy, twenty_five, hour, small_pages):
    reading = log_events.ingest(lake, group_of(moto_aws, twenty_five), hour, NOW)

    assert lines(lake) == WANTED
    assert (reading.status, reading.seen_count, reading.stored_count) == ("ok", 25, 25)
    assert moto_proxy.calls == ["logs:FilterLogEvents"] * 3


def test_an_empty_page_with_a_token_is_not_the_end(lake, moto_aws, moto_proxy, twenty_five, hour, small_pages):
    moto_proxy.fail("logs:FilterLogEvents", EmptyPage())
    log_events.ingest(lake, group_of(moto_aws, twenty_five), hour, NOW)

    assert lines(lake) == WANTED


def test_a_page_that_comes_twice_is_stored_once(lake, moto_aws, moto_proxy, twenty_five, hour, small_pages):
    moto_proxy.fail("logs:FilterLogEvents", SamePageAgain())
    reading = log_events.ingest(lake, group_of(moto_aws, twenty_five), hour, NOW)

    assert lines(lake) == WANTED
    assert (reading.seen_count, reading.stored_count, reading.already_count) == (50, 25, 25)


def test_a_page_cut_off_once_is_read_again(lake, moto_aws, moto_proxy, twenty_five, hour, small_pages):
    moto_proxy.fail("logs:FilterLogEvents", cut, on=[2])
    reading = log_events.ingest(lake, group_of(moto_aws, twenty_five), hour, NOW)

    assert (reading.status, lines(lake)) == ("ok", WANTED)


def test_a_page_that_stays_cut_off_is_a_gap_that_keeps_what_came(
    lake, moto_aws, moto_proxy, twenty_five, hour, small_pages
):
    moto_proxy.fail("logs:FilterLogEvents", cut, on=[2, 3, 4])
    reading = log_events.ingest(lake, group_of(moto_aws, twenty_five), hour, NOW)

    assert (reading.status, reading.seen_count, lines(lake)) == ("failed", 10, WANTED[:10])
    assert "cut off" in (reading.gap or "")


def test_throttling_and_dropped_connections_lose_nothing(lake, moto_aws, moto_proxy, twenty_five, hour, small_pages):
    moto_proxy.fail("logs:FilterLogEvents", refuse("ThrottlingException"), on=[2])
    moto_proxy.fail("logs:FilterLogEvents", drop, on=[4])
    reading = log_events.ingest(lake, group_of(moto_aws, twenty_five), hour, NOW)

    assert (reading.status, lines(lake)) == ("ok", WANTED)


def test_a_token_that_leads_nowhere_ends_the_reading(lake, moto_aws, moto_proxy, twenty_five, hour):
    moto_proxy.fail("logs:FilterLogEvents", lambda upstream, _: upstream().with_json(nextToken="same"))
    reading = log_events.ingest(lake, group_of(moto_aws, twenty_five), hour, NOW)

    assert reading.status == "failed"


def test_a_service_that_cuts_silently_at_a_full_page_loses_nothing(lake, world, aws, hour, small_pages):
    group = world.name("/app/cut")
    world.log(group, [(n // 4, f"line {n:02}") for n in range(25)])
    reading = log_events.ingest(lake, group_of(aws, group), hour, NOW)

    assert (reading.status, lines(lake)) == ("ok", WANTED)


def test_a_full_page_within_one_millisecond_is_a_gap_rather_than_a_loss(lake, world, aws, hour, small_pages):
    group = world.name("/app/burst")
    world.log(group, [(7, f"line {n:02}") for n in range(12)])
    reading = log_events.ingest(lake, group_of(aws, group), hour, NOW)

    assert reading.status == "failed"
    assert "in millisecond" in (reading.detail or "")


def test_the_window_takes_its_first_millisecond_and_not_its_end(lake, moto_world, moto_aws, hour):
    group = moto_world.name("/app/borders")
    stamps = {-1: "before", 0: "first", 3_599_999: "last", 3_600_000: "after"}
    moto_world.log(group, list(stamps.items()))
    log_events.ingest(lake, group_of(moto_aws, group), hour, NOW)

    assert lines(lake) == ["first", "last"]


def test_windows_side_by_side_neither_lose_nor_double(lake, moto_world, moto_aws, hour):
    group = moto_world.name("/app/halves")
    moto_world.log(group, [(n * 600_000, f"line {n}") for n in range(6)])
    middle = START + timedelta(minutes=30)
    for window in (TimeWindow(START, middle), TimeWindow(middle, hour.end_at)):
        assert log_events.ingest(lake, group_of(moto_aws, group), window, NOW).already_count == 0

    assert lines(lake) == [f"line {n}" for n in range(6)]


def test_events_of_one_millisecond_keep_the_order_they_came_in(lake, moto_world, moto_aws, hour, small_pages):
    group = moto_world.name("/app/same-ms")
    wanted = [f"line {n:02}" for n in range(14)]
    moto_world.log(group, [(5, line) for line in wanted])
    log_events.ingest(lake, group_of(moto_aws, group), hour, NOW)

    assert lines(lake) == wanted


def test_reading_again_adds_only_what_arrived_late(lake, moto_world, moto_aws, hour):
    group = moto_world.name("/app/late")
    moto_world.log(group, [(10, "early"), (30, "later")])
    log_events.ingest(lake, group_of(moto_aws, group), hour, NOW)
    moto_world.log(group, [(20, "late")], stream="stream-2")
    reading = log_events.ingest(lake, group_of(moto_aws, group), hour, NOW)

    assert (reading.seen_count, reading.stored_count, reading.already_count) == (3, 1, 2)
    assert lines(lake) == ["early", "late", "later"]


def test_the_row_is_what_the_service_said(lake, moto_world, moto_aws, hour):
    group = moto_world.name("/app/row")
    moto_world.log(group, [(123, "charged\tpayment_id=pay-1 €\n")])
    log_events.ingest(lake, group_of(moto_aws, group), hour, NOW)
    (row,) = lake.read(LOG_EVENTS).to_pylist()
    event = moto_world.client("logs").filter_log_events(logGroupName=group)["events"][0]

    assert row["evidence_id"] == evidence_id("log", "000000000000", REGION, group, event["eventId"])
    assert (row["line"], row["log_stream"]) == ("charged\tpayment_id=pay-1 €\n", "stream-1")
    assert row["logged_at"] == START + timedelta(milliseconds=123)
    assert ms(row["ingested_at"]) == event["ingestionTime"]


def without_ids(events: list) -> list:
    return [{key: value for key, value in event.items() if key != "eventId"} for event in events]


def test_events_without_an_id_get_a_lasting_one(lake, moto_world, moto_aws, moto_proxy, hour, small_pages):
    group = moto_world.name("/app/no-ids")
    moto_world.log(group, [(1, "tick"), (1, "tick"), (1, "tock"), (2, "tick")])
    moto_proxy.fail("logs:FilterLogEvents", edit_events(without_ids))
    first = log_events.ingest(lake, group_of(moto_aws, group), hour, NOW)
    second = log_events.ingest(lake, group_of(moto_aws, group), hour, NOW)

    assert (first.stored_count, second.stored_count, second.already_count) == (4, 0, 4)
    assert lines(lake) == ["tick", "tick", "tock", "tick"]
    assert lake.read(LOG_EVENTS, ["event_id"])["event_id"].null_count == 4


def test_receipt_handles_are_tokens_before_the_first_write(lake, moto_world, moto_aws, hour):
    group = moto_world.name("/app/handles")
    moto_world.log(group, [(1, f"{{'receiptHandle': '{HANDLE}'}}"), (2, f"Value {HANDLE} for parameter ReceiptHandle")])
    log_events.ingest(lake, group_of(moto_aws, group), hour, NOW)

    assert all(HANDLE[24:40] not in line and "RH~AQEBWH9t" in line for line in lines(lake))


POISON = {
    "timestamp is text": {"timestamp": "yesterday"},
    "timestamp has a fraction": {"timestamp": 1.5},
    "timestamp is missing": {"timestamp": None},
    "timestamp in the year 1970": {"timestamp": 12},
    "timestamp beyond 64 bits": {"timestamp": 2**70},
    "timestamp is true": {"timestamp": True},
    "message is a number": {"message": 7},
    "message is an object": {"message": {"receiptHandle": HANDLE}},
    "message has half a surrogate pair": {"message": "broken \ud83d pair"},
    "message has a NUL": {"message": "nul \0 here"},
    "stream is missing": {"logStreamName": None},
    "event id is a number": {"eventId": 7},
}


@pytest.mark.parametrize("change", POISON.values(), ids=POISON)
def test_poison_goes_to_quarantine_and_stops_nothing(lake, moto_world, moto_aws, moto_proxy, hour, change):
    group = moto_world.name("/app/poison")
    moto_world.log(group, [(n, f"line {n}") for n in range(3)])
    moto_proxy.fail("logs:FilterLogEvents", edit_events(lambda events: [events[0], events[1] | change, events[2]]))
    log_events.ingest(lake, group_of(moto_aws, group), hour, NOW)
    reading = log_events.ingest(lake, group_of(moto_aws, group), hour, NOW)
    kept = lake.read(QUARANTINE).to_pylist()

    assert lines(lake) == ["line 0", "line 2"]
    assert (reading.status, reading.seen_count, reading.already_count, reading.quarantined_count) == ("ok", 3, 2, 1)
    assert [(row["source"], row["resource"], row["offset"]) for row in kept] == [("log_events", group, 1)]
    assert HANDLE[24:] not in kept[0]["head"]


def test_an_event_that_is_no_object_is_quarantined_too(lake, moto_world, moto_aws, moto_proxy, hour):
    group = moto_world.name("/app/odd")
    moto_world.log(group, [(1, "line")])
    moto_proxy.fail("logs:FilterLogEvents", edit_events(lambda events: [*events, None]))
    reading = log_events.ingest(lake, group_of(moto_aws, group), hour, NOW)

    assert (reading.seen_count, reading.stored_count, reading.quarantined_count) == (2, 1, 1)


def test_events_of_another_shape_than_aws_has_are_quarantined_one_by_one(lake, moto_aws, moto_proxy, twenty_five, hour):
    moto_proxy.fail("logs:FilterLogEvents", edit_events(lambda events: ["text", 7, *events[2:]]))
    reading = log_events.ingest(lake, group_of(moto_aws, twenty_five), hour, NOW)

    assert (reading.status, reading.seen_count) == ("ok", 25)
    assert (reading.stored_count, reading.quarantined_count) == (23, 2)


class ForgetfulLake(Lake):
    def append(self, table, rows, writer):
        done = super().append(table, rows, writer)
        return Appended(done.stored_count - 1, done.already_count)


def test_a_lost_event_breaks_the_conservation_law(tmp_path, moto_aws, twenty_five, hour):
    with pytest.raises(ConservationError, match="25 events seen, but 24 stored"):
        log_events.ingest(ForgetfulLake(tmp_path / "lake"), group_of(moto_aws, twenty_five), hour, NOW)


def test_many_pages_become_few_commits(lake, moto_aws, twenty_five, hour, small_pages, monkeypatch):
    monkeypatch.setattr(log_events, "APPEND_ROWS", 20)
    log_events.ingest(lake, group_of(moto_aws, twenty_five), hour, NOW)

    assert lake.versions()["log_events"] + 1 == 2
    assert lines(lake) == WANTED


def test_a_log_group_that_is_not_there_is_a_gap(lake, moto_aws, hour):
    reading = log_events.ingest(lake, group_of(moto_aws, "/app/nowhere"), hour, NOW)

    assert reading.status == "gone"
    assert "'/app/nowhere': not there" in (reading.gap or "")


def test_a_reply_of_the_wrong_kind_is_an_error(lake, moto_aws, moto_proxy, twenty_five, hour):
    moto_proxy.fail("logs:FilterLogEvents", lambda *_: Reply(200, {"content-type": "text/html"}, b"<h1>Welcome</h1>"))
    reading = log_events.ingest(lake, group_of(moto_aws, twenty_five), hour, NOW)

    assert (reading.status, reading.seen_count) == ("failed", 0)


def test_progress_hears_of_every_page(lake, moto_aws, twenty_five, hour, small_pages):
    heard: list[int] = []
    log_events.ingest(lake, group_of(moto_aws, twenty_five), hour, NOW, heard.append)

    assert heard == [10, 20, 25]


def test_a_fault_injecting_proxy_is_what_it_says(moto_world, moto_proxy: Proxy, moto_aws, twenty_five):
    moto_proxy.fail("logs:*", refuse("AccessDeniedException"), on=[2])
    client = moto_aws.client("logs")
    client.filter_log_events(logGroupName=twenty_five)
    with pytest.raises(client.exceptions.ClientError, match="AccessDeniedException"):
        client.filter_log_events(logGroupName=twenty_five)

    assert moto_proxy.calls == ["logs:FilterLogEvents"] * 2
