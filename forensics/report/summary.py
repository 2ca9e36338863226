"""The verdict of one incident in a few lines of plain text."""

from forensics.report.case import Case
from forensics.report.records import VERDICTS, cause_counts
from forensics.report.words import clock_text, count_text, ms_between, span_text


def summary(case: Case) -> str:
    """Return six lines or fewer: headline, cause, time, verdicts, causes, completeness."""
    incident = case.incident
    lines = [f"{case.incident_id} · {headline(case)}"]
    if incident["cause_sentence"]:
        lines.append(f"Why: {incident['cause_sentence']}")
    lines.append(when_text(case))
    lines.append("Verdicts: " + " · ".join(f"{v} {incident[v] or 0}" for v in VERDICTS) + f" ({certainty_text(case)})")
    if counts := cause_counts(incident):
        lines.append("Causes of redelivery: " + " · ".join(f"{code} {count}" for code, count in counts.items()))
    lines.append(f"Not shown by the evidence: {case.gaps[0]}" if case.gaps else "The evidence has no known gaps.")
    return "\n".join(" ".join(line.split()) for line in lines)


def headline(case: Case) -> str:
    """Return what happened, with numbers."""
    incident = case.incident
    if incident["headline"]:
        return str(incident["headline"])
    if incident["messages"] is None:
        most = incident["messages_at_most"]
        return f"up to {count_text(most, 'message')} may have been processed twice" if most else "messages may repeat"
    return f"{count_text(incident['messages'], 'message')} may have been processed more than once"


def certainty_text(case: Case) -> str:
    """Say what the confirmed verdicts rest on."""
    if case.incident["certainty"] == "proved":
        return "proved by effect markers or finish lines"
    return "inferred from how the runs ended"


def when_text(case: Case) -> str:
    """Say when it happened, and whether the evidence shows that it is over."""
    incident = case.incident
    start, end = incident["started_at"], incident["ended_at"]
    span = span_text(ms_between(start, end))
    return f"When: {clock_text(start)} to {clock_text(end)} UTC ({span}); {state_text(case)}"


def state_text(case: Case) -> str:
    """Say how long the queue was quiet at the end of the evidence; no clock is asked."""
    quiet_ms = ms_between(case.incident["ended_at"], case.data_until_at)
    if quiet_ms is None:
        return "the evidence does not say how far it reaches"
    if quiet_ms <= 0:
        return "still going on where the evidence ends"
    return f"quiet for {span_text(quiet_ms)} until the evidence ends at {clock_text(case.data_until_at)} UTC"
