"""The verdict of one incident in a few lines of plain text."""

from forensics.report.case import Case
from forensics.report.provisional import provisional_sentence
from forensics.report.records import cause_counts, verdict_counts
from forensics.verdict.interval import VERDICT_WORDS
from forensics.words import clock_text, ms_between, span_text


def summary(case: Case) -> str:
    """Return seven lines or fewer: headline, cause, how often, what next, time, whether it is provisional, completeness."""
    return "\n".join([*_first_lines(case), *_certainty_lines(case)])


def verdict_text(case: Case) -> str:
    """Return the same with a table of the verdicts and the first move that stops it: what a command prints."""
    incident = case.incident
    lines = _first_lines(case)
    lines += [f"  {v:<9} {count:>7,}  {VERDICT_WORDS[v]}" for v, count in verdict_counts(incident).items()]
    if counts := cause_counts(incident):
        lines.append("Causes of redelivery: " + " · ".join(f"{code} {count}" for code, count in counts.items()))
    return "\n".join([*lines, *_certainty_lines(case), *_stop_lines(case)])


def _first_lines(case: Case) -> list[str]:
    first = case.opening
    lines = [f"{case.incident_id} · {first.headline}", f"Why: {first.why}"]
    if first.repeats:
        lines.append(f"How often: {first.repeats}")
    if first.steps:
        lines.append(f"Next: {first.next_line}")
    return [" ".join(line.split()) for line in [*lines, when_text(case)]]


def _certainty_lines(case: Case) -> list[str]:
    """Say whether late lines may still change it, and what else the evidence lacks."""
    provisional = provisional_sentence(case.incident, case.messages)
    lacking = [gap for gap in case.gaps if gap != provisional]
    gap = f"Not shown by the evidence: {lacking[0]}" if lacking else "The evidence has no known gaps."
    return [*([provisional] if provisional else []), gap]


def _stop_lines(case: Case) -> list[str]:
    """Tell the first move, with its command, cost and undo; Doubletake runs none."""
    move = case.opening.moves[0]
    lines = [f"{case.opening.stop_heading}: {move.title}. {move.why}"]
    lines += [f"  {command}" for command in move.commands]
    lines.append(f"  Costs: {move.cost}")
    lines += [f"  Undo:  {command}" for command in move.undo]
    return lines


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
