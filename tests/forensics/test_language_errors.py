"""No error is forgotten: what a person can cause or meet, and what to do then, is said in every language."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from forensics.choices import LANGUAGES
from forensics.errors import ForensicsError
from forensics.language import Language, phrases
from forensics.sentence import said as filled
from forensics.tables import BY_NAME
from ingest.coverage import Reading
from tests.parsed import nodes_of

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("cli", "forensics", "ingest", "lab", "pages", "spark_jobs")
NOT_FOR_PEOPLE = ("lab/live/workers.py", "lab/live/world.py")
"""What only the tests of the laboratory meet."""
OTHERS = [code for code in LANGUAGES if code != "en"]
SAMPLES = {
    "place": " of queue 'mail'",
    "ways": "with a key",
    "what": "reason",
    "meant": "Did you mean mail? ",
    "count_text(len(keys), 'key')": "7 keys",
    "count_text(len(row), 'column')": "7 columns",
    "count_text(len(named), 'message')": "7 messages",
}
"""What stands in a sentence where a number would make no sense of it."""
AS_TYPED = re.compile(
    r"`[^`]*`|\(?--[\w-]+(?: [\w.$\"=-]+)*|(?:doubletake|python|chmod) .*|make (?:setup|demo)|\(\?P<.*?>"
)


@cache
def sources() -> dict[Path, tuple[ast.AST, ...]]:
    """Return the nodes of every file, by its path."""
    files = [path for place in PLACES for path in (ROOT / place).rglob("*.py")]
    return {path: nodes_of(path) for path in files}


def name_of(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def errors() -> set[str]:
    """Return the names of all our errors' classes."""
    classes = [node for nodes in sources().values() for node in nodes if isinstance(node, ast.ClassDef)]
    known = {"ForensicsError"}
    while more := {c.name for c in classes if known & set(map(name_of, c.bases))} - known:
        known |= more
    return known


def texts(node: ast.AST, named: dict[str, list[ast.AST]]) -> Iterator[str]:
    """Yield what an argument may say, with samples in its places; a name says what its file gives it."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else SAMPLES.get(ast.unparse(part.value), "7")
                for part in parts
            )
        case ast.Call(func=ast.Name(id="said"), args=[ast.Constant(value=str(phrase))], keywords=given):
            samples = dict.fromkeys(re.findall(r"{(\w+)}", phrase), "7")
            yield filled(phrase, **samples | {v.arg: SAMPLES.get(ast.unparse(v.value), "7") for v in given if v.arg})
        case ast.IfExp():
            yield from (*texts(node.body, named), *texts(node.orelse, named))
        case ast.BinOp(op=ast.Add()):
            yield from (a + b for a in texts(node.left, named) for b in texts(node.right, named))
        case ast.Name(id=name):
            for value in named.get(name, ()):
                yield from texts(value, {})


def said_by(nodes: tuple[ast.AST, ...], kinds: set[str]) -> Iterator[tuple[str, ...]]:
    """Yield each text of an error, or of a refused setting; with the forms in which it may stand, of which one is known."""
    named: dict[str, list[ast.AST]] = defaultdict(list)
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named[node.targets[0].id].append(node.value)
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        if name_of(call.func) in kinds:
            yield from ((text,) for arg in call.args for text in texts(arg, named))
        elif name_of(call.func) == "refuse":
            sentence, hint = call.args[:2]
            yield from ((text, f"effect = '7' {text}") for text in texts(sentence, {}))
            yield from ((text,) for text in texts(hint, named))


def is_said(language: Language, text: str) -> bool:
    said = language.sentence(text)
    return said != text and not re.search("[a-z]{3,} [a-z]{2,}", AS_TYPED.sub("", said))


@cache
def said() -> dict[tuple[str, ...], str]:
    """Where every text of an error stands."""
    kinds = errors() | {"complain"}
    return {
        forms: str(path.relative_to(ROOT))
        for path, nodes in sources().items()
        if str(path.relative_to(ROOT)) not in NOT_FOR_PEOPLE
        for forms in said_by(nodes, kinds)
        if re.search("[a-z]{2} [a-z(]|[a-z] [A-Z]|[A-Z][a-z]+:", forms[0])
    }


@pytest.mark.parametrize("code", OTHERS)
def test_every_error_is_said_with_what_to_do_then(code):
    language = Language(code)
    lacking = {forms[0]: path for forms, path in said().items() if not any(is_said(language, text) for text in forms)}

    assert len(said()) > 400
    assert lacking == {}


def prose(node: ast.AST) -> Iterator[str]:
    """Yield finished English in an argument: text put together with values that no language can part again."""
    match node:
        case ast.JoinedStr(values=parts):
            english = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
            if re.search(r"[a-z]{2,} [a-z{(]|[}'] [a-z]{2,}", english):
                yield english
        case ast.IfExp():
            yield from (*prose(node.body), *prose(node.orelse))
        case ast.BinOp():
            yield from (*prose(node.left), *prose(node.right))


GATHERED = {"gaps", "notes", "bad", "Repair", "FileEvent", "Told", "quarantine_row", "Reading", "step", "stage"}
"""Where else words are kept that somebody is told later."""


def test_no_error_and_no_gap_is_a_finished_sentence():
    """Its values would be lost among its words: only another language's patterns could find them again."""
    kinds = errors() | {"complain", "refuse"} | GATHERED
    found = {
        f"{path.relative_to(ROOT)}:{call.lineno}": text
        for path, nodes in sources().items()
        if str(path.relative_to(ROOT)) not in NOT_FOR_PEOPLE
        for call in nodes
        if isinstance(call, ast.Call) and {name_of(call.func), name_of(getattr(call.func, "value", call))} & kinds
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        for text in prose(argument)
    }

    assert found == {}


def test_no_text_is_known_by_its_form():
    phrase, form = "{file} is no file", filled("{file} is no file", file="a.csv")

    assert phrase in phrases("ja")
    assert Language("ja").sentence(form) != str(form)
    assert Language("ja").sentence(str(form)) == str(form)


def test_a_name_that_reads_like_our_words_stays_as_it_is_in_an_error():
    """By its form alone the sentence would part at the first words that fit."""
    where = filled("row {number} of {file}", number="3", file="'it has no name.csv'")
    problem = ForensicsError(filled("{where} has no {column}", where=where, column="key"))

    assert str(problem) == "row 3 of 'it has no name.csv' has no key"
    assert Language("ja").sentence(problem.sentence) == "'it has no name.csv' の 3 行目に key がありません"
    assert Language("ja").sentence(str(problem)) != Language("ja").sentence(problem.sentence)


GAPS = {
    "log_events": "ロググループ '7'：AWS が読み取りを拒否しました（AccessDenied: x）",
    "metric_points": "'7' のメトリクス：AWS が読み取りを拒否しました（AccessDenied: x）",
    "setting_changes": "eu-west-1 の '7' にある設定変更：AWS が読み取りを拒否しました（AccessDenied: x）",
}


@pytest.mark.parametrize(("source", "words"), GAPS.items(), ids=GAPS)
def test_what_could_not_be_read_is_said(source, words):
    reading = Reading(BY_NAME[source], "7", "1", "eu-west-1", (), "denied", "AccessDenied: x")

    assert Language("ja").sentence(reading.gap) == words


@pytest.mark.parametrize("status", ["denied", "failed", "gone", "unsupported", "partial"])
@pytest.mark.parametrize("source", ["queue_settings", "send_records", "move_tasks", "task_stops", "guard_records"])
def test_no_gap_has_english_words(source, status):
    gap = Reading(BY_NAME[source], "7", "1", "eu-west-1", (), status).gap

    assert not re.search("[a-z]{3}", Language("ja").sentence(gap))
