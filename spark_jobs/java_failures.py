"""What only the machine can have done to Spark, said in a sentence; the next run then starts another Java."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkContext

from forensics.errors import SparkEndedError
from spark_jobs.context import DEFAULT_MEMORY, forget_context

_GRACE_S = 1.0
"""Its connections break a moment before a killed process counts as ended."""


@contextmanager
def java_failures_told() -> Iterator[None]:
    """Raise SparkEndedError where Java was killed or had no memory left; anything else passes as it is, a bug of ours."""
    try:
        yield
    except Exception as problem:
        if (status := _status_of_java()) is not None:
            forget_context()
            raise SparkEndedError.killed(status) from problem
        if "OutOfMemoryError" in str(problem):
            raise SparkEndedError.out_of_memory(DEFAULT_MEMORY) from problem
        raise


def _status_of_java() -> int | None:
    """Return the exit status of the Java that this process started, None while it runs or where it started none."""
    java = getattr(SparkContext._gateway, "proc", None)
    if java is None:
        return None
    try:
        return int(java.wait(_GRACE_S))
    except subprocess.TimeoutExpired:
        return None
