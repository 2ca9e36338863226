"""A command that another one names can be pasted: it means the lake that was asked, and is one that there is."""

import re
import shlex
from itertools import product

import pytest

import cli
from cli import program
from forensics.lake import Lake
from tests.cli.test_japanese import COMMANDS
from tests.pages import health_tale, tales
from tests.pages.worlds import START, Story

PROGRAM = program.whole()
_NAMED = re.compile(r"`(doubletake [^`]*)`|(?:^ *|: |：)(doubletake [a-z][^`]*?)\)?$", re.MULTILINE)
_OF_NO_LAKE = {"verify"}


def _told(path):
    story = Story(data_until_at=START)
    tales.double_billing(story)
    tales.expired_handle(story)
    tales.dead_lettered(story)
    health_tale.weekly(story)
    story.save(path)


def _empty(path):
    path.mkdir()


LAKES = {"a lake": _told, "an empty lake": _empty, "no lake": lambda path: None}


@pytest.fixture(scope="module")
def lakes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("else where")
    for name, make in LAKES.items():
        make(folder / name)
    return folder


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOUBLETAKE_WEBHOOK", "https://127.0.0.1:9/x")

    def run(*args):
        cli.main(args)
        printed = capsys.readouterr()
        return printed.out, printed.err

    return run


def named(text):
    return [one or other for one, other in _NAMED.findall(text)]


MORE = {
    "an alert of old data": ["notify", "--dry-run"],
    "what lines propose": ["suggest"],
    "a lake to be mended": ["doctor"],
    "a report without a name": ["report"],
    "no queue to collect": ["collect"],
    "no queue to watch": ["watch"],
    "no ledger": ["reconcile"],
    "a ledger not named": ["reconcile", "--key", "k"],
}
ASKED = {
    f"{name}, {code}, {lake}": (lake, code, args)
    for (name, args), code, lake in product((COMMANDS | MORE).items(), ("en", "ja"), LAKES)
}


@pytest.mark.slow
@pytest.mark.parametrize(("lake", "code", "args"), ASKED.values(), ids=ASKED)
def test_every_command_that_is_named_means_this_lake(run, lakes, lake, code, args):
    where = str(lakes / lake)
    out, err = run(*args, "--language", code, "--lake", where)

    for command in named(f"{out}\n{err}"):
        words = shlex.split(command)
        if words[1:] == ["--help"]:
            continue
        assert words[1] in PROGRAM.commands, command
        assert words[1] in _OF_NO_LAKE or "--help" in words or words[words.index("--lake") + 1] == where, command
        if "--help" not in words:
            PROGRAM.commands[words[1]].make_context(words[1], words[2:])


def test_the_lake_that_is_asked_where_none_is_named_goes_without_saying(run, lakes, monkeypatch):
    out, err = run("incidents")

    assert "`doubletake demo`" in err
    assert "--lake" not in f"{out}{err}"


def test_a_command_that_holds_the_lake_is_told_as_it_is(run, lakes):
    where = lakes / "a lake"
    with Lake(where).writing("correlate"):
        _, err = run("doctor", "--lake", str(where))

    assert f"another `doubletake correlate` is writing the lake at {str(where)!r}" in err
