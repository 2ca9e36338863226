"""A guard that says nothing: the handler goes on and closes as usual, though nothing was done."""

import pytest

from tests.forensics.suggestions.handlers import day, run
from tests.forensics.suggestions.test_marks import found, found_of_worker, values

LATER = 10**13


def says(message, key, count, of_repeat=(), loads=False):
    """Log an inner line of the work and an outer one of the handler; a repeat has the inner one only if it did the work."""
    begin = [(1, f"processing {message}")]
    load = [(200, f"loaded cart of {key}")] if loads else []
    work = [(400, f"charged {key}")] if count == 1 else list(of_repeat)
    return [*begin, *load, *work, (5, f"record {message} processed")]


def again(numbers, **how):
    return run(LATER, numbers, lambda message, key, count: says(message, key, count, **how), count=2)


FOUND = [found, found_of_worker]


@pytest.mark.parametrize("marks_of", FOUND)
def test_the_line_that_repeats_lack_is_the_effect_and_not_the_one_that_closes_every_handling(marks_of):
    marks = marks_of([*day(says), again([3])])

    assert values(marks)["effect"] == r"charged (?P<key>\S+)"
    assert values(marks)["effect_is_exhaustive"] is True
    assert "lacked it though all else was logged" in marks.proposals[0].sentence


def test_a_repeat_that_did_the_work_again_leaves_the_last_line_the_effect():
    marks = found([*day(says), again([3], of_repeat=[(400, "charged ord-3x")])])

    assert values(marks)["effect"] == r"record (?P<message_id>\S+) processed"


def test_no_line_is_the_effect_where_the_one_that_repeats_lack_cannot_be_it():
    """The run hung behind it: it may say that the work was about to be done."""
    hung = run(2 * LATER, [900], lambda message, key, count: says(message, key, count)[:-1], quiet_ms=3)
    hung.status, hung.ended_at = "timeout", hung.ended_at + 30_000_000
    marks = found([*day(says), again([3]), hung])

    assert "effect" not in values(marks)
    assert any("also stands with 1 message whose work had been done before" in why for why in marks.cannot_tell)


def test_a_guard_that_has_a_line_is_found_though_the_handler_closes_as_usual_behind_it():
    marks = found([*day(says), again([3, 4], of_repeat=[(1, "already charged ord-3x")])])

    assert values(marks)["effect"].endswith(r"charged (?P<key>\S+)")
    assert values(marks)["guard"] == r"already charged (?P<key>\S+)"


def test_a_line_that_is_missing_from_what_was_never_done_before_says_nothing_of_the_last_one():
    """Messages with nothing to charge lack it, too."""

    def at_times(message, key, count):
        return says(message, key, 2 if message.endswith("60") else count)

    assert values(found([*day(at_times), again([3])]))["effect"] == r"record (?P<message_id>\S+) processed"


def test_a_repeat_of_what_the_lines_do_not_show_is_one_by_its_receive_count():
    marks = found([*day(says), again([3, 900])])

    assert values(marks)["effect"] == r"charged (?P<key>\S+)"


def test_repeats_alone_of_what_the_lines_do_not_show_say_nothing():
    assert values(found([*day(says), again([900])]))["effect"] == r"record (?P<message_id>\S+) processed"


def test_a_repeat_that_a_guard_stopped_in_a_handling_without_an_end_is_none_of_those_that_ended_well():
    """The worker logs its end only where it did the work."""
    stopped = again([3, 4], of_repeat=[(1, "already charged ord-3x")])
    stopped.status, stopped.lines = "unknown", [line for line in stopped.lines if "processed" not in line.text]
    (effect, *_) = found_of_worker([*day(says), stopped]).proposals

    assert effect.kind == "effect"
    assert (effect.fits, effect.of) == (120, 120)


INNER = {"a repeat that a guard stops": [(1, "card was charged before")], "one that lacks a line": []}


@pytest.mark.parametrize("marks_of", FOUND)
@pytest.mark.parametrize("of_repeat", INNER.values(), ids=INNER)
def test_the_line_that_closes_repeats_too_is_no_effect_where_a_line_from_within_that_names_nobody_is_missing(
    marks_of, of_repeat
):
    def handled(message, key, count):
        work = [(400, "charged the card")] if count == 1 else of_repeat
        return [(1, f"processing {message}"), *work, (5, f"record {message} processed")]

    marks = marks_of([*day(handled), run(LATER, [3], handled, count=2)])

    assert "effect" not in values(marks)
    assert any("without 'charged the card', which stands with all others" in why for why in marks.cannot_tell)


def test_a_line_that_names_nobody_and_is_missing_from_new_work_too_says_nothing():
    def handled(message, key, count):
        work = [(400, "charged the card")] if count == 1 and not message.endswith("60") else [(400, "")]
        return [(1, f"processing {message}"), *work, (5, f"record {message} processed")]

    marks = found([*day(handled), run(LATER, [3], handled, count=2)])

    assert values(marks)["effect"] == r"record (?P<message_id>\S+) processed"


@pytest.mark.parametrize("marks_of", FOUND)
@pytest.mark.parametrize("named", ["order {key} was charged before ({message})", "the order was charged before"])
def test_the_line_that_closes_repeats_too_is_no_effect_where_a_line_of_theirs_says_that_the_work_was_done_before(
    marks_of, named
):
    """What else the work says stands nowhere."""

    def handled(message, key, count):
        told = [(1, named.format(key=key, message=message))] if count > 1 else []
        return [(1, f"processing {message}"), *told, (400, f"record {message} processed")]

    marks = marks_of([*day(handled), run(LATER, [3], handled, count=2)])

    assert "effect" not in values(marks)
    assert any(
        "whose work had been done before, as 'the order" in w or "before, as 'order" in w for w in marks.cannot_tell
    )
