"""What Spark starts its Python workers from: pyspark's own daemon, without the archives that Spark puts on the path.

Before every task a worker forgets what it knows of its import path. For an archive Python 3.11 and 3.12 then read the
whole list of contents again, half a second a task, though nothing is imported from there: pyspark is installed.
"""

import io
import os
import sys

# What polars gives back it asks for again with the next unit: it keeps it for ten seconds, not half a one, for all its threads.
os.environ["_RJEM_MALLOC_CONF"] = "narenas:1,dirty_decay_ms:10000,muzzy_decay_ms:10000"
sys.path[:] = [entry for entry in sys.path if not entry.endswith((".zip", ".jar"))]
for entry in [known for known in sys.path_importer_cache if known.endswith((".zip", ".jar"))]:
    del sys.path_importer_cache[entry]

import pyarrow as pa  # noqa: E402 - not before the path is set
from pyspark import daemon, worker  # noqa: E402

from forensics.without_pandas import leave_pandas_out  # noqa: E402


def one_task(tasks: io.BufferedReader, results: io.BufferedWriter) -> None:
    """Do as pyspark does, but end without a traceback where Java is gone instead of a next task."""
    if not tasks.peek(1):
        os._exit(0)
    worker.main(tasks, results)


if __name__ == "__main__":
    leave_pandas_out(pa.scalar)
    daemon.worker_main = one_task
    daemon.manager()
