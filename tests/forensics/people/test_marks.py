from concurrent.futures import ThreadPoolExecutor

import pytest

from forensics.errors import ForensicsError, LakeBusyError
from forensics.lake import data_files
from forensics.people import saying
from forensics.people.marks import annotate, annotations, marks_text, standing
from forensics.report.case import load_case
from forensics.report.render import render
from forensics.tables.people import ANNOTATIONS
from tests.forensics.report import world

pytestmark = pytest.mark.slow


@pytest.fixture
def lake(tmp_path):
    return world.save(tmp_path / "lake")


def put(lake, mark="refunded", message=None, reason="paid back", author="Ana", after_s=9000.0):
    return annotate(lake.findings(), world.INCIDENT, message, mark, reason, author, world.after(after_s))


def test_a_mark_stands_beside_the_verdict_and_changes_no_finding(lake):
    before = lake.findings().generation
    put(lake, message="pay-1001")
    case = load_case(lake.findings(), world.INCIDENT)

    assert lake.findings().generation == before
    assert [m["verdict"] for m in case.messages] == ["confirmed", "probable", "harmless"]
    assert marks_text(case.marks.of([world.IDS[0]])) == "refunded (Ana)"


def test_a_mark_put_before_anything_told_the_queue_s_arn_still_stands(tmp_path):
    lake = world.save(tmp_path / "lake", world.by_name_alone())
    put(lake, message="pay-1001")
    world.publish(lake, world.findings(), "run-2")

    assert marks_text(load_case(lake.findings(), world.INCIDENT).marks.of([world.IDS[0]])) == "refunded (Ana)"


def test_nothing_that_was_said_is_ever_changed(lake):
    put(lake, "accepted")
    put(lake, "withdrawn", reason="wrong queue", author="Ben", after_s=9001)

    assert [a.mark for a in annotations(lake)] == ["accepted", "withdrawn"]
    assert standing(annotations(lake)) == ()


def test_marks_after_a_withdrawal_stand_again(lake):
    for n, (mark, author) in enumerate(
        [("accepted", "Ana"), ("withdrawn", "Ben"), ("false-alarm", "Ben"), ("false-alarm", "Ben")]
    ):
        put(lake, mark, author=author, after_s=9000 + n)
    (mark,) = standing(annotations(lake))

    assert (mark.words, mark.marked_at) == ("false alarm", world.after(9003))


def test_the_same_mark_said_twice_at_once_is_one_row(lake):
    put(lake)
    put(lake)

    assert lake.count(ANNOTATIONS) == 1


def test_what_is_said_last_counts_although_the_clock_was_set_back(lake):
    put(lake, "false-alarm", after_s=9000)
    put(lake, "withdrawn", after_s=-400_000)

    assert [a.mark for a in annotations(lake)] == ["false-alarm", "withdrawn"]
    assert standing(annotations(lake)) == ()
    put(lake, "refunded", after_s=-300_000)
    assert [a.mark for a in standing(annotations(lake))] == ["refunded"]


def test_marks_that_several_people_put_at_once_are_all_kept(lake):
    findings = lake.findings()
    put(lake, "comment", author="Zoe")

    def say(number: int) -> None:
        annotate(findings, world.INCIDENT, None, "comment", "seen", f"Person {number}", world.after(9000))

    with ThreadPoolExecutor(6) as people:
        list(people.map(say, range(6)))

    assert {a.author for a in annotations(lake)} == {"Zoe", *(f"Person {n}" for n in range(6))}


def test_somebody_who_writes_for_long_is_named(lake, monkeypatch):
    monkeypatch.setattr(saying, "LONGEST_PAUSE_S", 0.001)
    monkeypatch.setattr(data_files, "name", busy)
    with pytest.raises(LakeBusyError):
        put(lake)


def busy(*args, **kwargs):
    raise LakeBusyError("another process is writing", "Wait for it.")


WRONG = {
    "an unknown mark": ({"mark": "solved"}, "'solved' is no mark"),
    "no reason": ({"reason": "  "}, "needs a reason"),
    "a novel": ({"reason": "x" * 501}, "501 characters"),
    "no name": ({"author": ""}, "needs the name"),
    "a message of another incident": ({"message": "nobody"}, "'nobody' names no message"),
}


@pytest.mark.parametrize(("given", "sentence"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_meant_is_refused_and_nothing_kept(lake, given, sentence):
    with pytest.raises(ForensicsError, match=sentence):
        put(lake, **given)

    assert lake.count(ANNOTATIONS) == 0


def test_a_key_of_several_messages_must_be_an_id(tmp_path):
    found = world.findings()
    found["messages"] = [m | {"business_keys": ["pay-1"]} for m in found["messages"]]
    lake = world.save(tmp_path / "lake", found)

    with pytest.raises(ForensicsError, match="names 3 messages"):
        put(lake, message="pay-1")


def test_marks_are_in_the_reports(lake):
    put(lake, message="pay-1001", reason="refund 77")
    put(lake, "accepted", reason="known <risk>", author="Ben")
    case = load_case(lake.findings(), world.INCIDENT)
    table = render(case, "csv").decode().splitlines()

    assert "refunded (Ana)" in table[1] and "accepted (Ben)" in table[1]
    assert "refunded" not in table[2]
    assert '"reason": "refund 77"' in render(case, "json").decode()
    assert "refund 77" in render(case, "html").decode()
    assert "known &lt;risk&gt;" in render(case, "html").decode()
    assert "refund 77" in render(case, "md").decode()


def test_a_mark_is_no_new_evidence_for_a_correlation(lake):
    before = lake.versions()
    put(lake)

    assert lake.versions() == before
