"""A small proxy between boto3 and an emulator: notes every operation, and fails as it is told."""

import fnmatch
import http.client
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

SERVICES = {
    "AmazonSQS": "sqs",
    "Logs_20140328": "logs",
    "GraniteServiceVersion20100801": "cloudwatch",
    "CloudTrail_20131101": "cloudtrail",
    "DynamoDB_20120810": "dynamodb",
}
LAMBDA_PATHS = (
    (r"GET /2015-03-31/event-source-mappings/?", "ListEventSourceMappings"),
    (r"GET /2015-03-31/functions/[^/]+/configuration", "GetFunctionConfiguration"),
    (r"GET /[0-9-]+/functions/[^/]+/concurrency", "GetFunctionConcurrency"),
)


NOT_EMULATED = {"sqs:ListDeadLetterSourceQueues": {"queueUrls": []}, "sqs:ListMessageMoveTasks": {"Results": []}}
"""Answered here as AWS does where there is nothing: MiniStack does not know these operations."""


@dataclass
class Reply:
    """An answer on its way back to boto3."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict:
        return json.loads(self.body)

    def with_json(self, **changes: object) -> "Reply":
        """Return the same answer with keys changed; None removes one."""
        content = {key: value for key, value in (self.json() | changes).items() if value is not None}
        said = {
            name: value for name, value in self.headers.items() if name.lower() != "x-amz-crc32"
        }  # of the body before
        return Reply(self.status, said, json.dumps(content).encode())


Upstream = Callable[[], Reply]
Fault = Callable[[Upstream, dict], Reply | None]


class Proxy:
    """Forwards to ``upstream``. ``calls`` lists operations as IAM spells them, in order."""

    def __init__(self, upstream: str) -> None:
        self.upstream = urlsplit(upstream)
        self.calls: list[str] = []
        self._faults: list[tuple[str, Fault, list[int] | None]] = []
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def fail(self, operation: str, fault: Fault, on: list[int] | None = None) -> None:
        """Apply a fault to calls of an operation (globs allowed); ``on`` picks some by number, from 1."""
        self._faults.append((operation, fault, on))

    def reset(self) -> None:
        """Forget calls and faults."""
        self.calls.clear()
        self._faults.clear()
        self._counts.clear()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply | None:
        operation = operation_of(method, path, headers)
        with self._lock:
            self.calls.append(operation)
            count = self._counts[operation] = self._counts.get(operation, 0) + 1
        request = json.loads(body) if body[:1] == b"{" else {}
        for pattern, fault, on in self._faults:
            if fnmatch.fnmatch(operation, pattern) and (on is None or count in on):
                return fault(lambda: self._forward(method, path, headers, body), request)
        if operation in NOT_EMULATED:
            return _json(NOT_EMULATED[operation])
        return self._forward(method, path, headers, body)

    def _forward(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        connection = http.client.HTTPConnection(self.upstream.hostname or "", self.upstream.port, timeout=30)
        connection.request(method, path, body, headers)
        got = connection.getresponse()
        content = got.read()
        connection.close()
        drop = {"transfer-encoding", "connection", "content-length", "date", "server"}
        return Reply(got.status, {k: v for k, v in got.getheaders() if k.lower() not in drop}, content)


def operation_of(method: str, path: str, headers: dict[str, str]) -> str:
    """Name the operation of a request, such as ``sqs:GetQueueUrl``."""
    lower = {key.lower(): value for key, value in headers.items()}
    if target := lower.get("x-amz-target"):
        service, _, name = target.rpartition(".")
        service = service.rpartition(".")[2]
        return f"{SERVICES.get(service, service)}:{name}"
    asked = f"{method} {urlsplit(path).path}"
    for pattern, name in LAMBDA_PATHS:
        if re.fullmatch(pattern, asked):
            return f"lambda:{name}"
    return f"unknown:{asked}"


def refuse(code: str, status: int = 400, message: str = "not today") -> Fault:
    """Answer with an AWS error, in JSON as this boto3 speaks to all four services."""

    def fault(_upstream: Upstream, _request: dict) -> Reply:
        body = json.dumps({"__type": code, "message": message}).encode()
        return Reply(status, {"content-type": "application/x-amz-json-1.0", "x-amzn-ErrorType": code}, body)

    return fault


def say(**content: object) -> Fault:
    """Answer with this instead of asking."""
    return lambda _upstream, _request: _json(content)


def _json(content: dict) -> Reply:
    return Reply(200, {"content-type": "application/x-amz-json-1.0"}, json.dumps(content).encode())


def cut(upstream: Upstream, _request: dict) -> Reply:
    """Send half of the body as if it were the whole: boto3 takes it for an empty reply, without an error."""
    reply = upstream()
    return Reply(reply.status, reply.headers, reply.body[: len(reply.body) // 2])


def drop(_upstream: Upstream, _request: dict) -> None:
    """Close the connection without an answer."""


class EmptyPage:
    """Answer with no events and a token; the page kept back comes with that token."""

    def __init__(self) -> None:
        self.held: dict[str, Reply] = {}

    def __call__(self, upstream: Upstream, request: dict) -> Reply:
        token = request.get("nextToken")
        if token in self.held:
            return self.held.pop(token)
        reply = upstream()
        name = f"held-{len(self.held)}-{token}"
        self.held[name] = reply
        return reply.with_json(events=[], nextToken=name)


class SamePageAgain:
    """Serve every page twice, the first time with a token of its own."""

    def __init__(self) -> None:
        self.held: dict[str, Reply] = {}

    def __call__(self, upstream: Upstream, request: dict) -> Reply:
        token = request.get("nextToken")
        if token in self.held:
            return self.held.pop(token)
        reply = upstream()
        name = f"again-{len(self.held)}-{token}"
        self.held[name] = reply
        return reply.with_json(nextToken=name)


def edit_events(change: Callable[[list], list]) -> Fault:
    """Change the events of each page."""
    return lambda upstream, _request: (reply := upstream()).with_json(events=change(reply.json()["events"]))


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65_536
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            pass

        def serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            reply = proxy.answer(self.command, self.path, dict(self.headers.items()), body)
            if reply is None:
                self.close_connection = True
                self.connection.close()
                return
            self.send_response_only(reply.status)
            for key, value in reply.headers.items():
                self.send_header(key, value)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST = do_PUT = do_DELETE = serve

    return Handler
