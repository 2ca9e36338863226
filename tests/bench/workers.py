"""Raw log events of workers on a busy queue, as ``generate`` makes them of functions: a few streams that live for ever.

Four lines a handling: its start with message id and receive count, a line that tells nothing, the effect, the delete. Every
fourth fails in bursts, for two minutes of every twenty-seven: its delete is missing, and its message comes to the next stream
one visibility timeout later.
"""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa

from forensics.lake import Lake, arrow_schema
from forensics.tables import BY_NAME
from tests.bench.generate import ACCOUNT, BASE_MS, QUEUE, REGION, store_beside

GROUP = "/ecs/charge"
STREAMS, TURN_MS, VISIBILITY_S = 8, 1_000, 30
AGAIN = STREAMS * VISIBILITY_S + 1
LINES_PER_HANDLING = 4
BURST_TURNS, APART_TURNS = 120, 1_620

SETTINGS = rf"""
[[worker]]
log_group = "{GROUP}"
queue = "{QUEUE}"
receive_count = 'count=(?P<receive_count>\d+)'
started = 'handling message_id=(?P<message_id>\S+)'
effect = 'charged message_id=(?P<message_id>\S+)'
deleted = 'deleted message_id=(?P<message_id>\S+)'
"""

_LINES = f"""
    with handlings as (
        select h, fails(h) as failed, h >= {AGAIN} and fails(h - {AGAIN}) as again,
            {BASE_MS} + (h // {STREAMS}) * {TURN_MS} + (hash(h) % 200)::bigint as start_ms
        from range($first, $last) as t(h)
    ),
    told as (
        select *, md5('message ' || case when again then h - {AGAIN} else h end) as hex from handlings
    ),
    named as (
        select *, substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-4' || substr(hex, 14, 3) || '-8' || substr(hex, 18, 3)
            || '-' || substr(hex, 21, 12) as id
        from told
    ),
    spoken as (
        select h, start_ms as at_ms, 0 as place,
            'INFO handling message_id=' || id || ' count=' || case when again then 2 else 1 end as line
        from named
        union all
        select h, start_ms + 20, 1, 'INFO asking the card provider, attempt 1 of 3' from named
        union all
        select h, start_ms + 300, 2, 'INFO charged message_id=' || id from named
        union all
        select h, start_ms + 310, 3,
            case when failed then 'ERROR no answer from the ledger' else 'INFO deleted message_id=' || id end
        from named
    )
    select
        'log:' || replace(replace(rtrim(to_base64(unhex(sha256('{GROUP}|' || h || '|' || place))), '='), '+', '-'), '/', '_')
            as evidence_id,
        '{ACCOUNT}' as account_id, '{REGION}' as region, '{GROUP}' as log_group,
        'charge/app/' || (h % {STREAMS}) as log_stream,
        lpad((38 * 10 ** 18 + at_ms)::hugeint::varchar, 24, '0') || lpad(h::varchar, 24, '0') || place as event_id,
        make_timestamptz(at_ms * 1000) as logged_at, make_timestamptz((at_ms + 900) * 1000) as ingested_at,
        0 as order_in_ms, line, make_timestamptz($collected_ms * 1000) as collected_at
    from spoken order by at_ms, h
"""


def log_events(lines: int, threads: int, after: int = 0, burst_at: int = 0) -> Iterator[pa.Table]:
    """Yield about so many log events, less the first ``after``, one of the bursts of failures being at line ``burst_at``."""
    turn = burst_at // LINES_PER_HANDLING // STREAMS
    burst = f"(h // {STREAMS} - {turn} + {BURST_TURNS // 2} + {APART_TURNS} * 10000) % {APART_TURNS} < {BURST_TURNS}"
    last = lines // LINES_PER_HANDLING
    words = {"first": after // LINES_PER_HANDLING, "last": last, "collected_ms": _end_ms(last)}
    with duckdb.connect(config={"threads": threads}) as db:
        db.execute("set timezone = 'UTC'")
        db.execute(f"create macro fails(h) as h % 4 = 0 and {burst}")
        yield db.execute(_LINES, words).to_arrow_table().cast(arrow_schema(BY_NAME["log_events"]))


def _end_ms(handlings: int) -> int:
    return BASE_MS + (handlings // STREAMS + 1) * TURN_MS + 600_000


def fill(root: Path, lines: int, threads: int, burst_at: int = 0) -> Lake:
    """Make a lake of about so many log events and what collecting them would have stored beside them."""
    lake = Lake(root)
    for chunk in log_events(lines, threads, burst_at=burst_at):
        lake.append(BY_NAME["log_events"], chunk, f"log_events|{GROUP}")
    worker = {"consumers": {"kind": "worker", "found_by": "settings"}}
    store_beside(lake, GROUP, lines, _end_ms(lines // LINES_PER_HANDLING), VISIBILITY_S, worker)
    return lake
