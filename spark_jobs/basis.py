"""What runs and deliveries rest on besides the lines of their stream: where it differs, nothing kept may be taken over."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from spark_jobs.inputs import RULES_VERSION, Inputs
from spark_jobs.redrives import has_fifo_dead_letters, moves_known

_ROOT = Path(__file__).resolve().parent.parent
_CODE = ("forensics", "spark_jobs")


@dataclass(frozen=True)
class Basis:
    """What runs and deliveries of a stream rest on besides its lines; ``groups`` per log group, the rest for all."""

    key: str
    groups: Mapping[str, str]

    @classmethod
    def of(cls, inputs: Inputs, is_worker: Mapping[str, bool], silences: Mapping[str, int]) -> "Basis":
        """Gather it for the log groups that have lines; ``is_worker`` names them.

        ``silences`` say how long a silence parts their lines: milliseconds for functions, seconds for workers.
        """
        code = hashlib.sha256()
        for folder in _CODE:
            for file in sorted((_ROOT / folder).rglob("*.py")):
                code.update(file.read_bytes())
        parts = {
            "code": code.hexdigest(),
            "rules": RULES_VERSION,
            "settings": inputs.settings.text,
            "moves": moves_known(inputs),
            "redrives": has_fifo_dead_letters(inputs),
        }
        known = {row[0]: row for row in inputs.group_rows}
        return cls(
            hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest(),
            {
                group: repr(
                    (
                        known.get(group),
                        of_worker,
                        silences.get(group),
                        inputs.consumers_by_group.get(group),
                    )
                )
                for group, of_worker in is_worker.items()
            },
        )

    def still_holds(self, earlier: "Basis") -> bool:
        """Tell whether what rested on an earlier basis rests on this one: log groups may have come, none may differ."""
        return self.key == earlier.key and all(self.groups.get(g) == told for g, told in earlier.groups.items())


def _utc_text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def setting_text(row: Mapping[str, object]) -> str:
    """Return an interval of a setting as text: the same text, the same setting at the same time."""
    return json.dumps(row, sort_keys=True, default=_utc_text)
