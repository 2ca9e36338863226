"""Which thread of a worker wrote a line, where the line says it: in brackets, or in a field of its own."""

from forensics.parsers.grammar import Pattern

MOST_CHARS = 4_000
"""Further in, a line of JSON holds what it is about."""

IN_BRACKETS = Pattern(
    "thread_in_brackets",
    r"\[[ ]{0,20}(?P<thread>(?=[^\]]{0,80}(?i:thread|pool|worker|exec|container|consumer|listener|processor|sqs))"
    r"[A-Za-z][\w.:#-]{0,78}[-#_][0-9]{1,6})[ ]{0,20}\]",
)
"""Java's loggers, and Python's where its format asks for the thread; a number tells one of several."""
IN_FIELD = Pattern(
    "thread_in_field",
    r"(?i:\b(?:tid|thread(?:[_. ]?(?:name|id))?))[\"']?[ ]?[:=][ ]?[\"']?(?P<thread>[\w.#:-]{1,80})",
)
"""Sidekiq's ``tid=``, and the fields of JSON layouts."""
BY_NAME = Pattern(
    "thread_by_name", r"\b(?P<thread>(?:Thread|ThreadPoolExecutor|ForkPoolWorker|SpawnPoolWorker)-[0-9][0-9_-]{0,20})\b"
)
"""Python's own names of threads and of processes of a pool."""


def thread_of(line: str) -> str | None:
    """Return the thread that a line says it was written by.

    >>> thread_of("2026-11-20 05:00:00.797 INFO  [ntContainer#0-3] c.a.Worker - Charged order 7")
    'ntContainer#0-3'
    >>> thread_of('{"message": "Charged order 7", "thread_name": "sqs-3"}')
    'sqs-3'
    >>> thread_of("[attempt-2] Charged order 7") is None
    True
    """
    head = line[:MOST_CHARS]
    if head.startswith("{"):
        return IN_FIELD.find(head, "thread")
    return IN_BRACKETS.find(head, "thread") or BY_NAME.find(head, "thread") or IN_FIELD.find(head, "thread")
