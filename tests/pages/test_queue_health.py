"""The Queue health page: ranking, weeks, one queue in detail, and what it says where little is known."""

import json
import os
import shlex
from datetime import timedelta

import pytest

from forensics.lake import Lake
from forensics.language import Language
from forensics.tables.evidence import METRIC_POINTS
from forensics.tables.findings import INVOCATIONS
from forensics.tables.health import QUEUE_HEALTH, QUEUE_WEEKS, SETTING_FINDINGS
from forensics.words import cells
from pages._ui import evidence, health, linked, plots
from tests.pages import health_tale, tales
from tests.pages.reading import words
from tests.pages.worlds import START, Story

pytestmark = pytest.mark.page

PAGE = "pages/queue_health.py"


@pytest.fixture
def opened(visit):
    return visit(PAGE, "demo")


def ranking(at):
    return at.dataframe[0].value


def test_the_headline_counts_the_queues_and_names_the_first(opened):
    assert opened.title[0].value == "Queue health · 16 to 22 Nov 2026"
    assert opened.markdown[0].value.startswith(
        "3 of 3 queues need work. First payments.fifo: 7 to 8 of 14,000 messages"
    )


def test_queues_are_ranked_with_a_sentence_of_why_and_the_weeks_that_were_read(opened):
    table = ranking(opened)

    assert list(table["Queue"]) == ["payments.fifo", "billing", "mail"]
    assert list(table["Why"])[1].startswith("visibility timeout 30 s < p99 handling 41.2 s: slow")
    assert list(table["Redelivered"]) == ["3.9 %", "3.1 %", "0.1 %"]
    assert [len(line) for line in table["8 weeks"]] == [8, 8, 7]


def test_cards_carry_the_change_against_the_week_before(opened):
    cards = {m.label: (m.value, m.delta) for m in opened.metric}

    assert cards["Need work"] == ("3 of 3", "")
    assert cards["Processed twice"] == ("7 to 8", "0")  # the same four days: the incident is of the fifth
    assert cards["Expired handles"] == ("12", "0")
    assert "compare the 4 days that are over with the same days of the week before" in words(opened)


def test_the_neediest_queue_is_opened_with_reasons_days_incidents_and_checks(opened):
    assert opened.subheader[0].value == "payments.fifo"
    reasons = [m.value for m in opened.markdown if "-badge[" in m.value]
    assert [r.partition("]")[0] for r in reasons] == [
        *[":red-badge[act now", *[":orange-badge[watch"] * 3],  # this week's numbers
        ":red-badge[act now",  # the settings of today
    ]
    assert "7 to 8 of 14,000 messages processed twice (0.1 %)  \n:gray[:small[Open the incidents" in reasons[0]
    assert "payments.fifo-20261120T0512Z" in words(opened) or opened.get("page_link")
    assert "1 check passed" in [e.label for e in opened.expander]


def test_a_reason_stands_once_and_the_table_has_only_the_other_checks(opened):
    reason = "runs hit the function timeout"
    told = [m.value for m in opened.markdown if reason in m.value]
    tables = [f.value for f in opened.dataframe if "What was compared" in f.value]

    assert len(told) <= 1
    assert not any(reason in sentence for table in tables for sentence in table["What was compared"])
    assert [list(t["Check"]) for t in tables if "run_near_timeout" in list(t["Check"])] == []


def test_every_number_of_the_week_stands_beside_the_week_before(opened):
    numbers = next(f.value for f in opened.dataframe if "Same days before" in f.value).set_index("")

    assert tuple(numbers.loc["Timeouts"]) == ("2", "0", "0")
    assert tuple(numbers.loc["p95 age"]) == ("10 min 12 s", "8 s", "+10 min 4 s")
    assert {"Sent", "Throttles", "To DLQ", "Backlog, most", "p50 handler", "Hidden by the age metric"} <= {
        *numbers.index
    }


def test_an_accepted_risk_is_said_among_the_checks_and_puts_no_queue_at_risk(visit, tmp_path, monkeypatch):
    settings = tmp_path / "team.toml"
    settings.write_text(
        "[[queue]]\nname = 'mail'\n[[queue.accepted]]\ncheck = 'dead_letter_queue_missing'\nuntil = 2026-12-31\n"
        "reason = 'it moves'\n"
    )
    before = {m.label: m.value for m in visit("app.py", "demo").metric}["Queues at risk"]
    monkeypatch.setenv("DOUBLETAKE_CONFIG", str(settings))
    after = {m.label: m.value for m in visit("app.py", "demo").metric}["Queues at risk"]
    at = visit(PAGE, "demo", queue="mail")

    assert (before, after) == ("3 of 3", "2 of 3")
    assert [i.value.replace("\\", "")[:25] for i in at.info] == ["Accepted until 2026-12-31"]
    assert at.info[0].value.endswith("it moves")


def test_a_link_names_the_queue_and_the_week(visit):
    at = visit(PAGE, "demo", queue="billing", week="2026-W46")

    assert at.title[0].value == "Queue health · 9 to 15 Nov 2026"
    assert at.subheader[0].value == "billing"
    assert "whatever the week" in words(at)
    assert any("] visibility timeout 30 s < p99 handling 41.2 s" in m.value.replace("\\", "") for m in at.markdown)


def test_a_long_finding_stands_whole_and_makes_no_other_check_high(visit, tmp_path):
    story = Story(data_until_at=START)
    health_tale.weekly(story)
    long = "AWS would refuse this mapping today " + "because of one more reason " * 30
    code = 'print(json.dumps({"MessageId": message["MessageId"]})) ' * 6
    checks = story.findings[SETTING_FINDINGS.name]
    failing = next(c for c in checks if c["status"] == "fails")
    story.findings[SETTING_FINDINGS.name] = [failing | {"code": "drift", "sentence": long, "advice": code}, *checks]
    at = visit("pages/queue_health.py", story.save(tmp_path / "lake"), queue=failing["queue"])
    told = " ".join(m.value.replace("\\", "") for m in at.markdown)

    assert long.strip() in told
    assert code.strip() in told


def test_a_click_on_a_queue_opens_it(visit, monkeypatch):
    state = {"queues": {"selection": {"rows": [2], "columns": [], "cells": []}}}
    monkeypatch.setattr(health.st, "session_state", state)
    health._clicked("queues", ["payments.fifo", "billing", "mail"])
    monkeypatch.undo()

    assert state["queue"] == "mail"
    assert visit(PAGE, "demo", selection={"queue": "mail"}).subheader[0].value == "mail"


def test_one_switch_says_which_queue_the_whole_page_is_about(visit):
    at = visit(PAGE, "demo", queue="billing")

    assert [box.label for box in at.selectbox if box.label == "Queue"] == ["Queue"]
    assert at.selectbox(key="queue").value == "billing"
    at.selectbox(key="queue").set_value("mail").run()
    assert at.subheader[0].value == "mail"


@pytest.mark.parametrize("week", ["2026-W13", "soon", "<script>"])
def test_a_week_that_is_not_there_is_said_and_the_newest_shown(visit, week):
    at = visit(PAGE, "demo", week=week)

    assert not at.exception
    assert "is not in this data version, which has 2026-W40 to 2026-W47" in at.warning[0].value
    assert at.title[0].value == "Queue health · 16 to 22 Nov 2026"


def test_of_one_week_no_range_is_said():
    told = linked.week_not_there("soon", ["2026-W48"], "2026-W48")

    assert told == "Week soon is not in this data version, which has 2026-W48. This is 2026-W48."


def test_a_queue_that_is_not_there_is_said(visit):
    at = visit(PAGE, "demo", queue="nobody")

    assert "Queue nobody is not in this week" in at.warning[0].value


def test_a_column_of_which_no_row_has_anything_takes_no_room(opened, visit, tmp_path):
    story = Story(data_until_at=START + timedelta(hours=1))
    tales.double_billing(story)
    health_tale.weekly(story)
    weeks = story.findings[QUEUE_WEEKS.name]
    newest = max(row["week"] for row in weeks)
    story.findings[QUEUE_WEEKS.name] = [row for row in weeks if row["week"] == newest]
    of_one_week = visit(PAGE, story.save(tmp_path / "lake"), week=newest).dataframe[0]

    assert "8 weeks" in opened.dataframe[0].proto.column_order
    assert "8 weeks" not in of_one_week.proto.column_order
    assert list(of_one_week.proto.column_order)[:3] == ["Queue", "Status", "Why"]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_all_columns_fit_a_desk_beside_a_trend_too(visit, lang):
    table = visit(PAGE, "demo", lang=lang).dataframe[0]
    px = [json.loads(table.proto.columns)[name]["width"] for name in table.proto.column_order]

    assert "8 weeks" in table.proto.column_order
    assert list(table.proto.column_order)[-2:] == ["p99 / visibility", "To DLQ"]
    assert sum(px) <= 866  # of the 900 that a window of 1360 leaves, the rows' boxes take 33


def test_a_change_of_an_interval_says_what_it_compares(opened):
    twice = next(m for m in opened.metric if m.label == "Processed twice")

    assert twice.delta and "The arrow compares what is sure." in twice.help


def test_a_version_without_weeks_says_what_tells_why(visit):
    at = visit(PAGE, "nothing")

    assert not at.exception
    assert "Weeks are counted from deliveries" in words(at)
    assert f"`doubletake status --lake {shlex.quote(os.environ['DOUBLETAKE_LAKE'])}`" in at.info[0].value


def test_the_charts_say_what_they_show(opened):
    days, backlog = opened.get("plotly_chart")

    assert days.proto.alt.startswith("payments.fifo, eight weeks by day")
    assert backlog.proto.alt == "Messages that waited and were in flight, by day"


def test_the_incident_page_shows_the_checks_of_its_queue(visit):
    at = visit("pages/incident.py", "demo", incident="payments.fifo-20261120T0512Z")

    assert not at.exception
    assert "**Settings checks**" in [m.value for m in at.markdown]
    assert any("run_near_timeout" in m.value.replace("\\", "") for m in at.markdown)


HOSTILE = "<script>alert(1)</script> ![x](https://a.example/pixel.png) [y](javascript:alert(1)) :red[now]"


def test_texts_from_evidence_and_settings_are_shown_as_the_characters_they_have(visit, tmp_path, monkeypatch):
    story = Story(data_until_at=START)
    tales.double_billing(story)
    health_tale.weekly(story)
    for row in story.findings["setting_findings"]:
        row["sentence"] = row["advice"] = HOSTILE
    for row in story.findings["incidents"]:
        row["headline"] = HOSTILE
    settings = tmp_path / "team.toml"
    settings.write_text(f"[[queue]]\nname = 'billing'\nowner = '{HOSTILE}'\nnote = '{HOSTILE}'\n")
    monkeypatch.setenv("DOUBLETAKE_CONFIG", str(settings))
    at = visit(PAGE, story.save(tmp_path / "lake"), queue="billing")
    shown = [str(e.value) for kind in ("markdown", "caption", "info", "warning", "subheader") for e in at.get(kind)]

    assert not at.exception
    assert [text for text in shown if "alert" in text]
    assert [text for text in shown if "<script>" in text or "![x](" in text or " :red[" in text] == []


def test_the_files_can_be_japanese(visit):
    at = visit(PAGE, "demo", lang="ja")

    assert not at.exception
    assert at.segmented_control(key="lang").value == "ja"


def test_other_settings_of_a_queue_are_replayed_on_demand_beside_what_was_observed(visit):
    at = visit("pages/queue_health.py", "demo")
    next(b for b in at.button if b.label == "Replay").click().run()

    assert not at.exception
    assert "Under the settings in force the replay" in words(at)
    assert "as it was" in str(at.dataframe[-1].value["Settings"].tolist())


def test_waiting_times_and_their_trends_stand_on_the_page(visit):
    at = visit("pages/queue_health.py", "demo")
    rows = next(d.value for d in at.dataframe if "Until done" in d.value)

    assert not at.exception
    assert rows["Sent"].sum() > 0
    assert "Median and 95th percentile from the send" in words(at)


def with_metrics(story, **levels):
    for name, value in levels.items():
        story.add(
            METRIC_POINTS,
            {
                "evidence_id": f"metric:{name}",
                "namespace": "AWS/SQS",
                "metric": f"ApproximateNumberOfMessages{name}",
                "resource": "payments.fifo",
                "statistic": "Maximum",
                "period_s": 60,
                "point_at": START + timedelta(minutes=1),
                "value": float(value),
                "collected_at": START + timedelta(hours=2),
            },
        )


@pytest.fixture
def with_levels(tmp_path):
    """A lake whose queue was last seen with a message in flight, an hour before its evidence ends."""
    story = Story(data_until_at=START + timedelta(hours=1))
    tales.double_billing(story)
    health_tale.weekly(story)
    with_metrics(story, Visible=1, NotVisible=1)
    first = min(row["day"] for row in story.findings[QUEUE_HEALTH.name])
    for row in story.findings[QUEUE_HEALTH.name]:
        row |= {"backlog_max_count": 4 if row["day"] == first else None, "in_flight_max_count": 1}
    return story.save(tmp_path / "lake")


def test_a_past_week_tells_nothing_of_another_one_s_days_and_of_no_present_backlog(visit, with_levels):
    now = visit(PAGE, with_levels, queue="payments.fifo", week="2026-W47")
    before = visit(PAGE, with_levels, queue="payments.fifo", week="2026-W46")
    seen = "payments.fifo: at 2026-11-20 05:13 UTC 1 message waited and 1 more in flight or delayed"

    assert [list(d.value["Day"]) for d in now.dataframe if "Until done" in d.value] == [["2026-11-20"]]
    assert seen in words(now).replace("\\", "")
    assert [d for d in before.dataframe if "Until done" in d.value] == []
    assert "No message is known that was sent this week." in words(before)
    assert "in flight or delayed" not in words(before)


def test_of_one_day_that_tells_a_backlog_it_is_said_in_whole_sentences(visit, with_levels):
    at = visit(PAGE, with_levels, queue="payments.fifo")

    assert "at most 4 messages waited, and at most 1 in flight." in words(at)


@pytest.fixture
def cited(tmp_path):
    """A lake whose reasons and checks cite log lines and a snapshot of settings."""
    story = Story(data_until_at=START)
    tales.double_billing(story)
    health_tale.weekly(story)
    line = next(row for row in story.evidence["log_events"] if "timed out" in row["line"])
    ids = [line["evidence_id"], story.evidence["queue_settings"][0]["evidence_id"]]
    for row in story.findings["setting_findings"]:
        row["evidence_ids"] = ids
    return story.save(tmp_path / "lake"), line["line"]


def test_the_rows_behind_a_reason_open_as_whole_lines_with_their_neighbours(visit, cited):
    lake, line = cited
    at = visit(PAGE, lake, queue="payments.fifo", selection={"around": True})
    opener = next(b for b in at.button if b.label == "2 rows of evidence")
    opener.click().run()
    rows = next(f.value for f in at.dataframe if "Row" in f.value)

    assert not at.exception
    assert sorted(rows["Kind"]) == ["log events", "queue settings"]
    assert line.strip() in [c.value.strip() for c in at.code]
    assert any("▶" in c.value and len(c.value.splitlines()) > 3 for c in at.code)


def test_a_reason_of_the_week_opens_the_rows_it_rests_on_and_no_others(visit, cited):
    at = visit(PAGE, cited[0], queue="payments.fifo")
    told = [m.value for m in at.markdown if "badge" in m.value]
    place = next(n for n, words_ in enumerate(told) if "2 function timeouts" in words_)
    at.button(f"evidence-False-{place}").click().run()
    rows = next(f.value for f in at.dataframe if "Row" in f.value)
    timed_out = {
        i
        for run in Lake(cited[0]).findings().read(INVOCATIONS).to_pylist()
        if run["end_status"] == "timeout"
        for i in run["evidence_ids"]
    }

    assert not at.exception
    assert len(rows) == len(timed_out)
    assert any("timed out" in row for row in rows["Row"])


def test_a_chosen_check_opens_its_evidence_once(visit, cited, monkeypatch):
    lake, line = cited
    ids = Lake(lake).findings().read(SETTING_FINDINGS).to_pylist()[0]["evidence_ids"]
    chosen = {"checks": {"selection": {"rows": [0], "cells": []}}}
    monkeypatch.setattr(evidence.st, "session_state", chosen)
    evidence.on_choice("checks", [{"evidence_ids": ids, "sentence": "told"}], "sentence")()
    monkeypatch.undo()
    at = visit(PAGE, lake, queue="payments.fifo", selection={k: v for k, v in chosen.items() if k != "checks"})

    assert line.strip() in [c.value.strip() for c in at.code]
    assert line.strip() not in [c.value.strip() for c in at.run().code]


def test_the_days_are_drawn_once_for_readers_of_one_language_and_zone(visit, monkeypatch):
    plots._kept.clear()
    drawn, draw = [], health.days_figure
    monkeypatch.setattr(health, "days_figure", lambda *given: drawn.append(given) or draw(*given))
    readers = [{}, {}, {"lang": "ja"}, {"tz": "Pacific/Chatham"}]
    charts = [visit(PAGE, "demo", zone="Asia/Kathmandu", **reader).get("plotly_chart")[0] for reader in readers]

    assert len(drawn) == 3
    assert ["Messages a day" in chart.proto.spec for chart in charts] == [True, True, False, True]


def test_the_chart_begins_with_the_week_in_which_something_was_read(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.double_billing(story)
    health_tale.weekly(story)
    story.findings["queue_health"] = [row for row in story.findings["queue_health"] if row["day"] >= "2026-11-18"]
    at = visit(PAGE, story.save(tmp_path / "lake"), queue="payments.fifo")
    (spec,) = [chart.proto.spec for chart in at.get("plotly_chart") if "Messages a day" in chart.proto.spec]

    assert json.loads(spec)["data"][0]["x"][0] == "2026-11-16"


def test_a_reason_in_japanese_is_cut_where_its_cell_ends(monkeypatch):
    monkeypatch.setattr(health, "language", lambda: Language("ja"))

    long = health._shortened(
        "予約済み同時実行数 2 に対し、マッピングに最大同時実行数がありません：超過分はスロットリングされる", 176
    )

    assert long.endswith("…")
    assert cells(long) <= 0.75 * 3 * 160 / 7 + 1  # three lines of the cell, where lines break early
    assert health._shortened("122 件中 13〜15 件が 2 回以上処理されました（10.7 %〜12.3 %）", 238).endswith(
        "（10.7 %〜12.3 %）"
    )


def test_what_settings_ask_for_today_is_no_reason_of_a_week_that_is_over(visit):
    over, newest = (visit(PAGE, "demo", queue="billing", week=week) for week in ("2026-W46", "2026-W47"))

    assert "**Settings today**" not in [m.value for m in over.markdown]
    assert "**Settings today**" in [m.value for m in newest.markdown]
