"""Whatever a service does with pages, order, repeats and equal milliseconds: each event is in the lake once, verbatim."""

import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensics.lake import Lake
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import log_events
from ingest.log_events import LogGroup
from tests.ingest.stand_ins import AsModelled

pytestmark = pytest.mark.slow

T = datetime(2026, 11, 10, tzinfo=UTC)
T_MS = 1_794_268_800_000
NOW = T + timedelta(days=3)
SPAN_MS = 40


class Service(AsModelled):
    """Serves events by stream or by time, in pages of any size, some of them empty, some twice, with or without ids."""

    def __init__(self, events: list[tuple[int, str, str]], draw: Any) -> None:
        self.draw = draw
        self.with_ids = draw(st.booleans(), label="with ids")
        by_time = draw(st.booleans(), label="by time")
        numbered = [(at, stream, line, n) for n, (at, stream, line) in enumerate(events)]
        self.events = sorted(numbered, key=lambda e: (e[0], e[3]) if by_time else (e[1], e[0], e[3]))

    def call(self, service: str, operation: str, demand: str, **asked: Any) -> dict[str, Any]:
        first_ms, last_ms = asked["startTime"], asked["endTime"]
        inside = [e for e in self.events if first_ms <= T_MS + e[0] <= last_ms]
        place, empty = (int(part) for part in asked.get("nextToken", "0|0").split("|"))
        if empty < 2 and self.draw(st.integers(0, 3), label="an empty page") == 0:
            return {"events": [], "nextToken": f"{place}|{empty + 1}"}
        size = self.draw(st.integers(1, 8), label="page size")
        again = self.draw(st.sampled_from([0, 0, 1, 2]), label="repeated") if self.with_ids else 0
        page = [self._event(*e) for e in inside[max(0, place - again) : place + size]]
        return {"events": page} | ({"nextToken": f"{place + size}|0"} if place + size < len(inside) else {})

    def _event(self, at: int, stream: str, line: str, number: int) -> dict[str, Any]:
        named = {"eventId": f"id-{number}"} if self.with_ids else {}
        return {"logStreamName": stream, "timestamp": T_MS + at, "message": line, **named}


lines = st.sampled_from(["a", "b", "a\n", "", "\u2028", "{", "receiptHandle", "x" * 300])
events = st.lists(st.tuples(st.integers(0, SPAN_MS - 1), st.sampled_from(["s", "t/u"]), lines), min_size=0, max_size=25)
borders = st.lists(st.integers(1, SPAN_MS - 1), max_size=4, unique=True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.data_too_large])
@given(events=events, borders=borders, data=st.data())
def test_every_event_is_there_once_however_it_was_served_and_windowed(events, borders, data):
    service = Service(events, data.draw)
    cuts = [0, *sorted(borders), SPAN_MS]
    windows = [
        TimeWindow(T + timedelta(milliseconds=a), T + timedelta(milliseconds=b))
        for a, b in zip(cuts, cuts[1:], strict=False)
    ]
    whole = TimeWindow(T, T + timedelta(milliseconds=SPAN_MS))
    order = data.draw(st.permutations([*windows, *windows[:1], whole]), label="order of windows")
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(Path(folder) / "lake")
        group = LogGroup("/g", "1", "eu-west-1", (), service)  # type: ignore[arg-type]
        readings = [log_events.ingest(lake, group, window, NOW) for window in order]
        stored = lake.read(BY_NAME["log_events"]).to_pylist()

    assert {r.status for r in readings} == {"ok"}
    assert all(r.seen_count == r.stored_count + r.already_count + r.quarantined_count for r in readings)
    assert sum(r.stored_count for r in readings) == len(stored) == len({r["evidence_id"] for r in stored})
    found = Counter(((r["logged_at"] - T) // timedelta(milliseconds=1), r["log_stream"], r["line"]) for r in stored)
    assert found == Counter(events)
