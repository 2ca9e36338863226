"""Room for names and numbers."""

import pytest

from pages._ui.cards import ROW_OF_TWO_LINES, name_px, row_px

PADDING_PX = 17
"""A cell's, on both sides, and its border."""


@pytest.mark.parametrize(
    ("name", "drawn_px"),
    [("shipment-updates", 107), ("payments.fifo", 81), ("webhook-deliveries", 115), ("invoice-exports", 90)],
)
def test_a_column_of_names_is_as_wide_as_a_browser_draws_the_longest(name, drawn_px):
    assert name_px([name, "a"]) >= drawn_px + PADDING_PX


def test_a_very_long_name_leaves_a_phone_room_for_the_other_columns():
    assert name_px(["n" * 80]) < 390 / 2


ADVICE = "Set the batch size to 1, or use one message group per customer or order, so that a slow item holds only its own group."
"""Four lines of a column of 240 pixels, as a browser draws it."""


def test_rows_are_as_high_as_their_longest_text():
    assert row_px([("short", 240), (ADVICE[:80], 240)]) == ROW_OF_TWO_LINES
    assert row_px([("short", 240), (ADVICE, 240)]) >= ROW_OF_TWO_LINES + 20
    assert row_px([]) == ROW_OF_TWO_LINES
