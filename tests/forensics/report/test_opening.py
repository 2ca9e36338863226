"""The first lines about an incident: one template, in whatever is read first."""

import re

import pytest

from forensics.language import Language
from forensics.people import Annotation, Marks
from forensics.report.actions import ANY_ROOM, CHANGE_ACTIONS, Room
from forensics.report.follow_ups import follow_ups
from forensics.report.notice import notice_of
from forensics.report.opening import affected_works, opening
from forensics.report.render import render
from forensics.report.summary import summary, verdict_text
from forensics.sentence import has_values, marked
from forensics.tables.findings import MESSAGES
from forensics.verdict import Why, why_sentence
from forensics.verdict.sentences import headline
from forensics.verdict.why import ALONE, BEFORE, ENDS
from tests.forensics.report import world
from tests.forensics.report.test_language import in_english
from tests.forensics.verdict.test_why import SAID

NOTHING_SAID = Marks()
MARKED = {"a": "refunded", "b": "comment", "c": "accepted"}
SHARE = {"change": "longer_function_timeout", "prevented": 11, "undecided": 2, "repeats": 13}


def first_lines(messages=(), counterfactuals=(), dead=(), lost=0, marks=NOTHING_SAID, room=ANY_ROOM, **incident):
    return opening(
        world.incident() | incident, affected_works(messages), counterfactuals, dead, lost, marks, (), True, room=room
    )


def message(work, at_least, at_most, **more):
    verdict = "confirmed" if at_least > 1 else "probable"
    told = {"work_id": work, "verdict": verdict, "effects_at_least": at_least, "effects_at_most": at_most}
    return (
        dict.fromkeys(MESSAGES.column_names)
        | world.messages()[0]
        | {"item_id": work, "related_message_ids": [], "receive_count": 3}
        | told
        | more
    )


def test_next_is_who_to_refund_whom_to_check_and_the_change_that_prevents_most():
    told = first_lines([message("a", 2, 2), message("b", 3, 3), message("c", 1, 2)], [SHARE])

    assert told.next_line == (
        "refund or undo 2 (CSV) · check 1 by hand · raise the function timeout above the slowest batch (would have "
        "prevented 11 to 13 of 13)"
    )


def test_a_payment_sent_under_two_ids_is_refunded_once():
    twice = [message("w", 3, None, item_id="a"), message("w", 3, None, item_id="b")]

    told = first_lines(twice, extra_effects_at_least=2, extra_effects_at_most=None)

    assert (told.repeats, told.steps) == ("2 or more repeats on 1 work", ("refund or undo 1 (CSV)",))


@pytest.mark.parametrize("elsewhere", [["w"], ["v", "w"]])
def test_a_work_that_another_incident_repeated_is_refunded_with_that(elsewhere):
    works = [message("w", 2, 2), message("v", 2, 2), message("x", 1, 2)]
    told = first_lines(works, repeated_elsewhere=elsewhere, extra_effects_at_least=0, extra_effects_at_most=0)

    one = len(elsewhere) == 1
    refund = ("refund or undo 1 (CSV)",) if one else ()
    settle = f"settle {len(elsewhere)} in the incident that repeated it"
    where = "1 work was repeated in another incident" if one else "2 works were repeated in other incidents"
    assert told.steps == (*refund, "check 1 by hand", settle)
    assert told.repeats == f"0 repeats on 3 messages, received 9 times; {where}"


def test_repeats_of_another_incident_of_the_same_work_are_counted_there():
    told = first_lines([message("w", 3, 3)], extra_effects_at_least=1, extra_effects_at_most=1)

    assert told.repeats == "1 repeat on 1 message"


def test_what_somebody_has_refunded_is_no_longer_asked_for():
    refunded = Annotation("annotation:1", world.INCIDENT, "a", "refunded", "done", "Ana", "v", world.after(0))
    told = first_lines([message("a", 2, 2), message("b", 2, 2)], marks=Marks(of_items={"a": (refunded,)}))

    assert told.steps == ("refund or undo 1 (CSV)", "1 marked as settled")


def test_the_follow_ups_ask_for_as_many_refunds_as_the_first_lines():
    works = [message("a", 2, 2), message("b", 2, 2), message("c", 1, 2)]
    counts = {"works": 3, "works_confirmed": 2, "works_probable": 1, "works_possible": 0, "messages": 3, "causes": []}
    said = {i: (Annotation(i, world.INCIDENT, i, mark, "", "Ana", "v", world.after(0)),) for i, mark in MARKED.items()}
    told = follow_ups(world.incident() | counts, works, [], marks=Marks(of_items=said))

    assert [one.action for one in told][:2] == [
        "Undo or refund the repeats: 1 message listed under affected messages.",
        "Give the work an idempotency key that outlives the message's retention: a business key, not the message id.",
    ]


def test_a_poison_message_is_told_with_its_receives_and_that_it_was_lost():
    poison = message("p", 0, 53, receive_count=53)
    told = first_lines([poison], lost=1, extra_effects_at_least=0, extra_effects_at_most=52)

    assert told.repeats == "up to 52 repeats on 1 message, received 53 times; 1 message was probably lost"


def test_logs_that_name_no_message_ask_for_the_lines_that_would():
    steps = opening(world.incident() | {"messages": None}, [], [], [], 0, Marks(), (), True).steps

    assert steps[0] == "let `doubletake suggest payments.fifo` look for lines that name messages, or log message ids"


def test_page_report_command_and_notification_say_the_same(case):
    first, told = case.opening, "\n".join(case.opening.steps)
    slack = notice_of(case.incident, first, "slack", None, "v").body["blocks"][0]["text"]["text"]
    texts = [slack, summary(case), verdict_text(case)]
    texts += [re.sub(r"\\(.)|</?b>", r"\1", render(case, form).decode()) for form in ("md", "html")]

    assert told
    for text in texts:
        for said in (first.why, first.repeats, *first.steps):
            assert said in text


@pytest.mark.parametrize(
    ("kind", "path"),
    {
        "slack": ("text",),
        "pagerduty": ("payload", "summary"),
        "sns": ("Subject",),
        "email": ("subject",),
        "teams": ("attachments", 0, "content", "body", 0, "text"),
    }.items(),
)
def test_what_a_pager_or_a_mailbox_shows_first_names_the_queue(case, kind, path):
    shown = notice_of(case.incident, case.opening, kind, None, "v").body
    for part in path:
        shown = shown[part]

    assert shown.removeprefix("[Doubletake] ").startswith(f"{world.QUEUE}: 1 to 2 of 3")


def test_the_command_that_stops_it_is_printed_with_its_cost_and_how_to_undo_it(case):
    move, text = case.opening.moves[0], verdict_text(case)

    assert f"aws lambda update-event-source-mapping --uuid {world.MAPPING} --region eu-west-1 --no-enabled" in text
    for said in (move.cost, *move.commands, *move.undo):
        assert said in text
        assert said in render(case, "md").decode().replace("\\", "")


@pytest.mark.parametrize("trigger", [*ENDS, *BEFORE, *ALONE])
def test_every_reason_is_said_in_japanese(trigger):
    language = Language("ja")
    for shape in (Why("q", ["f"], trigger), *(why._replace(trigger=trigger) for why, _ in SAID.values())):
        names = {shape.queue, *shape.consumers}
        said = why_sentence(shape, language, language.span)

        assert set(in_english(said)) <= {word for name in names for word in re.findall(r"[A-Za-z]{2,}", name)} | {"SQS"}


@pytest.mark.parametrize("change", CHANGE_ACTIONS)
def test_every_step_is_said_in_japanese(change):
    say = Language("ja").sentence
    told = first_lines(
        [message("a", 2, 2), message("c", 1, 2)],
        [SHARE | {"change": change}],
        [{"redrive": "repeats"}],
        lost=1,
    )

    for said in (*told.steps, told.repeats):
        assert set(in_english(say(said))) <= {"CSV"}


def test_next_of_a_message_that_always_fails_is_a_dead_letter_queue_where_there_is_none():
    incident = world.incident() | {"extra_effects_at_least": 0, "extra_effects_at_most": 168}
    key = {"change": "idempotency_key", "prevented": 0, "undecided": 168, "repeats": 168}
    told = opening(incident, affected_works([message("a", 0, 169)]), [key], [], 0, Marks(), (), True, is_poison=True)

    assert told.steps[1:] == (
        "give the queue a dead-letter queue, where what always fails ends",
        "add an idempotency key (would have prevented up to 168 of 168)",
    )


def test_headline_repeats_and_steps_are_said_by_their_phrases_whatever_their_english_is_like():
    told = first_lines(
        [message("a", 2, 2), message("c", 1, 2)], [SHARE], headline=headline(1, 1, 0, 2), extra_effects_at_most=1201
    )

    assert all(has_values(marked(text)) for text in (told.headline, told.repeats, *told.steps, told.next_line))
    assert Language("ja").sentence(told.next_line) == (
        "1 件を返金または取り消す（CSV） · 1 件を手で確認する · "
        "関数タイムアウトを最も遅いバッチより長くする（13 件中 11〜13 件を防げた）"
    )


CHANGES = {
    "a batch of one gets no smaller": ("batch_size_1", Room(takes_one_message=True), None),
    "Lambda's longest timeout gets no longer": ("longer_function_timeout", Room(has_longest_timeout=True), None),
    "SQS hides no longer": ("longer_visibility", Room(hides_longest=True), None),
    "two at once are the least": ("maximum_concurrency", Room(True, has_least_concurrency=True), None),
    "a limit that is there is lowered": (
        "maximum_concurrency",
        Room(limits_concurrency=True),
        "lower the mapping's maximum concurrency",
    ),
    "what the mapping asks for is returned": (
        "partial_responses",
        Room(reports_failed_items=True),
        "return each failed item alone in batchItemFailures, as the mapping asks",
    ),
}


@pytest.mark.parametrize(("change", "room", "action"), CHANGES.values(), ids=CHANGES)
def test_no_step_asks_for_what_is_so_already_or_cannot_be(change, room, action):
    key = SHARE | {"change": "idempotency_key", "prevented": 1}
    (_, step) = first_lines([message("a", 2, 2)], [SHARE | {"change": change}, key], room=room).steps

    assert step.startswith(action or "add an idempotency key")
    assert set(in_english(Language("ja").sentence(step))) <= {"batchItemFailures"}


def test_the_follow_ups_leave_the_refund_of_what_another_incident_repeated_to_that():
    works = [message("w", 2, 2), message("v", 2, 2), message("x", 1, 2)]
    counts = {"works": 3, "works_confirmed": 2, "works_probable": 1, "works_possible": 0, "messages": 3, "causes": []}

    def actions(*elsewhere):
        told = follow_ups(world.incident() | counts | {"repeated_elsewhere": [*elsewhere]}, works, [])
        return [one.action for one in told][:2]

    assert actions("w") == [
        "Undo or refund the repeats: 1 message listed under affected messages.",
        "Check 1 message against the system that the work was done in.",
    ]
    assert actions("w", "v", "x")[0].startswith("Give the work an idempotency key")
