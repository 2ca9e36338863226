"""A lane per consumer: one bar per run, for incidents with more messages than lanes can show."""

from zoneinfo import ZoneInfo

import pandas as pd
import plotly.graph_objects as go

from forensics.charts.hover import mark_key
from forensics.charts.lanes import microseconds
from forensics.charts.palette import CHOSEN_OPACITY
from forensics.charts.timeline import timeline_figure
from forensics.language import ENGLISH, Language
from forensics.sentence import counted, marked, said

KINDS = ("in_flight", "handling", "repeat", "timeout", "error", "crash", "delete_refused", "dead_lettered")
"""What this form draws of a timeline."""


def consumer_lanes(timeline: pd.DataFrame) -> pd.DataFrame:
    """Fold ``timeline`` rows into rows of the same columns with a lane per execution environment or worker stream.

    ``mark`` names the row that a click means. Deliveries of one run become one window and one handler bar; ``item_id`` is the environment, ``message_id`` the
    first message of the run, ``batch`` how many messages it had. A delivery that no log shows has no lane here.
    """
    rows = timeline[timeline["consumer"].notna() & timeline["kind"].isin(KINDS) & timeline["at"].notna()]
    rows = rows.sort_values("at", kind="stable").reset_index(drop=True)
    names = zip(rows["item_id"], rows["delivery_index"], rows["kind"], microseconds(rows["at"]), strict=True)
    rows["mark"] = [mark_key(*name) for name in names]
    rows["item_id"] = environments(rows["consumer"])
    order = rows.groupby("item_id")["at"].min().sort_values(kind="stable").index
    rows["lane"] = rows["item_id"].map({name: n for n, name in enumerate(order, 1)})
    runs = {name: n for n, name in enumerate(sorted(rows["consumer"].unique()), 1)}
    rows["delivery_index"] = rows["consumer"].map(runs)
    rows["ended_by"] = rows["ended_by"].fillna("")
    bars = rows[rows["kind"].isin(["in_flight", "handling"])]
    first = {c: "first" for c in rows.columns if c not in ("consumer", "kind", "ended_by", "until_at", "at")}
    folded = bars.groupby(["consumer", "kind", "ended_by"], sort=True, as_index=False).agg(
        first | {"at": "min", "until_at": "max", "item_id": "first"}
    )
    counts = bars.groupby(["consumer", "kind", "ended_by"], sort=True)["message_id"].nunique().to_numpy()
    folded["batch"] = counts
    folded["label"] = [marked(counted(int(n), "message")) for n in counts]
    folded["receive_count"] = None
    folded["who"] = [
        marked(request_of(consumer)) if function else None
        for consumer, function in zip(folded["consumer"], folded["function_name"], strict=True)
    ]
    marks = rows[~rows["kind"].isin(["in_flight", "handling"])].assign(batch=1)
    parts = [part.dropna(axis=1, how="all") for part in (folded, marks) if len(part)]
    columns = [*timeline.columns, "batch", "who", "mark"]
    whole = pd.concat(parts, ignore_index=True) if parts else folded
    whole = whole.reindex(columns=columns)
    return whole.astype({c: object for c in columns if whole[c].isna().any() and c not in ("at", "until_at")}).where(
        whole.notna(), None
    )


def request_of(invocation_id: str) -> str:
    """Name a run of a function by its request id.

    >>> request_of("/aws/lambda/pay|2026/11/20/[$LATEST]ab|7f3c|1")
    'request 7f3c'
    """
    return said("request {id}", id=invocation_id.split("|")[2]) if invocation_id.count("|") >= 3 else invocation_id


def environments(consumers: pd.Series) -> pd.Series:
    """Name the execution environment of each consumer: its log group and stream, without the request."""
    return consumers.str.split("|", n=2).str[:2].str.join("|")


def environment_label(name: str) -> str:
    """Shorten an environment's name to the end of its stream, which tells streams apart.

    >>> environment_label("/aws/lambda/charge-card|2026/11/20/[$LATEST]5f1c0a9b7d3e4f60a1b2c3d4e5f60718")
    '…e5f60718'
    """
    stream = name.rpartition("|")[2]
    return stream if len(stream) <= 14 else f"…{stream[-8:]}"


def consumers_figure(
    folded: pd.DataFrame,
    zone: ZoneInfo,
    labels: dict[str, str] | None = None,
    *,
    cut_gaps: bool = True,
    function_timeout_s: int | None = None,
    visibility_timeout_s: int | None = None,
    say: Language = ENGLISH,
    is_wide: bool = False,
) -> go.Figure:
    """Draw rows of ``consumer_lanes`` with a lane per consumer; ``labels`` and keywords as in ``timeline_figure``.

    A chosen bar or mark gets CHOSEN_OPACITY and nothing else: for its colour, its size or dimmer others Plotly would restyle
    each of thousands, and take the hatching from those that have it, before the browser asks for the answer.
    """
    figure = timeline_figure(
        folded,
        zone,
        cut_gaps=cut_gaps,
        labels={name: environment_label(name) for name in folded["item_id"].unique()} | (labels or {}),
        function_timeout_s=function_timeout_s,
        visibility_timeout_s=visibility_timeout_s,
        say=say,
        is_wide=is_wide,
    )
    return figure.update_traces(selected_marker_opacity=CHOSEN_OPACITY, unselected_marker_opacity=1)
