"""Where a queue's messages went, day by day: what was sent against what left it, with what nothing explains."""

from forensics.balance.day import BalanceDay, Between, balance_of
from forensics.balance.read import Balance, balance

__all__ = ["Balance", "BalanceDay", "Between", "balance", "balance_of"]
