"""What an installation was made without is said in a sentence, with the way to get it."""

import tomllib
from pathlib import Path

import pytest

import cli
from forensics import extras
from forensics.extras import DISTRIBUTION, EXTRAS, ExtraMissingError
from forensics.report import bundle
from forensics.report.case import load_case
from forensics.report.render import render
from tests.forensics.report import world

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bare(monkeypatch):
    """Let this be an installation without extras."""
    monkeypatch.setattr(extras, "find_spec", lambda name: None)


@pytest.fixture
def case(tmp_path):
    return load_case(world.save(tmp_path / "lake").findings(), world.INCIDENT)


def test_the_extras_are_those_of_the_wheel_under_its_own_name():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())

    assert set(EXTRAS) == set(project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["extras"])
    assert project["project"]["name"] == DISTRIBUTION


def test_the_demo_without_its_extra_says_how_to_get_it_and_makes_nothing(bare, tmp_path, capsys):
    code = cli.main(["demo", "--lake", str(tmp_path / "demo-lake")])

    assert code == 2
    assert f"pip install '{DISTRIBUTION}[demo]'" in capsys.readouterr().err
    assert not (tmp_path / "demo-lake").exists()


def test_a_pdf_without_its_extra_says_how_to_get_it(bare, case):
    with pytest.raises(ExtraMissingError, match="a report as PDF") as missing:
        render(case, "pdf")

    assert f"pip install '{DISTRIBUTION}[pdf]'" in missing.value.hint


def test_a_bundle_without_the_pdfs_extra_holds_every_other_form(bare, case):
    names = {f["name"] for f in bundle.verify(render(case, "zip"))["files"]}

    assert not [name for name in names if name.endswith(".pdf")]
    assert [name for name in names if name.endswith(".html")]
