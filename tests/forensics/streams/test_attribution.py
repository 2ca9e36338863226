"""Whom a worker's line is about when it does not say so by a message id."""

import pytest

from forensics.identity import handle_prefix
from forensics.settings import Consumer
from forensics.streams.attribution import attributed, in_stream_order, messages_by_handle, takes_one_at_a_time
from forensics.streams.in_hand import LOOK_BACK, MOST_OPEN, SLOWEST, is_shared
from forensics.streams.model import GUESSED, Fact, PlacedFact
from tests.forensics.streams.worker_streams import CHANGE, DELETE, handle, stream

RECORDS_FIRST = ("record y key=of-y", "effect key=of-y", "record z key=of-z", "effect key=of-z")
SAID = {
    "names nothing, one message is open": (("record a", "effect"), "a a"),
    "names nothing, two are open": (("record a", "record b", "effect"), "a b -"),
    "names nothing, the other has ended": (("record a", "record b", "worker_finished a", "effect"), "a b a b"),
    "names nothing, nothing is open any more": (("record a", "worker_failed a", "effect"), "a a a"),
    "names nothing, nothing was ever open": (("effect", "mention a", "effect"), "- a -"),
    "a mention opens nothing": (("record a", "mention b", "effect"), "a b a"),
    "a message that came back is open again": (
        ("record a", "worker_finished a", "record b", "record a", "worker_finished b", "effect"),
        "a a b a b a",
    ),
    "names a key that a record prints": (("record a key=k", "record b", "effect key=k"), "a b a"),
    "names a key, and the open message's record prints its event's id": (("record a key=sns:1", "effect key=k"), "a a"),
    "names a key that a record prints only later": (("effect key=k", "record a key=k"), "a a"),
    "names a key that a record prints, and another was opened since whose record is lost": (
        ("record a key=k", "started b", "effect key=k"),
        "a b key:k",
    ),
    "names the key of a message whose record is printed, in a guard, and another was opened since whose record is lost": (
        ("record a key=k", "started b", "guard key=k"),
        "a b key:k",
    ),
    "names a key that a record prints, and another whose record is lost was opened before": (
        ("started b", "record a key=k", "effect key=k"),
        "b a a",
    ),
    "names a key that a record prints, and of another that was opened since the effect tells another": (
        ("record a key=k", "started b", "effect b key=l", "effect key=k"),
        "a b b a",
    ),
    "names a key that a record prints, and another was opened since that is printed later, with another": (
        ("record a key=k", "started b", "effect key=k", "record b key=l"),
        "a b a b",
    ),
    "names a key that a record prints only later, of the first receive, where records come first": (
        (*RECORDS_FIRST, "effect key=k", "record a key=k count=1"),
        "y y z z key:k a",
    ),
    "names a key that a record prints only later, of a second receive, where records come first": (
        (*RECORDS_FIRST, "effect key=k", "record a key=k count=2"),
        "y y z z a a",
    ),
    "names a key that a record prints only later, of the first receive, where records come last": (
        ("effect key=y", "record z key=y count=1", "effect key=k", "record a key=k count=1"),
        "z z a a",
    ),
    "names a key that a record prints only later, where records come first, and another's is lost that is in hand": (
        (*RECORDS_FIRST, "started b", "effect key=k", "record a key=k count=1"),
        "y y z z b b a",
    ),
    "names a key that a record prints only later, and another was opened since the one whose record is lost": (
        (*RECORDS_FIRST, "started b", "record c key=l", "effect key=l", "effect key=k", "record a key=k count=1"),
        "y y z z b c c key:k a",
    ),
    "names a key, and the only message in hand was closed, open only for an opening before": (
        ("started a", "started a", "worker_failed a", "effect key=k"),
        "a a a key:k",
    ),
    "names a key, and the only message in hand was closed and opened again": (
        ("started a", "started a", "worker_failed a", "started a", "effect key=k"),
        "a a a a a",
    ),
    "names a key, and the delete of the only message in hand was refused": (
        ("started a", f"handle_error a {DELETE}", "effect key=k"),
        "a a key:k",
    ),
    "names the key of the only message in hand, and its delete was refused": (
        ("record a key=k", f"handle_error a {DELETE}", "effect key=k"),
        "a a a",
    ),
    "names another key than one that the message in hand may have had, where openings are missing": (
        ("record a", "effect key=l", "worker_failed b", "effect key=k"),
        "a key:l b key:k",
    ),
    "names the same key as one that the message in hand may have had": (
        ("record a", "effect key=k", "worker_failed b", "effect key=k"),
        "a key:k b a",
    ),
    "names a key, where only the start of another, which decides nothing, told one before": (
        ("record a", "started key=l", "worker_failed b", "effect key=k"),
        "a key:l b a",
    ),
    "names the key of a message that has ended, where openings are missing": (
        (*["mention x"] * LOOK_BACK, "worker_failed z", "record a key=k", "worker_failed a", "effect key=k"),
        f"{'x ' * LOOK_BACK} z a a a",
    ),
    "names the key of a message that has ended, where openings are missing, and another is in hand": (
        (
            *["mention x"] * LOOK_BACK,
            "worker_failed z",
            "record a key=k",
            "worker_failed a",
            "started b",
            "effect key=k",
        ),
        f"{'x ' * LOOK_BACK} z a a b key:k",
    ),
    "names a key that no line tells, and a line with another's key may have been of the one whose record is lost": (
        ("record a key=k", "started b", "effect key=k", "effect key=l"),
        "a b key:k key:l",
    ),
    "names a key of two messages that ended, and one whose record is lost was opened last": (
        ("record a key=k", "worker_failed a", "record b key=k", "worker_failed b", "started c", "effect key=k"),
        "a a b b c c",
    ),
    "names a key of two messages that ended, and one whose record is lost was opened before another": (
        (
            *("record a key=k", "worker_failed a", "record b key=k", "worker_failed b", "started c"),
            *("record d key=l", "effect key=k"),
        ),
        "a a b b c d key:k",
    ),
    "names a key that records tell of two, one in hand, where another was in hand that was not seen to be opened": (
        ("record x key=k", "worker_failed x", "record a key=k", "record b key=l", "effect key=m", "effect key=k"),
        "x x a b key:m a",
    ),
    "names a key that records tell of two, one after the other, and neither ended behind it": (
        (
            *("record a key=k", "effect key=k", "record c key=l", "worker_failed a"),
            *("record b key=k", "effect key=k"),
        ),
        "a a c a b b",
    ),
    "names a key of two messages": (("record a key=k", "record b key=k", "effect key=k"), "a b key:k"),
    "names a key that a start line tells": (("started a key=k", "started b", "effect key=k"), "a b a"),
    "names a key that no line tells, one message is open": (("record a", "effect key=k"), "a a"),
    "names a key that no line tells, two are open": (("record a", "record b", "effect key=k"), "a b key:k"),
    "names a key that no line tells, nothing is open any more": (
        ("record a", "deleted a", "effect key=k"),
        "a a key:k",
    ),
    "names another key than the open message's: one of them is another's": (
        ("record a", "effect key=k", "effect key=l"),
        "a key:k key:l",
    ),
    "names another key, and the message that had it was opened again": (
        ("record a", "effect key=k", "deleted a", "record a", "effect key=l"),
        "a key:k a a key:l",
    ),
    "names the same key, and the message was opened again": (
        ("record a", "effect key=k", "deleted a", "record a", "effect key=k"),
        "a a a a a",
    ),
    "names a key that a record prints, whose message ended: of the other that is open, done under a new id": (
        ("record a key=k", "worker_failed a", "record b", "effect key=k", "deleted b"),
        "a a b b b",
    ),
    "names the key of a message that ended, and the other that is open is not seen to end": (
        ("record a key=k", "worker_failed a", "record b", "effect key=k"),
        "a a b key:k",
    ),
    "names the key of a message that ended, and two others are open": (
        ("record a key=k", "worker_failed a", "record b", "record c", "effect key=k", "deleted b"),
        "a a b c key:k b",
    ),
    "names the key of a message that ended, and the other that is open has another": (
        ("record a key=k", "deleted a", "record b key=l", "effect key=k", "effect key=l"),
        "a a b a b",
    ),
    "names the key of a message that ended, and the other that is open shows another later": (
        ("record a key=k", "deleted a", "record b", "effect key=k", "effect key=l", "deleted b"),
        "a a b key:k key:l b",
    ),
    "names the key of a message that ended, and nothing is open": (
        ("record a key=k", "deleted a", "effect key=k"),
        "a a a",
    ),
    "names the key of a message that ended, and that came back": (
        ("record a key=k", "worker_failed a", "record b", "record a", "effect key=k", "deleted b"),
        "a a b a a b",
    ),
    "names the key of a message that ended, and a receipt handle": (
        ("record a key=k", "deleted a", "record b", "effect key=k handle=of-m", "deleted b"),
        "a a b a b",
    ),
    "names a key, and of two that are open the other has had another": (
        ("record a", "effect key=k", "record b", "effect key=l"),
        "a a b b",
    ),
    "names the key of the other that is open, which may be done again under a new id": (
        ("record a", "effect key=k", "record b", "effect key=k"),
        "a a b key:k",
    ),
    "names a key, and the other's is told by its guard": (
        ("record a", "record b", "guard b key=l", "effect key=k"),
        "a b b a",
    ),
    "names a key that the open message's guard tells otherwise": (
        ("record a", "effect key=k", "guard a key=l"),
        "a key:k a",
    ),
    "names a key that a guard tells of a repeat under another id: it was not done there": (
        ("record a", "effect key=k", "deleted a", "record b", "guard b key=k"),
        "a a a b b",
    ),
    "names a key, and a repeat that was stopped is open": (("record a", "guard a", "effect key=k"), "a a key:k"),
    "names a key that two messages may have, and neither ended behind it": (
        ("record a", "effect key=k", "record b", "effect key=l", "deleted a", "record c", "effect key=k"),
        "a key:k b key:l a c key:k",
    ),
    "names a key that two messages have, each of which ended behind it": (
        ("record a", "effect key=k", "deleted a", "record b", "effect key=k", "deleted b"),
        "a a a b b b",
    ),
    "names a key, and of a message that is in hand twice only one was stopped": (
        ("record c", "record a", "effect key=l", "record a", "guard a", "deleted a", "effect key=k"),
        "c a key:l a a a key:k",
    ),
    "names nothing, and one line ends a message that is in hand twice, in two words": (
        ("record a", "record b", "record a", "deleted a", "+worker_finished a", "effect"),
        "a b a a a -",
    ),
    "names a key, and a message that is in hand twice has ended once": (
        ("record a", "record a", "deleted a", "record b", "effect key=k"),
        "a a a b key:k",
    ),
    "names a key, and a message that was opened in two ways has ended": (
        ("worker_started a", "record a", "deleted a", "record b", "effect key=k"),
        "a a a b b",
    ),
    "names a key where a message ends more often than it was opened": (
        ("record b", "deleted b", "record a", "effect key=k", "deleted b"),
        "b b a key:k b",
    ),
    "names a key, and a message that was never opened goes on later": (
        ("record a", "effect key=k", "worker_failed b"),
        "a key:k b",
    ),
    "names a key behind a message whose opening came before what was read": (
        ("worker_failed b", "record a", "effect key=k"),
        "b a a",
    ),
    "names a key where a later opening is missing": (
        ("record a", "effect key=k", *["mention z"] * LOOK_BACK, "worker_failed b", "deleted a"),
        " ".join(["a key:k", *["z"] * LOOK_BACK, "b a"]),
    ),
    "a job in a stream whose framework names messages": (
        ("worker_started a", "worker_started j detail=j", "mention j", "effect j key=k", "worker_finished j detail=j"),
        "a - a a -",
    ),
    "a job that began while a framework had two messages in hand": (
        ("worker_started a", "worker_started b", "worker_started j detail=j", "effect j key=k"),
        "a b - -",
    ),
    "a job begun again with another message": (
        (
            "worker_started a",
            "worker_started j detail=j",
            "worker_finished a",
            "worker_started b",
            "effect j",
            "worker_started j detail=j",
            "effect j",
        ),
        "a - a b a - b",
    ),
    "a job whose framework is alone": (
        ("worker_started j detail=j", "effect j key=k", "worker_finished j detail=j"),
        "j j j",
    ),
    "Celery names its task only": (("worker_started key=t", "worker_finished key=t"), "key:t key:t"),
    "names a receipt handle of its group": (("record b", f"handle_error handle=of-m {DELETE}"), "b m"),
    "names a receipt handle that nobody printed": (("record b", f"handle_error handle=other {DELETE}"), "b b"),
    "a key says more than a handle": (("record a key=k", "effect key=k handle=of-m"), "a a"),
    "a handle says more than a key without a message": (("record a", "effect key=k handle=of-m"), "a m"),
    "a job without a name is of what is named in it": (
        ("worker_started", "effect", "mention a", "worker_finished"),
        "a a a a",
    ),
    "a job without a name is of a key named in it": (("worker_started", "effect key=k", "worker_failed"), "key:k " * 3),
    "jobs follow one another": (
        ("worker_started", "mention a", "worker_finished", "worker_started", "mention b", "effect"),
        "a a a b b b",
    ),
    "jobs beside one another: until all have ended, nothing tells which has": (
        ("worker_started", "started a", "worker_started", "started b", "worker_failed", "effect", "worker_finished"),
        "a a b b - - -",
    ),
    "a job after one whose delete went wrong, which no end follows": (
        ("worker_started", "started a", "worker_delete_failed", "worker_started", "started b", "worker_failed"),
        "a a a b b b",
    ),
    "jobs beside one another, of one of which the delete went wrong": (
        (
            *("worker_started", "started a", "worker_started", "started b", "worker_delete_failed"),
            *("worker_started", "started c", "worker_failed"),
        ),
        "a a b b - c c -",
    ),
    "an end behind a delete that went wrong is of that job": (
        (
            *("worker_started", "started a", "worker_started", "started b", "worker_delete_failed", "worker_failed"),
            *("worker_started", "started c", "worker_failed"),
        ),
        "a a b b - - c c -",
    ),
    "a job after those beside one another": (
        (
            "worker_started",
            "worker_started",
            "worker_failed",
            "worker_failed",
            "worker_started",
            "started c",
            "worker_finished",
        ),
        "- - - - c c c",
    ),
    "a job that ends twice: another was on when the stream began": (
        (
            "worker_started",
            "started a",
            "worker_finished",
            "worker_finished",
            "worker_started",
            "started b",
            "worker_finished",
        ),
        "a a - - b b b",
    ),
    "a job that ends twice, long after the stream began": (
        (*["worker_started", "started a", "worker_finished"] * 22, "worker_finished"),
        " ".join([*"aaa" * 22, "-"][:-2] + ["-", "-"]),
    ),
    "a job whose process was killed is on for some lines": (
        ("worker_started", *["mention z"] * LOOK_BACK, "worker_started", "started b", "worker_finished"),
        " ".join(["z"] * (LOOK_BACK + 1) + ["b"] * 3),
    ),
    "names a key behind an end without a name, which is that of what is open": (
        ("record a", "worker_failed", "effect key=k"),
        "a a key:k",
    ),
    "names no message and says the work is done that failed before: the begin of its own is lost": (
        ("record a", "worker_failed", "effect key=k", "worker_finished"),
        "a a key:k -",
    ),
    "names nothing and says once more that it failed": (("record a", "worker_failed", "worker_failed"), "a a a"),
    "names nothing and says that more than a moment later: the begin of its own is lost": (
        ("record a", "worker_failed", 1, "worker_failed"),
        "a a -",
    ),
    "names nothing, more than a moment behind a delete that failed": (
        ("record a", "effect a", "worker_delete_failed a", 1, "worker_delete_failed"),
        "a a a -",
    ),
    "names nothing and says that the work was not begun, of a job": (("record a", "worker_refused"), "a a"),
    "names nothing and says that the work was not begun, at once behind an end: the begin of its own is lost": (
        ("record a", "worker_failed", "worker_refused", "record b", "worker_finished", "guard"),
        "a a - b b -",
    ),
    "names nothing and says that the work was not begun, of what was named since": (
        ("record a", "worker_failed", "effect a", "guard"),
        "a a a a",
    ),
    "names nothing, long behind an end, of what was named since": (
        ("record a", "worker_failed a", 9, "effect a", 9, "worker_failed"),
        "a a a a",
    ),
    "names nothing, more than a moment behind the end of its job": (
        ("worker_started", "effect a", "worker_delete_failed", 1, "worker_delete_failed", "worker_started"),
        "a a a - -",
    ),
    "names nothing, at once behind the end of its job": (
        ("worker_started", "effect a", "worker_delete_failed", "worker_failed"),
        "a a a a",
    ),
    "names nothing and says that the work is done behind another's failure": (
        ("record a", "worker_failed", "record b", "worker_finished"),
        "a a b b",
    ),
    "names nothing and says that it is done, which failed and came back": (
        ("record a", "worker_failed", "record a", "worker_finished"),
        "a a a a",
    ),
    "a job whose first name opens it, behind the work of one whose own lines are lost": (
        ("worker_started", f"handle_error {DELETE}", "started a", "worker_failed"),
        "- - a a",
    ),
    "a job whose first name opens it, behind nothing but its start": (
        ("worker_started", "started a", f"handle_error {DELETE}", "worker_failed"),
        "a a a a",
    ),
    "what is open says nothing once jobs are told apart": (("record a", "worker_started", "effect"), "a - -"),
    "a job that names another message in passing": (
        ("worker_started", "effect a", "passing b", "worker_finished"),
        "a a b a",
    ),
    "a job that names a message in passing only": (("worker_started", "passing b", "worker_finished"), "- b -"),
    "two messages are named in one job": (("worker_started", "mention a", "effect", "mention b"), "- a - b"),
}
"""What is said, and which message (or key) each line is about; "-": about none we can tell."""


@pytest.mark.parametrize(("said", "items"), SAID.values(), ids=SAID)
def test_a_line_is_about(said, items):
    assert _items(stream(*said), one_at_a_time=False) == items.split()


def turns(*said):
    """Return ten messages that two threads took in turn, before what is said."""
    ten = [f"{role} m{n} thread={n % 2}" for n in range(10) for role in ("started", "deleted")]
    return (*ten, *said)


IN_THREADS = {
    "names nothing: its thread's message": (
        ("started a thread=0", "started b thread=1", "effect thread=0", "effect thread=1"),
        "a b a b",
    ),
    "names a key that no record tells: its thread's message": (
        ("started a thread=0", "started b thread=1", "effect key=k thread=0", "effect key=l thread=1"),
        "a b a b",
    ),
    "names a key, and its thread has a later message in hand, though the one before never ended": (
        ("started a thread=0", "effect key=k thread=0", "started b thread=0", "effect key=l thread=0"),
        "a a b b",
    ),
    "names another key than before: one of them is another's": (
        ("started a thread=0", "effect key=k thread=0", "effect key=l thread=0"),
        "a key:k key:l",
    ),
    "names a key, and its thread has ended its message": (
        ("started a thread=0", "deleted a thread=0", "effect key=k thread=0"),
        "a a key:k",
    ),
    "names a key in a thread that never opened a message": (("started a thread=0", "effect key=k thread=7"), "a key:k"),
    "names a key, and its line says no thread": (("started a thread=0", "effect key=k"), "a key:k"),
}


@pytest.mark.parametrize(("said", "items"), IN_THREADS.values(), ids=IN_THREADS)
def test_a_line_of_one_of_several_threads_is_about(said, items):
    assert _items(stream(*turns(*said)), one_at_a_time=False)[20:] == items.split()


def worked(*said, threads=1, of=10):
    """Return messages that threads worked on in turn, which say of none that it ended, before what is said."""
    return (*[f"{role} m{n} thread={n % threads}" for n in range(of) for role in ("started", "effect")], *said)


REFUSED = f"&handle_error thread=0 {DELETE}"
WORKED = {
    "of what its thread worked on": (worked("started a thread=0", "effect a thread=0", REFUSED), "a"),
    "of what its thread opened": (worked("started a thread=0", 9, REFUSED), "a"),
    "of what its thread worked on, as a line tells that names a key alone": (
        worked("started a thread=0", "effect key=k thread=0", REFUSED),
        "a",
    ),
    "of its own thread's, of two": (
        worked("started a thread=0", "effect a thread=0", "&started b thread=1", REFUSED, threads=2),
        "a",
    ),
    "of nobody, of another change than a delete": (
        worked("started a thread=0", "effect a thread=0", f"&handle_error thread=0 {CHANGE}"),
        None,
    ),
    "of nobody, in a thread that nothing was opened in": (
        worked("started a thread=0", "effect a thread=0", f"&handle_error thread=7 {DELETE}", threads=2),
        None,
    ),
    "of nobody, where its line says no thread": (
        worked("started a thread=0", "effect a thread=0", f"&handle_error {DELETE}"),
        None,
    ),
    "of nobody, where an opening line says no thread": (
        worked("started b", "effect b", "started a thread=0", "effect a thread=0", REFUSED),
        None,
    ),
    "of nobody, more than a moment after the work was told": (
        worked("started a thread=0", "effect a thread=0", 1.1, REFUSED),
        None,
    ),
    "of it, a moment after the work was told": (worked("started a thread=0", "effect a thread=0", 1, REFUSED), "a"),
    "of nobody, where its delete had failed": (
        worked("started a thread=0", "effect a thread=0", f"&handle_error a thread=0 {DELETE}", REFUSED),
        None,
    ),
    "of nobody, where another such was of it": (
        worked("started a thread=0", "effect a thread=0", REFUSED, REFUSED),
        None,
    ),
    "of what came back, whose delete had failed before": (
        worked("started a thread=0", "effect a thread=0", REFUSED, "started a thread=0", "effect a thread=0", REFUSED),
        "a",
    ),
    "of nobody, where too few were worked on to tell": (
        worked("started a thread=0", "effect a thread=0", REFUSED, of=8),
        None,
    ),
    "of nobody, where the work of one was told when the next had been opened": (
        worked("started b thread=0", "started a thread=0", "effect b thread=0", "effect a thread=0", REFUSED),
        None,
    ),
    "of nobody, where the work of one was once told when the next had been opened": (
        worked(
            *("started b thread=0", "started a thread=0", "effect b thread=0", "effect a thread=0"),
            *("started c thread=0", "effect c thread=0", REFUSED),
        ),
        None,
    ),
    "of nobody, where only another message was told of since": (
        worked("started a thread=0", "&effect z thread=0", REFUSED),
        None,
    ),
    "of nobody, where another message was told of since, whose opening is lost": (
        worked("started a thread=0", "effect a thread=0", "&effect z thread=0", REFUSED),
        None,
    ),
    "of nobody, where another key was told since": (
        worked("started a thread=0", "effect a key=k thread=0", "&effect key=l thread=0", REFUSED),
        None,
    ),
    "of what its thread worked on, though it once told of one whose opening is lost": (
        worked("effect z thread=0", "deleted z thread=0", "started a thread=0", "effect a thread=0", REFUSED),
        "a",
    ),
    "of what its thread worked on, though it once told of one that had ended before": (
        worked(
            *("started z thread=0", "worker_failed z thread=0", "started y thread=0", "effect y thread=0"),
            *("effect z thread=0", "started a thread=0", "effect a thread=0", REFUSED),
        ),
        "a",
    ),
    "of nobody, where two keys were told behind one opening": (
        worked("effect key=k thread=0", "effect key=l thread=0", "started a thread=0", "effect a thread=0", REFUSED),
        None,
    ),
    "of nobody, where nothing tells of the work of most": (
        (*[f"started m{n} thread=0" for n in range(40)], "effect m39 thread=0", REFUSED),
        None,
    ),
}


@pytest.mark.parametrize(("said", "item"), WORKED.values(), ids=WORKED)
def test_a_failed_delete_that_names_nobody_is(said, item):
    placed = stream(*said)
    about = {a.fact.evidence_id: a.item_id for a in attributed(placed, False, {})}

    assert about.get(placed[-1].fact.evidence_id) == item


def test_threads_that_have_several_messages_in_hand_at_once_tell_nothing_of_a_key():
    loops = [f"started m{n} thread={n % 2}" for n in range(20)]
    ends = [f"deleted m{n} thread={n % 2}" for n in range(18)]

    assert _items(stream(*loops, "effect key=k thread=0"), one_at_a_time=False)[-1] == "key:k"
    assert _items(stream(*loops, *ends, "effect key=k thread=0"), one_at_a_time=False)[-1] == "m18"


def test_threads_of_one_name_tell_nothing_of_a_key_once_they_are_seen_beside_one_another():
    said = turns("started a thread=0", "started b thread=0", "effect key=k thread=0", "deleted a thread=0")

    assert _items(stream(*said), one_at_a_time=False)[20:] == ["a", "b", "key:k", "a"]
    assert _items(stream(*said[:-1]), one_at_a_time=False)[20:] == ["a", "b", "b"]


def test_a_key_is_of_what_was_opened_last_where_messages_are_taken_one_at_a_time():
    said = ("started a", "started b", "effect key=k")

    assert _items(stream(*said), one_at_a_time=False) == ["a", "b", "key:k"]
    assert _items(stream(*said), one_at_a_time=True) == ["a", "b", "b"]
    assert _items(stream(*said, "effect key=l"), one_at_a_time=True) == ["a", "b", "key:k", "key:l"]


ONE_OF_THESE = {
    "either of two that are open": (("record a", "record b", "effect key=k"), "one of a b"),
    "of what is open, where openings are missing": (("record a", "effect key=k", "worker_failed b"), "one of a"),
    "of the other that is open, though the message with the key ended": (
        ("record a key=k", "deleted a", "record b", "effect key=k", "record b"),
        "one of b",
    ),
    "of none that is seen, where nothing is open": (("worker_failed b", "effect key=k"), None),
    "of the message with the key that ended, too, where openings are missing": (
        (*["mention x"] * LOOK_BACK, "worker_failed z", "record a key=k", "deleted a", "started b", "effect key=k"),
        "one of a b",
    ),
    "also for a guard": (("record a", "guard key=k", "worker_failed b"), "one of a"),
    "but not for a start, which tells of no work": (("record a", "started key=k", "worker_failed b"), None),
}


@pytest.mark.parametrize(("said", "detail"), ONE_OF_THESE.values(), ids=ONE_OF_THESE)
def test_a_line_about_a_key_alone_says_which_messages_in_hand_may_have_it(said, detail):
    (alone,) = [a.fact for a in attributed(stream(*said), False, {}) if a.fact.key == "k" and a.fact.message_id is None]

    assert alone.detail == detail


SENT = {"a clock's lag before": (60_000, "a a"), "longer before": (60_001, "key:k a")}


@pytest.mark.parametrize(("sent_ms", "items"), SENT.values(), ids=SENT)
def test_a_key_names_no_message_that_was_sent_only_later(sent_ms, items):
    effect = Fact("effect", 0, "e-1", key="k")
    record = Fact("record", 90_000_000, "e-2", "a", "k", sent_ms=sent_ms)
    placed = [PlacedFact(fact.at, 0, 0, fact) for fact in (effect, record)]

    assert [about.item_id for about in attributed(placed, False, {})] == items.split()


LAG = {
    "prompt: no other clock is thought of": ([(70_100, 70_098)], "key:k"),
    "as late as its own clock lags": ([(70_100, 90_100)], "a"),
    "at different times: the longest lag counts": ([(70_100, 70_098), (70_500, 89_600)], "a"),
    "a moment less late than that": ([(70_100, 88_100)], "key:k"),
    "of a later receive: as late as may be": ([(70_100, 70_098, 2)], "a"),
}
"""When records of first receives were written and received, in ms; a key is named 20 s before its message was received."""


@pytest.mark.parametrize(("records", "about"), LAG.values(), ids=LAG)
def test_how_far_the_clock_of_a_worker_lags_is_told_by_records_of_first_receives(records, about):
    effect = Fact("effect", 70_000_000, "e-0", None, "k")
    others = [
        Fact("record", at_ms * 1000, f"r-{n}", f"b{n}", f"l{n}", (*count, 1)[0], first_receive_ms=first_ms)
        for n, (at_ms, first_ms, *count) in enumerate(records)
    ]
    mine = Fact("record", 110_000_000, "e-2", "a", "k", 2, first_receive_ms=90_000)
    placed = in_stream_order(PlacedFact(fact.at, n, 0, fact) for n, fact in enumerate((effect, *others, mine)))

    assert attributed(placed, False, {})[0].item_id == about


@pytest.mark.parametrize(("first_receive_ms", "items"), SENT.values(), ids=SENT)
def test_a_key_names_no_message_that_was_received_only_later(first_receive_ms, items):
    effect = Fact("effect", 0, "e-1", key="k")
    record = Fact("record", 90_000_000, "e-2", "a", "k", sent_ms=0, first_receive_ms=first_receive_ms)
    placed = [PlacedFact(fact.at, 0, 0, fact) for fact in (effect, record)]

    assert [about.item_id for about in attributed(placed, False, {})] == items.split()


RAISED = {
    "it failed long before": (("worker_started", "started a", "error a", 5, "worker_finished"), False),
    "it raised long before": (("worker_started", "started a", "worker_raised", 5, "worker_finished"), False),
    "it failed a moment before": (("worker_started", "started a", "error a", "worker_finished"), True),
    "it failed a microsecond sooner": (("worker_started", "started a", "error a", 0.000001, "worker_finished"), False),
    "it was begun again since": (("worker_started", "started a", "error a", 5, "started a", "worker_finished"), True),
    "it failed long before, and only tried to delete": (
        ("worker_started", "started a", "error a", 5, "worker_delete_failed"),
        True,
    ),
    "it failed long before, and the success names it": (
        ("worker_started", "started a", "error a", 5, "worker_finished a"),
        True,
    ),
    "nothing began jobs, and it failed long before": (("started a", "error a", 5, "worker_finished"), False),
}


@pytest.mark.parametrize(("said", "expected"), RAISED.values(), ids=RAISED)
def test_an_end_without_a_name_is_of_the_message_in_hand_unless(said, expected):
    last = stream(*said)[-1].fact.evidence_id
    about = [told.item_id for told in attributed(stream(*said), True, {}) if told.fact.evidence_id == last]

    assert about == ["a"] * expected


IN_TURN = {
    "what was opened last is worked on": (("record a", "record b", "effect"), "a b b"),
    "also after it ended": (("record a", "worker_finished a", "effect"), "a a a"),
    "of two in one job the last": (("worker_started", "mention a", "effect", "mention b", "effect"), "- a a b b"),
    "of one in a job the one": (("worker_started", "effect", "mention a"), "a a a"),
    "of two in one job the last, long after the end of the other": (
        ("worker_started", "effect a", "worker_finished", 1, "effect b", 1, "effect"),
        "- a a b b",
    ),
    "an effect of one opened before shows several workers": (("record a", "record b", "effect a", "effect"), "a b a -"),
    "an end of one opened before shows several workers": (
        ("record a", "record b", "record c", "effect", "worker_finished a"),
        "a b c - a",
    ),
    "a guard of one opened before shows several workers": (
        ("record a", "record b", "guard a", "effect"),
        "a b a -",
    ),
    "a failed delete of one opened before shows several workers": (
        ("record a", "record b", "worker_delete_failed a", "effect"),
        "a b a -",
    ),
    "a mention of one opened before shows nothing": (("record a", "record b", "mention a", "effect"), "a b a b"),
    "one that went on since, whose opening is lost, is worked on, or by another worker": (
        ("record b", "effect a", "worker_delete_failed", "record c", "effect"),
        "b a - c c",
    ),
    "so is one that had ended": (
        ("record a", "worker_finished a", "record b", "effect a", "worker_delete_failed"),
        "a a b a -",
    ),
    "and one whose delete failed": (("record b", f"handle_error a {DELETE}", "effect"), "b a -"),
    "not one that is only named": (("record b", "mention a", "effect"), "b a b"),
}


@pytest.mark.parametrize(("said", "items"), IN_TURN.values(), ids=IN_TURN)
def test_where_one_message_is_taken_at_a_time(said, items):
    assert _items(stream(*said), one_at_a_time=True) == items.split()


SHARED = {
    "one before the other": (("record a", "effect a", "deleted a", "record b", "effect b"), False),
    "one goes on behind the begin of another": (("record a", "record b", "effect a"), True),
    "one ends behind the begin of another": (("record a", "record b", "deleted a"), True),
    "one is named behind the begin of another": (("record a", "record b", "mention a"), False),
    "one goes on that was never opened: its opening may be lost": (("record b", "effect a", "deleted a"), False),
    "one goes on that had ended: its next opening may be lost": (("record a", "deleted a", "record b", "effect a"), False),
    "one goes on of which the delete had failed": (("record a", "worker_delete_failed a", "record b", "effect a"), False),
    "one goes on behind an end without a name, were it its own": (("record a", "worker_failed", "record b", "effect a"), False),
    "one goes on behind the end of the other, which has no name": (("record a", "record b", "worker_failed", "effect a"), True),
    "one goes on that had ended and was opened again": (("record a", "deleted a", "record a", "record b", "effect a"), True),
    "nothing is opened": (("effect a", "effect b", "effect a"), False),
    "one goes on by the receive count of its first opening, when the second had ended": (("record a count=1", "record a count=2", "deleted a count=2", "record b", "deleted a count=1"), True),
    "one goes on by a receive count whose opening may be lost": (("record a count=2", "deleted a count=2", "record b", "deleted a count=1"), False),
    "one goes on by the receive count of an opening that had ended": (("record a count=1", "deleted a count=1", "record b", "deleted a count=1"), False),
    "one goes on when the second had ended, and tells no receive count": (("record a", "record a count=2", "deleted a count=2", "record b", "deleted a"), False),
}  # fmt: skip


@pytest.mark.parametrize(("said", "expected"), SHARED.values(), ids=SHARED)
def test_several_workers_write_a_stream(said, expected):
    assert is_shared(stream(*said)) == expected


ONE_DONE = ("worker_started", "started a", "effect a", "worker_finished")
LOST_STARTS = {
    "is on": (("started b", "worker_started", "started c", "worker_finished"), "-"),
    "has ended": (("started b", "worker_finished", "worker_started", "started c", "worker_finished"), "c"),
    "is none: what is opened was begun": (("worker_started", "started c", "started c", "worker_finished"), "c"),
    "is none: what is opened was begun, and the other ended": (
        ("worker_started", "started b", "worker_finished", "worker_started", "started c", "worker_finished"),
        "c",
    ),
    "is none: a message is named alone": (("mention b", "worker_started", "started c", "worker_finished"), "c"),
    "is on again, for a message that was begun before": (
        ("started a", "worker_started", "started c", "worker_finished"),
        "-",
    ),
}


@pytest.mark.parametrize(("said", "about"), LOST_STARTS.values(), ids=LOST_STARTS)
def test_an_end_without_a_name_is_nobody_s_where_a_job_whose_start_is_lost(said, about):
    assert _items(stream(*ONE_DONE, *said), one_at_a_time=True)[-1] == about


LONG = ["mention z"] * LOOK_BACK
SLOW = ("worker_started", *LONG, "worker_started", "started b", "worker_finished")


@pytest.mark.parametrize(("silence_ms", "about"), [(16_000, "b"), (17_000, "-")])
def test_a_job_may_be_slow_for_some_silences(silence_ms, about):
    assert LOOK_BACK == SLOWEST * 16  # a line each second
    assert _items(stream(*SLOW), one_at_a_time=False, silence_ms=silence_ms)[-1] == about


BESIDE = ("worker_started", "started a", *["mention"] * (LOOK_BACK - 6), "worker_started", "started b")
THEN = ("worker_finished", "mention z", "worker_started", "started c", "worker_finished")
GOING_ON = {
    "a message is named that an earlier job opened": ("mention a", "-"),
    "what the last job opened is named": ("mention b", "c"),
    "a message is named that no job opened": ("mention z", "c"),
    "the last job opens what an earlier one had": ("started a", "c"),
}


@pytest.mark.parametrize(("said", "about"), GOING_ON.values(), ids=GOING_ON)
def test_a_job_that_was_on_for_long_was_killed_unless(said, about):
    lines = (*BESIDE, said, *THEN)

    assert _items(stream(*lines), one_at_a_time=False, silence_ms=15_000)[-1] == about


def test_an_end_too_many_shows_that_the_job_which_seemed_to_be_killed_was_slow():
    later = ("worker_started", "started c", "worker_finished")

    assert _items(stream(*SLOW, *later), one_at_a_time=False)[-6:] == ["b", "b", "b", "c", "c", "c"]
    assert _items(stream(*SLOW, *later, "worker_finished"), one_at_a_time=False)[-7:] == [*"bb-cc--"]
    two = [word for name in "de" for word in ("worker_started", f"started {name}", "worker_finished")]
    again = stream(*SLOW, "worker_finished", *two, "worker_finished")
    assert _items(again, one_at_a_time=False)[-7:] == [*"dddee--"]


def test_of_several_jobs_that_were_on_for_long_as_many_were_killed_as_did_not_end():
    said = (*["worker_started"] * 3, *LONG, "worker_failed", "worker_started", *LONG, *SLOW[-3:])

    assert _items(stream(*said), one_at_a_time=False)[-1] == "-"


QUICK = [word for n in range(30) for word in ("worker_started", f"started q{n}", "worker_finished")]


def test_quick_jobs_beside_one_that_goes_on_end_it_at_no_time():
    said = ("worker_started", "started slow", *QUICK, "worker_started", "started b", "worker_finished")

    assert _items(stream(*said), one_at_a_time=False, silence_ms=30_000)[-1] == "-"


def test_jobs_of_which_all_ended_again_and_again_were_not_killed():
    """None was on all the time, so an end too many long after says nothing of them."""
    said = (*QUICK, *QUICK, "worker_finished")

    assert _items(stream(*said), one_at_a_time=False)[:3] == ["q0", "q0", "q0"]


@pytest.mark.parametrize(("lines_between", "about"), [(LOOK_BACK - 1, "-"), (LOOK_BACK, "b")])
def test_what_a_killed_worker_left_open_is_open_for_some_lines(lines_between, about):
    said = ["record a", *["mention z"] * (lines_between - 1), "record b", "effect"]

    assert _items(stream(*said), one_at_a_time=False)[-1] == about


ENDS = ("record y", "deleted y")
OPEN_FOR = {
    "not yet for so many silences": (17_000, ENDS, "-"),
    "for so many silences": (16_000, ENDS, "b"),
    "not yet for so many silences, where nobody says that a message is done": (
        17_000,
        ("record y", "worker_failed y"),
        "b",
    ),
}


@pytest.mark.parametrize(("silence_ms", "before", "about"), OPEN_FOR.values(), ids=OPEN_FOR)
def test_a_slow_message_of_a_busy_stream_is_open(silence_ms, before, about):
    said = [*before, "record a", *["mention z"] * (LOOK_BACK - 1), "record b", "effect"]

    assert _items(stream(*said), one_at_a_time=False, silence_ms=silence_ms)[-1] == about


def test_of_very_many_messages_that_seem_to_be_open_the_oldest_are_not():
    begun = [f"record {n}" for n in range(MOST_OPEN - 1)]
    rest = [f"deleted {n}" for n in range(MOST_OPEN)]
    said = [*ENDS, "record a", *begun, *["mention z"] * LOOK_BACK]

    assert _items(stream(*said, *rest, "effect"), one_at_a_time=False, silence_ms=900_000)[-1] == "a"
    more = [*said, f"record {MOST_OPEN - 1}", *rest, "record b", "effect"]
    assert _items(stream(*more), one_at_a_time=False, silence_ms=900_000)[-1] == "b"


OVER = {
    "an exception was reported long before": (("started a", "worker_raised", 1, "effect key=k"), "key:k"),
    "one was, a moment before, and caught": (("started a", "worker_raised", "effect key=k"), "a"),
    "one was, a microsecond longer before": (("started a", "worker_raised", 0.000001, "effect key=k"), "key:k"),
    "one was, when nothing was in hand": (("worker_raised", "started a", 5, "effect key=k"), "a"),
    "one was, when it was opened": (("worker_raised", "&started a", 5, "effect key=k"), "a"),
    "it was another's, who ended with it": (
        ("started b", "started a", "worker_raised", "worker_failed b", 5, "effect key=k"),
        "a",
    ),
    "another ended more than a moment behind it": (
        ("started b", "started a", "worker_raised", 0.000001, "worker_failed b", 5, "effect key=k"),
        "key:k",
    ),
    "lines tell that it has this key": (("record a key=k", "worker_raised", 5, "effect key=k"), "a"),
}


@pytest.mark.parametrize(("said", "expected"), OVER.values(), ids=OVER)
def test_a_key_may_be_of_a_message_whose_opening_is_lost_where(said, expected):
    assert _items(stream(*said), one_at_a_time=False)[-1] == expected


ANOTHER = {
    "a line with the key of another may have been its own": (
        ("started a", "effect key=k", "started b", "effect key=k", "effect key=l"),
        "key:l",
    ),
    "one with its own key was": (("started a", "effect key=k", "started b", "effect key=k", "effect key=k"), "key:k"),
    "a line of either may have been, and the other is over": (
        ("started a", "started b", "effect key=k", "deleted a", "effect key=l"),
        "b",
    ),
}


@pytest.mark.parametrize(("said", "expected"), ANOTHER.values(), ids=ANOTHER)
def test_a_key_is_given_to_the_message_in_hand_unless(said, expected):
    assert _items(stream(*said), one_at_a_time=False)[-1] == expected


HAD_FAILED = ("record b key=l", "worker_failed b", "started a")
NEXT_END = {
    "of a message whose opening is lost": ((*HAD_FAILED, "effect key=k", "worker_finished b"), "key:k"),
    "of one that ended a moment before, and is told once more": (
        (*HAD_FAILED, -1, "effect key=k", -1, "worker_finished b"),
        "a",
    ),
    "of the message itself": ((*HAD_FAILED, "effect key=k", "worker_finished a"), "a"),
    "of the message itself, before the other's": (
        (*HAD_FAILED, "effect key=k", "worker_finished a", "worker_finished b"),
        "a",
    ),
    "of one that was opened": (("record b key=l", "started a", "effect key=k", "worker_finished b"), "a"),
    "of another one, though lines tell that it has the key": (
        ("record b key=l", "worker_failed b", "record a key=k", "effect key=k", "worker_finished b"),
        "a",
    ),
}


@pytest.mark.parametrize(("said", "expected"), NEXT_END.values(), ids=NEXT_END)
def test_the_next_end_tells_whose_a_key_is_not(said, expected):
    place = [word for word in said if isinstance(word, str)].index("effect key=k")

    assert _items(stream(*said), one_at_a_time=False)[place] == expected


def test_an_exception_ends_what_its_own_thread_had_in_hand():
    said = turns("started a thread=1", "worker_raised thread=2", 5, "effect key=k thread=1")
    own = turns("started a thread=1", "worker_raised thread=1", 5, "effect key=k thread=1")

    assert _items(stream(*said), one_at_a_time=False)[-1] == "a"
    assert _items(stream(*own), one_at_a_time=False)[-1] == "key:k"


GUESSES = {
    "while it was hidden": (("started a", 25.9, "effect key=k"), None),
    "once it was visible again": (("started a", 26, "effect key=k"), GUESSED),
    "once it was visible again, and a line tells that it has this key": (("record a key=k", 26, "effect key=k"), None),
    "once it was visible again, as a stop by a guard": (("started a", 26, "guard key=k"), None),
    "while it was hidden again": (("started a", 26, "started a", "effect key=k"), None),
}


@pytest.mark.parametrize(("said", "detail"), GUESSES.values(), ids=GUESSES)
def test_a_key_is_given_as_a_guess_to_the_message_in_hand(said, detail):
    *_, about = attributed(stream(*said), False, {}, silence_ms=27_000)

    assert (about.item_id, about.fact.key, about.fact.detail) == ("a", "k", detail)


def test_a_message_that_was_opened_again_is_open_longer_than_those_between():
    said = ["record a", "record b", *["mention z"] * (LOOK_BACK - 2), "record a", "mention z", "effect"]

    assert _items(stream(*said), one_at_a_time=False)[-1] == "a"


def test_what_is_filled_in_is_the_name_alone():
    facts = [about.fact for about in attributed(stream("record a key=k", "effect key=k", "effect"), False, {})]

    assert [(f.message_id, f.key) for f in facts] == [("a", "k"), ("a", "k"), ("a", None)]
    (key_only,) = [about.fact for about in attributed(stream("worker_started", "effect key=k"), False, {})][:1]
    assert (key_only.message_id, key_only.key) == (None, "k")


def test_a_receipt_handle_has_a_message_where_records_agree():
    records = [
        Fact("record", 0, "e-1", "a", receipt_handle=handle("1")),
        Fact("record", 0, "e-2", "a", receipt_handle=handle("1")),
        Fact("record", 0, "e-3", "b", receipt_handle=handle("2")),
        Fact("record", 0, "e-4", "c", receipt_handle=handle("2")),
        Fact("record", 0, "e-5", None, receipt_handle=handle("3")),
        Fact("handle_error", 0, "e-6", "d", receipt_handle=handle("4")),
        Fact("record", 0, "e-7", "e"),
    ]

    assert messages_by_handle(records) == {handle_prefix(handle("1")): "a"}


def test_a_stream_is_in_the_order_of_time_then_of_the_reader_then_of_names():
    def placed(at, order, place, evidence_id):
        return PlacedFact(at, order, place, Fact("mention", at, evidence_id, "a"))

    ordered = [placed(1, 5, 0, "e-9"), placed(2, 0, 1, "e-1"), placed(2, 0, 0, "e-2"), placed(2, 1, 0, "e-0")]

    assert in_stream_order(reversed(ordered)) == ordered


def test_workers_take_one_message_at_a_time_where_the_framework_does():
    assert takes_one_at_a_time(Consumer(format="laravel"))
    assert takes_one_at_a_time(Consumer(format="laravel", order="parallel"))
    assert not takes_one_at_a_time(
        Consumer(order="sequential")
    )  # each of several in one stream takes its batch in order
    assert not takes_one_at_a_time(Consumer(format="shoryuken"))
    assert not takes_one_at_a_time(Consumer())


def _items(facts: list[PlacedFact], one_at_a_time: bool, silence_ms: int = 0) -> list[str]:
    about = attributed(facts, one_at_a_time, {handle_prefix(handle("of-m")): "m"}, silence_ms=silence_ms)
    found = {one.fact.evidence_id: one.item_id for one in about}
    return [found.get(placed.fact.evidence_id, "-") for placed in facts]
