"""The weekly review: which queue needs work, and why. Pure values; rows are those of the findings tables."""

from forensics.health.numbers import NUMBERS, Number, week_numbers
from forensics.health.review import NEEDS, QueueReview, Timeouts, WeekReview, review_week
from forensics.health.signals import SIGNALS, Signal
from forensics.health.spans import DAYS, opening_week
from forensics.health.weeks import WeekUnknownError, week_bounds, week_title, weeks_before

__all__ = [
    "DAYS",
    "NEEDS",
    "NUMBERS",
    "SIGNALS",
    "Number",
    "QueueReview",
    "Signal",
    "opening_week",
    "Timeouts",
    "WeekReview",
    "WeekUnknownError",
    "review_week",
    "week_bounds",
    "week_numbers",
    "week_title",
    "weeks_before",
]
