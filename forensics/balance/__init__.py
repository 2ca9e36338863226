"""Where a queue's messages went, day by day: what was sent against what left it, with what nothing explains."""

from forensics.balance.day import BalanceDay, Between, balance_of
from forensics.balance.read import Balance, balance
from forensics.balance.totals import QueueBalance, per_queue

__all__ = ["Balance", "BalanceDay", "Between", "QueueBalance", "balance", "balance_of", "per_queue"]
