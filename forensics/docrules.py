"""Writes docs/rules.md from the rules' own sentences: ``python -m forensics.docrules``.

The rules are read as source, not run: every sentence a rule can return is on the page, whoever adds the rule.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from forensics import terms

_HERE = Path(__file__).resolve().parent
FILE = _HERE.parent / "docs" / "rules.md"
FOLDERS = {
    "rules": (
        "Why a message was delivered again",
        "Each rule is asked about every redelivery: one delivery of a message beside the one before it. Where several are"
        " supported, the first in this order is the primary cause; where none is, the redelivery is `undecidable`, and the"
        " report names what would decide it.",
    ),
    "origins": (
        "Where another message id of the same work comes from",
        "Two message ids are one work where they share a deduplication id or a business key in one queue, or where one was"
        " redriven from the dead-letter queue. Equal bodies alone link nothing, and neither does one key in two queues, nor a"
        " deduplication id under which different business keys, or different bodies without them, were sent."
        " An id of 64 hex digits may be the hash that SQS makes of a body (content-based deduplication) and links no more than that:"
        " unless the queue's setting is off or the bodies under it differ, what it was sent with within 12 hours may be one work."
        " Where such bodies are JSON and differ only in times near their send, attempts, trace or request ids, and the sends follow"
        " one another within 12 hours, they may be one work: each stays a work of its own, and the others raise only how often it"
        " may have been done. So do messages with one business key of which no line tells the queue, where their consumer reads several"
        " or nobody said which."
        " Each rule is asked about the later id beside the one before it; the answer stands in `origin`.",
    ),
    "queue_rules": (
        "What went wrong with a queue or a message group",
        "Each rule is asked about what was gathered for one finding; only what it supports becomes a finding.",
    ),
}
STANCES = {"supported": "Holds", "excluded": "Is ruled out", "undecidable": "Stays open"}


@dataclass
class RuleText:
    """What a rule file says: its code, what it is about, what it must see, and its sentences by stance."""

    code: str
    about: str
    must_see: str
    sentences: dict[str, list[tuple[str, str | None]]] = field(default_factory=lambda: {s: [] for s in STANCES})


def rules_page() -> str:
    """Return the page as Markdown."""
    parts = [
        "# Rules",
        "After this page you know what each cause code means, and every sentence that can support it, rule it out or leave"
        " it open. It is generated from the rule files, one file per code; change a sentence there, then run"
        " `python -m forensics.docrules`. Words in ‹ › stand for values of the case.",
    ]
    for folder, (title, words) in FOLDERS.items():
        found = rule_texts(_HERE / folder)
        if found:
            parts += [f"## {title}", words, *(_section(folder, rule) for rule in found)]
    return "\n\n".join(parts) + "\n"


def rule_texts(folder: Path) -> list[RuleText]:
    """Read the rules of a folder in the order in which its ``__init__`` lists them."""
    package = folder / "__init__.py"
    if not package.exists():
        return []
    shared = dict(_shared(ast.parse((folder.parent / "rules" / "ruling.py").read_text(encoding="utf-8"))))
    return [
        _rule(folder / f"{code}.py", code, shared) for code in _listed(ast.parse(package.read_text(encoding="utf-8")))
    ]


def _listed(package: ast.Module) -> Iterator[str]:
    for node in package.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target).endswith("RULES"):
            assert isinstance(node.value, ast.Dict)
            yield from (str(ast.literal_eval(key)) for key in node.value.keys if key)


def _shared(module: ast.Module) -> Iterator[tuple[str, tuple[str, str, str | None]]]:
    """Yield the rulings that several rules give: name to (stance, sentence, what would decide)."""
    for node in module.body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) == "Ruling"
        ):
            stance, sentence, *more = node.value.args
            decides = _words(more[0]) if more else None
            yield ast.unparse(node.targets[0]), (ast.unparse(stance).lower(), _words(sentence), decides)
        if isinstance(node, ast.FunctionDef) and isinstance(node.body[-1], ast.Return) and node.name not in STANCES:
            ruled = node.body[-1].value
            if isinstance(ruled, ast.Call) and ast.unparse(ruled.func) in STANCES:
                yield node.name, (ast.unparse(ruled.func), _words(ruled.args[0]), _words(ruled.args[1]))


def _rule(file: Path, code: str, shared: dict[str, tuple[str, str, str | None]]) -> RuleText:
    module = ast.parse(file.read_text(encoding="utf-8"))
    function = next(n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == code)
    said = RuleText(code, (ast.get_docstring(module) or "").strip(), _first_words(ast.get_docstring(function) or ""))
    for node in ast.walk(module):
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and name in STANCES:
            decides = _words(node.args[1]) if len(node.args) > 1 else None
            _note(said, name, _words(node.args[0]), decides)
        elif isinstance(node, ast.Name) and node.id in shared and isinstance(node.ctx, ast.Load):
            _note(said, *shared[node.id])
    return said


def _note(said: RuleText, stance: str, sentence: str, decides: str | None) -> None:
    if (sentence, decides) not in said.sentences[stance]:
        said.sentences[stance].append((sentence, decides))


def _first_words(docstring: str) -> str:
    return " ".join(docstring.split(">>>")[0].split())


def _words(node: ast.expr) -> str:
    """Say a string expression with its values as ‹names›."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_words(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return f"‹{_name(node.value)}›"
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "said":
        return re.sub(r"{(\w+)}", r"‹\1›", _words(node.args[0]))
    if isinstance(node, ast.Name) and isinstance(term := getattr(terms, node.id, None), str):
        return term
    if isinstance(node, ast.IfExp):
        return f"{_words(node.body)} / {_words(node.orelse)}"
    return f"‹{_name(node)}›"


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Call) and node.args:
        return _name(node.args[-1])
    named = re.findall(r"[A-Za-z_]+", ast.unparse(node))
    last = named[-1] if named else "value"
    return last.removesuffix("_ms").removesuffix("_s").removeprefix("earlier_").replace("_", " ").strip()


def _section(folder: str, rule: RuleText) -> str:
    lines = [f"### `{rule.code}`", "", f"{rule.about} {rule.must_see} (`forensics/{folder}/{rule.code}.py`)"]
    for stance, heading in STANCES.items():
        if rule.sentences[stance]:
            lines += ["", f"{heading}:", ""]
        for sentence, decides in rule.sentences[stance]:
            lines.append(f"- {sentence}" + (f" *Would decide it: {decides}.*" if decides else ""))
    return "\n".join(lines)


def main() -> None:
    """Write the page."""
    FILE.write_text(rules_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
