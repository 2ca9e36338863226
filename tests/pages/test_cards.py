"""Room for names and numbers."""

import pytest

from pages._ui.cards import ROW_OF_TWO_LINES, ROW_PX, lines_px, name_px, row_px, whole_px
from pages._ui.incidents import TABLE_PX, widths_px

pytestmark = pytest.mark.page

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


def test_rows_are_as_high_as_words_that_break_early_and_long_ids_take():
    told = "exports: 2 of 2 redelivered messages may have been processed more than once"

    assert row_px([(told, 159)]) == row_px([("n" * 5 * 19, 159)]) == ROW_OF_TWO_LINES + 2 * 20


IDS = {
    "short": ("payments.fifo-20261130T2314Z", 436, True, True),
    "beside the course of a fault": ("payments.fifo-20261130T2314Z", 548, False, True),
    "as long as SQS allows": (f"{'q' * 75}.fifo-20261130T2314Z", 436, False, False),
}


@pytest.mark.parametrize(("name", "others_px", "has_column", "is_whole"), IDS.values(), ids=IDS)
def test_no_incident_s_id_is_pushed_out_of_the_table_at_the_right(name, others_px, has_column, is_whole):
    text_px, id_px = widths_px(["payments.fifo: 11 to 13 of 20 messages"], [name], TABLE_PX - others_px)

    assert text_px + id_px + others_px <= TABLE_PX
    assert text_px >= 150
    assert bool(id_px) == has_column, "else it stands at its text's end"
    assert (max(text_px, id_px) >= whole_px([name])) == is_whole


def test_rows_of_one_line_are_no_higher_than_that():
    assert lines_px([("off", 110), ("30 s", 110)]) == lines_px([]) == ROW_PX
    assert lines_px([("off", 110), (ADVICE[:60], 240)]) == ROW_OF_TWO_LINES
