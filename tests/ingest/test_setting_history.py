"""Settings from before the window: CloudTrail is asked as far back as is needed, and once."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from forensics.clock import micros
from forensics.lake import Lake
from forensics.settings_in_force import SettingsInForce
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import setting_history
from ingest.aws_errors import AwsRefusedError
from ingest.coverage import record
from ingest.discovery import Estate
from tests.ingest.stand_ins import AsModelled

pytestmark = pytest.mark.lake

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = timedelta(days=1)
START = NOW - DAY
REACH = TimeWindow(NOW - 90 * DAY, START - 7 * DAY)
ACCOUNT, REGION = "123456789012", "eu-west-1"
QUEUE = f"arn:aws:sqs:{REGION}:{ACCOUNT}:payments"
URL = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/"
SET = "SetQueueAttributes"


def call(days_ago: float, seconds: int, queue: str = "payments", name: str = SET) -> dict[str, Any]:
    asked = {"queueUrl": URL + queue, "attributes": {"VisibilityTimeout": str(seconds), "RedrivePolicy": "{}"}}
    if name == SET:
        asked["attributes"]["RedrivePolicy"] = '{"maxReceiveCount": 5}'
    at = NOW - days_ago * DAY
    content = {
        "eventID": f"{name}-{queue}-{days_ago}",
        "eventTime": f"{at:%Y-%m-%dT%H:%M:%SZ}",
        "eventName": name,
        "eventSource": "sqs.amazonaws.com",
        "requestParameters": asked,
        "recipientAccountId": ACCOUNT,
    }
    return {"EventId": content["eventID"], "EventName": name, "EventTime": at, "CloudTrailEvent": json.dumps(content)}


class Trail(AsModelled):
    """Answers LookupEvents as CloudTrail does: one call's records of a span, the newest first, two a page."""

    def __init__(self, *events: dict[str, Any], refused: bool = False) -> None:
        self.events = sorted(events, key=lambda e: e["EventTime"], reverse=True)
        self.refused = refused
        self.asked: list[tuple[str, datetime, datetime]] = []

    def call(self, service: str, operation: str, demand: str, **asked: Any) -> dict[str, Any]:
        name = asked["LookupAttributes"][0]["AttributeValue"]
        self.asked.append((name, asked["StartTime"], asked["EndTime"]))
        if self.refused:
            raise AwsRefusedError("LookupEvents", "AccessDeniedException", "no", "denied")
        mine = [
            e for e in self.events if e["EventName"] == name and asked["StartTime"] <= e["EventTime"] < asked["EndTime"]
        ]
        first = int(asked.get("NextToken", 0))
        more = {"NextToken": str(first + 2)} if first + 2 < len(mine) else {}
        return {"Events": mine[first : first + 2], **more}


@pytest.fixture
def lake(tmp_path) -> Lake:
    """A queue whose visibility timeout was changed in the middle of the window; only today's is known."""
    lake = Lake(tmp_path / "lake")
    row = {
        "evidence_id": "queue:1",
        "account_id": ACCOUNT,
        "region": REGION,
        "queue_arn": QUEUE,
        "queue_name": "payments",
        "visibility_timeout_s": 400,
        "max_receive_count": 5,
        "observed_at": NOW,
        "last_modified_at": START + timedelta(hours=2),
    }
    lake.append(BY_NAME["queue_settings"], [row], "test|settings")
    return lake


ESTATE = Estate(queues=[SimpleNamespace(arn=QUEUE, account_id=ACCOUNT, region=REGION)])


def look_up(lake: Lake, trail: Trail) -> list[tuple[str, str, TimeWindow]]:
    """Look up what is missing, and record it as a collection does."""
    found = []
    missing = setting_history.wanted(lake, ESTATE, START)
    for reading, span in setting_history.ingest(lake, trail, ACCOUNT, REGION, REACH, missing, NOW):
        record(lake, [reading], span, NOW)
        found.append((reading.resource.partition(" ")[2], reading.status, span))
    return found


def in_force(lake: Lake) -> Iterator[int | None]:
    rows = [lake.read(BY_NAME[name]).to_pylist() for name in (*setting_history.SETTINGS_KEYS, "setting_changes")]
    known = SettingsInForce.of(*rows).queue(QUEUE, micros(START))
    return known["visibility_timeout_s"] if known else None


def test_a_timeout_that_was_changed_in_mid_window_is_known_before_it_from_the_call_that_set_it(lake):
    trail = Trail(call(40, 30), call(20, 600, "another"), call(60, 5))
    before = in_force(lake)
    found = look_up(lake, trail)

    assert setting_history.wanted(lake, ESTATE, START) == {}
    assert (before, in_force(lake)) == (None, 30)
    assert found == [(SET, "ok", TimeWindow(NOW - 40 * DAY, REACH.end_at))]


def test_it_is_not_read_further_back_than_needed(lake):
    trail = Trail(*(call(days, 30) for days in range(10, 90)))
    look_up(lake, trail)

    assert trail.asked == [(SET, REACH.start_at, REACH.end_at)]
    assert len(lake.read(BY_NAME["setting_changes"])) == 2


def test_where_nothing_is_found_in_90_days_every_call_was_asked_once_and_not_again(lake):
    trail = Trail(call(20, 600, "another"))
    first, second = look_up(lake, trail), look_up(lake, trail)

    assert first == [(SET, "ok", REACH), ("CreateQueue", "ok", REACH)]
    assert second == []
    assert [name for name, *_ in trail.asked] == [SET, "CreateQueue"]


def test_what_a_look_up_of_all_changes_covered_is_not_asked_again(lake):
    row = {
        "source": "setting_changes",
        "resource": "CloudTrail",
        "account_id": ACCOUNT,
        "region": REGION,
        "status": "ok",
    }
    span = {"window_start_at": NOW - 50 * DAY, "window_end_at": NOW, "is_provisional": False, "collected_at": NOW}
    lake.append(BY_NAME["coverage"], [row | span | {"evidence_id": "coverage:1"}], "test|coverage")
    trail = Trail()
    look_up(lake, trail)

    assert {asked[1:] for asked in trail.asked} == {(REACH.start_at, NOW - 50 * DAY)}


def test_settings_that_something_vouches_for_are_not_looked_up(lake):
    row = lake.read(BY_NAME["queue_settings"]).to_pylist()[0]
    older = row | {"evidence_id": "queue:0", "observed_at": START - DAY, "last_modified_at": START - 2 * DAY}
    lake.append(BY_NAME["queue_settings"], [older], "test|older")

    assert setting_history.wanted(lake, ESTATE, START) == {}


def test_a_denied_look_up_is_a_gap_with_a_name_and_ends_the_search(lake):
    trail = Trail(refused=True)

    assert look_up(lake, trail) == [(SET, "denied", REACH)]
    assert len(trail.asked) == 1
    [row] = lake.read(BY_NAME["coverage"]).to_pylist()
    assert (row["source"], row["resource"], row["status"]) == ("setting_changes", f"CloudTrail {SET}", "denied")


def test_too_many_calls_end_the_search_and_what_lies_before_is_a_gap(lake, monkeypatch):
    monkeypatch.setattr(setting_history, "MOST_PAGES", 2)
    trail = Trail(*(call(days, 30, "another") for days in range(10, 20)))
    found = [one for one in look_up(lake, trail) if one[0] == SET]

    reached = NOW - 13 * DAY
    assert found == [
        (SET, "ok", TimeWindow(reached, REACH.end_at)),
        (SET, "partial", TimeWindow(REACH.start_at, reached)),
    ]
