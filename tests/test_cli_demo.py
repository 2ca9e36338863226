"""The demo from the command line: embedded AWS over HTTP, Spark, verdict, and the commands on its lake afterwards."""

import json

import pytest

import cli

pytestmark = [pytest.mark.spark, pytest.mark.emulator]


@pytest.fixture(scope="module")
def demo(spark, tmp_path_factory):
    """Play the default demo once; returns its lake and a function that runs a command and returns its lines."""
    folder = tmp_path_factory.mktemp("demo") / "demo-lake"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_PROFILE", "production")  # the demo must not look at it
        code = cli.main(["demo", "--no-serve", "--lake", str(folder)])

    assert code == 0
    return folder


def rows(capsys, *command: str) -> list[dict]:
    capsys.readouterr()
    assert cli.main([*command, "--format", "jsonl"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_charges_made_twice_are_confirmed_and_the_rest_is_as_the_scenario_says(demo, capsys):
    (incident,) = rows(capsys, "incidents", "--lake", str(demo))
    messages = rows(capsys, "messages", "--incident", incident["incident_id"], "--lake", str(demo))
    verdicts = {v: [m for m in messages if m["verdict"] == v] for v in ("confirmed", "probable", "harmless")}

    assert incident["queue"] == "payments.fifo"
    assert (incident["confirmed"], incident["probable"]) == (11, 2)
    assert all(m["certainty"] == "proved" and m["causes"] == ["batch_collateral"] for m in verdicts["confirmed"])
    assert all(m["causes"] == ["function_timeout"] for m in verdicts["probable"])
    assert len(messages) == 20
    assert all(key.startswith("pay-") for m in messages for key in m["business_keys"])


def test_the_verdict_is_printed_with_where_to_look(demo, capsys):
    from datetime import UTC, datetime, timedelta

    from cli_work import print_verdict
    from forensics.lake import Lake
    from forensics.window import TimeWindow

    day = TimeWindow(datetime.now(UTC) - timedelta(days=1), datetime.now(UTC))
    print_verdict(Lake(demo).findings(), ("payments.fifo", "shipment-updates"), day, chosen_lake=demo)
    out = capsys.readouterr().out

    assert "confirmed      11  the work was done more than once" in out
    assert "http://127.0.0.1:8501/incident?incident=payments.fifo-" in out
    assert "shipment-updates: no suspicion" in out


def test_every_report_of_the_demo_is_whole_and_cites_what_it_shows(demo, capsys, tmp_path):
    (incident,) = rows(capsys, "incidents", "--lake", str(demo))
    for kind in ("html", "md", "json", "csv"):
        file = str(tmp_path / f"case.{kind}")
        assert cli.main(["report", incident["incident_id"], "--lake", str(demo), "-o", file]) == 0
    report = json.loads((tmp_path / "case.json").read_text())
    shown = {line["evidence_id"] for line in report["evidence"]}

    assert {i for m in report["messages"] for i in m["evidence_ids"]} <= shown
    assert {i for f in report["cause_chain"] for i in f["evidence_ids"]} <= shown
    assert [f["what"] for f in report["key_moments"]][:3] == [
        "first affected message sent",
        "first receive",
        "first run that timed out",
    ]


def test_correlating_again_changes_nothing(demo, capsys):
    before = rows(capsys, "messages", "--lake", str(demo))
    code = cli.main(["correlate", "--lake", str(demo), "--config", str(demo / "doubletake.toml")])
    err = capsys.readouterr().err

    assert code == 0
    assert "up to date" in err
    assert rows(capsys, "messages", "--lake", str(demo)) == before
