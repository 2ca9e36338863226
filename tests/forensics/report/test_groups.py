import pandas as pd
import pytest

from forensics.charts.groups import with_groups
from forensics.report.case import load_case
from forensics.report.groups import blocked_spans
from forensics.sentence import plain
from tests.forensics.report import world


def test_a_case_tells_when_its_group_stood_still_as_the_finding_of_the_queue_does(case):
    (span,) = case.blocked

    assert (span.group_id, span.start_at, span.end_at) == ("acct-1", world.after(30.05), world.after(600.3))
    assert (span.blocked_ms, span.messages) == (570_250, 3)
    assert span.evidence_ids == tuple(world.blocked_group()["evidence_ids"])


@pytest.mark.lake
def test_a_ledger_without_the_finding_blocks_nothing(tmp_path):
    lake = world.save(tmp_path / "lake", world.findings() | {"queue_findings": []})

    assert load_case(lake.findings(), world.INCIDENT).blocked == ()


NO_SPANS = {
    "another finding": {"code": "dead_lettered"},
    "one that the evidence leaves open": {"stance": "undecidable"},
    "one without an end": {"until_at": None, "span_ms": None},
}


@pytest.mark.parametrize("changed", NO_SPANS.values(), ids=NO_SPANS)
def test_what_no_finding_bounds_is_left_out(changed):
    assert blocked_spans([world.blocked_group() | changed]) == ()


def test_spans_come_by_group_and_time():
    later = world.blocked_group() | {"from_at": world.after(700), "until_at": world.after(800)}
    other = world.blocked_group() | {"group_id": "acct-0"}
    spans = blocked_spans([later, world.blocked_group(), other])

    assert [(s.group_id, s.start_at) for s in spans] == [
        ("acct-0", world.after(30.05)),
        ("acct-1", world.after(30.05)),
        ("acct-1", world.after(700)),
    ]


WAITING = {
    "unknown": (None, "messages waiting unknown"),
    "one": (1, "1 message waiting"),
    "some": (3, "3 messages waiting"),
}


@pytest.mark.parametrize(("count", "words"), WAITING.values(), ids=WAITING)
def test_how_many_waited_is_said_and_unknown_is_not_zero(case, count, words):
    rows, _ = with_groups(pd.DataFrame(case.timeline), blocked_spans([world.blocked_group(count)]))

    (label,) = rows[rows["kind"] == "blocked"]["label"]
    assert plain(label) == f"group acct-1: blocked, {words}"
