"""Put each candidate to its rule; what is supported or cannot be decided is a finding."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from forensics.queue_findings.candidate import Candidate
from forensics.queue_rules import EXCLUDED, QUEUE_RULES, Ruling
from forensics.tables.findings import QUEUE_FINDINGS
from forensics.verdict import redrive_of, redrive_sentence

_NONE: Mapping[str, str] = MappingProxyType({})


def found(candidates: Iterable[Candidate], incident_of: Mapping[str, str] = _NONE) -> list[dict[str, Any]]:
    """Return the rows of ``queue_findings``, sorted by their key; times are whole microseconds since 1970, UTC.

    ``incident_of`` says to which incident a message of the queue belongs, by item id; it counts where the candidate itself
    does not say.
    """
    rows = []
    for candidate in candidates:
        ruling = QUEUE_RULES[candidate.code](candidate.facts._replace(span_ms=candidate.span_ms))
        if ruling.stance != EXCLUDED:
            rows.append(_row(candidate, ruling, candidate.incident_id or incident_of.get(candidate.item_id)))
    return sorted(rows, key=lambda row: [row[name] for name in QUEUE_FINDINGS.key])


def _row(candidate: Candidate, ruling: Ruling, incident_id: str | None) -> dict[str, Any]:
    least, most = candidate.effects_at_least, candidate.effects_at_most
    told = {
        "incident_id": incident_id,
        "stance": ruling.stance,
        "span_ms": candidate.span_ms,
        "business_keys": sorted(set(candidate.business_keys)),
        "redrive": None if least is None else redrive_of(least, most),
        "sentence": ruling.sentence,
        "redrive_sentence": None if least is None else redrive_sentence(least, most),
        "would_decide": ruling.would_decide,
        "evidence_ids": sorted(set(candidate.evidence_ids)),
    }
    return {name: told[name] if name in told else getattr(candidate, name) for name in QUEUE_FINDINGS.given_names}
