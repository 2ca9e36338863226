import tomllib
from itertools import combinations
from pathlib import Path

import pytest

from forensics.charts.marks import IN_FLIGHT, MARKS
from forensics.charts.palette import BACKGROUNDS, MEANINGS

CONFIG = Path(__file__).parents[3] / ".streamlit" / "config.toml"


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", BACKGROUNDS)
@pytest.mark.parametrize("meaning", MEANINGS)
def test_every_colour_stands_off_both_backgrounds(meaning, theme):
    assert contrast(MEANINGS[meaning], BACKGROUNDS[theme]) >= 3


def test_the_contrast_measure_knows_black_on_white():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)


def test_marks_of_one_colour_differ_in_shape():
    for one, other in combinations(MARKS.values(), 2):
        assert (one.colour, one.symbol) != (other.colour, other.symbol)


def test_no_two_marks_share_a_shape_so_that_colour_is_never_needed():
    symbols = [mark.symbol for mark in MARKS.values()]

    assert len(set(symbols)) == len(symbols)


def test_windows_differ_in_pattern_where_they_mean_something_else():
    looks = {(look.pattern, look.words) for look in IN_FLIGHT.values()}
    patterns = [pattern for pattern, _ in looks]

    assert len(set(patterns)) == len({look.line + look.pattern for look in IN_FLIGHT.values()})


def test_the_theme_uses_the_same_backgrounds_and_series_colours():
    theme = tomllib.loads(CONFIG.read_text())["theme"]

    assert {name: theme[name]["backgroundColor"] for name in BACKGROUNDS} == BACKGROUNDS
    assert sorted(theme["chartCategoricalColors"]) == sorted(MEANINGS.values())
