"""Let Java write down the classes that Spark needs, once for an installation: ``python -m cli.java_classes``.

Java else reads some 7,700 classes out of 290 archives at every start, and checks each: half of the time until Spark is up.
Where the archives or Java are others later, it reads them as it did before.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from spark_jobs.context import SHORT_LIVED, class_path, end_spark, spark_context
from spark_jobs.java import Java, find_java


def write_classes(java: Java) -> Path | None:
    """Write them down, and return where they lie; None where Java could not. Raises OSError where nothing may be written."""
    with tempfile.TemporaryDirectory(prefix="doubletake-classes-") as folder:
        names = Path(folder) / "names"
        context = spark_context(java_options=f"-XX:DumpLoadedClassList={names}")
        context.parallelize(range(2), 2).map(context.broadcast(range(2)).value.index).collect()
        end_spark()
        java.classes.parent.mkdir(parents=True, exist_ok=True)
        draft = java.classes.with_name(f"classes.{os.getpid()}")
        what = [f"-XX:SharedClassListFile={names}", f"-XX:SharedArchiveFile={draft}"]
        order = [str(java.executable), *SHORT_LIVED.split(), "-Xshare:dump", *what, "-cp", class_path()]
        done = subprocess.run(order, capture_output=True, check=False)
        if done.returncode:
            draft.unlink(missing_ok=True)
            return None
        return draft.replace(java.classes)


def main() -> None:
    """Write them down for the Java that is found; says so where that failed, which costs nothing else."""
    java = find_java()
    try:
        why = None if write_classes(java) else "Java wrote down no classes"
    except OSError as problem:
        why = str(problem)
    if why:
        print(f"Spark starts no faster: {java}: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
