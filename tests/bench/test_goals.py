"""The table of make bench: figures beside their goals, and what is counted rather than timed."""

from datetime import UTC, datetime

import pytest

from cli.watching import Watch, WatchRun
from tests.bench.commands import _RUN
from tests.bench.goals import Goal, Row, beside, table
from tests.bench.size import Size, size_of


def took(wall_s: float, cpu_s: float | None) -> dict:
    return {"wall_s": wall_s, "cpu_s": cpu_s, "peak_mb": 100.0}


def test_a_row_tells_what_it_took_and_the_ratio_to_the_answers_by_hand():
    row = beside("2 lines, warm", took(12.04, 20.4), took(10.0, 10.0), Goal(1.5, 1.0, "×"))

    assert row.cells() == (
        "2 lines, warm",
        "12.0 s (20 s CPU); DuckDB 10.0 s (10 s CPU)",
        "1.20 × wall, 2.04 × CPU",
        "≤ 1.50 × **missed**",
        "1.00 ×",
    )


def test_one_figure_above_its_goal_is_a_miss():
    goal = Goal(8.0, 3.0, "%")

    assert Row("", "", (("wall", 8.0), ("CPU", 7.9)), goal).is_reached
    assert not Row("", "", (("wall", 8.1), ("CPU", 1.0)), goal).is_reached


def test_where_no_cpu_time_is_known_none_is_told():
    assert beside("w", took(3.0, None), took(2.0, None), None).cells() == (
        "w",
        "3.0 s; DuckDB 2.0 s",
        "1.50 × wall",
        "",
        "",
    )


def test_the_table_is_markdown():
    rows = [Row("`spark_jobs`, lines", "", (("", 4_000),), Goal(4_000, 2_700, ""))]

    assert table(rows).splitlines() == [
        "| Work | Took | Figure | Must | Aim |",
        "| --- | --- | --- | --- | --- |",
        "| `spark_jobs`, lines |  | 4,000 | ≤ 4,000 | 2,700 |",
    ]


def test_a_run_of_watch_is_read_from_what_watch_prints():
    watch = Watch(lambda _: WatchRun(), 30.0, lambda _: True, print)
    line = watch._line(datetime(2026, 11, 20, tzinfo=UTC), WatchRun(stored_count=2_000), 2.34)

    assert _RUN.search(line).groups() == ("2,000", "2.3")


@pytest.fixture
def package(tmp_path):
    def make(**modules: str):
        for name, source in modules.items():
            (tmp_path / f"{name}.py").write_text(source)
        return tmp_path

    (tmp_path / "__init__.py").write_text('"""A package."""\n')
    return make


def test_floors_are_the_longest_chain_of_imports_inside(package):
    name = package().name
    top = f"import os\nfrom {name}.middle import one\nfrom {name} import low\n"

    assert size_of(package(low="import sys\n", middle=f"from {name} import low\none = 1\n", top=top)) == Size(7, 4, 3)


def test_what_a_function_or_a_type_checker_imports_builds_no_floor(package):
    name = package().name
    lazy = f"def f():\n    from {name} import b\n"
    typed = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {name} import a\n"

    assert size_of(package(a=lazy, b=typed)).floors == 1


def test_modules_that_import_each_other_are_named(package):
    name = package().name

    with pytest.raises(ValueError, match=rf"{name}\.a, {name}\.b"):
        size_of(package(a=f"import {name}.b\n", b=f"import {name}.a\n"))
