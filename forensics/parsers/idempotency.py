"""Lines of idempotency helpers: a repeat that was stopped, or a key that was used for something else."""

from forensics.parsers.grammar import BLANK, SPACE, Pattern, holds_any

IN_PROGRESS = Pattern(
    "idempotency_in_progress",
    r"IdempotencyAlreadyInProgress"
    r"|[Aa]lready (?:an execution )?in progress with idempotency key"
    r"|existing idempotency key[^\n\r]{0,600}?with status:" + SPACE + r"*+INPROGRESS"
    r"|R-DUPE" + BLANK,  # MassTransit dropped a message that it still held
)
"""The repeat met the first run while it was at work: overlap proved, effect absorbed.

>>> bool(IN_PROGRESS.find("Execution already in progress with idempotency key: body=fn#5f"))
True
"""
ALREADY_DONE = Pattern(
    "idempotency_already_done",
    r"already existing idempotency key(?![^\n\r]{0,600}?with status:" + SPACE + r"*+(?:INPROGRESS|EXPIRED))"
    r"|IdempotencyItemAlreadyExists",
)
"""The repeat met a finished record and was answered from the store."""
VALIDATION = Pattern(
    "idempotency_validation",
    r"IdempotencyValidation(?:Error|Exception)|[Pp]ayload does not match stored record for this event key",
)
"""The same key with another payload: not a repeat at all."""

_DONE = (
    r"(?:process|handl|charg|done|complet|consum|paid|sent|seen|execut|appl|refund|ship|book|fulfil|exist|record|captur|finish|notif"
    r"|deliver|e?mail|creat|post|publish|stor|sav|insert|updat|settl|credit|debit|invoic|issu|dispatch|import|upload|transfer|confirm"
    r"|writ|generat|render|export|reserv|allocat|deduct|assign|grant|submit|transmit|persist|index|sync|push|answer|repli|activat|enrol|award)"
)
_BEFORE = (
    r"(?<![a-z])already (?:been )?"
    + _DONE
    + r"|(?<![a-z])"
    + _DONE
    + r"(?:[a-z]{0,3}ed|s)? (?:already|before)(?! ?[a-z])|(?:processed|seen|handled) before(?![a-z])"
)
REPEAT = Pattern(
    "says_repeat",
    f"(?i:{_BEFORE}|(?<![a-z])(?:duplicate|skipp(?:ed|ing)(?![a-z])|idempoten))|処理済|重複|スキップ",
)
"""Words of one's own for a repeat that was stopped. They prove nothing: a check that let it pass may be told with them, too.

>>> told = ("already charged ord-7, skipping", "ord-7 was sent before", "ord-7 is paid already", "charged ord-7", "処理済みのためスキップ")
>>> [bool(REPEAT.find(text)) for text in told]
[True, True, True, False, True]
"""
_DONE_BEFORE = Pattern("says_done_before", f"(?i:{_BEFORE})|処理済")
_CAME_TWICE = Pattern(
    "says_came_twice",
    r"(?i:(?<![a-z])duplicate (?:message|delivery|event|request|record|job|task)(?![a-z_-]| (?:id|key|name|type)s?(?![a-z]))"
    r"|(?<![a-z])(?<!no )(?<!not )(?<!not a )(?<!for )duplicate(?:[,.;!)]|\"(?! ?:)| ?[-\u2013\u2014] | skipp|\s*$))",
)
"""Duplicates of what a worker is handed, or of nothing that is named; what else is one may be any part of its work."""
_SOME_ID = Pattern("some_id", r"(?<![\w.:-])[A-Za-z][\w-]*[0-9]")

NEEDLES = ("potency", "vent key", "R-DUPE")
"""A line without any of these is none of the above."""


REPEAT_NEEDLES = (
    "lready",
    "LREADY",
    "efore",
    "済",
    "uplicate",
    "UPLICATE",
    "kipp",
    "KIPP",
    "dempoten",
    "重複",
    "スキップ",
)
"""A line without any of these does not read as if the work was not done again."""


def says_repeat(line: str) -> bool:
    """Tell whether a line reads as if the work was not done again."""
    return holds_any(line, REPEAT_NEEDLES) and REPEAT.compiled.search(line) is not None


def says_done_before(line: str) -> bool:
    """Tell whether a line reads as if work had been done before.

    >>> says_done_before("order 7 already charged"), says_done_before("skipping order 7")
    (True, False)
    """
    return _DONE_BEFORE.find(line) is not None


def may_be_of_any_work(line: str) -> bool:
    """Tell whether such a line that names none of the messages in hand may be of one: it says that work was there or came twice, or holds some id.

    What else is skipped may be any part of the work.

    >>> told = ("order already charged", "duplicate of pay_4", "Duplicate delivery, skipping", "duplicate, skipped", "skipping order 7")
    >>> [may_be_of_any_work(text) for text in told]
    [True, True, True, True, True]
    >>> [may_be_of_any_work(text) for text in ("10:00:07 skipping mails", "no duplicate, going on", '{"duplicate":false}')]
    [False, False, False]
    """
    told = REPEAT.compiled.search(line)
    is_numbered = told is not None and any(sign.isdigit() for sign in line[told.end() :])
    is_said = says_done_before(line) or _CAME_TWICE.find(line) is not None
    return is_numbered or _SOME_ID.find(line) is not None or is_said


def idempotency(line: str) -> str | None:
    """Return in_progress, already_done or validation; None for every other line."""
    if not holds_any(line, NEEDLES):
        return None
    for pattern, meaning in ((VALIDATION, "validation"), (IN_PROGRESS, "in_progress"), (ALREADY_DONE, "already_done")):
        if pattern.compiled.search(line):
            return meaning
    return None
