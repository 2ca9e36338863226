"""Every page on every kind of lake, without a browser."""

import json
from datetime import timedelta

import pytest
from streamlit.testing.v1 import AppTest

from forensics.lake import Lake
from forensics.people import annotate, views
from forensics.tables.findings import INCIDENTS, MESSAGES
from forensics.terms import GIVEN_AGAIN, INVOKED_AGAIN
from pages._ui.cards import ROW_OF_TWO_LINES
from pages._ui.place import lake_path
from tests.pages import tales
from tests.pages.reading import PAGES, ROOT, words
from tests.pages.worlds import DEAD_LETTERED, DOUBLE_BILLING, EXPIRED_HANDLE, HUGE, START, Story, arn, uuid
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.page

LAKES = ("demo", "nothing", "gaps", "huge", "evidence-only", "empty", "no-lake")


@pytest.mark.parametrize("lake", LAKES)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_every_lake(visit, page, lake):
    at = visit(page, lake)

    assert not at.exception
    assert at.title


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    ("lake", "command"),
    [("no-lake", "doubletake demo"), ("empty", "doubletake collect"), ("evidence-only", "doubletake correlate")],
)
def test_a_page_without_findings_names_the_command_that_fills_it(visit, page, lake, command):
    at = visit(page, lake)

    assert any(command in code.value for code in at.code)
    assert all(f"--lake {lake_path().absolute()}" in line for code in at.code for line in code.value.splitlines())
    assert at.info


def test_incidents_answers_in_one_sentence_and_four_numbers(visit):
    at = visit("app.py", "demo")
    numbers = {m.label: m.value for m in at.metric}

    assert "on payments.fifo: 7 to 8 of 10 redelivered messages were processed more than once." in words(at)
    assert numbers["Open faults"] == "1"
    assert numbers["Done twice, 7 days"] == "8 to 10"
    assert numbers["Evidence complete"] == "100 %"


def processed_twice(at):
    return next(m for m in at.metric if m.label == "Done twice, 7 days")


def test_a_week_before_that_nobody_read_is_no_zero_to_compare_with(visit, tmp_path):
    story = Story(data_until_at=START + timedelta(hours=1))
    tales.double_billing(story)
    story.coverage(tales.CHARGE, START - timedelta(days=13), story.data_until_at)
    almost = story.save(tmp_path / "almost")
    story.coverage(tales.CHARGE, START - timedelta(days=14), START - timedelta(days=13))
    whole = story.save(tmp_path / "whole")

    assert processed_twice(visit("app.py", "demo")).delta == ""
    assert processed_twice(visit("app.py", almost)).delta == ""
    assert processed_twice(visit("app.py", whole)).delta == "7"


def test_the_number_of_seven_days_does_not_follow_the_chosen_period(visit):
    at = visit("app.py", "demo", period="24 h")

    assert len(at.dataframe[0].value) == 2
    assert processed_twice(at).value == "8 to 10"


def test_faults_are_listed_worst_first_with_verdict_and_interval(visit):
    table = visit("app.py", "demo").dataframe[0].value

    assert list(table["Incident"]) == [DOUBLE_BILLING, EXPIRED_HANDLE, DEAD_LETTERED]
    assert list(table["Verdict"].map(list)) == [["confirmed"], ["confirmed"], ["possible"]]
    assert "7 to 8 of 10" in table["What happened"][0]


@pytest.mark.parametrize(
    ("page", "title"), [("app.py", "Incidents"), ("pages/incident.py", "Incident"), ("pages/report.py", "Report")]
)
def test_nothing_found_says_in_which_time_and_how_much_was_checked(visit, page, title):
    at = visit(page, "nothing")

    assert at.title[0].value == title
    assert (
        "No repeat was found from 17 Nov 2026 00:00 to 20 Nov 2026 06:12 UTC: 4 deliveries on 1 queue checked"
    ) in words(at).replace("\\", "")
    assert not at.dataframe


def test_incidents_can_be_narrowed_by_queue_and_by_time_in_the_link(visit):
    by_queue = visit("app.py", "demo", queue="mail").dataframe[0].value
    by_time = visit("app.py", "demo", from_="2026-11-20T00:00:00Z").dataframe[0].value

    assert list(by_queue["Incident"]) == [DEAD_LETTERED]
    assert list(by_time["Incident"]) == [DOUBLE_BILLING]


@pytest.mark.parametrize(("key", "value"), [("queue", "orders"), ("kind", "bad_luck"), ("period", "1 year")])
def test_a_filter_in_the_link_that_names_nothing_is_said(visit, key, value):
    at = visit("app.py", "demo", **{key: value})

    assert f"{key}={value} of the link names nothing in data version" in words(at).replace("\\", "")
    assert len(at.dataframe[0].value) == 3


CLEAR = {
    "en": "No incidents of queue 'billing'; 4 deliveries of it checked in this data version.",
    "ja": "キュー 'billing' に疑いはありません。このデータ版の配信 4 件を確認しました。",
}


@pytest.fixture
def with_a_queue_without_incidents(tmp_path):
    story = Story(data_until_at=START + timedelta(hours=1))
    tales.double_billing(story)
    tales.expired_handle(story)
    story.settings(tales.MAIL)
    incidents = story.findings[INCIDENTS.name]
    story.findings[INCIDENTS.name] = [row for row in incidents if row["queue"] != "billing"]
    return story.save(tmp_path / "lake")


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_of_a_known_queue_without_an_incident_it_is_said_how_much_was_checked(
    visit, with_a_queue_without_incidents, lang
):
    at = visit("app.py", with_a_queue_without_incidents, queue="billing", lang=lang)

    assert not at.exception and not at.warning
    assert at.selectbox(key="queue").value == "billing"
    assert CLEAR[lang] in words(at).replace("\\", "")
    assert not at.dataframe


def test_of_a_queue_of_which_only_settings_are_known_nothing_is_called_checked(visit, with_a_queue_without_incidents):
    at = visit("app.py", with_a_queue_without_incidents, queue="mail")

    assert not at.warning
    assert "No delivery was found, so nothing was checked." in words(at)
    assert "No incidents" not in words(at)


@pytest.fixture
def unchecked(tmp_path):
    """A lake in which nothing was delivered, as far as its lines tell."""
    return Story(data_until_at=START).save(tmp_path / "lake")


@pytest.mark.parametrize("card", ["Open faults", "Done twice, 7 days", "Queues at risk"])
def test_where_nothing_was_checked_no_card_says_nought(visit, unchecked, card):
    assert {m.label: m.value for m in visit("app.py", unchecked).metric}[card] == "unknown"


def test_queue_health_of_a_lake_without_a_week_says_what_weeks_are_counted_from(visit, unchecked):
    at = visit("pages/queue_health.py", unchecked)

    assert "This data version holds no week of any queue. Weeks are counted from deliveries" in at.info[0].value
    assert f"`doubletake status --lake {unchecked}`" in at.info[0].value


def test_a_time_in_the_link_that_is_none_is_named(visit):
    at = visit("app.py", "demo", from_="yesterday")

    assert "from=yesterday is not a time" in words(at)
    assert len(at.dataframe[0].value) == 3


def test_a_click_on_an_incident_opens_it(visit):
    at = visit("app.py", "demo", selection={"incidents": {"selection": {"rows": [1], "columns": [], "cells": []}}})

    assert at.query_params["incident"] == EXPIRED_HANDLE
    assert at.title[0].value == "billing: 1 redelivered message was processed more than once"


def test_many_runs_that_were_cut_off_are_folded_away(visit):
    at = visit("pages/incident.py", "huge", incident=HUGE)
    (folded,) = [e for e in at.expander if "further run" in e.label]
    told = next(m.value for m in at.main.markdown if "was stopped at its timeout with" in m.value)

    assert told.count("\n") == 4
    assert folded.label == "45 further runs"
    assert folded.markdown[0].value.count("was stopped at its timeout") == 45


def test_the_first_screen_says_what_to_do_next_and_how_to_stop_it(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING)
    mapping = uuid("mapping", arn("payments.fifo"))
    commands = [c.value for c in at.code]

    assert any("**Next:** refund or undo 7 (CSV) · check 1 by hand" in m.value for m in at.markdown)
    assert f"aws lambda update-event-source-mapping --uuid {mapping} --region eu-west-1 --no-enabled" in commands
    assert f"aws lambda update-event-source-mapping --uuid {mapping} --region eu-west-1 --enabled" in commands
    assert any("Costs: Nothing of the queue is processed until you undo it" in m.value for m in at.markdown)


def test_an_incident_says_headline_cause_and_how_often(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING)

    assert at.title[0].value == "payments.fifo: 7 to 8 of 10 redelivered messages were processed more than once"
    assert "timed out after 30 s with 10 messages of payments" in words(at)
    assert "**How often:** 7 to 8 repeats on 8 messages · first redelivery 05:22:00" in words(at)


def test_runs_of_one_receive_are_told_as_repeats_and_not_as_receives(visit, tmp_path):
    story = Story(data_until_at=START + timedelta(hours=1))
    tales.double_billing(story)
    story.findings["incidents"][0]["trigger"] = INVOKED_AGAIN
    for row in story.findings["timeline"]:
        if row["kind"] == "in_flight" and row["delivery_index"] == 2:
            row["label"] = f"{GIVEN_AGAIN}: receive #1"
    at = visit("pages/incident.py", story.save(tmp_path / "lake"), incident=DOUBLE_BILLING)
    events = [row["Event"] for table in at.dataframe for row in table.value.to_dict("records") if "Event" in row]

    assert "first repeat 05:22:00" in words(at)
    assert (events.count("received"), events.count("invoked again")) == (10, 10)


def test_an_incident_tells_chain_rivals_settings_and_limits(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING)
    said = words(at)

    assert [s.value for s in at.subheader][-8:] == [
        "Cause chain",
        "How far each failed run got",
        "Cause, and causes ruled out",
        "Verdict per message",
        "On the queue",
        "Settings at that time",
        "What changed before",
        "What the data cannot show",
    ]
    assert "The visibility timeout of 10 min expired; SQS made them visible again" in said
    assert "**Copy made by SQS**: a FIFO queue does not deliver copies" in said
    assert "in progress when the run ended" in said


def test_an_incident_shows_the_batch_at_the_kill_and_the_blocked_group(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING)
    batch = next(f.value for f in at.dataframe if "At the end" in f.value)

    assert "with 10 messages: 7 finished, 1 in progress, 2 not started" in words(at)
    assert batch["At the end"].map(lambda chips: chips[0].split(" ", 1)[1]).value_counts().to_dict() == {
        "finished": 7,
        "not started": 2,
        "in progress": 1,
    }
    assert "Message group merchant-7 was blocked once, 9 min" in words(at)


def test_a_click_on_the_lane_of_a_group_chooses_no_message(visit):
    chart = f"timeline-{DOUBLE_BILLING}-1-0"
    points = {"points": [{"customdata": ["blocked.1.0.group:acct-1"]}], "point_indices": [0], "box": [], "lasso": []}
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, selection={chart: {"selection": points}})

    assert len(at.dataframe[0].value) == 20
    assert "msg" not in at.query_params


def test_another_form_of_the_chart_keeps_the_chosen_message_and_is_drawn(visit):
    message = uuid("payment", 3)
    chart = f"timeline-{DOUBLE_BILLING}-1-0"
    points = {"points": [{"customdata": [f"in_flight.1.1.{message}"]}], "point_indices": [0], "box": [], "lasso": []}
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, selection={chart: {"selection": points}})
    for form in ("Invocations", "Messages"):
        at.segmented_control(key="lanes").set_value(form).run()

        assert not at.error and not at.exception
        assert len(at.get("plotly_chart")) == 1
        assert at.query_params["msg"] in ("pay_1043", ["pay_1043"])
        assert list(at.dataframe[0].value["Message id"]) == [message, message]


def test_an_incident_without_an_id_in_the_link_is_the_newest(visit):
    at = visit("pages/incident.py", "demo")

    assert at.query_params["incident"] == DOUBLE_BILLING


def test_an_unknown_incident_is_named_and_its_link_kept(visit):
    at = visit("pages/incident.py", "demo", incident="orders-20250101T0000Z")

    assert "orders-20250101T0000Z is not in data version" in words(at)
    assert at.query_params["incident"] == "orders-20250101T0000Z"
    assert not at.metric


def test_a_selected_bar_filters_both_tables_and_is_written_into_the_link(visit):
    message = uuid("payment", 3)
    chart = f"timeline-{DOUBLE_BILLING}-1-0"
    points = {"points": [{"customdata": [f"in_flight.1.1.{message}"]}], "point_indices": [0], "box": [], "lasso": []}
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, selection={chart: {"selection": points}})
    deliveries, evidence = at.dataframe[0].value, at.dataframe[1].value

    assert list(deliveries["Message id"]) == [message, message]
    assert list(evidence["Event"]) == [
        "sent",
        "received",
        "handler started",
        "work done",
        "function timeout",
        "received",
        "handler started",
        "work done again",
        "deleted",
    ]
    assert at.query_params["msg"] in ("pay_1043", ["pay_1043"]), "the business key says more than the id"


def test_a_message_in_the_link_filters_both_tables_until_cleared(visit):
    message = uuid("payment", 8)
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, msg=message)
    few = [len(frame.value) for frame in at.dataframe[:2]]
    at.button(key="clear").click().run()
    all_rows = [len(frame.value) for frame in at.dataframe[:2]]

    assert few == [2, 8]
    assert all_rows == [20, 85]
    assert "msg" not in at.query_params


def test_evidence_shows_the_log_line_behind_each_mark(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, msg=uuid("payment", 3))
    rows = at.dataframe[1].value.set_index("Event")["Line"]

    assert rows["work done"] == "charged payment_id=pay_1043 amount=4900 JPY"
    assert "Task timed out after 30.00 seconds" in rows["function timeout"]


def test_a_selected_evidence_row_shows_the_whole_line(visit):
    cells = {"evidence": {"selection": {"rows": [], "columns": [], "cells": [[3, "Line"]]}}}
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, msg=uuid("payment", 3), selection=cells)

    assert any(code.value == "charged payment_id=pay_1043 amount=4900 JPY" for code in at.code)


def test_times_follow_the_zone_of_the_link(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, tz="Asia/Tokyo")

    assert "first redelivery 14:22:00" in words(at)
    assert at.dataframe[0].value["Received"][0] == "14:12:00.200"


def test_the_browser_zone_is_the_browsers(visit):
    at = visit("pages/incident.py", "demo", zone="America/New_York", incident=DOUBLE_BILLING, tz="Browser")

    assert "first redelivery 00:22:00" in words(at)


def test_a_zone_that_is_none_is_named_and_times_stay_in_utc(visit):
    at = visit("app.py", "demo", tz="Mars/Olympus")

    assert "Mars/Olympus is not a time zone" in words(at)
    assert at.dataframe[0].value["Last"][0] == "20 Nov 2026 05:22"


def test_the_team_zone_of_the_settings_file_is_offered(visit, tmp_path):
    (tmp_path / "doubletake.toml").write_text('[team]\nzone = "Asia/Kolkata"\n')
    at = visit("app.py", "demo", tz="Asia/Kolkata")

    assert "Asia/Kolkata" in at.segmented_control[0].options
    assert at.dataframe[0].value["Last"][0] == "20 Nov 2026 10:52"


def test_a_settings_file_that_cannot_be_read_is_named_and_nothing_is_shown(visit, tmp_path):
    (tmp_path / "doubletake.toml").write_text("[team\n")
    at = visit("app.py", "demo")

    assert "DATA-01" in words(at)
    assert not at.dataframe


def test_the_data_version_of_a_link_that_is_gone_is_named(visit):
    at = visit("app.py", "demo", dv="0123456789ab")

    assert "0123456789ab is not in this lake" in words(at)
    assert at.dataframe


def test_partial_evidence_is_named_above_the_headline(visit):
    at = visit("pages/incident.py", "gaps", incident=DEAD_LETTERED)

    assert "AccessDenied" in at.warning[0].value
    assert "widens the interval" in at.warning[0].value


@pytest.mark.parametrize("page", [page for page in PAGES if page != "pages/data.py"])
def test_every_page_names_above_its_headline_what_its_answers_lack(visit, page):
    at = visit(page, "gaps")
    (warning,) = [w.value.replace("\\", "") for w in at.warning]

    assert "Evidence is incomplete" in warning
    assert "/aws/lambda/send-mail: " in warning
    assert "22:00 to 22:30 UTC" in warning
    assert "99.7 % of the evidence read" in words(at)


def test_many_gaps_are_counted_and_the_newest_named(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.double_billing(story)
    for hour in range(5):
        start = START - tales.s(3600 * (2 * hour + 2))
        story.coverage(tales.CHARGE, start, start + tales.s(60), "denied", f"AccessDenied: {hour}")
    at = visit("app.py", story.save(tmp_path / "lake"))
    warning = at.warning[0].value

    assert warning.count("was not read") == 3
    assert "20 Nov 2026 03:12" in warning.replace("\\", "")
    assert "2 more gaps: the Data page lists all" in warning


def test_why_a_stretch_was_not_read_is_said_in_japanese_but_for_the_names_of_aws(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.double_billing(story)
    start = START - tales.s(7200)
    story.coverage(tales.CHARGE, start, start + tales.s(60), "failed", "a file is damaged")
    denied = "FilterLogEvents: AccessDeniedException: User: u is not authorized"
    story.coverage(tales.CLICKS, start, start + tales.s(60), "denied", denied)
    at = visit("app.py", story.save(tmp_path / "lake"), lang="ja")
    warning = at.warning[0].value.replace("\\", "")

    assert "（ファイルが壊れています）" in warning
    assert "（FilterLogEvents: AccessDeniedException）" in warning


def test_links_and_summary_can_be_copied(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, tz="Asia/Tokyo")
    link = next(c.value for c in at.code if c.value.startswith("http"))
    summary = next(c.value for c in at.code if c.value.startswith(DOUBLE_BILLING))

    assert f"incident={DOUBLE_BILLING}" in link
    assert "dv=" in link
    assert "tz=Asia%2FTokyo" in link
    assert 4 <= len(summary.splitlines()) <= 6


def test_the_csv_can_be_downloaded_and_reports_too(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING)
    buttons = {b.proto.label: b.proto.disabled for b in at.get("download_button")}

    assert set(buttons) == {"CSV", "HTML", "PDF", "Markdown", "JSON", "ZIP of all"}
    assert not any(buttons.values())


def test_incidents_before_and_after_are_one_click_away(visit):
    at = visit("pages/incident.py", "demo", incident=EXPIRED_HANDLE)
    at.button(key="next_incident").click().run()

    assert at.query_params["incident"] == DOUBLE_BILLING
    assert at.button(key="next_incident").disabled


def test_the_chart_has_a_text_for_those_who_cannot_see_it(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING)
    chart = at.get("plotly_chart")[0].proto

    assert chart.alt.startswith("7 to 8 of 10 redelivered messages were processed more than once.")


def test_a_huge_incident_opens_as_an_overview_and_says_its_size(visit):
    at = visit("pages/incident.py", "huge", incident=HUGE)

    assert at.segmented_control(key="lanes").value == "Overview"
    assert "5,200 messages in 10,400 deliveries" in words(at)


@pytest.mark.parametrize("asked", ["invocations", "INVOCATIONS", "Invocations"])
def test_a_link_names_the_form_of_the_chart_in_any_case(visit, asked):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, lanes=asked)

    assert at.segmented_control(key="lanes").value == "Invocations"
    assert not at.warning


def test_an_overview_of_few_messages_is_not_offered_and_still_opens_by_its_link(visit):
    few = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING)
    asked = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, lanes="overview")

    assert few.segmented_control(key="lanes").options == ["Messages", "Invocations"]
    assert asked.segmented_control(key="lanes").value == "Overview"
    assert not asked.warning


def test_a_form_that_is_not_there_is_said(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, lanes="gantt")

    assert at.segmented_control(key="lanes").value == "Messages"
    assert "lanes=gantt of the link is ignored: there is Messages, Invocations, Overview." in words(at)


def test_a_verdict_and_what_it_rests_on_are_two_words(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING)

    assert "confirmed · proved" not in words(at)
    assert [badge for badge in ("confirmed", "from log lines") if badge in words(at)] == ["confirmed", "from log lines"]


def test_lanes_of_a_huge_incident_are_paged_and_the_linked_message_is_on_the_page(visit):
    at = visit("pages/incident.py", "huge", incident=HUGE, lanes="Messages", msg=uuid("click", 100))

    assert "Messages 81 to 120 of 5,200" in words(at)
    assert not at.exception


def test_lanes_of_a_huge_incident_are_called_by_business_key_and_so_is_the_linked_message(visit):
    at = visit("pages/incident.py", "huge", incident=HUGE, lanes="Messages", msg="click-100")
    first = visit("pages/incident.py", "huge", incident=HUGE, lanes="Messages")
    lanes, of_first = (
        json.loads(page.get("plotly_chart")[0].proto.spec)["layout"]["yaxis"]["ticktext"] for page in (at, first)
    )

    assert "Messages 81 to 120 of 5,200" in words(at)
    assert "click-100" in lanes
    assert of_first[:2] == [f"click-0 {uuid('click', 0)[:4]}…", "click-1"]
    assert {row["Message"] for row in first.dataframe[0].value.to_dict("records")} >= {*of_first[:2]}


def test_a_stretch_of_time_in_the_link_narrows_the_lanes(visit):
    keys = {"from_": "2026-11-17T03:00:00Z", "to": "2026-11-17T03:10:00Z"}
    at = visit("pages/incident.py", "huge", incident=HUGE, lanes="Messages", **keys)

    assert "to 40 of 5,200" not in words(at)
    assert "Only from 2026-11-17 03:00:00.000 to 2026-11-17 03:10:00.000" in words(at)


def test_a_stretch_chosen_in_the_overview_opens_its_lanes(visit):
    box = {"x": ["2026-11-17 03:00:00", "2026-11-17 03:10:00"], "y": [0, 3]}
    points = {"points": [], "point_indices": [], "box": [box], "lasso": []}
    at = visit(
        "pages/incident.py", "huge", incident=HUGE, selection={f"timeline-{HUGE}-overview-0": {"selection": points}}
    )

    assert at.query_params["from"] in ("2026-11-17T03:00:00.000Z", ["2026-11-17T03:00:00.000Z"])
    assert at.segmented_control(key="lanes").value == "Messages"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_started_by_itself_still_works(page, lake_of, monkeypatch):
    monkeypatch.setenv("DOUBLETAKE_LAKE", str(lake_of("demo")))
    at = AppTest.from_file(str(ROOT / page), default_timeout=PATIENCE_S).run()

    assert not at.exception


def test_the_report_page_previews_what_it_exports_in_every_form(visit):
    at = visit("pages/report.py", "demo", incident=DOUBLE_BILLING)
    buttons = {b.proto.label: b.proto for b in at.get("download_button")}

    (frame,) = at.get("iframe")

    assert "<h2>Next</h2>" in frame.proto.srcdoc
    assert "default-src 'none'" in frame.proto.srcdoc.partition("<style>")[0].replace("&#39;", "'")
    assert "<script" not in frame.proto.srcdoc
    assert at.code[0].value.startswith("# "), "the source, as it is written"
    assert at.code[0].value.startswith(f"# {DOUBLE_BILLING}".replace(".", ".")[:20])
    assert set(buttons) == {"HTML", "PDF", "Markdown", "CSV", "JSON", "SVG", "Timesketch", "Trace", "ZIP of all"}
    assert not any(b.disabled for b in buttons.values())


def test_the_report_speaks_japanese_where_the_link_says_so(visit):
    at = visit("pages/report.py", "demo", incident=DOUBLE_BILLING, lang="ja")

    assert "影響を受けたメッセージ" in at.code[0].value


def test_a_form_that_would_be_empty_cannot_be_downloaded_and_says_why(visit):
    buttons = {b.proto.label: b.proto for b in visit("pages/report.py", "blind").get("download_button")}
    empty = {name for name, button in buttons.items() if button.disabled}

    assert empty == {"CSV", "SVG", "Timesketch", "Trace"}
    assert {buttons[name].help for name in empty} == {"The logs name no message: this file would be empty."}


def test_an_unknown_incident_has_no_report(visit):
    at = visit("pages/report.py", "demo", incident="orders-20250101T0000Z")

    assert "orders-20250101T0000Z is not in data version" in words(at)
    assert not at.code


def test_a_person_marks_a_message_and_it_stands_beside_the_verdict(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.double_billing(story)
    lake = story.save(tmp_path / "lake")
    at = visit("pages/incident.py", lake, incident=DOUBLE_BILLING)
    whole, first, *_ = at.selectbox(key="mark_subject").options
    at.selectbox(key="mark_subject").select(first)
    at.selectbox(key="mark_word").select("refunded")
    at.text_area(key="mark_reason").input("ticket 77")
    at.text_input(key="mark_author").input("Ana")
    at.button(key="mark_put").click().run()
    verdicts = next(f.value for f in at.dataframe if "Why it was redelivered" in f.value)

    [order] = (t.proto.column_order for t in at.dataframe if "Why it was redelivered" in t.value)
    assert "Marked" in order
    assert "refunded (Ana)" in set(verdicts["Marked"].dropna())
    assert list(verdicts["Verdict"].map(list))[0] == ["confirmed"]
    assert whole == "the whole incident"

    message = verdicts["Message"][verdicts["Marked"] == "refunded (Ana)"].iloc[0]
    found = visit("pages/messages.py", lake, q=message)

    assert "refunded · Ana" in words(found)


def test_what_tells_messages_apart_comes_first_and_a_chosen_one_opens_with_its_sentences(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING)
    [table] = (t for t in at.dataframe if "Why it was redelivered" in t.value)
    chosen = {"verdicts": {"selection": {"rows": [0], "cells": []}}}
    opened = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, selection=chosen)
    [whole] = (m.value for m in opened.markdown if "**Why it was redelivered**" in m.value)

    assert list(table.proto.column_order)[:5] == ["Verdict", "Times done", "Keys", "Cause", "Message"]
    assert "Marked" not in table.proto.column_order, "nobody marked a message"
    assert "Finished, but its batch failed" in set(table.value["Cause"])
    assert "**Verdict** confirmed" in whole
    assert "**Effect** The work was done" in whole


def test_settings_of_that_time_fit_the_window_and_show_every_line(visit):
    at = visit("pages/incident.py", "demo", incident=DOUBLE_BILLING)
    [table] = (t for t in at.dataframe if "Advised" in t.value)
    px = [kind["width"] for kind in json.loads(table.proto.columns).values() if kind.get("width")]

    assert sum(px) <= 900 - 33  # what a window of 1360 leaves
    assert table.proto.row_height >= ROW_OF_TWO_LINES, "Streamlit breaks no line in a lower row"


def test_a_mark_without_a_reason_is_refused_on_the_page(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.double_billing(story)
    at = visit("pages/incident.py", story.save(tmp_path / "lake"), incident=DOUBLE_BILLING)
    at.button(key="mark_put").click().run()

    assert "A mark needs a reason" in words(at)


def test_what_people_set_aside_leaves_the_counts_and_comes_back_at_one_click(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.double_billing(story)
    lake = story.save(tmp_path / "lake")
    findings = Lake(lake).findings()
    confirmed = next(r for r in findings.read(MESSAGES).to_pylist() if r["verdict"] == "confirmed")
    before = visit("pages/incident.py", lake, incident=DOUBLE_BILLING)
    now = START + timedelta(days=1)
    annotate(findings, None, confirmed["item_id"], "charged-once", "the bank", "Ana", now)
    after = visit("pages/incident.py", lake, incident=DOUBLE_BILLING)
    told, title = words(after), after.title[0].value
    after.button(key="by_the_logs").click().run()

    assert "set aside: 1 work: charged once, checked with the bank (Ana" in told
    assert before.title[0].value != title
    assert after.title[0].value == before.title[0].value
    assert after.toggle(key="logs_alone").value
    assert any("By the logs alone" in b.label for b in visit("pages/fault.py", lake).button)
    assert "charged once" in words(visit("app.py", lake))


def test_a_question_is_answered_in_one_sentence_and_its_link_leads_back(visit):
    refunds, still = visit("pages/questions.py", "demo", ask="refund"), visit("pages/questions.py", "demo", ask="still")
    key = refunds.dataframe[0].value["Messages"].iloc[0].partition(",")[0]
    told = visit("pages/questions.py", "demo", ask="why", about=key)

    assert refunds.subheader[0].value.startswith("Refund or undo")
    assert "the evidence ends" in still.subheader[0].value
    assert "2 times" in told.subheader[0].value
    assert "why" in told.query_params["ask"]


def test_a_page_is_kept_with_its_filters_for_the_next_reader(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.double_billing(story)
    lake = story.save(tmp_path / "lake")
    at = visit("pages/incident.py", lake, incident=DOUBLE_BILLING)
    at.text_input(key="view_name").input("The double")
    at.text_input(key="view_author").input("Ana")
    at.button(key="view_keep").click().run()
    (kept,) = views(Lake(lake))

    assert (kept.view, kept.page, kept.keys["incident"]) == ("The double", "incident", DOUBLE_BILLING)
    assert visit("app.py", lake).selectbox(key="view_gone").options == ["The double"]


def test_a_link_to_a_question_that_is_none_says_so(visit):
    at = visit("pages/questions.py", "demo", ask="when")

    assert [w.value for w in at.warning] == ["ask=when of the link is ignored: there is why, still, refund."]
    assert not visit("pages/questions.py", "demo", ask="still").warning
