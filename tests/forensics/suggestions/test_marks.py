"""Which line tells that the work was done: made-up handlers that log in ways that could mislead."""

import json
import re
from dataclasses import replace
from functools import partial

import pytest

from forensics.parsers.marks import Mark, mark
from forensics.suggestions.keys import business_key, message_id, order, receive_count, with_telling_values
from forensics.suggestions.line_keys import with_key, with_keys_beside, with_keys_told
from forensics.suggestions.marks import marks_of
from forensics.suggestions.model import MESSAGE_ID, Line
from forensics.suggestions.templates import templates_of
from forensics.suggestions.timing import named_lines, placed
from tests.forensics.suggestions.handlers import MS, day, message, run


def found(runs):
    runs = with_telling_values(runs)
    templates = templates_of(runs)
    named = named_lines(runs, templates)
    return marks_of("f", "function", runs, [placed(t, runs, named) for t in templates])


def found_of_worker(runs):
    templates = templates_of(runs)
    named = named_lines(runs, templates)
    return marks_of("w", "worker", runs, [placed(t, runs, named) for t in templates])


def values(marks):
    return {p.kind: p.value for p in marks.proposals}


def processing_then_charged(message, key, count):
    return [(1, f"processing {message}"), (400, f"charged order={key} in 12 ms")]


def test_a_line_before_and_one_after_the_work_are_start_and_effect():
    marks = found(day(processing_then_charged))

    assert values(marks) == {
        "effect": r"charged order=(?P<key>\S+)",
        "effect_is_exhaustive": True,
        "started": r"processing (?P<message_id>\S+)",
    }
    assert marks.cannot_tell == ()


def test_a_line_that_stands_before_the_work_is_no_effect_though_it_stands_once_with_each_message():
    def calling(message, key, count):
        return [(1, f"calling provider for {key}")]

    marks = found(day(calling, size=1, quiet_ms=400))

    assert values(marks) == {"started": r"calling provider for (?P<key>\S+)"}
    (why,) = marks.cannot_tell
    assert "is not proposed as effect: 99" in why and "of a message's time lies behind it" in why


def test_a_line_close_to_the_end_is_no_effect_where_a_run_hung_behind_it():
    """Most of the time passes before the line, and yet the charge comes after it: only the run that hung shows that."""

    def checked_then_calling(message, key, count):
        return [(1, f"begin {message}"), (400, f"calling provider for {key}")]

    runs = day(checked_then_calling, size=1, quiet_ms=20)
    well = found(runs)
    hung = run(10**12, [9_000], checked_then_calling)
    hung.status, hung.ended_at = "timeout", hung.lines[-1].at + 29_000 * MS
    marks = found([*runs, hung])

    assert values(well)["effect"] == r"calling provider for (?P<key>\S+)"
    assert "no run was interrupted, so that only time tells" in well.proposals[0].sentence
    assert "effect" not in values(marks)
    assert any("went on long behind it" in sentence for sentence in marks.cannot_tell)


def test_runs_that_were_cut_off_prove_the_effect_where_they_lack_it():
    cut_off = [
        run((100 + n) * 60_000 * MS, [5_000 + 3 * n + i for i in range(3)], processing_then_charged, cut_in=1)
        for n in range(4)
    ]
    effect = found([*day(processing_then_charged), *cut_off]).proposals[0]

    assert effect.by_cut_off == 4
    assert "in 4 of 4 interrupted runs the message at hand has other lines and not this one" in effect.sentence


def test_a_line_in_place_of_the_effect_with_what_was_done_before_is_the_guard():
    def guarded(message, key, count):
        if count > 1:
            return [(1, f"processing {message}"), (1, f"already charged order={key}")]
        return processing_then_charged(message, key, count)

    runs = [*day(guarded), run(10**12, [0, 1, 2], guarded, count=2)]

    assert values(found(runs))["guard"] == r"already charged order=(?P<key>\S+)"
    assert values(found(runs))["effect"] != values(found(runs))["guard"]


CLOSING = {
    "a failure": ("failed message_id={message}: provider answered 502", False),
    "a failure, in a name": ("charge_failed order={key}", False),
    "an exception": ("RuntimeError exception for order={key}", False),
    "an error by its level": ("[ERROR] provider answered 429 for order={key}, once more", False),
    "what was done": ("charged order={key}", True),
    "what was done, and a field that says nothing failed": ("charged order={key} errors=0", True),
}


@pytest.mark.parametrize(("line", "is_effect"), CLOSING.values(), ids=CLOSING)
def test_a_line_that_closes_the_work_is_its_effect_where_it_tells_of_no_failure(line, is_effect):
    def handled(message, key, count):
        return [(1, f"processing {message}"), (400, line.format(message=message, key=key))]

    assert ("effect" in values(found(day(handled)))) is is_effect


def test_where_all_lines_have_an_errors_level_it_tells_nothing():
    def handled(message, key, count):
        return [(1, f"[ERROR] processing {message}"), (400, f"[ERROR] charged order={key}")]

    assert "effect" in values(found(day(handled)))


def announced(at, numbers, done):
    """Return a run that says of all its messages that it begins them, and then of those ``done`` that they are."""
    made = run(at, numbers, lambda message, key, count: [(0, f"processing {message}")])
    for number in done:
        made.lines.append(Line(made.lines[-1].at + 300 * MS, f"charged {message(number)}"))
    made.ended_at = made.lines[-1].at + 3 * MS
    return made


def test_a_batch_that_is_announced_before_any_of_it_is_worked_on_does_not_close_with_that():
    runs = [announced(n * 60_000 * MS, (2 * n, 2 * n + 1), (2 * n, 2 * n + 1)) for n in range(20)]
    runs.append(announced(20 * 60_000 * MS, (0, 100), (100,)))  # a guard stops a repeat and says nothing

    assert values(found(runs))["effect"] == r"charged (?P<message_id>\S+)"


def test_where_no_message_has_its_lines_to_itself_time_tells_nothing():
    runs = [announced(n * 60_000 * MS, (3 * n, 3 * n + 1, 3 * n + 2), (3 * n, 3 * n + 2, 3 * n + 1)) for n in range(20)]
    for one in runs:
        one.lines.append(Line(one.ended_at, f"closing {one.items[0].message_id}"))
    marks = found(runs)

    assert "effect" not in values(marks)
    assert any("stand among one another" in why for why in marks.cannot_tell)


IN_PLACE = {
    "a repeat, once": ("already charged order={key}", 1, True),
    "a failure, once": ("record failed: {key}: read timed out", 1, False),
    "a failure, of many": ("record failed: {key}: read timed out", 12, False),
    "an error's, whatever it says": ("[ERROR]\t2026-01-05T12:00:00.123Z\tr-1\torder={key} left as it is", 12, False),
    "words that tell nothing, of few": ("order={key} left as it is", 4, False),
    "words that tell nothing, of many": ("order={key} left as it is", 5, True),
    "an error's that says it is a repeat": ("[ERROR]\t2026-01-05T12:00:00.123Z\tr-1\tduplicate order={key}", 1, True),
    "a few times, that it exists": ("invoice of {key} exists", 2, True),
    "a few times, that there is nothing to do": ("order {key}: nothing to do", 2, True),
    "a few times, that it had been done": ("order {key} had been shipped, leaving", 2, True),
    "a few times, that it was done earlier": ("order {key} was shipped earlier", 2, True),
}


@pytest.mark.parametrize(("line", "messages", "is_guard"), IN_PLACE.values(), ids=IN_PLACE)
def test_what_stands_in_place_of_the_effect_is_a_guard_where_it_may_say_so(line, messages, is_guard):
    def stopped(message, key, count):
        return [(1, f"processing {message}"), (1, line.format(key=key))]

    runs = [*day(processing_then_charged), run(10**12, range(messages), stopped, count=2)]

    assert ("guard" in values(found(runs))) is is_guard


def guard_of(form, stopped):
    """Return the guard of a handler that says ``form`` before and after its work, and ``stopped`` of what was done before."""

    def guarded(message, key, count):
        if count > 1:
            return [(1, stopped.format(key=key))]
        told = partial(form.format, level="INFO", key=key)
        return [(1, told(said="begins")), (400, told(said="paid"))]

    return values(found([*day(guarded), run(10**12, [0, 1, 2], guarded, count=2)]))["guard"]


def test_a_guard_is_told_by_what_stands_behind_its_value():
    guard = guard_of("order {key} {said}", "order {key} already paid, skipping")

    assert mark("order ord-7x already paid, skipping", guard).key == "ord-7x"
    assert mark("order ord-7x is late", guard) is None


@pytest.mark.parametrize("logger", ["", "com.acme.OrderListener           : "])
def test_an_effect_is_told_by_what_stands_behind_its_value(logger):
    def handled(message, key, count):
        return [(1, f"{logger}Received message {message}"), (400, f"{logger}Order {key} shipped for Ada in 3 s")]

    def refusing(message, key, count):
        return [(1, f"{logger}Received message {message}"), (400, f"{logger}Order {key} rejected")]

    for runs in (day(handled), [*day(handled), run(10**12, [0, 1], refusing)]):
        effect = values(found(runs))["effect"]

        assert mark(f"{logger}Order ord-7x shipped for Bea", effect).key == "ord-7x"
        assert mark(f"{logger}Order ord-7x rejected", effect) is None


def test_an_effect_fits_no_line_of_another_shape_that_names_nothing_known():
    def handled(message, key, count):
        return [(1, f"Received message {message}"), (1, "not charged stock-7"), (400, f"charged {key}")]

    effect = values(found(day(handled)))["effect"]

    assert mark("charged ord-7x", effect).key == "ord-7x"
    assert mark("not charged stock-7", effect) is None


def test_a_key_behind_the_message_id_keeps_the_words_behind_it():
    def handled(message, key, count):
        return [(1, f"begins {message}"), (400, f"handled {message} order_id={key} and shipped")]

    runs = without_bodies(day(handled))
    marks = found(runs)
    (effect,) = (with_key(p, marks.effect, runs) for p in marks.proposals if p.kind == "effect")

    assert mark(f"handled {message(7)} order_id=ord-7x and shipped", effect.value) == Mark(message(7), "ord-7x")
    assert mark(f"handled {message(7)} order_id=ord-7x but late", effect.value) is None


def test_a_guard_is_told_by_what_a_field_of_json_says_and_not_by_its_level():
    line = '{{"level": "{level}", "msg": "{said}", "order": "{key}"}}'
    stopped = '{{"level": "WARN", "msg": "already paid, skipping", "order": "{key}"}}'
    guard = guard_of(line, stopped)

    assert mark(stopped.format(key="ord-7x"), guard).key == "ord-7x"
    assert mark(line.format(level="WARN", said="is late", key="ord-7x"), guard) is None


def test_a_line_in_place_of_the_effect_with_a_message_seen_first_is_no_guard():
    def sometimes_refused(message, key, count):
        if key.endswith("7x"):
            return [(1, f"processing {message}"), (1, f"refused order={key}")]
        return processing_then_charged(message, key, count)

    assert "guard" not in values(found(day(sometimes_refused)))


def test_what_is_told_of_every_message_but_one_is_not_exhaustive_and_names_the_one():
    runs = day(processing_then_charged)
    runs[3].lines.pop()
    marks = found(runs)
    effect = next(p for p in marks.proposals if p.kind == "effect")

    assert "effect_is_exhaustive" not in values(marks)
    assert (effect.fits, effect.of) == (119, 120)
    assert effect.counter_examples == ("00000000-0000-4000-8000-000000000011 in run run-180000000",)


def test_what_the_function_named_as_failed_needs_no_effect_line():
    runs = day(processing_then_charged)
    for one in runs[::4]:
        one.lines.pop()
        one.named_failures.add(one.items[-1].message_id)
    marks = found(runs)
    effect = next(p for p in marks.proposals if p.kind == "effect")

    assert values(marks)["effect_is_exhaustive"] is True
    assert (effect.fits, effect.of, effect.counter_examples) == (110, 110, ())
    assert "10 messages that the function named in batchItemFailures not counted" in effect.sentence


def test_a_message_that_lacks_the_line_and_was_not_named_as_failed_speaks_against_it():
    runs = day(processing_then_charged)
    for one in runs[::4]:
        one.lines.pop()
        one.named_failures.add(one.items[0].message_id)

    assert "effect" not in values(found(runs))


def test_of_few_messages_nothing_is_proposed():
    marks = found(day(processing_then_charged, batches=1))

    assert marks.proposals == ()
    assert "only 3 messages" in marks.cannot_tell[0]


def test_lines_in_json_give_an_expression_of_the_words_before_the_value():
    def in_json(message, key, count):
        return [
            (1, f'{{"level": "INFO", "msg": "start", "order": "{key}"}}'),
            (400, f'{{"level": "INFO", "msg": "paid", "order": "{key}"}}'),
        ]

    said = values(found(day(in_json)))

    assert '"msg": "paid".*?"order": "(?P<key>' in said["effect"]
    assert '"msg": "start".*?"order": "(?P<key>' in said["started"]


def order_of(runs, marks=None):
    marks = marks or found(runs)
    return order("f", "function", runs, marks.started, marks.effect)


def test_a_batch_taken_in_order_is_sequential_and_one_inversion_makes_it_parallel():
    runs = day(processing_then_charged)
    straight, _ = order_of(runs)
    runs[5].lines[0], runs[5].lines[2] = (
        Line(runs[5].lines[0].at, runs[5].lines[2].text),
        Line(runs[5].lines[2].at, runs[5].lines[0].text),
    )
    crossed, _ = order_of(runs)

    assert (straight.value, straight.of) == ("sequential", 40)
    assert (crossed.value, crossed.fits) == ("parallel", 1)
    assert order("f", "function", runs[:20], None, None) == (None, None)


def test_starts_alone_make_no_order():
    runs = day(processing_then_charged)

    assert order("f", "function", runs, found(runs).started, None) == (None, None)


FEW_RUNS = {
    "of two messages": ({"batches": 29, "size": 2}, 29),
    "of ten messages, too few runs": ({"batches": 4, "size": 10}, 36),
    "of five messages, too few of them": ({"batches": 6, "size": 5}, 24),
}


@pytest.mark.parametrize(("runs", "in_turn"), FEW_RUNS.values(), ids=FEW_RUNS)
def test_too_few_runs_in_order_say_nothing_of_the_order_and_it_is_said_what_would(runs, in_turn):
    proposal, why = order_of(day(processing_then_charged, **runs))

    assert proposal is None
    assert f"{runs['batches']} runs took a batch one message after the other" in why
    assert (
        f"from 30 runs on, or from 5 in which 30 messages were begun when the one before was done (here {in_turn})"
        in why
    )


def test_six_runs_of_ten_messages_show_an_order_that_thirty_of_two_do():
    proposal, why = order_of(day(processing_then_charged, batches=6, size=10))

    assert (proposal.value, proposal.of, why) == ("sequential", 6, None)


def test_without_starts_six_runs_are_too_few_however_many_messages_they_had():
    marks = found(day(processing_then_charged, batches=6, size=10))

    assert order_of(day(processing_then_charged, batches=6, size=10), marks._replace(started=None))[0] is None


def test_the_business_key_is_the_value_that_the_effect_prints():
    runs = day(processing_then_charged)
    key, why = business_key("orders", runs, found(runs).effect)

    assert (key.value, key.fits, why) == ("$.order.id", 120, None)


def test_a_path_that_no_effect_prints_and_no_producer_sends_is_not_proposed():
    runs = day(processing_then_charged)
    key, why = business_key("orders", runs, None)

    assert key is None
    assert "nothing tells which names the work" in why


def test_the_place_of_the_message_id_is_proposed_where_no_word_tells_it():
    def nested(message, key, count):
        return [(1, f'{{"ctx": {{"sqs": "{message}"}}, "m": "go"}}')]

    told = message_id("f", "function", day(nested))

    assert (told.value, told.fits) == ("$.ctx.sqs", 120)


def test_the_place_of_the_message_id_is_not_proposed_where_a_word_tells_it():
    def named(message, key, count):
        return [(1, f'{{"message_id": "{message}", "m": "go"}}')]

    assert message_id("f", "function", day(named)) is None


def shoryuken(message, key, count):
    said = f"2026-11-20T05:00:00Z 71 TID-ox Charge/pay/{message} INFO: "
    return [
        (1, said + "started at 2026-11-20 05:00:00 UTC"),
        (300, f"charged order {key} of 12 EUR"),
        (250, f"{said}completed in: 551 ms"),
    ]


def test_a_frameworks_own_lines_are_no_marks_for_they_are_read_without_any():
    marks = found_of_worker(without_bodies(day(shoryuken, size=1)))

    assert values(marks) == {}
    assert marks.cannot_tell == ("w: no line stands exactly once with each message, so none can be its effect.",)


def test_the_line_between_a_frameworks_own_is_the_effect_of_the_only_message_in_hand():
    marks = found_of_worker(with_keys_beside(without_bodies(day(shoryuken, size=1))))

    assert values(marks) == {"effect": r"charged order (?P<key>\S+)"}


def test_lines_without_an_id_are_of_the_message_that_was_named_last():
    def in_turn(message, key, count):
        return [(1, f"processing {message}"), (300, f"charged order {key} of 12 EUR")]

    marks = found(with_keys_beside(without_bodies(day(in_turn, size=3))))

    assert values(marks) == {
        "effect": r"charged order (?P<key>\S+)",
        "started": r"processing (?P<message_id>\S+)",
    }


def test_lines_of_messages_that_are_worked_on_side_by_side_are_nobodys():
    runs = without_bodies(
        day(lambda message, key, count: [(1, f"processing {message}"), (300, f"charged order {key}")])
    )
    for one in runs:
        one.lines.sort(key=lambda line: "charged" in line.text)

    assert with_keys_beside(runs) == runs


def test_a_key_that_is_the_same_in_all_messages_is_nobodys():
    def same(message, key, count):
        return [(1, f"processing {message}"), (300, "charged order 4711 of 12 EUR")]

    runs = without_bodies(day(same, size=1))

    assert with_keys_beside(runs) == runs


def test_lines_tagged_with_the_jobs_id_differ_in_what_they_say_behind_the_tag():
    def tagged(message, key, count):
        tag = f"[ChargeJob] [{message}]"
        return [(1, f"{tag} asking the bank"), (300, f"{tag} charged order {key}"), (2, f"{tag} bye")]

    marks = found_of_worker(without_bodies(day(tagged, size=1)))

    assert values(marks)["effect"] == r"ChargeJob\] \[(?P<message_id>[\w.@+-]+)\] bye"
    assert values(marks)["started"] == r"ChargeJob\] \[(?P<message_id>[\w.@+-]+)\] asking the bank"


def told_by_its_start(message, key, count):
    return [(1, f"processing {message} order_id={key}"), (400, f"charged {key} txn_id=tx-{hash(message) % 10**9}")]


def test_a_key_that_the_start_alone_links_to_its_message_names_the_effect():
    marks = found(with_keys_told(without_bodies(day(told_by_its_start))))

    assert values(marks)["effect"] == r"charged (?P<key>\S+)"
    assert "effect_is_exhaustive" not in values(marks), "where the start is lost, so is what links the two"


def test_a_start_that_tells_the_key_links_it_where_messages_are_worked_on_side_by_side():
    runs = without_bodies(day(told_by_its_start))
    for one in runs:
        begun, done = one.lines[::2], one.lines[1::2]
        one.lines = [
            Line(one.started_at + (1 + n + 400 * (n > 2)) * MS, line.text)
            for n, line in enumerate([*begun, *done[::-1]])
        ]
        one.ended_at = one.lines[-1].at + 3 * MS
    told = with_keys_told(runs)
    marks = found(told)
    (start,) = (with_key(p, marks.started, told, is_known=True) for p in marks.proposals if p.kind == "started")

    assert mark(f"processing {message(7)} order_id=ord-7x", start.value) == Mark(message(7), "ord-7x")


def test_a_key_that_no_line_has_without_its_message_links_nothing():
    def always_named(message, key, count):
        return [(1, f"processing {message} order_id={key}"), (400, "charged 12 EUR")]

    runs = without_bodies(day(always_named))

    assert with_keys_told(runs) == runs


def test_of_two_keys_that_stand_alone_nothing_tells_which_is_the_works():
    def by_both(message, key, count):
        return [
            (1, f"processing {message} order_id={key} invoice={key}-9"),
            (400, f"charged {key}"),
            (2, f"sent {key}-9"),
        ]

    runs = without_bodies(day(by_both))

    assert with_keys_told(runs) == runs


def without_bodies(runs):
    """Leave of each item its message id alone."""
    for one in runs:
        one.items = [replace(item, values={item.message_id: MESSAGE_ID}) for item in one.items]
    return runs


def test_a_line_that_says_it_before_a_bracket_is_one_whatever_stands_behind():
    def says(message, key, count):
        name = ["Ada", "Bea", "Cleo", "Dora"][int(message[-2:]) % 4]
        return [
            (1, f"begins [message_id={message}] of {name}"),
            (400, f"charged [message_id={message}] of {name}"),
        ]

    said = values(found(without_bodies(day(says))))

    assert mark(f"charged [message_id={message(7)}] of Zoe", said["effect"]).message_id == message(7)


HOSTS = ("w-a", "w-b", "w-c")
HOSTS_TOLD = {
    "a field of JSON": '{{"level":"info","event":"{event}","host":"{host}","message_id":"{id}"}}',
    "name and value": 'level=info host={host} event="{event}" id={id}',
    "a tag": "INFO [{host}] orders.worker: {event} {id}",
    "an object behind columns": '2026-11-20T09:00:12.747Z\tINFO\tmain.go\t{event}\t{{"host": "{host}", "message_id": "{id}"}}',
    "a span": "INFO handle{{message_id={id} host={host}}}: orders::worker: {event}",
}
"""Ways to tell the host of a line."""


@pytest.mark.parametrize("told", HOSTS_TOLD.values(), ids=HOSTS_TOLD)
def test_lines_that_differ_in_their_host_alone_are_one(told):
    def handled(message, key, count):
        host = HOSTS[int(message[-3:]) % 3]
        return [(ms, told.format(event=event, host=host, id=message)) for ms, event in EVENTS]

    marks = values(found(day(handled)))

    assert marks["effect_is_exhaustive"] is True
    for host in HOSTS:
        received, charged = (told.format(event=event, host=host, id=message(7)) for _, event in EVENTS)
        assert mark(charged, marks["effect"]).message_id == message(7)
        assert mark(received, marks["started"]).message_id == message(7)
        assert mark(received, marks["effect"]) is None


EVENTS = ((1, "order received"), (400, "order charged"))


def test_a_cold_start_makes_no_other_line():
    def handled(message, key, count):
        is_cold = int(message[-3:]) // 3 % 4 == 0  # of a whole batch
        fields = {"level": "INFO", "message_id": message, "cold_start": is_cold, "service": "pay"}
        return [(ms, json.dumps({**fields, "message": event})) for ms, event in EVENTS]

    marks = found(day(handled))

    assert {p.kind: p.fits for p in marks.proposals} == {"effect": 120, "effect_is_exhaustive": 120, "started": 120}


def test_a_field_with_as_many_values_as_messages_makes_no_line_of_each():
    def handled(message, key, count):
        customer = "".join(map(chr, (97 + int(n) for n in message[-4:]))).title() + " Ltd"
        return [(1, f"begin {message}"), (400, json.dumps({"customer": customer, "event": "charged", "id": message}))]

    marks = values(found(day(handled)))

    assert mark('{"customer": "Acme of Ely", "event": "charged", "id": "x-1"}', marks["effect"]).message_id == "x-1"


@pytest.mark.parametrize(
    "begun", ['{{"message": "begun", "id": "{id}", "for": "{customer}"}}', "begun {id} customer={customer}"]
)
def test_whom_it_is_for_is_passed_over_where_one_line_of_each_handling_tells_it(begun):
    def handled(message, key, count):
        customer = chr(97 + int(message[-3:]) % 13) * 4
        return [(1, begun.format(id=message, customer=customer)), (400, f"charged order {message}")]

    marks = values(found(day(handled)))

    assert mark(begun.format(id="x-1", customer="nobody"), marks["started"]).message_id == "x-1"


def test_what_happened_is_kept_however_many_kinds_of_it_there_are():
    def handled(message, key, count):
        steps = [f"step {chr(97 + n) * 3} of it" for n in range(14)]
        return [(30, json.dumps({"event": event, "id": message})) for event in ("order begun", *steps, "order charged")]

    marks = values(found(day(handled)))

    assert mark('{"event": "order charged", "id": "x-1"}', marks["effect"]).message_id == "x-1"
    assert mark('{"event": "step aaa of it", "id": "x-1"}', marks["effect"]) is None


def test_a_field_that_tells_how_it_went_keeps_two_lines_apart():
    """It stands on one line of each handling, so nothing tells it from a host but that it has few values."""

    def handled(message, key, count):
        outcome = "duplicate" if count > 1 else "charged"
        return [(1, f"begin {message}"), (400, json.dumps({"outcome": outcome, "id": message}))]

    runs = [run(n * 60_000 * MS, [n // 2], handled, count=1 + n % 2) for n in range(80)]
    marks = values(found(runs))

    assert mark('{"outcome": "charged", "id": "x-1"}', marks["effect"])
    assert not mark('{"outcome": "duplicate", "id": "x-1"}', marks["effect"])
    assert mark('{"outcome": "duplicate", "id": "x-1"}', marks["guard"])


@pytest.mark.parametrize(
    "word",
    ["receive count {}", "(receive {})", "receive #{}", "delivery={}", "receive_number: {}", r"\"receive_count\":{},"],
)
def test_a_number_beside_a_word_for_a_receive_that_goes_up_as_a_message_comes_again_is_the_receive_count(word):
    def handled(message, key, count):
        return [(1, f"begin {message} {word.format(count)}"), (400, f"charged {message}")]

    runs = [*day(handled), run(10**12, [7], handled, count=2)]
    told = receive_count("f", "function", runs, found(runs).started)

    assert re.search(told.value, f"begin x {word.format(3)}")["receive_count"] == "3"


def test_a_number_beside_a_word_for_a_receive_that_stays_is_no_receive_count():
    def handled(message, key, count):
        return [(1, f"begin {message} received 1 message"), (400, f"charged {message}")]

    runs = [*day(handled), run(10**12, [7], handled, count=2)]

    assert receive_count("f", "function", runs, found(runs).started) is None
