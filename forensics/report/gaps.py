"""What the evidence cannot show, in sentences."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from forensics.report.provisional import provisional_sentence
from forensics.report.settings_then import NOT_KNOWN, SettingFact
from forensics.sentence import counted, joined, pieces, said

Row = Mapping[str, Any]
_BASES = {
    "same_receive": "{n} with the receive count or a line of an earlier one, begun within a second of it, told alike before it was visible again, or in a further run, soon after, of a function that may be durable (its settings would tell), or named in a run that began after it was received and whose batch no line tells: another log may tell of that receive once more, the function may have replayed it, or was invoked again for that receive.",
    "in_progress": "{n} in progress when the run ended; whether the work completed is unknown.",
    "parallel": "{n} in a run that failed, with items that may run in parallel.",
    "item_failed": "{n} in a run that ended in success, although its own lines tell of a failure.",
    "partial_response": "{n} in a run whose list of failed items was not logged.",
    "returned": "{n} in a later successful run that a guard may have answered silently.",
    "unseen": "{n} received as the receive count says, without a log line.",
    "no_item_lines": "{n} in a run whose lines do not tell how far it got.",
}


def gaps(
    incident: Row,
    deliveries: Sequence[Row],
    redeliveries: Sequence[Row],
    settings: Sequence[SettingFact],
    messages: Sequence[Row] = (),
) -> tuple[str, ...]:
    """Return what is missing and what it would have decided; empty means nothing that bears on the verdict."""
    found = list(incident["unread_sources"] or ())
    if sentence := provisional_sentence(incident, messages):
        found.append(sentence)
    unknown = Counter(d["basis"] for d in deliveries if d["effect"] == "unknown")
    for basis in sorted(b for b in unknown if b):
        n = counted(unknown[basis], "delivery", "deliveries")
        found.append(said(_BASES.get(basis, "{n} of unknown effect ({basis})."), n=n, basis=basis))
    late = sum(d["received_basis"] in ("run_start", "line") for d in deliveries)
    if late:
        found.append(
            said(
                "For {n} the receive time is the run's first log line; the actual receive may be earlier.",
                n=counted(late, "delivery", "deliveries"),
            )
        )
    if any(m["effects_at_most"] is None for m in messages) and any(d["receive_count"] is None for d in deliveries):
        found.append("Receive counts are not logged for every delivery, so further deliveries may be hidden.")
    found += _would_decide(redeliveries)
    found += [
        said("{setting} at the time: {source}.", setting=f"{s.name[0].upper()}{s.name[1:]}", source=s.source)
        for s in settings
        if s.value == NOT_KNOWN
    ]
    if not any(s.evidence_ids for s in settings):
        found.append("No snapshot of the queue's or function's settings is in the lake.")
    elif any("after the incident began" in s.source for s in settings):
        found.append(
            "Settings were read or changed only after the incident began; the values at the time are not certain."
        )
    return tuple(dict.fromkeys(found))


def _would_decide(redeliveries: Sequence[Row]) -> list[str]:
    """Return what would decide how many redeliveries, what decides most first; each piece of evidence is named once."""
    every = (r["would_decide"] for r in redeliveries if r["would_decide"])
    wanted = Counter(piece for told in every for piece in dict.fromkeys(pieces(told)))
    by_count: dict[int, list[str]] = {}
    for piece in sorted(wanted, key=lambda piece: (-wanted[piece], piece)):
        by_count.setdefault(wanted[piece], []).append(piece)
    return [
        said("Would decide {n}: {what}", n=counted(n, "redelivery", "redeliveries"), what=joined(told, "; "))
        for n, told in by_count.items()
    ]
