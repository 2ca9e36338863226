"""Ledgers in a lake: read once, evidence of their own, and never an input of findings."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from forensics.books import Columns, read_books, reconcile, withdraw
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


def keep(lake, folder, text=LEDGER, columns=COLUMNS, **more):
    (folder / "charges.csv").write_text(text)
    return read_books(lake.findings(), folder / "charges.csv", columns, NOW, **more)


def outcomes(lake):
    return {line.key: line.outcome for line in reconcile(lake.findings())[world.QUEUE]}


def test_probable_closes_and_what_one_side_alone_has_is_listed(lake, tmp_path):
    assert keep(lake, tmp_path, whole=WHOLE) == (world.QUEUE, 5, 5)
    assert outcomes(lake) == {
        "pay-1001": "agrees_repeated",
        "pay-1002": "cleared",
        "pay-1003": "agrees",
        "pay-9": "books_only",
    }


def test_reading_the_same_ledger_again_adds_nothing(lake, tmp_path):
    keep(lake, tmp_path)

    assert keep(lake, tmp_path) == (world.QUEUE, 5, 0)
    assert lake.count(BOOK_ENTRIES) == 5
    assert outcomes(lake)["pay-1001"] == "agrees_repeated"


def test_an_export_that_overlaps_an_earlier_one_counts_no_charge_twice(lake, tmp_path):
    keep(lake, tmp_path)
    keep(lake, tmp_path, LEDGER + "c7,pay-1002,7,EUR\n")

    assert outcomes(lake)["pay-1002"] == "repeated"
    assert outcomes(lake)["pay-1003"] == "agrees"


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

    assert keep(lake, tmp_path) == (world.QUEUE, 5, 5)
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

    assert keep(lake, tmp_path, queue="mails")[0] == "mails"


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

    assert keep(lake, tmp_path, steps, Columns("payment_id", only=(("type", "capture"),)))[1] == 40


def test_the_report_and_the_refund_list_carry_the_amounts(lake, tmp_path):
    keep(lake, tmp_path, whole=WHOLE)
    case = load_case(lake.findings(), world.INCIDENT)
    page, rows = render(case, "html").decode(), render(case, "csv").decode().splitlines()

    assert [line.key for line in case.books] == ["pay-1001", "pay-1002"]
    assert case.books[0].to_refund == {"EUR": Decimal("10.10")}
    assert "To refund, by the books: 10.10 EUR" in page
    assert '"2","10.10 EUR"' in rows[1]
    assert "What the books say" in render(case, "md").decode()
