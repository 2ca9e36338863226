"""The appendix's long stretches of rows fold up; what a finding links to does not."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from forensics.report.evidence_lines import EvidenceLine
from forensics.report.folded import LEAST_FOLDED, MOST_FOLDED, parts
from forensics.report.options import ReportOptions
from forensics.report.render import render

AT = datetime(2026, 11, 20, 5, 0, tzinfo=UTC)
LINK = re.compile(r'href="#(E\d+)"')


def rows(count, at=lambda n: AT + timedelta(minutes=n)):
    return [EvidenceLine(f"E{n}", f"id-{n}", "log_events", at(n), "stream", "line") for n in range(1, count + 1)]


STRETCHES = {
    "a short stretch stays open": (LEAST_FOLDED - 1, set(), [(LEAST_FOLDED - 1, False)]),
    "a long one folds": (LEAST_FOLDED, set(), [(LEAST_FOLDED, True)]),
    "what is linked to stays open between": (30, {"E15"}, [(14, True), (1, False), (15, True)]),
    "a very long one folds in parts of one size": (3 * MOST_FOLDED, set(), [(MOST_FOLDED, True)] * 3),
    "all linked": (30, {f"E{n}" for n in range(31)}, [(30, False)]),
}


@pytest.mark.parametrize(("count", "linked", "expected"), STRETCHES.values(), ids=STRETCHES)
def test_long_stretches_without_a_link_fold(count, linked, expected):
    found = list(parts(rows(count), linked))

    assert [(len(part.lines), part.summary is not None) for part in found] == expected
    assert [line for part in found for line in part.lines] == rows(count), "every row, once, in order"


def test_rows_of_one_run_are_opened_together():
    runs = rows(90, lambda n: AT + timedelta(hours=n // 6, seconds=n % 6))
    first, second = parts(runs, set())

    assert second.lines[0].at.second == 0, "a run begins with it"
    assert abs(len(first.lines) - 45) < 6


def test_rows_without_a_time_fold_too():
    (part,) = parts(rows(20, lambda n: None), set())

    assert part.summary == "E1 to E20: 20 rows"


def with_rows(case, count=200):
    """Return a case with many more rows, as a message has that came back for days."""
    last = len(case.evidence)
    more = [replace(line, label=f"E{last + n}") for n, line in enumerate(rows(count), 1)]
    return replace(case, evidence=(*case.evidence, *more))


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_long_report_keeps_every_row_and_opens_what_its_findings_link_to(case, language):
    long_case = with_rows(case)
    page = render(long_case, "html", ReportOptions(language=language)).decode()
    folded = "".join(re.findall(r'<details class="rows">.*?</details>', page, re.DOTALL))
    told = page.partition('<section id="appendix">')[0]

    assert folded.count("<summary>") == 4
    assert all(f'id="{line.label}"' in page for line in long_case.evidence)
    assert not [label for label in LINK.findall(told) if f'id="{label}"' in folded]


def test_a_short_report_folds_no_row(case):
    assert 'class="rows"' not in render(case, "html").decode()
