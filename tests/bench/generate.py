"""Raw log events of a busy queue, made by DuckDB and appended to a lake as collecting would.

Seven lines a run: START, the printed event of about four records, three effect lines, END, REPORT. Every so many runs fail
(old timeout line, ``Status: timeout``, or an error) after two or three effects, and their batch comes again one visibility
timeout later; every 16th of those fails twice. In bursts, every fourth fails for two minutes, and none for the next 25.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from forensics.identity import evidence_id
from forensics.lake import Lake, arrow_schema
from forensics.lake.schemas import to_arrow
from forensics.tables import BY_NAME
from lab.loglines import end_line, report_line, start_line, timed_out_line
from tests.oracle.lines import at

ACCOUNT, REGION = "123456789012", "eu-west-1"
QUEUE, FUNCTION = "payments", "charge-card"
GROUP = f"/aws/lambda/{FUNCTION}"
BASE_MS = 1_767_600_000_000
STREAMS, TURN_MS = 200, 4_000
AGAIN = STREAMS * 30 + 1  # a failed batch comes again so many runs later: 30 turns of 4 s, in the next stream
VISIBILITY_S, TIMEOUT_S = 115, 3
LINES_PER_RUN = 7
GROUPS = 2 * AGAIN + 5
"""A batch is of one message group, whose next batch comes when the last attempt at this one is over."""
CHUNK_RUNS = 40_000
EVERY = 64
_STEADY = {"apart": "1", "long": "1", "burst_at": "0"}
_BURSTS = {"every": "4", "apart": "400", "long": "27"}
"""Every so many runs fail; in turns, how far apart bursts begin, and how long they last."""

SETTINGS = rf"""
[[function]]
name = "{FUNCTION}"
effect = 'charged payment_id=(?P<key>\S+) message_id=(?P<message_id>\S+)'
effect_is_exhaustive = true
order = "sequential"

[[queue]]
name = "{QUEUE}"
business_key = "$.payment_id"
"""

_RUNS = f"""
    with numbered as (
        select r,
            case when r >= 2 * {AGAIN} and fails(r - 2 * {AGAIN}, 16) then 3
                 when r >= {AGAIN} and fails(r - {AGAIN}, 1) then 2 else 1 end as attempt
        from range($first, $last) as t(r)
    ),
    told as (
        select r, attempt, r - (attempt - 1) * {AGAIN} as source, (hash(r) % 900)::bigint as jitter
        from numbered
    )
    select r, attempt, source,
        md5('request ' || r) as request_hex,
        '2026/01/05/[$LATEST]' || md5('stream ' || (r % {STREAMS})) as log_stream,
        {BASE_MS} + (r // {STREAMS}) * {TURN_MS} + jitter as start_ms,
        {BASE_MS} + (source // {STREAMS}) * {TURN_MS} + (hash(source) % 900)::bigint - 40 as first_ms,
        3 + (hash(source, 7) % 20 >= 7)::int + (hash(source, 7) % 20 >= 16)::int as record_count,
        case when not fails(source, 1) or attempt = 3 or (attempt = 2 and not fails(source, 16)) then 'success'
             when (source // 64) % 3 = 0 then 'timeout_old'
             when (source // 64) % 3 = 1 then 'timeout' else 'error' end as status
    from told
"""

_RECORDS = """
    select r, position, uuid_of('message ' || source || ' ' || position) as message_id,
        'pay_' || source || '_' || position as payment_id,
        '{"messageId": "' || uuid_of('message ' || source || ' ' || position)
        || '", "receiptHandle": "RH~AQEB' || substr(md5('prefix ' || r || position), 1, 20) || '~'
        || md5('handle ' || r || ' ' || position)
        || '", "body": "{\\"payment_id\\": \\"pay_' || source || '_' || position || '\\", \\"amount\\": '
        || (100 + hash(source, position) % 90000) || ', \\"currency\\": \\"EUR\\"}", "attributes": {'
        || '"ApproximateReceiveCount": "' || attempt || '", "SentTimestamp": "' || (first_ms - 400 + $apart_ms)
        || '", "SenderId": "AROAEXAMPLE:producer", "ApproximateFirstReceiveTimestamp": "' || first_ms
        || '"' || $grouped || '}, "messageAttributes": {}, "md5OfBody": "' || md5('body ' || source || ' ' || position)
        || '", "eventSource": "aws:sqs", "eventSourceARN": "$queue_arn", "awsRegion": "$region"}' as record
    from runs, range(1, record_count + 1) as t(position)
"""

_IN_GROUP = f"""
    ', "MessageGroupId": "customer-' || source % {GROUPS} || '", "MessageDeduplicationId": "pay_' || source || '_'
        || position || '", "SequenceNumber": "' || (18890000000000000000 + source * 16 + position) || '"'
"""

_LINES = """
    with events as (
        select r, string_agg(record, ', ' order by position) as records from records group by r
    ),
    ends as (
        select *, uuid_of_hex(request_hex) as request_id,
            start_ms + case status when 'success' then 300 + (hash(r, 3) % 1500)::bigint when 'error' then 700
                else $timeout_ms end as end_ms
        from runs
    ),
    effects as (
        select e.*, c.position, c.message_id, c.payment_id
        from ends e join records c using (r)
        where c.position <= case when status in ('timeout_old', 'error') then 2 else 3 end
    ),
    spoken as (
        select log_stream, start_ms as at_ms, 0 as place, r,
            $start_line as line
        from ends
        union all
        select log_stream, start_ms + 2, 1, r,
            '[INFO]' || chr(9) || iso(start_ms + 2) || chr(9) || request_id || chr(9) || '{"Records": [' || records
            || ']}' || chr(10)
        from ends join events using (r)
        union all
        select log_stream, start_ms + 2 + position * 90, 1 + position, r,
            '[INFO]' || chr(9) || iso(start_ms + 2 + position * 90) || chr(9) || request_id || chr(9)
            || 'charged payment_id=' || payment_id || ' message_id=' || message_id || chr(10)
        from effects
        union all
        select log_stream, end_ms, 5, r,
            case status when 'error' then '[ERROR] ValueError: card provider answered 502' || chr(10)
                || 'Traceback (most recent call last):' || chr(10)
                || chr(160) || chr(160) || 'File "/var/task/app.py", line 42, in handler'
            else $timed_out_line end
        from ends where status in ('error', 'timeout_old')
        union all
        select log_stream, end_ms, 6, r, $end_line from ends
        union all
        select log_stream, end_ms, 7, r, $report_line from ends
    )
    select
        'log:' || replace(replace(rtrim(to_base64(unhex(sha256('$account|$region|$group|' || event_id))), '='),
            '+', '-'), '/', '_') as evidence_id,
        '$account' as account_id, '$region' as region, '$group' as log_group, log_stream, event_id,
        make_timestamptz(at_ms * 1000) as logged_at, make_timestamptz((at_ms + 900) * 1000) as ingested_at,
        (row_number() over (partition by log_stream, at_ms order by place) - 1)::int as order_in_ms, line,
        make_timestamptz($collected_ms * 1000) as collected_at
    from (
        select *, lpad((38 * 10 ** 18 + at_ms)::hugeint::varchar, 24, '0') || lpad(r::varchar, 24, '0')
            || lpad(place::varchar, 8, '0') as event_id
        from spoken
    )
    order by logged_at, log_stream, order_in_ms
"""

_PLATFORM_LINES = {
    "start_line": start_line("<request>"),
    "end_line": end_line("<request>"),
    "timed_out_line": timed_out_line("<end>", "<request>", 3012.52),
    "report_line": report_line("<request>", 1234.56, 7890, status="<status>"),
}
_COLUMNS = {
    "<request>": "request_id",
    "<end>": "iso(end_ms)",
    "1234.56": "(end_ms - start_ms) || case status when 'timeout_old' then '.52' else '.00' end",
    "7890": "(end_ms - start_ms)",
    "<status>": "case status when 'timeout' then 'Status: timeout' else '' end",
}
"""What stands in a run's own line for the marks above, in SQL."""

_MACROS = """
    create macro uuid_of_hex(h) as substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-4' || substr(h, 14, 3) || '-8'
        || substr(h, 18, 3) || '-' || substr(h, 21, 12);
    create macro uuid_of(text) as uuid_of_hex(md5(text));
    create macro fails(r, rarely) as r % ($every * rarely) = 0
        and ((r // $streams - $burst_at) % $apart + $apart + $long // 2) % $apart < $long;
    create macro iso(ms) as strftime(make_timestamp(ms * 1000), '%Y-%m-%dT%H:%M:%S.%gZ');
"""


def log_events(
    lines: int, threads: int, after: int = 0, burst_at: int | None = None, queue: str = QUEUE, every: int = EVERY
) -> Iterator[pa.Table]:
    """Yield about so many log events, less the first ``after``, as Arrow tables of the declared columns, in time order.

    Runs fail in bursts, one of them around the line ``burst_at``; None: all the time, one of ``every`` runs, so that one of
    ``every - 1`` messages comes again. Messages of a FIFO ``queue`` have groups.
    """
    runs = max(1, lines // LINES_PER_RUN)
    steady = _STEADY | {"every": str(every)}
    fails = steady if burst_at is None else _BURSTS | {"burst_at": str(burst_at // LINES_PER_RUN // STREAMS)}
    end_ms = _end_ms(runs)
    words = {
        "account": ACCOUNT,
        "region": REGION,
        "grouped": "''",
        "group": GROUP,
        "queue_arn": arn_of(queue),
        "apart_ms": "0",
    }
    if queue.endswith(".fifo"):
        words |= {"grouped": _IN_GROUP, "apart_ms": "position"}
    words |= {name: _in_sql(line) for name, line in _PLATFORM_LINES.items()}
    words |= {"timeout_ms": str(TIMEOUT_S * 1000), "collected_ms": str(end_ms)}
    records, spoken = (_filled(sql, words) for sql in (_RECORDS, _LINES))
    schema = arrow_schema(BY_NAME["log_events"])
    with duckdb.connect(config={"threads": threads}) as db:
        db.execute("set timezone = 'UTC'")
        db.execute(_filled(_MACROS, fails | {"streams": str(STREAMS)}))
        for first in range(after // LINES_PER_RUN, runs, CHUNK_RUNS):
            last = min(runs, first + CHUNK_RUNS)
            db.execute(f"create or replace temp table runs as {_RUNS}", {"first": first, "last": last})
            db.execute(f"create or replace temp table records as {records}")
            yield db.execute(spoken).to_arrow_table().cast(schema)


def _in_sql(line: str) -> str:
    """Return a line as SQL that writes it, with columns for its marks."""
    for mark, column in _COLUMNS.items():
        line = line.replace(mark, f"' || {column} || '")
    return f"'{line}'"


def _filled(sql: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        sql = sql.replace("$" + word, value)
    return sql


def _end_ms(runs: int) -> int:
    return BASE_MS + (runs // STREAMS + 1) * TURN_MS + 600_000


def fill(
    root: Path,
    lines: int,
    threads: int,
    progress: Callable[[int], None] | None = None,
    burst_at: int | None = None,
    queue: str = QUEUE,
    every: int = EVERY,
) -> Lake:
    """Make a lake of about so many log events and everything that collecting them would have stored."""
    lake, stored = Lake(root), 0
    for chunk in log_events(lines, threads, burst_at=burst_at, queue=queue, every=every):
        stored += lake.append(BY_NAME["log_events"], chunk, f"log_events|{GROUP}").stored_count
        if progress:
            progress(stored)
    runs = max(1, lines // LINES_PER_RUN)
    store_beside(lake, GROUP, lines, _end_ms(runs), VISIBILITY_S, _of_function(at(_end_ms(runs)), queue), queue)
    return lake


def store_beside(
    lake: Lake,
    group: str,
    lines: int,
    end_ms: int,
    visibility_s: int,
    of_consumer: dict[str, dict[str, Any]],
    queue: str = QUEUE,
) -> None:
    """Store what collecting leaves beside the lines of a log group: the queue's settings, coverage, and what is the consumer's.

    ``end_ms`` is when all of it was read, milliseconds since 1970 UTC; ``of_consumer`` has a row by table.
    """
    seen_at = at(end_ms)
    named = {"queue_arn": arn_of(queue), "queue_name": queue}
    rows = {
        "queue_settings": {
            **named,
            "is_fifo": queue.endswith(".fifo"),
            "visibility_timeout_s": visibility_s,
            "message_retention_s": 345_600,
            "observed_at": seen_at,
        },
        "coverage": {
            "source": "log_events",
            "resource": group,
            "queue_arn": arn_of(queue),
            "window_start_at": at(BASE_MS - 60_000),
            "window_end_at": seen_at,
            "status": "ok",
            "seen_count": lines,
            "stored_count": lines,
            "already_count": 0,
            "quarantined_count": 0,
            "is_provisional": False,
            "collected_at": seen_at,
        },
        **of_consumer,
    }
    rows["consumers"] = {**named, "log_group": group, **rows["consumers"]}
    for name, row in rows.items():
        table = BY_NAME[name]
        full = {"evidence_id": evidence_id(name, "bench"), "account_id": ACCOUNT, "region": REGION, **row}
        lake.append(table, to_arrow(table, [full]), f"{name}|bench")


def arn_of(queue: str) -> str:
    """Return the ARN of a queue of the generated account."""
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}"


def _of_function(seen_at: datetime, queue: str) -> dict[str, dict[str, Any]]:
    arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{FUNCTION}"
    function = {"function_name": FUNCTION, "function_arn": arn}
    return {
        "function_settings": {
            **function,
            "timeout_s": TIMEOUT_S,
            "memory_mb": 256,
            "runtime": "python3.12",
            "log_group": GROUP,
            "log_format": "Text",
            "observed_at": seen_at,
        },
        "event_source_mappings": {
            **function,
            "mapping_uuid": "5f1c1d8e-0000-4000-8000-000000000001",
            "queue_arn": arn_of(queue),
            "batch_size": 10,
            "batching_window_s": 0,
            "reports_batch_item_failures": False,
            "counts_events": False,
            "state": "Enabled",
            "observed_at": seen_at,
        },
        "consumers": {"kind": "lambda", "function_name": FUNCTION, "found_by": "mapping"},
    }
