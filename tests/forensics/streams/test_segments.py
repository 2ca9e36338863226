"""A worker's stream is cut where nothing that stands before bears on what stands after."""

from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.identity import handle_prefix
from forensics.streams import attribution
from forensics.streams.attribution import PlacedFact, is_shared
from forensics.streams.handlings import Handling, handlings_of
from forensics.streams.segments import segments_of
from tests.forensics.streams.worker_streams import DELETE, GROUP, cuts, handle, stream

HANDLES = {handle_prefix(handle(name)): name for name in "abx"}
LATER = 900
DONE = ("record a", "worker_finished a")
SAID = {
    "one message after the other": ((*DONE, "|", "record b", "effect", "worker_finished b", "|", "record c"),),
    "a message comes back": ((*DONE, "record b", "record a", "|", "record c"),),
    "a business key comes back": (("record a key=k", "record b", "effect key=k", "|", "mention c"),),
    "a receipt handle of a message before": (
        (*DONE, "|", "record b", f"handle_error handle=b {DELETE}", "|", "record c"),
    ),
    "the handle's message stands before, its record elsewhere": (
        (*DONE, "record b", f"handle_error handle=a {DELETE}", "|", "record c"),
    ),
    "a receipt handle that nobody printed names nothing": (
        (*DONE, "|", "record b", f"handle_error handle=q {DELETE}"),
    ),
    "a line that names nothing is of the message opened last": ((*DONE, "|", "record b", "mention c", "effect"),),
    "a line that names nothing before anything was opened": (
        ("effect", "|", "mention a", "|", "effect", "|", "record b"),
    ),
    "what is open still might be meant": (("record a", LATER, "mention b", "record c", "effect", "|", "record d"),),
    "what was open too long ago cannot be": (
        ("record a", "|", "mention b", "|", "mention c", "|", "mention d", "|", "record e", "effect"),
    ),
    "what has ended cannot be": ((*DONE, "|", "mention z", "|", "record b", "|", "mention c", "|", "record d"),),
    "lines of one ms": (("record a", "&record b", "|", "record c"),),
    "jobs without names": (
        (*DONE, "|", "worker_started", "effect", "mention b", "mention c", "|", "worker_started", "record d"),
    ),
    "a message of two jobs": (("worker_started", "mention a", "worker_started", "mention a", "|", "worker_started"),),
    "nothing": ((),),
}
"""What is said, and where it can be cut, if what is open is looked for three facts back."""


@pytest.mark.parametrize(("said",), SAID.values(), ids=SAID)
def test_a_stream_is_cut(said):
    facts = stream(*said)

    with patch.object(attribution, "LOOK_BACK", 3):
        segments = segments_of(facts, HANDLES)

    assert [segment.start for segment in segments] == (cuts(*said) if facts else [])
    assert [placed for segment in segments for placed in facts[segment]] == facts


SHARED = ("record x", "record y", "effect x", "worker_finished x", "worker_finished y")


def test_that_several_workers_write_a_stream_is_asked_of_the_whole():
    facts = stream(*SHARED, *DONE, "record b", "record c", "effect")

    assert segments_of(facts, {})[-1] == slice(7, 10)
    assert is_shared(facts)
    assert _by_segment(facts, True, segments_of(facts, {})) == _whole(facts, True)


@st.composite
def streams(draw: st.DrawFn) -> list[PlacedFact]:
    """Chapters of a few messages each, which sometimes speak of an earlier chapter's."""
    said: list[str | float] = []
    has_jobs, names_little = draw(st.booleans()), draw(st.sampled_from((1, 3)))
    for chapter in range(draw(st.integers(1, 5))):
        for _ in range(draw(st.integers(1, 7))):
            of = draw(st.sampled_from([chapter] * 12 + [0]))
            message = f"m{of}{draw(st.sampled_from('ab'))}"
            names = [message, f"{message} key=k{of}", *[""] * names_little, f"key=k{of}"]
            name, role = draw(st.sampled_from(names)), draw(st.sampled_from(ROLES))
            if role == "handle_error":
                name = f"handle={draw(st.sampled_from((message, 'x')))} {draw(st.sampled_from((name, '')))} {DELETE}"
            elif role == "worker_started" and not has_jobs:
                name = message
            elif role == "record":
                name = f"{message} key={draw(st.sampled_from((message, f'k{of}')))}"
            said.append(draw(st.sampled_from(("", "", "", "&"))) + f"{role} {name}")
            said += draw(st.sampled_from(([], [], [], [26], [LATER])))
    return stream(*said)


ROLES = (
    *("record", "record", "started", "worker_started", "effect", "effect", "worker_finished", "worker_finished"),
    *("worker_failed", "mention", "handle_error", "worker_delete_failed"),
)
MESSAGES = {handle_prefix(handle(f"m{n}{letter}")): f"m{n}{letter}" for n in range(5) for letter in "ab"}


@given(streams(), st.booleans(), st.sampled_from((2, 3, 64)), st.data())
def test_segments_by_themselves_have_the_handlings_of_the_whole_stream(facts, one_at_a_time, look_back, data):
    with patch.object(attribution, "LOOK_BACK", look_back):
        segments = segments_of(facts, MESSAGES)
        whole = _whole(facts, one_at_a_time)

        assert _by_segment(facts, one_at_a_time, segments) == whole
        kept = [segment.start for segment in segments[1:] if data.draw(st.booleans())]
        fewer = [slice(*borders) for borders in zip([0, *kept], [*kept, len(facts)], strict=True)]
        assert _by_segment(facts, one_at_a_time, fewer) == whole
    assert len({handling.consumer for handling in whole}) == len(whole)


@given(streams(), st.data())
def test_lines_that_are_written_on_only_join_segments(facts, data):
    first = facts[: data.draw(st.integers(1, len(facts)))]

    before = {segment.start for segment in segments_of(first, MESSAGES)}
    after = {segment.start for segment in segments_of(facts, MESSAGES)}

    assert {start for start in after if start < len(first)} <= before


def _whole(facts: Sequence[PlacedFact], one_at_a_time: bool) -> list[Handling]:
    return handlings_of(facts, "app/1", GROUP, one_at_a_time, MESSAGES)


def _by_segment(facts: Sequence[PlacedFact], one_at_a_time: bool, segments: Sequence[slice]) -> list[Handling]:
    alone = one_at_a_time and not is_shared(facts)
    return [handling for segment in segments for handling in _whole(facts[segment], alone)]
