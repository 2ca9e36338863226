"""Settings as they were at a moment: snapshots and change events become intervals, and rows meet the one in force."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from forensics.tables import Table
from spark_jobs.session import SPARK_TYPES, T
from spark_jobs.small_frames import frame_of

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 1, 1, tzinfo=UTC)
_ABOUT_THE_ROW = ("evidence_id", "observed_at", "last_modified_at")

Row = dict[str, Any]


class Change(NamedTuple):
    """A recorded call that set something, from then on (UTC); ``values`` holds only the columns it set."""

    changed_at: datetime
    values: Mapping[str, Any]
    evidence_id: str


class _Known(NamedTuple):
    """What one column was at one moment, and how anybody knows."""

    value: Any
    evidence_id: str
    is_assumed: bool = False


def intervals(
    rows: Sequence[Row], key: tuple[str, ...], changes: Mapping[tuple[Any, ...], Sequence[Change]] | None = None
) -> list[Row]:
    """Turn snapshots and recorded changes into intervals ``in_force_from``/``in_force_until`` (UTC, half-open) per key.

    A value holds from where it was seen or set until the next change. Where AWS says when a resource last changed, the
    later snapshot holds from then; where nothing tells when it changed, it holds from the snapshot before, or from ever.
    ``is_later_snapshot`` marks what only such a later snapshot vouches for. Before a recorded change of something that
    no earlier snapshot shows, it is unknown (null).
    """
    by_key: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        by_key.setdefault(tuple(row[k] for k in key), []).append(row)
    out: list[Row] = []
    for name, states in by_key.items():
        states.sort(key=lambda r: (r["observed_at"], r["evidence_id"]))
        recorded = sorted((changes or {}).get(name, ()), key=lambda c: (c.changed_at, c.evidence_id))
        out += _of_one(states, recorded)
    return out


def _of_one(states: list[Row], recorded: list[Change]) -> list[Row]:
    borders = {EARLIEST, LATEST, *(c.changed_at for c in recorded)}
    for state in states:
        borders |= {at for at in (state["observed_at"], state.get("last_modified_at")) if at}
    columns = [c for c in states[0] if c not in _ABOUT_THE_ROW]
    out: list[Row] = []
    in_order = sorted(borders)
    for start, end in zip(in_order, in_order[1:], strict=False):
        known = {c: _at(start, c, states, recorded) for c in columns}
        by_change = [k.evidence_id for k in known.values() if k.evidence_id in {c.evidence_id for c in recorded}]
        assumed = [k.evidence_id for k in known.values() if k.is_assumed]
        shown_by = (by_change or assumed or [k.evidence_id for k in known.values()])[0]
        row = {
            **states[-1],
            **{c: k.value for c, k in known.items()},
            "evidence_id": shown_by,
            "is_later_snapshot": any(k.is_assumed for k in known.values()),
        }
        if out and all(out[-1][c] == row[c] for c in (*columns, "evidence_id", "is_later_snapshot")):
            out[-1]["in_force_until"] = end
        else:
            out.append({**row, "in_force_from": start, "in_force_until": end})
    return out


def _at(moment: datetime, column: str, states: list[Row], recorded: list[Change]) -> _Known:
    """What a column was at a moment, from the snapshots and changes around it."""
    sets = [c for c in recorded if column in c.values]
    seen = next((s for s in reversed(states) if s["observed_at"] <= moment), None)
    was_set = next((c for c in reversed(sets) if c.changed_at <= moment), None)
    later = next((s for s in states if s["observed_at"] > moment), None)
    will_be_set = next((c for c in sets if c.changed_at > moment), None)
    if was_set and (seen is None or was_set.changed_at >= seen["observed_at"]):
        before: _Known | None = _Known(was_set.values[column], was_set.evidence_id)
    else:
        before = _Known(seen[column], seen["evidence_id"]) if seen else None
    if later is None or (will_be_set and will_be_set.changed_at <= later["observed_at"]):
        return before or _Known(None, will_be_set.evidence_id if will_be_set else "")
    changed_at = later.get("last_modified_at")
    after = _Known(later[column], later["evidence_id"])
    if changed_at and changed_at <= moment:
        return after
    if before and (changed_at or before.value == after.value):
        return before
    return after._replace(is_assumed=True)


def clipped(rows: Sequence[Row], until: datetime) -> list[Row]:
    """Return intervals as far as they reach back from a moment (UTC): what was in force up to then, and nothing later."""
    begun = [
        {**row, "in_force_until": min(row["in_force_until"], until)} for row in rows if row["in_force_from"] < until
    ]
    return [
        {name: row[name] for name in sorted(row) if name not in ("observed_at", "last_modified_at")} for row in begun
    ]


def settings_frame(spark: SparkSession, table: Table, in_force: Sequence[Row]) -> DataFrame:
    """Return a settings table's intervals as a small frame: its columns, in_force_from, in_force_until, is_later_snapshot."""
    fields = [T.StructField(c.name, SPARK_TYPES[c.type]) for c in table.columns]
    fields += [T.StructField(n, T.TimestampType()) for n in ("in_force_from", "in_force_until")]
    fields.append(T.StructField("is_later_snapshot", T.BooleanType()))
    names = [f.name for f in fields]
    data = [tuple(row.get(n) for n in names) for row in in_force]
    return frame_of(spark, data, T.StructType(fields))


def join_in_force(
    left: DataFrame, settings: DataFrame, on: dict[str, str], at: Column, take: dict[str, str]
) -> DataFrame:
    """Add to each row the settings in force at its time, null where there are none.

    ``on`` maps columns of ``left`` to columns of ``settings``; ``take`` maps settings columns to new names.
    """
    renamed = settings.select(
        *[F.col(theirs).alias(f"_key_{ours}") for ours, theirs in on.items()],
        F.col("in_force_from").alias("_from"),
        F.col("in_force_until").alias("_until"),
        *[F.col(theirs).alias(ours) for theirs, ours in take.items()],
    )
    condition = (at >= F.col("_from")) & (at < F.col("_until"))
    for ours in on:
        condition = condition & (left[ours] == F.col(f"_key_{ours}"))
    joined = left.join(F.broadcast(renamed), condition, how="left")
    return joined.drop("_from", "_until", *[f"_key_{ours}" for ours in on])
