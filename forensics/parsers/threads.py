"""Which thread of a worker wrote a line, or in which request or trace, where the line says it."""

from forensics.parsers.grammar import Pattern, holds_any

MOST_CHARS = 4_000
"""Further in, a line of JSON holds what it is about."""

IN_BRACKETS = Pattern(
    "thread_in_brackets",
    r"(?:\[|(?:\]|[A-Z]{4,5})[ ]{1,3}\()[ ]{0,20}"
    r"(?P<thread>(?=[^\])]{0,80}(?i:thread|pool|worker|exec|container|consumer|listener|processor|sqs))"
    r"[A-Za-z][\w.:#-]{0,78}[-#_][0-9]{1,6}|[A-Za-z][\w ().:-]{0,60}[ ]thread[ ]#[0-9]{1,6})"
    r"(?:[ ]-[ ][^\]\s]{1,100})?[ ]{0,20}[\])]",
)
"""Java's loggers, and Python's where its format asks for the thread; a number tells one of several. JBoss and Quarkus write it in round
brackets behind the logger, Camel's has blanks and says which endpoint it serves."""
IN_FIELD = Pattern(
    "thread_in_field",
    r"(?i:\b(?:tid|thread(?:[_. ]?(?:name|id))?))[\"']?[ ]?[:=][ ]?[\"']?(?P<thread>(?<=[\"'])[^\"'\\\n\r]{1,120}(?=[\"'])|[\w.#:-]{1,80})",
)
"""Sidekiq's ``tid=``, and the fields of JSON layouts."""
_FIELD_NEEDLES = ("tid", "thread")
BY_NAME = Pattern(
    "thread_by_name", r"\b(?P<thread>(?:Thread|ThreadPoolExecutor|ForkPoolWorker|SpawnPoolWorker)-[0-9][0-9_-]{0,20})\b"
)
"""Python's own names of threads and of processes of a pool."""
_NAME_NEEDLES = ("Thread-", "ThreadPoolExecutor-", "PoolWorker-")

IN_REQUEST = Pattern(
    "request_of_line",
    r"(?i:\b(?:req(?:uest)?|trace|correlation)[_.-]?id|\bjid)[\"']?[ ]?[:=][ ]?[\"']?(?P<thread>[\w.#:-]{4,80})",
)
"""What an event loop's lines have instead of a thread; Sidekiq's ``jid=``."""
_REQUEST_NEEDLES = ("req", "trace", "correlation", "jid")
_ALONE = frozenset({"main", "mainthread", "thread-0"})


def thread_of(line: str) -> str | None:
    """Return the thread that a line says it was written by; where that is the only one, the request or trace it names.

    >>> thread_of("2026-11-20 05:00:00.797 INFO  [ntContainer#0-3] c.a.Worker - Charged order 7")
    'ntContainer#0-3'
    >>> thread_of('{"message": "Charged order 7", "thread_name": "sqs-3"}')
    'sqs-3'
    >>> thread_of("2026-11-20 05:00:00 INFO  [Camel (camel-1) thread #2 - aws2-sqs://payments] c.a.Charge - Charged order 7")
    'Camel (camel-1) thread #2'
    >>> thread_of("2026-11-20 05:00:00,797 INFO  [com.acm.Charge] (executor-thread-1) Charged order 7")
    'executor-thread-1'
    >>> thread_of('{"msg": "Charged order 7", "thread": "main", "reqId": "r-5f1"}')
    'r-5f1'
    >>> thread_of("[attempt-2] Charged order 7") is None
    True
    """
    head = line[:MOST_CHARS]
    small = head.lower()
    named = None
    if not head.startswith("{"):
        named = IN_BRACKETS.find(head, "thread")
        if named is None and holds_any(head, _NAME_NEEDLES):
            named = BY_NAME.find(head, "thread")
    if named is None and holds_any(small, _FIELD_NEEDLES):
        named = IN_FIELD.find(head, "thread")
    if named is not None and named.lower() not in _ALONE:
        return named
    return IN_REQUEST.find(head, "thread") if holds_any(small, _REQUEST_NEEDLES) else None
