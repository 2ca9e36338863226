"""A standalone Spark cluster on loopback, started as a person would with Spark's own scripts: a master and its workers."""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pyspark

from spark_jobs.java import find_java
from tests.waiting import PATIENCE_S

LOOPBACK = "127.0.0.1"
_SPARK = Path(pyspark.__file__).parent
_LOOK_EVERY_S = 0.05


class Cluster:
    """One master and workers of one core each; ``url`` is what ``--master`` takes. Everything ends with it."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder
        self.url = f"spark://{LOOPBACK}:{_free_port()}"
        self._started: dict[str, subprocess.Popen[bytes]] = {}
        port = self.url.rpartition(":")[2]
        self._start("master", "master.Master", "--host", LOOPBACK, "--port", port, "--webui-port", "0")
        self._wait(lambda: "I have been elected leader" in self.log("master"), "the master to listen")
        for number in range(workers):
            self._start_worker(f"worker-{number}")
        self._wait(lambda: self.log("master").count("Registering worker") == workers, "the workers to register")

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._started):
            self.kill(name)

    def executors(self, name: str) -> list[Path]:
        """Return the folders of the executors that a worker has started."""
        return sorted(self.folder.glob(f"{name}/app-*/*"))

    def tasks(self, name: str) -> int:
        """Return how many tasks a worker's executors have begun."""
        logs = [folder / "stderr" for folder in self.executors(name)]
        return sum(len(re.findall(r"Running task ", log.read_text())) for log in logs if log.exists())

    def kill(self, name: str) -> None:
        """End a worker or the master, its executors with it, by a signal that nothing can catch."""
        process = self._started.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_S)

    def log(self, name: str) -> str:
        """Return what a process has logged so far."""
        return (self.folder / f"{name}.log").read_text()

    def _start_worker(self, name: str) -> None:
        size = ("--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / name))
        self._start(name, "worker.Worker", "--host", LOOPBACK, "--webui-port", "0", *size, self.url)

    def _start(self, name: str, role: str, *args: str) -> None:
        environ = os.environ | {
            "SPARK_HOME": str(_SPARK),
            "JAVA_HOME": str(find_java().launcher_home()),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }
        command = [str(_SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}", *args]
        with (self.folder / f"{name}.log").open("wb") as log:
            self._started[name] = subprocess.Popen(
                command, env=environ, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    def _wait(self, is_there: Callable[[], bool], what: str) -> None:
        try:
            wait_for(is_there, what)
        except AssertionError:
            said = {name: self.log(name)[-2000:] for name in self._started}
            self.__exit__()
            raise AssertionError(f"waited in vain for {what}: {said}") from None


def wait_for(is_there: Callable[[], bool], what: str) -> None:
    """Return when something has come; AssertionError if it does not."""
    end = time.monotonic() + PATIENCE_S
    while not is_there():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(_LOOK_EVERY_S)  # another process's doing: it can only be looked for


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind((LOOPBACK, 0))
        return int(asked.getsockname()[1])
