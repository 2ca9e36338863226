"""Message ids that an application line names, each introduced by a word such as message, record or job."""

from forensics.parsers.grammar import UUID, Pattern, holds_any

_BETWEEN = r"(?:\x1b\[[0-9;]{0,20}+m|&[a-z#0-9]{1,6};|[^0-9A-Za-z&]){0,8}+"
"""Signs between a word and an id; a terminal's colours may part a field's name, its sign and its value."""
_LIST = r"(?P<ids>" + UUID + r"(?:[\"'\s\u00a0]{0,3}+[,;][\"'\s\u00a0]{0,4}+" + UUID + r"){0,10000}+)(?![0-9A-Za-z-])"
_LEAD = (
    r"(?:[Ss](?![A-Za-z]))?(?:[_ -]?(?:[Ii]dentifiers?|[Ii][Dd][Ss]?))?"
    + _BETWEEN
    + r"(?:(?:with|ids?|ID|Id|is|was|no|number|uuid)(?![A-Za-z])[^0-9A-Za-z]{1,6}+){0,3}+"
)

MENTION = Pattern(
    "mention",
    r"[goGD](?:"  # one pass over the line, from one letter of each word on
    r"(?<=essag)e|(?<=ESSAG)E"
    r"|(?<=[Mm]sg)(?<![A-Za-z][Mm]sg)|(?<=[Rr]eco)(?<![A-Za-z][Rr]eco)rd|(?<=[Jj]o)(?<![A-Za-z][Jj]o)b"
    r"|(?<=R-D)UPE [^\s\"]{1,200}+"  # MassTransit: the same message again
    r")" + _LEAD + _LIST,
)
"""After message, messageId, message_id, sqs_message_id, msg, record or job: one id or a list of them.

>>> MENTION.find("Processing message 861bec95-b670-4f2a-acf9-19d5bdd7cbe5", "ids")
'861bec95-b670-4f2a-acf9-19d5bdd7cbe5'
"""
ONE_ID = Pattern("mentioned_id", UUID)
ID_CHARS = 36

TAKING = Pattern(
    "taking",
    r"[BCDGHPRSWbcdghprsw](?<![A-Za-z][A-Za-z])(?:"  # looked at from the first letter of each word on
    r"(?<=[Rr])e-?[Pp]rocess(?:ing|ed|es)?|(?<=[Pp])rocess(?:ing|ed|es)?|(?<=[Rr])eceiv(?:ed|ing|es)|(?<=[Hh])andl(?:ing|ed|es)"
    r"|(?<=[Cc])onsum(?:ing|ed|es)|(?<=[Dd])equeued|(?<=[Ss])tart(?:ing|ed|s)?|(?<=[Bb])egin(?:ning|s)?|(?<=[Gg])ot"
    r"|(?<=[Pp])icked up|(?<=[Ww])orking on)(?![A-Za-z])",
)
"""Words of one who has a message in hand. Who only names one may have sent it, or speak of another's."""
_TAKING_NEEDLES = ("rocess", "eceiv", "andl", "onsum", "equeued", "tart", "egin", "Got", "got", "icked up", "orking on")
"""A text with none of these has no such word."""
_AROUND = 80
"""So many characters before and behind a message's id such a word may stand."""

SEND_NEEDLE = "MD5OfMessageBody"
"""Stands in the answer to a send, whose MessageId is another message's."""


def mentions(line: str, own_request_id: str | None = None) -> list[str] | None:
    """Return the message ids a line names, in order, once each; None where it names none.

    >>> mentions('{"message_id": "861BEC95-b670-4f2a-acf9-19d5bdd7cbe5"}')
    ['861bec95-b670-4f2a-acf9-19d5bdd7cbe5']
    """
    if SEND_NEEDLE in line:
        return None
    runs = MENTION.find_all(line, "ids")
    own = (own_request_id or "").lower()
    ids = dict.fromkeys(
        found.lower() for run in runs for found in (ONE_ID.find_all(run) if len(run) > ID_CHARS else [run])
    )
    return [found for found in ids if found != own] or None


def is_taking(line: str) -> bool:
    """Tell whether a line that names messages says of the first that it is in hand.

    >>> is_taking("Processing message 861bec95-b670-4f2a-acf9-19d5bdd7cbe5")
    True
    >>> is_taking("next step: message 861bec95-b670-4f2a-acf9-19d5bdd7cbe5")
    False
    """
    found = MENTION.compiled.search(line)
    if found is None or not holds_any(line, _TAKING_NEEDLES):
        return False
    return TAKING.compiled.search(line, max(0, found.start() - _AROUND), found.end() + _AROUND) is not None
