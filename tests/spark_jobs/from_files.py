"""Simulated worlds as people have them in files, some with secrets planted in them."""

import html
import json
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import cli
from forensics.lake import Lake
from forensics.settings import Settings
from spark_jobs import runner
from spark_jobs.carrier import Here
from tests.ingest import saved_files
from tests.ingest.world import HANDLE
from tests.oracle import World
from tests.oracle.bundle import TABLES, settings_of
from tests.spark_jobs import small_worlds

FORMS = ("export", "delivery", "filter-log-events")
WANTED = 6
FIRST_SEED = 400
"""Beyond the worlds that the suite judges in any case."""
WITH_SECRETS = (7, 11, 15)
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


@dataclass(frozen=True)
class FromFiles:
    """Worlds imported from files, and what the commands printed."""

    imported: Lake
    plain: list[World]
    with_secrets: list[World]
    saved: Path
    config: Path
    printed: str


def from_files(folder: Path) -> FromFiles:
    """Import worlds by the commands and correlate them, beside the worlds written by hand, which end last in every lake."""
    plain, with_secrets = worlds_kept_whole(), [World(seed) for seed in WITH_SECRETS]
    settings = Settings.parse(RULES + settings_of([*plain, *with_secrets]).text + small_worlds.SETTINGS.text)
    config, imported = folder / "doubletake.toml", Lake(folder / "lake")
    small_worlds.world().write(imported.root)
    config.write_text(settings.text)
    said = ["--lake", str(imported.root), "--config", str(config)]
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        for number, world in enumerate(plain):
            for command in _commands(world, FORMS[number % len(FORMS)], folder / "saved" / str(number)):
                assert cli.main([*command, *said]) == 0, err.getvalue()
        for world in with_secrets:
            for command in _commands(world, "filter-log-events", folder / "saved" / f"secret-{world.seed}", True):
                assert cli.main([*command, *said]) in (0, 3), err.getvalue()
        with pytest.MonkeyPatch.context() as patch:  # no Java for it
            patch.setattr(runner, "_on_spark", lambda *_: Here())
            assert cli.main(["correlate", *said]) == 0, err.getvalue()
    return FromFiles(imported, plain, with_secrets, folder / "saved", config, out.getvalue() + err.getvalue())


def worlds_kept_whole() -> list[World]:
    """Return worlds whose logs were kept whole."""
    found = (World(seed) for seed in count(FIRST_SEED))
    whole = (w for w in found if w.plan.loss == "none" and w.rows("log_events"))
    return [next(whole) for _ in range(WANTED)]


def as_imported(world: World, name: str) -> list[dict[str, Any]]:
    """Return rows without what files cannot tell: metrics, what get-function-configuration leaves out, and who logs."""
    rows = [row for row in world.rows(name) if "metric_points" not in (name, row.get("source"))]
    if name == "consumers":
        return [row | {"kind": row["kind"] if row["function_name"] else None} for row in rows]
    return [row | {"reserved_concurrency": None} for row in rows] if name == "function_settings" else rows


def _commands(world: World, form: str, folder: Path, has_secrets: bool = False) -> Iterator[list[str]]:
    """Save a world's evidence as files; yields the commands that import it."""
    folder.mkdir(parents=True)
    rows = {name: world.rows(name) for name in TABLES}
    for number, row in enumerate(rows["queue_settings"]):
        saved_files.queue_attributes(row, folder / f"queue-{number}.json")
    for number, row in enumerate(rows["function_settings"]):
        saved_files.function_configuration(row, folder / f"function-{number}.json")
    saved_files.mappings(rows["event_source_mappings"], folder / "mappings.json")
    place = ["--account", "123456789012", "--region", "eu-west-1"]
    lines = with_planted(rows["log_events"]) if has_secrets else rows["log_events"]
    yield ["import", str(folder), "--observed-at", iso(lines[0]["collected_at"]), *place]
    for number, consumer in enumerate(rows["consumers"]):
        (covered,) = (r for r in rows["coverage"] if r["resource"] == consumer["log_group"])
        events = [r for r in lines if r["log_group"] == consumer["log_group"]]
        if not events:
            continue
        target = folder / f"logs-{number}"
        if form == "export":
            saved_files.export(events, target)
        elif form == "delivery":
            saved_files.delivery(events, target)
        else:
            saved_files.filtered(events, target)
        window = [f"--complete-{w}={iso(covered[f'window_{e}_at'])}" for w, e in (("since", "start"), ("until", "end"))]
        yield ["import", str(target), f"--log-group={consumer['log_group']}={consumer['queue_arn']}", *window, *place]


def with_planted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return log events with a secret in every body, and at the end one of every kind of secret."""
    told = [row | {"line": row["line"].replace("currency", "canary-in-body")} for row in rows]
    last = told[-1]
    return told + [
        last | {"event_id": f"planted-{number}", "line": line, "order_in_ms": 100 + number}
        for number, line in enumerate(PLANTED.values())
    ]


def iso(moment: datetime) -> str:
    """Return a time as a person gives it to a command, UTC."""
    return moment.astimezone(UTC).isoformat()
