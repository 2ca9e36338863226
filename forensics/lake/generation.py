"""One correlation run's findings, as the table ``generations`` names them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Generation:
    """One correlation run's findings: table versions that belong together, and what they were made from."""

    generation_id: str
    versions: Mapping[str, int]
    inputs: Mapping[str, int]
    row_counts: Mapping[str, int]
    rules_version: str
    data_until_at: datetime | None
    made_at: datetime | None = None
    settings: str | None = None
    """The settings these findings rest on; None where an earlier release did not keep them."""
    settings_digest: str | None = None
    data_since_at: datetime | None = None
    """Log events before it (UTC) were left out; None where none were, or an earlier release did not keep it."""

    @property
    def data_version(self) -> str:
        """Short name of this generation for screens and links: 12 characters of its id."""
        return self.generation_id[:12]

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> "Generation":
        """Read a row of ``generations``."""
        return cls(
            row["generation_id"],
            _pairs(row["tables"]),
            _pairs(row["inputs"]),
            _pairs(row["row_counts"]),
            row["rules_version"],
            row["data_until_at"],
            row["made_at"],
            row["settings_text"],
            row["settings_digest"],
            row["data_since_at"],
        )


def _pairs(items: list[str]) -> dict[str, int]:
    return {name: int(number) for name, _, number in (item.rpartition("=") for item in items)}
