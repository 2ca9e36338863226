"""Where a worker's stream can be cut: a worker may live for ever, and get new lines every minute."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from forensics.identity import handle_prefix
from forensics.streams.attribution import OpenMessages, PlacedFact, is_nameless_start
from forensics.streams.model import Fact


def segments_of(facts: Sequence[PlacedFact], message_by_handle: Mapping[str, str]) -> list[slice]:
    """Cut a stream wherever nothing that stands before can bear on what stands after; the slices make up the whole.

    The handlings of each slice by itself are then those of the whole stream, and so they are where any of the cuts is left
    out. One thing is the stream's and not a segment's: that several workers write it. So ask ``is_shared`` of the whole
    stream, and give ``handlings_of`` each segment with ``one_at_a_time and not is_shared(facts)``.

    Every message and every business key is in one segment as a whole, so no two segments have an item or the name of a
    handling in common. Cuts stand between lines of different times. Lines that are written on behind the last add segments,
    or join those from the first mention of what they are about; what stands before that keeps its cuts.
    """
    reaches = _reaches(facts, message_by_handle)
    starts, earliest = [], len(facts)
    for place in range(len(facts) - 1, -1, -1):
        earliest = min(earliest, reaches[place])
        if earliest == place:
            starts.append(place)
    starts.reverse()
    return [slice(start, stop) for start, stop in pairwise([*starts, len(facts)])]


def _reaches(facts: Sequence[PlacedFact], message_by_handle: Mapping[str, str]) -> list[int]:
    """Return for each fact the place of the first fact that it must not be parted from.

    A fact that names something reaches back to where that was first named, be it a message, a business key or a message's
    receipt handle. A fact that names nothing reaches back to what was opened last and to whatever is open still.
    Once a framework's start line began a job without a name, every fact reaches back to the start of its job.
    Nothing is parted from the other lines of its time.
    """
    first: dict[str | tuple[str, str], int] = {}
    messages = OpenMessages()
    reaches: list[int] = []
    same_time = 0
    job: int | None = None
    for place, (at, _, _, fact) in enumerate(facts):
        if at != facts[same_time].at:
            same_time = place
        if is_nameless_start(fact):
            job = place
        names = _names(fact, message_by_handle)
        reach = min([same_time, *[first.setdefault(name, place) for name in names]])
        if job is not None:
            reach = min(reach, job)
        else:
            messages.hear(place, fact)
            if not names:
                reach = min([reach, *messages.bearing_on(place)])
        reaches.append(reach)
    return reaches


def _names(fact: Fact, message_by_handle: Mapping[str, str]) -> list[str | tuple[str, str]]:
    """Return the messages and business keys that a fact names."""
    names: list[str | tuple[str, str]] = [] if fact.message_id is None else [fact.message_id]
    if fact.key is not None:
        names.append(("key", fact.key))
    if fact.receipt_handle is not None:
        message_id = message_by_handle.get(handle_prefix(fact.receipt_handle))
        if message_id is not None:
            names.append(message_id)
    return names
