"""Many incidents of few faults: the list shows the faults, and a fault's page all that it did."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest

import cli
from forensics.lake import Lake
from forensics.people import NOBODY, annotate
from forensics.report.faults import faults
from forensics.report.standing import standing_incidents
from forensics.tables.evidence import SETTING_CHANGES
from forensics.tables.findings import INCIDENTS, MESSAGES
from forensics.verdict.interval import VERDICTS
from pages._ui.cards import whole_px
from tests.pages import tales
from tests.pages.english import english_in
from tests.pages.reading import words
from tests.pages.worlds import ACCOUNT, DEAD_LETTERED, DOUBLE_BILLING, EXPIRED_HANDLE, REGION, START, Story

pytestmark = pytest.mark.page

TIMES = 12
DEAD_AT = datetime(2026, 11, 18, 22, tzinfo=UTC)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """Nothing is open; a worker's fault came back twelve times, and a payment incident was before them all."""
    story = Story(data_until_at=START + timedelta(days=2))
    tales.double_billing(story)
    tales.expired_handle(story)
    [expired] = [i for i in story.findings[INCIDENTS.name] if i["incident_id"] == EXPIRED_HANDLE]
    [message] = [m for m in story.findings[MESSAGES.name] if m["incident_id"] == EXPIRED_HANDLE]
    for n in range(1, TIMES):
        moved = {name: expired[name] + timedelta(hours=3 * n) for name in ("started_at", "ended_at", "first_repeat_at")}
        again = f"billing-again-{n}"
        story.add(INCIDENTS, expired | moved | {"incident_id": again})
        story.add(MESSAGES, message | {"incident_id": again, "item_id": again, "message_id": again, "work_id": again})
    run = story.run(tales.CHARGE, "repaired", START + timedelta(hours=3), 5)
    story.deliver(run, {"message_id": "good"}, 1, ended_by="deleted", effect="yes", basis="returned")
    story.add(
        SETTING_CHANGES,
        {
            "evidence_id": "change:1",
            "account_id": ACCOUNT,
            "region": REGION,
            "event_id": "1",
            "changed_at": START + timedelta(hours=2),
            "event_source": "lambda.amazonaws.com",
            "event_name": "UpdateFunctionConfiguration",
            "resource_kind": "function",
            "resource": "charge-card",
            "function_name": "charge-card",
            "settings": ["timeout=60"],
            "actor": "deploy/ci",
            "collected_at": START + timedelta(hours=3),
        },
    )
    return story.save(tmp_path_factory.mktemp("faults") / "lake")


def test_incidents_of_one_fault_are_one_row_and_the_worst_fault_stands_first(visit, lake):
    at = visit("app.py", lake)
    table = at.dataframe[0].value

    assert list(table["Times"]) == [TIMES, 1]
    assert list(table["What happened"]) == [
        f"billing: 12 of 12 redelivered messages were processed more than once · last: {table['Incident'][0]}",
        f"payments.fifo: 7 to 8 of 10 redelivered messages were processed more than once · {table['Incident'][1]}",
    ]
    assert {"Times", "Over time"} <= set(at.dataframe[0].proto.column_order)
    assert sum(table["Over time"][0]) == TIMES
    assert len(table["Over time"][0]) <= 12  # in a cell of 50 pixels, finer bars are not seen on a dark page
    assert "The worst of 2 faults, on billing" in words(at)
    assert "12 times in 33 h" in words(at)


def test_where_nothing_came_back_its_times_take_no_room_and_the_whole_sentence_and_id_are_seen(visit):
    table = visit("app.py", "demo").dataframe[0]
    columns = json.loads(table.proto.columns)
    longest = max(map(len, table.value["What happened"]))

    assert not {"Times", "Over time"} & set(table.proto.column_order)
    assert columns["What happened"]["width"] >= 7 * longest / 3
    assert columns["Incident"]["width"] >= 7 * max(map(len, table.value["Incident"])) + 16, (
        "else an id breaks in its number"
    )


def test_long_ids_are_not_pushed_out_at_the_right_and_a_long_cause_is_there_to_its_last_line(visit, tmp_path):
    story = Story(data_until_at=START + timedelta(hours=1))
    tales.double_billing(story)
    [first] = [i for i in story.findings[INCIDENTS.name] if i["incident_id"] == DOUBLE_BILLING]
    long = first | {"incident_id": "refund-requests-20261120T0512Z", "trigger": "dedup_window_passed"}
    story.add(INCIDENTS, long)
    story.add(INCIDENTS, long | {"incident_id": "refund-requests-20261120T0514Z"})
    table = visit("app.py", story.save(tmp_path / "lake")).dataframe[0]
    px = {name: column["width"] for name, column in json.loads(table.proto.columns).items() if "width" in column}

    assert "Over time" in table.proto.column_order
    assert px["What happened"] >= whole_px(table.value["Incident"]), "else an id breaks in its number"
    assert sum(px[name] for name in table.proto.column_order) <= 787  # what a window of 1280 leaves
    assert table.proto.row_height >= 88  # four lines


def test_what_is_open_is_counted_in_faults_by_card_sentence_and_table(visit, tmp_path):
    story = Story(data_until_at=START + timedelta(hours=1))
    tales.double_billing(story)
    [first] = [i for i in story.findings[INCIDENTS.name] if i["incident_id"] == DOUBLE_BILLING]
    story.add(INCIDENTS, first | {"incident_id": f"{DOUBLE_BILLING}-2"})
    at = visit("app.py", story.save(tmp_path / "lake"))
    card = next(m for m in at.metric if m.label == "Open faults")

    assert (card.value, card.help) == ("1", "Active in the last hour of the data: 2 incidents.")
    assert list(at.dataframe[0].value["State"]) == ["open"]
    assert " more." not in words(at)
    assert "A click on a row opens it." in [c.value for c in at.caption]


def test_a_click_on_a_fault_that_came_back_opens_it_and_one_that_did_not_its_incident(visit, lake):
    def clicked(row):
        return visit(
            "app.py", lake, selection={"incidents": {"selection": {"rows": [row], "columns": [], "cells": []}}}
        )

    assert clicked(0).title[0].value.startswith("billing: 12 of 12")
    assert DOUBLE_BILLING in clicked(1).query_params["incident"]


def test_a_fault_shows_its_incidents_and_every_affected_message_once(visit, lake):
    at = visit("pages/fault.py", lake)
    incidents, messages = (frame.value for frame in at.dataframe)

    assert not at.exception
    assert len(incidents) == len(messages) == TIMES
    assert incidents["Incident"][TIMES - 1] == EXPIRED_HANDLE
    assert "12 affected messages, each once" in words(at)
    assert "**Next:** refund or undo 12" in words(at)


def test_the_sentence_about_one_incident_of_many_says_of_which(visit, lake):
    found = Lake(lake).findings()
    single = next(f for f in faults(found.read(INCIDENTS).to_pylist(), None) if len(f.incidents) == 1)
    at = visit("pages/fault.py", lake)
    newest = max(str(started) for started in at.dataframe[0].value["Started"])

    assert f"Newest, began {newest[8:10]} Nov 2026 {newest[11:16]}: " in words(at)
    assert "Newest, began " not in words(visit("pages/fault.py", lake, fault=single.fault_id))


def test_a_fault_that_is_not_there_is_said_and_its_link_kept(visit, lake):
    at = visit("pages/fault.py", lake, fault="orders-throttled-000000")

    assert "orders-throttled-000000 is not in data version" in words(at).replace("\\", "")
    assert "orders-throttled-000000" in at.query_params["fault"]


def test_a_fault_says_what_was_changed_since_and_whether_it_helped(visit, lake):
    ids = Lake(lake).findings().read(INCIDENTS).to_pylist()
    [payments] = [f for f in faults(ids, None) if f.queue == "payments.fifo"]
    at = visit("pages/fault.py", lake, fault=payments.fault_id)
    said = words(at).replace("\\", "")

    assert "Too early to tell: no run of 1 led to it since 2026-11-20 07:12 UTC (before: 1 of 2)" in said
    assert "| Since | 1 | 0 |" in said
    assert any("timeout=60" in what for frame in at.dataframe for what in frame.value.get("What", ()))


def test_the_command_says_of_a_fault_what_its_page_says(lake, capsys):
    ids = Lake(lake).findings().read(INCIDENTS).to_pylist()
    [payments] = [f for f in faults(ids, None) if f.queue == "payments.fifo"]
    told = {}
    for code in ("en", "ja"):
        assert cli.main(["incidents", "--lake", str(lake), "--fault", payments.fault_id, "--language", code]) == 0
        told[code] = capsys.readouterr().err

    assert told["en"].startswith(
        "Before and since the change: Too early to tell: no run of 1 led to it since 2026-11-20"
    )
    assert told["ja"].startswith("変更の前後：判断にはまだ早い：2026-11-20 07:12 UTC 以降")
    assert english_in(told["ja"]) == []


def test_an_incident_shows_what_was_changed_after_it(visit, lake):
    at = visit("pages/incident.py", lake, incident=DOUBLE_BILLING)

    assert "What changed since" in [s.value for s in at.subheader]
    assert not at.exception
    assert any(link.label == "Did it help? The runs before and since" for link in at.get("page_link"))
    assert "Too early to tell: no run of 1 led to it since 2026-11-20 07:12 UTC" in words(at).replace("\\", "")


def test_an_incident_that_was_marked_as_fixed_says_whether_it_came_back(visit, lake, tmp_path):
    own = Lake(shutil.copytree(lake, tmp_path / "lake"))
    annotate(own.findings(), "billing-again-1", None, "fixed", "more workers", "Ana", START + timedelta(hours=4))
    at = visit("pages/incident.py", own.root, incident="billing-again-1", tz="Asia/Tokyo")

    assert "What changed since" in [s.value for s in at.subheader]
    assert "since 2026-11-20 18:12 UTC+09:00" in words(at).replace("\\", "")


def test_an_incident_of_another_fault_than_the_worst_leads_to_its_own(visit, lake):
    ids = Lake(lake).findings().read(INCIDENTS).to_pylist()
    [payments] = [f for f in faults(ids, None) if f.queue == "payments.fifo"]
    at = visit("pages/fault.py", lake, incident=DOUBLE_BILLING)

    assert at.title[0].value.startswith("payments.fifo")
    assert at.title[0].value == visit("pages/fault.py", lake, fault=payments.fault_id).title[0].value


def test_an_open_suspicion_does_not_hide_what_surely_happened(visit, tmp_path):
    story = Story(data_until_at=START + timedelta(minutes=20))
    tales.double_billing(story)
    tales.expired_handle(story)
    for row in story.findings[INCIDENTS.name]:
        if row["queue"] == "payments.fifo":
            row.update(
                confirmed=0,
                probable=0,
                possible=1,
                headline="1 redelivered message may have been processed more than once",
            )
            row.update({f"works_{verdict}": int(verdict == "possible") for verdict in VERDICTS})
    for row in story.findings[MESSAGES.name]:
        if row["incident_id"] == DOUBLE_BILLING:
            row["verdict"] = "possible"
    at = visit("app.py", story.save(tmp_path / "lake"))

    assert "Still open where the data ends" in words(
        at
    ) and "on payments.fifo: 1 redelivered message may have" in words(at)
    assert "Confirmed, on billing, quiet 21 h: 1 redelivered message was processed more than once." in words(at)
    assert "Confirmed, on" not in words(visit("app.py", "demo"))


def test_a_fault_that_came_back_after_a_mark_is_not_called_fixed(visit, lake, tmp_path):
    own = Lake(shutil.copytree(lake, tmp_path / "lake"))
    annotate(own.findings(), "billing-again-1", None, "fixed", "more workers", "Ana", START + timedelta(hours=4))
    annotate(own.findings(), DOUBLE_BILLING, None, "fixed", "timeout raised", "Ana", START + timedelta(hours=2))
    rows = visit("app.py", own.root).dataframe[0].value
    states = dict(zip(rows["What happened"].str.partition(":")[0], rows["State"], strict=True))

    assert states["billing"].endswith(" · not fixed")
    assert states["payments.fifo"].endswith(" · fixed")


def test_where_every_message_went_to_the_dead_letter_queue_nothing_is_called_open(visit, tmp_path):
    story = Story(data_until_at=DEAD_AT + timedelta(minutes=5))
    tales.dead_lettered(story)
    kept = story.save(tmp_path / "lake")
    [fault] = faults(standing_incidents(Lake(kept).findings(), NOBODY), None)
    at, of_incident = visit("app.py", kept), visit("pages/incident.py", kept, incident=DEAD_LETTERED)
    card = next(m for m in at.metric if m.label == "Open faults")

    assert (card.value, card.help) == ("0", "Active in the last hour of the data: 1 incident.")
    assert list(at.dataframe[0].value["State"]) == ["nothing left to stop"]
    assert "No fault is open where the data ends (" in words(at)
    for page in (of_incident, visit("pages/fault.py", kept, fault=fault.fault_id)):
        assert ":gray-badge[:material/schedule: nothing left to stop]" in words(page)
