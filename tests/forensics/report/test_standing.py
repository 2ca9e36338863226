"""Whether an incident is open is told alike by its report, its fault, the order of lists and the answer to "is it still happening?"."""

from datetime import timedelta

import pytest

from forensics.people import NOBODY
from forensics.report import summary
from forensics.report.case import load_case
from forensics.report.fault_case import load_fault
from forensics.report.faults import fault_record, faults
from forensics.report.notice import due
from forensics.report.questions import still
from forensics.report.standing import MOST_LOOKED_UP, all_gone, standing_incidents
from forensics.sentence import plain
from tests.forensics.report import world

pytestmark = pytest.mark.lake
DEAD, BACK = "dead_lettered", "visibility_expired"
LAST_ACTIVE_S = 7000


def save(folder, last=DEAD, beside=(), **incident):
    """The incident went on until shortly before the data ends; so the last delivery of each of its messages ended.

    ``beside`` are other incidents of its fault, by what they have otherwise; no line tells their messages.
    """
    found = world.findings()
    found["incidents"] = [i | {"ended_at": world.after(LAST_ACTIVE_S)} | incident for i in found["incidents"]]
    found["incidents"] += [i | more for i in found["incidents"] for more in beside]
    final = {d["item_id"]: d["delivery_index"] for d in found["deliveries"]}
    for d in found["deliveries"]:
        d["ended_by"] = last if d["delivery_index"] == final[d["item_id"]] else DEAD
    for m in found["messages"]:
        m["is_dead_lettered"] = True
    return world.save(folder, found).findings()


STATES = {
    "something is left": (BACK, "open", "Yes: ", "open: last active 3 min 20 s before", "Stop it now"),
    "every message is in the dead-letter queue": (
        DEAD,
        "nothing left to stop",
        "Not where the evidence ends: nothing is left to stop on payments.fifo: every message was dead-lettered or lost; ",
        "nothing left to stop: every message was dead-lettered or lost ",
        "If it comes back",
    ),
}


@pytest.mark.parametrize(("last", "state", "answer", "when", "heading"), STATES.values(), ids=STATES)
def test_whether_an_incident_is_open_is_told_alike_everywhere(tmp_path, last, state, answer, when, heading):
    findings = save(tmp_path / "lake", last)
    until = findings.generation.data_until_at
    case = load_case(findings, world.INCIDENT, people=NOBODY)
    [fault] = faults(standing_incidents(findings, NOBODY), until)
    reply = still(findings, NOBODY, until + timedelta(minutes=1), timedelta(minutes=30))

    assert fault_record(fault, until)["state"] == state
    assert reply.rows[0]["state"] == state
    assert reply.sentence.startswith(answer)
    assert plain(summary.state_text(case)).startswith(when)
    assert {case.opening.stop_heading, load_fault(findings, fault, NOBODY).opening.stop_heading} == {heading}
    told = due(findings, "t", "slack", None)[0].body["blocks"][0]["text"]["text"]
    assert ("Stop it now" in told) == (heading == "Stop it now")


def test_a_fault_is_open_where_an_incident_of_it_is_though_nothing_is_left_of_the_newest(tmp_path):
    findings = save(tmp_path / "lake", beside=[{"incident_id": "older", "started_at": world.after(-600)}])
    until = findings.generation.data_until_at
    [fault] = faults(standing_incidents(findings, NOBODY), until)

    assert fault.newest["incident_id"] == world.INCIDENT
    assert load_case(findings, world.INCIDENT, people=NOBODY).opening.stop_heading == "If it comes back"
    assert (fault.state(until), load_fault(findings, fault, NOBODY).opening.stop_heading) == ("open", "Stop it now")


STANDS = {"until its end": (LAST_ACTIVE_S, DEAD, "nothing left to stop"), "before": (1800, BACK, "quiet 1 h")}


@pytest.mark.parametrize(("last_active_s", "last", "state"), STANDS.values(), ids=STANDS)
def test_a_webhook_hears_how_a_fault_stands_where_the_data_ends(tmp_path, last_active_s, last, state):
    ended = {"ended_at": world.after(last_active_s)}
    older = {"incident_id": "older", "started_at": world.after(-600), "ended_at": world.after(0)}
    (notice,) = due(save(tmp_path / "lake", last, [older], **ended), "t", "json", None)

    assert notice.body["fault"]["state"] == state


def test_what_is_open_stands_before_what_has_nothing_left(tmp_path):
    findings = save(tmp_path / "lake")
    [gone] = standing_incidents(findings, NOBODY)
    other = {
        **gone,
        "incident_id": "other",
        "queue": "b",
        "queue_arn": "b",
        "extra_effects_at_least": 0,
        "is_gone": False,
    }
    until = findings.generation.data_until_at

    assert [f.queue for f in faults([gone, other], until)] == ["b", world.QUEUE]


LOOKED_UP = {
    "no message is named": ({"messages": None}, False),
    "few": ({}, True),
    "so many that nobody looks them up": ({"messages": MOST_LOOKED_UP + 1}, False),
    "quiet for more than an hour": ({"ended_at": world.after(3599)}, False),
}


@pytest.mark.parametrize(("incident", "is_gone"), LOOKED_UP.values(), ids=LOOKED_UP)
def test_it_is_looked_up_of_what_was_active_and_of_few_messages(tmp_path, incident, is_gone):
    findings = save(tmp_path / "lake", **incident)

    [row] = standing_incidents(findings, NOBODY)

    assert all_gone(findings, [row]) == ({world.INCIDENT} if is_gone else set())
    assert row.get("is_gone", False) is is_gone
