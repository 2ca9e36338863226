"""What other settings would have made of the same messages: the observed arrivals, durations and failures, replayed."""

from forensics.what_if.answer import Answer, Row, ask
from forensics.what_if.model import Setup

__all__ = ["Answer", "Row", "Setup", "ask"]
