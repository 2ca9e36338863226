"""Lines over all lanes, and words above and below them that do not lie on one another in the narrowest chart they are read in."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pandas as pd

from forensics.charts.drawing import Drawing
from forensics.charts.lanes import Episode, LaneModel
from forensics.charts.palette import ALARM, REFUSED
from forensics.charts.words import local
from forensics.language import Language
from forensics.words import cells

NAME_ROW = 16
"""Pixels of a row of words above the lanes."""
RIGHT = 8
"""The right margin of every lane chart, pixels."""
_CHART = 328
"""Pixels of the narrowest chart, in a window of 360. Nobody tells us how wide a window is or will be: on a desk, too, it may be as narrow."""
_LETTER, _WIDE_LETTER, _BETWEEN = 5.6, 12, 4
"""Pixels that a letter of 12 pixels takes on the average of a name and a little more, those of an East Asian one, and those between
two names. Measured in Chromium: 21 letters took 108 pixels."""
_ROWS = 6
"""In so many rows the names of lines stand; what has no room there is left out."""
_STEM = 3
"""Pixels between a name and the stem that joins it to its line."""
_MOST_LINES = 6


class Line(NamedTuple):
    """A line over all lanes: how far to the right it is drawn, and how wide its name is, both as shares of the lanes' width.

    ``kind`` tells lines of one name from those of another.
    """

    share: float
    width: float
    kind: str = ""


class NamePlace(NamedTuple):
    """Where the name of a line stands: its row, counted from the lanes, None for nowhere; ``is_left`` of its line."""

    row: int | None
    is_left: bool


NOWHERE = NamePlace(None, False)


def words_share(words: str, margin_px: float) -> float:
    """Return the share of the lanes' width that words take at most in the narrowest chart.

    ``margin_px`` is what stands left of the lanes.

    >>> round(words_share("Function timeout 30 s", 134), 2)
    0.65
    """
    wide = cells(words) - len(words)
    words_px = _LETTER * (len(words) - wide) + _WIDE_LETTER * wide
    return (_BETWEEN + words_px) / (_CHART - margin_px - RIGHT)


def name_places(lines: Sequence[Line], left_share: float) -> list[NamePlace]:
    """Return where the names of lines stand, which come from left to right; ``left_share`` is the room left of the lanes.

    A stem goes from each line up to its name, beside which nothing of another name stands, nor under it: of lines nearer than a name is
    wide the first have theirs to the left, the others to the right. Of lines of one kind that are nearer to each other than a third
    of a name the first one's says enough.

    >>> name_places([Line(0.5, 0.3, "killed"), Line(0.6, 0.3, "back")], 0.3)
    [NamePlace(row=0, is_left=True), NamePlace(row=0, is_left=False)]
    >>> name_places([Line(0.1, 0.3), Line(0.15, 0.3), Line(0.3, 0.3)], 0)
    [NamePlace(row=1, is_left=False), NamePlace(row=None, is_left=False), NamePlace(row=0, is_left=False)]
    """
    last: dict[str, float] = {}
    found = [NOWHERE] * len(lines)
    told: list[int] = []
    for n, line in enumerate(lines):
        if line.share - last.get(line.kind, -1.0) < line.width / 3:
            continue
        if (places := _together([lines[m] for m in (*told, n)], left_share)) is not None:
            told.append(n)
            last[line.kind] = line.share
            found = [NOWHERE] * len(lines)
            for m, place in zip(told, places, strict=True):
                found[m] = place
    return found


def _together(lines: Sequence[Line], left_share: float) -> list[NamePlace] | None:
    """Return where names stand so that all of them do, in the fewest rows; None where they cannot."""
    ways: list[tuple[int, int, list[int], list[bool]]] = []
    for sides in _ways(lines, left_share):
        rows = _rows(lines, sides)
        if max(rows) < _ROWS:
            ways.append((max(rows), sum(rows), rows, sides))
    if not ways:
        return None
    *_, rows, sides = min(ways)
    return [NamePlace(row, is_left) for row, is_left in zip(rows, sides, strict=True)]


def _ways(lines: Sequence[Line], left_share: float) -> Iterator[list[bool]]:
    """Yield on which sides names may stand: true is left. Of two lines neither name may cover the other's stem where both would."""
    if not lines:
        yield []
        return
    *before, line = lines
    for sides in _ways(before, left_share):
        for is_left in _room_for(line, left_share):
            if not is_left or not any(
                not left and _are_near(one, line) for one, left in zip(before, sides, strict=True)
            ):
                yield [*sides, is_left]


def _room_for(line: Line, left_share: float) -> list[bool]:
    """Return the sides on which a name has room; the one where it lacks least where it has none."""
    left, right = line.share + left_share - line.width, 1 - line.share - line.width
    return [is_left for is_left, room in ((True, left), (False, right)) if room >= 0] or [left >= right]


def _are_near(one: Line, later: Line) -> bool:
    return later.share - one.share < min(one.width, later.width)


def _rows(lines: Sequence[Line], sides: Sequence[bool]) -> list[int]:
    """Return the lowest rows in which no name lies on another, nor on the stem of a name above it."""
    spans = [
        (a.share - a.width, a.share) if left else (a.share, a.share + a.width)
        for a, left in zip(lines, sides, strict=True)
    ]
    every = range(len(lines))
    below = [[n for n in every if spans[m][0] < lines[n].share < spans[m][1]] for m in every]
    rows: dict[int, int] = {}
    while len(rows) < len(lines):
        m = next(m for m in every if m not in rows and all(n in rows for n in below[m]))
        taken = {rows[n] for n in rows if spans[n][0] < spans[m][1] and spans[m][0] < spans[n][1]}
        lowest = max((rows[n] + 1 for n in below[m]), default=0)
        rows[m] = next(row for row in range(lowest, lowest + len(lines) + 1) if row not in taken)
    return [rows[n] for n in every]


def lines_over_all(
    drawing: Drawing,
    model: LaneModel,
    zone: ZoneInfo,
    function_timeout_s: int | None,
    visibility_timeout_s: int | None,
    say: Language,
    above_px: int,
) -> int:
    """Draw the kill, and the moment the messages came back, over all lanes; only where they are few. Return the rows of names.

    A stem goes from where a line ends above the lanes up to its name.

    Where nobody knows the visibility timeout, nobody knows when they came back: their bars end with the run. ``above_px`` is
    what stands between the lanes and the names.
    """
    kills = model.marks[model.marks["kind"] == "timeout"]
    ran_out = model.bars[
        (model.bars["kind"] == "in_flight")
        & (model.bars["ended_by"] == "visibility_expired")
        & (model.bars["end_us"] == model.bars["until_us"])
    ]
    limit = f" {say.span(1000 * function_timeout_s)}" if function_timeout_s else ""
    killed = say("Function timeout") + limit
    back = say("Visible again")
    if visibility_timeout_s is None:
        ran_out = ran_out[:0]
    elif visibility_timeout_s:
        back += say(", {span}", span=say.span(1000 * visibility_timeout_s))
    changed = model.marks[model.marks["kind"] == "change"]
    for column, us in changed.drop_duplicates(["at_us", "episode"])[["episode", "at_us"]].itertuples(index=False):
        drawing.line_over_all(column + 1, local(pd.Series([us]), zone)[0], _stroke(REFUSED, "dot"))
    margin_px = drawing.layout["margin"]["l"]
    named = []
    for words, of_kind, at in ((killed, kills, "at_us"), (back, ran_out, "end_us")):
        moments = of_kind.drop_duplicates([at, "episode"])[["episode", at]]
        width = words_share(words, margin_px)
        if len(moments) <= _MOST_LINES:
            for column, us in moments.itertuples(index=False, name=None):
                share = _drawn_at(drawing, model.episodes[column], column, us)
                named.append((Line(share, width, words), column, us))
    named.sort(key=lambda line: (line[0].share, line[0].kind != killed))
    places = name_places([line for line, *_ in named], margin_px / (_CHART - margin_px - RIGHT))
    for (line, column, us), place in zip(named, places, strict=True):
        when = local(pd.Series([us]), zone)[0]
        drawing.line_over_all(column + 1, when, _stroke(ALARM, "dash"))
        if place.row is None:
            continue
        low_px = above_px + NAME_ROW * place.row
        drawing.stem(column + 1, when, above_px, low_px + NAME_ROW - 2, {"color": ALARM, "width": 1.6})
        drawing.note(
            line.kind,
            12,
            x=when,
            xref=f"x{column + 1}" if column else "x",
            xshift=-_STEM if place.is_left else _STEM,
            y=1,
            yref="paper",
            yanchor="bottom",
            yshift=low_px,
            xanchor="right" if place.is_left else "left",
        )
    return max((1 + place.row for place in places if place.row is not None), default=0)


def _drawn_at(drawing: Drawing, episode: Episode, column: int, us: int) -> float:
    """Return how far to the right of the lanes a moment is drawn, from 0 to 1."""
    low, high = drawing.x_axis(column + 1)["domain"]
    return float(low + (high - low) * (us - episode.start_us) / (episode.end_us - episode.start_us))


def _stroke(colour: str, dash: str) -> dict[str, Any]:
    return {"color": colour, "width": 1.6, "dash": dash}
