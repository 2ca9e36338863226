"""Amounts of money as ledgers write them: decimals, each with its currency, never a binary fraction."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from forensics.books.currencies import CURRENCIES
from forensics.errors import ForensicsError
from forensics.sentence import said

_SIGNS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR"}
_NUMBER = r"[-+\u2212]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?"
_AMOUNT = re.compile(
    rf"""(?x)
    (?P<before>[A-Za-z]{{3}}|[€$£¥₹])?\s*     # a currency in front of the number
    (?P<number>{_NUMBER})\s*                  # digits, thousands by commas, a decimal point
    (?P<after>[A-Za-z]{{3}}|[€$£¥₹])?         # or behind it
    """
)
_MOST_DIGITS = 40


class AmountUnreadableError(ForensicsError):
    """A value that should be an amount of money is none, or its currency is not clear."""


@dataclass(frozen=True)
class Money:
    """An amount, and its currency where one is known."""

    amount: Decimal
    currency: str | None


def money(value: Any) -> Money:
    """Read a cell as an amount; raises AmountUnreadableError with the value.

    >>> money("1,204.50 EUR"), money("-3"), money("¥980")
    (Money(amount=Decimal('1204.50'), currency='EUR'), Money(amount=Decimal('-3'), currency=None), \
Money(amount=Decimal('980'), currency='JPY'))
    """
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number = Decimal(value)
        if (
            number.is_finite()
            and abs(number.adjusted()) < _MOST_DIGITS
            and len(number.as_tuple().digits) < _MOST_DIGITS
        ):
            return Money(number, None)
    found = _AMOUNT.fullmatch(str(value).strip()) if isinstance(value, str) and len(value) <= _MOST_DIGITS else None
    if found is None:
        raise AmountUnreadableError(
            said("{value} is not an amount", value=f"{value!r:.80}"),
            "Amounts are written like 1204.50, 1,204.50 or 1204.50 EUR: a decimal point, thousands by commas or not at all.",
        )
    currencies = {currency_of(text) for text in (found["before"], found["after"]) if text}
    if len(currencies) > 1:
        raise AmountUnreadableError(
            said("{value} names two currencies", value=repr(value)), "Write each amount with one."
        )
    number = Decimal(found["number"].replace(",", "").replace("\u2212", "-"))
    return Money(number, currencies.pop() if currencies else None)


def currency_of(text: Any) -> str:
    """Return a currency's code as ISO 4217 writes it; raises AmountUnreadableError for any other text.

    >>> currency_of("eur"), currency_of("£")
    ('EUR', 'GBP')
    """
    if not is_currency(text):
        raise AmountUnreadableError(
            said("{value} is not a currency", value=f"{text!r:.80}"),
            "A currency is a code of ISO 4217, such as EUR, or one of € $ £ ¥ ₹.",
        )
    return _code(text)


def is_currency(text: Any) -> bool:
    """Tell whether a text is a currency's code or sign.

    >>> is_currency("usd"), is_currency("€"), is_currency("abc"), is_currency(None)
    (True, True, False, False)
    """
    return isinstance(text, str) and _code(text) in CURRENCIES


def _code(text: str) -> str:
    return _SIGNS.get(text, text.upper())


def sums(amounts: Iterable[tuple[str | None, Decimal]]) -> dict[str, Decimal]:
    """Add up amounts per currency, currencies in order of their codes; "" where none is known.

    >>> sums([("EUR", Decimal("0.10")), ("EUR", Decimal("0.20")), ("JPY", Decimal(980))])
    {'EUR': Decimal('0.30'), 'JPY': Decimal('980')}
    """
    totals: dict[str, Decimal] = {}
    for currency, amount in amounts:
        totals[currency or ""] = totals.get(currency or "", Decimal(0)) + amount
    return dict(sorted(totals.items()))


def sums_text(totals: dict[str, Decimal]) -> str:
    """Write sums per currency.

    >>> sums_text({"EUR": Decimal("1204.50"), "JPY": Decimal(980)}), sums_text({})
    ('1,204.50 EUR + 980 JPY', '')
    """
    return " + ".join(f"{amount:,f} {currency}".strip() for currency, amount in totals.items())
