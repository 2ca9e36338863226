"""Spark's settings follow what is looked at: a round over a long history is small but for what goes through all of it."""

from types import SimpleNamespace

import pytest

from spark_jobs.tuning import FEW_LINES, LINES_PER_PARTITION, going_through_history, tune, tune_round

COMPILES = "spark.sql.codegen.wholeStage"
PARTITIONS = "spark.sql.shuffle.partitions"
LONG = 100 * LINES_PER_PARTITION


class Conf(dict):
    """Settings of a session, as Spark's ``conf`` gives and takes them."""

    set = dict.__setitem__

    def unset(self, name):
        self.pop(name, None)


@pytest.fixture
def spark():
    """A session of which only the settings are looked at."""
    return SimpleNamespace(conf=Conf())


@pytest.mark.parametrize(
    ("lines", "new", "compiles", "partitions"),
    [
        pytest.param(LONG, 1_000, "false", "10", id="few lines over a long history"),
        pytest.param(LONG, LONG // 2, "true", "50", id="half of everything is new"),
        pytest.param(FEW_LINES - 1, FEW_LINES - 1, "false", "1", id="a short history"),
    ],
)
def test_a_round_is_as_large_as_what_is_new_in_it(spark, lines, new, compiles, partitions):
    tune_round(spark, lines, new)

    assert (spark.conf[COMPILES], spark.conf[PARTITIONS]) == (compiles, partitions)


def test_code_is_generated_for_what_goes_through_a_long_history_and_not_for_what_follows(spark):
    tune(spark, 1_000, is_small=True)
    before = dict(spark.conf)
    with going_through_history(spark, LONG):
        assert (spark.conf[COMPILES], spark.conf["spark.sql.codegen.factoryMode"]) == ("true", "FALLBACK")
    assert spark.conf == before


def test_settings_come_back_after_a_failure(spark):
    with pytest.raises(ZeroDivisionError), going_through_history(spark, LONG):
        1 / 0  # noqa: B018
    assert spark.conf == {}


def test_a_short_history_is_gone_through_as_everything_else(spark):
    tune(spark, 1_000, is_small=True)
    with going_through_history(spark, FEW_LINES - 1):
        assert spark.conf[COMPILES] == "false"
