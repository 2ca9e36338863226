"""Jobs of a framework that names no message: which lines are whose, and how their work is told by its key alone."""

import pytest

from forensics.parsers.marks import mark
from forensics.suggestions.jobs import jobs_of
from forensics.suggestions.model import Line, RunLines
from tests.forensics.suggestions.test_nameless import WORKER, lake_of, proposed

pytestmark = pytest.mark.lake

JOB = r"  2026-11-20 05:00:00 App\Jobs\ChargeCard ........................................ "
SAYS = {"begin": "RUNNING", "done": "312.40ms DONE", "fail": "312.40ms FAIL"}


def told(said):
    """Return a stream in which each word is a line: of the framework's, or the handler's own."""
    lines = [Line(n, JOB + SAYS[word] if word in SAYS else word) for n, word in enumerate(said.split())]
    return RunLines("s", WORKER, "success", 0, 0, lines=lines)


JOBS = {
    "one after the other": ("begin a b done begin c fail", [(0, 3, "success", "ab"), (4, 6, "error", "c")]),
    "lines between jobs are nobody's": ("a begin b done c", [(1, 3, "success", "b")]),
    "an end without a begin": ("a done begin b done", [(2, 4, "success", "b")]),
    "a begin without an end at the end": ("begin a done begin b", [(0, 2, "success", "a")]),
    "one beside the other": ("begin a begin b done done", []),
    "one killed among ten": (
        "begin x " + "begin a done " * 19,
        [(5 + 3 * n, 7 + 3 * n, "success", "a") for n in range(18)],
    ),
    "one killed among nine": ("begin x " + "begin a done " * 18, []),
}


@pytest.mark.parametrize(("said", "expected"), JOBS.values(), ids=JOBS)
def test_a_job_has_the_lines_between_its_begin_and_its_end(said, expected):
    found = jobs_of(told(said))

    assert [
        (job.started_at, job.ended_at, job.status, "".join(line.text for line in job.lines)) for job in found
    ] == expected


def charged(again=()):
    for place, number in enumerate([*range(30), *again]):
        at = 20.0 * place
        yield at, "worker-1", JOB + "RUNNING"
        yield at + 2, "worker-1", f"[2026-11-20 05:00:00] production.INFO: charged payment_id=pay-{number}"
        yield at + 2.1, "worker-1", JOB + "312.40ms DONE"


def test_a_worker_whose_jobs_tell_a_key_alone_gets_the_line_proposed_as_its_effect(tmp_path):
    found = proposed(lake_of(tmp_path, WORKER, [*charged(again=(3,))]))

    (effect,) = found.proposals

    assert (effect.section, effect.kind) == ("worker", "effect")
    assert mark("[2026-11-21 05:00:00] production.INFO: charged payment_id=pay-77", effect.value).key == "pay-77"
    assert any("behind payment_id is another in each run" in why for why in found.cannot_tell)


def test_a_key_that_comes_again_in_many_jobs_names_no_work(tmp_path):
    assert proposed(lake_of(tmp_path, WORKER, [*charged(again=range(6))])).proposals == ()
