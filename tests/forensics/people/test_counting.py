"""What people's word changes in counts, rankings and notices, and what it never changes."""

import csv
import io
import json
from datetime import timedelta

import pytest

from forensics.people import annotate, is_settled, people_of
from forensics.report.activity import is_open
from forensics.report.case import load_case
from forensics.report.faults import faults
from forensics.report.notice import due, notice_of
from forensics.report.records import message_record
from forensics.report.render import render
from forensics.report.summary import verdict_text
from forensics.tables.findings import INCIDENTS, MESSAGES
from tests.forensics.report import world

pytestmark = pytest.mark.slow

MOVED = "payments.fifo-20261120T0455Z"


@pytest.fixture
def lake(tmp_path):
    return world.save(tmp_path / "lake")


def put(lake, mark="false-alarm", message=None, after_s=9000.0, author="Ana", incident=world.INCIDENT):
    findings = lake.findings()
    return annotate(findings, incident, message, mark, "tried it", author, world.after(after_s))


def counted(lake, does_count=True):
    (row,) = people_of(lake.findings(), does_count).counted(lake.findings().read(INCIDENTS).to_pylist())
    return row


def publish_again(lake, **changes):
    """Publish the same findings once more, with these columns of incidents or messages as given."""
    found = world.findings()
    for table, change in changes.items():
        found[table] = [row | (change(row) if callable(change) else change) for row in found[table]]
    world.publish(lake, found, "run-2")


def numbers(row):
    return (
        row["confirmed"],
        row["probable"],
        row["harmless"],
        row["extra_effects_at_least"],
        row["extra_effects_at_most"],
    )


def test_what_was_charged_once_is_taken_out_of_the_counts_and_shown_as_such(lake):
    put(lake, "charged-once", "pay-1001")
    case = load_case(lake.findings(), world.INCIDENT)

    assert (numbers(case.judged), numbers(case.incident)) == ((1, 1, 1, 1, 2), (0, 1, 2, 0, 1))
    assert case.opening.headline == "1 of 3 redelivered messages may have been processed more than once"
    assert case.opening.repeats == (
        "up to 1 repeat on 1 message, received 2 times; set aside: 1 work: charged once, checked with the bank "
        "(Ana, 2026-11-20 07:42 UTC)"
    )
    assert "refund" not in case.opening.next_line


def test_without_marks_every_figure_is_the_logs_own(lake):
    put(lake, "charged-once", "pay-1001")
    people = people_of(lake.findings(), does_count=False)
    case = load_case(lake.findings(), world.INCIDENT, people=people)

    assert (numbers(counted(lake, False)), case.set_aside) == ((1, 1, 1, 1, 2), ())
    assert case.opening.headline == world.incident()["headline"]
    assert case.marks.of([world.IDS[0]])[0].mark == "charged-once"


def test_a_false_alarm_of_the_whole_is_over_ranks_last_and_is_told_to_nobody(lake):
    before = due(lake.findings(), "x", "json", None)
    put(lake)
    row, until = counted(lake), world.after(700)
    other = dict(world.incident(), incident_id="other", queue="b", queue_arn="b", ended_at=world.after(-9999))

    assert (is_settled(row), is_open(row, until), is_open(world.incident(), until)) == (True, False, True)
    assert row["headline"] == "Its 2 works were set aside by a person: nothing counts as processed more than once"
    assert [(f.queue, f.state(until)) for f in faults([row, other], until)][1] == ("payments.fifo", "set aside")
    assert [len(before), len(due(lake.findings(), "x", "json", None))] == [1, 0]


def test_a_mark_changes_the_notice_and_says_whose_it_is(lake):
    (before,) = due(lake.findings(), "x", "json", None)
    put(lake, "charged-once", "pay-1001")
    (after,) = due(lake.findings(), "x", "json", None)

    assert before.news != after.news
    assert (after.body["incident"]["confirmed"], after.body["counted"]["confirmed"]) == (1, 0)
    assert after.body["counted"]["set_aside_by"].endswith("(Ana, 2026-11-20 07:42 UTC)")


def test_a_mark_stays_on_its_work_when_the_incident_gets_another_id(lake):
    put(lake)
    put(lake, "refunded", "pay-1002", after_s=9001)
    publish_again(lake, incidents={"incident_id": MOVED}, messages={"incident_id": MOVED})
    case = load_case(lake.findings(), MOVED)

    assert is_settled(case.incident)
    assert [m.mark for m in case.marks.whole] == ["false-alarm"]
    assert [m.mark for m in case.marks.of([world.IDS[1]])] == ["false-alarm", "refunded"]


def test_a_mark_of_an_earlier_release_hangs_on_its_incident_by_name(lake):
    from forensics.tables.people import ANNOTATIONS

    old = {"evidence_id": "annotation:1", "incident_id": world.INCIDENT, "mark": "false-alarm", "reason": "r"}
    lake.append(ANNOTATIONS, [old | {"author": "Ana", "marked_at": world.after(9000)}], "annotations|people")

    assert is_settled(counted(lake))


def test_what_was_received_after_the_mark_counts_again(lake):
    put(lake, "charged-once", "pay-1001", after_s=30)
    people = people_of(lake.findings())

    assert numbers(people.incident(world.incident())) == (1, 1, 1, 1, 2)
    assert people.of(world.INCIDENT).outdated == {world.IDS[0]: "said before it was received again"}
    assert people.state_of(people.of(world.INCIDENT).said[0]) == "said before it was received again"


def test_a_message_that_turned_out_to_be_the_same_work_is_not_covered(lake):
    put(lake, "charged-once", "pay-1001")
    one_work = {"work_id": world.IDS[0], "verdict": "confirmed", "effects_at_least": 3, "effects_at_most": 3}
    publish_again(lake, messages=lambda row: one_work if row["item_id"] in world.IDS[:2] else {})

    assert people_of(lake.findings()).aside == ()
    assert "known to be the same work" in people_of(lake.findings()).of(world.INCIDENT).outdated[world.IDS[0]]


def test_a_mark_on_one_message_covers_every_message_of_its_work(lake):
    one_work = {"work_id": world.IDS[0], "verdict": "confirmed", "effects_at_least": 2, "effects_at_most": 2}
    publish_again(lake, messages=lambda row: one_work if row["item_id"] in world.IDS[:2] else {})
    said = put(lake, "charged-once", "pay-1002")
    (work,) = people_of(lake.findings()).aside

    assert said.item_ids == work.item_ids == world.IDS[:2]


def test_taking_a_mark_back_counts_the_work_again(lake):
    put(lake)
    put(lake, "withdrawn", "pay-1001", after_s=9001, author="Ben")
    row = counted(lake)

    assert numbers(row)[:3] == (1, 0, 2)
    assert [people_of(lake.findings()).state_of(a) for a in people_of(lake.findings()).of(world.INCIDENT).said] == [
        "set aside",
        "",
    ]


def test_a_message_is_found_without_its_incident(lake):
    said = put(lake, "charged-once", "pay-1002", incident=None)

    assert (said.incident_id, said.item_id) == (world.INCIDENT, world.IDS[1])


def test_a_comment_is_kept_and_changes_nothing(lake):
    put(lake, "comment", "pay-1001")
    case = load_case(lake.findings(), world.INCIDENT)

    assert numbers(case.incident) == numbers(world.incident())
    assert case.marks.of([world.IDS[0]]) == ()
    assert "tried it" in render(case, "html").decode()


def test_an_incident_without_named_messages_is_known_by_its_queue_and_time(lake):
    blind = {"messages": None, "messages_at_most": 4, "confirmed": 0, "probable": 0, "possible": 0}
    publish_again(lake, incidents=blind, messages={"incident_id": None})
    put(lake)
    found = world.findings()
    later = blind | {"incident_id": MOVED, "started_at": world.after(-600)}
    found["incidents"] = [row | later for row in found["incidents"]]
    found["messages"] = []
    world.publish(lake, found, "run-3")

    assert is_settled(counted(lake))
    assert counted(lake, False)["messages_at_most"] == 4


def test_the_refund_list_says_what_is_not_to_be_refunded(lake):
    put(lake, "charged-once", "pay-1001")
    table = render(load_case(lake.findings(), world.INCIDENT), "csv").decode("utf-8-sig")
    first, second = csv.DictReader(io.StringIO(table))

    assert (first["verdict"], first["set_aside"], first["to_refund"]) == (
        "confirmed",
        "charged once, checked with the bank",
        "0",
    )
    assert second["set_aside"] == ""


def test_the_reports_contract_keeps_the_logs_counts_and_adds_those_that_count(lake):
    put(lake, "charged-once", "pay-1001")
    told = json.loads(render(load_case(lake.findings(), world.INCIDENT), "json"))

    assert (told["incident"]["confirmed"], told["counted"]["confirmed"], told["counted"]["set_aside"]) == (1, 0, 1)
    assert told["messages"][0] == json.loads(json.dumps(message_record(lake.findings().read(MESSAGES).to_pylist()[0])))


def test_every_report_says_what_was_set_aside_and_what_the_logs_alone_say(lake):
    put(lake, "charged-once", "pay-1001")
    case = load_case(lake.findings(), world.INCIDENT)

    for kind in ("html", "md"):
        assert f"By the logs alone: {world.incident()['headline']}" in render(case, kind).decode()


JUDGED = "confirmed 1 · probable 1 · possible 0 · absorbed 0 · harmless 1 · 2 of all set aside by people"


def test_a_mark_changes_no_verdict_that_the_head_of_a_report_or_a_notice_counts(lake):
    """The table under it lists each work with the verdict that the logs prove, and whose mark stands beside it."""
    put(lake)
    case = load_case(lake.findings(), world.INCIDENT)
    page = render(case, "md").decode()
    printed = [line.split() for line in verdict_text(case).splitlines()]

    assert f"Verdicts: {JUDGED}" in page
    assert "| `pay-1001`  | confirmed · false alarm (Ana) |" in page
    assert "Affected messages | 0; set aside by people: 2 |" in page
    assert [line[:2] for line in printed if line[0] in ("confirmed", "harmless")] == [
        ["confirmed", "1"],
        ["harmless", "1"],
    ]
    assert ["2", "of", "all", "set", "aside", "by", "people"] in printed
    assert "2 of all</b>" in render(case, "html").decode()
    assert JUDGED in json.dumps(notice_of(case.incident, case.opening, "slack", None, "v").body, ensure_ascii=False)


def test_the_verdict_of_a_fault_is_that_of_the_logs_and_its_counts_are_after_marks(lake):
    put(lake)
    (fault,) = faults([counted(lake)], None)

    assert (fault.verdict, fault.counts["confirmed"], fault.is_settled) == ("confirmed", 0, True)


def test_a_day_and_a_week_count_without_the_work_from_its_first_receive_on(lake):
    put(lake, "charged-once", "pay-1001")
    day = {"queue_arn": world.QUEUE_ARN, "starts_at": world.after(-60), "ends_at": world.after(60)}
    day |= {"twice_at_least": 1, "twice_at_most": 2}
    next_day = day | {"starts_at": world.after(60), "ends_at": world.after(60) + timedelta(days=1)}
    first, second = people_of(lake.findings()).periods([day, next_day])

    assert (first["twice_at_least"], first["twice_at_most"], first["judged"]) == (0, 1, day)
    assert second == next_day
