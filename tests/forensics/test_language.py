"""No word for people is forgotten: what code says has a phrase in every language."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from forensics.choices import LANGUAGES
from forensics.language import Language, phrases
from forensics.sentence import said as said_there
from ingest.aws_errors import AwsRefusedError
from ingest.reply_shape import in_words
from tests.parsed import nodes_of

ROOT = Path(__file__).resolve().parents[2]
SPEAKING = (
    *("app.py", "pages", "cli", "forensics/charts", "forensics/report"),
    *("forensics/rules", "forensics/origins", "forensics/queue_rules", "forensics/verdict"),
    *(
        "forensics/incidents",
        "forensics/judging",
        "forensics/checks",
        "forensics/readiness.py",
        "forensics/quarantine.py",
        "forensics/health",
    ),
    *(
        "forensics/what_if",
        "forensics/balance",
        "forensics/sequence",
        "forensics/waiting",
        "forensics/redrive",
        "forensics/books",
        "forensics/suggestions",
    ),
)
SAYS = {"say", "said", "phrase", "busy", "answer", "warn"}
COUNTS = {"count", "count_text"}
OTHERS = [code for code in LANGUAGES if code != "en"]


def files() -> Iterator[Path]:
    for place in SPEAKING:
        path = ROOT / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def literals(node: ast.AST) -> Iterator[str]:
    """Yield the texts that an argument may be: itself, or either side of a choice."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*literals(node.body), *literals(node.orelse))


def said_by(nodes: Iterable[ast.AST], is_spoken: bool) -> Iterator[str]:
    """Yield every phrase that a source's nodes say by name; a count is one where ``is_spoken``, elsewhere it is a finding's English."""
    for call in (n for n in nodes if isinstance(n, ast.Call) and n.args):
        if name_of(call) in SAYS:
            yield from literals(call.args[0])
        elif name_of(call) in COUNTS and is_spoken and len(call.args) > 1:
            one, *many = [list(literals(arg)) for arg in call.args[1:]]
            for noun in many[0] if many else [f"{word}s" for word in one]:
                yield f"{{count}} {noun}"


def is_english(text: str) -> bool:
    return bool(re.search(r"[A-Za-z]{2,}", re.sub(r"{\w+}", "", text)))


@cache
def said() -> dict[str, Path]:
    """Where every phrase is said."""
    return {
        phrase: path.relative_to(ROOT)
        for path in files()
        for phrase in said_by(nodes_of(path), "forensics" not in path.parts)
        if is_english(phrase)
    }


@pytest.mark.parametrize("code", OTHERS)
def test_every_phrase_that_code_says_is_there(code):
    lacking = {phrase: str(path) for phrase, path in said().items() if phrase not in phrases(code)}

    assert len(said()) > 400
    assert lacking == {}


WHY_UNREAD = {
    "from files: what else was logged there is not known": "ファイルから：ほかに何がログに残っていたかは分かりません",
    said_there("the table is larger: its first {n} records were read", n=1_000): (
        "テーブルはもっと大きく、最初の 1,000 件を読み取りました"
    ),
    said_there("{n} rows stored, {m} left", n=1_200, m=3): "保存した 1,200 行のうち 3 行が残っています",
    said_there("there are more calls than {n} pages hold; what was set before is not known", n=20): (
        "呼び出しが 20 ページに収まりません。それ以前の設定は分かりません"
    ),
    in_words(["TableArn is not text but a number"] * 5): (
        "AWS の応答がモデルと異なります：TableArn is not text but a number、ほか 4 件"
    ),
    "GetMetricData: Throttles: no answer": "GetMetricData: Throttles: 応答なし",
    AwsRefusedError(
        "FilterLogEvents",
        "CutPage",
        said_there("more than {n} events in millisecond {time}", n="10000", time="5"),
        "failed",
    ).sentence: ("FilterLogEvents: CutPage: ミリ秒 5 に 10000 件を超えるイベントがあります"),
    said_there("{name} (whose dead letters it takes)", name="orders"): "orders（デッドレターの送り元）",
}
AWS_WORDS = (
    "AccessDenied: no",
    "FilterLogEvents: AccessDeniedException: User: u is not authorized to perform: logs:FilterLogEvents",
    "FilterLogEvents: ThrottlingException: Rate exceeded",
    "GetMetricData: Throttles: Forbidden",
)


@pytest.mark.parametrize("english", WHY_UNREAD)
def test_why_a_source_was_not_read_is_said_where_the_words_are_ours(english):
    assert Language("ja").sentence(english) == WHY_UNREAD[english]


@pytest.mark.parametrize("english", AWS_WORDS)
def test_what_aws_answered_is_told_in_its_own_words(english):
    assert Language("ja").sentence(english) == english


def test_japanese_has_one_word_for_idempotent_and_one_for_a_redrive():
    told = phrases("ja").values()

    assert any("冪等" in text for text in told)
    assert any("再投入" in text for text in told)
    assert [text for text in told if "べき等" in text or "リドライブ" in text] == []


def test_japanese_puts_no_blank_between_a_noun_and_how_much_at_most():
    assert [text for text in phrases("ja").values() if re.search(r"[^\W\dA-Za-z}] 最大", text)] == []
