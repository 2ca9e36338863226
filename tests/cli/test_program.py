"""The program around the commands: options that every command takes, the environment, and completion."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cli
from cli import program
from tests.forensics.report import world

ROOT = Path(cli.__file__).parent.parent


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> str:
    return str(world.save(tmp_path_factory.mktemp("program") / "lake").root)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("DOUBLETAKE_LAKE", "DOUBLETAKE_CONFIG"):
        monkeypatch.delenv(name, raising=False)

    def run(*args: str) -> tuple[int, str, str]:
        code = cli.main(args)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_has_a_short_option(run, option):
    code, out, _ = run(option)

    assert code == 0
    assert out.startswith("doubletake")


def test_the_commands_stand_in_groups_that_say_what_for(run):
    _, out, _ = run("--help")
    titles = [line.strip("╭╮─ ") for line in out.splitlines() if line.startswith("╭")]

    assert titles[2:] == [
        "Fill the lake",
        "Ask what happened",
        "Review the week",
        "Show and tell",
        "Look after lake and settings",
    ]


def test_help_names_the_variables_that_stand_for_an_option(run):
    _, out, _ = run("incidents", "--help")

    assert "[env var: DOUBLETAKE_LAKE]" in out
    assert "DOUBLETAKE_CONFIG" in out


PLACES = {
    "nothing": ([], None, "lake"),
    "the environment": ([], "from-environment", "from-environment"),
    "before the command, and the environment": (["--lake", "before"], "from-environment", "before"),
}


@pytest.mark.parametrize(("before", "environment", "asked"), PLACES.values(), ids=PLACES)
def test_a_lake_named_on_the_command_line_is_nearer_than_the_environment(run, monkeypatch, before, environment, asked):
    if environment:
        monkeypatch.setenv("DOUBLETAKE_LAKE", environment)

    code, _, err = run(*before, "incidents")
    _, _, after = run(*before, "incidents", "--lake", "after")

    assert code == 2
    assert f"/{asked}'" in err
    assert "/after'" in after


def test_a_settings_file_of_the_environment_is_read(run, monkeypatch, lake, tmp_path):
    (tmp_path / "bad.toml").write_text("[team]\nzone = 1\n")
    monkeypatch.setenv("DOUBLETAKE_CONFIG", str(tmp_path / "bad.toml"))
    code, _, err = run("incidents", "--lake", lake)

    assert code == 2
    assert "bad.toml" in err


NUMBERS = {
    "too small": (["health", "--weeks", "0"], "--weeks '0' is not a whole number from 1 to 60"),
    "too large": (["serve", "--port", "70000"], "--port '70000' is not a whole number from 1 to 65535"),
    "no number": (["runs", "--last", "many"], "--last 'many' is not a whole number from 1 on"),
    "a fraction": (["waiting", "--promise", "1.5"], "--promise '1.5' is not a whole number"),
}


@pytest.mark.parametrize(("args", "sentence"), NUMBERS.values(), ids=NUMBERS)
def test_a_number_that_an_option_does_not_take_is_said_with_what_it_takes(run, args, sentence):
    code, out, err = run(*args)

    assert (code, out) == (2, "")
    assert sentence in err
    assert "--help" in err


@pytest.mark.parametrize("where", ["before", "after"])
def test_quiet_leaves_data_alone_and_says_nothing_else(run, lake, where):
    args = ["report", world.INCIDENT, "--lake", lake, "-o", "r.json"]
    code, out, err = run("--quiet", *args) if where == "before" else run(*args, "-q")

    assert (code, out, err) == (0, "", "")
    assert json.loads(Path("r.json").read_text())["incident"]["incident_id"] == world.INCIDENT


def test_quiet_still_says_what_went_wrong_and_is_over_with_the_command(run, lake):
    code, _, err = run("--quiet", "incidents", "--lake", "nowhere")
    _, _, later = run("messages", "--verdict", "absorbed", "--lake", lake)

    assert code == 2
    assert "/nowhere'" in err
    assert "None of 3 messages is absorbed." in later


@pytest.mark.lake
def test_quiet_still_says_what_a_reading_lacks(run, tmp_path):
    (tmp_path / "worker.log").write_text("2026-11-20T05:00:00.000Z processed 1\n")
    (tmp_path / "notes.txt").write_text("no time at all\n")
    args = [
        "import",
        "worker.log",
        "notes.txt",
        "--log-group",
        "/worker",
        "--account",
        "111111111111",
        "--region",
        "eu-central-1",
    ]
    _, _, loud = run(*args, "--lake", "loud")
    _, _, quiet = run(*args, "--lake", "quiet", "--quiet")
    lacks = [line for line in loud.splitlines() if line.startswith("  Gap: ")]

    assert len(lacks) == 1
    assert quiet.splitlines() == lacks


def test_a_shell_completes_commands_and_options():
    words = {"COMP_WORDS": "doubletake in", "COMP_CWORD": "1", "_DOUBLETAKE_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-m", "cli"], cwd=ROOT, env=os.environ | words, capture_output=True, text=True, check=False
    )

    assert set(done.stdout.split()) == {"incidents", "investigate"}


OFFERED = {
    "an incident": ("report pay", {world.INCIDENT}),
    "an incident of an option": ("messages --incident pay", {world.INCIDENT}),
    "a queue": ("incidents --queue pay", {world.QUEUE}),
    "a queue as an argument": ("what-if pay", {world.QUEUE}),
    "a fault": ("incidents --fault payments.fifo-f", {"payments.fifo-function_timeout-f6602e"}),
    "nothing by that name": ("report zzz", set()),
}


@pytest.mark.parametrize(("line", "offered"), OFFERED.values(), ids=OFFERED)
@pytest.mark.parametrize("where", ["environment", "option"])
def test_a_shell_completes_what_the_lake_names(run, lake, monkeypatch, capsys, line, offered, where):
    words = f"doubletake {line}" if where == "environment" else f"doubletake --lake {lake} {line}"
    if where == "environment":
        monkeypatch.setenv("DOUBLETAKE_LAKE", lake)
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    monkeypatch.setenv("_DOUBLETAKE_COMPLETE", "complete_bash")
    with pytest.raises(SystemExit):
        run()

    assert set(capsys.readouterr().out.split()) == offered


def test_a_key_press_is_answered_also_where_there_is_no_lake(run, monkeypatch, capsys):
    for name, value in {
        "COMP_WORDS": "doubletake report p",
        "COMP_CWORD": "2",
        "_DOUBLETAKE_COMPLETE": "complete_bash",
    }.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SystemExit):
        run()

    said = capsys.readouterr()
    assert (said.out.strip(), said.err) == ("", "")


def test_completion_can_be_installed():
    options = {name for p in program.whole().params for name in p.opts}

    assert {"--install-completion", "--show-completion"} <= options


# -- what machines and people hand over --------------------------------------------------------------------------------

NO_TEXT = "caf\udce9"
"""What Python makes of a byte that is no UTF-8."""
INCIDENT = world.INCIDENT


@pytest.mark.parametrize(
    "asked",
    [
        ("find", NO_TEXT),
        ("ask", "why", NO_TEXT),
        ("messages", "--incident", NO_TEXT),
        ("mark", INCIDENT, "comment", "--reason", NO_TEXT),
        ("mark", INCIDENT, "comment", "--reason", "x", "--by", NO_TEXT),
        ("views", "--save", NO_TEXT, "--address", "/incident"),
        ("what-if", NO_TEXT),
        ("suggest", NO_TEXT),
        ("bundle", NO_TEXT),
        ("report", NO_TEXT),
        ("import", "x.log", "--log-group", NO_TEXT),
        ("incidents", "--region", NO_TEXT),
    ],
    ids=" ".join,
)
def test_bytes_that_are_no_text_are_named_and_nothing_is_done(run, lake, asked):
    code, out, err = run(*asked, "--lake", lake)

    assert (code, out) == (2, "")
    assert "'caf\\udce9' holds bytes that are no text" in err


def test_a_file_may_be_named_by_bytes_that_are_no_text(run, lake):
    code, _, _ = run("report", INCIDENT, "-o", f"{NO_TEXT}.md", "--lake", lake)

    assert code == 0
    assert Path(f"{NO_TEXT}.md").read_text().startswith("# ")


@pytest.mark.process
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize(
    "command", [["incidents"], ["messages"], ["--help"], ["--language", "ja", "incidents"]], ids=" ".join
)
def test_a_terminal_with_few_characters_gets_an_answer(lake, encoding, command):
    said = subprocess.run(
        [sys.executable, "-m", "cli", *command],
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": encoding, "DOUBLETAKE_LAKE": lake},
    )

    assert said.returncode == 0, said.stderr
    assert said.stdout
    assert b"UnicodeEncodeError" not in said.stderr


@pytest.mark.process
@pytest.mark.parametrize("command", ["incidents", "--help"])
def test_a_reader_that_has_enough_is_no_failure(lake, command):
    said = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m cli {command} | head -c 1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "DOUBLETAKE_LAKE": lake},
    )

    assert said.stdout.endswith("0\n"), said
    assert said.stderr == ""


@pytest.mark.process
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_ends_no_command_and_no_words_go_among_the_data(lake, closed):
    said = subprocess.run(
        ["bash", "-c", f"exec {sys.executable} -m cli find charged --lines --format jsonl {closed}"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "DOUBLETAKE_LAKE": lake},
    )

    assert said.returncode == 0, said
    assert said.stderr == ""
    assert [json.loads(line) for line in said.stdout.splitlines()] or ">&-" in closed


def test_what_is_there_and_no_file_is_written_to_and_stays(run, lake, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    code, _, _ = run("report", INCIDENT, "--format", "csv", "-o", str(pipe), "--lake", lake)

    assert code == 0
    assert pipe.is_fifo()
    assert os.read(reader, 11) == b'"message_id'
    os.close(reader)


@pytest.mark.parametrize("command", [("bundle",), ("report", "--format", "html")], ids=["a bundle", "a report"])
@pytest.mark.parametrize("place", ["/", ".", ".."])
def test_a_folder_is_no_place_to_write_to_and_nothing_is_read_in_vain(run, lake, place, command, monkeypatch):
    monkeypatch.setattr("forensics.report.case.load_case", lambda *_, **__: pytest.fail("read the incident"))
    code, _, err = run(*command, INCIDENT, "-o", place, "--lake", lake)

    assert code == 2
    assert f"'{place}' is a folder" in err
