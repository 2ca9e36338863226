"""Names in the settings file that nothing in the evidence has."""

import pytest

from forensics.report.settings_names import unlike_names
from forensics.settings import Settings
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
