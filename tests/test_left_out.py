"""Files that a run asks for no test of are not read in, and no other is left out."""

import pytest

from tests.compiled import ROOT, files_of_tests
from tests.left_out import left_out, marks_of

SOURCES = {
    "one mark": ("import pytest\n\npytestmark = pytest.mark.slow\n", {"slow"}),
    "a list": ("pytestmark = [pytest.mark.spark, pytest.mark.emulator]\nX = 1\n", {"spark", "emulator"}),
    "over lines": ('pytestmark = [\n    pytest.mark.lake,\n    pytest.mark.usefixtures("one"),\n]\n', {"lake", "usefixtures"}),
    "marks of single tests": ("X = 1\n\n\n@pytest.mark.slow\ndef test_it():\n    pass\n", set()),
    "marks behind it": ("pytestmark = pytest.mark.page\n\n\n@pytest.mark.slow\ndef test_it():\n    pass\n", {"page"}),
}  # fmt: skip


@pytest.mark.parametrize(("source", "marks"), SOURCES.values(), ids=SOURCES)
def test_the_marks_of_a_whole_file_are_read_from_it(tmp_path, source, marks):
    file = tmp_path / "test_it.py"
    file.write_text(source)

    assert marks_of(file) == marks


@pytest.mark.parametrize(
    ("expression", "names"),
    {
        "not slow": ["test_slow.py"],
        "not spark and not slow": ["test_slow.py", "test_spark.py"],
        "not lake": [],
        "slow": [],
        "not slow or not spark": [],
        "not (slow or spark)": [],
        "": [],
    }.items(),
)
def test_only_what_has_a_mark_that_no_test_may_have_is_left_out(tmp_path, expression, names):
    for name in ("slow", "spark"):
        (tmp_path / f"test_{name}.py").write_text(f"pytestmark = pytest.mark.{name}\n")
    (tmp_path / "test_quick.py").write_text("def test_it():\n    pass\n")

    assert sorted(file.name for file in left_out(tmp_path.iterdir(), expression)) == names


def test_pages_are_left_out_of_the_quick_check():
    """A page is run whole by Streamlit, on a lake on the disk: too slow for it."""
    of_pages = [file for file in files_of_tests() if file.is_relative_to(ROOT / "tests" / "pages")]

    assert [file for file in of_pages if not marks_of(file) & {"page", "browser"}] == []
