"""What the settings say of a consumer, found by its name or its log group."""

import pytest

from forensics.known import Known
from forensics.settings import Consumer

SAID = {
    "a guard's line": (Consumer(name="charge", guard="already done"), True),
    "a guard's table": (Consumer(name="charge", guard_table="done"), True),
    "the table of a worker": (Consumer(log_group="charge", guard_table="done"), True),
    "no guard": (Consumer(name="charge", effect="done"), False),
    "another function's guard": (Consumer(name="refund", guard_table="done"), False),
}


@pytest.mark.parametrize(("consumer", "expected"), SAID.values(), ids=SAID)
def test_the_settings_name_a_guard_by_its_line_or_its_table(consumer, expected):
    known = Known(consumers_by_group={"/aws/lambda/group": consumer})

    assert known.names_guard_of("charge") is expected
