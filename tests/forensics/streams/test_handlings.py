"""When a worker has a message in hand anew, and what a handling says as a delivery."""

from dataclasses import replace

import pytest

from forensics.streams.handlings import Handling, delivery_of, lines_row, unnamed_rows
from forensics.streams.model import Fact
from tests.forensics.streams.worker_streams import CHANGE, DELETE, GROUP, NOON, handlings, stream, told

SAID = {
    "from its record to its end": (
        ("record a", "started a", "effect a", "worker_finished a"),
        ["a: record started effect finished"],
    ),
    "a record again": (("record a", "effect a", "record a", "effect a"), ["a: record effect", "a: record effect"]),
    "messages between each other": (
        ("started a", "started b", "effect b", "effect a"),
        ["a: started effect", "b: started effect"],
    ),
    "every way of opening, the surest opens": (
        ("worker_started a", "record a", "started a", "record a", "worker_started a", "started a"),
        ["a: started record started", "a: record started started"],
    ),
    "one less sure comes again after one record": (
        ("record a", "started a", "effect a", "started a", "effect a"),
        ["a: record started effect", "a: started effect"],
    ),
    "one line opens it in two words, the less sure first": (
        ("started a", "+worker_started a", "effect a", "started a", "+worker_started a", "effect a"),
        ["a: started started effect", "a: started started effect"],
    ),
    "two lines open it, the less sure first, and again after its work was done": (
        (
            "started a",
            "worker_started a",
            "effect a",
            "worker_failed a",
            30,
            "started a",
            "worker_started a",
            "effect a",
        ),
        ["a: started started effect failed", "a: started started effect"],
    ),
    "two lines open it, the less sure more than a moment before": (
        ("started a", "worker_started a", "effect a", 30, "started a", 0.1, "worker_started a", "effect a"),
        ["a: started started effect", "a: started", "a: started effect"],
    ),
    "two lines open it, and work was told between them": (
        ("started a", "worker_started a", "effect a", 30, "started a", "&effect a", "&worker_started a", "effect a"),
        ["a: started started effect", "a: started effect", "a: started effect"],
    ),
    "two lines of two threads open it": (
        (
            "started a",
            "worker_started a",
            "effect a",
            30,
            "started a thread=1",
            "&worker_started a thread=2",
            "effect a",
        ),
        ["a: started started effect", "a: started", "a: started effect"],
    ),
    "two lines with two receive counts open it": (
        ("started a", "worker_started a", "effect a", 30, "started a count=2", "&worker_started a count=3", "effect a"),
        ["a: started started effect", "a: started", "a: started effect"],
    ),
    "what stands before the first opener belongs to it": (
        ("mention a", "started b", "record a", "effect a"),
        ["a: mention record effect", "b: started"],
    ),
    "also where two lines of one millisecond are swapped": (
        ("mention a", "effect a", "&started a"),
        ["a: mention effect started"],
    ),
    "unless the work was done before": (
        ("effect a", "started a"),
        ["a: effect", "a: started"],
    ),
    "or the delete had failed": (
        ("effect a", "worker_delete_failed a", "started a"),
        ["a: effect delete_failed", "a: started"],
    ),
    "a message printed when all is over belongs to it": (
        ("effect a", "worker_delete_failed a", "record a"),
        ["a: effect delete_failed record"],
    ),
    "unless the work was done and a long silence followed": (
        ("effect a", 900, "started a", "effect a"),
        ["a: effect", "a: started effect"],
    ),
    "or it had failed, and a long silence followed": (
        ("worker_failed a", 900, "started a"),
        ["a: failed", "a: started"],
    ),
    "a silence before the first opener in which it was visible again tells of another": (
        ("mention a", 900, "started a"),
        ["a: mention", "a: started"],
    ),
    "an effect long after the work was done and over": (
        ("started a", "effect a", "worker_delete_failed a", 900, "effect a", "started a"),
        ["a: started effect delete_failed", "a: effect", "a: started"],
    ),
    "and another effect as long after that one": (
        ("started a", "effect a", "deleted a", 900, "effect a", 20, "effect a", 900, "effect a"),
        ["a: started effect deleted", "a: effect effect", "a: effect"],
    ),
    "not soon after it": (
        ("started a", "effect a", "worker_delete_failed a", 20, "effect a"),
        ["a: started effect delete_failed effect"],
    ),
    "nor while it is not over": (("started a", "effect a", 900, "effect a"), ["a: started effect effect"]),
    "nor where it was not done": (
        ("started a", "worker_failed a", 900, "effect a"),
        ["a: started failed effect"],
    ),
    "nor where a slower worker of the stream has still to do it": (
        ("started a", "started a", "effect a", "worker_finished a", 900, "effect a"),
        ["a: started effect", "a: started effect finished"],
    ),
    "its delete had failed, and it is named once it was visible again": (
        ("started a", "worker_delete_failed a", 26, "passing a"),
        ["a: started delete_failed", "a: mention"],
    ),
    "also soon after a slow one's delete had failed": (
        ("started a", 25, "worker_delete_failed a", 1, "passing a"),
        ["a: started delete_failed", "a: mention"],
    ),
    "not in the same moment": (
        ("started a", 25, "worker_delete_failed a", "passing a"),
        ["a: started delete_failed mention"],
    ),
    "nor before it was visible": (
        ("started a", "worker_delete_failed a", 24, "passing a"),
        ["a: started delete_failed mention"],
    ),
    "it had failed, and is named once it was visible again": (
        ("started a", "worker_failed a", 26, "passing a", "passing a"),
        ["a: started failed", "a: mention mention"],
    ),
    "not while it was hidden for longer": (
        ("started a", "worker_failed a", "worker_visibility_set a detail=60", 58, "passing a"),
        ["a: started failed visibility_set mention"],
    ),
    "but as soon as that was over": (
        ("started a", "worker_failed a", "worker_visibility_set a detail=60", 59, "passing a"),
        ["a: started failed visibility_set", "a: mention"],
    ),
    "and soon where it was let go": (
        ("started a", "worker_visibility_set a detail=3", "worker_failed a", 1, "passing a"),
        ["a: started visibility_set failed", "a: mention"],
    ),
    "not a second before that": (
        ("started a", "worker_visibility_set a detail=4", "worker_failed a", 1, "passing a"),
        ["a: started visibility_set failed mention"],
    ),
    "what is begun then and printed is another's": (
        ("started a", "worker_visibility_set a detail=3", "worker_failed a", 1, "record a", "started a", "effect a"),
        ["a: started visibility_set failed", "a: record started effect"],
    ),
    "it was printed and named, and is begun once it was visible again": (
        ("record a", "passing a", 25, "started a", "effect a"),
        ["a: record mention", "a: started effect"],
    ),
    "not before it was visible again": (
        ("record a", "passing a", 24, "started a", "effect a"),
        ["a: record mention started effect"],
    ),
    "nor where nothing named it": (("record a", 900, "started a", "effect a"), ["a: record started effect"]),
    "nor where only what printed it did": (
        ("record a", "+passing a", 900, "started a", "effect a"),
        ["a: record mention started effect"],
    ),
    "nor when its delete was taken at last": (
        ("started a", "worker_delete_failed a", "deleted a", 900, "passing a"),
        ["a: started delete_failed deleted mention"],
    ),
    "nor when it was given up": (
        ("started a", "worker_gave_up a", 900, "passing a"),
        ["a: started gave_up mention"],
    ),
    "nor when it was finished": (
        ("started a", "worker_finished a", 900, "passing a"),
        ["a: started finished mention"],
    ),
    "nor where an earlier one is still on": (
        ("started a", "started a", "worker_delete_failed a", 900, "passing a"),
        ["a: started", "a: started delete_failed mention"],
    ),
    "how it ends then is a guess: whoever failed to delete it may try again as late": (
        ("started a", "worker_delete_failed a", 900, "mention a", "worker_delete_failed a"),
        ["a: started delete_failed", "a: mention mention"],
    ),
    "its delete had failed, and a guard stopped it once it was visible again": (
        ("started a", "worker_delete_failed a", 26, "guard a"),
        ["a: started delete_failed", "a: guard"],
    ),
    "its delete had failed late, and its effect is told soon after": (
        ("started a", "effect a", 25, "worker_delete_failed a", 1, "effect a"),
        ["a: started effect delete_failed", "a: effect"],
    ),
    "so does one before its record": (("mention a", 900, "record a"), ["a: mention", "a: record"]),
    "a record behind an end, once the message was visible again: the record of that handling is lost": (
        ("started a", 20, "worker_failed a", 5, "record a"),
        ["a: started failed", "a: record"],
    ),
    "a record behind an end while the message was hidden: it is printed last": (
        ("started a", 20, "worker_failed a", 4, "record a"),
        ["a: started failed record"],
    ),
    "a record within a moment of an end: it is printed last": (
        ("started a", 25, "worker_failed a", "record a"),
        ["a: started failed record"],
    ),
    "a shorter one does not": (("mention a", 20, "started a"), ["a: mention started"]),
    "unless a job ended in between": (
        ("worker_started", "mention a", "mention b", "worker_started", "started a", "effect a"),
        ["a: mention", "a: started started effect", "b: mention"],
    ),
    "another job began before its own went on": (
        (
            "worker_started",
            "started a",
            "worker_started",
            "started b",
            "effect a",
            "worker_finished",
            "worker_finished",
        ),
        ["a: started started effect", "b: started started"],
    ),
    "another job began, and the message was visible again before it was named once more": (
        ("worker_started", "started a", "worker_started", 900, "mention a"),
        ["a: started started", "a: mention"],
    ),
    "not soon after another job began": (
        ("worker_started", "started a", "worker_started", 20, "mention a"),
        ["a: started started mention"],
    ),
    "nor where it ends after a silence what it began before another job": (
        ("worker_started", "started a", "worker_started", 900, "effect a", "worker_finished a"),
        ["a: started started effect finished"],
    ),
    "a new job, though no line of it opens": (
        ("worker_started", "mention a", "mention b", "worker_started", "mention a", "mention b"),
        ["a: mention", "a: mention", "b: mention", "b: mention"],
    ),
    "its job's start names nothing": (
        ("worker_started", "mention a", "worker_finished", "worker_started", "mention a"),
        ["a: started mention finished", "a: started mention"],
    ),
    "long silence after an opener parts nothing": (("started a", 900, "effect a"), ["a: started effect"]),
    "no opener, and an effect after the end of another": (
        ("effect a", "worker_failed a", "mention a", "effect a"),
        ["a: effect failed mention", "a: effect"],
    ),
    "no opener, and more effects after that one": (
        ("effect a", "worker_failed a", "effect a", "effect a"),
        ["a: effect failed", "a: effect effect"],
    ),
    "no opener, and a word of it now and then": (
        ("mention a", 20, "mention a", 20, "effect a"),
        ["a: mention mention effect"],
    ),
    "no opener, and a first effect after an end": (("worker_failed a", "effect a"), ["a: failed effect"]),
    "no opener, and a second effect without an end": (("effect a", "effect a"), ["a: effect effect"]),
    "no opener, and the delete failed": (
        ("effect a", f"handle_error a {DELETE}", "effect a", "worker_delete_failed a", "effect a"),
        ["a: effect handle_error", "a: effect delete_failed", "a: effect"],
    ),
    "no opener, and the delete failed long after the effect": (
        ("effect a", 900, f"handle_error a {DELETE}"),
        ["a: effect handle_error"],
    ),
    "no opener, and the line of the delete that failed long after the effect names the message first": (
        ("mention a", 900, "mention a", f"+handle_error a {DELETE}"),
        ["a: mention handle_error mention"],
    ),
    "no opener, and a delete failed long after another": (
        (f"handle_error a {DELETE}", 900, f"handle_error a {DELETE}"),
        ["a: handle_error", "a: handle_error"],
    ),
    "no opener, and the end of the first receive after a long silence": (
        ("mention a", 900, "worker_finished a count=1"),
        ["a: mention finished"],
    ),
    "no opener, and the end of another receive": (
        ("mention a", 900, "worker_finished a count=2"),
        ["a: mention", "a: finished"],
    ),
    "no opener, and another call failed": (
        ("effect a", f"handle_error a {CHANGE}", "&effect a"),
        ["a: effect handle_error effect"],
    ),
    "no opener, and a second effect sooner than the message was visible again: a slow one's and the next one's, perhaps": (
        ("effect a", 15, "effect a"),
        ["a: effect", "a: mention"],
    ),
    "no opener, and the second effect is another job's": (
        ("worker_started", "effect a", "effect b", "worker_started", "effect a", "effect b"),
        ["a: effect", "a: effect", "b: effect", "b: effect"],
    ),
    "no opener, and effects again and again": (
        ("effect a", 15, "effect a", 15, "effect a", 900, "effect a"),
        ["a: effect", "a: mention", "a: mention", "a: effect"],
    ),
    "no opener, and what may be a second handling ends: nobody's": (
        ("effect a", 15, "effect a", "deleted a"),
        ["a: effect", "a: mention mention"],
    ),
    "no opener, and the delete is refused behind what may be a second handling": (
        ("effect a", 15, "effect a", "worker_delete_failed a", "worker_delete_failed a"),
        ["a: effect delete_failed", "a: mention mention"],
    ),
    "no opener, and the first was over": (
        ("effect a", "worker_delete_failed a", 15, "effect a", "worker_delete_failed a"),
        ["a: effect delete_failed", "a: effect delete_failed"],
    ),
    "the effect of the slower one stands behind the start of the quicker one": (
        ("started a", "mention a", "started a", "effect a", "mention a", "effect a"),
        ["a: started mention effect", "a: started effect mention"],
    ),
    "the end of the slower one, which its thread says": (
        ("started a thread=1", "effect a thread=1", "started a thread=2", "deleted a thread=1"),
        ["a: started effect deleted", "a: started"],
    ),
    "the effect and the end of the slower one, which its thread says": (
        ("started a thread=1", "started a thread=2", "effect a thread=2", "effect a thread=1", "deleted a thread=1"),
        ["a: started effect deleted", "a: started effect"],
    ),
    "an end that may be the slower one's, whose work was done: nobody's": (
        ("started a", "effect a", "started a", "deleted a"),
        ["a: started effect", "a: started mention"],
    ),
    "a delete that failed, which may be the slower one's, whose work was done: nobody's": (
        ("started a", "effect a", "started a", "worker_delete_failed a"),
        ["a: started effect", "a: started mention"],
    ),
    "a delete that failed where the later one did the work, too": (
        ("started a", "effect a", "started a", "effect a", "worker_delete_failed a"),
        ["a: started effect", "a: started effect delete_failed"],
    ),
    "an end where the later one did the work, too": (
        ("started a", "effect a", "started a", "effect a", "deleted a"),
        ["a: started effect", "a: started effect deleted"],
    ),
    "an end where a guard stopped the later one's work": (
        ("started a", "effect a", "started a", "guard a", "deleted a"),
        ["a: started effect", "a: started guard deleted"],
    ),
    "a failure where a guard stopped the later one's work: nobody's": (
        ("started a", "effect a", "started a", "guard a", "worker_failed a"),
        ["a: started effect", "a: started guard mention"],
    ),
    "an end where the earlier one shows no work done": (
        ("started a", "started a", "deleted a"),
        ["a: started", "a: started deleted"],
    ),
    "a failure that may be the slower one's: nobody's": (
        ("started a", "started a", "effect a", "worker_failed a"),
        ["a: started", "a: started effect mention"],
    ),
    "a failure that a thread says: its own": (
        ("started a thread=1", "started a thread=2", "effect a thread=2", "worker_failed a thread=1"),
        ["a: started failed", "a: started effect"],
    ),
    "a failure that a thread says which had begun both, and had done the work: another of its name, perhaps": (
        ("started a thread=1", "started a thread=1", "effect a thread=1", "worker_failed a thread=1"),
        ["a: started", "a: started effect mention"],
    ),
    "a failure that a thread says which had begun both, and had not done the work: the later one's": (
        ("started a thread=1", "started a thread=1", "worker_failed a thread=1"),
        ["a: started", "a: started failed"],
    ),
    "a failure that the thread says which began the earlier one, where nobody knows who began the later": (
        ("record a thread=1", "record a", "worker_failed a thread=1"),
        ["a: record", "a: record mention"],
    ),
    "a failure that a thread says which began neither": (
        ("started a thread=1", "started a thread=2", "effect a thread=2", "worker_failed a thread=3"),
        ["a: started", "a: started effect failed"],
    ),
    "failures while an earlier one is still open: nobody's, however many": (
        ("started a", "started a", "effect a", "worker_finished a", "worker_failed a", "started a", "worker_failed a"),
        ["a: started", "a: started effect finished mention", "a: started mention"],
    ),
    "a failure where all before had ended": (
        ("started a", "worker_failed a", "started a", "worker_failed a"),
        ["a: started failed", "a: started failed"],
    ),
    "the same end so late that the message was handed out again": (
        ("started a", "effect a", "worker_delete_failed a", 900, "worker_delete_failed a"),
        ["a: started effect delete_failed", "a: mention"],
    ),
    "its delete, which had failed, so late that the message was handed out again": (
        ("started a", "effect a", "worker_delete_failed a", 900, "deleted a"),
        ["a: started effect delete_failed", "a: mention"],
    ),
    "a guard so late behind the effect that the message was handed out again": (
        ("started a", "effect a", 26, "guard a"),
        ["a: started effect", "a: guard"],
    ),
    "a guard a second sooner than that": (
        ("started a", "effect a", 25, "guard a"),
        ["a: started effect guard"],
    ),
    "a guard so late behind no effect": (
        ("started a", 27, "guard a"),
        ["a: started guard"],
    ),
    "a less sure start after the work was done": (
        ("worker_started a", "effect a", "started a", "effect a"),
        ["a: started effect", "a: started effect"],
    ),
    "a less sure start before the work was done": (
        ("worker_started a", "started a", "effect a"),
        ["a: started started effect"],
    ),
    "an effect at once by another thread, where nothing opens: the second is a guess": (
        ("mention a", "effect a thread=1", "+effect a thread=2"),
        ["a: mention effect", "a: mention"],
    ),
    "an effect within a moment by a thread that is not told": (
        ("mention a", "effect a thread=1", "+effect a"),
        ["a: mention effect effect"],
    ),
    "an effect behind a silence and a line, where nothing opens": (
        ("mention a", "effect a", "mention a", 26, "mention a", "effect a", "mention a"),
        ["a: mention effect mention", "a: mention effect mention"],
    ),
    "two effects behind a silence and a line, where nothing opens: the second is a guess": (
        ("mention a", "effect a", 26, "mention a", "effect a", 1, "effect a"),
        ["a: mention effect", "a: mention effect", "a: mention"],
    ),
    "an end so late behind the effect that the message was handed out again, where nothing opens": (
        ("effect a", 27, "worker_finished a"),
        ["a: effect finished"],
    ),
    "an end so late behind the end, where nothing opens": (
        ("effect a", "worker_finished a", 27, "worker_finished a"),
        ["a: effect finished", "a: finished"],
    ),
    "an end so late behind a line that shows no effect, where nothing opens": (
        ("mention a", 27, "worker_finished a"),
        ["a: mention", "a: finished"],
    ),
    "named behind a guard, where one more handling fits in before": (
        ("started a", "worker_delete_failed a", 53, "started a", "guard a", 1, "mention a"),
        ["a: started delete_failed", "a: started guard", "a: mention"],
    ),
    "named behind a guard, where none fits in before": (
        ("started a", "worker_delete_failed a", 50, "started a", "guard a", 1, "mention a"),
        ["a: started delete_failed", "a: started guard mention"],
    ),
    "named right behind a guard": (
        ("started a", "worker_delete_failed a", 53, "started a", "guard a", "mention a"),
        ["a: started delete_failed", "a: started guard mention"],
    ),
    "named behind the guard of the first handling": (
        ("started a", "guard a", 10, "mention a"),
        ["a: started guard mention"],
    ),
    "named behind a guard, where one more fits in behind one that may be on": (
        ("started a", 53, "started a", "guard a", 1, "mention a"),
        ["a: started", "a: started guard", "a: mention"],
    ),
    "a start behind a failed delete, once the message was visible again, whose record is lost": (
        ("record a", "worker_delete_failed a", 26, "started a"),
        ["a: record delete_failed", "a: started"],
    ),
    "a start behind a failed delete while the message was hidden": (
        ("record a", "worker_delete_failed a", 20, "started a"),
        ["a: record delete_failed started"],
    ),
    "two failed deletes, where nothing opens": (
        ("effect a", "worker_delete_failed a", -0.9, "worker_delete_failed a"),
        ["a: effect delete_failed", "a: mention"],
    ),
    "two as close as an echo, where nothing opens": (
        ("effect a", "worker_delete_failed a", -0.98, "worker_delete_failed a"),
        ["a: effect delete_failed"],
    ),
    "two, the second a little later than an echo": (
        ("effect a", f"handle_error a {DELETE}", -0.98, "worker_delete_failed a"),
        ["a: effect handle_error delete_failed"],
    ),
    "two a microsecond further apart": (
        ("effect a", f"handle_error a {DELETE}", -0.979999, "worker_delete_failed a"),
        ["a: effect handle_error", "a: mention"],
    ),
    "two in one line, where nothing opens": (
        ("effect a", "worker_delete_failed a", f"+handle_error a {DELETE}"),
        ["a: effect delete_failed handle_error"],
    ),
    "two so far apart that the message was handed out again, where nothing opens": (
        ("effect a", "worker_delete_failed a", 26, "worker_delete_failed a"),
        ["a: effect delete_failed", "a: delete_failed"],
    ),
    "two, the first of which opening is lost": (
        ("worker_delete_failed a", "worker_delete_failed a", "started a"),
        ["a: delete_failed", "a: mention", "a: started"],
    ),
    "a delete that was taken, behind one that failed, where nothing opens": (
        ("effect a", "worker_delete_failed a", "deleted a"),
        ["a: effect delete_failed", "a: mention"],
    ),
    "two, the second of which was handed out again, and both openings are lost": (
        ("worker_delete_failed a", 26, "worker_delete_failed a", "started a"),
        ["a: delete_failed", "a: mention", "a: started"],
    ),
    "two deletes that were taken, so far apart, where nothing opens": (
        ("effect a", "deleted a", 26, "deleted a"),
        ["a: effect deleted", "a: deleted"],
    ),
    "two failed deletes, seconds apart": (
        ("started a", "worker_delete_failed a", 5, "worker_delete_failed a"),
        ["a: started delete_failed delete_failed"],
    ),
    "two, the second just when the message was handed out again": (
        ("started a", "worker_delete_failed a", 25, "worker_delete_failed a"),
        ["a: started delete_failed", "a: mention"],
    ),
    "two, the second a millisecond before": (
        ("started a", "worker_delete_failed a", 24.999, "worker_delete_failed a"),
        ["a: started delete_failed delete_failed"],
    ),
    "two in one line, so late": (
        ("started a", 26, "worker_delete_failed a", f"+handle_error a {DELETE}"),
        ["a: started delete_failed handle_error"],
    ),
    "a third failed delete is a guess, too": (
        ("started a", "worker_delete_failed a", 26, "worker_delete_failed a", "worker_delete_failed a"),
        ["a: started delete_failed", "a: mention mention"],
    ),
    "a third, just before the message was handed out once more": (
        ("started a", "worker_delete_failed a", 26, "worker_delete_failed a", 25.999999, "worker_delete_failed a"),
        ["a: started delete_failed", "a: mention mention"],
    ),
    "a third, just when it was": (
        ("started a", "worker_delete_failed a", 26, "worker_delete_failed a", 26, "worker_delete_failed a"),
        ["a: started delete_failed", "a: mention delete_failed"],
    ),
    "what was done behind a second": (
        ("started a", "worker_delete_failed a", 26, "worker_delete_failed a", "effect a"),
        ["a: started delete_failed", "a: mention effect"],
    ),
    "it was printed, and begun when it was visible again: it may have waited in its worker's hand": (
        ("record a", 26, "started a", "effect a"),
        ["a: record started effect"],
    ),
    "a failed delete behind what its worker did for long after the effect": (
        ("started a", "effect a", 26, "worker_delete_failed a"),
        ["a: started effect delete_failed"],
    ),
    "a failed delete behind a late effect": (
        ("started a", 26, "effect a", "worker_delete_failed a"),
        ["a: started effect delete_failed"],
    ),
    "a failed delete late behind the effect, while its worker had extended its hold": (
        ("started a", "effect a", "worker_visibility_set a detail=60", 26, "worker_delete_failed a"),
        ["a: started effect visibility_set delete_failed"],
    ),
    "a failed delete late behind the effect, by its receipt handle": (
        ("record a handle=1", "effect a", 26, f"handle_error a handle=1 {DELETE}"),
        ["a: record effect handle_error"],
    ),
    "a failed delete late behind what shows no effect": (
        ("started a", "mention a", 26, "worker_delete_failed a"),
        ["a: started mention delete_failed"],
    ),
    "a delete that was taken, told again by the same kind of line": (
        ("started a", "effect a", "deleted a", 5, "deleted a"),
        ["a: started effect deleted", "a: mention"],
    ),
    "a delete that was taken, told by its framework as well": (
        ("started a", "effect a", "deleted a", 5, "worker_acknowledged a"),
        ["a: started effect deleted acknowledged"],
    ),
    "a delete that was taken, told twice in a moment": (
        ("started a", "effect a", "deleted a", "deleted a"),
        ["a: started effect deleted deleted"],
    ),
    "the same end soon again": (
        ("started a", "effect a", "worker_delete_failed a", "worker_delete_failed a"),
        ["a: started effect delete_failed delete_failed"],
    ),
    "only one effect is given back": (
        ("started a", "started a", "effect a", "effect a", "mention a", "effect a"),
        ["a: started effect", "a: started effect mention effect"],
    ),
    "the one before had failed": (
        ("started a", "worker_failed a", "started a", "effect a", "effect a"),
        ["a: started failed", "a: started effect effect"],
    ),
    "the one before has its effect": (
        ("started a", "effect a", "started a", "effect a", "effect a"),
        ["a: started effect", "a: started effect effect"],
    ),
    "a delete is refused after the quicker worker's was taken: it is the slower one's": (
        ("started a", "effect a", "started a", "effect a", "deleted a", "worker_delete_failed a"),
        ["a: started effect delete_failed", "a: started effect deleted"],
    ),
    "a delete is taken after the quicker worker's was, of which work was told since: it is the slower one's": (
        ("started a", "started a", "effect a", "deleted a", 9, "effect a", "deleted a"),
        ["a: started effect deleted", "a: started effect deleted"],
    ),
    "so is one of the worker that had told its work, and goes on": (
        ("started a", "started a", "effect a", "worker_finished a", 9, "effect a", "effect a", "worker_finished a"),
        ["a: started effect effect finished", "a: started effect finished"],
    ),
    "a delete is refused after the quicker worker's success, since which work was told: it is the slower one's": (
        ("started a", "started a", "effect a", "worker_finished a", 9, "effect a", f"handle_error a {DELETE}"),
        ["a: started effect handle_error", "a: started effect finished"],
    ),
    "a delete is refused after the quicker worker's success, and nothing tells whose it is": (
        ("started a", "effect a", "started a", "effect a", "worker_finished a", 9, f"handle_error a {DELETE}"),
        ["a: started effect", "a: started effect finished handle_error"],
    ),
    "a delete is taken twice, and no work is told in between: the opening of another is lost": (
        ("started a", "effect a", "started a", "effect a", "deleted a", 9, "deleted a"),
        ["a: started effect", "a: started effect deleted", "a: mention"],
    ),
    "a delete is taken twice in a moment": (
        ("started a", "started a", "effect a", "deleted a", "&deleted a"),
        ["a: started", "a: started effect deleted"],
    ),
    "a success is told twice, the second by another thread: it is the slower one's": (
        ("started a", "started a", "worker_finished a thread=2", 9, "worker_finished a thread=1"),
        ["a: started finished", "a: started finished"],
    ),
    "a success is told twice by one thread, or nobody knows by which": (
        (
            *("started a", "started a", "worker_finished a thread=2", 9, "worker_finished a thread=2"),
            *("started b", "started b", "worker_finished b", 9, "worker_finished b thread=1"),
        ),
        ["a: started", "a: started finished finished", "b: started", "b: started finished finished"],
    ),
    "a delete is taken twice, of which none other is open": (
        ("started a", "deleted a", "started a", "effect a", "deleted a", 9, "effect a", "deleted a"),
        ["a: started deleted", "a: started effect deleted effect", "a: mention"],
    ),
    "a delete is refused behind the end that the worker told": (
        ("started a", "started a", "effect a", "worker_finished a", "worker_delete_failed a"),
        ["a: started", "a: started effect finished delete_failed"],
    ),
    "no other is open when a delete is refused behind one that was taken": (
        ("started a", "deleted a", "started a", "deleted a", "worker_delete_failed a"),
        ["a: started deleted", "a: started deleted delete_failed"],
    ),
    "each line tells its receive count: the slower one ends behind the quicker one, and is no third": (
        (
            *("started a count=1", "started a count=2", "effect a count=2", "deleted a count=2"),
            *("effect a count=1", "deleted a count=1"),
        ),
        ["a: started effect deleted", "a: started effect deleted"],
    ),
    "only ends tell their receive count: what is told right before the slower one's end is its work, not the quicker one's": (
        (
            *("started a count=1", "started a count=2", "effect a", "worker_finished a count=1"),
            *("started a count=3", "guard a", "worker_finished a count=3", "effect a", "worker_finished a count=2"),
        ),
        [
            "a: started effect finished",
            "a: started effect finished",
            "a: started guard finished",
        ],
    ),
    "only ends tell their receive count: what the quicker one told before its own end stays its work": (
        (
            *("started a count=1", "started a count=2", "guard a", "worker_finished a count=2"),
            "worker_finished a count=1",
        ),
        ["a: started finished", "a: started guard finished"],
    ),
    "an end whose receive count nothing opened takes the effect right before it": (
        ("started a count=1", "effect a", "worker_finished a count=2"),
        ["a: started", "a: effect finished"],
    ),
    "a stopped repeat whose opening is lost, and whose end tells its receive count": (
        ("record a count=1", "guard a", "worker_delete_failed a", "guard a", "worker_finished a count=2"),
        ["a: record guard delete_failed", "a: guard finished"],
    ),
    "a stopped repeat, ended by its receipt handle behind the work of another": (
        ("record a handle=1", "guard a", "record a handle=2", "effect a", f"handle_error a handle=1 {DELETE}"),
        ["a: record guard handle_error", "a: record effect"],
    ),
    "an effect told twice with one receive count is that one's": (
        ("started a count=1", "started a count=2", "effect a count=2", 2, "effect a count=2"),
        ["a: started", "a: started effect effect"],
    ),
    "a receive count that nothing opened is of a handling whose opening is lost": (
        ("started a count=1", "effect a count=1", "effect a count=2", "deleted a count=2"),
        ["a: started effect", "a: effect deleted"],
    ),
    "Celery's task again": (
        ("worker_started key=t", "worker_failed key=t", "worker_started key=t"),
        ["key:t: started failed", "key:t: started"],
    ),
}


@pytest.mark.parametrize(("said", "expected"), SAID.values(), ids=SAID)
def test_a_message_is_in_hand(said, expected):
    assert told(handlings(*said)) == expected


SURE_COUNTS = {
    "its opening tells it": (("started a count=1", "effect a", "deleted a"), 1, 1),
    "every line tells it": (("effect a count=1", "deleted a count=1"), 1, 1),
    "one line without it may be another's": (("effect a", "deleted a count=1"), None, 1),
    "what ends it does not tell it": (("deleted a count=1", "effect a"), None, None),
    "what only names the message may be another's, and is no work": (("mention a", "worker_finished a count=2"), 2, 2),
    "so it may stand behind": (("worker_finished a count=2", "mention a"), 2, 2),
    "another line is work": (("mention a", "effect a", "worker_finished a count=2"), None, 2),
    "nothing but names": (("mention a", "mention a count=2"), None, 2),
    "its opening tells none": (("started a", "effect a", "deleted a count=2"), None, 2),
}
"""What is said of a message, and its receive count: where a stream may be of several processes, and of one with one message at a time."""
SHARED = ("started b", "started c", "effect b")
"""What several processes say."""


@pytest.mark.parametrize(("said", "of_several", "of_one"), SURE_COUNTS.values(), ids=SURE_COUNTS)
def test_a_handling_has_a_receive_count_for_sure_where(said, of_several, of_one):
    for one_at_a_time, count in ((False, of_several), (True, of_one)):
        found = handlings(*said, one_at_a_time=one_at_a_time)
        assert [delivery_of(handling, GROUP).receive_count for handling in found] == [count]
    shared = [h for h in handlings(*SHARED, *said, one_at_a_time=True) if h.item_id == "a"]
    assert [delivery_of(handling, GROUP).receive_count for handling in shared] == [of_several]


def test_a_failure_is_the_latest_handlings_where_a_process_has_one_message_at_a_time():
    said = ("started a", "started a", "worker_failed a")

    assert told(handlings(*said, one_at_a_time=True)) == ["a: started", "a: started failed"]


JOBS = {
    "a slow job ends after a long silence": (
        ("worker_started", "started b", "effect key=k", 900, "worker_finished"),
        ["b: started", "key:k: effect finished"],
    ),
    "a second effect of one job after a long silence": (
        ("worker_started", "mention b", "effect key=k", 900, "effect key=k", "worker_finished"),
        ["b: mention", "key:k: effect", "key:k: effect finished"],
    ),
}


@pytest.mark.parametrize(("said", "expected"), JOBS.values(), ids=JOBS)
def test_in_a_job_that_takes_one_message_at_a_time(said, expected):
    assert told(handlings(*said, one_at_a_time=True)) == expected


@pytest.mark.parametrize(("silence_s", "count"), [(26.999, 1), (27, 2)])
def test_a_message_without_any_opener_is_in_hand_anew_after_a_silence(silence_s, count):
    assert len(handlings("effect a", silence_s - 1, "mention a")) == count


@pytest.mark.parametrize(
    ("is_known", "silence_s", "expected"),
    [
        (True, 20, ["a: record delete_failed started effect"]),
        (False, 20, ["a: record delete_failed", "a: mention effect"]),
        (False, 1, ["a: record delete_failed started effect"]),
    ],
    ids=["while it was hidden", "nobody knows for how long it was hidden", "within a moment"],
)
def test_work_that_begins_behind_a_failed_delete_may_be_of_another_handling(is_known, silence_s, expected):
    said = ("record a", "worker_delete_failed a", silence_s - 1, "started a", "effect a")

    assert told(handlings(*said, group=replace(GROUP, is_visibility_known=is_known))) == expected


def test_a_handling_is_named_by_its_first_line_and_so_whatever_came_before():
    first, again = handlings("record a", "effect a", "record a")
    (alone,) = handlings(2, "record a")

    assert first.consumer == f"/ecs/pay|app/1|a|{NOON // 1000 + 1000}"
    assert again.consumer == alone.consumer == f"/ecs/pay|app/1|a|{NOON // 1000 + 3000}"


def test_handlings_that_begin_in_one_ms_have_names_of_their_own():
    names = [
        h.consumer.rpartition("|")[2]
        for h in handlings("record a handle=h", "&record a handle=i", "&record a handle=j", "record a")
    ]

    began_ms = NOON // 1000 + 1000
    assert names == [f"{began_ms}", f"{began_ms}.2", f"{began_ms}.3", f"{began_ms + 1000}"]


def test_a_delivery_is_of_one_message_and_runs_from_its_first_line_to_its_end():
    (handling,) = handlings("record a key=k count=3", "effect", "worker_finished a", 60, "mention a")

    delivery = delivery_of(handling, GROUP)

    assert (delivery.consumer, delivery.consumer_kind) == (handling.consumer, "worker")
    assert (delivery.log_group, delivery.log_stream, delivery.batch_count) == ("/ecs/pay", "app/1", 1)
    assert (delivery.item_id, delivery.message_id, delivery.business_keys) == ("a", "a", ["k"])
    assert (delivery.receive_count, delivery.request_id, delivery.function_name) == (3, None, None)
    assert delivery.run_started_at == NOON + 1_000_000
    assert delivery.run_ended_at == NOON + 3_000_000
    assert delivery.run_last_line_at == NOON + 64_000_000
    assert delivery.fact_ids == ["line-000", "line-001", "line-002", "line-003"]


OPENED = {
    "it was printed": (("record a", "effect a"), True),
    "the worker said that it begins": (("started a", "effect a"), True),
    "so did its framework": (("worker_started a", "effect a"), True),
    "no line opens it": (("effect a", "worker_finished a"), False),
    "its framework began some message": (("worker_started", "effect a"), False),
    "the worker began what has a key": (("record b key=k", "started key=k", "effect key=k a"), False),
}


@pytest.mark.parametrize(("said", "expected"), OPENED.values(), ids=OPENED)
def test_a_line_that_opens_a_handling_names_its_message_where(said, expected):
    of_a = [h for h in handlings(*said, one_at_a_time=True) if h.item_id == "a"]

    assert [(h.is_opened, lines_row(h, GROUP)["is_opened"]) for h in of_a] == [(expected, expected)]


ENDS = {
    "finished": (("record a", "worker_finished a", "mention a"), "success", 2),
    "failed": (("record a", "worker_failed a", "mention a"), "error", 2),
    "gave up": (("record a", "worker_gave_up a", "mention a"), "error", 2),
    "timed out": (("record a", "worker_timed_out a", "mention a"), "timeout", 2),
    "timed out and finished all the same": (("record a", "worker_timed_out a", "worker_finished a"), "timeout", 3),
    "failed first and finished then": (("record a", "worker_failed a", "worker_finished a"), "success", 3),
    "could not be deleted": (("record a", f"handle_error a {DELETE}", "mention a"), "unknown", 2),
    "stopped by a guard": (("record a", "worker_refused a", "mention a"), "unknown", 3),
    "nothing tells": (("record a", "effect a", "mention a"), "unknown", 3),
}


@pytest.mark.parametrize(("said", "status", "ended_s"), ENDS.values(), ids=ENDS)
def test_a_handling_ends_with_what_the_worker_says_of_its_end(said, status, ended_s):
    (handling,) = handlings(*said)

    delivery = delivery_of(handling, GROUP)

    assert (delivery.run_status, delivery.run_ended_at) == (status, NOON + ended_s * 1_000_000)


GIVEN_UP = {
    "raised, then tried to delete": (("started a", "worker_raised a", f"handle_error a {DELETE}"), True),
    "failed, then tried to delete": (("started a", "worker_failed a", f"&handle_error a {DELETE}"), True),
    "tried to delete, and failed because of it": (("started a", f"handle_error a {DELETE}", "&worker_failed a"), False),
    "failed, and deleted nothing": (("started a", "worker_failed a"), False),
    "failed, then deleted": (("started a", "worker_failed a", "deleted a"), True),
    "logged an error, then deleted": (("started a", "error a", "deleted a"), True),
    "logged an error, then tried to delete": (("started a", "error a", "worker_delete_failed a"), True),
    "logged an error when it was deleted": (("started a", "deleted a", "error a"), False),
    "logged an error, and deleted nothing": (("started a", "error a"), False),
    "logged an error, finished all the same, and deleted": (
        ("started a", "error a", "worker_finished a", "deleted a"),
        False,
    ),
}


@pytest.mark.parametrize(("said", "expected"), GIVEN_UP.values(), ids=GIVEN_UP)
def test_a_worker_that_failed_before_its_delete_gave_the_message_up(said, expected):
    (handling,) = handlings(*said)

    delivery = delivery_of(handling, GROUP)

    assert (delivery.has_failed_first, delivery.has_unanswered_error) == (expected, expected)


AGAIN = {
    "once": (("started a", "effect a", "worker_delete_failed a"), 0),
    "by an echo behind the end": (("started a", "effect a", "&deleted a", "effect a"), 0),
    "later than an echo behind the end": (("started a", "effect a", "deleted a", "effect a"), 1),
    "behind a delete that failed": (("started a", "effect a", "worker_delete_failed a", 20, "effect a"), 1),
    "again and again behind it": (("started a", "effect a", "worker_delete_failed a", 9, "effect a", 9, "effect a"), 2),
    "while it is in hand": (("started a", "effect a", 9, "effect a"), 0),
    "while it is in hand, just before it was visible again": (("started a", "effect a", 24, "effect a"), 0),
    "while it is in hand, as it was visible again": (("started a", "effect a", 25, "effect a"), 1),
    "while a heartbeat hides it": (("started a", "worker_visibility_set a detail=30", "effect a", 27, "effect a"), 0),
    "for another item of it": (("started a", "effect a key=k", 900, "effect a key=l"), 0),
    "for the same item of it": (("started a", "effect a key=k", 900, "effect a key=l", "effect a key=k"), 1),
    "for an item that one line leaves out": (("started a", "effect a key=k", 900, "effect a"), 1),
    "for the first time behind its end": (("started a", "deleted a", 20, "effect a"), 0),
    "for the first time behind its end, when it was visible again": (("started a", "deleted a", 30, "effect a"), 0),
    "at once behind a delete that failed": (("started a", 25, "effect a", "&worker_delete_failed a", "effect a"), 1),
    "at once behind it, before it was visible again": (
        ("started a", "effect a", "&worker_delete_failed a", "effect a"),
        0,
    ),
    "at once, both when it was visible again": (("started a", 30, "effect a", -0.9, "effect a"), 1),
    "at once, when it was not visible yet": (("started a", "effect a", -0.9, "effect a"), 0),
    "at once, visible again just between them": (("started a", 25.5, "effect a", -0.4, "effect a"), 0),
    "by an echo, when it was visible again": (("started a", 30, "effect a", "guard a", -1.99, "effect a"), 0),
    "at once behind it, and by an echo of that": (
        ("started a", 25, "effect a", "&worker_delete_failed a", "effect a", "&effect a"),
        1,
    ),
}


IN_HAND = {
    "once": (("started a", "effect a"), 0),
    "later": (("started a", "effect a", 0.1, "effect a"), 1),
    "by an echo": (("started a", "effect a", "effect a"), 0),
    "again and again": (("started a", "effect a", 2, "effect a", 2, "effect a"), 2),
    "for another item": (("started a", "effect a key=k", 2, "effect a key=l"), 0),
    "behind its end, where that counts by itself": (("started a", "effect a", "deleted a", 2, "effect a"), 0),
    "visible again, where that counts by itself": (("started a", "effect a", 30, "effect a"), 0),
}


TRIED = {
    "once": (("started a", "effect a"), ["a: started effect"], (0, 0)),
    "again after it failed": (
        ("started a", "worker_retrying a", "started a", "effect a"),
        ["a: started retrying mention effect"],
        (0, 1),
    ),
    "again and again": (
        ("started a", "worker_retrying a", "started a", "worker_retrying a", "started a"),
        ["a: started retrying mention retrying mention"],
        (0, 2),
    ),
    "again after its work was done": (
        ("started a", "effect a", "worker_retrying a", "started a", "effect a"),
        ["a: started effect retrying mention effect"],
        (1, 0),
    ),
    "again after its work was done, and that is told no more": (
        ("started a", "effect a", "worker_retrying a", "started a"),
        ["a: started effect retrying mention"],
        (0, 1),
    ),
    "and is stopped then": (
        ("started a", "effect a", "worker_retrying a", "started a", "guard a"),
        ["a: started effect retrying mention guard"],
        (0, 0),
    ),
    "again after a guard stopped it": (
        ("started a", "guard a", "worker_retrying a", "started a", "effect a"),
        ["a: started guard retrying mention effect"],
        (0, 0),
    ),
    "and says in words of its own that it failed": (
        ("started a", "error a", "worker_failed a", "worker_retrying a", "started a", "worker_finished a"),
        ["a: started mention mention retrying mention finished"],
        (0, 1),
    ),
    "beginning it in two lines": (
        ("worker_started a", "&started a", "worker_retrying a", "worker_started a", "&started a", "effect a"),
        ["a: started started retrying mention mention effect"],
        (0, 1),
    ),
    "and begins it once more without a word": (
        ("started a", "worker_retrying a", "started a", "started a"),
        ["a: started retrying mention", "a: started"],
        (0, 1),
    ),
    "just before it was visible again": (
        ("started a", "worker_retrying a", 24.9, "started a"),
        ["a: started retrying mention"],
        (0, 1),
    ),
    "when it was visible again": (
        ("started a", "worker_retrying a", 25, "started a"),
        ["a: started retrying", "a: started"],
        (0, 1),
    ),
    "and it is received again with another count": (
        ("started a count=1", "worker_retrying a", "started a count=2"),
        ["a: started retrying", "a: started"],
        (0, 1),
    ),
    "with the same count": (
        ("started a count=1", "worker_retrying a", "started a count=1"),
        ["a: started retrying mention"],
        (0, 1),
    ),
    "and fails once more, for good": (
        ("started a", "worker_retrying a", "started a", "worker_gave_up a"),
        ["a: started retrying mention gave_up"],
        (0, 1),
    ),
    "another message meanwhile": (
        ("started a", "started b", "worker_retrying a", "started a", "started b"),
        ["a: started retrying mention", "b: started", "b: started"],
        (0, 1),
    ),
    "of which nothing tells that it was begun": (
        ("worker_retrying a", "started a"),
        ["a: retrying started"],
        (0, 1),
    ),
}
"""What a stream says, its handlings, and in how many tries more than one the first did its work, and may have done it."""


@pytest.mark.parametrize(("said", "parts", "more"), TRIED.values(), ids=TRIED)
def test_a_worker_tries_a_message_again_that_it_has_in_hand(said, parts, more):
    found = handlings(*said)
    first = delivery_of(found[0], GROUP)

    assert told(found) == parts
    assert (first.done_more_count, first.maybe_more_count) == more


def test_a_message_that_failed_and_was_finished_when_it_was_tried_again_did_not_fail():
    (handling,) = handlings(
        "started a", "error a", "worker_failed a", "worker_retrying a", "started a", "worker_finished a"
    )
    delivery = delivery_of(handling, GROUP)

    assert (delivery.run_status, delivery.has_failed_first) == ("success", False)


@pytest.mark.parametrize(("pause", "expected"), [(2, 0), (30, 0)], ids=["soon", "late"])
def test_an_effect_of_a_try_before_is_none_that_stands_alone(pause, expected):
    (handling,) = handlings("started a", "effect a", "worker_retrying a", "started a", pause, "effect a")
    delivery = delivery_of(handling, GROUP)

    assert (delivery.lone_mark_count, delivery.told_again_count) == (expected, expected)
    assert not lines_row(handling, GROUP)["tells_again"]


@pytest.mark.parametrize(("said", "expected"), IN_HAND.values(), ids=IN_HAND)
def test_an_effect_is_told_once_more_while_its_message_is_in_hand(said, expected):
    (handling,) = handlings(*said)

    assert delivery_of(handling, GROUP).told_again_count == expected
    assert lines_row(handling, GROUP)["tells_again"] == (expected > 0)


@pytest.mark.parametrize(("said", "expected"), AGAIN.values(), ids=AGAIN)
def test_an_effect_is_told_once_more_in_one_handling(said, expected):
    (handling,) = handlings(*said)

    assert delivery_of(handling, GROUP).lone_mark_count == expected


@pytest.mark.parametrize(("pause", "expected"), [(25.9, False), (26, True)], ids=["hidden", "visible again"])
def test_an_effect_that_names_a_key_is_a_guess_once_its_message_was_visible_again(pause, expected):
    (handling,) = handlings("started a", pause, "effect key=k")

    assert delivery_of(handling, GROUP).is_mark_guessed is expected


ONE = ("worker_started", "started a", "effect a", "worker_finished")
UNNAMED = {
    "each names its message": (ONE, []),
    "one names nothing": ((*ONE, "worker_started", "worker_finished"), [5]),
    "one names nothing, and its delete was refused": ((*ONE, "worker_started", f"handle_error {DELETE}"), [5]),
    "one names nothing, and was told to stop": ((*ONE, "worker_started", "worker_stopping"), [5]),
    "one names a message in passing": ((*ONE, "worker_started", "passing b", "worker_finished"), [5]),
    "one says that a message is in hand": ((*ONE, "worker_started", "mention b", "worker_finished"), []),
    "one names nothing, and is on for all we know": ((*ONE, "worker_started", "mention"), []),
    "one names nothing, and did not end before the next began": (
        (*ONE, "worker_started", "mention", *ONE),
        [5],
    ),
    "one names a key": ((*ONE, "worker_started", "effect key=k", "worker_finished"), []),
    "one names nothing, and the next one's start is lost": (
        (*ONE, "worker_started", "worker_finished", "started b", "effect b", "worker_finished"),
        [5],
    ),
    "one names nothing, and a message is named longer after its end": (
        (*ONE, "worker_started", "worker_finished", 1, "mention b"),
        [5],
    ),
    "one is named within a moment after its end": ((*ONE, "worker_started", "worker_finished", "mention b"), []),
    "nothing in the stream names anything": (("worker_started", "worker_finished") * 2, []),
    "nothing begins jobs": (("started a", "worker_finished", "worker_finished"), []),
    "two, the first of which named its message and did not end": (
        (*ONE[:-1], "worker_started", "worker_finished"),
        [4],
    ),
    "several jobs are on at once": (
        (*ONE[:2], "worker_started", "started b", "effect a", "worker_finished", "worker_started", "worker_finished"),
        [],
    ),
}


@pytest.mark.parametrize(("said", "expected"), UNNAMED.values(), ids=UNNAMED)
def test_a_job_had_a_message_that_nothing_names(said, expected):
    rows = unnamed_rows(stream(*said), "app/1", GROUP, one_at_a_time=True, handlings=())

    assert [(row["first_at"] - NOON) // 1_000_000 for row in rows] == expected
    assert not any(row["is_opened"] or row["shows_start"] or row["item_id"] for row in rows)
    assert unnamed_rows(stream(*said), "app/1", GROUP, one_at_a_time=False, handlings=()) == []


OF_NOBODY = f"handle_error {DELETE}"
IN_TURN = [word for n in range(10) for word in (f"started {n} thread=1", f"effect {n} thread=1")]
OF_NONE = {
    "nothing was in hand before it": ((OF_NOBODY, "started a"), [1]),
    "what was in hand had ended": (("started a", "effect a", "deleted a", 9, OF_NOBODY, "started a"), [13]),
    "it had ended just before": (("started a", "effect a", "deleted a", OF_NOBODY), []),
    "one is in hand": (("started a", OF_NOBODY), []),
    "either of two is": (("started a", "started b", OF_NOBODY), []),
    "it names a message": (("worker_delete_failed a", "started a"), []),
    "it names a key": (("worker_delete_failed key=k", "started a"), []),
    "it is told twice in a moment": ((0.5, OF_NOBODY, f"&{OF_NOBODY}", "started a"), [1]),
    "another thread has one in hand": (
        ("started a thread=1", "started b thread=2", "deleted b thread=2", 9, f"{OF_NOBODY} thread=2"),
        [13],
    ),
    "nobody tells whether its thread has none": (
        ("started a thread=1", "started b thread=2", "deleted b thread=2", 9, OF_NOBODY),
        [],
    ),
    "nor has any": (
        ("started a thread=1", "started b thread=2", "deleted b thread=2", "deleted a thread=1", 9, OF_NOBODY),
        [14],
    ),
    "its thread works in turn, and had told the work long before": ((*IN_TURN, 9, f"{OF_NOBODY} thread=1"), [30]),
    "it told the work just before": ((*IN_TURN, f"{OF_NOBODY} thread=1"), []),
    "it does not say which thread tried": ((*IN_TURN, 9, OF_NOBODY), []),
    "its thread need not work in turn": ((*IN_TURN[2:], 9, f"{OF_NOBODY} thread=1"), []),
    "what nobody tells is no delete": ((f"handle_error {CHANGE}", "started a"), []),
}
"""What a stream says, and when deletes failed (seconds) of which nothing is told and that nothing in hand can be meant by."""


@pytest.mark.parametrize(("said", "expected"), OF_NONE.values(), ids=OF_NONE)
def test_a_failed_delete_is_of_a_message_that_nothing_names_where(said, expected):
    placed = stream(*said)
    rows = unnamed_rows(placed, "app/1", GROUP, one_at_a_time=False, handlings=handlings(*said))

    assert [(row["first_at"] - NOON) // 1_000_000 for row in rows] == expected
    assert not any(row["is_opened"] or row["shows_start"] or row["item_id"] for row in rows)
    assert [row["consumer"] for row in rows] == [f"/ecs/pay|app/1||{row['first_at'] // 1000}" for row in rows]


MAY_BE_TWO = {
    "a refused delete of nobody came when it was visible again": (("started b", 26, OF_NOBODY, "effect a"), True),
    "it came a moment before that": (("started b", 24, OF_NOBODY, "effect a"), False),
    "it came behind the effect": (("started b", 26, "effect a", OF_NOBODY), False),
    "its effect was told twice, and it came with the second": (
        ("started b", "effect a", 9, "effect a", OF_NOBODY),
        True,
    ),
    "its effect was told twice, and it came in between": (("started b", "effect a", OF_NOBODY, 9, "effect a"), True),
    "its effect was told twice, and it came later": (("started b", "effect a", 9, "effect a", 1, OF_NOBODY), False),
    "its effect was told twice within a moment, and it came in between": (
        ("started b", "effect a", -0.9, OF_NOBODY, -0.9, "effect a"),
        True,
    ),
    "a line of its effect was echoed, and it came then": (("started b", "effect a", "&effect a", OF_NOBODY), False),
    "it is of the only one in hand": ((26, OF_NOBODY), False),
    "nothing tells an effect": (("started b", 26, OF_NOBODY, "mention a"), False),
    "the other's delete was refused": (("started b", 26, f"handle_error b {DELETE}", "effect a"), False),
    "a heartbeat hides it": (("worker_visibility_set a detail=60", "started b", 26, OF_NOBODY, "effect a"), False),
}


@pytest.mark.parametrize(("said", "expected"), MAY_BE_TWO.values(), ids=MAY_BE_TWO)
def test_a_handling_may_be_two_where(said, expected):
    first = next(h for h in handlings("started a", *said) if h.item_id == "a")

    assert (first.may_be_two, delivery_of(first, GROUP).may_be_two) == (expected, expected)


BEGUN_AGAIN = {
    "a job of nobody began when it was visible again": ((25, "worker_started", "effect a"), True),
    "it began a second sooner": ((24, "worker_started", "effect a"), False),
    "it had ended, too, as far as lines tell": ((25, "worker_started", "worker_finished", "effect a"), True),
    "it is another message's": ((25, "worker_started", "started b", "effect a"), False),
    "it began behind the effect": ((25, "effect a", "worker_started"), False),
    "it began with the effect": ((25, "worker_started", "&effect a"), True),
    "nothing tells an effect": ((25, "worker_started", "mention a"), False),
    "a heartbeat hides it": (("worker_visibility_set a detail=60", 25, "worker_started", "effect a"), False),
}


@pytest.mark.parametrize(("said", "expected"), BEGUN_AGAIN.values(), ids=BEGUN_AGAIN)
@pytest.mark.parametrize("one_at_a_time", [False, True])
def test_a_job_that_names_nothing_may_be_of_a_message_that_was_visible_again(said, expected, one_at_a_time):
    first, *_ = handlings("worker_started", "started a", *said, one_at_a_time=one_at_a_time)

    assert first.may_be_two is expected


AGAIN = ("started a", 26, "started a", "effect a", f"handle_error a {DELETE}")
FURTHER = {
    "its effect came when the message was visible again after a later handling": ((*AGAIN, 24, "effect a"), True),
    "it came a second sooner": ((*AGAIN, 23, "effect a"), False),
    "its thread says that it is done": (
        ("started a thread=1", 26, "started a thread=2", *AGAIN[3:], 24, "effect a thread=1", "deleted a thread=1"),
        False,
    ),
    "its thread says no more": (
        ("started a thread=1", 26, "started a thread=2", *AGAIN[3:], 24, "effect a thread=1"),
        True,
    ),
    "the later one had deleted it": (
        ("started a thread=1", 26, "started a thread=2", "effect a", "deleted a thread=2", 24, "effect a thread=1"),
        False,
    ),
    "of the later one nothing tells that it left it": (
        ("started a thread=1", 26, "started a thread=2", "effect a thread=2", 25, "effect a thread=1"),
        False,
    ),
    "a heartbeat hid the later one": (
        ("started a", 26, "started a", "worker_visibility_set a detail=60", *AGAIN[3:], 24, "effect a"),
        False,
    ),
    "only a later one had it": ((*AGAIN, 24, "started a", "effect a"), False),
}


@pytest.mark.parametrize(("said", "expected"), FURTHER.values(), ids=FURTHER)
def test_the_effect_of_a_slow_worker_may_be_of_a_further_handling_where(said, expected):
    first, *_ = handlings(*said)

    assert first.may_be_two is expected


BEGUN_LATE = {
    "it was begun when it was visible again": (("record a", 26, "started a"), True),
    "it was begun a microsecond sooner": (("record a", 25.999999, "started a"), False),
    "a heartbeat held it for longer": (("record a", "worker_visibility_set a detail=60", 26, "started a"), False),
    "one did, until it was begun": (("record a", "worker_visibility_set a detail=27", 26, "started a"), True),
    "it was hidden only once it was begun": (
        ("record a", 26, "started a", "worker_visibility_set a detail=60", "effect a"),
        True,
    ),
    "it was begun at once, and its worker went on for long": (("record a", "started a", 40, "mention a"), False),
    "its worker only spoke of it": (("record a", 40, "mention a"), False),
    "nothing printed it": (("mention a", 26, "started a"), False),
}


@pytest.mark.parametrize(("said", "expected"), BEGUN_LATE.values(), ids=BEGUN_LATE)
def test_a_printed_message_that_was_begun_late_waited_in_hand_or_came_again(said, expected):
    first, *_ = handlings(*said)

    assert first.may_be_two is expected


def test_how_late_a_message_was_begun_says_nothing_where_nobody_knows_for_how_long_it_was_hidden():
    (first,) = handlings("record a", 26, "started a", group=replace(GROUP, is_visibility_known=False))

    assert not first.may_be_two


REFUSED = f"handle_error a handle=one {DELETE}"
BY_HANDLE = {
    "it goes back to that one": (
        ("record a handle=one", "effect a", "record a handle=two", REFUSED, "mention a"),
        ["a: record effect handle_error", "a: record mention"],
    ),
    "whose record is printed again: a receipt handle is of one delivery": (
        ("record a handle=one", "effect a", "record a handle=one", "mention a"),
        ["a: record effect mention mention"],
    ),
    "whose record is printed again behind another's start": (
        ("record a handle=one", "record a handle=two", "effect a", "record a handle=one", REFUSED),
        ["a: record mention effect handle_error", "a: record"],
    ),
    "whose record is printed again under another receive count: the handle was made up": (
        ("record a handle=one count=1", "effect a", "record a handle=one count=2", "effect a"),
        ["a: record effect", "a: record effect"],
    ),
    "whose record is printed again, once with its receive count": (
        ("record a handle=one count=2", "record a handle=one", "record a handle=one count=2"),
        ["a: record mention mention"],
    ),
    "what a log puts in a handle's stead tells no delivery from another": (
        ("record a masked=***", "effect a", "record a masked=***", "effect a"),
        ["a: record effect", "a: record effect"],
    ),
    "nor does it tell whose a refused delete is": (
        ("record a masked=***", "record a masked=***", "effect a", f"handle_error a masked=*** {DELETE}"),
        ["a: record", "a: record effect handle_error"],
    ),
    "another record with a handle of its own, long after or not": (
        ("record a handle=one", "record a handle=two", 900, "record a handle=three"),
        ["a: record", "a: record", "a: record"],
    ),
    "with the effect told last, where it shows none": (
        ("record a handle=one", "record a handle=two", "effect a", REFUSED, "worker_failed a"),
        ["a: record effect handle_error", "a: record failed"],
    ),
    "each keeps its own effect": (
        ("record a handle=one", "effect a", "record a handle=two", "effect a", REFUSED),
        ["a: record effect handle_error", "a: record effect"],
    ),
    "another call takes no effect along": (
        ("record a handle=one", "record a handle=two", "effect a", f"handle_error a handle=one {CHANGE}"),
        ["a: record handle_error", "a: record effect"],
    ),
    "its own handle": (
        ("record a handle=one", "effect a", REFUSED, "record a handle=two"),
        ["a: record effect handle_error", "a: record"],
    ),
}


@pytest.mark.parametrize(("said", "expected"), BY_HANDLE.values(), ids=BY_HANDLE)
def test_a_call_with_the_receipt_handle_of_an_earlier_handling(said, expected):
    assert told(handlings(*said)) == expected


@pytest.mark.parametrize(("detail", "expected"), [("skipped", True), (None, False), ("taken", False)])
def test_a_line_that_reads_as_if_the_work_was_not_done_again_leaves_its_end_open(detail, expected):
    said = Fact("mention", 1_000_000, "e-2", "a", detail=detail)
    handling = Handling("c", "s", "a", [Fact("started", 0, "e-1", "a"), said], True, False)

    assert delivery_of(handling, GROUP).may_be_skipped is expected
