"""Many incidents of few faults: the list shows the faults, and a fault's page all that it did."""

from datetime import timedelta

import pytest

from forensics.tables.findings import INCIDENTS, MESSAGES
from tests.pages import tales
from tests.pages.reading import words
from tests.pages.worlds import DOUBLE_BILLING, EXPIRED_HANDLE, START, Story

TIMES = 12


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
    return story.save(tmp_path_factory.mktemp("faults") / "lake")


def test_incidents_of_one_fault_are_one_row_and_the_worst_fault_stands_first(visit, lake):
    at = visit("app.py", lake)
    table = at.dataframe[0].value

    assert list(table["Times"]) == [TIMES, 1]
    assert list(table["What happened"]) == [
        "billing: 12 of 12 redelivered messages were processed more than once",
        "payments.fifo: 7 to 8 of 10 messages were processed twice",
    ]
    assert sum(table["Over time"][0]) == TIMES
    assert "The worst of 2 faults, on billing" in words(at)
    assert "12 times in 33 h" in words(at)


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


def test_a_fault_that_is_not_there_is_said_and_its_link_kept(visit, lake):
    at = visit("pages/fault.py", lake, fault="orders-throttled-000000")

    assert "orders-throttled-000000 is not in data version" in words(at).replace("\\", "")
    assert "orders-throttled-000000" in at.query_params["fault"]
