"""What guards did in an incident, in few lines."""

from forensics.report.guards import NOTHING_SAID, GuardNote, guard_notes

EXPIRED = "Its record in the table done expired at {} UTC."


def works(*sentences):
    return [{"guard_sentence": said} for said in sentences]


def test_sentences_that_differ_in_numbers_alone_are_one_note_with_the_first_of_them():
    notes = guard_notes(works(EXPIRED.format("2026-11-20 12:00:00.000"), EXPIRED.format("2026-11-20 12:07:01.250")))

    assert notes == [GuardNote(2, EXPIRED.format("2026-11-20 12:00:00.000"), False)]


def test_what_most_works_tell_comes_first_and_the_rest_in_the_works_order():
    told = guard_notes(works("c.", "b.", "a.", "b."))

    assert told == [GuardNote(2, "b.", True), GuardNote(1, "c.", True), GuardNote(1, "a.", True)]


def test_works_of_which_nothing_tells_a_guard_are_left_out():
    assert guard_notes(works(NOTHING_SAID, None, "")) == []
