"""English an SRE would write: words that readers stumbled over stand nowhere, and the glossary defines those in use."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from forensics.health import NEEDS
from forensics.terms import CERTAINTY_WORDS
from forensics.verdict.interval import VERDICTS
from tests.forensics.test_language import said as phrases_said
from tests.parsed import nodes_of

ROOT = Path(__file__).parent.parent
SPOKEN = ("forensics", "pages", "cli", "ingest", "spark_jobs")
BETTER = {
    r"c[ao]mes? again": "redelivered",
    r"hand(?:s|ed|ing)? out": "delivered, redelivered",
    r"offer(?:s|ed)? it again": "made visible again",
    r"g[eo]t through": "blocked",
    r"st(?:ood|ands) still": "blocked",
    r"(?:run|runs|batch) (?:was|were|is|are) cut off": "timed out, failed, interrupted",
    r"being handled when": "in progress",
    r"if not said": "[default: ...]",
    r"gives? (?:it|them|this message|the whole batch) back": "returns",
    r"(?<!--)anew": "again, recompute",
    r"for ever": "permanent, indefinitely",
    r"does not help": "does not prevent",
}
"""What is not written, and what is instead."""
_OLD = re.compile("|".join(rf"(?<![\w-]){old}\b" for old in BETTER))


@cache
def spoken_in(path: Path) -> list[str]:
    """Return the texts of a source but for its docstrings, which are for its authors."""
    nodes = nodes_of(path)
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef)
    notes = {
        id(line.value)
        for owner in nodes
        if isinstance(owner, owners)
        for line in owner.body
        if isinstance(line, ast.Expr)
    }
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in notes]


@pytest.mark.parametrize("part", SPOKEN)
def test_no_text_of_a_part_uses_words_that_readers_stumbled_over(part):
    found = {
        f"{path.relative_to(ROOT)}: {text[:90]!r}"
        for path in (ROOT / part).rglob("*.py")
        for text in spoken_in(path)
        if _OLD.search(" ".join(text.split()))
    }

    assert found == set()


@pytest.mark.parametrize(
    "path",
    [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "forensics/report").rglob("*.j2"))],
    ids=lambda path: path.name,
)
def test_no_page_of_the_documentation_does_either(path):
    found = [line for line in path.read_text(encoding="utf-8").splitlines() if _OLD.search(line)]

    assert found == []


def test_the_terms_of_the_screens_are_in_the_glossary():
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").lower()
    terms = {*VERDICTS, *CERTAINTY_WORDS, *NEEDS, *TERMS}

    assert {term for term in terms if term not in glossary} == set()


TERMS = (
    "redelivery",
    "visible again",
    "in progress",
    "not started",
    "finished",
    "timed out",
    "blocked",
    "interrupted run",
    "guard logged",
    "provisional",
    "recurring",
    "times done",
    "severity",
    "status",
    "in flight",
    "dead-lettered",
    "fault",
    "data version",
    "batch",
)
"""Words that stand on screens and in sentences, and mean one thing."""


def test_each_of_these_terms_is_said_somewhere():
    said = " ".join(phrases_said()).lower() + " ".join(
        text.lower()
        for part in ("forensics", "pages")
        for path in (ROOT / part).rglob("*.py")
        for text in spoken_in(path)
    )

    assert {term for term in TERMS if term not in said and term not in ("guard logged", "interrupted run")} == set()
