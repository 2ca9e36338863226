"""Names and values that a line tells of a piece of work, and those that are another thing's."""

import pytest

from forensics.suggestions.line_keys import keys_told, works_named

TOLD = {
    "a word before a name that says of which work it is": ("refund id 7041", ["id"]),
    "the id of a trace": ("last trace id 7041", []),
    "the key of a session, in capitals": ("SESSION KEY 7041", []),
    "a customer's number": ("for customer no 7041", []),
    "an order beside its customer": ("for customer order 7041", ["order"]),
    "an id in a word that only ends like another thing's": ("backtrace id 7041", ["id"]),
}


@pytest.mark.parametrize(("line", "names"), TOLD.values(), ids=TOLD)
def test_what_names_a_piece_of_work(line, names):
    assert [name for name, _, _ in works_named(line)] == names


def test_an_extensions_trace_ids_are_no_keys_of_messages():
    lines = [(f"message {number}", [f"flushing traces, last trace id {93_000 + number}"]) for number in range(20)]

    assert keys_told(lines) == [None] * 20
