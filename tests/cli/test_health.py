"""doubletake health and check over a lake with eight weeks of three queues."""

import csv
import io
import json
from pathlib import Path

import jsonschema
import pytest

import cli
from forensics.checks import CHECKS
from forensics.errors import EXIT_CHECK_FAILED
from forensics.tables.evidence import CONSUMERS
from forensics.tables.health import QUEUE_WEEKS, SETTING_FINDINGS
from tests.pages import health_tale, tales
from tests.pages.worlds import ACCOUNT, REGION, START, Story, arn

SCHEMA = Path(__file__).parents[1] / "data" / "sarif" / "sarif-schema-2.1.0.json"
ACCEPTED = """
[[queue]]
name = "{queue}"
owner = "payments team"
[[queue.accepted]]
check = "{check}"
until = 2026-12-31
reason = "moves in January"
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    story = Story(data_until_at=START)
    health_tale.weekly(story)
    return story.save(tmp_path_factory.mktemp("health") / "lake")


@pytest.fixture
def run(lake, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*args, settings=None):
        config = []
        if settings:
            (tmp_path / "team.toml").write_text(settings)
            config = ["--config", str(tmp_path / "team.toml")]
        code = cli.main([*args, "--lake", str(lake), *config])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_health_ranks_the_newest_week(run):
    code, out, err = run("health")

    assert code == 0
    assert out.index("payments.fifo") < out.index("billing") < out.index("mail")
    assert "7 to 8 of 14,000 messages processed twice" in out
    assert "3 of 3 queues need work in 2026-W47" in err


def test_health_prints_every_number_of_several_weeks_newest_first(run):
    code, out, _ = run("health", "--weeks", "3", "--format", "jsonl")
    rows = [json.loads(line) for line in out.splitlines()]

    assert code == 0
    assert [(r["week"], r["queue"]) for r in rows[:4]] == [
        ("2026-W47", "payments.fifo"),
        ("2026-W47", "billing"),
        ("2026-W47", "mail"),
        ("2026-W46", "billing"),
    ]
    assert len(rows) == 9
    assert (rows[0]["redelivered_share"], rows[0]["twice_at_most"], rows[0]["age_p95_s"]) == (0.039385, 8, 612)
    assert rows[0]["starts_at"] == "2026-11-16T00:00:00.000Z"
    assert rows[2]["redelivered_trend"][3] is None


def test_health_as_csv_has_a_row_a_queue(run):
    _, out, _ = run("health", "--format", "csv", "--queue", "billing")
    (row,) = csv.DictReader(io.StringIO(out))

    assert (row["need"], row["expired_handle_count"], row["owner"]) == ("act now", "12", "")


BAD = {
    "a week that is none": (["health", "--week", "2026-47"], "'2026-47' is not an ISO week"),
    "a week that was not read": (["health", "--week", "2026-W13"], "nothing was read for week '2026-W13'"),
    "a queue nobody read": (["health", "--queue", "orders"], "this data version knows no queue 'orders'"),
    "a queue that nobody checked": (["check", "--queue", "orders"], "There is: billing, mail, payments.fifo."),
    "no week at all": (["health", "--weeks", "0"], "--weeks"),
    "neither incident nor week": (["report"], "name an incident or --week"),
    "an option where the week was forgotten": (["report", "--week", "-o", "x.html"], "'-o' is not an ISO week"),
    "both incident and week": (["report", "x-1", "--week", "2026-W47"], "both an incident, 'x-1', and a week"),
    "a week as JSON": (["report", "--week", "2026-W47", "--format", "json"], "cannot be written as 'json'"),
    "an unknown format": (["check", "--format", "xml"], "xml"),
}


@pytest.mark.parametrize(("args", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence_with_the_value(run, args, said):
    code, out, err = run(*args)

    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


WITHOUT = {
    "check": (SETTING_FINDINGS, "queue 'mail' has no checked settings"),
    "health": (QUEUE_WEEKS, "nothing was read for queue 'mail'"),
}


@pytest.mark.lake
@pytest.mark.parametrize("command", WITHOUT)
def test_of_a_queue_that_is_known_it_is_said_what_was_not_looked_at(tmp_path, capsys, command):
    table, said = WITHOUT[command]
    story = Story(data_until_at=START)
    health_tale.weekly(story)
    story.findings[table.name] = [row for row in story.findings[table.name] if row["queue"] != "mail"]
    consumer = {"log_group": "/ecs/mailer", "kind": "worker", "function_name": None, "found_by": "option (--log-group)"}
    place = {"account_id": ACCOUNT, "region": REGION, "queue_arn": arn("mail"), "queue_name": "mail"}
    story.add(CONSUMERS, {"evidence_id": "consumer:mail", **place, **consumer})

    assert cli.main([command, "--queue", "mail", "--lake", str(story.save(tmp_path / "lake"))]) == 2
    assert said in capsys.readouterr().err


def test_check_prints_what_failed_and_ends_with_a_code_for_ci(run):
    code, out, err = run("check")

    assert code == EXIT_CHECK_FAILED
    assert "run_near_timeout" in out
    assert "drift" not in out
    assert "4 answers: 2 critical, 1 warning, 0 notes, 0 accepted, 0 unknown." in err


def test_check_lists_passed_ones_on_demand(run):
    assert "drift" in run("check", "--all")[1]


LIMITS = {"never": 0, "critical": 0, "warning": EXIT_CHECK_FAILED, "note": EXIT_CHECK_FAILED}


@pytest.mark.parametrize(("limit", "code"), LIMITS.items(), ids=LIMITS)
def test_the_exit_code_heeds_the_severity(run, limit, code):
    assert run("check", "--queue", "mail", "--fail-on", limit)[0] == code


def test_an_accepted_risk_is_shown_and_no_longer_fails(run):
    settings = ACCEPTED.format(queue="mail", check="dead_letter_queue_missing")
    code, out, err = run("check", "--queue", "mail", settings=settings)

    assert code == 0
    assert "until 2026-12-31: moves in January" in out
    assert "1 accepted" in err


def test_an_accepted_risk_that_names_no_check_is_refused(run):
    code, _, err = run("check", settings=ACCEPTED.format(queue="mail", check="luck"))

    assert code == 2
    assert "'luck' for queue 'mail'" in err


def test_json_has_the_numbers_and_the_evidence(run):
    (row,) = json.loads(run("check", "--format", "json", "--queue", "billing")[1])

    assert row["numbers"] == ["visibility_timeout_s=30"]
    assert row["evidence_ids"] == ["queue:1"]
    assert row["advice"]


def test_sarif_keeps_to_the_schema_and_names_every_check(run):
    settings = ACCEPTED.format(queue="mail", check="dead_letter_queue_missing")
    log = json.loads(run("check", "--format", "sarif", settings=settings)[1])
    jsonschema.Draft4Validator(json.loads(SCHEMA.read_text())).validate(log)
    (one,) = log["runs"]

    assert [rule["id"] for rule in one["tool"]["driver"]["rules"]] == list(CHECKS)
    assert all(one["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] == r["ruleId"] for r in one["results"])
    assert sorted((r["ruleId"], r["level"], bool(r.get("suppressions"))) for r in one["results"]) == [
        ("dead_letter_queue_missing", "warning", True),
        ("handling_outgrows_visibility", "error", False),
        ("run_near_timeout", "error", False),
    ]
    assert len({json.dumps(r["partialFingerprints"]) for r in one["results"]}) == 3


def test_a_report_of_a_week_is_the_file_that_its_name_says(run, tmp_path):
    code, _, err = run("report", "--week", "2026-W47", "-o", "week.md")

    assert code == 0
    assert "wrote week.md" in err
    assert (tmp_path / "week.md").read_text().startswith("# Queue health, 2026-W47 (16 to 22 Nov 2026): 3 of 3 queues")


def test_a_report_of_a_week_comes_in_japanese(run):
    assert "# キューの健全性 2026-W47" in run("report", "--week", "2026-W47", "--format", "md", "--language", "ja")[1]


NOT_OF_A_WEEK = {
    "no such language": (["--language", "xx"], "'xx' is not one of 'en', 'ja'"),
    "a zone of its own": (
        ["--zone", "Asia/Tokyo"],
        "--zone, --all-events and --short-ids are for an incident's report",
    ),
}


@pytest.mark.parametrize(("options", "sentence"), NOT_OF_A_WEEK.values(), ids=NOT_OF_A_WEEK)
def test_what_no_weekly_review_can_be_is_refused(run, options, sentence):
    code, out, err = run("report", "--week", "2026-W47", *options)

    assert (code, out) == (2, "")
    assert sentence in err


@pytest.mark.lake
def test_a_lake_without_settings_is_no_clean_bill(tmp_path, capsys):
    story = Story(data_until_at=START)
    story.coverage(tales.CLICKS, START, START)
    lake = story.save(tmp_path / "lake")

    assert cli.main(["check", "--lake", str(lake)]) == 2
    assert "holds no settings to check" in capsys.readouterr().err
