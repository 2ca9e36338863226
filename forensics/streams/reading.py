"""What lines are read with: who writes which log group, settings in force, business keys."""

from collections.abc import Mapping
from dataclasses import dataclass

from forensics.settings_in_force import SettingsInForce
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.model import LogGroup


@dataclass(frozen=True)
class Reading:
    """``groups`` by name; a log group that is not among them is not read."""

    groups: Mapping[str, LogGroup]
    in_force: SettingsInForce
    keys: BusinessKeys
