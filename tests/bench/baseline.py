"""The same answers by hand: one DuckDB script from raw lines to the ledger and to the interval of what came again.

It knows this benchmark's log format and nothing else; that is its head start over the product.
"""

from dataclasses import dataclass
from pathlib import Path

import duckdb

from tests.bench.generate import FUNCTION, GROUP, QUEUE, arn_of

_PARSED = """
create temp table parsed as
select evidence_id, log_stream, logged_at, order_in_ms, kind, run,
    case kind when 'event' then json_transform(line[position('{' in line):], $shape).Records end as records,
    case kind when 'effect' then regexp_extract(line, 'message_id=(\\S+)', 1) end as effect_message,
    case kind when 'report' then regexp_extract(line, 'Duration: ([0-9.]+)', 1)::double end as duration_ms,
    case kind when 'start' then regexp_extract(line, 'RequestId: ([0-9a-f-]{36})', 1) end as request_id,
    kind = 'timeout' or (kind = 'report' and contains(line, 'Status: timeout')) as timed_out
from (
    select *, sum((kind = 'start')::int) over (partition by log_stream order by logged_at, order_in_ms) as run
    from (
        select evidence_id, log_stream, logged_at, order_in_ms, line,
            case when starts_with(line, 'START RequestId: ') then 'start'
                 when starts_with(line, 'END RequestId: ') then 'end'
                 when starts_with(line, 'REPORT RequestId: ') then 'report'
                 when contains(line, 'Task timed out after') then 'timeout'
                 when starts_with(line, '[ERROR]') then 'error'
                 when contains(line, '"Records": [') then 'event'
                 when contains(line, 'charged payment_id=') then 'effect'
                 else 'other' end as kind
        from read_parquet($files)
    )
)
"""

_INVOCATIONS = """
create temp table invocations as
select log_stream, run, max(request_id) as request_id,
    min(logged_at) as started_at, max(logged_at) filter (kind in ('end', 'report')) as ended_at,
    max(duration_ms)::bigint as duration_ms,
    case when bool_or(timed_out) then 'timeout' when bool_or(kind = 'error') then 'error' else 'success' end as end_status,
    list(effect_message) filter (kind = 'effect') as marked,
    list(logged_at) filter (kind = 'effect') as marked_at,
    list(evidence_id order by evidence_id) as evidence_ids
from parsed group by log_stream, run
"""

_DELIVERIES = """
create temp table deliveries as
with unnested as (
    select log_stream, run, generate_subscripts(records, 1) as position, unnest(records) as record
    from parsed where kind = 'event'
),
placed as (
    select u.log_stream, u.run, u.position, record.messageId as message_id, record.receiptHandle as receipt_handle,
        record.md5OfBody as body_md5, record.attributes.ApproximateReceiveCount as receive_count,
        record.attributes.SentTimestamp as sent_ms, record.attributes.ApproximateFirstReceiveTimestamp as first_ms,
        json_extract_string(record.body, '$.payment_id') as key,
        i.request_id, i.started_at, i.ended_at, i.end_status, i.evidence_ids,
        list_position(i.marked, record.messageId) as marker, i.marked_at
    from unnested u join invocations i using (log_stream, run)
),
reached as (
    select *, coalesce(max(case when marker > 0 then position end) over (partition by log_stream, run), 0) + 1 as reached,
        count(*) over (partition by log_stream, run) as batch_count
    from placed
),
-- a guard may answer a repeat without a line, and the run go on from it: no further than to a message that came first
ended as (
    select *, min(case when position >= reached and receive_count = 1 then position end)
        over (partition by log_stream, run) as reached_at_most
    from reached
)
select $queue_arn as queue_arn, $queue as queue, message_id, receive_count, $function as function_name, request_id,
    $group as log_group, log_stream, run, position as batch_position, batch_count,
    case when receive_count = 1 then make_timestamptz(first_ms * 1000) else started_at end as received_at,
    started_at, ended_at, end_status,
    case when marker > 0 then 'yes' when end_status = 'success' then 'no' when position > reached_at_most then 'no'
        else 'unknown' end as effect,
    case when marker > 0 then 'marker' when end_status = 'success' then 'no_marker' when position > reached_at_most
        then 'not_reached' when position = reached then 'in_progress' else 'no_item_lines' end as basis,
    marked_at[marker] as effect_at, make_timestamptz(sent_ms * 1000) as sent_at, body_md5, receipt_handle,
    [key] as business_keys, evidence_ids
from ended
"""

_REDELIVERED = """
create temp table redelivered as
select message_id, count(*) as deliveries, max(receive_count) as receive_count,
    count(*) filter (effect = 'yes') as effects_at_least,
    count(*) filter (effect in ('yes', 'unknown')) as effects_at_most,
    min(received_at) as first_received_at, max(received_at) as last_received_at
from deliveries group by message_id having count(*) > 1 or max(receive_count) > 1
"""


_SHAPE = """{"Records": [{"messageId": "VARCHAR", "receiptHandle": "VARCHAR", "body": "VARCHAR", "md5OfBody": "VARCHAR",
"attributes": {"ApproximateReceiveCount": "INTEGER", "SentTimestamp": "BIGINT",
"ApproximateFirstReceiveTimestamp": "BIGINT"}}]}"""


@dataclass(frozen=True)
class Answers:
    """What both engines must agree on. ``intervals`` are of the messages that came again."""

    delivery_count: int
    message_count: int
    intervals: dict[str, tuple[int, int | None]]

    @property
    def came_again(self) -> float:
        """The share of messages that came again."""
        return len(self.intervals) / self.message_count

    def differences(self, other: "Answers") -> list[str]:
        """Say where two engines disagree; empty if nowhere."""
        counts = {
            "deliveries": (self.delivery_count, other.delivery_count),
            "messages": (self.message_count, other.message_count),
        }
        found = [f"{what}: {mine} and {theirs}" for what, (mine, theirs) in counts.items() if mine != theirs]
        for message_id in sorted(self.intervals.keys() | other.intervals.keys()):
            one, another = self.intervals.get(message_id), other.intervals.get(message_id)
            if one != another:
                found.append(f"{message_id}: {one} and {another}")
        return found


def answer(files: list[str], out: Path, threads: int) -> Answers:
    """Read raw lines from Parquet files, write invocations, deliveries and what came again as Parquet."""
    out.mkdir(parents=True, exist_ok=True)
    said = {"queue_arn": arn_of(QUEUE), "queue": QUEUE, "function": FUNCTION, "group": GROUP}
    with duckdb.connect(str(out / "work.duckdb"), config={"threads": threads, "preserve_insertion_order": False}) as db:
        db.execute("set timezone = 'UTC'")
        db.execute(_PARSED, {"files": files, "shape": _SHAPE})
        db.execute(_INVOCATIONS)
        db.execute(_DELIVERIES, said)
        db.execute(_REDELIVERED)
        for table in ("invocations", "deliveries", "redelivered"):
            db.execute(f"copy {table} to '{out}/{table}.parquet' (format parquet, compression zstd)")
        counts = db.execute("select count(*), count(distinct message_id) from deliveries").fetchone() or (0, 0)
        rows = db.execute("select message_id, effects_at_least, effects_at_most from redelivered").fetchall()
    return Answers(*counts, {message_id: (low, high) for message_id, low, high in rows})
