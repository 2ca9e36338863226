"""Lines of functions that read as if a repeat was stopped, where no settings name them."""

import pytest

from forensics.parsers import parse_line
from forensics.settings import Consumer
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.invocations import invocations_of, statements_of
from forensics.streams.model import REPEAT, LogGroup, LogLine
from forensics.streams.repeats import is_asked, reads_as_repeat

RUN = "8e7dced5-ced0-4cc5-be7d-b55df037e130"
M = "c7b168c5-b5d8-424b-a576-490123f2c4a9"
STOPPED = f"2026-10-28T22:38:17.716Z\t{RUN}\tINFO\talready processed pay_4"
EVENT = f'{{"Records": [{{"messageId": "{M}", "receiptHandle": "h", "body": "already charged", "eventSource": "aws:sqs"}}]}}'
ASKED = {
    "nothing said": ({}, True),
    "an effect's line": ({"effect": "charged (?P<key>.+)"}, False),
    "that every run does the work again": ({"idempotent": False}, False),
    "that no run does": ({"idempotent": True}, True),
    "a guard's line": ({"guard": "seen (?P<key>.+)"}, True),
}
LINES = {
    "that it was processed already": (STOPPED, {}, True),
    "in words without a level": ("duplicate payment pay_4", {}, True),
    "as an error": (f"2026-10-28T22:38:17.716Z\t{RUN}\tERROR\tpay_4 was already charged", {}, True),
    "nothing of it": (f"2026-10-28T22:38:17.716Z\t{RUN}\tINFO\tprocessed pay_4", {}, False),
    "in a body": (EVENT, {}, False),
    "as a library": ("IdempotencyItemAlreadyExists: skipped", {}, False),
    "as the settings name it": (STOPPED, {"guard": "already processed (?P<key>.+)"}, False),
    "as the line of a start": (STOPPED, {"started": "already processed (?P<key>.+)"}, False),
    "as that of a delete": (STOPPED, {"deleted": "already processed (?P<key>.+)"}, False),
    "as that of a failure": (STOPPED, {"failed": "already processed (?P<key>.+)"}, False),
    "as that of a lease": (
        "already processed pay_4, 30 s",
        {"visibility_set": "processed (?P<key>.+), (?P<seconds>[0-9]+) s"},
        False,
    ),
    "of the platform": (f"REPORT RequestId: {RUN}\tDuration: 5.00 ms\tduplicate", {}, False),
}


@pytest.mark.parametrize(("said", "expected"), ASKED.values(), ids=ASKED)
def test_such_a_line_matters_where_a_success_alone_shows_the_work(said, expected):
    assert is_asked(Consumer(**said)) is expected


@pytest.mark.parametrize(("line", "said", "expected"), LINES.values(), ids=LINES)
def test_what_an_application_says_in_words_of_its_own(line, said, expected):
    consumer = Consumer(**said)

    assert reads_as_repeat(parse_line(line, consumer), line, consumer) is expected


GROUP = LogGroup("/aws/lambda/charge", "lambda", "charge")


@pytest.mark.parametrize(("line", "roles"), [(STOPPED, [REPEAT]), (EVENT, ["record"])])
def test_a_line_of_a_function_states_it(line, roles):
    (statement,) = statements_of([LogLine(5_000, 0, "e-1", line)], GROUP, BusinessKeys({}))

    assert [(fact.role, fact.at, fact.evidence_id) for fact in statement.facts] == [
        (role, 5_000, "e-1") for role in roles
    ]
    assert line in [fact.detail for fact in statement.facts] or roles != [REPEAT]


class Unknown:
    """No settings at all."""

    def function(self, function_name, at):
        return None


def test_in_no_run_it_makes_none():
    line = LogLine(5_000, 0, "e-1", "duplicate payment pay_4")

    assert invocations_of([line], "s", GROUP, Unknown(), BusinessKeys({})) == []
