"""How a consumer's lines tell the receive count, also where a message's first handling left no line of it."""

from dataclasses import replace

import pytest

from forensics.parsers.marks import mark_pattern
from forensics.settings import Settings
from forensics.suggestions import settings_text
from forensics.suggestions.keys import receive_count
from tests.forensics.suggestions.handlers import day, run
from tests.forensics.suggestions.test_marks import found

WORDS = {
    "Java": '"receiveCount":"{}"',
    "dotnet": '"receive_count":"{}"',
    "Ruby": "receive_count={}",
    "a sentence": "(receive count {})",
    "twice in a line": '"span":{{"receive_count":"{0}"}},"spans":[{{"receive_count":"{0}"}}]',
    "a terminal's colours": "\x1b[3mreceive_count\x1b[0m\x1b[2m=\x1b[0m{}\x1b[1m}}\x1b[0m",
    "a terminal's colours, with quotes": '\x1b[3mreceive_count\x1b[0m\x1b[2m=\x1b[0m"{}"',
}


def handler(word):
    def says(message_id, key, count):
        return [(1, f"charging {message_id} {word.format(count)}"), (400, f"charged order={key}")]

    return says


def told_of(runs):
    return receive_count("f", "function", runs, found(runs).started)


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_messages_that_a_batchs_timeout_left_no_line_of_do_not_hide_a_count_that_is_named(word):
    """Of three messages in a batch that ran into its timeout the later two have lines of their second handling alone."""
    says = handler(word)
    cut_off = [run((100 + n) * 60_000_000, [900 + 3 * n], says, 1, 0) for n in range(3)]
    again = [run((200 + n) * 60_000_000, range(900 + 3 * n, 903 + 3 * n), says, 2) for n in range(3)]
    told = told_of([*day(says), *cut_off, *again])
    written = Settings.parse(settings_text("", [told])).functions[0]

    assert mark_pattern(written.receive_count).find(word.format(2), "receive_count") == "2"


@pytest.mark.parametrize(("index", "is_told"), [(2, True), (None, False)], ids=["a later delivery", "not known which"])
def test_a_word_that_names_no_count_is_one_where_each_message_is_known_to_begin(index, is_told):
    says = handler("[receive {}]")
    again = run(10**13, range(900, 920), says, 2)
    again.items = [replace(item, delivery_index=index) for item in again.items]
    came_back = [run(10**12 + at, [1], says, count) for at, count in ((0, 2), (10**9, 3))]

    assert (told_of([*day(says), *came_back, again]) is not None) == is_told


def test_a_named_count_that_most_messages_do_not_begin_with_is_none():
    says = handler("receive_count={}")
    late = [run(10**13 + n * 10**9, [900 + n], says, 5) for n in range(150)]

    assert told_of([*day(says), run(10**12, [1], says, 2), *late]) is None
