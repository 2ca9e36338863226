"""What lines are read with: who writes which log group, settings in force, business keys."""

from dataclasses import dataclass

from forensics.settings_in_force import SettingsInForce
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.groups import LogGroups


@dataclass(frozen=True)
class Reading:
    """A log group that is not among ``groups`` is not read."""

    groups: LogGroups
    in_force: SettingsInForce
    keys: BusinessKeys
