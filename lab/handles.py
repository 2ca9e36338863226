"""What AWS answers to a receipt handle that is late; the emulator forgives too much or too little."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["valid", "expired", "superseded", "deleted", "unknown"]

EXPIRED = "The receipt handle has expired."
GONE = "Message does not exist or is not available for visibility timeout change."


def refusal(handle: str, reason: str) -> dict[str, str]:
    """Return the body of AWS's InvalidParameterValue for a receipt handle.

    >>> refusal("AQEB", EXPIRED)["message"]
    'Value AQEB for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.'
    """
    return {
        "__type": "com.amazonaws.sqs#InvalidParameterValueException",
        "message": f"Value {handle} for parameter ReceiptHandle is invalid. Reason: {reason}",
    }


@dataclass
class _Grant:
    queue_url: str
    message_id: str
    hidden_until: float


@dataclass
class HandleLedger:
    """Every receipt handle handed out, and until when it hides its message (seconds since the epoch)."""

    now: Callable[[], float]
    _grants: dict[str, _Grant] = field(default_factory=dict)
    _newest: dict[tuple[str, str], str] = field(default_factory=dict)
    _deleted: set[str] = field(default_factory=set)

    def granted(self, queue_url: str, message_id: str, handle: str, visibility_timeout_s: float) -> None:
        """Remember a delivery."""
        self._grants[handle] = _Grant(queue_url, message_id, self.now() + visibility_timeout_s)
        self._newest[queue_url, message_id] = handle

    def extended(self, handle: str, visibility_timeout_s: float) -> None:
        """Remember a changed visibility timeout."""
        if grant := self._grants.get(handle):
            grant.hidden_until = self.now() + visibility_timeout_s

    def deleted(self, handle: str) -> None:
        """Remember a delete that succeeded."""
        self._deleted.add(handle)

    def state(self, handle: str) -> State:
        """Say what has become of a handle; superseded means that its message was received again since."""
        if handle in self._deleted:
            return "deleted"
        grant = self._grants.get(handle)
        if grant is None:
            return "unknown"
        if self._newest[grant.queue_url, grant.message_id] != handle:
            return "superseded"
        return "expired" if self.now() >= grant.hidden_until else "valid"


Verdict = dict[str, Any] | None
"""A body to answer with (an error has ``__type``, an empty body is success); None: let the emulator answer."""


def judge_delete(ledger: HandleLedger, queue_url: str, handle: str) -> Verdict:
    """DeleteMessage: a FIFO queue refuses a late handle, a standard queue says yes (and may keep the message)."""
    state = ledger.state(handle)
    if state == "deleted":
        return {}
    if state in ("expired", "superseded") and is_fifo(queue_url):
        return refusal(handle, EXPIRED)
    if state == "superseded":
        return {}
    return None


def judge_visibility_change(ledger: HandleLedger, queue_url: str, handle: str) -> Verdict:
    """ChangeMessageVisibility: refused after a delete, and on FIFO queues with a late handle."""
    state = ledger.state(handle)
    if state == "deleted":
        return refusal(handle, GONE)
    if state in ("expired", "superseded"):
        return refusal(handle, EXPIRED) if is_fifo(queue_url) else {}
    return None


def judge_batch_entry(ledger: HandleLedger, queue_url: str, entry: dict[str, Any]) -> Verdict:
    """Judge one entry of DeleteMessageBatch: a Failed or Successful entry, with a code and words of its own."""
    judged = judge_delete(ledger, queue_url, entry["ReceiptHandle"])
    if judged is None:
        return None
    if not judged:
        return {"Id": entry["Id"]}
    return {
        "Id": entry["Id"],
        "SenderFault": True,
        "Code": "ReceiptHandleIsInvalid",
        "Message": "The receipt handle has expired",
    }


def is_fifo(queue_url: str) -> bool:
    """Tell a FIFO queue by its name, as AWS requires it."""
    return queue_url.endswith(".fifo")
