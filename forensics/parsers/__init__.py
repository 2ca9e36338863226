"""The line grammar: named regular expressions, declared once, run by Python here and by Java inside Spark."""

from forensics.parsers.grammar import Pattern
from forensics.parsers.line import ParsedLine, parse_line

__all__ = ["ParsedLine", "Pattern", "parse_line"]
