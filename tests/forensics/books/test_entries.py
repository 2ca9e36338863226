"""A ledger's file is read exactly, or refused with the value that cannot be meant."""

from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from forensics.books.amounts import AmountUnreadableError, money
from forensics.books.entries import Columns, ledger_of
from forensics.books.files import LedgerUnreadableError, ledger_rows
from forensics.errors import ForensicsError

PLAIN = Columns("payment_id", "amount", "currency", "charged_at", "charge_id")
HEADER = "charge_id,payment_id,amount,currency,charged_at\n"


def read(path, columns=PLAIN):
    return ledger_of(ledger_rows(path), columns, path.name).entries


def saved(folder, text, name="charges.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_csv_json_lines_and_parquet_give_the_same_entries(tmp_path):
    csv = saved(tmp_path, HEADER + 'c1,pay-1,"1,204.50",EUR,2026-11-20T05:12:01Z\n')
    lines = saved(
        tmp_path,
        '{"charge_id": "c1", "payment_id": "pay-1", "amount": 1204.50, "currency": "EUR", "charged_at": 1795151521}\n',
        "charges.jsonl",
    )
    table = {
        "charge_id": ["c1"],
        "payment_id": ["pay-1"],
        "amount": pa.array([Decimal("1204.50")]),
        "currency": ["EUR"],
        "charged_at": pa.array([datetime(2026, 11, 20, 5, 12, 1, tzinfo=UTC)]),
    }
    pq.write_table(pa.table(table), tmp_path / "charges.parquet")
    first, *others = (read(path) for path in (csv, lines, tmp_path / "charges.parquet"))

    assert others == [first, first]
    assert (first[0].amount, first[0].currency) == (Decimal("1204.50"), "EUR")
    assert first[0].booked_at == datetime(2026, 11, 20, 5, 12, 1, tzinfo=UTC)


def test_a_binary_fraction_in_parquet_is_the_decimal_that_was_meant(tmp_path):
    pq.write_table(pa.table({"payment_id": ["pay-1"], "amount": [0.1]}), tmp_path / "c.parquet")

    assert read(tmp_path / "c.parquet", Columns("payment_id", "amount"))[0].amount == Decimal("0.1")


def test_a_time_without_a_zone_is_read_in_the_zone_that_was_said(tmp_path):
    file = saved(tmp_path, "payment_id,at\npay-1,2026-11-20 06:12:01\n")
    (entry,) = read(file, Columns("payment_id", time="at", zone=ZoneInfo("Europe/Berlin")))

    assert entry.booked_at == datetime(2026, 11, 20, 5, 12, 1, tzinfo=UTC)


def test_only_rows_of_the_kind_that_was_named_count(tmp_path):
    file = saved(tmp_path, "payment_id,type\npay-1,authorize\npay-1,capture\npay-2,fee\n")

    assert [e.row_number for e in read(file, Columns("payment_id", only=(("type", "capture"),)))] == [2]


REFUSED = {
    "an empty file": ("", PLAIN, "holds no row"),
    "a header alone": (HEADER, PLAIN, "holds no row"),
    "no such column": ("id,amount\n1,2\n", Columns("payment_id"), "has no column 'payment_id'"),
    "a column twice": ("payment_id,payment_id\na,b\n", Columns("payment_id"), "the column 'payment_id' twice"),
    "an amount that is no number": (HEADER + "c1,pay-1,twelve,EUR,\n", PLAIN, "'twelve' is not an amount"),
    "a comma for a decimal point": (HEADER + 'c1,pay-1,"12,50",EUR,\n', PLAIN, "'12,50' is not an amount"),
    "a number of a thousand million digits": (
        '{"payment_id": "p", "amount": 1e999999999}\n',
        Columns("payment_id", "amount"),
        "Decimal('1E+999999999') is not an amount",
    ),
    "the first day there is": (
        "payment_id,at\np,0001-01-01T00:00:00+14:00\n",
        Columns("payment_id", time="at"),
        "'0001-01-01T00:00:00+14:00' is not a time",
    ),
    "half a character": ('{"payment_id": "p\\ud800"}\n', Columns("payment_id"), "which is no text"),
    "not a number": ("payment_id,amount\np,NaN\n", Columns("payment_id", "amount"), "'NaN' is not an amount"),
    "two currencies in one column": (
        "payment_id,amount\na,12 EUR\nb,12 USD\n",
        Columns("payment_id", "amount"),
        "row 2 of 'charges.csv' is in USD, and row 1 in EUR: two currencies in column 'amount'",
    ),
    "two currencies in one cell": (
        "payment_id,amount\na,EUR 12 USD\n",
        Columns("payment_id", "amount"),
        "two currencies",
    ),
    "a currency that is none": (HEADER + "c1,pay-1,12,euros,\n", PLAIN, "'euros' is not a currency"),
    "three letters that are none": (
        HEADER + "c1,pay-1,12,ABC,2026-11-20T05:12:01Z\n",
        PLAIN,
        "row 1 of 'charges.csv', column 'currency': 'ABC' is not a currency",
    ),
    "three letters behind an amount": (
        "payment_id,amount\np,12 pcs\n",
        Columns("payment_id", "amount"),
        "row 1 of 'charges.csv', column 'amount': 'pcs' is not a currency",
    ),
    "no column and no code": (
        "payment_id,amount\np,12\n",
        Columns("payment_id", "amount", "cur"),
        "row 1 of 'charges.csv' has no column 'cur', and that is no currency's code",
    ),
    "a row's name twice": (
        HEADER + "c1,pay-1,1,EUR,2026-11-20T05:12:01Z\nc1,pay-2,1,EUR,2026-11-20T05:12:02Z\n",
        PLAIN,
        "row 2 of 'charges.csv' has charge_id 'c1', and so has row 1",
    ),
    "a row again": ("payment_id\npay-1\npay-1\n", Columns("payment_id"), "row 2 of 'charges.csv' is row 1 again"),
    "no key": ("payment_id,a\n,1\n", Columns("payment_id"), "row 1 of 'charges.csv' has no payment_id"),
    "a cell too many": ("payment_id\npay-1,2\n", Columns("payment_id"), "has 2 cells, and the header 1"),
    "a time that is none": ("payment_id,at\np,soon\n", Columns("payment_id", time="at"), "'soon' is not a time"),
    "a time without a zone": (
        "payment_id,at\np,2026-11-20 05:12\n",
        Columns("payment_id", time="at"),
        "does not say its time zone",
    ),
    "half an object": ('{"payment_id": \n', Columns("payment_id"), "line 1 of 'CHARGES' is not one JSON object"),
    "an object's key twice": ('{"a": 1, "a": 2}\n', Columns("a"), "the key 'a' stands there twice"),
    "a kind that no row has": (
        "payment_id,type\np,fee\n",
        Columns("payment_id", only=(("type", "charge"),)),
        "no row of 'charges.csv' has type=charge",
    ),
}


@pytest.mark.parametrize(("text", "columns", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_meant_is_refused_with_its_value(tmp_path, text, columns, sentence):
    file = saved(tmp_path, text)
    with pytest.raises(ForensicsError) as refused:
        read(file, columns)

    assert sentence.replace("CHARGES", str(file)) in str(refused.value)
    assert refused.value.exit_code == 2
    assert refused.value.hint


def test_of_many_columns_and_a_long_value_some_is_shown(tmp_path):
    wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
    wide.write_text(",".join(f"c{n}" for n in range(5_000)) + "\n" + ",".join("1" * 5_000) + "\n")
    long.write_text(f"payment_id,amount\np,{'9' * 100_000}\n")

    with pytest.raises(LedgerUnreadableError, match="no column 'payment_id'") as unnamed:
        ledger_of(ledger_rows(wide), Columns("payment_id"), "wide.csv")
    with pytest.raises(AmountUnreadableError, match="'99999") as unread:
        ledger_of(ledger_rows(long), Columns("payment_id", "amount"), "long.csv")
    assert len(unnamed.value.hint) < 300
    assert len(str(unread.value)) < 300


def test_equal_rows_count_as_many_or_as_one_where_a_person_says_so(tmp_path):
    file = saved(tmp_path, "payment_id\npay-1\npay-1\n")

    assert len(read(file, Columns("payment_id", same_rows="count"))) == 2
    assert len(read(file, Columns("payment_id", same_rows="once"))) == 1


@pytest.mark.parametrize("value", ["1e5", "0x10", "", "--3", "1 000", True, None, float("nan")])
def test_no_other_writing_of_a_number_passes_for_an_amount(value):
    with pytest.raises(ForensicsError):
        money(value)
