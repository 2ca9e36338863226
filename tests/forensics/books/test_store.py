"""Ledgers in a lake: read once, evidence of their own, and never an input of findings."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from forensics.books import Columns, book_sums, read_books, reconcile, withdraw
from forensics.errors import ForensicsError
from forensics.report.case import load_case
from forensics.report.render import render
from forensics.tables.books import BOOK_ENTRIES, BOOKS
from forensics.tables.findings import DELIVERIES
from forensics.window import TimeWindow
from tests.forensics.report import world

pytestmark = pytest.mark.lake

NOW = datetime(2026, 11, 21, tzinfo=UTC)
WHOLE = TimeWindow(world.START - timedelta(days=1), world.START + timedelta(days=1))
HEADER = "charge_id,payment_id,amount,currency\n"
LEDGER = HEADER + "".join(
    f"c{n},{key},{amount},EUR\n"
    for n, (key, amount) in enumerate(
        [("pay-1001", "10.10"), ("pay-1001", "10.10"), ("pay-1002", "7"), ("pay-1003", "3"), ("pay-9", "1")]
    )
)
COLUMNS = Columns("payment_id", "amount", "currency", entry_id="charge_id")


@pytest.fixture
def lake(tmp_path):
    return world.save(tmp_path / "lake")


def keep(lake, folder, text=LEDGER, columns=COLUMNS, now=NOW, **more):
    (folder / "charges.csv").write_text(text)
    return read_books(lake.findings(), folder / "charges.csv", columns, now, **more)


def told_of(reading):
    return reading.queue, reading.row_count, reading.merged.new_count


def replaced(reading):
    return reading.merged.new_count, reading.merged.changed_count, reading.merged.left_out_count


def to_refund(lake):
    return book_sums(reconcile(lake.findings())[world.QUEUE])["to_refund"]


def outcomes(lake):
    return {line.key: line.outcome for line in reconcile(lake.findings())[world.QUEUE]}


def test_probable_closes_and_what_one_side_alone_has_is_listed(lake, tmp_path):
    assert told_of(keep(lake, tmp_path, whole=WHOLE)) == (world.QUEUE, 5, 5)
    assert outcomes(lake) == {
        "pay-1001": "agrees_repeated",
        "pay-1002": "cleared",
        "pay-1003": "agrees",
        "pay-9": "books_only",
    }


def test_reading_the_same_ledger_again_adds_nothing(lake, tmp_path):
    keep(lake, tmp_path)

    assert told_of(keep(lake, tmp_path)) == (world.QUEUE, 5, 0)
    assert lake.count(BOOK_ENTRIES) == 5
    assert outcomes(lake)["pay-1001"] == "agrees_repeated"


def test_a_ledger_read_before_anything_told_the_queue_s_arn_still_counts_and_counts_once(tmp_path):
    lake = world.save(tmp_path / "lake", world.by_name_alone())
    keep(lake, tmp_path, whole=WHOLE)
    before = outcomes(lake)
    world.publish(lake, world.findings(), "run-2")

    assert outcomes(lake) == before
    assert told_of(keep(lake, tmp_path)) == (world.QUEUE, 5, 0)
    assert outcomes(lake)["pay-1001"] == "agrees_repeated"
    assert "pay-1001" in [line.key for line in load_case(lake.findings(), world.INCIDENT).books]


def test_an_export_that_overlaps_an_earlier_one_counts_no_charge_twice(lake, tmp_path):
    keep(lake, tmp_path)
    keep(lake, tmp_path, LEDGER + "c7,pay-1002,7,EUR\n")

    assert outcomes(lake)["pay-1002"] == "repeated"
    assert outcomes(lake)["pay-1003"] == "agrees"


TIMED = "payment_id,amount,charged_at,state\n" + "".join(
    f"pay-1001,17.00,2026-11-20T05:{minute}:00Z,settled\n" for minute in (12, 22)
)
PLAIN = Columns("payment_id", "amount", "EUR")
READ_AGAIN = {
    "with times": Columns("payment_id", "amount", "EUR", "charged_at"),
    "with the row's own name": Columns("payment_id", "amount", "EUR", entry_id="charged_at"),
    "in another currency": Columns("payment_id", "amount", "CHF"),
    "without amounts, which were another column's": Columns("payment_id"),
}


@pytest.mark.parametrize("columns", READ_AGAIN.values(), ids=READ_AGAIN)
def test_a_file_read_again_otherwise_replaces_what_its_rows_said(lake, tmp_path, columns):
    keep(lake, tmp_path, TIMED, PLAIN)
    assert to_refund(lake) == "17.00 EUR"

    assert replaced(keep(lake, tmp_path, TIMED, columns)) == (0, 2, 0)
    assert to_refund(lake) == ("17.00 CHF" if columns.currency == "CHF" else "17.00 EUR" if columns.amount else "")
    assert replaced(keep(lake, tmp_path, TIMED, PLAIN)) == (0, 2, 0)
    assert to_refund(lake) == "17.00 EUR"


def test_rows_that_a_later_reading_leaves_out_count_no_more(lake, tmp_path):
    steps = "type,payment_id,amount\nauthorize,pay-1001,17\ncapture,pay-1001,17\n"
    captures = Columns("payment_id", "amount", "EUR", only=(("type", "capture"),))
    keep(lake, tmp_path, steps, PLAIN)

    assert replaced(keep(lake, tmp_path, steps, captures)) == (0, 0, 1)
    assert to_refund(lake) == ""
    assert replaced(keep(lake, tmp_path, steps, PLAIN)) == (0, 1, 0)
    assert to_refund(lake) == "17 EUR"


def test_two_equal_rows_both_count_until_a_person_says_that_they_are_one(lake, tmp_path):
    twice = "payment_id,amount\n" + 2 * "pay-1001,17\n"
    for kind, left in (("count", "17 EUR"), ("count", "17 EUR"), ("once", ""), ("count", "17 EUR")):
        keep(lake, tmp_path, twice, Columns("payment_id", "amount", "EUR", same_rows=kind))

        assert to_refund(lake) == left


def test_the_same_file_renamed_stays_the_same_ledger(lake, tmp_path):
    keep(lake, tmp_path, TIMED, PLAIN)
    (tmp_path / "charges.csv").rename(tmp_path / "november.csv")
    reading = read_books(lake.findings(), tmp_path / "november.csv", READ_AGAIN["in another currency"], NOW)

    assert (reading.book, reading.is_renamed, replaced(reading)) == ("charges", True, (0, 2, 0))
    assert to_refund(lake) == "17.00 CHF"


def test_a_file_extended_and_read_otherwise_adds_its_new_rows_alone(lake, tmp_path):
    keep(lake, tmp_path, TIMED, PLAIN)
    longer = TIMED + "pay-1001,17.00,2026-11-20T05:32:00Z,settled\n"

    assert replaced(keep(lake, tmp_path, longer, READ_AGAIN["with times"])) == (1, 2, 0)
    assert to_refund(lake) == "34.00 EUR"


def test_parts_of_one_ledger_that_overlap_count_what_both_have_once(lake, tmp_path):
    rows = [f"pay-1001,17.00,2026-11-20T05:{minute}:00Z,settled\n" for minute in (12, 22, 32)]
    head = TIMED.partition("\n")[0] + "\n"
    keep(lake, tmp_path, head + "".join(rows[:2]), PLAIN, book="bank")

    assert replaced(keep(lake, tmp_path, head + "".join(rows[1:]), PLAIN, book="bank")) == (1, 0, 0)
    assert to_refund(lake) == "34.00 EUR"


@pytest.mark.parametrize("known_by", ["with times", "with the row's own name"])
def test_a_row_whose_state_changed_is_the_same_row_by_its_name_or_its_time(lake, tmp_path, known_by):
    keep(lake, tmp_path, TIMED, READ_AGAIN[known_by])

    assert replaced(keep(lake, tmp_path, TIMED.replace("settled", "paid out"), READ_AGAIN[known_by])) == (0, 0, 0)
    assert to_refund(lake) == "17.00 EUR"


def test_what_may_be_the_same_charge_written_anew_counts_and_is_told(lake, tmp_path):
    keep(lake, tmp_path, TIMED, PLAIN)
    reading = keep(lake, tmp_path, TIMED.replace("settled", "paid out"), PLAIN)

    assert (reading.merged.new_count, reading.merged.beside_count) == (2, 2)
    assert to_refund(lake) == "51.00 EUR"


def test_a_file_read_again_without_saying_that_it_is_whole_is_not_said_to_be(lake, tmp_path):
    keep(lake, tmp_path, whole=WHOLE)
    reading = keep(lake, tmp_path, now=NOW + timedelta(minutes=1))

    assert reading.was_whole
    assert outcomes(lake)["pay-1002"] == "open"


def test_the_books_change_neither_verdicts_nor_the_data_version(lake, tmp_path):
    before = lake.findings().generation, lake.data_versions()
    keep(lake, tmp_path)

    assert (lake.findings().generation, lake.data_versions()) == before
    assert lake.gained(before[0].inputs) == set()


def test_a_ledger_read_by_the_wrong_column_is_taken_back_and_read_again(lake, tmp_path):
    keep(lake, tmp_path)
    with pytest.raises(ForensicsError, match="was read by 'payment_id' before"):
        keep(lake, tmp_path, LEDGER.replace("payment_id", "pid"), Columns("pid"))
    assert withdraw(lake, "charges", NOW) == 5
    assert reconcile(lake.findings()) == {}

    assert told_of(keep(lake, tmp_path)) == (world.QUEUE, 5, 5)
    assert outcomes(lake)["pay-1001"] == "agrees_repeated"


def test_keys_that_name_no_message_store_nothing(lake, tmp_path):
    with pytest.raises(ForensicsError, match="none of the 1 key in column 'charge_id', such as 'c1', names a message"):
        keep(lake, tmp_path, "charge_id\nc1\n", Columns("charge_id"))

    assert not lake.exists(BOOKS)


def test_keys_of_two_queues_ask_which_one_is_meant(tmp_path):
    found = world.findings()
    found[DELIVERIES.name] += [
        row | {"queue": "mails", "queue_arn": "arn:aws:sqs:eu-west-1:111122223333:mails"} for row in world.deliveries()
    ]
    lake = world.save(tmp_path / "two", found)
    with pytest.raises(ForensicsError, match=r"messages of 2 queues: .*\(3\)"):
        keep(lake, tmp_path)

    assert keep(lake, tmp_path, queue="mails").queue == "mails"


def test_steps_of_a_charge_do_not_pass_for_charges(tmp_path):
    found = world.findings()
    found[DELIVERIES.name] = [
        world.deliveries()[0] | {"item_id": f"m{n}", "message_id": f"m{n}", "business_keys": [f"p{n}"]}
        for n in range(40)
    ]
    lake = world.save(tmp_path / "steps", found)
    steps = "type,payment_id\n" + "".join(f"{step},p{n}\n" for n in range(40) for step in ("authorize", "capture"))
    with pytest.raises(ForensicsError, match="100 % of the keys stand in the ledger more than once, such as 'p0'"):
        keep(lake, tmp_path, steps, Columns("payment_id"))

    assert keep(lake, tmp_path, steps, Columns("payment_id", only=(("type", "capture"),))).row_count == 40


def test_the_report_and_the_refund_list_carry_the_amounts(lake, tmp_path):
    keep(lake, tmp_path, whole=WHOLE)
    case = load_case(lake.findings(), world.INCIDENT)
    page, rows = render(case, "html").decode(), render(case, "csv").decode().splitlines()

    assert [line.key for line in case.books] == ["pay-1001", "pay-1002"]
    assert case.books[0].to_refund == {"EUR": Decimal("10.10")}
    assert "To refund, by the books: 10.10 EUR" in page
    assert '"2","10.10 EUR"' in rows[1]
    assert "What the books say" in render(case, "md").decode()


def test_a_ledger_that_an_earlier_release_read_is_taken_back_before_it_is_read_again(lake, tmp_path):
    keep(lake, tmp_path)
    of_before = lake.read(BOOK_ENTRIES).to_pylist()
    lake.append(
        BOOK_ENTRIES,
        [
            {
                **row,
                "row_id": None,
                "revision": None,
                "row_sha256": None,
                "is_left_out": None,
                "evidence_id": f"book:{n}",
            }
            for n, row in enumerate(of_before)
        ],
        "books|charges",
    )

    with pytest.raises(ForensicsError, match="was read by an earlier release"):
        keep(lake, tmp_path, LEDGER + "c5,pay-9,1,EUR\n")

    withdraw(lake, "charges", NOW)
    assert told_of(keep(lake, tmp_path))[2] == 5
