"""The layer in front of the emulator: passes everything on, and answers as AWS does where the emulator would not.

Made up here: receipt handles that expire (FIFO refuses a late delete), FilterLogEvents in pages with stable 56-digit
event ids and stream prefixes, the sources of a dead-letter queue. It also takes the lab's own order, POST /_lab/clock.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from lab import log_pages
from lab.handles import HandleLedger, judge_batch_entry, judge_delete, judge_visibility_change

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Reply = tuple[int, list[tuple[bytes, bytes]], bytes]


class WallClock(Protocol):
    """A clock whose offset the lab may set."""

    offset_s: float

    def time(self) -> float:
        """Return seconds since the epoch."""


class LikeAws:
    """ASGI application around the emulator's; the differences to AWS are made up in one method per operation."""

    def __init__(self, emulator: Application, clock: WallClock) -> None:
        self._emulator = emulator
        self._clock = clock
        self._handles = HandleLedger(clock.time)
        self._operations = {
            "AmazonSQS.ReceiveMessage": self._receive_message,
            "AmazonSQS.DeleteMessage": self._delete_message,
            "AmazonSQS.DeleteMessageBatch": self._delete_message_batch,
            "AmazonSQS.ChangeMessageVisibility": self._change_message_visibility,
            "AmazonSQS.ListDeadLetterSourceQueues": self._list_dead_letter_source_queues,
            "AmazonSQS.ListMessageMoveTasks": self._list_message_move_tasks,
            "Logs_20140328.FilterLogEvents": self._filter_log_events,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or the start and end of the server."""
        if scope["type"] != "http":
            return await self._emulator(scope, receive, send)
        if scope["path"] == "/_lab/clock":
            self._clock.offset_s = float(json.loads(await _body(receive))["offset_s"])
            return await _answer(send, _json_reply({}))
        operation = self._operations.get(_header(scope, b"x-amz-target"))
        if operation is None:
            return await self._emulator(scope, receive, send)
        request = json.loads(await _body(receive) or b"{}")
        return await _answer(send, await operation(scope, request))

    async def _ask(self, scope: Scope, request: dict[str, Any], target: str | None = None) -> Reply:
        """Put a JSON request to the emulator inside this process."""
        body = json.dumps(request).encode()
        replaced = {b"content-length": str(len(body)).encode()}
        if target:
            replaced[b"x-amz-target"] = target.encode()
        headers = [(name, value) for name, value in scope["headers"] if name.lower() not in replaced]
        reply: dict[str, Any] = {"body": b""}

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                reply["status"], reply["headers"] = message["status"], list(message.get("headers", []))
            elif message["type"] == "http.response.body":
                reply["body"] += message.get("body", b"")

        await self._emulator({**scope, "headers": headers + list(replaced.items())}, receive, send)
        return reply["status"], reply["headers"], reply["body"]

    async def _receive_message(self, scope: Scope, request: dict[str, Any]) -> Reply:
        reply = await self._ask(scope, request)
        status, _, body = reply
        messages = json.loads(body).get("Messages") or [] if status == 200 else []
        if messages:
            timeout_s = await self._visibility_timeout_s(scope, request)
            for message in messages:
                self._handles.granted(request["QueueUrl"], message["MessageId"], message["ReceiptHandle"], timeout_s)
        return reply

    async def _visibility_timeout_s(self, scope: Scope, request: dict[str, Any]) -> float:
        if request.get("VisibilityTimeout") is not None:
            return float(request["VisibilityTimeout"])
        asked = {"QueueUrl": request["QueueUrl"], "AttributeNames": ["VisibilityTimeout"]}
        _, _, body = await self._ask(scope, asked, "AmazonSQS.GetQueueAttributes")
        return float(json.loads(body)["Attributes"]["VisibilityTimeout"])

    async def _delete_message(self, scope: Scope, request: dict[str, Any]) -> Reply:
        handle = request.get("ReceiptHandle", "")
        judged = judge_delete(self._handles, request.get("QueueUrl", ""), handle)
        if judged is not None:
            return _sqs_reply(judged)
        reply = await self._ask(scope, request)
        if reply[0] == 200:
            self._handles.deleted(handle)
        return reply

    async def _delete_message_batch(self, scope: Scope, request: dict[str, Any]) -> Reply:
        queue_url, entries = request.get("QueueUrl", ""), request.get("Entries", [])
        judged = [judge_batch_entry(self._handles, queue_url, entry) for entry in entries]
        passed_on = [entry for entry, verdict in zip(entries, judged, strict=True) if verdict is None]
        result: dict[str, Any] = {"Successful": [], "Failed": []}
        if passed_on:
            reply = await self._ask(scope, request | {"Entries": passed_on})
            if reply[0] != 200:
                return reply
            result |= json.loads(reply[2])
            succeeded = {entry["Id"] for entry in result["Successful"]}
            for entry in passed_on:
                if entry["Id"] in succeeded:
                    self._handles.deleted(entry["ReceiptHandle"])
        for verdict in judged:
            if verdict is not None:
                result["Failed" if "Code" in verdict else "Successful"].append(verdict)
        return _sqs_reply({kind: found for kind, found in result.items() if found})

    async def _change_message_visibility(self, scope: Scope, request: dict[str, Any]) -> Reply:
        handle = request.get("ReceiptHandle", "")
        judged = judge_visibility_change(self._handles, request.get("QueueUrl", ""), handle)
        if judged is not None:
            return _sqs_reply(judged)
        reply = await self._ask(scope, request)
        if reply[0] == 200:
            self._handles.extended(handle, float(request.get("VisibilityTimeout", 0)))
        return reply

    async def _list_dead_letter_source_queues(self, scope: Scope, request: dict[str, Any]) -> Reply:
        """Find the queues whose redrive policy names this one: the emulator does not know the operation."""
        _, _, body = await self._ask(scope, {"MaxResults": 1000}, "AmazonSQS.ListQueues")
        name = str(request.get("QueueUrl", "")).rstrip("/").rpartition("/")[2]
        sources = []
        for url in json.loads(body).get("QueueUrls") or []:
            asked = {"QueueUrl": url, "AttributeNames": ["RedrivePolicy"]}
            _, _, found = await self._ask(scope, asked, "AmazonSQS.GetQueueAttributes")
            policy = json.loads(json.loads(found).get("Attributes", {}).get("RedrivePolicy") or "{}")
            if str(policy.get("deadLetterTargetArn", "")).rpartition(":")[2] == name:
                sources.append(url)
        return _json_reply({"queueUrls": sources})

    async def _list_message_move_tasks(self, scope: Scope, request: dict[str, Any]) -> Reply:
        """Answer as a queue that nobody ever redrove: the emulator has no move tasks."""
        return _json_reply({"Results": []})

    async def _filter_log_events(self, scope: Scope, request: dict[str, Any]) -> Reply:
        try:
            reply = await self._ask(scope, log_pages.upstream_request(request))
        except log_pages.BadTokenError as problem:
            return _json_reply({"__type": "InvalidParameterException", "message": str(problem)}, 400)
        if reply[0] != 200:
            return reply
        return _json_reply(log_pages.page(request, json.loads(reply[2])["events"]))


def _sqs_reply(payload: dict[str, Any]) -> Reply:
    if "__type" not in payload:
        return _json_reply(payload)
    status, headers, body = _json_reply(payload, 400)
    return status, [*headers, (b"x-amzn-query-error", b"InvalidParameterValue;Sender")], body


def _json_reply(payload: dict[str, Any], status: int = 200) -> Reply:
    body = json.dumps(payload).encode()
    return status, [(b"content-type", b"application/x-amz-json-1.0"), (b"content-length", b"%d" % len(body))], body


async def _answer(send: Send, reply: Reply) -> None:
    status, headers, body = reply
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _body(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode() for key, value in scope["headers"] if key.lower() == name), "")
