"""Alerts beside incidents: each kind, once per change, silent where nothing is known, and never about long ago."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from forensics.choices import ALERTS, WEBHOOKS
from forensics.report.alerts import alerts
from forensics.report.notice import alert_notice, due, record, trial_notice
from forensics.settings import Notify, Queue, Settings, Team
from forensics.tables.evidence import COVERAGE
from forensics.tables.findings import QUEUE_FINDINGS
from forensics.tables.health import QUEUE_HEALTH
from forensics.words import clock_text
from tests.forensics.balance.test_balance import HEALTH
from tests.forensics.report import world

pytestmark = pytest.mark.slow

NOW = world.after(7300)
PROMISED = Settings(queues=(Queue(world.QUEUE, promise_s=300),), team=Team(stale_after_min=60))


def finding(code, item="m1", **changed):
    base = world.blocked_group() | {"code": code, "item_id": item, "message_id": item, "stance": "supported"}
    return base | {"redrive": "safe" if code == "dead_lettered" else None} | changed


def saved(folder, *findings, health=None):
    found = world.findings() | {QUEUE_FINDINGS.name: list(findings)}
    if health:
        found[QUEUE_HEALTH.name] = [HEALTH | health | {"dead_letter_reasons": [], "evidence_ids": []}]
    return world.save(folder, found)


def told(lake, settings=PROMISED, now=NOW):
    return [
        (a.kind, a.severity) for a in alerts(lake.findings(), settings, now) if not a.key.startswith("source:metric")
    ]


KINDS = {
    "dead_lettered": ("dead_letter", "critical"),
    "retention_expired": ("lost", "critical"),
    "poison_without_dlq": ("poison", "critical"),
    "fifo_group_blocked": ("blocked", "warning"),
}


@pytest.mark.parametrize(("code", "alert"), KINDS.items(), ids=KINDS)
def test_what_a_finding_says_for_sure_is_told_and_what_it_leaves_open_is_not(tmp_path, code, alert):
    sure, open_ = (saved(tmp_path / stance, finding(code, stance=stance)) for stance in ("supported", "undecidable"))

    assert told(sure) == [alert]
    assert told(open_) == []


def test_what_happened_long_before_the_evidence_ends_is_no_news(tmp_path):
    old = timedelta(days=2)
    lake = saved(tmp_path / "lake", finding("dead_lettered", from_at=world.START - old, until_at=world.START - old))

    assert told(lake) == []


def test_a_wait_over_the_promise_and_throttles_are_told_of_their_day(tmp_path):
    lake = saved(tmp_path / "lake", health={"age_max_s": 301, "throttle_count": 4})

    assert {kind for kind, _ in told(lake)} == {"age", "throttled"}
    assert {kind for kind, _ in told(lake, Settings())} == {"throttled"}


@pytest.mark.parametrize(("count", "begins"), [(1, "1 invocation was refused,"), (4, "4 invocations were refused;")])
def test_throttles_are_counted_in_words_that_fit(tmp_path, count, begins):
    found = alerts(saved(tmp_path / "lake", health={"throttle_count": count}).findings(), PROMISED, NOW)
    (alert,) = [a for a in found if a.kind == "throttled"]

    assert alert.text.startswith(begins)


def test_the_time_told_is_when_it_began_and_with_several_that_of_the_newest(tmp_path):
    poison = finding("poison_without_dlq", sentence="it was received 133 times", from_at=world.START)
    one, two = (
        next(a for a in alerts(saved(tmp_path / name, *rows).findings(), PROMISED, NOW) if a.kind == "poison")
        for name, rows in {"one": [poison], "two": [poison, poison | {"item_id": "m2", "message_id": "m2"}]}.items()
    )

    assert one.text == f"From {clock_text(world.START)} UTC: it was received 133 times."
    assert two.text.startswith("The newest, from ")


def test_a_group_blocked_once_is_told_so(tmp_path):
    (alert,) = [
        a
        for a in alerts(saved(tmp_path / "lake", finding("fifo_group_blocked")).findings(), PROMISED, NOW)
        if a.kind == "blocked"
    ]

    assert alert.title == f"1 message group blocked on {world.QUEUE}, 1 time"


def test_a_source_that_was_denied_and_evidence_that_went_stale_are_told(tmp_path):
    lake = saved(tmp_path / "lake")
    keys = {a.key for a in alerts(lake.findings(), PROMISED, NOW)}
    later = {a.key for a in alerts(lake.findings(), PROMISED, NOW + timedelta(hours=2))}

    assert keys == {f"source:metric_points:{world.QUEUE}"}
    assert later - keys == {"source:stale"}


def test_a_source_that_was_read_again_is_no_longer_told(tmp_path):
    lake = saved(tmp_path / "lake")
    row = world.common_coverage(9, "metric_points", world.QUEUE, 0, 60) | {"collected_at": world.after(7000)}
    lake.append(COVERAGE, [row], "t|c")

    assert alerts(lake.findings(), PROMISED, NOW) == []


def test_only_the_kinds_that_the_settings_want_are_told(tmp_path):
    lake = saved(tmp_path / "lake", finding("dead_lettered"), finding("retention_expired", "m2"))

    assert told(lake, Settings(notify=Notify(alerts=("lost",)))) == [("lost", "critical")]


def test_each_is_told_once_and_again_when_it_changes(tmp_path):
    def news(lake):
        return due(lake.findings(), "hook~1", "slack", None, None, PROMISED, NOW)

    lake = saved(tmp_path / "lake", finding("dead_lettered"))
    for notice in news(lake):
        record(lake, notice, "hook~1", "v", NOW)
    assert news(lake) == []

    found = world.findings() | {QUEUE_FINDINGS.name: [finding("dead_lettered"), finding("dead_lettered", "m2")]}
    world.publish(lake, found, "run-2")

    assert [n.incident_id for n in news(lake)] == [f"dead_letter:{world.QUEUE}"]


def test_in_quiet_hours_only_what_is_critical_is_told_and_the_rest_after_them(tmp_path):
    lake = saved(tmp_path / "lake", finding("dead_lettered"), finding("fifo_group_blocked", "m2"))
    quiet = Settings(notify=Notify(quiet="15:00-17:00"), team=Team("Asia/Tokyo"))
    night, day = (datetime(2026, 11, 20, hour, 30, tzinfo=ZoneInfo("Asia/Tokyo")) for hour in (16, 17))
    at_night, by_day = (
        {n.incident_id for n in due(lake.findings(), "h~1", "slack", None, None, quiet, now)} for now in (night, day)
    )

    assert at_night == {world.INCIDENT, f"dead_letter:{world.QUEUE}"}
    assert f"blocked:{world.QUEUE}" in by_day - at_night


HOSTILE = "<!channel> *bold* [link](https://evil.example) & more"


@pytest.mark.parametrize("kind", WEBHOOKS)
def test_each_receiver_gets_its_form_and_no_name_from_a_log_becomes_markup(tmp_path, kind):
    lake = saved(tmp_path / "lake", finding("dead_lettered", queue=HOSTILE))
    (alert,) = [a for a in alerts(lake.findings(), PROMISED, NOW) if a.kind == "dead_letter"]
    body = alert_notice(alert, kind, "https://doubletake.example.com", "v1").body

    if kind == "slack":
        assert "<!channel>" not in str(body)
        assert "<https://doubletake.example.com/queue_health|Open Doubletake>" in str(body)
    if kind == "teams":
        assert "\\[link\\]\\(" in body["attachments"][0]["content"]["body"][0]["text"]
    if kind == "pagerduty":
        assert (body["event_action"], body["payload"]["severity"]) == ("trigger", "critical")
        assert body["dedup_key"].startswith("dead_letter:")
    if kind == "sns":
        assert body["Type"] == "Notification"
        assert len(body["Subject"]) <= 100
    if kind == "email":
        assert "\n" not in body["subject"]
    if kind == "json":
        assert body["event"] == "doubletake.alert"


def test_a_test_message_says_that_nothing_has_happened():
    for kind in WEBHOOKS:
        assert "Nothing has happened" in str(trial_notice(kind, NOW).body)


def test_every_kind_is_in_the_settings_by_default():
    assert Settings().notify.alerts == ALERTS
