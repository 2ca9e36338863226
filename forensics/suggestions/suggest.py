"""From a queue's name to everything that is proposed for it."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from forensics.errors import QueueUnknownError
from forensics.lake import Findings
from forensics.lake.filters import equals, one_of
from forensics.lake.rows import plain_rows
from forensics.sentence import counted, said
from forensics.settings import Settings
from forensics.suggestions.keys import business_key, message_id, order, receive_count
from forensics.suggestions.line_keys import with_key, with_keys_beside, with_keys_told
from forensics.suggestions.marks import Marks, marks_of
from forensics.suggestions.model import OF_LINE, Proposal, RunLines, Suggestions
from forensics.suggestions.nameless import Nameless, nameless_runs
from forensics.suggestions.runs import are_in_hand, runs_of, share_naming, unended_of
from forensics.suggestions.templates import templates_of
from forensics.suggestions.timing import named_lines, placed
from forensics.suggestions.trial import verdicts_now, verdicts_under
from forensics.suggestions.written import settings_text
from forensics.tables.evidence import CONSUMERS
from forensics.tables.findings import DELIVERIES

_LEAST_NAMING = 0.8
"""Where fewer of a function's runs name a message, what they name may be no message that it was given: each run is given one."""


def _unheard(_: str) -> None:
    """Say nothing of the step that begins."""


def suggest(findings: Findings, queue: str, settings: Settings, tell: Callable[[str], None] = _unheard) -> Suggestions:
    """Return what the logs of a queue's consumers show that the settings do not say, and what it would decide.

    What the settings say already is not proposed again. ``tell`` hears what is done from now on, for whoever waits. Raises
    QueueUnknownError for a queue of which no delivery is known.
    """
    name, arn, consumers = _consumers(findings, queue)
    tell(said("reading runs of {queue}", queue=name))
    runs = runs_of(findings, arn)
    proposals: list[Proposal] = []
    cannot_tell: list[str] = []
    by_group: dict[str, list[RunLines]] = defaultdict(list)
    for run in runs:
        by_group[run.log_group].append(run)
    effects = []
    are_named = True
    for log_group, function in consumers:
        mine = by_group.pop(log_group, [])
        section, who = ("function", function) if function else ("worker", log_group)
        has_ended = any(run.status == "success" for run in mine)
        if function and not has_ended and (unended := unended_of(findings, arn, log_group)):
            cannot_tell.append(_of_unended(who, unended))
            continue
        if not mine or (function is None and not has_ended):
            tell(said("reading lines of {group} that name no message", group=log_group))
            nameless = nameless_runs(findings, arn, log_group, function)
            if not mine:
                cannot_tell.append(_of_nameless(who, nameless))
            are_named = are_named and not nameless.runs
            mine = nameless.runs or [_as_if_well(run) for run in mine]
        elif function and not are_in_hand(mine):
            tell(said("reading lines of {group} that name no message", group=log_group))
            nameless = nameless_runs(findings, arn, log_group, function)
            if nameless.has_sent:
                mine = nameless.runs
                are_named = are_named and not mine
            elif (share := share_naming(findings, arn, log_group, function)) < _LEAST_NAMING:
                cannot_tell.append(_of_few_named(who, share))
                continue
        if not mine:
            continue
        tell(said("comparing the lines of {who}", who=who))
        found = _of_consumer(who, section, mine)
        for with_keys in (with_keys_told, with_keys_beside):
            if found.effect is None:
                mine = with_keys(mine)
                found = _of_consumer(who, section, mine)
        effects.append((mine, found))
        proposals += _with_start_that_tells_key(found, mine)
        cannot_tell += found.cannot_tell
    if effects:
        mine, found = max(effects, key=lambda told: len(told[0]))
        key, why = business_key(name, mine, found.effect)
        if key is None:
            proposals = [_with_key(p, effects) for p in proposals]
        proposals += [key] if key else []
        cannot_tell += [why] if why and not any("(?P<key>" in str(p.value) for p in proposals) else []
    fresh = tuple(p for p in proposals if not _is_said(p, settings))
    items = sum(len(run.items) for mine, _ in effects for run in mine)
    found_all = Suggestions(name, fresh, tuple(cannot_tell), items)
    tell("judging what was redelivered")
    return _tried(findings, arn, settings, found_all, are_named)


def _as_if_well(run: RunLines) -> RunLines:
    """Take a worker's handling of which no line tells the end for one that ended well: its words for that are what is looked for."""
    return replace(run, status="success") if run.status == "unknown" else run


def _consumers(findings: Findings, queue: str) -> tuple[str, str, list[tuple[str, str | None]]]:
    """Return a queue's name and ARN, and who consumes it: log group and function (None: a worker)."""
    found: dict[tuple[str, str], set[tuple[str, str | None]]] = defaultdict(set)
    for table, name in ((DELIVERIES, "queue"), (CONSUMERS, "queue_name")):
        where = one_of(name, [queue]) | one_of("queue_arn", [queue])
        for batch in findings.scan(table, [name, "queue_arn", "log_group", "function_name"], where):
            for row in plain_rows(batch):
                if row["log_group"] is not None:
                    found[row[name], row["queue_arn"]].add((row["log_group"], row["function_name"]))
    if not found:
        raise QueueUnknownError(
            said("no consumer of a queue {queue} is known in this lake", queue=repr(queue)),
            "`doubletake status` lists the queues, and what their logs tell.",
        )
    if len(found) > 1:
        arns = ", ".join(sorted(arn for _, arn in found))
        raise QueueUnknownError(
            said("{name} is the name of several queues", name=repr(queue)),
            said("Give one of their ARNs: {names}.", names=arns),
        )
    ((name, arn), groups) = next(iter(found.items()))
    return name, arn, sorted(groups, key=lambda of: (of[0], of[1] or ""))


def _of_consumer(who: str, section: str, runs: Sequence[RunLines]) -> Marks:
    templates = templates_of(runs)
    named = named_lines(runs, templates)
    found = marks_of(who, section, runs, [placed(t, runs, named) for t in templates])
    taken, too_few = order(who, section, runs, found.started, found.effect)
    place = message_id(who, section, runs)
    count = receive_count(who, section, runs, found.started)
    return found._replace(
        proposals=(*found.proposals, *(p for p in (place, count, taken) if p)),
        cannot_tell=(*found.cannot_tell, *([too_few] if too_few else [])),
    )


def _with_start_that_tells_key(found: Marks, runs: Sequence[RunLines]) -> list[Proposal]:
    """Let the start's line tell which message the key is of that an effect's line names alone."""
    start = found.started
    if start is None or found.effect is None or found.effect.where != OF_LINE:
        return list(found.proposals)
    return [with_key(p, start, runs, is_known=True) if p.kind == "started" else p for p in found.proposals]


def _of_few_named(who: str, share: float) -> str:
    """Say of a function why the messages that its lines name may be none that it was given."""
    return said(
        "{who}: only {share} of its runs that ended well name a message, and no line says that the run has it in hand: it may name "
        "those that it sends.",
        who=who,
        share=f"{100 * share:.0f} %",
    )


def _of_unended(who: str, runs: int) -> str:
    """Say of a function why none of its lines can be told as done: the last line of a run that may have gone on is no end of its work."""
    return said(
        "{who}: no line tells how {runs} ended, so nothing shows which lines mean that work was done. With SystemLogLevel WARN Lambda "
        "logs no START and no REPORT of runs that end well; INFO brings them.",
        who=who,
        runs=counted(runs, "run"),
    )


def _of_nameless(who: str, found: Nameless) -> str:
    """Say what is not told of a consumer whose lines the grammar reads no message from."""
    if found.why_not:
        return said("{who}: no line names a message by a word that is known, and {why}.", who=who, why=found.why_not)
    if found.by_key:
        return said(
            "{who}: no line names a message. What stands behind {name} is another in each run, so it is taken for the "
            "business key of the work: repeats are told by it, and what was not reached is not.",
            who=who,
            name=found.by_key,
        )
    return said(
        "{who}: no word before the ids in these lines tells that they are messages' ids. They come as such do; hold one "
        "against a message id of the queue before you accept.",
        who=who,
    )


def _with_key(proposal: Proposal, effects: Sequence[tuple[Sequence[RunLines], Marks]]) -> Proposal:
    """Let an effect's line name the work where no body does."""
    if proposal.kind != "effect":
        return proposal
    for runs, found in effects:
        for way in found.ways:
            if way.expression == proposal.value:
                return with_key(proposal, way, runs)
    return proposal


def _is_said(proposal: Proposal, settings: Settings) -> bool:
    """Tell whether the settings file says something of this already, whatever it says."""
    if proposal.section == "queue":
        return settings.queue(proposal.name).business_key is not None
    consumers = settings.functions if proposal.section == "function" else settings.workers
    theirs = next((c for c in consumers if proposal.name in (c.name, c.log_group)), None)
    return theirs is not None and getattr(theirs, proposal.kind) not in (None, False)


def _tried(findings: Findings, queue_arn: str, settings: Settings, found: Suggestions, are_named: bool) -> Suggestions:
    """Judge what was redelivered once more, under the proposals: what they would decide.

    Nobody knows of what the lines name in words of their own alone (``are_named``: of none) whether it was redelivered.
    """
    if not found.proposals:
        return found
    if any(p.is_rival for p in found.proposals):
        why = said("which line means that work was done is to be said first")
        return Suggestions(**{**vars(found), "not_tried": why})
    now = verdicts_now(findings, queue_arn)
    if not now and not findings.read(DELIVERIES, ["item_id"], equals("queue_arn", queue_arn)).num_rows:
        why = said("no line names a message as yet: correlate again to see what they decide")
        return Suggestions(**{**vars(found), "not_tried": why})
    if not now and not are_named:
        why = said("what these lines name was not known as yet: correlate again to see what they decide")
        return Suggestions(**{**vars(found), "not_tried": why})
    proposed = Settings.parse(settings_text(settings.text, found.proposals))
    then = verdicts_under(findings, queue_arn, proposed)
    if then is None or verdicts_under(findings, queue_arn, settings) != now:
        why = (
            said(
                "what was redelivered was handled by workers, or is too much to judge on the way: correlate again to see what they decide"
            )
            if then is None
            else said(
                "judged on the way, what was redelivered does not come out as the correlation has it: correlate again to see what they decide"
            )
        )
        return Suggestions(**{**vars(found), "not_tried": why})
    return Suggestions(**{**vars(found), "now": now, "then": then})
