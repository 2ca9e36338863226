"""Names that last: evidence ids, and tokens that stand for receipt handles."""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from typing import TypeGuard, overload

HANDLE_PREFIX_CHARS = 24
KEY_ITEM = "key:"
"""Begins the item id of what lines name by a business key alone."""
FIFO_ENDING = ".fifo"


@overload
def queue_name(queue_arn: str) -> str: ...
@overload
def queue_name(queue_arn: str | None) -> str | None: ...
def queue_name(queue_arn: str | None) -> str | None:
    """Return a queue's name: the end of its ARN; files may be imported before anything tells that.

    >>> queue_name("arn:aws:sqs:eu-west-1:123456789012:orders-dlq"), queue_name("orders"), queue_name(None)
    ('orders-dlq', 'orders', None)
    """
    return None if queue_arn is None else queue_arn.rpartition(":")[2]


def names_of(queue_arn: str) -> set[str]:
    """Return what evidence may call a queue: its ARN, and its name alone in what was imported before anything told that.

    >>> sorted(names_of("arn:aws:sqs:eu-west-1:123456789012:orders"))
    ['arn:aws:sqs:eu-west-1:123456789012:orders', 'orders']
    """
    return {queue_arn, queue_name(queue_arn)}


def is_fifo_name(queue: str) -> bool:
    """Tell whether a queue is FIFO by its name or ARN: SQS gives that ending to no other. A message group alone says nothing.

    >>> is_fifo_name("arn:aws:sqs:eu-west-1:123456789012:orders.fifo"), is_fifo_name("orders")
    (True, False)
    """
    return queue.endswith(FIFO_ENDING)


def evidence_id(kind: str, *parts: object) -> str:
    """Name a row of evidence: ``kind:`` and the whole SHA-256 of its parts, base64url without padding.

    The digest is never shortened: 10 hex digits have lost events to collisions in a shipped log forwarder.

    >>> evidence_id("log", "123456789012", "eu-west-1", "/aws/lambda/pay", "3833")
    'log:lyTAZCVem7tdsMgWa1idjHtG2jTgYY0-xtDI0cc5p_w'
    """
    text = "|".join(["" if part is None else str(part) for part in parts])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return f"{kind}:{urlsafe_b64encode(digest)[:-1].decode()}"


def handle_token(receipt_handle: str, key: bytes | None = None) -> str:
    """Stand for a receipt handle, which is a credential: its first 24 characters and 32 hex digits of its SHA-256.

    With a ``key`` the digest is an HMAC: the same handle then has other tokens in lakes with other keys.
    The same handle gives the same token, so deliveries and errors still join; the prefix joins handles that a log cut.
    Holds no quote and no blank, so JSON and Python text around it stays valid. Of a handle too short for such a prefix
    (none of SQS's own is) only the first half is shown.
    """
    handle = receipt_handle.encode("utf-8", "surrogatepass")
    made = hashlib.sha256(handle) if key is None else hmac.new(key, b"receipt handle\0" + handle, hashlib.sha256)
    digest = made.hexdigest()[:32]
    shown = HANDLE_PREFIX_CHARS if len(receipt_handle) > HANDLE_PREFIX_CHARS else len(receipt_handle) // 2
    return f"RH~{receipt_handle[:shown]}~{digest}"


def tells_deliveries_apart(token: str | None) -> TypeGuard[str]:
    """Tell whether a token shows enough of a receipt handle: what a log puts in its stead, or all but cuts away, is alike in each delivery.

    >>> tells_deliveries_apart(handle_token("AQEB" + "x" * 200)), tells_deliveries_apart(handle_token("***")), tells_deliveries_apart("***")
    (True, False, False)
    """
    return token is not None and token.startswith("RH~") and token.rfind("~") == len("RH~") + HANDLE_PREFIX_CHARS


def is_one_receive(
    is_fifo: bool | None, counts: tuple[int | None, int | None], tokens: tuple[str | None, str | None]
) -> bool:
    """Tell whether two runs had a message by one receive: another receive has another handle, and in a FIFO queue another count.

    ``counts`` and ``tokens``: the receive counts and redacted receipt handles that the two were given.
    """
    if is_fifo and None is not counts[0] == counts[1]:
        return True
    return tokens[0] == tokens[1] and tells_deliveries_apart(tokens[0])


def handle_prefix(token: str) -> str:
    """Return what every token of one receipt handle begins with: error lines often cut the handle short.

    >>> handle_prefix(handle_token("AQEB" + "x" * 200)) == handle_prefix(handle_token("AQEB" + "x" * 90))
    True
    """
    return token[: len("RH~") + HANDLE_PREFIX_CHARS]
