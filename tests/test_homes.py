"""One home per concept: what is written in one place is not written again beside it."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from cli.findings import QueueFinding
from cli.report import ReportFormat
from forensics import run_ends
from forensics.origins import ORIGIN_RULES
from forensics.queue_rules import QUEUE_RULES
from forensics.report.formats import ENDINGS, FORMATS
from forensics.report.prevention import FINDING_WORDS
from forensics.rules import RULES
from forensics.terms import CAUSE_NAMES, CAUSE_WORDS, VERDICT_WORDS
from forensics.verdict.interval import AFFECTED, VERDICTS
from pages._ui import words
from pages._ui.report_forms import FORMS
from tests.parsed import nodes_of

ROOT = Path(__file__).parent.parent
PARTS = ("forensics", "ingest", "spark_jobs", "pages", "cli")


def sources() -> Iterator[Path]:
    for part in PARTS:
        yield from (ROOT / part).rglob("*.py")


@cache
def literals(path: Path) -> list[tuple[int, frozenset[str]]]:
    """Return every set of words that a file writes as a tuple, list or set, and its line."""
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            said = [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
            if len(said) == len(node.elts) > 1:
                found.append((node.lineno, frozenset(said)))
    return found


HOMES = {
    "verdicts": (frozenset(VERDICTS), "forensics/verdict/interval.py"),
    "verdicts of messages that may be hit": (frozenset(AFFECTED), "forensics/verdict/interval.py"),
    "failed statuses": (frozenset(run_ends.FAILED), "forensics/run_ends.py"),
    "statuses of interrupted runs": (frozenset(run_ends.CUT_OFF), "forensics/run_ends.py"),
    "statuses of runs without an answer": (frozenset(run_ends.UNANSWERED), "forensics/run_ends.py"),
    "report formats": (frozenset(FORMATS), "forensics/report/formats.py"),
    "codes of findings": (frozenset(QUEUE_RULES), "forensics/queue_rules/__init__.py"),
}
ELSEWHERE = {
    "forensics/charts/timeline.py": "marks of the timeline, not ends of runs",
}


@pytest.mark.parametrize(("members", "home"), HOMES.values(), ids=HOMES)
def test_a_list_of_words_is_written_once(members, home):
    found = {
        f"{f.relative_to(ROOT)}:{line}"
        for f in sources()
        for line, said in literals(f)
        if said == members and str(f.relative_to(ROOT)) not in (home, *ELSEWHERE)
    }

    assert found == set()


PATTERNS = {
    "the epoch": (r"datetime\(1970", "forensics/clock.py"),
    "milliseconds as seconds in words": (r"/ 1000:\.\d?f?[^}]*\} s", "forensics/words.py"),
    "a count with its noun": (r"""if \w+ == 1 else many or""", "forensics/sentence.py"),
    "compiling a group that gives nothing back": (r"""re\.compile\(.*[^\\]\)[*+?]\+""", "forensics/possessive.py"),
    "the state of an incident": (r"\"nothing left to stop\"", "forensics/report/activity.py"),
    "when an incident is quiet": (r"\bQUIET_AFTER\b", "forensics/report/activity.py"),
    "the item id of a key": (r"""(?m)=\s*f?"key:|\[.*f"key:""", "forensics/identity.py"),
    "the name in a queue's ARN": (r"(?:\barn|queue\w*|source)\.rpartition\(\":\"\)", "forensics/identity.py"),
    "merging spans": (r"<= \w+\[-1\]\[1\]", "forensics/spans.py"),
}


@pytest.mark.parametrize(("pattern", "home"), PATTERNS.values(), ids=PATTERNS)
def test_a_way_of_writing_is_written_once(pattern, home):
    found = {str(f.relative_to(ROOT)) for f in sources() if re.search(pattern, f.read_text(encoding="utf-8"))}

    assert found <= {home}


def test_a_name_stands_for_one_text_wherever_deliveries_are_made_and_judged():
    """What one module calls by a name another reads by it: a prefix, a detail and a kind of id were all BY_KEY."""
    texts: dict[str, set[str]] = {}
    for path in (ROOT / "forensics" / "identity.py", *sources()):
        if path.relative_to(ROOT).parts[:2] in {("forensics", p) for p in ("identity.py", "streams", "judging")}:
            for node in (n for n in nodes_of(path) if isinstance(n, ast.Assign)):
                for name, value in _named_texts(node):
                    texts.setdefault(name, set()).add(value)

    assert {name: told for name, told in texts.items() if len(told) > 1} == {}
    assert {"KEY_ITEM", "KEYED", "ABOUT_KEY"} <= texts.keys()


def _named_texts(node: ast.Assign) -> Iterator[tuple[str, str]]:
    for target in node.targets:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = [*zip(target.elts, node.value.elts, strict=True)]
        for name, value in pairs:
            text = value.value if isinstance(value, ast.Constant) else None
            if isinstance(name, ast.Name) and name.id.isupper() and isinstance(text, str):
                yield name.id, text


def test_no_test_reads_how_long_the_processor_worked():
    clocks = re.compile(r"\b(process_time|thread_time|perf_counter)(_ns)?\b")
    reading = {str(p.relative_to(ROOT)) for p in (ROOT / "tests").rglob("test_*.py") if clocks.search(p.read_text())}

    assert reading - {"tests/test_homes.py"} == set()


def test_every_list_of_causes_knows_every_cause():
    causes = {*RULES, *ORIGIN_RULES, "undecidable"}

    assert set(CAUSE_WORDS) == causes
    assert set(CAUSE_NAMES) == causes


def test_every_list_of_findings_knows_every_finding_in_one_order():
    assert tuple(FINDING_WORDS) == tuple(QUEUE_RULES) == tuple(map(str, QueueFinding))


def test_every_list_of_verdicts_knows_every_verdict_worst_first():
    assert tuple(VERDICT_WORDS) == tuple(words.VERDICTS) == VERDICTS
    assert VERDICTS[: len(AFFECTED)] == AFFECTED


def test_every_list_of_report_formats_knows_every_format():
    assert set(FORMS) == set(ENDINGS) == set(map(str, ReportFormat))


def test_the_words_of_codes_stand_in_one_file():
    """A second table of words for the same codes would say them otherwise; sentences with places are another thing."""
    codes = {*VERDICT_WORDS, *CAUSE_WORDS} - {"throttled", "dead_lettered"}
    tables = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for part in ("pages", "cli", "forensics/verdict", "forensics/report")
        for path in (ROOT / part).rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Dict)
        and len(codes & {key.value for key in node.keys if isinstance(key, ast.Constant)}) > 3
        and all(isinstance(value, ast.Constant) and "{" not in str(value.value) for value in node.values)
        and any(" " in value.value for value in node.values)
    }

    assert tables == set()
