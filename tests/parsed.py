"""Sources as trees, each parsed and walked through once for every test that reads them."""

import ast
from functools import cache
from pathlib import Path


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a Python file, outer ones first."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
