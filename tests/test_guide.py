"""The commands that the guide shows are run, in order, on a lake of the incident that it speaks of; so are those of other pages."""

import re
import shlex
from pathlib import Path

import pytest

import cli
from forensics.errors import EXIT_CHECK_FAILED
from tests.forensics.redrive.test_plan import again, saved
from tests.pages import health_tale
from tests.pages.worlds import Story

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
FROM_A_LAKE = {
    "balance",
    "check",
    "deliveries",
    "find",
    "findings",
    "health",
    "incidents",
    "mark",
    "marks",
    "messages",
    "notify",
    "reconcile",
    "redrive-plan",
    "report",
    "status",
    "suggest",
    "verify",
    "waiting",
    "what-if",
}
"""Commands that need a lake and nothing else."""


def blocks(page: str) -> list[str]:
    return re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def lines(page: str) -> list[str]:
    told = (line.strip() for block in blocks(page) for line in block.splitlines())
    return [line for line in told if line.startswith("doubletake ")]


COMMANDS = lines("docs/guide.md")
ELSEWHERE = [
    (page, line)
    for page in (
        "README.md",
        "docs/checks.md",
        "docs/offline.md",
        "docs/collecting.md",
        "docs/marks.md",
        "docs/what-if.md",
        "docs/books.md",
        "docs/redrive.md",
        "docs/waiting.md",
        "docs/balance.md",
        "docs/alerts.md",
    )
    for line in lines(page)
    if line.split()[1] in FROM_A_LAKE
]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder, weeks = tmp_path_factory.mktemp("guide"), Story()
    health_tale.weekly(weeks)
    again(saved(folder / "lake", lambda found: found.update(weeks.findings)))
    (folder / "charges.csv").write_text(
        "charge_id,payment_id,amount,currency,charged_at\nc1,pay-1001,980,JPY,2026-11-20T05:12:01Z\n"
    )
    return folder


def run(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("DOUBLETAKE_LAKE", raising=False)
    program, *args = shlex.split(line)

    assert program == "doubletake"
    code = cli.main(args)
    # A check that failed is an answer, and says so by its code.
    return 0 if args[0] == "check" and code == EXIT_CHECK_FAILED else code


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_guide_works_as_pasted(line, here, monkeypatch, capsys):
    assert run(line, here, monkeypatch) == 0, capsys.readouterr().err


@pytest.mark.parametrize(("page", "line"), ELSEWHERE, ids=[f"{page}: {line}" for page, line in ELSEWHERE])
def test_a_command_of_another_page_that_needs_only_a_lake_works_as_pasted(page, line, here, monkeypatch, capsys):
    assert run(line, here, monkeypatch) == 0, capsys.readouterr().err


def test_every_question_has_an_answer_that_can_be_run():
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    answers = {part.partition("\n")[0]: part for part in guide.split("\n## ")[1:]}
    without = [question for question, answer in answers.items() if "```sh\n" not in answer]

    assert len(answers) >= 9
    assert all(question.endswith("?") for question in answers)
    assert without == ["Who may look at the dashboard?"]


def test_every_question_about_the_dashboard_has_its_screen():
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    answers = {part.partition("\n")[0]: part for part in guide.split("\n## ")[1:]}
    without = {question for question, answer in answers.items() if "](img/" not in answer}

    assert without == {"Can it tell our channel?"}


def test_the_settings_of_the_guide_are_valid():
    from forensics.settings import Settings

    for example in re.findall(
        r"```toml\n(.*?)```", (ROOT / "docs" / "guide.md").read_text(encoding="utf-8"), re.DOTALL
    ):
        assert Settings.parse(example).access.mode == "oidc"
