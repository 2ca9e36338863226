"""Workers whose own words name messages: what stands between the lines of one is of its work, too, where no other's lie over them."""

import pytest

from forensics.parsers.marks import mark
from tests.forensics.suggestions.test_nameless import WORKER, an_id, lake_of, proposed

pytestmark = pytest.mark.lake


def lines_of(stopped=(3, 4), thread="{w}", apart=30.0):
    """Return lines of 40 messages, of which the ``stopped`` come again and are not done again; every handling closes alike."""
    found = []
    for place, number in enumerate([*range(40), *stopped]):
        at, is_repeat = apart * place, place >= 40
        who = thread.format(w="", n=place % 3)
        told = f"order ord-{number} is paid already" if is_repeat else f"order ord-{number} paid"
        found.append((at, "worker-1", f"INFO {who}Executing task {an_id(number)}"))
        found.append((at + 4, "worker-1", f"INFO {who}{told}"))
        found.append((at + 4.1, "worker-1", f"INFO {who}task {an_id(number)} executed"))
    return sorted(found)


def told_of(tmp_path, lines):
    return {p.kind: p.value for p in proposed(lake_of(tmp_path, WORKER, lines)).proposals}


def test_the_effect_is_a_line_between_that_names_the_work_and_not_the_one_that_closes_repeats_too(tmp_path):
    told = told_of(tmp_path, lines_of())

    assert told["effect"] == r"order (?P<key>\S+) paid"
    assert told["guard"] == r"order (?P<key>\S+) is paid"


def test_lines_between_are_nobodys_where_handlings_lie_over_one_another_and_those_of_repeats_are_some_repeats(tmp_path):
    """What closes them closed a message that was stopped, too; none of the two is proposed."""
    assert "effect" not in told_of(tmp_path, lines_of(apart=2.0))
    assert told_of(tmp_path / "none", lines_of((), apart=2.0))["effect"] == r"task (?P<message_id>\S+) executed"


def test_where_lines_say_their_thread_that_tells_whose_they_are(tmp_path):
    told = told_of(tmp_path, lines_of(thread="[sqs-{n}] ", apart=2.0))

    assert told["effect"] == r"order (?P<key>\S+) paid"


ENDS = ("", ".", "...", ". Next one, please")


@pytest.mark.parametrize("end", ENDS)
def test_an_id_at_the_end_of_a_sentence_is_found_with_any_stop(tmp_path, end):
    lines = [
        (30.0 * n + at, "worker-1", f"INFO {said} message {an_id(n)}{end}")
        for n in range(40)
        for at, said in ((0, "Executing"), (4, "Executed"))
    ]

    assert r"Executed message (?P<message_id>\S+)" in told_of(tmp_path, lines)["effect"]


def test_the_line_that_opens_the_work_tells_the_key_that_others_name_also_where_no_name_stands_before_it(tmp_path):
    lines = []
    for place, number in enumerate([*range(40), 3, 4]):
        at = 30.0 * place
        said = (
            f"Order ord-{number} had been charged, leaving" if place >= 40 else f"Charged order ord-{number}, 7.00 EUR"
        )
        opened = f"Received message charge('ord-{number}') with id '{an_id(number)}'."
        lines += [(at + n, "worker-1", f"[Thread-{3 + place % 2}] {text}") for n, text in ((0, opened), (4, said))]
    told = told_of(tmp_path, lines)

    assert told["started"] == r"Received message charge\('(?P<key>[\w.@+/-]+)'\) with id '(?P<message_id>[\w.@+-]+)"
    assert mark(lines[1][2], told["effect"]).key == "ord-0"
    assert mark(lines[-1][2], told["guard"]).key == "ord-4"
