import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.aws import EmbeddedAws
from lab.live.world import LiveWorld
from lab.simulation import QueueSpec
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.emulator

STARTS_AND_WAITS = """
import sys, time
from lab.aws import EmbeddedAws
with EmbeddedAws() as aws:
    print(aws.pid, aws.home, flush=True)
    time.sleep(60)
"""


def is_running(pid: int) -> bool:
    """A zombie counts as ended: it only waits for its parent to look."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


def gone_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not is_running(pid):
            return True
        time.sleep(0.05)
    return False


def test_it_answers_on_loopback_and_is_gone_after_the_with():
    with EmbeddedAws() as aws:
        identity = aws.client("sts").get_caller_identity()
        pid = aws.pid

        assert aws.endpoint_url.startswith("http://127.0.0.1:")
        assert identity["Account"] == aws.account_id
    assert not is_running(pid)


def test_two_run_beside_each_other_and_share_nothing(aws):
    aws.client("sqs").create_queue(QueueName="only-in-the-first")

    with EmbeddedAws() as other:
        seen = other.client("sqs").list_queues(QueueNamePrefix="only-in")

        assert not seen.get("QueueUrls")
        assert other.endpoint_url != aws.endpoint_url


LATE = """
import threading

def handler(event, context):
    threading.Timer(0.5, print, ["a late line"], {"flush": True}).start()
"""


def test_lines_that_a_busy_machine_brings_late_are_in_the_log_of_their_run(aws):
    """The emulator itself waits 50 ms for them: they were lost, or the next run's."""
    world = LiveWorld(aws)
    world.create_queue(QueueSpec("late-lines", visibility_timeout_s=60))
    mapping = world.create_function("late", LATE, "late-lines", timeout_s=20, batch_size=1)
    world.send("late-lines", [("{}", None)])
    world.enable(mapping)
    world.wait_until_empty("late-lines", PATIENCE_S)
    told = aws.client("logs").filter_log_events(logGroupName="/aws/lambda/late")["events"]

    assert [e["message"].split()[0] for e in told] == ["START", "a", "END", "REPORT"]


@pytest.mark.parametrize(
    "how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=["a crash", "Ctrl-C", "an ordinary kill"]
)
def test_it_does_not_outlive_a_parent_that_ends_by(how):
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_AND_WAITS],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
    ) as parent:
        pid_text, home = parent.stdout.readline().decode().split()
        pid = int(pid_text)
        was_running = is_running(pid)
        parent.send_signal(how)

    assert was_running
    assert gone_within(pid, PATIENCE_S)
    assert not Path(home).exists()
