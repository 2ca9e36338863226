"""Did a run that succeeded give its message back? What counts tell, calls, and that the message stayed away."""

from dataclasses import dataclass, field

import pytest

from forensics.judging import given_back
from forensics.settings_in_force import Known
from tests.forensics.judging.plain import Around, S, delivery


@dataclass
class InForce:
    """Settings of a queue without limit and of a mapping that is on, but for what a test says; None: not known."""

    of_queue: dict | None = field(default_factory=dict)
    state: str | None = "Enabled"

    def queue(self, queue_arn, at):
        if self.of_queue is None:
            return None
        said = {"max_receive_count": None, "message_retention_s": 3_600, **self.of_queue}
        limit = Known(said["max_receive_count"], "queue:1", is_unknown=said.pop("is_limit_unknown", False))
        return {**said, "known": {"max_receive_count": limit}}

    def mapping(self, queue_arn, function_name, at):
        return None if self.state is None else {"state": self.state}


LIMITED = {"max_receive_count": 3}
STAYED = {
    "visibility_timeout_s": 30,
    "hidden_until_at": 30 * S,
    "sent_ms": 0,
    "first_receive_ms": 0,
    "receive_count": 1,
}
UNSEEN = {"is_seen": False, "unseen_basis": "never_started"}
BACK = {**STAYED, "came_again": True}

GIVEN_BACK = {
    "it stayed away, though nothing kept it": (STAYED, {}, {}, False),
    "no log would have shown it again": (STAYED, {}, {"would_be_logged": False}, None),
    "the visibility timeout is not known": ({**STAYED, "visibility_timeout_s": None}, {}, {}, None),
    "nothing tells when it was received": ({**STAYED, "received_at": None}, {}, {}, None),
    "nothing tells until when it was hidden": ({**STAYED, "hidden_until_at": None}, {}, {}, None),
    "the queue's settings are not known": (STAYED, {"of_queue": None}, {}, None),
    "it could be received once more": ({**STAYED, "receive_count": 2}, {"of_queue": LIMITED}, {}, False),
    "it had been received as often as it may": ({**STAYED, "receive_count": 3}, {"of_queue": LIMITED}, {}, None),
    "nothing tells how often it had been received": (
        {**STAYED, "receive_count": None},
        {"of_queue": LIMITED},
        {},
        None,
    ),
    "nothing tells how often it may be received": (STAYED, {"of_queue": {"is_limit_unknown": True}}, {}, None),
    "how often does not matter without a limit": ({**STAYED, "receive_count": None}, {}, {}, False),
    "nothing tells when it was sent": ({**STAYED, "sent_ms": None}, {}, {}, None),
    "it was sent at the very first moment of the clock": ({**STAYED, "sent_ms": 0}, {}, {}, False),
    "it expired meanwhile": (STAYED, {"of_queue": {"message_retention_s": 60}}, {}, None),
    "it expired a second later": (STAYED, {"of_queue": {"message_retention_s": 61}}, {}, False),
    "it expired a millisecond after it could have come again twice": (
        {**STAYED, "visibility_timeout_s": 40_000, "sent_ms": 1, "first_receive_ms": 1},
        {"of_queue": {"message_retention_s": 80_000}},
        {},
        False,
    ),
    "it was sent two seconds after the clock began, and expired when it could have come again twice": (
        {**STAYED, "sent_ms": 2_000, "first_receive_ms": 2_000},
        {"of_queue": {"message_retention_s": 58}},
        {},
        None,
    ),
    "nothing tells when it expires": (STAYED, {"of_queue": {"message_retention_s": None}}, {}, None),
    "nothing tells when it was received first": ({**STAYED, "first_receive_ms": None}, {}, {}, None),
    "it had waited for a quarter of its visibility timeout": ({**STAYED, "first_receive_ms": 7_500}, {}, {}, False),
    "it had waited for longer": ({**STAYED, "first_receive_ms": 7_501}, {}, {}, None),
    "the mapping was switched off": (STAYED, {"state": "Disabled"}, {}, None),
    "nothing is known of the mapping": (STAYED, {"state": None}, {}, None),
    "the function was throttled meanwhile": (STAYED, {}, {"throttles": (True, [])}, None),
    "the function was not throttled": (STAYED, {}, {"throttles": (False, [])}, False),
    "it stayed away unseen, and the counts say that nothing was given back": (
        STAYED,
        {},
        {"would_be_logged": False, "given_back": False},
        False,
    ),
    "it stayed away unseen, and the counts say that something was given back": (
        STAYED,
        {},
        {"would_be_logged": False, "given_back": True},
        None,
    ),
    "it came again, and nothing tells why": (BACK, {}, {}, None),
    "it came again, as the counts say": (BACK, {}, {"given_back": True}, True),
    "it came again, though nothing was given back": (BACK, {}, {"given_back": False}, False),
    "it came again, and a call had deleted it": ({**BACK, "deleted_by_call_at": 0}, {}, {"given_back": True}, False),
    "no run had followed an earlier receive": ({**STAYED, "receive_count": 2, "earlier": [UNSEEN]}, {}, {}, None),
    "a run had followed each earlier receive": ({**STAYED, "receive_count": 2, "earlier": [{}]}, {}, {}, False),
    "its run failed": ({**STAYED, "run_status": "error"}, {}, {}, None),
    "a worker took it": ({**STAYED, "consumer_kind": "worker"}, {}, {}, None),
}


def answer(of, facts, settings, around):
    one = delivery(**{name: value for name, value in facts.items() if name != "earlier"})
    item = [*(delivery(**earlier) for earlier in facts.get("earlier", ())), one]
    of.add_given_back(one, item, Around(in_force=InForce(**settings), **{"would_be_logged": True, **around}))
    return one.was_given_back


@pytest.mark.parametrize(("facts", "settings", "around", "expected"), GIVEN_BACK.values(), ids=GIVEN_BACK)
def test_a_message_that_stayed_away_was_not_given_back_where_nothing_else_kept_it(facts, settings, around, expected):
    assert answer(given_back, facts, settings, around) is expected


def test_a_message_that_stays_away_is_asked_for_until_two_visibility_timeouts_after_its_receive():
    asked = []
    around = Around(in_force=InForce(), would_be_logged=True)
    around.is_watched = lambda *span: asked.append(span) or True
    one = delivery(**STAYED)
    given_back.add_given_back(one, [one], around)

    assert asked == [(delivery().queue_arn, 0, 60 * S)]
