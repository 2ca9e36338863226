"""Which messages workers' lines speak of: by part the same as line by line, in stretches of time."""

from collections import defaultdict

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting.halves import halved
from forensics.counting.spoken import spoken_in, streams_in, stretches

MINUTE_US = 60_000_000
SCHEMA = {"log_group": pl.String, "log_stream": pl.String, "at": pl.Int64, "keys": pl.List(pl.UInt64)}
Line = tuple[int, int, list[int]]
"""Part, time and the messages it names."""

lines_of = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 40).map(MINUTE_US.__mul__), st.lists(st.integers(1, 12), max_size=2)),
    max_size=40,
)


def facts(lines: list[Line], part: int) -> pl.DataFrame:
    mine = [("workers", "one", at, sorted(set(keys))) for number, at, keys in lines if number == part]
    return pl.DataFrame(mine, schema=SCHEMA, orient="row")


def of_parts(lines: list[Line]) -> pl.DataFrame:
    frames = [spoken_in(facts(lines, n)).with_columns(part=pl.lit(n, pl.UInt32)) for n in range(3)]
    return pl.concat(frames)


@given(lines_of, st.integers(1, 12))
def test_stretches_are_what_lines_say_one_by_one(lines, most):
    first_at: dict[int, int] = {}
    spoken: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for part, at, keys in lines:
        for key in set(keys):
            first_at[key] = min(at, first_at.get(key, at))
            spoken[key].append((part, at))
    each = [(key, first_at[key], len(spoken[key])) for key in sorted(first_at)]
    began, weights = (pl.Series([row[n] for row in each], dtype=pl.Int64).to_numpy() for n in (1, 2))
    expected = defaultdict(list)
    for (key, *_), unit in zip(each, halved(began, weights, most), strict=True):
        expected[unit].append(key)

    found = {one.name: one for one in stretches(of_parts(lines), most)}

    assert {name: one.keys.tolist() for name, one in found.items()} == dict(expected)
    for one in found.values():
        mine = [place for key in one.keys.tolist() for place in spoken[key]]
        ends = {part: [at for number, at in mine if number == part] for part, _ in mine}
        assert one.parts == [(part, min(times), max(times)) for part, times in sorted(ends.items())]
        assert one.lines == len(mine)


def test_a_stream_is_named_only_where_every_line_names_its_messages():
    rows = [
        ("workers", "one", 1, [5]),
        ("workers", "two", 2, [6]),
        ("workers", "two", 3, []),
        ("workers", "one", 4, [5, 7]),
    ]

    found = streams_in(pl.DataFrame(rows, schema=SCHEMA, orient="row"))

    assert found.select("log_stream", "is_named", "lines").rows() == [("one", True, 2), ("two", False, 2)]
    assert set(spoken_in(pl.DataFrame(rows, schema=SCHEMA, orient="row"))["stream"]) == set(found["stream"])


def test_nothing_is_spoken_of_where_there_are_no_lines():
    assert list(stretches(of_parts([]), 5)) == []
