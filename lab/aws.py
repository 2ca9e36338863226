"""An AWS of one's own: starts the emulator on loopback and ends it again."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import boto3
from botocore.config import Config

from forensics.errors import ForensicsError
from forensics.sentence import said

START_LIMIT_S = 180.0
END_LIMIT_S = 5.0
ACCOUNT_ID = "123456789012"


class EmbeddedAwsError(ForensicsError):
    """The embedded AWS did not start or stopped answering."""


class EmbeddedAws:
    """MiniStack with AWS's manners, as a process of its own on a free loopback port, for the length of a ``with``.

    Nothing of it stays: its files live in a temporary folder, and it ends when this process ends, even by a crash.
    Raises EmbeddedAwsError when it does not answer within 30 s.
    """

    def __init__(self, region: str = "ap-northeast-1") -> None:
        self.region = region
        self.account_id = ACCOUNT_ID
        self.endpoint_url = ""
        self.pid = 0
        self.home = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._clients: dict[str, Any] = {}

    @property
    def credentials(self) -> dict[str, str]:
        """Keyword arguments for boto3; the emulator checks no signature."""
        return {"aws_access_key_id": "test", "aws_secret_access_key": "test"}

    def environment(self) -> dict[str, str]:
        """Return the variables that point any AWS SDK or command at this AWS."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }

    def client(self, service: str) -> Any:
        """Return a boto3 client of the customer's world: it may write, unlike the product's own."""
        if service not in self._clients:
            config = Config(retries={"max_attempts": 1}, proxies={})
            self._clients[service] = boto3.client(
                service, endpoint_url=self.endpoint_url, region_name=self.region, config=config, **self.credentials
            )
        return self._clients[service]

    @contextmanager
    def clock_at(self, at: datetime) -> Iterator[None]:
        """Let the emulator's wall clock say ``at``, and the real time again afterwards."""
        self._post("/_lab/clock", {"offset_s": at.timestamp() - time.time()})
        try:
            yield
        finally:
            self._post("/_lab/clock", {"offset_s": 0.0})

    def __enter__(self) -> Self:
        self._home = tempfile.TemporaryDirectory(prefix="doubletake-aws-", ignore_cleanup_errors=True)
        self.home = self._home.name
        with (Path(self.home) / "emulator.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "lab.emulator"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self._emulator_environment(self.home),
                cwd=self.home,
                start_new_session=True,  # a Ctrl-C at the terminal is ours to handle
            )
        self.pid = self._process.pid
        try:
            self.endpoint_url = f"http://127.0.0.1:{self._announced_port()}"
            self._wait_until_healthy()
            self._clients.clear()  # those of a process before this one
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._end()

    def _emulator_environment(self, home: str) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
            "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
            "HOME": home,
            "LAB_HOME": home,
            "TMPDIR": home,
            "STATE_DIR": f"{home}/state",
            "S3_DATA_DIR": f"{home}/s3",
            "BIND_HOST": "127.0.0.1",
            "MINISTACK_HOST": "127.0.0.1",
            "MINISTACK_ACCOUNT_ID": self.account_id,
            "MINISTACK_REGION": self.region,
            "LOG_LEVEL": "WARNING",
            "DOCKER_HOST": f"unix://{home}/no-docker",  # functions run as plain Python, whatever the host has
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
        }

    def _announced_port(self) -> int:
        process = self._running()
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], START_LIMIT_S)
        line = process.stdout.readline() if ready else b""
        process.stdout.close()
        if not line:
            raise self._failed("did not name its port")
        return int(json.loads(line)["port"])

    def _wait_until_healthy(self) -> None:
        deadline = time.monotonic() + START_LIMIT_S
        while time.monotonic() < deadline and self._running().poll() is None:
            try:
                with urllib.request.urlopen(f"{self.endpoint_url}/_ministack/health", timeout=5):  # noqa: S310
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.02)  # the emulator does not say when it listens
        raise self._failed("did not become healthy")

    def _post(self, path: str, payload: dict[str, Any]) -> None:
        request = urllib.request.Request(  # noqa: S310 - always our own loopback address
            self.endpoint_url + path, json.dumps(payload).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=START_LIMIT_S):  # noqa: S310
            pass

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise EmbeddedAwsError("the embedded AWS is not running", "Use it inside a with statement.")
        return self._process

    def _failed(self, what: str) -> EmbeddedAwsError:
        log = ""
        if self._home:
            log = (Path(self.home) / "emulator.log").read_text(errors="replace").strip()
        last = log.splitlines()[-1] if log else "it said nothing"
        return EmbeddedAwsError(
            said("the embedded AWS {what}: {why}", what=what, why=last), "Run make setup again, then make demo."
        )

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.stdin:
                process.stdin.close()  # the emulator takes it as the order to end
            try:
                process.wait(END_LIMIT_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # its own session, led by this very process id
                process.wait()
        if self._home is not None:
            self._home.cleanup()
            self._home = None
