"""Lines that begin alike and end otherwise: which are one saying, which are two, and what is proposed of messages that end in several ways."""

from itertools import product

import pytest

from forensics.errors import SettingsError
from forensics.parsers.marks import mark
from forensics.suggestions.keys import with_telling_values
from forensics.suggestions.templates import templates_of
from forensics.suggestions.wording import free_words
from forensics.suggestions.written import settings_text
from tests.forensics.suggestions.handlers import day, run
from tests.forensics.suggestions.test_marks import found, values

NAMES = [
    first + last
    for first, last in product(
        ["Ad", "Be", "Cle", "Dor", "El", "Fer", "Gus", "Hel", "Iv", "Jon"], ["a", "an", "ette", "ina"]
    )
]
GOODS = [f"{name.lower()}ish {name.lower()}ware" for name in NAMES]
COLOURS = [
    f"{colour} {what}"
    for colour, what in product(("red", "blue", "oak", "tin"), ["lamp", "chair", "vase", "bowl", "clock"])
]


def day_of(form, outcome_of, batches=40):
    """Return runs whose messages end with a line of ``form``, after work; ``outcome_of`` tells the outcome of each number."""

    def handled(message, key, count):
        number = int(message[-6:])
        filled = {"key": key, "n": number, "name": NAMES[number % len(NAMES)], "good": GOODS[number % len(GOODS)]}
        line = form.format(outcome=outcome_of(number), **filled)
        return [(1, f"Received message {message}"), (400, line)]

    return day(handled, batches=batches)


def line(form, outcome, key="ord-7x", name="Zoe", good="pink sofa"):
    return form.format(outcome=outcome, key=key, name=name, good=good, n=7)


APART = {
    "one word before the key": "Order {key} {outcome}",
    "two words before the key": "got order {key} {outcome}",
    "words before the key alone": "{outcome} order {key}",
    "between two words before the key": "order {outcome}: {key}",
    "behind a comma": "handled order {key}, {outcome}",
    "behind an arrow": "handled order {key} -> {outcome}",
    "in brackets": "handled order {key} ({outcome})",
    "behind a number": "got order {key} of 3 items {outcome}",
    "behind a duration": "got order {key} in {n} ms: {outcome}",
    "behind whom it was for": "got order {key} for {name} {outcome}",
    "behind a name": "got order {key} {name} {outcome}",
    "behind two words of a product": "got order {key} {good} {outcome}",
    "before a name": "got order {key} {outcome} {name}",
    "before a product": "got order {key} {outcome} {good}",
    "the value of a field that tells it": "processed order id={key} status={outcome}",
    "the value of such a field behind others": "processed order id={key} shop={name} amount={n} status={outcome}",
    "behind a logger's name": "com.acme.OrderListener : got order {key} {outcome}",
    "a field of JSON": '{{"order": "{key}", "msg": "{outcome}"}}',
}
SHARES = {"one in three": 3, "one in forty": 40}


@pytest.mark.parametrize("every", SHARES.values(), ids=SHARES)
@pytest.mark.parametrize("form", APART.values(), ids=APART)
def test_a_rejection_is_not_the_effect_of_lines_that_differ_in_the_outcome_alone(form, every):
    marks = found(day_of(form, lambda n: "shipped" if n % every else "rejected"))
    (effect,) = [p for p in marks.proposals if p.kind == "effect"]

    assert mark(line(form, "shipped"), effect.value).key == "ord-7x"
    assert mark(line(form, "rejected"), effect.value) is None
    assert effect.fits == sum(n % every > 0 for n in range(120))
    assert not effect.is_rival
    assert all("rejected" not in example for example in effect.examples)


ONE = {
    "a name": "got order {key} {name}",
    "a name behind what is said": "Order {key} shipped {name}",
    "a name before what all say": "got order {key} {name} {outcome}",
    "a product of two words": "got order {key} {good}",
    "whom it was for": "got order {key} for {name}",
    "a number": "got order {key} of {n} items",
    "a time": "got order {key} at 2026-11-20T05:00:{n:02}Z",
    "the value of a field": "got order {key} shop={name}",
    "the value of a field in quotes": 'got order {key} good="{good}"',
}


@pytest.mark.parametrize("form", ONE.values(), ids=ONE)
def test_what_fills_a_template_makes_no_line_of_each(form):
    effects = [p for p in found(day_of(form, lambda _: "shipped")).proposals if p.kind == "effect"]

    assert [(p.fits, p.of) for p in effects] == [(120, 120)]
    assert mark(line(form, "shipped"), effects[0].value).key == "ord-7x"


def test_what_all_lines_say_behind_what_fills_them_stands_in_the_expression():
    effect = values(found(day_of("got order {key} {name} shipped", lambda _: "")))["effect"]

    assert mark("got order ord-7x Zoe shipped", effect).key == "ord-7x"
    assert mark("got order ord-7x Zoe is late", effect) is None


def test_words_that_few_products_share_are_a_few_proposals_of_which_people_choose():
    """Nothing tells "red lamp" from "shipped lamp" where four colours are as many as ways to end."""
    effects = [
        p for p in found(day_of("got order {key} {outcome}", lambda n: COLOURS[n % 20])).proposals if p.kind == "effect"
    ]

    assert [(p.fits, p.of, p.is_rival) for p in effects] == [(30, 120, True)] * 4


FEW = ("widget", "gadget", "gizmo", "doohickey")
FILLED = {
    "what was done, and with what, before the key": ("shipped {outcome} for order {key}", FEW),
    "directly before the key": ("shipped {outcome} order={key}", FEW),
    "of two words": ("shipped {outcome} for order {key}", COLOURS),
    "behind the key": ("shipped order {key} {outcome}", FEW),
    "behind the key and what was done": ("order {key}: shipped {outcome}", FEW),
    "in a field of JSON that tells what was done": ('{{"msg": "shipped {outcome}", "order": "{key}"}}', FEW),
    "in the text of a JSON line": ('{{"level": "info", "msg": "shipped {outcome} for order {key}"}}', FEW),
    "behind a logger's name": ("com.acme.OrderListener : shipped {outcome} for order {key}", FEW),
    "a few who did it": ("{outcome} charged order={key}", ("alice", "bob", "carol")),
    "a few hosts": ("{outcome} charged order={key}", ("web-a", "web-b")),
    "a few who did no more than handle it": ("{outcome} processed order {key}", ("alice", "bob", "carol")),
    "many who did it": ("{name} charged order={key}", ("",)),
    "many of two names": ("{good} charged order={key}", ("",)),
    "many, in a field of JSON behind the key": ('{{"order": "{key}", "msg": "{name} wants it"}}', ("",)),
    "few of some of two words": ("shipped {outcome} for order {key}", ("red lamp", "blue lamp", "blue vase", "widget")),
    "many, in a field of JSON": ('{{"msg": "{name} charged it", "order": "{key}"}}', ("",)),
    "many, of whom some have names like what was done": ("{name}{outcome} charged order={key}", ("", "", "ed")),
    "many whose line tells no work": ("{name} wants order {key}", ("",)),
    "who did it, and with what": ("{name} shipped {outcome} for order {key}", FEW),
}


@pytest.mark.parametrize(("form", "words"), FILLED.values(), ids=FILLED)
def test_a_word_that_fills_what_a_line_says_was_done_makes_no_line_of_each(form, words):
    marks = found(day_of(form, lambda n: words[n % len(words)]))
    (effect,) = [p for p in marks.proposals if p.kind == "effect"]

    assert (effect.fits, effect.of, effect.is_rival) == (120, 120, False)
    assert mark(line(form, words[0]), effect.value).key == "ord-7x"


def test_what_a_line_says_was_done_stands_in_its_expression_before_the_words_that_fill_it():
    effect = values(found(day_of("shipped {outcome} for order {key}", lambda n: FEW[n % 4])))["effect"]

    assert effect == r"shipped \S+? for order (?P<key>\S+)"
    assert mark("shipped sprocket for order ord-7x", effect).key == "ord-7x"
    assert mark("weighed widget for order ord-7x", effect) is None


RIVALS = {
    "nothing says that it was done": ("got {outcome} order {key}", FEW[:2]),
    "a general word, and no more, says so": ("processed order {key} {outcome}", FEW[:2]),
    "a general word before them": ("processed {outcome} order {key}", FEW[:2]),
    "it is still to be done": ("scheduled {outcome} for order {key}", FEW[:2]),
    "it begins": ("received {outcome} for order {key}", FEW[:2]),
    "many words are around it": ("of all that " + "we ever had " * 8 + "shipped {outcome} for order {key}", FEW[:2]),
    "what was done differs": ("{outcome} order {key}", ("shipped", "backordered")),
    "how far it was done": ("shipped {outcome} order {key}", ("partial", "full")),
    "whether anything was": ("shipped {outcome} for order {key}", ("widget", "nothing")),
    "behind a colon": ("charged order {key}: {outcome}", FEW[:2]),
    "behind an arrow": ("charged order {key} -> {outcome}", FEW[:2]),
    "in brackets": ("charged order {key} ({outcome})", FEW[:2]),
}


@pytest.mark.parametrize(("form", "words"), RIVALS.values(), ids=RIVALS)
def test_a_word_that_may_say_how_work_ended_makes_a_line_of_its_own(form, words):
    effects = [p for p in found(day_of(form, lambda n: words[n % 2])).proposals if p.kind == "effect"]

    assert [(p.fits, p.of, p.is_rival) for p in effects] == [(60, 120, True)] * 2


def test_one_word_that_may_say_how_work_ended_keeps_all_in_its_place_apart():
    words = ("widget", "gadget", "nothing")
    effects = [
        p
        for p in found(day_of("shipped {outcome} for order {key}", lambda n: words[n % 3])).proposals
        if p.kind == "effect"
    ]

    assert [(p.fits, p.is_rival) for p in effects] == [(40, True)] * 3


def test_names_and_nothing_else_are_too_many_to_tell():
    assert "too many to tell" in found(day_of("{name} {key}", lambda _: "")).cannot_tell[0]


def test_a_guard_s_line_is_one_too_whatever_fills_it():
    def handled(message, key, count):
        word = FEW[int(message[-6:]) % 4]
        told = f"duplicate {word} of order {key}" if count > 1 else f"packed {word} of order {key}"
        return [(1, f"Received message {message}"), (400, told)]

    marks = found([*day(handled), run(10**12, range(12), handled, count=2)])

    assert {(p.kind, p.fits, p.of) for p in marks.proposals} >= {("effect", 120, 120), ("guard", 12, 12)}


def test_many_ways_in_which_work_ends_are_too_many_to_tell():
    ends = [f"{name.lower()}ed" for name in NAMES]
    marks = found(day_of("{outcome} order {key}", lambda n: ends[n % len(ends)]))

    assert not [p for p in marks.proposals if p.kind == "effect"]
    assert f"a message's work ends in {len(NAMES)} different lines, too many to tell" in marks.cannot_tell[0]


def test_a_refusal_beside_many_names_is_none_of_them():
    marks = found(
        day_of("{outcome} charged order={key} now", lambda n: NAMES[n % 40] if n % 4 else "already"),
    )

    assert all(mark("already charged order=ord-7x now", p.value) is None for p in marks.proposals if p.kind == "effect")


@pytest.mark.parametrize("words", [("card", "fee"), NAMES[:12]], ids=["two", "many"])
def test_lines_of_which_each_message_has_several_are_steps_and_not_one_line(words):
    def handled(message, key, count):
        turn = int(message[-6:]) % len(words)
        in_turn = [*words[turn:], *words[:turn]]
        return [(1, f"Received message {message}"), *((1, f"charged {word} for order {key}") for word in in_turn)]

    runs = with_telling_values(day(handled))
    told = [t.expression for t in templates_of(runs) if "charged" in t.expression]

    assert sorted(told) == sorted(rf"charged {word} for order (?P<key>\S+)" for word in words)


@pytest.mark.parametrize("first", [("widget", "gadget"), [name.lower() for name in NAMES]], ids=["few", "many"])
def test_a_word_that_only_repeats_have_is_the_guards(first):
    def handled(message, key, count):
        word = "spare" if count > 1 else first[int(message[-6:]) % len(first)]
        return [(1, f"Received message {message}"), (400, f"shipped {word} for order {key} today")]

    marks = found([*day(handled), run(10**12, range(12), handled, count=2)])

    assert not any(mark("shipped spare for order ord-7x today", p.value) for p in marks.proposals if p.kind == "effect")


WAYS = {
    "behind the key": "got order {key} {outcome}",
    "before the key": "{outcome} order {key}",
}


@pytest.mark.parametrize("form", WAYS.values(), ids=WAYS)
def test_each_way_in_which_work_ends_is_its_own_proposal_with_its_lines(form):
    outcomes = ("shipped", "backordered", "shipped", "rejected")
    marks = found(day_of(form, lambda n: outcomes[n % 4]))
    effects = {p.examples[0]: p for p in marks.proposals if p.kind == "effect"}

    assert {text: (p.fits, p.of, p.is_rival) for text, p in effects.items()} == {
        line(form, "shipped", "ord-0x"): (60, 120, True),
        line(form, "backordered", "ord-1x"): (30, 120, True),
    }
    for (text, effect), (other, _) in zip(effects.items(), [*effects.items()][::-1], strict=True):
        assert mark(text, effect.value) and not mark(other, effect.value)
    assert any(
        f"{line(form, 'rejected', 'ord-3x')!r} closes 30 of 120 messages and is not proposed as effect" in why
        for why in marks.cannot_tell
    )
    assert "effect_is_exhaustive" not in values(marks)


def test_a_refusal_that_takes_no_time_is_a_way_to_end_too():
    def handled(message, key, count):
        begun = (1, f"Received message {message}")
        return [begun, (400, f"got order {key} shipped") if int(message[-6:]) % 3 else (1, f"got order {key} rejected")]

    (effect,) = [p for p in found(day(handled)).proposals if p.kind == "effect"]

    assert (effect.fits, effect.of) == (80, 120)
    assert mark("got order ord-7x rejected", effect.value) is None


def test_a_guard_is_told_apart_from_the_ways_to_end_and_from_the_effect():
    def handled(message, key, count):
        told = "was done before" if count > 1 else ("shipped", "backordered")[int(message[-6:]) % 2]
        return [(1, f"Received message {message}"), (400, f"got order {key} {told}")]

    marks = found([*day(handled), run(10**12, range(12), handled, count=2)])
    told = {(p.kind, p.fits, p.of) for p in marks.proposals}

    assert told >= {("effect", 60, 120), ("guard", 12, 12)}
    assert mark("got order ord-7x was done before", values(marks)["guard"]).key == "ord-7x"


def test_lines_that_part_of_the_messages_lack_are_no_ways_to_end():
    half = found(
        list(day_of("got order {key} {outcome}", lambda n: ("shipped", "backordered")[n % 2]))
        + [run(10**12 + n, [900 + n], lambda message, *_: [(400, f"Received message {message}")]) for n in range(60)]
    )

    assert not [p for p in half.proposals if p.kind == "effect"]


def test_what_says_that_nothing_was_done_is_kept_however_rare_it_is():
    names = [(name,) for name in NAMES for _ in range(3)]

    assert "rejected" not in free_words([*names, ("rejected",)])
    assert "rejected" not in free_words([("rejected",)])
    assert {name for (name,) in names} == free_words(names)


def test_rivals_for_one_key_are_not_written():
    marks = found(day_of("got order {key} {outcome}", lambda n: ("shipped", "backordered")[n % 2]))
    first, second = (p for p in marks.proposals if p.kind == "effect")

    assert first.value in settings_text("", [first])
    with pytest.raises(SettingsError, match="2 lines that may be its effect"):
        settings_text("", [first, second])
