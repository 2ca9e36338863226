"""Sequence checks of producers: a number that counts up within its group shows what was sent out of order, twice, or never."""

from forensics.sequence.check import Broken, Sent, check
from forensics.sequence.read import Sequences, SequenceUnknownError, commits_not_sent, sequences

__all__ = ["Broken", "Sent", "SequenceUnknownError", "Sequences", "check", "commits_not_sent", "sequences"]
