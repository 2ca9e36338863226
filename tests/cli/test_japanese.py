"""The command in Japanese: what it prints has no English but names, ids, options and what a program reads."""

import errno
import json
import re

import pytest

import cli
from tests.pages import health_tale, tales
from tests.pages.english import english_in
from tests.pages.worlds import DOUBLE_BILLING, START, Story

_OPTIONS = r"(?<!\S)--?[a-z][\w-]*(?: (?:ID|table|jsonl|zip))?|^\s+(?:doubletake|aws) .*$"
CODES = r"'[^']*'|doubletake [\w .-]+|\b(?:ok|[\w.-]+-[0-9a-f]{6}|charge-card|\w+ \d+(?=[,。]))\b"


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    story = Story(data_until_at=START)
    tales.double_billing(story)
    tales.expired_handle(story)
    tales.dead_lettered(story)
    health_tale.weekly(story)
    return story.save(tmp_path_factory.mktemp("japanese") / "lake")


@pytest.fixture
def run(lake, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOUBLETAKE_LAKE", str(lake))

    def run(*args):
        code = cli.main(args)
        return code, *capsys.readouterr()

    return run


COMMANDS = {
    "faults": ["incidents"],
    "incidents": ["incidents", "--each"],
    "messages": ["messages"],
    "deliveries": ["deliveries", "--incident", DOUBLE_BILLING],
    "findings": ["findings"],
    "health": ["health"],
    "checks": ["check", "--fail-on", "never"],
    "status": ["status"],
    "one message": ["find", "pay_1043"],
    "nothing found": ["find", "pay_9999999"],
    "waiting": ["waiting"],
    "an unknown queue": ["messages", "--queue", "paymets.fifo"],
    "balances": ["balance"],
    "a balance of an unknown queue": ["balance", "paymets.fifo"],
    "a week that was not read": ["report", "--week", "2025-W01"],
    "a week and an incident": ["report", DOUBLE_BILLING, "--week", "2026-W47"],
    "what is no week": ["health", "--week", "soon"],
    "an interval too short": ["watch", "payments.fifo", "--interval", "1s"],
    "queues and all of them": ["watch", "payments.fifo", "--all-queues"],
    "two queues": ["balance", "payments.fifo", "--queue", "mail"],
    "an argument too many": ["status", "payments.fifo"],
    "no such option": ["status", "--fast"],
    "no mark": ["mark", DOUBLE_BILLING, "lost"],
    "a window that is empty": ["correlate", "--since", "2030-01-01T00:00:00Z"],
    "an unknown incident": ["report", "paymets.fifo-20261120T0512Z"],
}


@pytest.mark.parametrize("args", COMMANDS.values(), ids=COMMANDS)
def test_what_is_printed_is_japanese(run, args):
    _, out, err = run(*args, "--language", "ja")
    words = re.sub(_OPTIONS, " ", f"{out}{err}", flags=re.MULTILINE)

    assert english_in(re.sub(CODES, " ", words)) == [], f"{out}{err}"


def test_a_bug_of_ours_and_a_full_disk_are_said_in_japanese(run, monkeypatch):
    for problem in (RuntimeError("12"), OSError(errno.ENOSPC, "12")):
        with monkeypatch.context() as patch:
            patch.setattr("forensics.lake.Lake.findings", lambda lake, problem=problem: raised(problem))
            _, _, err = run("incidents", "--language", "ja")

        assert english_in(err.replace("RuntimeError", "")) == [], err


def raised(problem):
    raise problem


def test_what_programs_read_is_the_same_in_every_language(run):
    _, english, _ = run("incidents", "--format", "jsonl")
    _, japanese, _ = run("incidents", "--format", "jsonl", "--language", "ja")

    assert english == japanese


def test_the_team_chooses_and_whoever_asks_chooses_otherwise(run, lake):
    (lake / "doubletake.toml").write_text('[team]\nlanguage = "ja"\n')
    _, of_team, _ = run("incidents", "--each")
    _, asked, _ = run("--language", "en", "incidents", "--each")
    (lake / "doubletake.toml").unlink()

    assert "重複処理" in of_team or "処理されました" in of_team
    assert "processed" in asked
    assert "処理されました" not in asked


def test_the_report_and_the_notice_speak_it_too(run):
    _, report, _ = run("report", DOUBLE_BILLING, "--format", "md", "--language", "ja")
    _, notice, err = run("notify", DOUBLE_BILLING, "--dry-run", "--language", "ja")

    assert "# " in report
    assert "処理されました" in report
    assert "次にすること" in json.loads(notice or err)["blocks"][0]["text"]["text"]
