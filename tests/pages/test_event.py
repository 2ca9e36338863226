"""The panel under the timeline: a click, a row and a link all lead to one event and its line."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.tables.evidence import METRIC_POINTS, SETTING_CHANGES
from pages._ui import details, event, timeline
from tests.pages import tales
from tests.pages.reading import words
from tests.pages.worlds import ACCOUNT, DOUBLE_BILLING, REGION, START, Story, arn, uuid

pytestmark = pytest.mark.page

CHART = f"timeline-{DOUBLE_BILLING}-1-0"
CHARGED = "charged payment_id=pay_1043 amount=4900 JPY"


def repeat_of(story, message):
    return next(r for r in story.findings["timeline"] if r["kind"] == "repeat" and r["item_id"] == message)


def name_of(row):
    at_us = (row["at"] - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return f"{row['kind']}.{at_us}.{row['delivery_index']}.{row['item_id']}"


@pytest.fixture(scope="module")
def repeat():
    story = Story()
    tales.double_billing(story)
    return name_of(repeat_of(story, uuid("payment", 3)))


def chosen(mark):
    return {"points": [{"customdata": [mark]}], "point_indices": [0], "box": [], "lasso": []}


def opened(visit, **more):
    return visit("pages/incident.py", "demo", incident=DOUBLE_BILLING, **more)


def test_a_click_on_a_mark_shows_its_sentence_and_its_whole_line(visit, repeat):
    at = opened(visit, selection={CHART: {"selection": chosen(repeat)}})

    assert "**work done again**, receive #2 by charge-card · **pay\\_1043**" in words(at)
    assert [c.value for c in at.code].count(CHARGED) == 1
    assert at.query_params["event"] in (repeat, [repeat])


def test_a_click_is_answered_before_the_chart_is_said_again(visit, repeat, monkeypatch):
    order = []
    for module, name in ((event, "show"), (timeline, "_chart"), (details, "tables")):
        do = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, do=do, name=name: order.append(name) or do(*given))
    opened(visit, selection={CHART: {"selection": chosen(repeat)}})

    assert order == ["show", "_chart", "tables"]


def test_a_click_in_the_chart_counts_after_a_row_of_the_evidence_was_chosen(visit, repeat):
    cells = {"evidence": {"selection": {"rows": [], "columns": [], "cells": [[2, "Line"]]}}}
    at = opened(visit, msg="pay_1043", selection=cells)
    of_row = at.query_params["event"]
    at.session_state[CHART] = {"selection": chosen(repeat)}
    at.run()

    assert of_row not in (repeat, [repeat])
    assert at.query_params["event"] in (repeat, [repeat]), "the row is still chosen, and its table another"


def test_a_link_to_an_event_opens_it_and_close_forgets_it(visit, repeat):
    at = opened(visit, event=repeat)
    there = [c.value for c in at.code]
    at.button(key="close_event").click().run()

    assert CHARGED in there
    assert CHARGED not in [c.value for c in at.code]
    assert "event" not in at.query_params


def test_a_row_of_the_evidence_opens_the_same_panel(visit, repeat):
    cells = {"evidence": {"selection": {"rows": [], "columns": [], "cells": [[7, "Line"]]}}}
    at = opened(visit, msg="pay_1043", selection=cells)

    assert at.query_params["event"] in (repeat, [repeat])
    assert CHARGED in [c.value for c in at.code]


def test_from_a_line_back_to_its_mark_the_chart_draws_a_ring_around_it(visit, repeat):
    at = opened(visit, event=repeat)
    before = at.get("plotly_chart")[0].proto.spec
    at.button(key="point_at_event").click().run()
    after = at.get("plotly_chart")[0].proto.spec

    assert '"circle-open"' not in before.replace('"circle-open-dot"', "")
    assert '"name":"ring"' in after
    assert CHARGED in [c.value for c in at.code], "the panel stays"


def test_an_event_that_is_not_there_is_said(visit):
    at = opened(visit, event="repeat.1.1.nobody")

    assert "The event that the link names is not in this data version." in words(at)


def test_the_line_leads_to_the_console_of_its_region_and_to_a_query(visit, repeat):
    at = opened(visit, event=repeat)
    (link,) = (b.proto.url for b in at.get("link_button"))
    (query,) = (c.value for c in at.code if c.value.startswith("fields @timestamp"))

    assert link.startswith(f"https://{REGION}.console.aws.amazon.com/cloudwatch/home?region={REGION}#logsV2:log-groups")
    assert "$252Faws$252Flambda$252Fcharge-card" in link
    assert "toMillis(@timestamp) = " in query


def test_the_lines_around_it_are_those_of_its_stream_in_order(visit, repeat):
    at = opened(visit, event=repeat)
    at.toggle(key="around").set_value(True).run()
    (around,) = (c.value for c in at.code if "▶ " in c.value)
    lines = around.split("\n")

    assert len(lines) == 3 + 1 + 5, "the stream begins three lines before"
    assert lines[3].startswith("▶ ") and lines[3].endswith(CHARGED)
    assert lines == sorted(lines, key=lambda line: line[2:14])


def test_a_message_is_found_by_its_business_key_in_the_link(visit):
    at = opened(visit, msg="pay_1043")

    assert list(at.dataframe[0].value["Message id"]) == [uuid("payment", 3)] * 2
    assert f"Only `pay_1043` · `{uuid('payment', 3)}`" in words(at)


def test_the_line_in_a_cell_does_not_begin_with_the_time_of_the_first_column(visit):
    lines = opened(visit).dataframe[1].value["Line"].dropna()

    assert not any(line.startswith("2026-") for line in lines)


def test_changes_and_the_queue_s_state_stand_on_the_time_axis(visit, tmp_path):
    story = Story(data_until_at=START + timedelta(hours=1))
    story.coverage(tales.CHARGE, START - timedelta(days=3), story.data_until_at)
    tales.double_billing(story)
    common = {"account_id": ACCOUNT, "region": REGION, "collected_at": START + timedelta(hours=1)}
    story.add(
        SETTING_CHANGES,
        common
        | {
            "evidence_id": "change:1",
            "event_id": "1",
            "changed_at": START - timedelta(minutes=5),
            "event_source": "sqs.amazonaws.com",
            "event_name": "SetQueueAttributes",
            "resource_kind": "queue",
            "resource": "payments.fifo",
            "queue_arn": arn("payments.fifo"),
            "function_name": None,
            "settings": ["VisibilityTimeout=600"],
            "actor": "deploy-bot",
            "error_code": None,
        },
    )
    for n in range(12):
        story.add(
            METRIC_POINTS,
            common
            | {
                "evidence_id": f"metric:{n}",
                "namespace": "AWS/SQS",
                "metric": "ApproximateNumberOfMessagesVisible",
                "resource": "payments.fifo",
                "statistic": "Maximum",
                "period_s": 60,
                "point_at": START + timedelta(minutes=n),
                "value": float(n),
            },
        )
    at = visit("pages/incident.py", story.save(tmp_path / "lake"), incident=DOUBLE_BILLING)
    spec = at.get("plotly_chart")[0].proto.spec

    assert "VisibilityTimeout=600" in spec
    assert "deploy-bot" in spec
    assert "waiting \\u226411" in spec or "waiting ≤11" in spec


def test_a_send_is_not_said_to_be_by_the_consumer_whose_line_tells_of_it(visit):
    story = Story()
    tales.double_billing(story)
    sent = next(r for r in story.findings["timeline"] if r["kind"] == "sent")
    said = words(opened(visit, event=name_of(sent)))

    assert "**sent** · " in said
    assert "**sent** by" not in said
