"""Row filters for reads, so that callers need not import Arrow."""

from collections.abc import Iterable
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc


def equals(column: str, value: object) -> pc.Expression:
    """Keep rows whose column has this value; null never equals."""
    return pc.field(column) == pa.scalar(value)


def one_of(column: str, values: Iterable[str]) -> pc.Expression:
    """Keep rows whose column has one of these texts; no values keep no row."""
    return pc.field(column).isin(pa.array(sorted(set(values)), pa.string()))


def between(column: str, first: datetime, last: datetime, *instead: str) -> pc.Expression:
    """Keep rows whose time lies in the span, both ends included; where it is null, the first of others that is not."""
    utc = pa.timestamp("us", tz="UTC")
    # A coalesced column has no statistics by which whole row groups are passed over.
    at = pc.coalesce(*map(pc.field, (column, *instead))) if instead else pc.field(column)
    return (at >= pa.scalar(first, utc)) & (at <= pa.scalar(last, utc))


def at_any(column: str, moments: Iterable[datetime]) -> pc.Expression:
    """Keep rows whose time is one of these; none keep no row."""
    return pc.field(column).isin(pa.array(sorted(set(moments)), pa.timestamp("us", tz="UTC")))


def is_missing(*columns: str) -> pc.Expression:
    """Keep rows in which one of these columns is null."""
    first, *others = (pc.field(column).is_null() for column in columns)
    for other in others:
        first |= other
    return first


def at_least(column: str, first: datetime) -> pc.Expression:
    """Keep rows whose time is this one or later."""
    return pc.field(column) >= pa.scalar(first, pa.timestamp("us", tz="UTC"))
