"""doubletake settings: the file checked by itself, and its schema."""

import json
import os

import pytest

import cli
from cli.correlate import tell_changed_settings
from forensics.docsettings import schema
from forensics.lake.generation import Generation
from forensics.settings import Queue, Settings
from tests.forensics.report import world


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DOUBLETAKE_CONFIG", raising=False)

    def run(*args: str) -> tuple[int, str, str]:
        code = cli.main(["settings", *args])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_it_prints_what_the_file_says(run, tmp_path):
    (tmp_path / "doubletake.toml").write_text('[[queue]]\nname = "orders"\nowner = "ana"\n')
    code, out, err = run()

    assert code == 0
    assert json.loads(out)["queues"][0]["owner"] == "ana"
    assert err == "Every key of 'doubletake.toml' is known, and every value can be meant.\n"


def test_without_a_file_it_prints_the_defaults_and_says_so(run):
    code, out, err = run()

    assert (code, json.loads(out)["team"]) == (0, {"zone": None, "stale_after_min": 60, "language": "en"})
    assert "no settings file" in err


def test_without_a_file_it_says_where_it_looked_so_that_a_mistyped_lake_is_seen(run):
    _, _, err = run("--lake", "/srv/typo")

    assert "neither ./doubletake.toml nor '/srv/typo/doubletake.toml'" in err


def test_what_cannot_be_meant_is_a_sentence_and_exit_code_2(run, tmp_path):
    (tmp_path / "team.toml").write_text("[team]\nstale_after_min = true\n")
    code, out, err = run("--config", str(tmp_path / "team.toml"))

    assert (code, out) == (2, "")
    assert "[team] stale_after_min = True is not a whole number" in err


def test_it_prints_the_schema(run):
    code, out, _ = run("--schema")

    assert (code, json.loads(out)) == (0, schema())


def test_correlate_says_what_changed_in_the_settings_since_the_newest_findings(capsys):
    made = Generation("1c6f47bd4fe5", {}, {}, {}, "1", None, settings='[[queue]]\nname = "a"\nbusiness_key = "$.id"\n')
    tell_changed_settings(made, Settings())
    said = capsys.readouterr().err
    tell_changed_settings(made, Settings(queues=(Queue("a", "$.id"),)))

    assert "The settings are not those of data version 1c6f47bd4fe5:" in said
    assert "queue a is no longer in them: business_key '$.id'" in said
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("place", ["/dev/full", "/dev/zero", "pipe"])
def test_what_never_ends_or_can_be_read_once_is_no_settings_file(run, tmp_path, place):
    """A pipe was empty when it was read again, and the defaults held without a word."""
    os.mkfifo(tmp_path / "pipe")
    code, out, err = run("--config", place)

    assert (code, out) == (2, "")
    assert f"'{place}' cannot be read: it is a pipe or a device, and no file" in err


def test_a_settings_file_that_is_no_text_is_told_of_with_the_byte(run, tmp_path):
    (tmp_path / "latin.toml").write_bytes('name = "équipe"'.encode("latin-1"))
    code, out, err = run("--config", str(tmp_path / "latin.toml"))

    assert (code, out) == (2, "")
    assert "latin.toml' is not UTF-8 text: byte b'\\xe9'" in err
    assert "Save it as UTF-8." in err


def test_nothing_is_a_settings_file_without_a_word(run):
    code, out, _ = run("--config", "/dev/null")

    assert (code, json.loads(out)["queues"]) == (0, [])


@pytest.mark.lake
def test_an_expression_that_takes_long_is_told_where_a_lake_has_lines_of_its_group(run, tmp_path):
    line = world.lines()[0] | {"evidence_id": "log:slow", "event_id": "slow", "line": "charged " + "word " * 20 + "x"}
    root = world.save(tmp_path / "lake", {}, [line]).root
    (tmp_path / "doubletake.toml").write_text(
        f"[[function]]\nname = '{world.FUNCTION}'\neffect = '([a-z]+ ?)+:(?P<key>[0-9]+)'\n"
    )
    _, _, err = run("--lake", str(root))

    assert f"{world.FUNCTION}: effect = '([a-z]+ ?)+:(?P<key>[0-9]+)' takes" in err
