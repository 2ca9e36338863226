"""What stands on an incident's time axis beside its messages: changes of settings above them, the queue's state below."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Protocol

import pandas as pd

from forensics.charts.groups import PREFIX as GROUP
from forensics.language import ENGLISH, Language
from forensics.words import span_text

CHANGES = "changes"
MEASURES = "measure:"
AROUND = timedelta(hours=1)
"""How far before and after an incident a change is still drawn; earlier ones are listed below the chart."""
_MOST_CHARS = 160


class Changed(Protocol):
    """One change; the time is UTC."""

    @property
    def at(self) -> datetime: ...  # noqa: D102
    @property
    def what(self) -> str: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def evidence_ids(self) -> tuple[str, ...]: ...  # noqa: D102


@dataclass(frozen=True)
class Measure:
    """One strip: a CloudWatch metric, its statistic, and what its lane is called."""

    namespace: str
    metric: str
    statistic: str
    label: str
    is_seconds: bool = False

    def say(self, value: float) -> str:
        """Write a value as people do."""
        return span_text(round(value * 1000)) if self.is_seconds and value else f"{value:,.0f}"

    def bound(self, value: float) -> str:
        """Write an upper bound in few characters: a duration in one unit, rounded up."""
        if not self.is_seconds or value < _LARGE[-1][0]:
            return self.say(value)
        per, unit = next((per, unit) for per, unit in _LARGE if value >= 2 * per or per == _LARGE[-1][0])
        return f"{ceil(value / per)} {unit}"


_LARGE = ((86_400, "d"), (3_600, "h"), (60, "min"))
STRIPS = (
    Measure("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", "waiting"),
    Measure("AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum", "oldest", is_seconds=True),
    Measure("AWS/Lambda", "Throttles", "Sum", "throttled"),
)


def is_message(item_id: str) -> bool:
    """Tell whether a lane is a message's: those of groups, changes and measures are chosen by no click."""
    return not item_id.startswith((GROUP, MEASURES)) and item_id != CHANGES


def with_changes(
    timeline: pd.DataFrame, changes: Iterable[Changed], say: Language = ENGLISH
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return ``timeline`` rows with a lane on top for changes of settings and deploys, and that lane's label.

    Changes longer than an hour before or after the messages are left out.
    """
    times = timeline["at"].dropna()
    if times.empty:
        return timeline, {}
    ends = timeline["until_at"].dropna()
    low, high = times.min() - AROUND, max([times.max(), *([ends.max()] if len(ends) else [])]) + AROUND
    near = [c for c in changes if low <= pd.Timestamp(c.at) <= high]
    rows = [
        _row(CHANGES, int(timeline["lane"].min()) - 1, "change", c.at)
        | {
            "label": say.sentence(c.what)[:_MOST_CHARS],
            "source": say.sentence(c.source),
            "evidence_ids": list(c.evidence_ids),
        }
        for c in near
    ]
    return (_added(timeline, rows), {CHANGES: say("settings")}) if rows else (timeline, {})


def with_strips(
    timeline: pd.DataFrame, points: Sequence[Mapping[str, Any]], say: Language = ENGLISH
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return ``timeline`` rows with a lane below per measure that was read, and those lanes' labels.

    ``points`` are rows of ``metric_points``; of revised values the one collected last counts, of several periods the
    shortest. A minute without a point has no bar: unknown is not zero. Throttles of several functions are added up.
    """
    if timeline.empty or timeline["at"].isna().all():
        return timeline, {}
    lane = int(timeline["lane"].max())
    rows: list[dict[str, Any]] = []
    labels = {}
    for measure in STRIPS:
        values = _values(measure, points)
        if not values or not max(values.values()):
            continue
        lane += 1
        most = max(values.values())
        name = MEASURES + measure.metric
        labels[name] = f"{say(measure.label)} ≤{say.units(measure.bound(most))}"
        rows += [
            _row(name, lane, "measure", at)
            | {
                "until_at": at + timedelta(seconds=period_s),
                "level": value / most,
                "label": f"{say(measure.label)} {say.units(measure.say(value))}",
                "source": say(
                    "CloudWatch {metric}, {statistic} of {span}",
                    metric=measure.metric,
                    statistic=measure.statistic,
                    span=say.span(1000 * period_s),
                ),
            }
            for (at, period_s), value in sorted(values.items())
        ]
    return (_added(timeline, rows), labels) if rows else (timeline, {})


def _values(measure: Measure, points: Sequence[Mapping[str, Any]]) -> dict[tuple[datetime, int], float]:
    mine = [p for p in points if (p["namespace"], p["metric"], p["statistic"]) == _name(measure)]
    if not mine:
        return {}
    period = min(p["period_s"] for p in mine)
    newest: dict[tuple[datetime, str], Mapping[str, Any]] = {}
    for p in sorted(mine, key=lambda p: (p["collected_at"], p["evidence_id"])):
        if p["period_s"] == period:
            newest[p["point_at"], p["resource"]] = p
    found: dict[tuple[datetime, int], float] = {}
    for (at, _), p in newest.items():
        found[at, period] = found.get((at, period), 0.0) + p["value"]
    return found


def _name(measure: Measure) -> tuple[str, str, str]:
    return measure.namespace, measure.metric, measure.statistic


def _row(item: str, lane: int, kind: str, at: datetime) -> dict[str, Any]:
    return {"item_id": item, "delivery_index": 0, "lane": lane, "kind": kind, "at": pd.Timestamp(at)}


def _added(timeline: pd.DataFrame, rows: list[dict[str, Any]]) -> pd.DataFrame:
    columns = [*timeline.columns, *({"level"} - set(timeline.columns))]
    more = pd.DataFrame(rows).reindex(columns=columns).astype(object)
    more = more.where(more.notna(), None)
    whole = pd.concat([timeline.reindex(columns=columns).astype(object), more], ignore_index=True)
    for column in ("at", "until_at"):
        whole[column] = pd.to_datetime(whole[column], utc=True)
    for column in ("lane", "delivery_index"):
        whole[column] = whole[column].astype("int64")
    return whole
