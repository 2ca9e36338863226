import pytest

from forensics.settings import Settings
from lab.scenarios import SCENARIOS, ScenarioUnknownError, scenario


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ScenarioUnknownError, match="'triple-billing'") as unknown:
        scenario("triple-billing")

    assert "double-billing" in unknown.value.hint
    assert unknown.value.exit_code == 2


def test_without_a_name_it_is_double_billing():
    assert scenario().NAME == "double-billing"


@pytest.mark.parametrize("module", SCENARIOS.values(), ids=SCENARIOS)
def test_the_settings_of_every_scenario_are_valid(module):
    Settings.parse(module.SETTINGS)
