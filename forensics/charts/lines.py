"""Lines over all lanes, and words above and below them that do not lie on one another in the narrowest chart they are read in."""

from collections.abc import Iterable
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
_ROWS = 3
"""In so many rows the names of lines of one kind stand; what has no room there is left out."""
_LATE = 0.4
"""From this share of the width on a name that has no room on either side of its line stands left of it, over the lanes' names."""
_MOST_LINES = 6


class NamePlace(NamedTuple):
    """Where the name of a line stands: its row, counted from the lanes, None for nowhere; ``is_left`` of its line."""

    row: int | None
    is_left: bool


def words_share(words: str, margin_px: float) -> float:
    """Return the share of the lanes' width that words take at most in the narrowest chart.

    ``margin_px`` is what stands left of the lanes.

    >>> round(words_share("Function timeout 30 s", 134), 2)
    0.65
    """
    wide = cells(words) - len(words)
    words_px = _LETTER * (len(words) - wide) + _WIDE_LETTER * wide
    return (_BETWEEN + words_px) / (_CHART - margin_px - RIGHT)


def name_places(shares: Iterable[float], width: float) -> list[NamePlace]:
    """Return where names of one width stand, at lines from left to right; all are shares of the lanes' width.

    A name stands where it leaves the most room for the next. Of lines nearer to each other than a third of a name the first
    one's says enough.

    >>> [place.row for place in name_places([0.1, 0.2, 0.35, 0.45, 0.9], 0.4)]
    [0, None, 1, None, 0]
    """
    named_to, last = [-1.0] * _ROWS, -1.0
    found = []
    for share in shares:
        sides = [(end, end == share) for end in (share, share + width) if width <= end <= 1]
        sides = sides or [(share, True) if share > _LATE else (share + width, False)]
        free = [(end, row, is_left) for end, is_left in sides for row in range(_ROWS) if named_to[row] <= end - width]
        if share - last < width / 3 or not free:
            found.append(NamePlace(None, False))
            continue
        end, row, is_left = min(free)
        named_to[row], last = end, share
        found.append(NamePlace(row, is_left))
    return found


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
    rows = 0
    for words, of_kind, at in ((killed, kills, "at_us"), (back, ran_out, "end_us")):
        moments = of_kind.drop_duplicates([at, "episode"])[["episode", at]].sort_values(at)
        if len(moments) > _MOST_LINES:
            continue
        every = list(moments.itertuples(index=False, name=None))
        width = words_share(words, drawing.layout["margin"]["l"])
        places = name_places((_drawn_at(drawing, model.episodes[c], c, us) for c, us in every), width)
        for (column, us), place in zip(every, places, strict=True):
            when = local(pd.Series([us]), zone)[0]
            drawing.line_over_all(column + 1, when, _stroke(ALARM, "dash"))
            if place.row is not None:
                drawing.note(
                    words,
                    12,
                    x=when,
                    xref=f"x{column + 1}" if column else "x",
                    y=1,
                    yref="paper",
                    yanchor="bottom",
                    yshift=above_px + NAME_ROW * (rows + place.row),
                    xanchor="right" if place.is_left else "left",
                )
        rows += max((1 + place.row for place in places if place.row is not None), default=0)
    return rows


def _drawn_at(drawing: Drawing, episode: Episode, column: int, us: int) -> float:
    """Return how far to the right of the lanes a moment is drawn, from 0 to 1."""
    low, high = drawing.x_axis(column + 1)["domain"]
    return float(low + (high - low) * (us - episode.start_us) / (episode.end_us - episode.start_us))


def _stroke(colour: str, dash: str) -> dict[str, Any]:
    return {"color": colour, "width": 1.6, "dash": dash}
