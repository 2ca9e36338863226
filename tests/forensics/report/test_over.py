"""What was told and is over: told once, closed at PagerDuty, and told anew when it comes back."""

from datetime import timedelta

import pytest

from forensics.choices import WEBHOOKS
from forensics.people import annotate
from forensics.report.notice import due, record
from forensics.settings import Notify, Settings
from tests.forensics.report import world
from tests.forensics.report.test_alerts import NOW, finding, saved

pytestmark = pytest.mark.slow

SETTINGS = Settings(notify=Notify(alerts=("blocked", "dead_letter")))
BLOCKED = f"blocked:{world.QUEUE}"


def send(lake, kind="pagerduty", now=NOW, settings=SETTINGS):
    """Return what is due, by what it is about, and keep that it was taken."""
    notices = due(lake.findings(), "t", kind, None, settings=settings, now=now)
    for n, notice in enumerate(notices):
        record(lake, notice, "t", "v", now + timedelta(milliseconds=n))
    return {notice.incident_id: notice.body for notice in notices}


def publish(lake, *findings, run="run-2", since=None, **incident):
    found = world.findings() | {"queue_findings": list(findings)}
    found["incidents"] = [row | incident for row in found["incidents"]]
    if "incident_id" in incident:
        found["messages"] = [row | {"incident_id": incident["incident_id"]} for row in found["messages"]]
    world.publish(lake, found, run, data_since_at=since)


def later(hours):
    return NOW + timedelta(hours=hours)


def test_pagerduty_closes_the_alert_of_the_same_key_once_and_opens_it_again_when_it_comes_back(tmp_path):
    lake = saved(tmp_path / "lake", finding("fifo_group_blocked"))
    first = send(lake)
    publish(lake)
    over, nothing = send(lake, now=later(1)), send(lake, now=later(2))
    publish(lake, finding("fifo_group_blocked"), run="run-3")
    again, told = send(lake, now=later(3)), send(lake, now=later(4))

    assert first[BLOCKED]["event_action"] == again[BLOCKED]["event_action"] == "trigger"
    assert over == {BLOCKED: {"event_action": "resolve", "dedup_key": first[BLOCKED]["dedup_key"]}}
    assert (nothing, told) == ({}, {})


@pytest.mark.parametrize("kind", [k for k in WEBHOOKS if k != "pagerduty"])
def test_others_hear_once_that_what_lasts_is_over_and_nothing_of_what_stays_lost(tmp_path, kind):
    lake = saved(tmp_path / "lake", finding("fifo_group_blocked"), finding("dead_lettered"))
    send(lake, kind)
    publish(lake)
    over = send(lake, kind, later(1))

    assert set(over) == {BLOCKED}
    assert "Over: blocked message groups of payments.fifo" in str(over[BLOCKED]).replace("\\", "")
    assert send(lake, kind, later(2)) == {}


def test_pagerduty_closes_what_stays_lost_too(tmp_path):
    lake = saved(tmp_path / "lake", finding("dead_lettered"))
    send(lake)
    publish(lake)

    assert send(lake, now=later(1))[f"dead_letter:{world.QUEUE}"]["event_action"] == "resolve"


def test_a_kind_that_is_told_no_longer_is_not_called_over(tmp_path):
    lake = saved(tmp_path / "lake", finding("fifo_group_blocked"))
    send(lake)
    publish(lake)

    assert send(lake, now=later(1), settings=Settings(notify=Notify(alerts=()))) == {}


def test_what_was_told_long_ago_is_not_called_over(tmp_path):
    lake = saved(tmp_path / "lake", finding("fifo_group_blocked"))
    send(lake)
    publish(lake)

    assert send(lake, now=later(8 * 24)) == {}


@pytest.mark.parametrize("mark", ["false-alarm", "fixed"])
def test_an_incident_that_people_settle_is_over_and_stays_so(tmp_path, mark):
    lake = saved(tmp_path / "lake")
    first = send(lake)
    annotate(lake.findings(), world.INCIDENT, None, mark, "deployed", "Ana", later(1))
    over = send(lake, now=later(2))

    assert first[world.INCIDENT]["event_action"] == "trigger"
    assert over == {world.INCIDENT: {"event_action": "resolve", "dedup_key": world.INCIDENT}}
    assert send(lake, now=later(3)) == {}


def test_an_incident_that_got_another_id_is_closed_and_told_under_the_new_one(tmp_path):
    lake = saved(tmp_path / "lake")
    send(lake)
    publish(lake, incident_id="payments.fifo-20261120T0455Z")
    told = send(lake, now=later(1))

    assert {key: body["event_action"] for key, body in told.items()} == {
        world.INCIDENT: "resolve",
        "payments.fifo-20261120T0455Z": "trigger",
    }


def test_an_end_waits_for_the_quiet_hours_to_pass_but_at_pagerduty(tmp_path):
    quiet = Settings(notify=Notify(alerts=("blocked",), quiet="00:00-23:59"))
    sent = {}
    for kind in ("slack", "pagerduty"):
        lake = saved(tmp_path / kind, finding("fifo_group_blocked"))
        send(lake, kind)
        publish(lake)
        sent[kind] = send(lake, kind, later(1), quiet)

    assert (sent["slack"], list(sent["pagerduty"])) == ({}, [BLOCKED])


def test_what_may_only_be_left_out_of_the_findings_is_not_called_over(tmp_path):
    lake = saved(tmp_path / "lake", finding("fifo_group_blocked"))
    first = send(lake)
    publish(lake, since=world.after(0), incident_id="another")
    left_out = send(lake, now=later(1))
    publish(lake, run="run-3", incident_id="another")
    over = send(lake, now=later(2))

    assert set(first) == {BLOCKED, world.INCIDENT}
    assert set(left_out) == {"another"}
    assert set(over) == {BLOCKED, world.INCIDENT}
