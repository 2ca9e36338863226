"""What AWS answers instead of a reply, in our words: whose fault it is, and whether the same call may succeed later."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from forensics.errors import CredentialsError, SourceUnreadableError
from forensics.sentence import said

_BAD_CREDENTIALS = {
    "AuthFailure",
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "IncompleteSignatureException",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "InvalidToken",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_SKEWED = {"RequestTimeTooSkewed", "RequestInTheFuture", "RequestExpired"}
_SKEWED_WORDS = ("Signature expired", "Signature not yet current")
"""What AWS says, under the code of a wrong signature, where this machine's clock is off by more than some minutes."""
_DENIED = {"AccessDenied", "AccessDeniedException", "AuthorizationError", "Forbidden", "UnauthorizedOperation"}
_GONE = {
    "AWS.SimpleQueueService.NonExistentQueue",
    "NonExistentQueue",
    "QueueDoesNotExist",
    "ResourceNotFoundException",
}
_PASSING = {
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "ServiceException",
    "ServiceUnavailable",
    "ServiceUnavailableException",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
}
_UNSUPPORTED = {
    "InvalidAction",
    "NotImplemented",
    "UnknownOperationException",
    "UnsupportedOperation",
    "UnsupportedOperationException",
}


class AwsRefusedError(SourceUnreadableError):
    """AWS answered with an error, or with a reply that cannot be read.

    ``code`` is AWS's own error code; ``status`` is what coverage records: denied, gone, unsupported or failed.
    ``is_passing`` says that the same call may well succeed later: throttled, a failing server, a lost connection.
    """

    def __init__(self, operation: str, code: str, message: str, status: str, is_passing: bool = False) -> None:
        super().__init__(
            said("{operation}: {code}: {message}", operation=operation, code=code, message=message)
            if message
            else said("{operation}: {code}", operation=operation, code=code)
        )
        self.code = code
        self.status = status
        self.is_passing = is_passing


def in_our_words(name: str, response: Mapping[str, Any]) -> CredentialsError | AwsRefusedError:
    """Turn the reply of an operation that failed into the error to raise: credentials, or this source alone."""
    error = response.get("Error", {})
    http_status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code, message = str(error.get("Code", "")), " ".join(str(error.get("Message", "")).split())[:500]
    if code in _SKEWED or any(words in message for words in _SKEWED_WORDS):
        return _clock_off(response, code)
    if code in _BAD_CREDENTIALS:
        return CredentialsError(
            said("AWS refuses these credentials: {code}: {why}", code=str(code), why=message),
            "Sign in again, or give another --profile.",
        )
    if code in _GONE:
        status = "gone"
    elif code in _DENIED or http_status == 403 and "Throttl" not in code:
        status = "denied"
    elif code in _UNSUPPORTED or http_status == 501 or "log class" in message.lower():
        status = "unsupported"
    else:
        status = "failed"
    is_passing = code in _PASSING or (status == "failed" and http_status in (429, 500, 502, 503, 504))
    return AwsRefusedError(name, code or f"HTTP {http_status}", message, status, is_passing)


def _clock_off(response: Mapping[str, Any], code: str) -> CredentialsError:
    """Say by how much this machine's clock is off AWS's, as far as the reply says what time it is there."""
    date = response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date", "")
    try:
        ahead_s = (datetime.now(UTC) - parsedate_to_datetime(date)).total_seconds()
        minutes = f"{abs(ahead_s) / 60:,.0f}"
        off = said("{n} min ahead of", n=minutes) if ahead_s > 0 else said("{n} min behind", n=minutes)
    except (TypeError, ValueError):
        off = "too far off"
    return CredentialsError(
        said("this machine's clock is {off} AWS's, so AWS refuses every call ({code})", off=off, code=str(code)),
        "Set the clock (`timedatectl` shows it), then run this again.",
    )
