"""What names the work of a message in its body, and whether a consumer takes its batch one after the other."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from forensics.judging.order import LEAST_RUNS, ItemTimes, hand_overs, is_in_order
from forensics.parsers import parse_line
from forensics.parsers.mentions import mentions
from forensics.sentence import counted, said
from forensics.suggestions.model import MESSAGE_ID, OF_LINE, Proposal, RunLines
from forensics.suggestions.templates import Template

LEAST_MESSAGES = 5
LEAST_RUNS_IN_TURN = 5
"""Fewer runs may all have been of one kind, however many messages they had."""
_LEAST_SHARE = 0.95
_LEAST_CHARS, _MOST_CHARS = 3, 200
_MOST_DEPTH, _MOST_LEAVES = 5, 60
_COUNT = re.compile(
    r"(?<![Rr]e)(?P<name>(?:approx(?:imate)?[ _.-]?)?(?:receive[ds]?|delivery)(?:[ _.-]?(?:count|number|no\.?))?)"
    r"(?P<sign>(?:\x1b\[[0-9;]{0,20}m)*\\?[\"']?(?:=|: ?| ?#| )(?:\x1b\[[0-9;]{0,20}m)*\\?[\"']?)(?P<count>[0-9]{1,6})(?![\w.])",
    re.ASCII | re.IGNORECASE,
)
"""How often a message was received, in words of a worker's own; a terminal's colours may part the name from the number."""
_SPECIAL = re.compile(r"([\\.\[])")
_IS_COUNT = re.compile(r"count|number|no\.?\Z", re.IGNORECASE)
_LEAST_NAMED = 0.5
"""A word that names a count need not be 1 that often: of a batch that ran into its timeout all but the first may have no line of it."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")


def body_values(body: str | None) -> dict[str, str]:
    """Return the values of a body that can name something, each with its path; a value that stands twice names nothing.

    >>> body_values('{"payment_id": "pay-7", "amount": 980, "at": "2026-11-20T05:12:00Z", "paid": true}')
    {'pay-7': '$.payment_id', '980': '$.amount'}
    """
    try:
        whole = json.loads(body or "")
    except (ValueError, RecursionError):
        return {}
    found: dict[str, str] = {}
    twice = set()
    for place, (path, value) in enumerate(_leaves(whole, "$", 0)):
        if place >= _MOST_LEAVES:
            break
        if value in found:
            twice.add(value)
        found[value] = path
    return {value: path for value, path in found.items() if value not in twice}


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and depth < _MOST_DEPTH:
        for name, inner in value.items():
            if _NAME.fullmatch(name):
                yield from _leaves(inner, f"{path}.{name}", depth + 1)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        text = str(value)
        if _LEAST_CHARS <= len(text) <= _MOST_CHARS and not _TIME.match(text):
            yield path, text


def with_telling_values(runs: list[RunLines]) -> list[RunLines]:
    """Leave of what bodies hold only the places whose values are another in (nearly) every message: the others name nothing."""
    by_path: dict[str, dict[str, str]] = defaultdict(dict)
    for run in runs:
        for item in run.items:
            for value, path in item.values.items():
                by_path[path][item.message_id] = value
    telling = {path for path, of in by_path.items() if len(set(of.values())) >= _LEAST_SHARE * len(of)} | {MESSAGE_ID}
    for run in runs:
        run.items = [
            replace(item, values={value: path for value, path in item.values.items() if path in telling})
            for item in run.items
        ]
    return runs


def business_key(queue: str, runs: Sequence[RunLines], effect: Template | None) -> tuple[Proposal | None, str | None]:
    """Return the path into the body that names the work, or why none was found.

    It is there in (nearly) every message, and another in each. Of several the one that the effect's line prints is meant, or
    the one that producers send as deduplication id.
    """
    values: dict[str, dict[str, str]] = defaultdict(dict)
    same_as_dedup: dict[str, int] = defaultdict(int)
    messages = set()
    for run in runs:
        for item in run.items:
            messages.add(item.message_id)
            for value, path in item.values.items():
                if path not in (MESSAGE_ID, OF_LINE) and item.message_id not in values[path]:
                    values[path][item.message_id] = value
                    same_as_dedup[path] += value == item.deduplication_id
    if len(messages) < LEAST_MESSAGES or not values:
        if values:
            return None, None
        return None, said("{queue}: no body was printed, so that no business key can be looked for.", queue=queue)
    fitting = {
        path: found
        for path, found in values.items()
        if len(found) >= _LEAST_SHARE * len(messages) and len(set(found.values())) >= _LEAST_SHARE * len(found)
    }
    by_line = effect.where if effect and effect.where in fitting else None
    by_dedup = next((p for p in sorted(fitting) if same_as_dedup[p] >= _LEAST_SHARE * len(fitting[p])), None)
    named_by = by_line or by_dedup
    if named_by is None:
        many = ", ".join(sorted(fitting))
        if not fitting:
            return None, said("{queue}: no value of the bodies is another in every message.", queue=queue)
        return None, said(
            "{queue}: another in every message: {names}; nothing tells which names the work, for no effect's line prints one.",
            queue=queue,
            names=many,
        )
    why = (
        said("another value in each message, and the effect's line prints it")
        if by_line
        else said("another value in each message, and producers send it as deduplication id")
    )
    found = fitting[named_by]
    shared = [v for v in found.values() if list(found.values()).count(v) > 1] if len(found) < 2_000 else []
    return Proposal(
        "queue",
        queue,
        "business_key",
        named_by,
        len(set(found.values())),
        len(messages),
        "messages",
        why,
        0,
        tuple(sorted(found.values())[:3]),
        tuple(dict.fromkeys(sorted(shared)))[:3],
    ), None


def message_id(name: str, section: str, runs: Sequence[RunLines]) -> Proposal | None:
    """Return the path at which (nearly) every JSON line of a consumer holds its message's id, where no word there says so.

    Ids that stand behind a word such as message or record are found without a setting.
    """
    lines = 0
    at_path: dict[str, int] = defaultdict(int)
    examples: dict[str, str] = {}
    for run in runs:
        ids = {item.message_id for item in run.items}
        for line in run.lines:
            if not line.text.startswith("{"):
                continue
            lines += 1
            if mentions(line.text) is not None:
                continue
            for value, path in body_values(line.text).items():
                if value.lower() in ids:
                    at_path[path] += 1
                    examples.setdefault(path, line.text)
    path = max(sorted(at_path), key=at_path.__getitem__, default="")
    if lines < LEAST_MESSAGES or at_path[path] < _LEAST_SHARE * lines:
        return None
    why = said("the id of a message of the run stands there")
    fits = at_path[path]
    return Proposal(section, name, "message_id", path, fits, lines, "lines in JSON", why, 0, (examples[path],))


def receive_count(name: str, section: str, runs: Sequence[RunLines], started: Template | None) -> Proposal | None:
    """Return how the line that opens a message's work tells its receive count, where no word there says so already.

    It must be 1 when (nearly) every message is opened first, go up each time that one is opened again, and have done so once. A
    message whose earlier deliveries have no such line is not opened first: those before it in a batch may have taken all the time.
    """
    lines = [
        (runs[place].items[saying.item], runs[place].lines[saying.line].text)
        for place, sayings in sorted((started.sayings if started else {}).items())
        for saying in sayings
    ]
    told: dict[tuple[str, str], dict[str, list[tuple[int, bool]]]] = defaultdict(lambda: defaultdict(list))
    for item, text in lines:
        read = parse_line(text)
        is_counted = any(record.receive_count is not None for record in read.records or ())
        if not is_counted and (read.worker is None or read.worker.receive_count is None):
            first: dict[tuple[str, str], re.Match[str]] = {}
            for found in _COUNT.finditer(text):  # a span's fields may stand in a line twice
                first.setdefault((found["name"], found["sign"]), found)
            for found in first.values():
                heard = int(found["count"]), (item.delivery_index or 1) == 1
                told[found["name"], found["sign"]][item.message_id].append(heard)
    for (word, sign), counts in told.items():
        of = counts.values()
        firsts = [heard[0][0] for heard in of if heard[0][1]]
        least = _LEAST_NAMED if _IS_COUNT.search(word) else _LEAST_SHARE
        is_one = firsts and firsts.count(1) >= least * len(firsts)
        go_up = all(before[0] < after[0] for heard in of for before, after in pairwise(heard))
        came_again = sum(len(heard) > 1 for heard in of)
        fits = sum(len(heard) for heard in of)
        if is_one and go_up and came_again and fits >= _LEAST_SHARE * len(lines):
            lead = _SPECIAL.sub(r"\\\1", f"{word}{sign}").replace("\x1b", r"\x1b")
            value = lead + r"(?P<receive_count>\d+)"
            why = said(
                "it is 1 where a message is begun first, and goes up with each redelivery of {n} others", n=came_again
            )
            opened = "lines that open a message's work"
            return Proposal(
                section, name, "receive_count", value, fits, len(lines), opened, why, 0, (lines[0][1].strip(),)
            )
    return None


def order(
    name: str, section: str, runs: Sequence[RunLines], started: Template | None, effect: Template | None
) -> tuple[Proposal | None, str | None]:
    """Return how a consumer takes its batch, or why what speaks for one after the other is too little.

    At least 30 runs of several messages say so, or as many messages that were begun when the one before was done, which is what 30 runs
    of two show; one run says that it does not go in order.
    """
    begun, done = _times(runs, started), _times(runs, effect)
    told: dict[str, bool | None] = {}
    in_turn = 0
    for place in sorted(begun.keys() | done.keys()):
        run = runs[place]
        items = range(len(run.items))
        times = [ItemTimes(begun.get(place, {}).get(n), done.get(place, {}).get(n)) for n in items]
        told[run.run_id] = is_in_order(run.started_at, times)
        in_turn += hand_overs(times) if told[run.run_id] else 0
    against = [run_id for run_id, is_so in told.items() if is_so is False]
    in_order = sum(is_so is True for is_so in told.values())
    is_enough = in_order >= LEAST_RUNS or (in_order >= LEAST_RUNS_IN_TURN and in_turn >= LEAST_RUNS)
    if not is_enough and not against:
        if not in_order:
            return None, None
        return None, said(
            "{name}: {runs} took a batch one message after the other, and none against it; `order` is proposed from {least} runs on, or "
            "from {some} in which {least} messages were begun when the one before was done (here {n}).",
            name=name,
            runs=counted(in_order, "run"),
            least=LEAST_RUNS,
            some=LEAST_RUNS_IN_TURN,
            n=in_turn,
        )
    taken = "sequential" if not against else "parallel"
    why = (
        said("each message was begun when the one before was done, or done as long after it as the first one took")
        if not against
        else said(
            "messages were begun before the one before was done, or done in another order than the batch's, in {runs}",
            runs=counted(len(against), "run"),
        )
    )
    fits, several = len(against) or in_order, in_order + len(against)
    of, examples = "runs of several messages", tuple(f"run {run_id}" for run_id in against[:3])
    return Proposal(section, name, "order", taken, fits, several, of, why, 0, examples), None


def _times(runs: Sequence[RunLines], mark: Template | None) -> dict[int, dict[int, int]]:
    """Return per run when a mark first names each of its messages (µs), by the message's place among the run's items."""
    found: dict[int, dict[int, int]] = {}
    for place, sayings in mark.sayings.items() if mark else ():
        of_run = found.setdefault(place, {})
        for saying in sayings:
            at = runs[place].lines[saying.line].at
            of_run[saying.item] = min(of_run.get(saying.item, at), at)
    return found
