"""What would have helped, what went wrong beside it, and what redriving does: in the case, in files, on the command line."""

import json
from types import SimpleNamespace

import pytest

import cli
from forensics.counterfactuals import CHANGES
from forensics.lake import Lake
from forensics.people import annotate, people_of
from forensics.queue_rules import QUEUE_RULES
from forensics.report.case import load_case
from forensics.report.fault_case import load_fault
from forensics.report.faults import faults
from forensics.report.prevention import (
    ASIDE_WORDS,
    CHANGE_WORDS,
    FINDING_WORDS,
    REDRIVE_WORDS,
    dead_letters,
    share_text,
    that_count,
)
from forensics.report.render import render
from forensics.report.standing import standing_incidents
from forensics.verdict import REDRIVES
from tests.forensics.report import dead_world, world


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    return dead_world.save(tmp_path_factory.mktemp("dead") / "lake")


@pytest.fixture(scope="module")
def case(lake):
    return load_case(lake.findings(), world.INCIDENT)


def test_every_code_has_its_words():
    assert set(CHANGE_WORDS) == set(CHANGES)
    assert set(FINDING_WORDS) == set(QUEUE_RULES)
    assert set(REDRIVE_WORDS) == set(REDRIVES)


SHARES = {
    "nothing": ((0, 0, 3), "0 of 3"),
    "everything": ((3, 0, 3), "3 of 3"),
    "some, and some open": ((1, 1, 3), "1 to 2 of 3"),
    "all open": ((0, 3, 3), "0 to 3 of 3"),
}


@pytest.mark.parametrize(("counts", "text"), SHARES.values(), ids=SHARES)
def test_a_share_is_an_interval_where_the_evidence_leaves_some_open(counts, text):
    prevented, undecided, repeats = counts
    percent = prevented * 100 // repeats

    row = {"prevented": prevented, "undecided": undecided, "repeats": repeats, "prevented_percent": percent}

    assert share_text(row) == text


COUNTING = {
    "nobody set anything aside": ((13, 0, 13), {"extra_effects_at_most": 13}, "13 of 13"),
    "all that count are prevented": ((13, 0, 13), {"judged": {}, "extra_effects_at_most": 11}, "11 of 11"),
    "none is": ((0, 0, 13), {"judged": {}, "extra_effects_at_most": 11}, "0 of 11"),
    "nothing tells which are": ((10, 1, 13), {"judged": {}, "extra_effects_at_most": 11}, "8 to 11 of 11"),
    "without an upper bound": (
        (13, 0, 13),
        {
            "judged": {},
            "extra_effects_at_most": None,
            "set_aside": (SimpleNamespace(effects_at_least=2, effects_at_most=3),),
        },
        "11 of 11",
    ),
}


@pytest.mark.parametrize(("counts", "incident", "text"), COUNTING.values(), ids=COUNTING)
def test_what_people_set_aside_is_no_repeat_that_a_change_would_have_prevented(counts, incident, text):
    prevented, undecided, repeats = counts
    row = {"prevented": prevented, "undecided": undecided, "repeats": repeats}

    assert [share_text(one) for one in that_count([row], incident)] == [text]


@pytest.mark.slow
def test_next_and_the_fault_count_without_works_that_were_set_aside_and_the_table_says_that_it_does_not(tmp_path):
    lake = dead_world.save(tmp_path / "lake")
    (fault,) = (f for f in _faults(lake) if world.INCIDENT in f.incident_ids)

    assert "would have prevented 1 to 2 of 2" in load_fault(lake.findings(), fault).opening.next_line

    annotate(lake.findings(), world.INCIDENT, world.IDS[0], "charged-once", "looked", "Ana", world.after(9000))
    case = load_case(lake.findings(), world.INCIDENT)
    (fault,) = (f for f in _faults(lake) if world.INCIDENT in f.incident_ids)

    left = case.incident["extra_effects_at_most"]
    assert f"of {left})" in case.opening.next_line
    assert f"of {left})" in load_fault(lake.findings(), fault).opening.next_line
    assert ASIDE_WORDS in render(case, "md").decode()
    assert ASIDE_WORDS in render(case, "html").decode()


def _faults(lake):
    return faults(standing_incidents(lake.findings(), people_of(lake.findings())), None)


def test_the_case_holds_its_changes_best_first_and_what_happened_on_its_queue(case):
    assert [r["change"] for r in case.counterfactuals] == ["batch_size_1", "longer_visibility"]
    assert [r["code"] for r in case.queue_findings] == ["fifo_group_blocked", "dead_lettered", "dead_lettered"]


def test_what_is_told_is_in_the_appendix(case):
    shown = {line.evidence_id for line in case.evidence}

    assert {i for r in (*case.counterfactuals, *case.queue_findings) for i in r["evidence_ids"]} <= shown


@pytest.mark.parametrize("format", ["html", "md"])
def test_a_report_says_share_stop_and_redrive(case, format):
    text = render(case, format).decode()

    assert "1 to 2 of 2" in text
    assert "message group blocked" in text
    assert "9 min 30.2 s" in text
    assert text.index("does the work again") < text.index("may do it again")


def test_json_has_the_rows_with_plain_values(case):
    report = json.loads(render(case, "json"))

    assert report["counterfactuals"][0]["prevented_percent"] == 50
    assert report["queue_findings"][0]["from_at"].endswith("Z")


def test_dead_letters_are_worst_first_and_those_received_once_are_among_them(lake):
    records = dead_letters(lake.findings())

    assert [(r["message_id"], r["redrive"]) for r in records] == [
        (world.IDS[0], "repeats"),
        (world.IDS[1], "may_repeat"),
        (dead_world.SINGLE, "safe"),
    ]
    assert [r["verdict"] for r in records] == ["confirmed", "probable", None]
    assert all(r["dead_lettered"] for r in records)
    assert [r["move_stance"] for r in records] == ["supported", "supported", "undecidable"]


def printed(capsys, lake, *command: str) -> list[dict]:
    capsys.readouterr()
    assert cli.main([*command, "--lake", str(lake.root), "--format", "jsonl"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


NARROWED = {
    "all": ((), 3),
    "of an incident": (("--incident", world.INCIDENT), 2),
    "of a queue": (("--queue", world.QUEUE), 3),
    "of a verdict": (("--verdict", "confirmed"), 1),
}


@pytest.mark.parametrize(("options", "count"), NARROWED.values(), ids=NARROWED)
def test_dead_lettered_messages_are_listed_and_narrowed(capsys, lake, options, count):
    assert len(printed(capsys, lake, "messages", "--dead-lettered", *options)) == count


def test_the_table_of_dead_letters_says_what_redriving_does(capsys, lake):
    assert cli.main(["messages", "--dead-lettered", "--lake", str(lake.root)]) == 0

    assert "does the work again" in capsys.readouterr().out


def test_incidents_carry_their_changes_in_json(capsys, lake):
    [incident] = printed(capsys, lake, "incidents")

    assert [c["change"] for c in incident["counterfactuals"]] == ["batch_size_1", "longer_visibility"]


CHOSEN = {
    "all": ((), 5),
    "of one kind": (("--code", "dead_lettered"), 3),
    "of one queue": (("--queue", dead_world.ELSEWHERE), 1),
    "none": (("--code", "poison_without_dlq"), 0),
}


@pytest.mark.parametrize(("options", "count"), CHOSEN.values(), ids=CHOSEN)
def test_findings_are_listed_by_queue_and_code(capsys, lake, options, count):
    rows = printed(capsys, lake, "findings", *options)

    assert len(rows) == count
    assert all(row["sentence"] and row["evidence_ids"] for row in rows)


def test_an_unknown_code_is_refused_with_the_known_ones(capsys, lake):
    assert cli.main(["findings", "--code", "dead", "--lake", str(lake.root)]) == 2

    assert "dead_lettered" in capsys.readouterr().err
