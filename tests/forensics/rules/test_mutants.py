"""A rule that was broken on purpose must not pass its border cases."""

import ast
import copy
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import forensics.rules.pair as pair_module
from forensics.rules import RULES
from forensics.rules.pair import DeliveryPair
from tests.forensics.rules.borders import CASES

RULES_FOLDER = Path(pair_module.__file__).parent
OPPOSITE = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
SHIFTED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


def mutants(tree: ast.Module) -> Iterator[tuple[str, ast.Module]]:
    """Yield a source with one thing broken each: a comparison turned round or moved by one, a condition turned round,
    the queue's type ignored, an unknown number taken as another."""
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Compare):
            for swap in (OPPOSITE, SHIFTED):
                if type(node.ops[0]) in swap:
                    yield _broken(tree, number, lambda n, swap=swap: n.ops.__setitem__(0, swap[type(n.ops[0])]()))
        if isinstance(node, ast.If):
            yield _broken(tree, number, lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test)))
        if isinstance(node, ast.Attribute) and node.attr == "is_fifo":
            yield _broken(tree, number, lambda n: setattr(n, "attr", "_ignored"))
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield _broken(tree, number, lambda n: setattr(n, "value", n.value + 1))


def _broken(tree: ast.Module, number: int, change: Callable[[ast.AST], None]) -> tuple[str, ast.Module]:
    mutant = copy.deepcopy(tree)
    node = list(ast.walk(mutant))[number]
    before = ast.unparse(node).split("\n")[0]
    change(node)
    return f"line {getattr(node, 'lineno', 0)}: {before} -> {ast.unparse(node)}".split("\n")[
        0
    ], ast.fix_missing_locations(mutant)


def is_caught(code: str, rule: Callable, kind: type[DeliveryPair] = DeliveryPair) -> bool:
    """Tell whether any border case of the rule comes out otherwise: in its stance, or where only that changes, in words."""
    for facts, _ in CASES[code].values():
        try:
            if tuple(rule(kind(**facts))) != tuple(RULES[code](DeliveryPair(**facts))):
                return True
        except (AttributeError, KeyError, TypeError):
            return True
    return False


class _FifoIgnored(DeliveryPair):
    """A pair whose queue type nobody asks for."""

    _ignored = None


@pytest.mark.parametrize("code", RULES)
def test_every_way_to_break_a_rule_is_caught_at_its_borders(code):
    tree = ast.parse((RULES_FOLDER / f"{code}.py").read_text(encoding="utf-8"))
    survivors = []
    for what, mutant in mutants(tree):
        names: dict = {}
        exec(compile(mutant, code, "exec"), names)
        if not is_caught(code, names[code], _FifoIgnored):
            survivors.append(what)

    assert survivors == []


def test_every_way_to_break_what_the_rules_ask_of_a_pair_is_caught():
    tree = ast.parse((RULES_FOLDER / "pair.py").read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]  # the wording of seconds
    survivors = []
    for what, mutant in mutants(tree):
        names: dict = {"__name__": "broken_pair", "_timeout": pair_module._timeout}
        exec(compile(mutant, "pair", "exec"), names)
        broken = names["DeliveryPair"]
        if not any(is_caught(code, rule, broken) for code, rule in RULES.items()):
            survivors.append(what)

    assert survivors == []
