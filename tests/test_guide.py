"""The guide's commands are run, in order, on a lake of the incident that the guide speaks of."""

import re
import shlex
from pathlib import Path

import pytest

import cli
from tests.forensics.report import world

GUIDE = (Path(__file__).parent.parent / "docs" / "guide.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guide")
    world.save(folder / "lake")
    return folder


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_guide_works_as_pasted(line, here, monkeypatch, capsys):
    monkeypatch.chdir(here)
    monkeypatch.delenv("DOUBLETAKE_LAKE", raising=False)
    program, *args = shlex.split(line)

    assert program == "doubletake"
    assert cli.main(args) == 0, capsys.readouterr().err


def test_every_question_has_an_answer_that_can_be_run():
    questions = re.findall(r"^## (.+\?)$", GUIDE, re.MULTILINE)

    assert len(questions) >= 9
    assert len(BLOCKS) >= len(questions) - 1


def test_the_settings_of_the_guide_are_valid():
    from forensics.settings import Settings

    for example in re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL):
        assert Settings.parse(example).access.mode == "oidc"
