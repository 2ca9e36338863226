"""What the lines of a log group tell, and what to add to them."""

from forensics.tables.common import EVIDENCE, QUEUE, QUEUE_ARN
from forensics.tables.schema import Column, Table, sentence

LOGGING_READINESS = Table(
    "logging_readiness",
    "findings",
    grain="one log group in which a queue's consumer writes, and what its lines tell; one row per function of a shared group",
    key=("queue_arn", "log_group", "function_name"),
    columns=(
        QUEUE_ARN,
        QUEUE,
        Column("log_group", "string", "the log group"),
        Column("consumer_kind", "string", "lambda or worker"),
        Column("function_name", "string", "the function; null for workers"),
        Column(
            "level",
            "string",
            "ready, partial, blind (nothing but failures' lines names a message), unread (no line in evidence)",
        ),
        *sentence("sentence", "what the lines tell and what is missing, with numbers"),
        Column("handling_count", "long", "runs of the function, or handlings by the worker, in evidence"),
        Column("named_count", "long", "those of which a line names a message or business key"),
        Column("counted_count", "long", "those of which a line shows a receive count"),
        Column("item_start_count", "long", "those in which an item's start is logged"),
        Column("effect_count", "long", "those in which a configured effect line stands"),
        Column(
            "unlike_effect",
            "string",
            "the settings file's effect that no line is like; null: some is, or there is none",
        ),
        Column("response_count", "long", "those whose partial batch response is logged"),
        Column("start_line_count", "long", "those with a START line; at log level WARN there are none"),
        Column("missing", "strings", "what no line tells, most useful first"),
        Column("reasons", "strings", "why each missing thing matters, in the order of missing"),
        Column("python_lines", "strings", "the line to add in Python, in the order of missing"),
        Column("node_lines", "strings", "the line to add in Node, in the order of missing"),
        Column(
            "setting_lines", "strings", "what doubletake.toml then says, in the order of missing; empty where nothing"
        ),
        EVIDENCE,
    ),
)
