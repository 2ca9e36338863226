"""Which of an item's lines stands before its work and which after: told by time, and by what interrupted runs lack."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from forensics.suggestions.model import RunLines
from forensics.suggestions.templates import Saying, Template

MOST_AFTER = 0.2
"""Share of an item's time that may lie behind a line that says the work was done, or before one that says it begins."""
LEAST_WORK_US = 2_000
"""Where an item takes less, its lines stand too close to tell the one end of the work from the other."""

MOST_OFTEN = 0.05
"""For each item that has a line once, so many may have it more often: that is what a double looks like."""
_LEAST_WITH_DOUBLE = 10
"""Among fewer items even one that has the line twice may be the rule."""


@dataclass
class Placed:
    """How one template lies in the work of its items.

    Counts are of items in runs that ended well: ``once``, ``never``, ``often``; ``failed`` of those that lack the line and that the
    run named in batchItemFailures, which are in no other. ``mixed`` counts handlings of which nothing tells how they ended and whose lines stand in
    those of the next. ``before_us`` and ``after_us`` are medians of
    the time from the end of the item before to the line, and from the line to the item behind (or the run's borders); not ``is_timed``:
    one of them is known of no item, as where a batch is announced line by line before any is worked on.
    Of interrupted runs: ``absent`` counts those whose item at hand lacks the line though another line names it;
    ``busy_after`` are the messages at hand in those that went on ten times as long as usual behind it, as if at work.
    """

    template: Template
    once: int = 0
    never: int = 0
    often: int = 0
    failed: int = 0
    mixed: int = 0
    before_us: float = 0.0
    after_us: float = 0.0
    is_timed: bool = True
    absent: int = 0
    busy_after: list[str] = field(default_factory=list)

    @property
    def after_share(self) -> float:
        """Share of the item's time that lies behind the line; 0.5 where it takes none."""
        both = self.before_us + self.after_us
        return self.after_us / both if both else 0.5

    @property
    def is_closing(self) -> bool:
        """Tell whether (nearly) all of an item's time lies before the line."""
        return self.after_share <= MOST_AFTER

    @property
    def is_opening(self) -> bool:
        """Tell whether (nearly) all of an item's time lies behind the line."""
        return 1 - self.after_share <= MOST_AFTER

    @property
    def is_once(self) -> bool:
        """Tell whether the line stands at most once with (nearly) every item: a few have it twice where their work was done twice."""
        return self.often <= max(self.once + self.never >= _LEAST_WITH_DOUBLE, MOST_OFTEN * self.once)

    @property
    def can_tell(self) -> bool:
        """Tell whether the items take long enough for time to say anything."""
        return self.is_timed and self.before_us + self.after_us >= LEAST_WORK_US


def placed(template: Template, runs: Sequence[RunLines], named: Sequence[dict[int, list[int]]]) -> Placed:
    """Place one template; ``named`` are, per run, the lines (by place) that name each item, in order."""
    told, failed = _by_message(template, runs)
    found = Placed(template, failed=failed)
    before: list[int] = []
    after: list[int] = []
    for of_message in told.values():
        well = [(place, number, mine) for place, number, mine in of_message if runs[place].status == "success"]
        if any(len(mine) > 1 for _, _, mine in well):
            in_all = sum(len(mine) for _, _, mine in of_message)
            if in_all <= len(of_message):
                # handled again while it still was in hand: which line is of which handling, nothing tells
                once = min(in_all, len(well))
                found.once += once
                found.never += len(well) - once
                found.mixed += len(of_message) - len(well)
                continue
        for place, number, mine in well:
            if len(mine) != 1:
                found.never += not mine
                found.often += bool(mine)
                continue
            found.once += 1
            run = runs[place]
            begin, end = _borders(run, named[place], number, mine[0].line)
            at = run.lines[mine[0].line].at
            if begin is not None:
                before.append(at - begin)
            if end is not None:
                after.append(end - at)
    found.before_us = float(median(before)) if before else 0.0
    found.after_us = float(median(after)) if after else 0.0
    found.is_timed = bool(before and after)
    _look_at_cut_off(found, runs, named)
    return found


def _by_message(
    template: Template, runs: Sequence[RunLines]
) -> tuple[dict[str, list[tuple[int, int, list[Saying]]]], int]:
    """Return, per message, its handlings, however their runs ended: the run's place, the item's number, and what names it there.

    Left out and counted are those that are not named so, for the run named them as failed.
    """
    found: dict[str, list[tuple[int, int, list[Saying]]]] = {}
    failed = 0
    for place, run in enumerate(runs):
        sayings: dict[int, list[Saying]] = {}
        for saying in template.sayings.get(place, ()):
            sayings.setdefault(saying.item, []).append(saying)
        for number, item in enumerate(run.items):
            if run.status == "success" and number not in sayings and item.message_id in run.named_failures:
                failed += 1
                continue
            found.setdefault(item.message_id, []).append((place, number, sayings.get(number, [])))
    return found, failed


def _borders(run: RunLines, named: dict[int, list[int]], number: int, line: int) -> tuple[int | None, int | None]:
    """Return when the item before was last named and the one behind first, or the run's own ends; None where items mix.

    Where one line is all that names an item, the time between two items may be of either, and only the run's ends count.
    """
    is_alone = len(named[number]) == 1
    earlier = [p for other, places in named.items() if other != number for p in places if p < line]
    later = [p for other, places in named.items() if other != number for p in places if p > line]
    mixes = any(named[number][0] < p < named[number][-1] for p in (*earlier, *later))
    if mixes:
        return None, None
    begin = run.lines[max(earlier)].at if earlier else run.started_at
    end = run.lines[min(later)].at if later else run.ended_at
    return (None if is_alone and earlier else begin), (None if is_alone and later else end)


def _look_at_cut_off(found: Placed, runs: Sequence[RunLines], named: Sequence[dict[int, list[int]]]) -> None:
    for place, run in enumerate(runs):
        if not run.was_cut_off or not named[place]:
            continue
        at_hand = max(named[place], key=lambda number: named[place][number][-1])
        mine = [s for s in found.template.sayings.get(place, ()) if s.item == at_hand]
        if not mine:
            found.absent += 1
            continue
        last = max(s.line for s in mine)
        is_last_word = last == named[place][at_hand][-1]
        is_last_item = run.items[at_hand].position == max(i.position for i in run.items)
        # whose key is all that is known of it may not have been the last: what was not reached has no line
        is_told = len(named[place][at_hand]) > 1 or (is_last_item and run.items[at_hand].has_id)
        quiet = run.ended_at - run.lines[last].at
        if is_last_word and is_told and quiet > max(10 * found.after_us, LEAST_WORK_US):
            found.busy_after.append(run.items[at_hand].message_id)


def named_lines(runs: Sequence[RunLines], templates: Sequence[Template]) -> list[dict[int, list[int]]]:
    """Return per run which lines name each item, in order."""
    found: list[dict[int, list[int]]] = [{} for _ in runs]
    for template in templates:
        for place, sayings in template.sayings.items():
            for saying in sayings:
                found[place].setdefault(saying.item, []).append(saying.line)
    return [{item: sorted(set(lines)) for item, lines in run.items()} for run in found]
