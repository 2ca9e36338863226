"""Sources with one thing broken each: tests that hold every border catch them all."""

import ast
from collections.abc import Callable, Iterator

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
    the queue's type ignored, an unknown number taken as another. It is ``tree`` itself, sound again when the next is asked for.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for swap in (OPPOSITE, SHIFTED):
                if type(node.ops[0]) in swap:
                    yield from _broken(tree, node, lambda n, swap=swap: n.ops.__setitem__(0, swap[type(n.ops[0])]()))
        if isinstance(node, ast.If):
            yield from _broken(tree, node, lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test)))
        if isinstance(node, ast.Attribute) and node.attr == "is_fifo":
            yield from _broken(tree, node, lambda n: setattr(n, "attr", "_ignored"))
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield from _broken(tree, node, lambda n: setattr(n, "value", n.value + 1))


def mutants_of_conditions(tree: ast.Module) -> Iterator[tuple[str, ast.Module]]:
    """Yield a source with one ``and`` taken for an ``or`` or one of its parts left out, or the other way round; as ``mutants`` does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp) and not isinstance(node.values[-1], ast.Constant | ast.List):  # no default
            other = ast.Or if isinstance(node.op, ast.And) else ast.And
            yield from _broken(tree, node, lambda n, other=other: setattr(n, "op", other()))
            nothing = ast.Constant(value=isinstance(node.op, ast.And))
            for place in range(len(node.values)):
                yield from _broken(
                    tree, node, lambda n, place=place, nothing=nothing: n.values.__setitem__(place, nothing)
                )
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield from _broken(tree, node, lambda n: setattr(n, "operand", ast.UnaryOp(ast.Not(), n.operand)))


def _broken(tree: ast.Module, node: ast.AST, change: Callable[[ast.AST], None]) -> Iterator[tuple[str, ast.Module]]:
    """Yield the tree with a node changed, and change it back."""
    sound = {name: list(value) if isinstance(value, list) else value for name, value in vars(node).items()}
    before = ast.unparse(node).split("\n")[0]
    change(node)
    ast.fix_missing_locations(node)
    yield f"line {getattr(node, 'lineno', 0)}: {before} -> {ast.unparse(node)}".split("\n")[0], tree
    vars(node).update(sound)
