"""Deletes and visibility changes that SQS refused because of the receipt handle, and deletes that failed otherwise.

AWS types none of this, so the words decide. An error tracker may have cut the text in the middle of the reason, the
handle may be a placeholder, and a batch entry says the same under another code.
"""

from dataclasses import dataclass

from forensics.parsers.grammar import BLANK, QUOTE, SPACE, UUID, Pattern, holds_any

HANDLE_NEEDLES = ("Handle", "pt handle", "visibility timeout ch", "MessageNotInflight")
DELETE_NEEDLES = ("DeleteM", "SQS delete", "Could not delete", "knowledg")
"""A line without any of these tells of no receipt handle and of no failed delete."""
EXPIRED_REASON = "the receipt handle has expired"
CUT_CHARS = 2
"""A reason cut shorter than this tells nothing."""
GONE_REASON = "message does not exist or is not available for visibility timeout change"

REASON = Pattern(
    "handle_reason",
    r"(?i:for parameter ReceiptHandle is invalid|^" + SPACE + r"*+ReceiptHandle is invalid)\.?"
    r"(?:" + SPACE + r"|\\[nrt])*+(?i:Reason):" + SPACE + r"*+"
    r"(?P<reason>[A-Za-z][^\n\r\"'`\\<>(&\[]{1,100}+)",
)
"""What stands after Reason: in the frame around a receipt handle; never after another parameter's name."""
FRAME = Pattern("handle_frame", r"(?i:parameter ReceiptHandle is inval|^" + SPACE + r"*+ReceiptHandle is inval)")
"""The frame alone, for a text cut before its reason."""
EXPIRED = Pattern("handle_expired", r"(?i:receipt handle has exp)")
GONE = Pattern("message_gone", r"(?i:not available for visibility timeout ch)")
GARBAGE = Pattern("handle_garbage", r"(?i:is not a valid receipt ha|input receipt handle(?! has))")
WRONG_QUEUE = Pattern("handle_wrong_queue", r"(?i:receipt handle[^\n\r]{0,1200}?is not valid for this q)")
TYPED = Pattern(
    "handle_code_alone",
    r"(?:\(ReceiptHandleIsInvalid|Code" + QUOTE + r"?+" + SPACE + r"*+[:=]" + SPACE + r"*+" + QUOTE + r"?+"
    r"(?:AWS\.SimpleQueueService\.)?ReceiptHandleIsInvalid|MessageNotInflight|ReceiptHandleIsInvalid(?:Exception)?:)",
)
"""An error of this family whose words are missing."""

OPERATION = Pattern(
    "sqs_operation",
    r"(?P<operation>(?:[Dd]eleteMessage|[Cc]hangeMessageVisibility)(?:Batch)?(?![a-z]))",
)
"""The operation by name, also inside DeleteMessageCommand or DeleteMessageRequest, or as a method in a stack trace."""
OPERATION_WORDS = (
    (
        Pattern("delete_batch_words", r"[Bb]atch delet|BatchDelet|delete_message_batch|messages successfully deleted"),
        "DeleteMessageBatch",
    ),
    (Pattern("delete_entry_words", r"Could not delete [0-9]|[Ss]ender_?[Ff]ault"), "DeleteMessageBatch"),
    (
        Pattern(
            "change_words",
            r"changing visibility|change_message_visibility|changeMessageVisibility|auto extend|[Rr]elease failed"
            r"|[Ee]xtend(?:ing)? (?:the )?visibility|visibility timeout ch",
        ),
        "ChangeMessageVisibility",
    ),
    (
        Pattern(
            "delete_words",
            r"(?<![A-Za-z])(?i:delet(?:e|ing)|remov(?:e|ing)|ack(?:nowledg(?:e|ing|ement))?)(?![A-Za-z])",
        ),
        "DeleteMessage",
    ),
)
"""What the line says instead of the operation's name, in order of precedence."""

CODE = Pattern(
    "sqs_error_code",
    r"(?:occurred" + BLANK + r"++\("
    r"|Error Code:" + BLANK + r"*+"
    r"|api error" + BLANK + r"++"
    r"|Errors::"
    r"|(?<![A-Za-z])[Cc]ode" + QUOTE + r"?+" + SPACE + r"*+[:=]" + SPACE + r"*+" + QUOTE + r"?+)"
    r"(?P<code>[A-Z][A-Za-z]++(?:\.[A-Za-z]++){0,3}+)",
)
"""The error code where the frame names it as one."""
KNOWN_CODE = Pattern(
    "sqs_known_code",
    r"(?<![A-Za-z.])(?P<code>InvalidParameterValue|ReceiptHandleIsInvalid|MessageNotInflight)(?:Exception)?(?:"
    + BLANK
    + r"*+\(client\))?"
    + BLANK
    + r"*+:",
)

HANDLE = Pattern(
    "refused_handle",
    r"(?:Value" + SPACE + r"++" + QUOTE + r"?+|receipt handle" + BLANK + r"++(?:" + QUOTE + r"|<|&lt;)?+)"
    r"(?P<handle>(?:RH~|[A-Za-z0-9+/_-])[A-Za-z0-9+/=_~-]{7,2000}+(?:[\s]{1,2}[A-Za-z0-9+/=_-]{20,}+){0,40}+)"
    r"(?=(?:\.{2,3}|\u2026)?(?:" + QUOTE + r"|>|&gt;)?+" + SPACE + r"++(?:for parameter|is not))",
)
"""The handle, or the token or prefix that stands for it."""
PLACEHOLDER = Pattern("handle_placeholder", r"^[Xx*.-]*+(?![\s\S])")
SQS_REQUEST_ID = Pattern(
    "sqs_request_id",
    r"[Rr]equest ?I[Dd]"
    + QUOTE
    + r"?+"
    + SPACE
    + r"{0,3}+[:=]"
    + SPACE
    + r"{0,3}+"
    + QUOTE
    + r"?+(?P<sqs_request_id>"
    + UUID
    + r")",
)

FAILED_DELETE = Pattern(
    "failed_delete",
    r"when calling the DeleteMessage"
    r"|Error executing " + QUOTE + r"DeleteMessage"
    r"|operation error SQS: DeleteMessage"
    r"|SQS delete message failed"
    r"|Could not delete [0-9]{1,4}+, code"
    r"|Error acknowledging in queue"
    r"|could not be acknowledged in queue"
    r"|dropping acknowledgement for message",
)
"""A delete that failed for any other reason: network, permission, throttling."""


NOT_DELETED = Pattern(
    "not_deleted",
    r"(?<![A-Za-z])(?i:delet(?:e|ing)|remov(?:e|ing)|ack(?:nowledg(?:e|ing))?)(?:"
    + BLANK
    + r"|[:=\"'(\[<]){1,4}+(?P<message_id>"
    + UUID
    + r")(?![0-9A-Za-z-])",
)
"""The id right behind the word for what failed ("cannot delete 861b…"), without a word for what it names."""


@dataclass(frozen=True)
class HandleError:
    """A refused or failed call; ``reason`` is expired, gone, garbage, wrong_queue or other (also: cut before its words).

    ``operation`` is None where nothing tells which call it was; ``handle`` a handle, its token, or its first characters;
    ``message_id`` stands right behind the word for what failed, None where no id or more than one does.
    """

    operation: str | None
    code: str | None
    reason: str
    handle: str | None
    sqs_request_id: str | None
    message_id: str | None = None


def reason_of(line: str) -> str | None:
    """Return why SQS refused; None where the line tells of no such error.

    >>> reason_of("Value AQEB for parameter ReceiptHandle is invalid. Reason: The receipt han")
    'expired'
    >>> reason_of("Value 42 for parameter ReceiveRequestAttemptId is invalid. Reason: The receive...") is None
    True
    """
    if holds_any(line, HANDLE_NEEDLES):
        cut = (REASON.find(line, "reason") or "").rstrip(" .\t\u00a0\u2026").lower()
        if EXPIRED.find(line) or (len(cut) >= CUT_CHARS and EXPIRED_REASON.startswith(cut)):
            return "expired"
        if GONE.find(line) or (len(cut) >= CUT_CHARS and GONE_REASON.startswith(cut)):
            return "gone"
        if WRONG_QUEUE.find(line):
            return "wrong_queue"
        if GARBAGE.find(line):
            return "garbage"
        if FRAME.find(line) or TYPED.find(line):
            return "other"
    if holds_any(line, DELETE_NEEDLES) and FAILED_DELETE.find(line):
        return "other"
    return None


def handle_error(line: str, own_request_id: str | None = None) -> HandleError | None:
    """Read a refused or failed delete or visibility change; None for every other line."""
    reason = reason_of(line)
    if reason is None:
        return None
    operation = OPERATION.find(line, "operation")
    if operation is not None:
        operation = operation[:1].upper() + operation[1:]
    else:
        operation = next((name for words, name in OPERATION_WORDS if words.find(line)), None)
    handle = "".join((HANDLE.find(line, "handle") or "").split())
    ids = [i for i in SQS_REQUEST_ID.find_all(line, "sqs_request_id") if i != own_request_id]
    named = {found.lower() for found in NOT_DELETED.find_all(line, "message_id")} - {(own_request_id or "").lower()}
    return HandleError(
        operation,
        CODE.find(line, "code") or KNOWN_CODE.find(line, "code"),
        reason,
        None if PLACEHOLDER.compiled.search(handle) else handle,
        ids[0] if ids else None,
        named.pop() if len(named) == 1 else None,
    )
