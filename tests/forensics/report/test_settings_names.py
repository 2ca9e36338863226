"""Names in the settings file that nothing in the evidence has."""

import pytest

from forensics.parsers.sends import read_as
from forensics.report.settings_names import unlike_names
from forensics.settings import Settings
from forensics.tables.evidence import COVERAGE
from tests.forensics.report import world

pytestmark = pytest.mark.slow


@pytest.fixture
def findings(tmp_path):
    return world.save(tmp_path / "lake").findings()


def test_a_name_that_looks_like_one_in_the_lake_is_told_with_it(findings):
    told = unlike_names(findings, Settings.parse('[[queue]]\nname = "paymets.fifo"\nowner = "ana"\n'))

    assert told == [
        "[[queue]] 'paymets.fifo': nothing in the lake is called so, so that what it says decides nothing. Did you mean payments.fifo?"
    ]


OTHERS = {
    "the lake's own": "payments.fifo",
    "one that is not collected yet": "refunds",
}


@pytest.mark.parametrize("name", OTHERS.values(), ids=OTHERS)
def test_other_names_are_not_told(findings, name):
    assert unlike_names(findings, Settings.parse(f'[[queue]]\nname = "{name}"\nowner = "ana"\n')) == []


def test_a_name_whose_like_has_a_section_of_its_own_is_not_told(findings):
    both = '[[queue]]\nname = "payments.fifo"\nowner = "a"\n[[queue]]\nname = "payments2.fifo"\nowner = "b"\n'

    assert unlike_names(findings, Settings.parse(both)) == []


PRODUCER = '[[producer]]\nlog_group = "/ecs/checkout"\nqueue = "{queue}"\nsent = "sent (?P<message_id>.+)"\n'


@pytest.mark.parametrize(("queue", "is_told"), [("payments", True), ("payments.fifo", False)])
def test_sends_that_were_read_for_a_queue_nothing_takes_from_are_told(tmp_path, queue, is_told):
    settings = Settings.parse(PRODUCER.format(queue=queue))
    lake = world.save(tmp_path / "lake")
    not_read = unlike_names(lake.findings(), settings)
    reading = world.common_coverage(9, "send_records", read_as(settings.producers[0]), 0, 60)
    lake.append(COVERAGE, [reading], "coverage|sends")
    world.publish(lake, world.findings(), "run-2")

    assert not_read == []
    assert unlike_names(lake.findings(), settings) == is_told * [
        "[[producer]] /ecs/checkout: its sends are of queue 'payments', which nothing in the lake takes from, so that they "
        "link no messages. There is: payments.fifo."
    ]
