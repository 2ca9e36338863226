"""What a command loads: figures, templates and frames take longer to load than most commands to answer."""

import json
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
import json, sys
import cli
told = []
for sys.argv[1:] in json.loads(sys.argv[1]):
    code = cli.whole_process()
    told.append([code, *({DRAWING!r} & set(sys.modules))])
print(json.dumps(told), file=sys.stderr)
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


def loaded(lake: Path, *commands: list[str]) -> list[set[str]]:
    """Run commands in a process of their own; returns after each which of the large packages are loaded by then."""
    asked = json.dumps([[*command, "--lake", str(lake)] for command in commands])
    done = subprocess.run([sys.executable, "-c", _LOADED, asked], cwd=ROOT, capture_output=True, text=True, check=True)
    told = json.loads(done.stderr.splitlines()[-1])
    assert [code for code, *_ in told] == [0] * len(commands), done.stderr
    return [set(names) for _, *names in told]


@pytest.fixture(scope="module")
def loaded_by(lake) -> dict[str, set[str]]:
    """Run what reads in one process: what one of them loads, all after it have."""
    return dict(zip(READING, loaded(lake, *READING.values()), strict=True))


@pytest.mark.parametrize("command", READING)
def test_a_command_that_reads_loads_nothing_that_draws(loaded_by, command):
    assert loaded_by[command] == set()


def test_the_weekly_review_on_a_terminal_loads_nothing_that_draws(tmp_path):
    story = Story(data_until_at=START)
    health_tale.weekly(story)
    health, checks = loaded(story.save(tmp_path / "lake"), ["health"], ["check", "--fail-on", "never"])

    assert health == set()
    assert checks == set()


def test_a_report_in_words_loads_its_templates_alone(lake):
    assert loaded(lake, ["report", world.INCIDENT, "--format", "md"]) == [{"jinja2"}]


def test_a_report_with_a_picture_gets_frames_from_arrow_all_the_same(lake):
    (names,) = loaded(lake, ["report", world.INCIDENT, "--format", "html"])

    assert {"pandas", "plotly", "jinja2"} <= names
