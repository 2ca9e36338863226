"""Find messages by what their bodies and their lines say: a customer, an order, any text."""

from forensics.finding.lines import FoundLine, TextUnclearError, in_lines

__all__ = ["FoundLine", "TextUnclearError", "in_lines"]
