"""Secrets planted everywhere they may stand reach no file of the lake, no output, no report and no page."""

import html
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

import cli
from forensics.lake import Lake
from forensics.tables.findings import INCIDENTS, MESSAGES
from tests.ingest import saved_files
from tests.ingest.world import HANDLE
from tests.oracle import World
from tests.oracle.bundle import settings_of

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
SEEDS = (7, 11, 15)
"""Worlds whose handlers print their events with bodies."""
LATE_HANDLE = HANDLE[::-1].replace("=", "A")
RULES = r"""
keep_bodies = false
redact = ['\b4\d{15}\b', '(?i)bearer [a-z0-9._-]+', '[a-z0-9.]+@[a-z0-9.]+\.[a-z]+', 'AKIA[A-Z0-9]{16}', 'canary-token-\d+']
"""
PLANTED = {
    "a card number": "charging card 4111111111111111 now",
    "a bearer token": "GET / Authorization: Bearer canary.bearer.token",
    "an e-mail address": "notified canary.person@example.org",
    "an access key": "using AKIACANARYCANARY1234",
    "a token, with a lone surrogate beside it": "canary-token-17 \ud800",
    "a token in an event that is poison": "canary-token-18 \0",
    "a handle in an error text": f"Value AQEB{LATE_HANDLE} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.",
    "a handle in HTML": html.escape(json.dumps({"receiptHandle": HANDLE})),
    "a handle in JSON in JSON": json.dumps({"message": json.dumps({"ReceiptHandle": HANDLE})}),
    "a message attribute": json.dumps(
        {"messageId": "m", "messageAttributes": {"t": {"stringValue": "canary-attribute"}}}
    ),
    "a body in Python": repr({"messageId": "m", "body": "canary-python-body"}),
    "a body in JSON in JSON": json.dumps({"message": json.dumps({"body": json.dumps({"pan": "canary-nested-body"})})}),
    "a body printed as an object": json.dumps({"messageId": "m", "body": {"pan": "canary-object-body"}}),
}
SECRETS = [
    "4111111111111111",
    "canary",
    "AKIACANARY",
    HANDLE[24:],
    LATE_HANDLE[24:],
]


def saved(folder: Path) -> tuple[list[World], list[list[str]]]:
    """Save worlds with secrets in bodies, lines, environment variables and policies; returns the commands to import them."""
    worlds, commands = [World(seed) for seed in SEEDS], []
    for world in worlds:
        home = folder / str(world.seed)
        home.mkdir(parents=True)
        rows = world.rows("log_events")
        for row in rows:
            row["line"] = row["line"].replace("currency", "canary-in-body")
        last = rows[-1]
        for number, line in enumerate(PLANTED.values()):
            rows.append(last | {"event_id": f"planted-{number}", "line": line, "order_in_ms": 100 + number})
        for number, row in enumerate(world.rows("queue_settings")):
            saved_files.queue_attributes(row, home / f"queue-{number}.json")
        for number, row in enumerate(world.rows("function_settings")):
            saved_files.function_configuration(row, home / f"function-{number}.json")
        saved_files.mappings(world.rows("event_source_mappings"), home / "mappings.json")
        commands.append(["import", str(home)])
        for number, consumer in enumerate(world.rows("consumers")):
            mine = [r for r in rows if r["log_group"] == consumer["log_group"]]
            if mine:
                path = saved_files.filtered(mine, folder / f"logs-{world.seed}-{number}.json")
                commands.append(["import", str(path), f"--log-group={consumer['log_group']}={consumer['queue_arn']}"])
    return worlds, commands


def leaks(where: str, text: str) -> list[str]:
    return [
        f"{where}: {secret} ... {text[max(0, text.index(secret) - 60) :][:160]!r}"
        for secret in SECRETS
        if secret in text
    ]


def test_no_secret_leaves_the_files_it_came_in(spark, tmp_path, capsys, monkeypatch):
    worlds, commands = saved(tmp_path / "saved")
    for secret in SECRETS[:4]:
        assert any(secret in p.read_text(errors="replace") for p in (tmp_path / "saved").rglob("*.json")), secret
    config, root = tmp_path / "doubletake.toml", tmp_path / "lake"
    config.write_text(RULES + settings_of(worlds).text)
    said = ["--lake", str(root), "--config", str(config)]
    for command in [*commands, ["correlate"]]:
        assert cli.main([*command, *said]) in (0, 3)
    lake = Lake(root)
    incidents = lake.findings().read(INCIDENTS)["incident_id"].to_pylist()
    assert incidents
    for command in ("incidents", "messages", "deliveries", "status"):
        cli.main([command, "--format", "jsonl", *said])
    for incident in incidents:
        for form in ("html", "md", "json", "csv"):
            cli.main(["report", incident, "--format", form, "-o", str(tmp_path / f"{incident}.{form}"), *said])

    found = leaks("outputs", "".join(capsys.readouterr()))
    for report in tmp_path.glob("*-*Z.*"):
        found += leaks(report.name, report.read_text())
    for file in root.rglob("*"):
        if file.suffix == ".parquet":
            found += leaks(str(file.relative_to(root)), str(pq.read_table(file).to_pylist()))
        elif file.is_file():
            found += leaks(str(file.relative_to(root)), file.read_text(errors="replace"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOUBLETAKE_LAKE", str(root))
    for page in ("app.py", "pages/incident.py", "pages/messages.py", "pages/data.py"):
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        if page != "app.py":
            at.switch_page(page)
        at.query_params["incident"] = incidents[0]
        at.run()
        assert not at.exception
        found += leaks(page, str(at._tree))

    assert found == []
    assert len(list(tmp_path.glob("*-*Z.*"))) == 4 * len(incidents)
    assert any(r["business_keys"] for r in lake.findings().read(MESSAGES).to_pylist())
