"""The line in which a worker says that the handling of a message failed: nothing else tells why that message came again."""

import re
from collections.abc import Collection, Sequence

from forensics.parsers.workers import worker
from forensics.sentence import counted, said
from forensics.suggestions.model import MESSAGE_ID, Proposal, RunLines
from forensics.suggestions.outcomes import examples, own_words_of, tells_error
from forensics.suggestions.templates import Template
from forensics.suggestions.timing import Placed
from forensics.suggestions.wording import says_deleted, says_failed

_LEAST_FAILED, _LEAST_AGAIN = 2, 0.5
"""So many handlings must have the line, and of so many the message must have come again."""
_GOES_ON = re.compile(r"(?i:visibilit|heartbeat|lease|extend|again|retry|retries|attempt \d)")
"""Words of a failure behind which the handling goes on, or of a call that is none of its work."""


def failed_line(
    name: str, section: str, runs: Sequence[RunLines], candidates: Sequence[Placed], ends: Collection[Template]
) -> Proposal | None:
    """Return the line that says that handlings of messages failed, given those that say that they ``ends`` otherwise; None if no line does.

    Its words or its level tell of a failure, no handling goes on behind it, and (mostly) its messages come again.
    """
    last: dict[tuple[int, int], int] = {}
    for template in ends:
        for handling, line in _lines_of(template):
            last[handling] = max(last.get(handling, line), line)
    latest: dict[str, int] = {}
    for run in runs:
        for item in run.items:
            latest[item.message_id] = max(latest.get(item.message_id, run.started_at), run.started_at)
    found: list[tuple[int, Placed, int]] = []
    for placed in candidates:
        if placed.template.where != MESSAGE_ID or not _says_failure(placed):
            continue
        handlings = dict(_lines_of(placed.template))
        goes_on = any(last.get(handling, -1) > line for handling, line in handlings.items())
        again = sum(latest[runs[p].items[n].message_id] > runs[p].started_at for p, n in handlings)
        if not goes_on and len(handlings) >= _LEAST_FAILED and again >= _LEAST_AGAIN * len(handlings):
            found.append((len(handlings), placed, again))
    if not found:
        return None
    often, placed, again = max(found, key=lambda one: (one[0], one[1].template.expression))
    why = said(
        "its words or its level tell of a failure, no handling goes on behind it, and {n} of {messages} were redelivered",
        n=again,
        messages=counted(often, "message"),
    )
    return Proposal(
        section,
        name,
        "failed",
        placed.template.expression,
        often,
        often,
        "messages that were handled",
        why,
        0,
        examples(placed.template),
    )


def _lines_of(template: Template) -> Sequence[tuple[tuple[int, int], int]]:
    """Return the handlings (run and place in it) that have a template's line, each with where in the run it stands."""
    return [((place, s.item), s.line) for place, sayings in template.sayings.items() for s in sayings]


def _says_failure(placed: Placed) -> bool:
    words = own_words_of(placed)
    if says_deleted(words) or _GOES_ON.search(words):
        return False
    lines = [text for text, _, _ in placed.template.texts]
    if any(read.event == "failed" for text in lines if (read := worker(text))):
        return False  # which is known without a setting
    return says_failed(words) or tells_error(placed)
