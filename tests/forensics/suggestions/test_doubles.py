"""A message whose work was done twice looks unlike the others: it must not keep the effect's line from being found."""

from dataclasses import replace

import pytest

from forensics.suggestions.model import MESSAGE_ID, Item, Line, RunLines
from tests.forensics.suggestions.handlers import MS, day, message
from tests.forensics.suggestions.test_marks import found, found_of_worker, values

CHARGED = r"charged \S+? \[message (?P<message_id>[\w.@+-]+), receive"
FORM = "0{n}:00 | INFO | worker:{by} - {said} [message {id}, receive {count}]"


def line(said, number, count=1, by="handle:36"):
    return FORM.format(n=number % 10, by=by, said=said, id=message(number), count=count)


def handled(message_id, key, count):
    number = int(message_id[-12:])
    return [
        (1, line(f"charging {key}", number, count)),
        (900, line(f"charged {key}", number, count, "handle:42")),
        (100, line("deleted", number, count, "ack:55")),
    ]


def slow(number, at):
    """Return two handlings of one message, of which the second begins before the first is done, and has all that came then."""
    first, second = (
        RunLines(
            f"run-{at}-{count}",
            "w",
            status,
            at,
            at + 40_000 * MS,
            [Item(message(number), 1, {message(number): MESSAGE_ID})],
        )
        for count, status in ((1, "unknown"), (2, "success"))
    )
    first.lines = [Line(at, line("charging ord-1x", number))]
    told = [(30_000, "charging ord-1x", 2), (31_000, "charged ord-1x", 2), (31_100, "deleted", 2)]
    told += [(33_000, "charged ord-1x", 1), (33_100, "deleted", 1)]
    second.lines = [Line(at + ms * MS, line(said, number, count)) for ms, said, count in told]
    return [first, second]


def twice(number, at):
    """Return one handling in which the work was done twice."""
    (first, second) = slow(number, at)
    return [replace(second, lines=[*first.lines, *second.lines[1:]])]


DOUBLES = {
    "none": [],
    "one slow message": slow(900, 10**13),
    "two slow messages": [*slow(900, 10**13), *slow(901, 2 * 10**13)],
    "one done twice in one handling": twice(900, 10**13),
}


@pytest.mark.parametrize("doubles", DOUBLES.values(), ids=DOUBLES)
def test_a_few_doubles_rule_out_neither_the_effect_nor_the_delete(doubles):
    told = values(found_of_worker([*day(handled, size=1), *doubles]))

    assert told["effect"] == CHARGED
    assert "deleted" in told["deleted"]


def test_where_doubles_are_the_rule_the_line_is_no_effect():
    many = [run for n in range(15) for run in twice(900 + n, (n + 1) * 10**13)]

    assert "effect" not in values(found_of_worker([*day(handled, size=1), *many]))


def test_a_message_whose_lines_are_mixed_with_its_next_handling_proves_no_line_exhaustive():
    told = values(found_of_worker([*day(handled, size=1), *slow(900, 10**13)]))

    assert "effect_is_exhaustive" in values(found_of_worker(day(handled, size=1)))
    assert "effect_is_exhaustive" not in told


WORDS = {
    "deleted": "deleted",
    "acknowledged": "Acknowledged it",
    "acked": "acked",
    "a name": "messageDeleted",
}


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_a_line_that_says_deleted_is_no_workers_effect_though_more_messages_have_it(word):
    def says(message_id, key, count):
        number = int(message_id[-12:])
        charged = [] if number == 7 else [(900, f"charged {key} for {message_id}")]
        return [(1, f"charging {key} for {message_id}"), *charged, (100, f"{word} {message_id}")]

    runs = day(says, size=1)
    told = values(found_of_worker(runs))

    assert told["effect"].startswith("charged")
    assert "charged" in values(found(runs))["effect"]


@pytest.mark.parametrize("given_up", [0, 1, 4])
def test_a_line_that_says_deleted_is_no_mark_where_messages_have_it_whose_work_was_not_done(given_up):
    def says(message_id, key, count):
        if int(message_id[-12:]) < given_up:
            done = (900, f"gave up {key} for {message_id}: card declined")
        else:
            done = (900, f"charged {key} for {message_id}")
        return [(1, f"charging {key} for {message_id}"), done, (100, f"Acknowledging {message_id}")]

    told = values(found_of_worker(day(says, size=1)))

    assert told["effect"].startswith("charged")
    assert ("deleted" in told) is (given_up == 0)
