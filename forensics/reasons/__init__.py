"""The rows that a reason of the weekly review rests on: found in a lake by the rule that counted its number."""

from forensics.reasons.rows import reason_ids

__all__ = ["reason_ids"]
