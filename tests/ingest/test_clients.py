"""The client factory: read-only, patient, and errors as sentences."""

import ast
import fnmatch
import json
import socket
import threading
import time
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest

from forensics.errors import CredentialsError, EndpointUnreachableError, OperationRefusedError
from ingest.aws_errors import AwsRefusedError
from ingest.clients import ALLOWED, Aws
from tests.ingest.proxy import Proxy, Reply, cut, drop, refuse
from tests.ingest.world import REGION, World, free_port

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUERIES = {"StartQuery", "Query", "Scan"}
"""Reading, though nothing in the name says so: Logs Insights and DynamoDB."""
OURS = ("forensics", "ingest", "spark_jobs", "pages", "cli", "app.py")


def test_the_policy_allows_exactly_what_the_clients_may_call():
    policy = json.loads((ROOT / "docs" / "iam-policy.json").read_text())
    allowed = {a for s in policy["Statement"] if s["Effect"] == "Allow" for a in s["Action"]}

    assert allowed == ALLOWED


def test_the_policy_denies_every_way_to_touch_a_message():
    policy = json.loads((ROOT / "docs" / "iam-policy.json").read_text())
    denied = {a for s in policy["Statement"] if s["Effect"] == "Deny" for a in s["Action"]}

    assert {"ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "PurgeQueue", "SendMessage"} <= {
        action.removeprefix("sqs:") for action in denied
    }


def test_the_policy_denies_every_way_to_change_a_record_of_a_guard():
    policy = json.loads((ROOT / "docs" / "iam-policy.json").read_text())
    denied = {a for s in policy["Statement"] if s["Effect"] == "Deny" for a in s["Action"]}
    operations = boto3.client("dynamodb", region_name=REGION).meta.service_model.operation_names
    changing = ("PutItem", "UpdateItem", "DeleteItem", "DeleteTable", "BatchWriteItem", "UpdateTimeToLive")

    assert set(changing) <= set(operations)
    for name in changing:
        assert any(fnmatch.fnmatch(f"dynamodb:{name}", pattern) for pattern in denied), name


def test_every_allowed_operation_exists_and_only_reads():
    for action in ALLOWED:
        service, name = action.split(":")
        operations = boto3.client(service, region_name=REGION).meta.service_model.operation_names

        assert name in operations
        assert name.startswith(("Get", "List", "Filter", "Describe", "Lookup")) or name in QUERIES


def python_files() -> list[Path]:
    found = [ROOT / name for name in OURS if name.endswith(".py")]
    for folder in OURS:
        found += (ROOT / folder).rglob("*.py")
    return [path for path in found if path.exists()]


def test_no_other_module_of_ours_makes_clients():
    libraries, makers = ("boto3", "botocore", "aiobotocore", "s3transfer"), set()
    sources = {path: path.read_text() for path in python_files()}
    for path, source in sources.items():
        if not any(name in source for name in libraries):
            continue
        for node in ast.walk(ast.parse(source)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in libraries for name in names):
                makers.add(str(path.relative_to(ROOT)))

    assert len(sources) > 100
    assert makers == {"ingest/clients.py"}


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("sqs", "receive_message", {"QueueUrl": "http://127.0.0.1/q"}),
        ("sqs", "delete_message", {"QueueUrl": "http://127.0.0.1/q", "ReceiptHandle": "h"}),
        ("sqs", "purge_queue", {"QueueUrl": "http://127.0.0.1/q"}),
        ("lambda", "invoke", {"FunctionName": "f"}),
        ("logs", "delete_log_group", {"logGroupName": "g"}),
        ("cloudwatch", "delete_alarms", {"AlarmNames": ["a"]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.emulator
def test_an_operation_that_is_not_listed_never_leaves_the_machine(
    aws: Aws, proxy: Proxy, service: str, operation: str, parameters: dict
):
    with pytest.raises(OperationRefusedError, match="not one of the operations"):
        getattr(aws.client(service), operation)(**parameters)

    assert proxy.calls == []


def test_nothing_listening_is_said_within_seconds():
    aws = Aws(region=REGION, endpoint_url=f"http://127.0.0.1:{free_port()}")
    started = time.monotonic()

    with pytest.raises(EndpointUnreachableError, match=r"nothing answers at the AWS endpoint http://127\.0\.0\.1:\d+"):
        aws.call("sqs", "list_queues")
    assert time.monotonic() - started < 5


def test_an_endpoint_that_accepts_and_says_nothing_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        aws = Aws(region=REGION, endpoint_url=url, read_timeout_s=0.2)

        with pytest.raises(EndpointUnreachableError, match="nothing answers"):
            aws.call("sqs", "list_queues")


def test_an_address_that_is_none_is_named():
    with pytest.raises(EndpointUnreachableError, match="'localhost:4566' is not an address"):
        Aws(region=REGION, endpoint_url="localhost:4566").call("sqs", "list_queues")


def test_missing_credentials_are_a_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(CredentialsError, match="no AWS credentials") as caught:
        Aws(region=REGION, endpoint_url=f"http://127.0.0.1:{free_port()}").call("sqs", "list_queues")
    assert "AWS_PROFILE" in caught.value.hint


def test_an_unknown_profile_is_named():
    with pytest.raises(CredentialsError, match="no AWS profile 'night-shift'"):
        Aws(profile="night-shift", region=REGION)


def test_an_unknown_profile_of_the_environment_is_named_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_PROFILE", "night-shift")

    with pytest.raises(CredentialsError, match="no AWS profile 'night-shift'"):
        Aws(region=REGION).call("sqs", "list_queues")


def test_a_region_that_can_be_none_is_a_sentence():
    with pytest.raises(CredentialsError, match="'eu west 1'"):
        Aws(region="eu west 1").call("sqs", "list_queues")


def test_a_missing_region_is_a_sentence():
    with pytest.raises(CredentialsError, match="no AWS region is set"):
        Aws().call("sqs", "list_queues")


def test_aws_region_is_understood_as_the_newer_tools_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_REGION", "ap-northeast-1")

    assert Aws().region == "ap-northeast-1"


@pytest.mark.emulator
def test_an_expired_session_is_told_from_a_denial(aws: Aws, proxy: Proxy):
    proxy.fail("sqs:ListQueues", refuse("ExpiredTokenException", message="The security token has expired"))

    with pytest.raises(CredentialsError, match="ExpiredTokenException: The security token has expired"):
        aws.call("sqs", "list_queues")


STATUS = {
    "Logs and Lambda deny": ("AccessDeniedException", 400, "denied"),
    "SQS denies": ("AccessDenied", 403, "denied"),
    "a 403 with a code of its own": ("Verboten", 403, "denied"),
    "not there": ("ResourceNotFoundException", 400, "gone"),
    "not for this log class": ("InvalidOperationException", 400, "unsupported"),
    "anything else": ("InvalidParameterException", 400, "failed"),
}


@pytest.mark.emulator
@pytest.mark.parametrize(("code", "http_status", "status"), STATUS.values(), ids=STATUS)
def test_a_refusal_is_filed_under_its_kind(aws: Aws, proxy: Proxy, code: str, http_status: int, status: str):
    message = "the log class is INFREQUENT_ACCESS" if status == "unsupported" else "no"
    proxy.fail("logs:*", refuse(code, http_status, message))

    with pytest.raises(AwsRefusedError) as caught:
        aws.call("logs", "filter_log_events", "events", logGroupName="/g")
    assert (caught.value.code, caught.value.status) == (code, status)


@pytest.mark.emulator
def test_a_cut_reply_is_asked_for_again(aws: Aws, proxy: Proxy, world: World):
    queue = world.queue("cut")
    proxy.fail("sqs:GetQueueUrl", cut, on=[1, 2])

    assert aws.call("sqs", "get_queue_url", "QueueUrl", QueueName=queue)["QueueUrl"].endswith(queue)
    assert proxy.calls == ["sqs:GetQueueUrl"] * 3


@pytest.mark.emulator
def test_a_reply_that_stays_cut_is_an_error_and_not_empty(aws: Aws, proxy: Proxy, world: World):
    queue = world.queue("cut")
    proxy.fail("sqs:GetQueueUrl", cut)

    with pytest.raises(AwsRefusedError, match="cut off"):
        aws.call("sqs", "get_queue_url", "QueueUrl", QueueName=queue)


@pytest.mark.emulator
def test_throttling_and_a_lost_connection_are_waited_out(aws: Aws, proxy: Proxy, world: World):
    queue = world.queue("patient")
    proxy.fail("sqs:GetQueueUrl", refuse("RequestThrottled", 403), on=[1])
    proxy.fail("sqs:GetQueueUrl", drop, on=[2])

    assert aws.call("sqs", "get_queue_url", "QueueUrl", QueueName=queue)["QueueUrl"].endswith(queue)


def test_calls_to_aws_itself_keep_below_the_shared_quota(monkeypatch: pytest.MonkeyPatch):
    slept: list[float] = []
    # This module's clock alone: other threads of the process sleep too.
    monkeypatch.setattr("ingest.clients.time", SimpleNamespace(sleep=slept.append, monotonic=lambda: 100.0))
    aws = Aws(region=REGION)
    monkeypatch.setattr(aws, "_once", lambda *_: {"events": []})
    for _ in range(3):
        aws.call("logs", "filter_log_events", "events", logGroupName="/g")

    assert slept == [0.5, 1.0]


def test_every_way_into_a_region_keeps_one_pace():
    aws = Aws(region="eu-west-1")

    assert aws.in_region("us-east-1") is aws.in_region("us-east-1")
    assert aws.in_region("eu-west-1") is aws


class Dripping(threading.Thread):
    """A server that takes a connection and sends a byte of its reply ten times a second, and never the last."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.is_set():
            with suppress(OSError):
                connection, _ = self.listening.accept()
                threading.Thread(target=self._drip, args=(connection,), daemon=True).start()

    def _drip(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 100000\r\n\r\n"
            )
            while not self.is_over.wait(0.1):
                connection.sendall(b" ")


def test_a_server_that_sends_byte_after_byte_is_given_up():
    server = Dripping()
    server.start()
    aws = Aws(region=REGION, endpoint_url=server.url, read_timeout_s=0.5, call_s=1)
    began_at = time.monotonic()

    with pytest.raises(AwsRefusedError, match="no whole answer came within 1 s"):
        aws.call("sqs", "get_queue_url", QueueName="orders")
    assert 1 <= time.monotonic() - began_at < 10
    server.is_over.set()
    server.listening.close()


SKEWED = {
    "S3's words": ("RequestTimeTooSkewed", "The difference is too large.", 403),
    "most services' words": (
        "InvalidSignatureException",
        "Signature expired: 20261120T051200Z is now earlier than",
        403,
    ),
    "a clock ahead": ("SignatureDoesNotMatch", "Signature not yet current: 20261120T071200Z is still later than", 403),
}


@pytest.mark.parametrize(("code", "message", "status"), SKEWED.values(), ids=SKEWED)
def test_a_clock_that_is_off_is_said_with_how_far_and_is_not_called_denied(moto_proxy, moto_aws, code, message, status):
    def fault(forward, request):
        there = formatdate(time.time() + 42 * 60, usegmt=True)
        body = json.dumps({"__type": code, "message": message}).encode()
        return Reply(status, {"content-type": "application/x-amz-json-1.0", "Date": there}, body)

    moto_proxy.fail("sqs:GetQueueUrl", fault)
    with pytest.raises(CredentialsError, match="clock is 42 min behind AWS's") as caught:
        moto_aws.call("sqs", "get_queue_url", QueueName="orders")
    assert "Set the clock" in caught.value.hint
