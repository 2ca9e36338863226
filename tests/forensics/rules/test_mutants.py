"""A rule that was broken on purpose must not pass its border cases."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import forensics.rules.pair as pair_module
from forensics.rules import RULES
from forensics.rules.pair import DeliveryPair
from tests.forensics.mutants import mutants
from tests.forensics.rules.borders import CASES

RULES_FOLDER = Path(pair_module.__file__).parent


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
        names: dict = {"__name__": "broken_pair", "_timeout": pair_module._timeout, "seconds": pair_module.seconds}
        exec(compile(mutant, "pair", "exec"), names)
        broken = names["DeliveryPair"]
        if not any(is_caught(code, rule, broken) for code, rule in RULES.items()):
            survivors.append(what)

    assert survivors == []
