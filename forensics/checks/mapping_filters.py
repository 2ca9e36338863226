"""Whether a mapping deletes messages that nobody reads."""

from forensics.checks.answer import NO_MAPPING, NOT_HERE, NOTE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.sentence import counted, said


def mapping_filters(setup: Setup) -> Answer:
    """A mapping without a filter hands on all messages; one with a filter deletes unread what matches none of its patterns.

    >>> mapping_filters(Setup("q", "f", "lambda", mapping_state="Enabled", filter_patterns=("{}",))).status
    'unknown'
    """
    if not setup.is_lambda:
        return NOT_HERE
    if setup.mapping_state is None:
        return NO_MAPPING
    uses = ("filter_patterns", "filtered_event_count", "mapping_state")
    if not setup.filter_patterns:
        return passes("the mapping passes on all messages", *uses)
    patterns = counted(len(setup.filter_patterns), "pattern")
    if setup.filtered_event_count is None:
        return unknown(
            said("the mapping filters by {patterns}", patterns=patterns),
            "FilteredOutEventCount, which the mapping's EventCount metrics have",
            *uses,
        )
    if setup.filtered_event_count:
        filtered = counted(setup.filtered_event_count, "message")
        return fails(
            WARNING,
            said(
                "the mapping filters by {patterns}, and deleted {filtered} unread", patterns=patterns, filtered=filtered
            ),
            "Compare the patterns with what producers send; a message without the field matches none.",
            *uses,
        )
    return fails(
        NOTE,
        said("the mapping filters by {patterns}; it has deleted nothing so far", patterns=patterns),
        "Know that what matches none is lost.",
        *uses,
    )
