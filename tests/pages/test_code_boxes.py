"""Code boxes stand in the page's own text colour: Streamlit's syntax colours have 2.2:1 to 3.7:1 on a light page."""

import ast
from pathlib import Path

import pytest

from tests.parsed import nodes_of

pytestmark = pytest.mark.page

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "pages").rglob("*.py"))


def _boxes(path):
    if ".code(" not in path.read_text(encoding="utf-8"):  # every process that runs tests asks this of every page's file
        return []
    calls = (n for n in nodes_of(path) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    return [call for call in calls if call.func.attr == "code"]


def test_there_are_code_boxes():
    assert sum(len(_boxes(path)) for path in FILES) > 10


@pytest.mark.parametrize("path", [p for p in FILES if _boxes(p)], ids=lambda p: p.stem)
def test_no_code_box_is_coloured(path):
    coloured = [
        ast.unparse(call)
        for call in _boxes(path)
        if not any(
            k.arg == "language" and isinstance(k.value, ast.Constant) and k.value.value is None for k in call.keywords
        )
    ]

    assert coloured == []
