"""Lines that name messages which a run sends: no effect of that run, and none of them is in its hand."""

import pytest

from forensics.settings import Settings
from forensics.suggestions.coming_again import QueueMessages
from forensics.suggestions.nameless import nameless_runs
from forensics.suggestions.suggest import suggest
from forensics.tables.evidence import QUEUE_SETTINGS
from tests.forensics.suggestions.test_coming_again import HIDDEN_S, SETTINGS, handling
from tests.forensics.suggestions.test_nameless import FUNCTION, GROUP, QUEUE, STREAM, an_id, lake_of, run

pytestmark = pytest.mark.lake

SENT = {
    "handled by nobody else": ([(0, "success")], False),
    "handled well within the visibility timeout": ([(0, "success"), (0.8 * HIDDEN_S - 0.1, "success")], True),
    "handled when it may have come again": ([(0, "success"), (0.8 * HIDDEN_S, "success")], False),
    "named by a run that failed": ([(0, "timeout"), (1, "success")], False),
    "handled at once, and once more": ([(0, "success"), (1, "timeout"), (61, "success")], True),
}


@pytest.mark.parametrize(("handlings", "expected"), SENT.values(), ids=SENT)
def test_a_message_that_another_run_handles_too_soon_was_only_sent(tmp_path, handlings, expected):
    findings = lake_of(tmp_path, GROUP, [], evidence=[(QUEUE_SETTINGS, SETTINGS)])

    assert QueueMessages(findings, QUEUE).was_only_sent([handling(*one) for one in handlings]) is expected


@pytest.mark.parametrize(("gap_s", "expected"), [(23.9, True), (24, False)])
def test_where_nobody_knows_for_how_long_a_receive_hides_a_message_it_is_as_long_as_usual(tmp_path, gap_s, expected):
    messages = QueueMessages(lake_of(tmp_path, GROUP, []), QUEUE)

    assert messages.was_only_sent([handling(0, "success"), handling(gap_s, "success")]) is expected


def captured(tmp_path, begun="processing {}", taken=20, next_after_s=6.0):
    """Return the findings of 20 runs that charge a message and send its capture; so many captures are ``taken`` by another run.

    Of the runs' lines the grammar reads the message that they send alone; that is their delivery.
    """
    begins = [(60.0 * n, n) for n in range(20)] + [(60.0 * n + next_after_s, 100 + n) for n in range(taken)]
    invocations, lines, deliveries = [], [], []
    for place, (at, number) in enumerate(sorted(begins)):
        invocations.append(run(place, 10_000 + at))
        told = [begun.format(an_id(number)), f"charged order_id=ord-{number}"]
        if number < 100:
            sent = an_id(100 + number)
            told.append(f"queued capture as message {sent}")
            deliveries.append(delivered(invocations[-1], sent))
        lines += [
            (10_000 + at + after, STREAM, text) for after, text in zip((0.1, 4.7, 4.8), told, strict=False) if text
        ]
    return lake_of(tmp_path, GROUP, lines, invocations, deliveries, evidence=[(QUEUE_SETTINGS, SETTINGS)])


def delivered(invocation, message_id):
    return {
        "queue": QUEUE,
        "queue_arn": QUEUE,
        "item_id": message_id,
        "message_id": message_id,
        "consumer": invocation["invocation_id"],
        "consumer_kind": "lambda",
        "function_name": FUNCTION,
        "log_group": GROUP,
        "log_stream": STREAM,
        "batch_position": None,
        "receive_count": None,
        "delivery_index": 1,
        "run_status": "success",
        "run_ended_at": invocation["ended_at"],
    }


def test_a_line_that_names_the_message_which_a_run_sends_is_not_its_effect(tmp_path):
    found = suggest(captured(tmp_path), QUEUE, Settings.parse(""))

    told = {p.kind: p.value for p in found.proposals}
    assert told["effect"] == r"charged order_id=(?P<key>\S+)"
    assert told["started"] == r"processing (?P<message_id>\S+)"


@pytest.mark.parametrize(("taken", "is_told"), [(5, False), (6, True)])
def test_three_of_ten_messages_that_others_handle_too_soon_tell_that_all_were_sent(tmp_path, taken, is_told):
    found = nameless_runs(captured(tmp_path, taken=taken), QUEUE, GROUP, FUNCTION)

    assert found.has_sent is is_told


def test_messages_that_come_again_about_a_visibility_timeout_later_were_not_sent(tmp_path):
    findings = captured(tmp_path, next_after_s=HIDDEN_S + 5.0)

    assert not nameless_runs(findings, QUEUE, GROUP, FUNCTION).has_sent


def test_where_half_of_the_runs_name_no_message_those_of_the_others_may_be_sent(tmp_path):
    found = suggest(captured(tmp_path, begun=""), QUEUE, Settings.parse(""))

    assert not [p for p in found.proposals if p.kind == "effect"]
    assert any("only 50 % of its runs that ended well name a message" in why for why in found.cannot_tell)


def test_a_run_that_says_that_it_takes_its_message_has_it_in_hand(tmp_path):
    findings = captured(tmp_path, begun="processing message {}", taken=0)

    assert not any(
        "of its runs that ended well" in why for why in suggest(findings, QUEUE, Settings.parse("")).cannot_tell
    )
