"""The line grammar: named regular expressions, and what a line says by them."""

from forensics.parsers.grammar import Pattern
from forensics.parsers.line import ParsedLine, parse_line

__all__ = ["ParsedLine", "Pattern", "parse_line"]
