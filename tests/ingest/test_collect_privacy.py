"""What the settings file forbids to write is not written by a collection either."""

import json

import pytest

from forensics.errors import SettingsError
from forensics.identity import handle_token
from forensics.settings import Settings
from forensics.tables import BY_NAME
from forensics.tables.evidence import LOG_EVENTS
from ingest.collect import collect
from tests.ingest.world import HANDLE

pytestmark = pytest.mark.emulator


def test_with_a_key_handles_join_inside_the_lake_and_another_key_stops_before_anything_is_written(
    world, lake, aws, hour, tmp_path
):
    queue = world.queue("orders")
    function = world.function("handle-order", [queue])
    lines = [(1000, f"receiptHandle: '{HANDLE}'"), (2000, f'The receipt handle "{HANDLE}" has expired')]
    world.log(f"/aws/lambda/{function}", lines)
    keyed = []
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(name.encode() * 16)
        (tmp_path / name).chmod(0o600)
        keyed.append(Settings.parse(f"handle_key_file = '{tmp_path / name}'"))
    collect(lake, aws, [queue], hour, settings=keyed[0])
    before = lake.versions()
    told = lake.read(LOG_EVENTS, ["line"])["line"].to_pylist()

    assert all(handle_token(HANDLE, b"one" * 16) in line for line in told)
    assert len(told) == 2
    with pytest.raises(SettingsError, match="replaced with another key"):
        collect(lake, aws, [queue], hour, settings=keyed[1])
    assert lake.versions() == before


def test_patterns_bodies_and_handles_reach_no_table(world, lake, aws, hour):
    queue = world.queue("orders")
    function = world.function("handle-order", [queue])
    record = {"messageId": "m-1", "receiptHandle": HANDLE, "body": json.dumps({"id": 7, "pan": "canary-body"})}
    lines = [
        (1000, json.dumps({"Records": [record]})),
        (2000, "charged card 4111111111111111"),
        (3000, "canary \0 4111111111111111"),
    ]
    world.log(f"/aws/lambda/{function}", lines)
    settings = Settings.parse(
        f"redact = ['\\b4\\d{{15}}\\b', 'canary']\nkeep_bodies = false\n[[queue]]\nname = '{queue}'\nbusiness_key = '$.id'"
    )
    collect(lake, aws, [queue], hour, settings=settings)
    everything = json.dumps({t.name: lake.read(t).to_pylist() for t in BY_NAME.values()}, default=str)

    assert "m-1" in everything
    assert "[redacted]" in everything
    assert '{\\\\\\"id\\\\\\": 7}' in everything
    for secret in ("canary", "4111111111111111", HANDLE[24:]):
        assert secret not in everything
