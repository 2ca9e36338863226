"""The verdict of one incident in a few lines of plain text."""

from forensics.language import ENGLISH, Language
from forensics.report.activity import ALL_GONE, OPEN, SET_ASIDE, state_of
from forensics.report.case import Case
from forensics.report.provisional import provisional_sentence
from forensics.report.records import cause_counts, verdicts_told
from forensics.report.told import cause
from forensics.sentence import said
from forensics.terms import VERDICT_WORDS
from forensics.words import cells, clock_text, ms_between, span_text


def summary(case: Case, say: Language = ENGLISH) -> str:
    """Return seven lines or fewer: headline, cause, how often, what next, time, whether it is provisional, completeness."""
    return "\n".join([*_first_lines(case, say), *_certainty_lines(case, say)])


def verdict_text(case: Case, say: Language = ENGLISH) -> str:
    """Return the same with a table of the verdicts and the first move that stops it: what a command prints."""
    incident = case.incident
    lines = _first_lines(case, say)
    verdicts, aside = verdicts_told(incident)
    for verdict, count in verdicts.items():
        lines.append(f"  {_padded(say.maybe(verdict), 9)} {count:>7,}  {say(VERDICT_WORDS[verdict])}")
    if aside:
        lines.append(f"  {say('{n} of all set aside by people', n=aside)}")
    if counts := cause_counts(incident):
        causes = " · ".join(f"{_cause(code, say)} {count:,}" for code, count in counts.items())
        of_runs, of_messages = "Causes of failed runs: {causes}", "Causes of redelivery of affected messages: {causes}"
        lines.append(say(of_runs if incident["messages"] is None else of_messages, causes=causes))
    return "\n".join([*lines, *_certainty_lines(case, say), *_stop_lines(case, say)])


def _cause(code: str, say: Language) -> str:
    """Name a cause: by its code in English, which other commands take, else in words."""
    return code if say.code == "en" else say.maybe(code)


def _padded(text: str, width: int) -> str:
    """Fill a word up to a width in a terminal's columns, of which an East Asian character takes two."""
    return text + " " * (width - cells(text))


def _first_lines(case: Case, say: Language) -> list[str]:
    first = case.opening
    lines = [f"{case.incident_id} · {say.sentence(first.headline)}", say("Why: {why}", why=cause(say, case.incident))]
    if first.repeats:
        lines.append(say("How often: {repeats}", repeats=say.sentence(first.repeats)))
    if first.steps:
        lines.append(say("Next: {steps}", steps=say.sentence(first.next_line)))
    return [" ".join(line.split()) for line in [*lines, when_text(case, say)]]


def _certainty_lines(case: Case, say: Language) -> list[str]:
    """Say whether late lines may still change it, and what else the evidence lacks."""
    provisional = provisional_sentence(case.incident, case.messages)
    lacking = [gap for gap in case.gaps if gap != provisional]
    gap = say("The evidence has no known gaps.")
    if lacking:
        gap = say("Not shown by the evidence: {gap}", gap=say.sentence(lacking[0]))
    return [*([say.sentence(provisional)] if provisional else []), gap]


def _stop_lines(case: Case, say: Language) -> list[str]:
    """Tell the first move, with its command, cost and undo; Doubletake runs none."""
    move = case.opening.moves[0]
    told = f"{say.sentence(said('{clause}.', clause=move.title))} {say.sentence(move.why)}"
    lines = [f"{say(case.opening.stop_heading)}: {told}"]
    lines += [f"  {command}" for command in move.commands]
    lines.append(f"  {say('Costs: {cost}', cost=say.sentence(move.cost))}")
    lines += [f"  {say('Undo:')}  {command}" for command in move.undo]
    return lines


def certainty_text(case: Case) -> str:
    """Say what the confirmed verdicts rest on."""
    if case.incident["certainty"] == "proved":
        return "proved by effect markers or finish lines"
    return "inferred from how the runs ended"


def when_text(case: Case, say: Language = ENGLISH) -> str:
    """Say when it happened, and whether the evidence shows that it is over."""
    incident = case.incident
    start, end = incident["started_at"], incident["ended_at"]
    return say(
        "When: {start} to {end} UTC ({span}); {state}",
        start=clock_text(start),
        end=clock_text(end),
        span=say.span(ms_between(start, end)),
        state=say.sentence(state_text(case)),
    )


def state_text(case: Case) -> str:
    """Say whether it is open where the evidence ends, and for how long nothing had happened then; no clock is asked."""
    quiet_ms = ms_between(case.incident["ended_at"], case.data_until_at)
    state = state_of(case.incident, case.data_until_at)
    if state == SET_ASIDE:
        return "set aside by people"
    if quiet_ms is None:
        return "the evidence does not say how far it reaches"
    at = clock_text(case.data_until_at)
    if state == ALL_GONE:
        gone = "nothing left to stop: every message was dead-lettered or lost when the evidence ends at {at} UTC"
        return said(gone, at=at)
    if quiet_ms <= 0:
        return "still going on where the evidence ends"
    open_then = "open: last active {span} before the evidence ends at {at} UTC"
    quiet = "quiet for {span} until the evidence ends at {at} UTC"
    return said(open_then if state == OPEN else quiet, span=span_text(quiet_ms), at=at)
