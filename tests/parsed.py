"""Sources as trees, each parsed and walked through once for every test that reads them."""

import ast
from functools import cache
from pathlib import Path

READERS = (
    "tests/forensics/test_language.py",
    "tests/forensics/test_language_errors.py",
    "tests/pages/test_code_boxes.py",
    "tests/test_homes.py",
    "tests/test_layout.py",
    "tests/test_words.py",
)
"""Tests of how our sources read: in one process, where all of them are parsed once."""


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a Python file, outer ones first."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
