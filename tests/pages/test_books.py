"""What ledgers say, beside the verdicts of an incident and on the page of the data."""

from datetime import UTC, datetime

import pytest

from forensics.books import Columns, read_books
from tests.forensics.report import world
from tests.pages.reading import words

pytestmark = pytest.mark.page


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("books")
    lake = world.save(folder / "lake")
    (folder / "charges.csv").write_text("id,amount\npay-1001,10 EUR\npay-1002,7 EUR\npay-1002,7.00 EUR\npay-9,1 EUR\n")
    read_books(lake.findings(), folder / "charges.csv", Columns("id", "amount"), datetime(2026, 11, 21, tzinfo=UTC))
    return lake.root


def table(at, column):
    return next(d.value for d in at.dataframe if column in d.value)


def test_an_incident_shows_what_the_books_prove_and_what_is_to_be_refunded(visit, lake):
    at = visit("pages/incident.py", lake, incident=world.INCIDENT)
    rows = table(at, "Both together")

    assert not at.exception
    assert "7.00 EUR.** They decide 1 work that the logs left open." in words(at)
    assert dict(zip(rows["Key"], rows["To refund"], strict=True))["pay-1002"] == "7.00 EUR"


def test_the_page_of_the_data_lists_ledgers_and_what_one_side_alone_has(visit, lake):
    at = visit("pages/data.py", lake)

    assert not at.exception
    assert list(table(at, "Ledger")["Ledger"]) == ["charges"]
    assert "1 key in the books alone" in words(at)


def test_a_lake_without_a_ledger_says_nothing_of_books(visit):
    assert "the books" not in words(visit("pages/data.py", "demo"))
