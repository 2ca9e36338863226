"""The verdict of one incident in a few lines of plain text."""

from forensics.report.case import Case
from forensics.report.records import cause_counts
from forensics.verdict.interval import VERDICT_WORDS, VERDICTS
from forensics.words import clock_text, count_text, ms_between, span_text


def summary(case: Case) -> str:
    """Return six lines or fewer: headline, cause, time, verdicts, causes, completeness."""
    incident = case.incident
    verdicts = " · ".join(f"{v} {incident[v] or 0}" for v in VERDICTS)
    lines = _lines(case, [f"Verdicts: {verdicts} ({certainty_text(case)})"])
    return "\n".join(" ".join(line.split()) for line in lines)


def verdict_text(case: Case) -> str:
    """Return the same with a table of the verdicts: what a command prints."""
    incident = case.incident
    told = [" ".join(line.split()) for line in _lines(case, ["|"])]
    counts = [(v, incident[v] or 0) for v in VERDICTS]
    table = [f"  {v:<9} {count:>7,}  {VERDICT_WORDS[v]}" for v, count in counts]
    at = told.index("|")
    return "\n".join([*told[:at], *table, *told[at + 1 :]])


def _lines(case: Case, verdicts: list[str]) -> list[str]:
    incident = case.incident
    lines = [f"{case.incident_id} · {headline(case)}"]
    if incident["cause_sentence"]:
        lines.append(f"Why: {incident['cause_sentence']}")
    lines.append(when_text(case))
    lines += verdicts
    if counts := cause_counts(incident):
        lines.append("Causes of redelivery: " + " · ".join(f"{code} {count}" for code, count in counts.items()))
    lines.append(f"Not shown by the evidence: {case.gaps[0]}" if case.gaps else "The evidence has no known gaps.")
    return lines


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
