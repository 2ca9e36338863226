"""What a reader may choose of a report."""

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from forensics.choices import LANGUAGES
from forensics.clock import ZONE_HINT, zone_of
from forensics.errors import ForensicsError
from forensics.sentence import said


class ReportOptionError(ForensicsError):
    """A report cannot be made that way."""


@dataclass(frozen=True)
class ReportOptions:
    """Language, the zone of the local times beside UTC (None: UTC alone), every event or key moments, short ids in tables."""

    language: str = "en"
    zone: str | None = None
    all_events: bool = False
    short_ids: bool = False

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise ReportOptionError(
                said("there are no reports in {code}", code=repr(self.language)),
                said("Languages: {names}.", names=", ".join(LANGUAGES)),
            )
        if self.zone is not None and zone_of(self.zone) is None:
            raise ReportOptionError(said("{text} is not a time zone", text=repr(self.zone)), ZONE_HINT)

    @property
    def local(self) -> ZoneInfo | None:
        """Return the zone of the local times; None where UTC is enough."""
        return ZoneInfo(self.zone) if self.zone and self.zone != "UTC" else None
