"""Lines that tell of a repeat and name no message: where handlings lie over one another, any that is on may be the one it stopped."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from forensics.parsers.grammar import UUID
from forensics.parsers.marks import mark
from forensics.parsers.threads import thread_of
from forensics.suggestions.circumstances import masked
from forensics.suggestions.guards import tells_repeat
from forensics.suggestions.model import Line, RunLines
from forensics.suggestions.outcomes import LEAST_SHARE
from forensics.suggestions.runs import MOST_REPEATED
from forensics.suggestions.templates import MOST_CHARS
from forensics.suggestions.timing import Placed

Handling = tuple[int, int]
"""A run, and the place of a message in it."""
Held = Mapping[Handling, int]
"""The handlings that have a line, and when it stood there first."""
_ID = re.compile(UUID)
_LEAST_OF_SAMPLE = 0.5
"""Of repeats only a part is read where there are very many: the line of one that is not stands among others."""


class _Work(NamedTuple):
    """A handling, and from when to when it was on; without ``is_closed`` it lacks the closing line."""

    handling: Handling
    begun_at: int
    over_at: int
    is_closed: bool


class Unnamed:
    """The lines of some runs that tell of repeats and name no message; ``placed`` are those that name one, by its id or a key."""

    def __init__(self, runs: Sequence[RunLines], placed: Sequence[Placed]) -> None:
        self._runs = runs
        self._begun: dict[Handling, int] = {}
        naming: dict[int, set[int]] = defaultdict(set)
        for place, saying in ((place, s) for p in placed for place, of in p.template.sayings.items() for s in of):
            at = runs[place].lines[saying.line].at
            self._begun[place, saying.item] = min(self._begun.get((place, saying.item), at), at)
            naming[place].add(saying.line)
        for place, run in enumerate(runs):
            for number in range(len(run.items)):
                if len(run.items) == 1 or (place, number) not in self._begun:
                    self._begun[place, number] = run.started_at
        lines: dict[str, dict[tuple[str, str], set[Line]]] = defaultdict(lambda: defaultdict(set))
        self._texts: dict[str, str] = {}
        for place, run in enumerate(runs):
            for line in _naming_none(run, naming[place]):
                said = masked(line.text)
                self._texts.setdefault(said, line.text.strip())
                lines[said][_stream(run)].add(line)
        self._lines = lines
        self._of_message: dict[str, list[Handling]] = defaultdict(list)
        for handling in sorted(self._begun, key=lambda h: (self._begun[h], h)):
            self._of_message[self._message(handling)].append(handling)
        self._strays = list(self._strayed()) if lines else []
        repeated = {i.message_id for run in runs for i in run.items if (i.delivery_index or 1) > 1}
        self._least = _LEAST_OF_SAMPLE if len(repeated) >= MOST_REPEATED else LEAST_SHARE

    def stopped_beside(self, closing: Placed) -> dict[str, frozenset[Handling]]:
        """Return, by such a line, as many repeats with a ``closing`` line as it must have stopped.

        Each stopped one handling that was on. That is one without the closing line where any such repeat was, and no other line's;
        else one with it. Where only new work was on, the line tells of something else.
        """
        if not self._lines:
            return {}
        told = self._told(closing)
        done_at: dict[str, int] = {}
        for handling, of in told.items():
            message_id = self._message(handling)
            done_at[message_id] = min(done_at.get(message_id, of[0]), *of)
        works = self._works(self._ended(told))
        found = {}
        for said, of_streams in self._lines.items():
            stopped: set[Handling] = set()
            closed, others, nobodys, is_known = 0, 0, 0, False
            for stream, lines in of_streams.items():
                taken: set[Handling] = set()
                for line, all_on in _on_at(sorted(lines), works.get(stream, ())):
                    on = self._of_thread(line, all_on)
                    known = [w for w in on if self._was_done(w, done_at, line.at)]
                    unclosed = [w for w in known if not w.is_closed and w.handling not in taken]
                    if unclosed:
                        taken.add(min(unclosed, key=lambda w: (w.over_at, w.handling)).handling)
                        others += 1
                        continue
                    repeats = [w for w in known if w.is_closed]
                    is_known |= bool(repeats)
                    repeats = repeats or [w for w in on if w.is_closed and self._came_again(w)]
                    closed += bool(repeats)
                    nobodys += bool(on) and not repeats
                    fresh = [w for w in repeats if w.handling not in stopped]
                    stopped |= {min(fresh, key=lambda w: (w.over_at, w.handling)).handling} if fresh else set()
            total = closed + others + nobodys
            is_told = nobodys <= (1 - self._least) * total and closed > (1 - LEAST_SHARE) * total
            if is_known and is_told:
                found[self._texts[said]] = frozenset(stopped)
        return found

    def _strayed(self) -> Iterator[tuple[str, tuple[str, str], Line]]:
        """Yield lines that name a message in the handling of another, as where its own is over already."""
        for run in self._runs:
            mine = {item.message_id for item in run.items}
            for line in run.lines:
                named = {value.lower() for value in _ID.findall(line.text[:MOST_CHARS])}
                if len(named) == 1 and named.isdisjoint(mine) and not named.isdisjoint(self._of_message):
                    yield named.pop(), _stream(run), line

    def _told(self, closing: Placed) -> dict[Handling, list[int]]:
        """Return who has a closing line, and when; one in another's handling is of that of its message that was begun last before it."""
        told: dict[Handling, list[int]] = defaultdict(list)
        for place, sayings in closing.template.sayings.items():
            for saying in sayings:
                told[place, saying.item].append(self._runs[place].lines[saying.line].at)
        for message_id, stream, line in self._strays:
            if mark(line.text, closing.template.expression) is not None:
                begun = [h for h in self._of_message[message_id] if _stream(self._runs[h[0]]) == stream]
                begun = [h for h in begun if self._begun[h] <= line.at]
                if begun:
                    told[max(begun, key=lambda h: (self._begun[h], h))].append(line.at)
        return told

    def _ended(self, told: Mapping[Handling, Sequence[int]]) -> Held:
        """Return who has been closed, and when at last, given who has a closing line and when.

        Where a message is handled again while it is still in hand, one of its handlings has the lines of both: nothing tells which is whose.
        """
        ended = {handling: max(of) for handling, of in told.items()}
        for handling, of in sorted((h, of) for h, of in told.items() if len(of) > 1):
            others = [
                h for h in self._of_message[self._message(handling)] if self._begun[h] <= max(of) and h not in ended
            ]
            ended |= dict.fromkeys(others[: len(of) - 1], max(of))
        return ended

    def _works(self, ended: Held) -> dict[tuple[str, str], list[_Work]]:
        """Return all handlings of each stream in order of their beginning."""
        longest = max((at - self._begun[h] for h, at in ended.items()), default=0)
        found: dict[tuple[str, str], list[_Work]] = defaultdict(list)
        for handling, begun_at in self._begun.items():
            run = self._runs[handling[0]]
            over_at = ended.get(handling, run.ended_at)
            if handling not in ended and run.lines and run.lines[-1].at >= run.ended_at:
                over_at += longest  # its last line is no end
            found[_stream(run)].append(_Work(handling, begun_at, over_at, handling in ended))
        for of_stream in found.values():
            of_stream.sort(key=lambda work: (work.begun_at, work.handling))
        return found

    def _of_thread(self, line: Line, on: Sequence[_Work]) -> Sequence[_Work]:
        """Return those whose thread wrote the line, where lines say it."""
        thread = thread_of(line.text)
        if thread is None:
            return on
        return [w for w in on if any(thread_of(told.text) == thread for told in self._named(w.handling))] or on

    def _named(self, handling: Handling) -> Iterator[Line]:
        message_id = self._message(handling)
        return (line for line in self._runs[handling[0]].lines if message_id in line.text.lower())

    def _message(self, handling: Handling) -> str:
        return self._runs[handling[0]].items[handling[1]].message_id

    def _was_done(self, work: _Work, done_at: Mapping[str, int], at: int) -> bool:
        done = done_at.get(self._message(work.handling))
        return done is not None and done < at

    def _came_again(self, work: _Work) -> bool:
        item = self._runs[work.handling[0]].items[work.handling[1]]
        return (item.receive_count or item.delivery_index or 1) > 1


def _stream(run: RunLines) -> tuple[str, str]:
    return run.log_group, run.log_stream


def _naming_none(run: RunLines, naming: Collection[int]) -> Iterator[Line]:
    ids = [item.message_id for item in run.items]
    for place, line in enumerate(run.lines):
        if place not in naming and len(line.text) <= MOST_CHARS and tells_repeat(line.text):
            text = line.text.lower()
            if not any(message_id in text for message_id in ids):
                yield line
    yield from (line for line in run.beside if len(line.text) <= MOST_CHARS)


def _on_at(lines: Sequence[Line], works: Sequence[_Work]) -> Iterator[tuple[Line, list[_Work]]]:
    """Yield each line with the handlings that were on when it was written; both are given in order of time."""
    on: list[_Work] = []
    begun = 0
    for line in lines:
        while begun < len(works) and works[begun].begun_at <= line.at:
            on.append(works[begun])
            begun += 1
        on = [work for work in on if work.over_at >= line.at]
        yield line, on
