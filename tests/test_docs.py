"""Documentation is tested: commands parse, links lead somewhere, tables and folders are all told."""

import re
import shlex
from pathlib import Path

import pytest

import cli
from cli import doccommands, program
from forensics import docchecks, docrules, docsettings, doctables, errors
from forensics.settings import Settings
from forensics.terms import CAUSE_WORDS
from forensics.verdict.interval import VERDICTS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {str(p.relative_to(ROOT)): p for p in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]}
PROGRAM = program.whole()
COMMANDS = PROGRAM.commands
LISTED = {"ci", "node_modules", "build", "lake", "demo-lake", "bench-data", "spark-warehouse"}
"""Folders that running and building leave behind."""


def test_the_page_of_tables_is_fresh():
    page = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")

    assert page == doctables.tables_page(), "run: python -m forensics.doctables"


def test_the_page_of_rules_is_fresh():
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")

    assert page == docrules.rules_page(), "run: python -m forensics.docrules"


def test_the_page_of_commands_is_fresh():
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")

    assert page == doccommands.commands_page(), "run: python -m cli.doccommands"


def test_the_page_of_settings_is_fresh():
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")

    assert page == docsettings.settings_page(), "run: python -m forensics.docsettings"


def test_every_rule_says_when_it_holds_and_when_not():
    for folder in docrules.FOLDERS:
        for rule in docrules.rule_texts(ROOT / "forensics" / folder):
            assert rule.about and rule.must_see, rule.code
            assert rule.sentences["supported"], rule.code
            assert rule.sentences["excluded"], rule.code
            assert all(decides for _, decides in rule.sentences["undecidable"]), rule.code


def test_the_page_of_checks_is_fresh():
    page = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")

    assert page == docchecks.checks_page(), "run: python -m forensics.docchecks"


def commands_in(text: str) -> list[str]:
    """Return every ``doubletake ...`` that a page shows, in a block or between backticks."""
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    lines = [line.strip() for line in blocks.splitlines() if line.strip().startswith("doubletake ")]
    return [*lines, *re.findall(r"`(doubletake [^`]+)`", text)]


SHOWN = [(name, line) for name, page in PAGES.items() for line in commands_in(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("page", "line"), SHOWN, ids=[f"{p}: {c}" for p, c in SHOWN])
def test_a_command_that_a_page_shows_exists_with_its_options(page, line):
    _, *words = shlex.split(line)
    name, args = ("", words) if words[0].startswith("-") else (words[0], words[1:])
    command = COMMANDS[name] if name else PROGRAM
    known = {option for parameter in command.params for option in parameter.opts}

    assert {a.partition("=")[0] for a in args if a.startswith("-")} <= known


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_explains_itself(name, capsys):
    command = COMMANDS[name]

    assert cli.main([name, "--help"]) == 0
    assert f"doubletake {name}" in capsys.readouterr().out
    assert (command.help or "").rstrip().endswith(".")
    assert all(getattr(p, "help", None) for p in command.params if p.name != "help")


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_lead_somewhere(name):
    page = PAGES[name]
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]

    assert missing == []


def folders() -> set[str]:
    """Return the folders of the repository that hold something of ours."""
    top = {f.name for f in ROOT.iterdir() if f.is_dir() and not f.name.startswith((".", "_"))} - LISTED
    top = {name for name in top if not name.endswith(".egg-info")}
    inside = {f"forensics/{f.name}" for f in (ROOT / "forensics").iterdir() if (f / "__init__.py").exists()}
    return {name for name in top | inside if name != "forensics" and any((ROOT / name).iterdir())}


def test_the_map_has_one_sentence_for_every_folder():
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Map")[2].partition("\n## ")[0]
    told = dict(re.findall(r"^\| `([a-z_/]+)` \| (.+) \|$", section, re.MULTILINE))

    assert set(told) == folders()
    assert all(sentence.count(". ") == 0 and sentence.endswith(".") for sentence in told.values())


EXAMPLES = [
    (name, text)
    for name, page in PAGES.items()
    for text in re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
]


@pytest.mark.parametrize(("page", "example"), EXAMPLES, ids=[page for page, _ in EXAMPLES])
def test_a_settings_example_of_a_page_is_valid(page, example):
    assert Settings.parse(example, page) != Settings()


def test_the_settings_of_the_deployment_are_valid():
    assert Settings.load(ROOT / "deploy" / "doubletake.toml").access.mode == "oidc"


def test_exit_codes_of_the_commands_page_are_those_of_the_code():
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", doccommands.INTRO, re.MULTILINE)}
    ours = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}

    assert told == ours | {program.EXIT_BUG, program.EXIT_INTERRUPTED}


def test_the_readme_is_read_in_one_go():
    assert len(README.splitlines()) <= 130


def test_every_page_is_in_the_index_and_in_the_sites_navigation():
    pages = {p.name for p in (ROOT / "docs").glob("*.md")} - {"index.md"}
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")

    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == pages
    assert set(re.findall(r": ([\w-]+\.md)$", navigation, re.MULTILINE)) == pages | {"index.md"}


def test_pages_of_the_site_link_to_nothing_outside_of_it():
    outside = {
        (name, link)
        for name, page in PAGES.items()
        if name.startswith("docs/")
        for link in re.findall(r"\]\((\.\./[^)]+)\)", page.read_text(encoding="utf-8"))
    }

    assert outside == set()


def test_make_targets_that_pages_name_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {t for page in PAGES.values() for t in re.findall(r"(?:`|^)make ([a-z]+)", page.read_text(), re.MULTILINE)}

    assert {"demo", "test", "setup", "check", "bench", "help"} <= targets
    assert named <= targets


def test_verdicts_and_causes_are_all_explained():
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")

    assert all(f"| `{verdict}` |" in README for verdict in VERDICTS)
    assert [row for row in README.splitlines() if row.startswith("| `confirmed`")][0] in glossary
    assert [code for code in CAUSE_WORDS if f"| `{code}` |" not in glossary] == []


def test_files_that_the_architecture_names_exist():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", page)
    tops = [top for top in ROOT.iterdir() if not top.name.startswith(".")]  # .venv has fifty times as many
    everywhere = {f.name for top in tops for f in (top, *top.rglob("*.py"))}
    missing = [n for n in named if not ((ROOT / n).exists() if "/" in n else n in everywhere)]

    assert named
    assert missing == []


def test_the_architecture_is_one_page():
    assert len((ROOT / "docs" / "architecture.md").read_text().splitlines()) <= 60
