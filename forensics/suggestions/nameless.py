"""Runs of a consumer whose lines the grammar reads no message from, with the ids that its own words may name messages by.

Such a consumer says "got 6f1c… from queue", where no word tells that the id is a message's. Ids are taken for messages' where
some are known as such, or where they come as messages do (``coming_again``): another in each handling, and again as a redelivery
is. A function that prints no
id says "charged payment_id=p-7" alone: what behaves so behind the name of a piece of work is its business key.
"""

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, islice
from typing import NamedTuple

from forensics.clock import micros
from forensics.lake import Findings
from forensics.lake.filters import equals, is_missing, one_of
from forensics.lake.rows import plain_rows
from forensics.parsers import parse_line
from forensics.parsers.app_lines import PREFIX
from forensics.parsers.grammar import UUID
from forensics.parsers.threads import thread_of
from forensics.run_ends import CUT_OFF
from forensics.sentence import said
from forensics.suggestions.circumstances import circumstances
from forensics.suggestions.coming_again import QueueMessages
from forensics.suggestions.guards import tells_repeat
from forensics.suggestions.jobs import jobs_of
from forensics.suggestions.keys import body_values
from forensics.suggestions.line_keys import keys_told, works_named
from forensics.suggestions.model import MESSAGE_ID, OF_LINE, Item, Line, RunLines
from forensics.suggestions.outcomes import LEAST_ITEMS, LEAST_SHARE
from forensics.suggestions.runs import MOST_FAILED, MOST_SAMPLED, OWN_KINDS, Smallest, fill, told_once
from forensics.suggestions.templates import MOST_CHARS, shape_of
from forensics.tables.evidence import LOG_EVENTS
from forensics.tables.findings import INVOCATIONS

MOST_WORKER_LINES = 100_000
"""Lines of a worker that are read, the first ones that are stored."""
_LEAST_OF_HANDLINGS = 0.5
"""Ids that stand with fewer of the handlings name something else than what each is about."""
_LEAST_KNOWN, _LEAST_OF_KNOWN = 3, 0.5
"""Where so many ids are known as messages' of the queue, so few of all need be known so, or come as messages do."""
_LEAST_SENT, _LEAST_OF_SENT = 3, 0.3
"""Of messages that a line names and whose run ended well, so many, and so few of all, must be handled too soon to have come again: others'
handling may be in no run that was read."""
_ID = re.compile(UUID)
_OTHERS = re.compile(
    r"(?:trace|span|correlation|request|req|session|user|tenant|customer|client|account|device|parent)"
    r"(?:[ _-]?(?:id|uuid|key))?\W*\Z",
    re.IGNORECASE,
)
"""Words before an id that say it is another thing's."""


class Nameless(NamedTuple):
    """Runs with the items that their lines may name, and why there are none of them.

    ``by_key``: what stands before the keys where no line holds an id, and the keys are all that names a message's work.
    ``has_sent``: some lines name messages that their run sends; these are no items of it.
    """

    runs: list[RunLines]
    why_not: str | None = None
    by_key: str | None = None
    has_sent: bool = False


class _Naming(NamedTuple):
    """An id at a place (a path of a JSON line, the words before it) of a line; ``saying`` is what the line says around the id."""

    place: str
    value: str
    line: int
    saying: tuple[tuple[str, str], ...]


def nameless_runs(findings: Findings, queue_arn: str, log_group: str, function: str | None) -> Nameless:
    """Return the runs of a queue's consumer with what may be its messages; of a worker each id's lines in a stream are one run.

    Of functions a fixed sample of runs is read and those that failed, of workers MOST_WORKER_LINES. Keys are looked for in runs
    of functions, and in jobs of frameworks that say when these begin and end: nothing else parts a worker's lines into handlings.
    """
    messages = QueueMessages(findings, queue_arn)
    runs = _of_function(findings, log_group, function)
    if not runs:
        return (
            Nameless([], "no line tells how its runs ended") if function else _of_worker(findings, log_group, messages)
        )
    ids = _with_items(runs, partial(_namings, passed_over=_circumstances(runs)), MESSAGE_ID, messages)
    keys = ids if ids.runs else _with_items(runs, _keys_in, OF_LINE, messages)
    found = keys if keys.runs else ids if ids.why_not else keys
    return found._replace(has_sent=ids.has_sent)


def _with_items(
    runs: Sequence[RunLines], naming: Callable[[RunLines], Iterator[_Naming]], kind: str, messages: QueueMessages
) -> Nameless:
    """Give runs what their lines name as their items; ``kind`` says by what these are known."""
    named = [list(naming(run)) for run in runs]
    sent = _sent_at(runs, named, messages) if kind == MESSAGE_ID else frozenset[str]()
    named = [[n for n in of if n.place not in sent] for of in named]
    places, why_not = _places(runs, named, messages)
    for run, of in zip(runs, named, strict=True):
        values = dict.fromkeys(n.value for n in sorted(of, key=lambda n: n.line) if n.place in places)
        run.items += [Item(value, number, {value: kind}) for number, value in enumerate(values, 1)]
    by_key = min(places) if places and kind == OF_LINE else None
    return Nameless([run for run in runs if run.items], why_not, by_key, bool(sent))


def _of_function(findings: Findings, log_group: str, function: str | None) -> list[RunLines]:
    where = equals("log_group", log_group) & ~is_missing("ended_at")
    if function:
        where &= equals("function_name", function) | is_missing("function_name")
    cut_off, others = Smallest(MOST_FAILED), Smallest(MOST_SAMPLED)
    for batch in findings.scan(INVOCATIONS, ["invocation_id", "end_status"], where):
        for name, status in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            (cut_off if status in CUT_OFF else others).add(name)
    columns = ["invocation_id", "log_stream", "started_at", "ended_at", "end_status"]
    chosen = plain_rows(
        findings.read(INVOCATIONS, columns, where & one_of("invocation_id", cut_off.names() + others.names()))
    )
    chosen.sort(key=lambda row: (row["started_at"], row["invocation_id"]))
    runs: list[RunLines] = []
    at: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, row in enumerate(chosen):
        span = micros(row["started_at"]), micros(row["ended_at"])
        of_stream = row["log_stream"]
        runs.append(RunLines(row["invocation_id"], log_group, row["end_status"], *span, log_stream=of_stream))
        at[log_group, row["log_stream"]].append(number)
    fill(findings, runs, at)
    return runs


def _of_worker(findings: Findings, log_group: str, messages: QueueMessages) -> Nameless:
    streams: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    columns = ["log_stream", "logged_at", "order_in_ms", "line"]
    stored = (
        row for batch in findings.scan(LOG_EVENTS, columns, equals("log_group", log_group)) for row in plain_rows(batch)
    )
    theirs = (row for row in stored if parse_line(row["line"]).kind in OWN_KINDS)
    for row in islice(theirs, MOST_WORKER_LINES):
        streams[row["log_stream"]].append((micros(row["logged_at"]), row["order_in_ms"], row["line"]))
    spans: list[_Span] = []
    stream_of: dict[int, RunLines] = {}
    whole = [
        RunLines(stream, log_group, "success", 0, 0, lines=told_once(lines))
        for stream, lines in sorted(streams.items())
    ]
    passed_over = _circumstances(whole)
    for stream in whole:
        of_stream = _handlings(stream, passed_over)
        stream_of |= {id(span.run): stream for span in of_stream}
        spans += of_stream
    spans.sort(key=lambda span: (span.run.started_at, span.run.run_id))
    runs = [span.run for span in spans]
    indexes = _delivery_indexes(runs)
    places, why_not = _places(runs, [span.named for span in spans], messages)
    chosen = [span for span in spans if any(n.place in places for n in span.named)]
    keys = keys_told([(span.run.run_id.rpartition("|")[2], [line.text for line in span.beside]) for span in chosen])
    for span, key in zip(chosen, keys, strict=True):
        value = span.run.run_id.rpartition("|")[2]
        values = {value: MESSAGE_ID} | ({key: OF_LINE} if key else {})
        span.run.items.append(Item(value, 1, values, delivery_index=indexes[span.run.run_id]))
        if key:
            span.run.lines += [line for line in span.beside if key in line.text]
            span.run.lines.sort(key=lambda line: line.at)
            span.run.ended_at = span.run.lines[-1].at
    _with_lines_between(chosen, stream_of)
    told = {id(span.run) for span in [*chosen, *_others_of(chosen, spans)]}
    if not told:
        jobs = sorted(chain.from_iterable(map(jobs_of, whole)), key=lambda job: (job.started_at, job.run_id))
        by_keys = _with_items(jobs, _keys_in, OF_LINE, messages)
        return by_keys if by_keys.runs else Nameless([], why_not)
    return Nameless([run for run in runs if id(run) in told], why_not)


def _delivery_indexes(runs: Sequence[RunLines]) -> dict[str, int]:
    """Return of each handling, in order of time, which of its id's it is, from 1; also those count that are not chosen."""
    heard: Counter[str] = Counter()
    found: dict[str, int] = {}
    for run in runs:
        value = run.run_id.rpartition("|")[2]
        heard[value] += 1
        found[run.run_id] = heard[value]
    return found


class _Span(NamedTuple):
    """A handling as the lines that name its id, and what its thread wrote ``beside`` them, where lines say their thread."""

    run: RunLines
    named: list[_Naming]
    beside: list[Line]


def _others_of(chosen: Sequence[_Span], spans: Sequence[_Span]) -> list[_Span]:
    """Return the handlings of chosen messages that have none of their lines: of these nothing tells how they ended.

    Where the next handling begins before one is done, the lines of both stand in the next.
    """
    messages = {item.message_id for span in chosen for item in span.run.items}
    others = [s for s in spans if not s.run.items and s.run.run_id.rpartition("|")[2] in messages]
    indexes = _delivery_indexes([span.run for span in spans])
    for span in others:
        value = span.run.run_id.rpartition("|")[2]
        span.run.status = "unknown"
        span.run.items.append(Item(value, 1, {value: MESSAGE_ID}, delivery_index=indexes[span.run.run_id]))
    return others


def _circumstances(runs: Sequence[RunLines]) -> frozenset[str]:
    """Return the fields that tell of circumstances; what names one id, in a run or a stream, is one handling."""
    lines = [(run.run_id, line.text) for run in runs for line in run.lines if len(line.text) <= MOST_CHARS]
    return circumstances(
        ((run, one[0].lower()), text, one.start()) for run, text in lines for one in _ID.finditer(text)
    )


def _handlings(whole: RunLines, passed_over: frozenset[str]) -> list[_Span]:
    """Part a stream by the ids in it: from an id's first line until one that says the same comes again."""
    of_value: dict[str, list[list[_Naming]]] = defaultdict(list)
    for naming in _namings(whole, passed_over):
        mine = of_value[naming.value]
        if not mine or (naming.saying == mine[-1][0].saying and naming.line != mine[-1][-1].line):
            mine.append([])
        mine[-1].append(naming)
    found = []
    owners: dict[int, list[Line]] = {}
    for value, handlings in of_value.items():
        for number, of in enumerate(handlings):
            lines = [whole.lines[place] for place in dict.fromkeys(n.line for n in of)]
            name = f"{whole.run_id}|{number}|{value}"
            span = lines[0].at, lines[-1].at
            run = RunLines(name, whole.log_group, "success", *span, lines=lines, log_stream=whole.run_id)
            found.append(_Span(run, of, []))
            owners |= {naming.line: found[-1].beside for naming in of}
    _give_by_thread(whole.lines, owners)
    return found


def _with_lines_between(spans: Sequence[_Span], stream_of: Mapping[int, RunLines]) -> None:
    """Give each handling that no other lies over what its stream has between its lines, where no line says its thread.

    What tells of a repeat and of no message goes ``beside`` the one begun last: whose it is hangs on all that were on.
    """
    of_stream: dict[int, list[_Span]] = defaultdict(list)
    for span in spans:
        of_stream[id(stream_of[id(span.run)])].append(span)
    for mine in of_stream.values():
        mine.sort(key=lambda span: span.named[0].line)
        ends = [-1, *accumulate((span.named[-1].line for span in mine), max)]
        begins = [*(span.named[0].line for span in mine[1:]), math.inf]
        for span, before, behind in zip(mine, ends, begins, strict=False):
            first, last = span.named[0].line, span.named[-1].line
            if before < first and last < behind and not span.beside:
                span.run.lines = stream_of[id(span.run)].lines[first : last + 1]
        named = {naming.line for span in mine for naming in span.named}
        firsts = [span.named[0].line for span in mine]
        for place, line in enumerate(stream_of[id(mine[0].run)].lines):
            if place > firsts[0] and place not in named and tells_repeat(line.text):
                mine[bisect_right(firsts, place) - 1].run.beside.append(line)


def _give_by_thread(lines: Sequence[Line], owners: Mapping[int, list[Line]]) -> None:
    """Give each line without an id to the handling that its thread named last, if several threads write the stream."""
    threads = {number: thread_of(lines[number].text) for number in owners}
    if len(set(threads.values()) - {None}) < 2:
        return
    at_hand: dict[str, list[Line]] = {}
    for number, line in enumerate(lines):
        thread = threads[number] if number in owners else thread_of(line.text)
        if thread is not None and number in owners:
            at_hand[thread] = owners[number]
        elif thread in at_hand:
            at_hand[thread].append(line)


def _namings(run: RunLines, passed_over: frozenset[str]) -> Iterator[_Naming]:
    """Yield the ids in a run's lines; its own request id is none of them."""
    parts = run.run_id.split("|")
    own = parts[2].lower() if len(parts) == 4 else ""
    for number, line in enumerate(run.lines):
        if len(line.text) > MOST_CHARS:
            continue
        begin = len(PREFIX.find(line.text) or "")
        shapes: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for one in _ID.finditer(line.text, begin):
            shapes[one[0].lower()].append(shape_of(line.text, one.start(), one.end(), passed_over))
        for place, value in dict.fromkeys(_places_in(line.text, begin, passed_over) if shapes else ()):
            if value != own and value in shapes:
                yield _Naming(place, value, number, tuple(shapes[value]))


def _keys_in(run: RunLines) -> Iterator[_Naming]:
    """Yield what stands behind a name of a piece of work in a run's lines, as in ``payment_id=p-7``."""
    for number, line in enumerate(run.lines):
        for name, value, start in works_named(line.text) if len(line.text) <= MOST_CHARS else ():
            if not _OTHERS.search(line.text[:start]):
                yield _Naming(name, value, number, ())


def _places_in(text: str, begin: int, passed_over: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield places and ids of a line; of a JSON line its fields, and the words in them."""
    if not text.startswith("{"):
        for one in _ID.finditer(text, begin):
            if not _OTHERS.search(text[: one.start()]):
                yield shape_of(text, one.start(), one.end(), passed_over)[0], one[0].lower()
        return
    for field, path in body_values(text).items():
        for one in _ID.finditer(field):
            if not _OTHERS.search(field[: one.start()] or path):
                said = shape_of(field, one.start(), one.end())[0]
                yield f"{path} {said}".rstrip(), one[0].lower()


_Seen = Mapping[str, Mapping[str, Sequence[int]]]
"""By place and id, the runs (by number, in order of time) that name it there."""


def _by_place(runs: Sequence[RunLines], named: Sequence[Sequence[_Naming]]) -> _Seen:
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number in range(len(runs)):
        for place, value in dict.fromkeys((n.place, n.value) for n in named[number]):
            found[place][value].append(number)
    return found


def _sent_at(runs: Sequence[RunLines], named: Sequence[Sequence[_Naming]], messages: QueueMessages) -> frozenset[str]:
    """Return the places whose ids name messages that the run sends: others handle them before they could have come again."""
    naming: dict[str, list[int]] = defaultdict(list)
    for number, of in enumerate(named):
        for value in {n.value for n in of}:
            naming[value].append(number)
    found = set()
    for place, ids in _by_place(runs, named).items():
        first = {value: of[0] for value, of in ids.items() if runs[of[0]].status == "success"}
        sent = sum(messages.was_only_sent([runs[n] for n in naming[i] if n >= at]) for i, at in first.items())
        if sent >= max(_LEAST_SENT, _LEAST_OF_SENT * len(first)):
            found.add(place)
    return frozenset(found)


def _places(
    runs: Sequence[RunLines], named: Sequence[Sequence[_Naming]], messages: QueueMessages
) -> tuple[set[str], str | None]:
    """Return the places whose ids are messages' or behave as such; none, and why, where several kinds of ids do."""
    naming = sum(bool(of) for of in named)
    seen = _by_place(runs, named)
    known = messages.among({value for ids in seen.values() for value in ids})

    def least_coming_so(ids: Mapping[str, object]) -> float:
        is_known = len(known & ids.keys()) >= _LEAST_KNOWN
        return _LEAST_OF_KNOWN if is_known else 1 - 2 * (1 - LEAST_SHARE)

    fitting = {
        place: ids
        for place, ids in seen.items()
        if len(ids) >= LEAST_ITEMS
        and len({number for of in ids.values() for number in of}) >= _LEAST_OF_HANDLINGS * naming
        and sum(i in known or messages.come_so([runs[n] for n in of]) for i, of in ids.items())
        >= least_coming_so(ids) * len(ids)
    }
    families: list[tuple[set[str], set[str]]] = []
    for place, ids in sorted(fitting.items(), key=lambda told: (-len(told[1]), told[0])):
        for places, members in families:
            if len(members & ids.keys()) >= LEAST_SHARE * len(ids):
                places.add(place)
                break
        else:
            families.append(({place}, set(ids)))
    if known_ones := [family for family in families if len(known & family[1]) >= _LEAST_KNOWN]:
        families = known_ones
    if len(families) == 1:
        return families[0][0], None
    if not families:
        return set(), said("no id stands in its lines that is another in each handling")
    shown = ", ".join(repr(min(places).strip()) for places, _ in families[:2])
    return set(), said(
        "its lines hold several kinds of ids, behind {names}, and nothing tells which are the messages'", names=shown
    )
