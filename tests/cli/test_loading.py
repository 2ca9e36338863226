"""What a command loads: figures, templates and frames take longer to load than most commands to answer."""

import subprocess
import sys
from pathlib import Path

import pytest

import cli
from tests.forensics.report import world
from tests.pages import health_tale
from tests.pages.worlds import START, Story

pytestmark = pytest.mark.process
ROOT = Path(cli.__file__).parent.parent
DRAWING = {"pandas", "plotly", "jinja2", "streamlit", "pyspark", "polars", "boto3"}
_LOADED = f"""
import sys
import cli
code = cli.whole_process()
print(code, *sorted({DRAWING!r} & set(sys.modules)), file=sys.stderr)
"""
READING = {
    "incidents": ["incidents"],
    "messages": ["messages"],
    "deliveries": ["deliveries"],
    "findings": ["findings"],
    "one message": ["find", "pay-1001"],
    "status": ["status"],
    "marks": ["marks"],
    "a report for programs": ["report", world.INCIDENT, "--format", "json"],
    "a report as a table": ["report", world.INCIDENT, "--format", "csv"],
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    return world.save(tmp_path_factory.mktemp("loading") / "lake").root


def loaded(*args: str) -> set[str]:
    """Run a command in a process of its own and return which of the large packages it loaded."""
    done = subprocess.run([sys.executable, "-c", _LOADED, *args], cwd=ROOT, capture_output=True, text=True, check=True)
    code, *names = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    return set(names)


@pytest.mark.parametrize("args", READING.values(), ids=READING)
def test_a_command_that_reads_loads_nothing_that_draws(lake, args):
    assert loaded(*args, "--lake", str(lake)) == set()


@pytest.mark.parametrize("args", [["health"], ["check", "--fail-on", "never"]], ids=["health", "checks"])
def test_the_weekly_review_on_a_terminal_loads_nothing_that_draws(tmp_path, args):
    story = Story(data_until_at=START)
    health_tale.weekly(story)

    assert loaded(*args, "--lake", str(story.save(tmp_path / "lake"))) == set()


def test_a_report_in_words_loads_its_templates_alone(lake):
    assert loaded("report", world.INCIDENT, "--format", "md", "--lake", str(lake)) == {"jinja2"}


def test_a_report_with_a_picture_gets_frames_from_arrow_all_the_same(lake):
    assert {"pandas", "plotly", "jinja2"} <= loaded("report", world.INCIDENT, "--format", "html", "--lake", str(lake))
