"""Lines of functions that read as if a repeat was stopped, in words of their own that no settings name."""

from forensics.parsers.idempotency import says_repeat
from forensics.parsers.line import ParsedLine
from forensics.settings import Consumer

_KINDS = frozenset({"app", "other", "logged_error"})


def is_asked(consumer: Consumer) -> bool:
    """Tell whether such a line matters: where effects are marked, or each run does the work again, a success alone shows nothing else.

    >>> is_asked(Consumer()), is_asked(Consumer(effect="charged")), is_asked(Consumer(idempotent=False))
    (True, False, False)
    """
    return not consumer.effect and consumer.idempotent is not False


def reads_as_repeat(said: ParsedLine, line: str, consumer: Consumer) -> bool:
    """Tell whether an application's line reads as if the work was not done again; a printed event is none, whatever its bodies say.

    >>> from forensics.parsers import parse_line
    >>> [reads_as_repeat(parse_line(text), text, Consumer()) for text in ("already charged ord-7", "charged ord-7")]
    [True, False]
    """
    if said.kind not in _KINDS or said.records or said.idempotency is not None:
        return False
    if said.started or said.guard_mark or said.deleted_mark or said.failed_mark or said.visibility_mark:
        return False
    return is_asked(consumer) and says_repeat(line)
