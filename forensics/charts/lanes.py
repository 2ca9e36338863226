"""The lane model: which lane, sub-lane and episode every bar and mark of a timeline falls into.

Pure: a frame of ``timeline`` rows in, plain values out; the figure and the report's static chart both draw it.
Times are whole microseconds since 1970, UTC.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import pandas as pd

from forensics.identity import KEY_ITEM

SECOND = 1_000_000
MIN_GAP_US = 60 * SECOND
MIN_GAP_SHARE = 0.2
MOST_EPISODES = 6
MIN_WIDTH = 0.09
LANE_FILL = 0.76
"""How much of a lane's height its bars take; the rest keeps lanes apart."""

BAR_KINDS = ("in_flight", "handling", "blocked", "measure")
BESIDE = "measure"
"""Bars that show what the queue was like: they are drawn where something else happens, and open no episode."""
CHANGE = "change"
"""Marks of changed settings: an episode of nothing else is as narrow as may be."""


@dataclass(frozen=True)
class Episode:
    """One stretch of time in which something happens; ``width`` is its share of the chart, all shares sum to 1."""

    start_us: int
    end_us: int
    width: float

    def holds(self, at_us: int) -> bool:
        """Tell whether a moment lies in this episode, its borders included."""
        return self.start_us <= at_us <= self.end_us


@dataclass(frozen=True)
class Piece:
    """What one episode shows of a bar."""

    episode: int
    start_us: int
    end_us: int


@dataclass(frozen=True)
class LaneModel:
    """A timeline laid out.

    ``lanes``: one row per lane with lane (the number in the findings), item_id, message_id; row i is drawn at
    y = i. ``bars`` and ``marks``: the timeline's rows plus y, height (bars: one row per piece, with episode,
    start_us, end_us; marks: episode, at_us).
    """

    episodes: tuple[Episode, ...]
    lanes: pd.DataFrame
    bars: pd.DataFrame
    marks: pd.DataFrame


def find_episodes(
    moments_us: Iterable[int], asides_us: Iterable[int] = (), *, cut_gaps: bool = True
) -> tuple[Episode, ...]:
    """Cut the longest gaps: over 60 s, and over 20 % of what is left to show; at most 6 episodes.

    Each cut leaves less to show, so that several gaps of a night are all cut, however many there are of them.
    Every moment lies in exactly one episode. With ``cut_gaps`` false there is one episode over everything. What happens only
    beside, at ``asides_us``, gets an episode too, but no more than the least width: two changes of settings an hour later
    would else take the room of what they are beside.
    """
    own, asides = sorted(set(moments_us)), set(asides_us)
    moments = sorted({*own, *asides})
    if not moments:
        return ()
    span = moments[-1] - moments[0]
    gaps = [(later - earlier, earlier, later) for earlier, later in zip(moments, moments[1:], strict=False)]
    cuts = []
    for gap in sorted(gaps, reverse=True)[: MOST_EPISODES - 1] if cut_gaps else ():
        if gap[0] <= MIN_GAP_US or gap[0] <= MIN_GAP_SHARE * span:
            break
        cuts.append(gap)
        span -= gap[0]
    cuts.sort(key=lambda g: g[1])
    starts = [moments[0], *(later for _, _, later in cuts)]
    ends = [*(earlier for _, earlier, _ in cuts), moments[-1]]
    lengths = [end - start for start, end in zip(starts, ends, strict=True)]
    least = max(sum(lengths) // 50, SECOND // 20)
    # Room on both sides, so that a mark on the border is not cut; a gap is at least 60 s, so rooms cannot meet.
    rooms = [min(max(length // 25, least), 20 * SECOND) if cuts else max(length // 25, least) for length in lengths]
    is_own = [bisect_left(own, start) < bisect_right(own, end) for start, end in zip(starts, ends, strict=True)]
    drawn = [length + 2 * room for length, room in zip(lengths, rooms, strict=True)]
    widths = _widths([of_episode * (mine or not own) for of_episode, mine in zip(drawn, is_own, strict=True)])
    return tuple(
        Episode(start - room, end + room, width)
        for start, end, room, width in zip(starts, ends, rooms, widths, strict=True)
    )


def _widths(lengths: Sequence[int]) -> list[float]:
    """Share the width by length, no share below the minimum."""
    small: set[int] = set()
    while True:
        left = 1 - MIN_WIDTH * len(small)
        total = sum(length for i, length in enumerate(lengths) if i not in small)
        shares = [MIN_WIDTH if i in small else left * length / total for i, length in enumerate(lengths)]
        below = {i for i, share in enumerate(shares) if share < MIN_WIDTH and i not in small}
        if not below:
            return shares
        small |= below


def clip(start_us: int, end_us: int, episodes: Sequence[Episode]) -> list[Piece]:
    """Return the pieces of a bar that the episodes show, in order; a bar without length keeps one piece."""
    pieces = []
    for i, episode in enumerate(episodes):
        low, high = max(start_us, episode.start_us), min(end_us, episode.end_us)
        if low < high or (low == high and start_us == end_us):
            pieces.append(Piece(i, low, high))
    return pieces


def sub_lanes(spans: Sequence[tuple[int, int]], slack_us: int = 0) -> list[int]:
    """Give each span the first sub-lane (from 0) that is free at its start: spans that touch may share one.

    ``slack_us`` is how far two spans of one sub-lane may overlap.
    """
    free_from: list[int] = []
    chosen = [0] * len(spans)
    for i in sorted(range(len(spans)), key=lambda i: (spans[i], i)):
        start, end = spans[i]
        lane = next((n for n, free in enumerate(free_from) if free <= start + slack_us), len(free_from))
        if lane == len(free_from):
            free_from.append(end)
        free_from[lane] = max(end, free_from[lane])
        chosen[i] = lane
    return chosen


def lane_model(timeline: pd.DataFrame, *, cut_gaps: bool = True) -> LaneModel:
    """Lay out ``timeline`` rows (columns of forensics.tables.findings.TIMELINE); rows without a time are left out."""
    rows = timeline[timeline["at"].notna()].copy()
    rows["at"], rows["until_at"] = (pd.to_datetime(rows[column], utc=True) for column in ("at", "until_at"))
    rows["at_us"] = microseconds(rows["at"])
    is_bar = rows["kind"].isin(BAR_KINDS)
    rows["until_us"] = microseconds(rows["until_at"].where(rows["until_at"].notna(), rows["at"]))
    rows["until_us"] = rows[["at_us", "until_us"]].max(axis=1)
    beside = rows["kind"] == BESIDE
    changes = rows["kind"] == CHANGE
    moments = [*rows.loc[~beside & ~changes, "at_us"], *rows.loc[is_bar & ~beside, "until_us"]]
    episodes = find_episodes(moments, rows.loc[changes, "at_us"], cut_gaps=cut_gaps)
    spans = zip(beside, rows["at_us"], rows["until_us"], strict=True)
    # A strip of which every point lies in a cut gap would be an empty lane with a number.
    is_seen = [not is_beside or bool(clip(start, end, episodes)) for is_beside, start, end in spans]
    rows = rows[pd.Series(is_seen, index=rows.index, dtype=bool)]
    lanes = _lanes(rows)
    rows = rows.merge(lanes[["lane", "y_lane"]], on="lane", how="left", validate="many_to_one")
    shown_us = sum(e.end_us - e.start_us for e in episodes)
    rows = _place(rows, slack_us=min(SECOND, shown_us // 200))
    is_bar = rows["kind"].isin(BAR_KINDS)
    return LaneModel(episodes, lanes, _pieces(rows[is_bar], episodes), _marks(rows[~is_bar], episodes))


def microseconds(times: pd.Series) -> pd.Series:
    """Turn a column of UTC timestamps into whole microseconds since 1970."""
    return times.dt.tz_convert("UTC").dt.tz_localize(None).astype("datetime64[us]").astype("int64")


def _lanes(rows: pd.DataFrame) -> pd.DataFrame:
    lanes = rows.sort_values("lane", kind="stable").drop_duplicates("lane")[["lane", "item_id", "message_id"]]
    lanes = lanes.reset_index(drop=True)
    lanes["y_lane"] = range(len(lanes))
    return lanes


def span_of(model: LaneModel) -> tuple[int, int]:
    """Return when the first bar or mark of a delivery began and the last one ended, in microseconds since 1970 UTC."""
    bars = model.bars[model.bars["kind"] != BESIDE]
    began, ended = ([*bars[name], *model.marks["at_us"]] for name in ("start_us", "end_us"))
    return int(min(began, default=model.episodes[0].start_us)), int(max(ended, default=model.episodes[-1].end_us))


def lane_names(items: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """Return what the lanes of items are called: their ``labels``, else their ids, shortened.

    Lines that name a key alone keep their ``key:`` beside a message that is called by that key.

    >>> lane_names(["11d6ee51-4cc7-4302", "key:pay_1041", "key:pay_1042"], {"11d6ee51-4cc7-4302": "pay_1041"})
    ['pay_1041', 'key:pay_1041', 'pay_1042']
    >>> lane_names(["11d6ee51-4cc7-4302", "measure:waiting", "measure:waited"], {"measure:waiting": "a", "measure:waited": "b"})
    ['11d6ee51', 'a', 'b']
    """
    unnamed = [item for item in items if item not in labels]
    short = dict(zip(unnamed, short_names(unnamed), strict=True))  # what has a label makes no id longer
    names = [labels[item] if item in labels else short[item] for item in items]
    others = {name for item, name in zip(items, names, strict=True) if not item.startswith(KEY_ITEM)}
    return [
        f"{KEY_ITEM}{name}" if item.startswith(KEY_ITEM) and name in others else name
        for item, name in zip(items, names, strict=True)
    ]


def key_labels(keys: Mapping[str, str]) -> dict[str, str]:
    """Name lanes by business key, cut where it is long; messages of one key are told apart by how their ids begin.

    >>> key_labels({"11d6ee51-4cc7-4302": "pay_1041", "9f06ee51-4cc7-4302": "pay_1041", "aa": "pay_1042", "key:pay_1042": "pay_1042"})
    {'11d6ee51-4cc7-4302': 'pay_1041 11d6…', '9f06ee51-4cc7-4302': 'pay_1041 9f06…', 'aa': 'pay_1042'}
    """
    of_messages = {key for item, key in keys.items() if not item.startswith(KEY_ITEM)}
    named = {item: key for item, key in keys.items() if not (item.startswith(KEY_ITEM) and key in of_messages)}
    short = dict(zip(named, short_names(list(named.values()), 13, "…"), strict=True))
    often = Counter(short.values())
    shared = [item for item, name in short.items() if often[name] > 1]
    begun = dict(zip(shared, short_names(shared, 4, "…"), strict=True))
    return {item: f"{name} {begun[item]}" if item in begun else name for item, name in short.items()}


def short_names(names: Sequence[str], chars: int = 8, cut: str = "") -> list[str]:
    """Shorten ids to the first characters that still tell them apart here; keys lose their ``key:``.

    Everybody knows an id by its first eight characters; of a business key, ``cut`` says that it goes on, and keys that begin
    alike are told apart by their ends.

    >>> short_names(["11d6ee51-4cc7-4302-9e22", "11d6ee51-99c7-4302-9e22", "key:pay_1041"])
    ['11d6ee51-4', '11d6ee51-9', 'pay_1041']
    >>> short_names(["order-2026-11-20-0017", "pay-1041"], 13, "…")
    ['order-2026-11…', 'pay-1041']
    >>> short_names(["tenant-7/order/2026-11-20/charge/17", "tenant-7/order/2026-11-20/charge/18"], 13, "…")
    ['…-20/charge/17', '…-20/charge/18']
    """
    plain = [n.removeprefix(KEY_ITEM) for n in names]
    least, different = chars, len(set(plain))
    while chars < 24 and len({n[:chars] for n in plain}) < different:
        chars += 2
    if cut and len({n[:chars] for n in plain}) < different:
        for ends in range(least, max(least, 24) + 1):
            if len({n[-ends:] for n in plain}) == different:
                return [cut + n[-ends:] if len(n) > ends + len(cut) else n for n in plain]
    return [n[:chars] + cut if len(n) > chars + len(cut) else n for n in plain]


def _place(rows: pd.DataFrame, slack_us: int) -> pd.DataFrame:
    """Give every row its y and height: deliveries of one lane that overlap get a sub-lane each.

    The slack is below what an eye can see here: a receive time taken from a log line is some milliseconds late, and
    the window it opens then seems to reach into the next receive.
    """
    rows = rows.assign(y=rows["y_lane"].astype(float), height=LANE_FILL)
    real = rows[rows["delivery_index"] > 0]
    spans = real.groupby(["lane", "delivery_index"]).agg(start=("at_us", "min"), end=("until_us", "max"))
    shared: list[tuple[int, int, float, float]] = []
    for lane, grouped in groupby(zip(spans.index, spans["start"], spans["end"], strict=True), lambda span: span[0][0]):
        of_lane = list(grouped)
        chosen = sub_lanes([(start, end) for _, start, end in of_lane], slack_us)
        count = max(chosen) + 1
        if count > 1:
            height = LANE_FILL / count
            shared += [
                (lane, index, LANE_FILL * ((sub + 0.5) / count - 0.5), height)
                for ((_, index), _, _), sub in zip(of_lane, chosen, strict=True)
            ]
    if shared:
        # One merge for all: an assignment per delivery takes seconds where they are thousands.
        moved = pd.DataFrame(shared, columns=["lane", "delivery_index", "_shift", "_height"])
        rows = rows.merge(moved, on=["lane", "delivery_index"], how="left", validate="many_to_one")
        rows["y"] += rows["_shift"].fillna(0.0)
        rows["height"] = rows["_height"].fillna(rows["height"])
        rows = rows.drop(columns=["_shift", "_height"])
    return rows


def _pieces(bars: pd.DataFrame, episodes: Sequence[Episode]) -> pd.DataFrame:
    found = [
        (i, p.episode, p.start_us, p.end_us)
        for i, start, end in zip(bars.index, bars["at_us"], bars["until_us"], strict=True)
        for p in clip(start, end, episodes)
    ]
    pieces = pd.DataFrame(found, columns=["row", "episode", "start_us", "end_us"])
    pieces = pieces.merge(bars, left_on="row", right_index=True, how="left").drop(columns="row")
    if "level" in pieces:  # a measure's bar stands on the floor of its lane
        level = pd.to_numeric(pieces["level"]).fillna(1.0)
        pieces["y"] += pieces["height"] * (1 - level) / 2
        pieces["height"] *= level
    return pieces


def _marks(marks: pd.DataFrame, episodes: Sequence[Episode]) -> pd.DataFrame:
    episode = [next(i for i, e in enumerate(episodes) if e.holds(at)) for at in marks["at_us"]]
    return marks.assign(episode=pd.Series(episode, index=marks.index, dtype="int64"))
