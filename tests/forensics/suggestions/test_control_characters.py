"""Colours, other control characters and words of a time in a consumer's lines: expressions pass over them, and are written as TOML."""

from dataclasses import replace
from itertools import chain

import pytest

from forensics.parsers.marks import mark
from forensics.settings import Settings
from forensics.suggestions import Proposal, settings_text
from tests.forensics.suggestions.handlers import day, message
from tests.forensics.suggestions.test_marks import found_of_worker, values

EFFECT = Proposal("worker", "w", "effect", r"charged (?P<message_id>\S+)", 99, 100, "messages", "it closes the work")
CONTROL = [*map(chr, chain(range(32), range(127, 160))), "\u2028", "\u00a0", "\ufeff"]
NEST = "\x1b[32m[Nest] 18  - \x1b[39m11/20/2026, {at} \x1b[32m    LOG\x1b[39m \x1b[38;5;3m[Charges] \x1b[39m\x1b[32m{said}\x1b[39m"


def written(proposals):
    """Return the worker's section of a settings file that has some proposals."""
    return Settings.parse(settings_text("", proposals)).workers[0]


def in_turn(form):
    def says(message_id, key, count):
        return [(1, form.format(f"processing {message_id} now")), (400, form.format(f"charged {key} for {message_id}"))]

    return says


@pytest.mark.slow
@pytest.mark.parametrize("character", CONTROL, ids=[f"U+{ord(c):04X}" for c in CONTROL])
@pytest.mark.parametrize("form", ["a{c}b {{}}", "{c}{{}}", "{{}}{c}", "[{c}app{c}] {{}} {c}"])
def test_whatever_character_is_in_the_lines_their_marks_can_be_written_and_found(character, form):
    runs = day(in_turn(form.format(c=character)), size=1)
    proposals = found_of_worker(runs).proposals
    kinds = {p.kind: p for p in proposals}
    settings = written(proposals)

    assert settings.started == kinds["started"].value and settings.effect == kinds["effect"].value
    assert mark(runs[7].lines[0].text, settings.started).message_id == message(7)


@pytest.mark.parametrize("character", CONTROL, ids=[f"U+{ord(c):04X}" for c in CONTROL])
def test_whatever_character_a_proposal_has_is_read_back_as_it_was(character):
    odd = replace(EFFECT, value=rf"a{character}b\S (?P<message_id>x)", sentence=f"why{character}so")

    assert written([odd]).effect == odd.value


def test_expressions_pass_over_the_colours_of_a_terminal():
    def says(message_id, key, count):
        told = f"Processing message {message_id} (1)", f"Charged order {key} (message {message_id})"
        return [(ms, NEST.format(at="5:00:13 AM", said=said)) for ms, said in zip((1, 400), told, strict=True)]

    told = values(found_of_worker(day(says, size=1)))

    assert told["started"] == r"Processing message (?P<message_id>\S+)"
    assert told["effect"] == r"Charged order \S+? \(message (?P<message_id>[\w.@+-]+)"


def test_an_id_in_a_colour_of_its_own_is_found():
    def says(message_id, key, count):
        return [
            (1, f"processing \x1b[33m{message_id}\x1b[0m"),
            (400, f"\x1b[1mcharged\x1b[0m \x1b[33m{message_id}\x1b[0m"),
        ]

    told = values(found_of_worker(day(says, size=1)))

    for kind, line in zip(("started", "effect"), says(message(7), "", 1), strict=True):
        assert mark(line[1], told[kind]).message_id == message(7)


TIMES = {
    "before noon and after": ("5:00:13 AM", "1:07:40 PM"),
    "with dots": ("5:00:13 a.m.", "1:07:40 p.m."),
    "in Japanese": ("午前5:00:13", "午後1:07:40"),
    "winter and summer": ("05:00:13 CET", "05:00:13 CEST"),
    "one month and the next": ("Nov 20, 2026 05:00:13", "Dec 1, 2026 05:00:13"),
    "a day of the week": ("Fri Nov 20 05:00:13", "Tue Dec 1 05:00:13"),
    "day before month": ("20 Nov 2026 05:00:13", "1 Dec 2026 05:00:13"),
}


@pytest.mark.parametrize(("seen", "later"), TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("form", ["{at}     LOG [Charges] {said}", "[{at}] LOG {said}", "{at} {said}"])
def test_no_word_of_a_time_is_part_of_an_expression(form, seen, later):
    def says(message_id, key, count, at=seen):
        return [
            (1, form.format(at=at, said=f"begun {message_id}")),
            (400, form.format(at=at, said=f"{message_id} paid")),
        ]

    told = values(found_of_worker(day(says, size=1)))

    for kind, (_, line) in zip(("started", "effect"), says(message(7), "", 1, later), strict=True):
        assert mark(line, told[kind]).message_id == message(7)


def test_an_expression_begins_with_a_word_and_not_with_what_changes_before_it():
    """A colour, a time and a process id have many places in a line of many fields: each would be tried with each of the others."""

    def says(message_id, key, count):
        def line(said):
            fields = f"\x1b[3mmessage_id\x1b[0m\x1b[2m=\x1b[0m{message_id} \x1b[3mattempt\x1b[0m\x1b[2m=\x1b[0m{count}"
            return f"\x1b[2m2026-11-20T05:00:0{key[-2]}.123456Z\x1b[0m \x1b[32m INFO\x1b[0m pay\x1b[1m{{\x1b[0m{fields}\x1b[1m}}\x1b[0m: {said}"

        return [(1, line("processing")), (400, line("charged card"))]

    told = values(found_of_worker(day(says, size=1)))

    assert told["effect"].startswith("INFO") and told["started"].startswith("INFO")
