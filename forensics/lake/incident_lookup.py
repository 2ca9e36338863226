"""Find an incident by its id, or say which ids are near."""

from collections.abc import Mapping
from typing import Any

from forensics.errors import IncidentUnknownError
from forensics.lake.filters import equals
from forensics.lake.findings import Findings, rows_of
from forensics.nearest import meant, near
from forensics.sentence import said
from forensics.tables.findings import INCIDENTS

Row = Mapping[str, Any]


def find_incident(findings: Findings, incident_id: str) -> Row:
    """Return the incident's row; raises IncidentUnknownError, with the nearest ids as the hint."""
    rows = rows_of(findings.read(INCIDENTS, where=equals("incident_id", incident_id)))
    if rows:
        return dict(rows[0])
    known = sorted(findings.read(INCIDENTS, ["incident_id"])["incident_id"].to_pylist())
    if not known:
        hint = "This data version holds no incidents at all; `doubletake status` shows what was read."
    else:
        alike = near(incident_id, known, 0.5) or [k for k in known if incident_id and k.startswith(incident_id)][:3]
        hint = meant(alike) if alike else "`doubletake incidents` lists them."
    raise IncidentUnknownError(
        said("there is no incident {incident} in this data version", incident=repr(incident_id)), hint
    )
