"""Message ids that an application line names, whatever its writer puts between the word and the id."""

import pytest

from forensics.parsers.mentions import is_taking, mentions

ID = "861bec95-b670-4f2a-acf9-19d5bdd7cbe5"
RUST = (
    "\x1b[32m INFO\x1b[0m \x1b[1mLambda runtime invoke\x1b[0m\x1b[1m{\x1b[0m\x1b[3mrequestId\x1b[0m\x1b[2m=\x1b[0m"
    '"9f294aed-ba7e-49fe-a1b9-9a7ad6313712"\x1b[1m}\x1b[0m\x1b[2m:\x1b[0m processing \x1b[3mmessage_id\x1b[0m\x1b[2m=\x1b[0m'
)
NAMED = {
    "in words": f"Processing message {ID}",
    "in a field of JSON": f'{{"sqs_message_id": "{ID}"}}',
    "in a field whose name, sign and value have colours of their own": f'{RUST}"{ID}"',
    "in a field with a coloured value": f"message_id=\x1b[38;5;208m{ID}\x1b[0m",
    "coloured as a whole": f"Processing message \x1b[1;33m{ID}\x1b[0m",
}
NOT_NAMED = {
    "by a number of its own": f"message 5 {ID}",
    "by a letter that no colour has": f"message [1n {ID}",
    "by another field's name": f"message \x1b[3mtrace\x1b[0m={ID}",
}


@pytest.mark.parametrize("line", NAMED.values(), ids=NAMED)
def test_an_id_behind_a_word_for_messages_is_named(line):
    assert mentions(line) == [ID]


@pytest.mark.parametrize("line", NOT_NAMED.values(), ids=NOT_NAMED)
def test_what_parts_the_word_from_the_id_is_no_sign(line):
    assert mentions(line) is None


def test_a_coloured_line_says_that_the_message_is_in_hand():
    assert is_taking(f'{RUST}"{ID}"')
