"""The command in Japanese: what it prints has no English but names, ids, options and what a program reads."""

import errno
import json
import re

import pytest

import cli
from cli import program
from cli.fold import cells
from tests.pages import health_tale, tales
from tests.pages.english import english_in
from tests.pages.worlds import DOUBLE_BILLING, START, Story

_OPTIONS = r"\[access\] mode|\"oidc\"|export \w+=\S+|Webhook|使えません：.*$|使える拡張子：.*$|\.xyz|（cards, emails, tokens）|(?<!\S)--?[a-z][\w-]*(?: (?:ID|table|jsonl|zip))?|^\s+(?:doubletake|aws) .*$"
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
    "a queue like several": ["messages", "--queue", "mai"],
    "why what nobody knows": ["ask", "why", "pay_9999999"],
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
    "no such command": ["frobnicate"],
    "a command like one": ["stauts"],
    "no mark": ["mark", DOUBLE_BILLING, "lost"],
    "a window that is empty": ["correlate", "--since", "2030-01-01T00:00:00Z"],
    "a question without a key": ["ask", "why"],
    "a fault that is not there": ["incidents", "--fault", "mail-000000"],
    "an incident that is not there": ["deliveries", "--incident", "mail-20261120T0512Z"],
    "a time without a zone": ["collect", "mail", "--since", "2026-11-20T05:12:00"],
    "a time of the future": ["collect", "mail", "--since", "2999-01-01T00:00:00Z"],
    "epoch seconds": ["collect", "mail", "--since", "1764000000"],
    "too short an id": ["find", "ab"],
    "files that are not there": ["import", "nowhere"],
    "a zone that is none": ["import", ".", "--zone", "Moon/Sea"],
    "an account that is none": ["import", ".", "--account", "12"],
    "a ledger without its key": ["reconcile", "charges.csv"],
    "an ending that is no format": ["report", DOUBLE_BILLING, "-o", "report.xyz"],
    "a pattern that cannot be used": ["bundle", DOUBLE_BILLING, "--redact", "(?=x)"],
    "a webhook that is not set": ["notify"],
    "a mark without a message": ["mark", "pay_9999999", "accepted", "--reason", "7"],
    "a view that is not there": ["views", "--delete", "7"],
    "a promise of nothing": ["waiting", "--promise", "0"],
    "a setup AWS does not take": ["what-if", "payments.fifo", "--visibility", "-1"],
    "an address for all": ["serve", "--address", "0.0.0.0"],
    "no bundle": ["verify", "nowhere.zip"],
    "nobody to ask": ["suggest", "payments.fifo", "--accept", "all"],
    "an unknown incident": ["report", "paymets.fifo-20261120T0512Z"],
}


@pytest.mark.parametrize("args", COMMANDS.values(), ids=COMMANDS)
def test_what_is_printed_is_japanese(run, args):
    _, out, err = run(*args, "--language", "ja")
    words = re.sub(_OPTIONS, " ", f"{out}{err}", flags=re.MULTILINE)

    assert english_in(re.sub(CODES, " ", words)) == [], f"{out}{err}"


def test_what_is_said_of_the_settings_file_is_japanese(run, lake):
    file = lake / "doubletake.toml"
    file.write_text("[team]\n")
    _, _, read = run("settings", "--language", "ja")
    file.unlink()
    _, _, missing = run("settings", "--language", "ja")

    assert english_in(read.replace(repr(str(file)), "")) == english_in(missing) == []


def _longest_first(words):
    return "|".join(sorted(map(re.escape, map(str, words)), key=len, reverse=True))


PROGRAM = program.whole()
_SIGNS = r"使い方:.*|\[(?:既定値|環境変数): .*?\]|(?<=│)[ *]+(?:--?[\w-]+,?\s*)+|<[^>]*>|\[x>=\d+\]|--[\w-]+|\bRE2\b|\b\d+[mhds]\b"
_VALUES = r"doubletake report --format zip|spark://[\w:]+|type=charge|Amazon|\b(?:Spark|Webhook|Ctrl-C|JSON|Lines|Parquet|Schema|all|why|still|refund|cards|emails|tokens|language|team|en)\b"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", *PROGRAM.commands])
def test_help_is_japanese_but_for_what_is_typed(run, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "300")
    code, out, _ = run(*name.split(), "--help", "--language", "ja")
    command = PROGRAM.commands.get(name, PROGRAM)
    typed = {param.metavar for param in command.params if param.metavar}
    typed |= {word for choice in re.findall("<([^>]*)>", out) for word in choice.split("|")}
    words = re.sub(rf"{_SIGNS}|{_VALUES}|^│ (?:{_longest_first(PROGRAM.commands)}) ", " ", out, flags=re.MULTILINE)
    words = re.sub(rf"\b(?:{_longest_first(typed)})\b", " ", words)

    assert code == 0
    assert "このヘルプを表示して終了します。" in out
    assert english_in(words) == []


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "ja"])
@pytest.mark.parametrize("name", PROGRAM.commands)
def test_the_help_of_a_command_is_whole_in_a_narrow_terminal(run, monkeypatch, name, code):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run(name, "--help", "--language", code)

    assert "…" not in out
    assert [line for line in out.splitlines() if cells(line) > 80] == []
    assert "...]..." not in out


def test_help_is_whole_in_a_narrow_terminal_and_no_line_is_wider(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run("--help", "--language", "ja")

    assert "…" not in out
    assert max(cells(line) for line in out.splitlines()) <= 80


def test_help_follows_the_team_and_is_english_where_nobody_chose(run, lake):
    (lake / "doubletake.toml").write_text('[team]\nlanguage = "ja"\n')
    _, of_team, _ = run("find", "--help")
    (lake / "doubletake.toml").unlink()
    _, english, _ = run("find", "--help")

    assert "[環境変数: DOUBLETAKE_LAKE]" in of_team
    assert "Usage: doubletake find" in english
    assert "Show this message and exit." in english


SETTINGS = {
    "no TOML": "[[queue",
    "no section": "[queues]",
    "no key": '[team]\nzon = "UTC"',
    "single brackets": '[queue]\nname = "mail"',
    "no name": "[[queue]]",
    "no number": '[[queue]]\nname = "mail"\nweight = "heavy"',
    "no zone": '[team]\nzone = "Moon/Sea"',
    "no JSON path": '[[queue]]\nname = "mail"\nsequence = "version"',
    "no expression": "[[function]]\nname = 'f'\neffect = '('",
    "no expression of ours": "redact = ['(?=x)']",
    "twice": '[[queue]]\nname = "mail"\n[[queue]]\nname = "mail"',
    "no choice": '[access]\nmode = "open"',
    "no check": '[[queue]]\nname = "mail"\n[[queue.accepted]]\ncheck = "luck"\nuntil = 2026-12-31\nreason = "7"',
}
_OF_TOML = (
    r"doubletake\.toml|\[\[?[\w.]+\]\]?|\"[^\"]*\"|\w+ = |\b(?:redact|language|zone)\b|(?:使えるキー|点検と兆候)：.*$"
)
_OF_OTHERS = r"(?:使えません|(?:TOML|正規表現)ではありません|正しい TOML ではありません)：.*$"
"""What a library says of its own: of an expression, or of TOML."""


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_what_is_wrong_with_the_settings_is_said_in_japanese(run, tmp_path, text):
    (tmp_path / "doubletake.toml").write_text(text)
    code, out, err = run("check" if "luck" in text else "settings", "--language", "ja")

    assert (code, out) == (2, "")
    assert english_in(re.sub(rf"{_OF_OTHERS}|{CODES}|{_OF_TOML}", " ", err, flags=re.MULTILINE)) == [], err


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
