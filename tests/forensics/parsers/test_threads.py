"""Which thread wrote a line, as loggers say it."""

import json

import pytest

from forensics.parsers.threads import thread_of

CAMEL = "Camel (camel-1) thread #2 - aws2-sqs://payments"
SAID = {
    "Java's loggers, in square brackets": ("12:00:41.123 INFO  [sqs-3] c.a.Charge - done", "sqs-3"),
    "cut on the left": ("12:00:41.123 INFO  [ntContainer#0-3] c.a.Charge - done", "ntContainer#0-3"),
    "Camel": (f"12:00:41.123 INFO  [{CAMEL}] c.a.Charge - done", "Camel (camel-1) thread #2"),
    "Camel, another of its threads": (f"[{CAMEL.replace('#2', '#12')}] done", "Camel (camel-1) thread #12"),
    "Quarkus, behind its logger": ("12:00:41,123 INFO  [com.acm.Charge] (executor-thread-1) done", "executor-thread-1"),
    "JBoss, behind the level": ("12:00:41,123 INFO  (default-worker-7) done", "default-worker-7"),
    "in round brackets of what is said": ("12:00:41,123 INFO  [com.acm.Charge] done (by worker-7)", None),
    "in round brackets behind what is said": ("12:00:41,123 INFO  [com.acm.Charge] done (worker-7)", None),
    "Logback's JSON": (json.dumps({"message": "done", "thread_name": "sqs-3"}), "sqs-3"),
    "Camel's, in JSON": (json.dumps({"message": "done", "thread_name": CAMEL}), CAMEL),
    "a pool's, in JSON": (json.dumps({"message": "done", "thread": "pool-1 worker 7"}), "pool-1 worker 7"),
    "a number": (json.dumps({"message": "done", "thread": 140234}), "140234"),
    "logfmt": ('level=info thread=sqs-3 msg="done"', "sqs-3"),
    "a name in quotes that is cut": ('{"message":"done","thread":"sqs-', "sqs-"),
    "Python's": ("2026-01-05 12:00:41,123 Thread-4 INFO done", "Thread-4"),
    "the only one": (json.dumps({"message": "done", "thread": "main"}), None),
}


@pytest.mark.parametrize(("line", "thread"), SAID.values(), ids=SAID)
def test_a_line_says_which_thread_wrote_it(line, thread):
    assert thread_of(line) == thread
