"""The books: what a ledger says was done and paid, held against what the logs prove. Neither overwrites the other."""

from forensics.books.amounts import sums, sums_text
from forensics.books.compare import OUTCOME_WORDS, OUTCOMES, Line, line_record
from forensics.books.entries import SAME_ROWS, Columns
from forensics.books.store import Reading, has_books, read_books, reconcile, standing, withdraw
from forensics.books.summary import book_sums, told

__all__ = [
    "OUTCOMES",
    "OUTCOME_WORDS",
    "SAME_ROWS",
    "Columns",
    "Line",
    "Reading",
    "book_sums",
    "has_books",
    "line_record",
    "read_books",
    "reconcile",
    "standing",
    "sums",
    "sums_text",
    "told",
    "withdraw",
]
