"""The incidents the lab can play, by name. Each module has NAME, ABOUT and ``play(aws, now) -> Played``."""

from types import ModuleType

from forensics.errors import ForensicsError
from forensics.sentence import said
from lab.scenarios import dlq_timing, double_billing, eight_weeks, expired_handle, fifo_order, producer_and_consumer

SCENARIOS: dict[str, ModuleType] = {
    module.NAME: module
    for module in (double_billing, producer_and_consumer, fifo_order, dlq_timing, expired_handle, eight_weeks)
}
DEFAULT_SCENARIO = double_billing.NAME


class ScenarioUnknownError(ForensicsError):
    """The lab has no scenario of this name."""


def scenario(name: str = DEFAULT_SCENARIO) -> ModuleType:
    """Return a scenario's module; raises ScenarioUnknownError with the known names.

    >>> scenario("double-billing").NAME
    'double-billing'
    """
    if name not in SCENARIOS:
        raise ScenarioUnknownError(
            said("there is no scenario {name}", name=repr(name)),
            said("Scenarios: {names}.", names=", ".join(SCENARIOS)),
        )
    return SCENARIOS[name]
