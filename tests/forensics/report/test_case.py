import csv
import dataclasses
import io
import json
from datetime import timedelta
from pathlib import Path

import pytest

from forensics.errors import IncidentUnknownError
from forensics.lake import Lake
from forensics.people.marks import annotate
from forensics.report.case import load_case
from forensics.report.gaps import gaps
from forensics.report.render import render
from forensics.report.summary import summary
from forensics.sentence import joined, plain
from forensics.tables.findings import INCIDENTS, MESSAGES
from tests.forensics.report import world
from tests.pages import tales
from tests.pages.worlds import HUGE, START, Story


def test_the_case_holds_the_affected_messages_first(case):
    assert [m["verdict"] for m in case.messages] == ["confirmed", "probable", "harmless"]
    assert [m["message_id"] for m in case.affected] == list(world.IDS[:2])


@pytest.mark.lake
def test_messages_of_one_batch_stand_in_the_order_of_the_batch(tmp_path):
    found = world.findings()
    backwards = {world.IDS[0]: 3, world.IDS[1]: 2, world.IDS[2]: 1}
    found["deliveries"] = [d | {"batch_position": backwards[d["item_id"]]} for d in found["deliveries"]]
    case = load_case(world.save(tmp_path / "lake", found).findings(), world.INCIDENT)

    assert [m["message_id"] for m in case.affected] == [world.IDS[1], world.IDS[0]]
    assert [d["message_id"] for d in case.deliveries][:4] == [world.IDS[1]] * 2 + [world.IDS[0]] * 2


def test_key_moments_run_from_the_send_to_the_drained_queue_with_offsets(case):
    told = {m.what: m.offset_ms for m in case.moments}

    assert told == {
        "first affected message sent": -1000,
        "first receive": 0,
        "first run that timed out": 30_050,
        "first message visible again": 600_000,
        "first repeat received": 600_300,
        "last affected message left the queue": 630_350,
    }


def test_the_cause_chain_tells_receive_work_kill_return_and_repeat(case):
    assert [f.sentence for f in case.chain] == [
        "charge-card received 3 messages of payments.fifo (request aaaaaaaa-0000-4000-8000-000000000001), "
        "hidden for 10 min.",
        "1 of 3 messages had finished (marker: 1).",
        "The run was stopped at its timeout after 30 s; 3 messages were not deleted.",
        "The visibility timeout of 10 min expired; SQS made them visible again.",
        "charge-card received 3 messages again 10 min 0.3 s after the previous receive.",
        "The work of 1 of 3 messages was done again.",
    ]


@pytest.mark.lake
@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (
            3,
            [
                "The work of 1 of 3 messages was done, before the earlier run had done it.",
                "The earlier run did the work of 1 of 3 messages, too: it was done again (marker: 1).",
            ],
        ),
        (
            1,
            [
                "The work was done, before the earlier run had done it.",
                "The earlier run did the work, too: it was done again (marker: 1).",
            ],
        ),
    ],
)
def test_the_chain_says_which_run_did_the_work_first_where_the_later_one_was_quicker(tmp_path, messages, expected):
    found = world.findings()
    mine = [d for d in found["deliveries"] if d["item_id"] in world.IDS[:messages]]
    late = max(d["effect_at"] for d in mine if d["effect_at"]) + timedelta(seconds=1)
    found["deliveries"] = [
        d | {"effect_at": late} if (d["delivery_index"], d["effect"]) == (1, "yes") else d for d in mine
    ]
    chain = load_case(world.save(tmp_path / "lake", found).findings(), world.INCIDENT).chain

    assert [fact.sentence for fact in chain][-2:] == expected


@pytest.mark.lake
def test_of_a_batch_that_was_not_printed_the_chain_tells_at_least_so_many(tmp_path):
    found = world.findings()
    unprinted = [d | {"batch_position": None} for d in found["deliveries"]]
    told = load_case(world.save(tmp_path / "lake", found | {"deliveries": unprinted}).findings(), world.INCIDENT)

    assert told.chain[0].sentence.startswith("charge-card received at least 3 messages of payments.fifo ")


@pytest.mark.lake
def test_the_chain_and_the_cause_sentence_agree_how_long_a_run_took_that_failed(tmp_path):
    found = world.findings()
    found["deliveries"] = [
        d | {"run_status": "error"} if d["run_status"] == "timeout" else d for d in found["deliveries"]
    ]
    found["invocations"] = [i | {"end_status": "error", "duration_ms": 29_998} for i in found["invocations"]]
    chain = load_case(world.save(tmp_path / "lake", found).findings(), world.INCIDENT).chain

    assert "The run failed after 30 s; 3 messages were not deleted." in [f.sentence for f in chain]


def test_every_cited_id_is_in_the_appendix(case):
    shown = {line.evidence_id for line in case.evidence}
    told = (*case.moments, *case.chain, *case.settings)

    assert {i for t in told for i in t.evidence_ids} <= shown
    assert {i for m in case.messages for i in m["evidence_ids"]} <= shown


def test_settings_that_fall_short_of_the_advice_are_flagged(case):
    short = {s.name for s in case.settings if s.falls_short}

    assert short == {"batch size", "partial batch responses", "dead-letter queue"}


def test_gaps_name_each_piece_of_evidence_that_would_decide_once(case):
    settings, timeout = "the queue's settings", "the visibility timeout in force"
    wanted = [joined([settings, timeout], "; "), joined([timeout, joined(["a line", settings], "; ")], "; "), timeout]

    told = gaps(case.incident, [], [{"would_decide": one} for one in wanted], [])

    assert [plain(one) for one in told if one.startswith("Would decide")] == [
        "Would decide 3 redeliveries: the visibility timeout in force",
        "Would decide 2 redeliveries: the queue's settings",
        "Would decide 1 redelivery: a line",
    ]


def test_gaps_name_what_could_not_be_read_and_what_stays_open(case):
    assert case.gaps[0] == "metric_points of payments.fifo could not be read: AccessDenied"
    assert any("in progress when the run ended" in gap for gap in case.gaps)


@pytest.mark.parametrize(("most", "count", "is_said"), [(None, None, True), (2, None, False), (None, 2, False)])
def test_gaps_name_receives_that_were_not_counted_where_nothing_bounds_a_message(case, most, count, is_said):
    incident, messages = world.incident(), [m | {"effects_at_most": most} for m in world.messages()]
    told = gaps(incident, [d | {"receive_count": count} for d in world.deliveries()], [], (), messages)

    assert any(gap.startswith("Receive counts are not logged") for gap in told) is is_said


def test_follow_ups_start_with_the_repeats_that_are_certain(case):
    assert case.follow_ups[0].action.startswith("Undo or refund the repeats: 1 message")
    assert any("smaller batch" in f.action for f in case.follow_ups)


def test_the_summary_has_at_most_six_lines_and_the_headline_first(case):
    lines = summary(case).splitlines()

    assert len(lines) <= 6
    assert lines[0] == f"{world.INCIDENT} · 1 to 2 of 3 redelivered messages were processed more than once"
    assert lines[3] == f"Next: {case.opening.next_line}"


def test_an_unknown_incident_is_refused_with_the_nearest_ids(lake):
    with pytest.raises(IncidentUnknownError, match="payments.fifo-20261120T0513Z") as caught:
        load_case(lake.findings(), "payments.fifo-20261120T0513Z")

    assert world.INCIDENT in caught.value.hint


@pytest.mark.lake
def test_an_incident_whose_logs_name_no_message_still_makes_a_case(tmp_path: Path):
    window = world.incident() | {
        "messages": None,
        "messages_at_most": 40,
        "confirmed": None,
        "headline": None,
        "causes": None,
        "cause_sentence": None,
        "excluded": None,
    }
    lake = world.save(tmp_path / "lake", {"incidents": [window]})

    case = load_case(lake.findings(), world.INCIDENT)

    assert "up to 40 messages may have been processed twice" in summary(case)
    assert (case.chain, case.affected) == ((), ())


def test_a_case_cannot_be_changed_after_it_was_loaded(case):
    with pytest.raises(dataclasses.FrozenInstanceError):
        case.data_version = "other"


def test_of_many_messages_a_report_tells_the_first_and_says_what_it_leaves_out(lake):
    case = load_case(lake.findings(), world.INCIDENT, most=1)
    page = render(case, "html").decode()

    assert [m["item_id"] for m in case.messages] == [world.IDS[0]]
    assert {row["item_id"] for rows in (case.deliveries, case.redeliveries, case.timeline) for row in rows} == {
        world.IDS[0]
    }
    assert case.left_out == 2
    assert "This report tells of the first 1 of 3 messages" in page
    assert json.loads(render(case, "json"))["messages_left_out"] == 2


def test_the_csv_lists_every_affected_work_whatever_the_report_leaves_out(lake):
    every, first = (render(load_case(lake.findings(), world.INCIDENT, most=n), "csv") for n in (3, 1))

    assert first == every
    assert every.count(b"\n") == 1 + 2


def test_a_work_s_first_repeat_is_when_it_was_first_received_again(case):
    rows = list(csv.DictReader(io.StringIO(render(case, "csv").decode())))

    assert {row["first_repeat_at"] for row in rows} == {"2026-11-20T05:22:00.500Z"}


def test_the_first_lines_count_every_work_whatever_the_report_leaves_out(lake, case):
    assert load_case(lake.findings(), world.INCIDENT, most=1).opening == case.opening


def test_every_form_of_a_zip_lists_the_first_works_from_one_reading(lake, monkeypatch):
    read = []
    loaded = load_case(lake.findings(), world.INCIDENT, most=1)
    case = dataclasses.replace(loaded, read_works=lambda: read.append(1) or loaded.read_works())

    render(case, "zip")
    assert len(read) == 2  # once for the pages, once for the CSV with every work


@pytest.mark.lake
@pytest.mark.parametrize("mark", [None, "refunded", "false-alarm"])
def test_the_first_lines_of_a_large_incident_count_as_those_that_read_every_work(tmp_path, mark):
    """Works that count alike are told together: verdicts, unknown counts, works of two messages and marks must not get lost."""
    story = Story(data_until_at=START)
    tales.huge(story, 60)
    rows = [row for row in story.findings[MESSAGES.name] if row["incident_id"] == HUGE]
    for n, row in enumerate(rows):
        row["verdict"] = ("confirmed", "possible", "harmless", "probable")[n % 4]
        row["receive_count"] = None if n % 5 == 0 else 2 + n % 3
        row["effects_at_most"] = None if n % 7 == 0 else 2
    rows[0]["work_id"] = rows[4]["work_id"] = "one payment under two ids"
    [incident] = [row for row in story.findings[INCIDENTS.name] if row["incident_id"] == HUGE]
    incident.update(extra_effects_at_least=0, extra_effects_at_most=40)
    root = story.save(tmp_path / "lake")
    if mark:
        for item in (rows[1]["item_id"], rows[4]["item_id"]):
            annotate(Lake(root).findings(), HUGE, item, mark, "seen in the ledger", "Ana", START)
    findings = Lake(root).findings()
    every, first = (load_case(findings, HUGE, most=most) for most in (1000, 1))

    assert first.left_out == 59
    assert first.opening == every.opening
