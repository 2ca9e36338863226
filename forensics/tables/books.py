"""Tables of the books: what a ledger outside AWS says was done. Kept beside what logs say, and never an input of findings."""

from forensics.tables.common import QUEUE, QUEUE_ARN
from forensics.tables.schema import Column, Table

_BOOK = Column("book", "string", "the ledger's name: as said, else the file's name without its ending")
_EDITION = Column(
    "edition", "int", "how often the ledger had been withdrawn before; only rows of the newest edition count"
)
_READ = Column("read_at", "timestamp", "when it was read, UTC")

BOOK_ENTRIES = Table(
    "book_entries",
    "evidence",
    grain="one row of a ledger, as one reading had it: work that it says was done, or, with a negative amount, was paid back",
    key=("evidence_id",),
    columns=(
        Column(
            "evidence_id",
            "string",
            "book: and the SHA-256 of the row's id, its revision, and what was read of it",
        ),
        Column(
            "row_id",
            "string",
            "row: and the SHA-256 of queue, ledger, edition, content and place among equal rows, however its columns were read",
        ),
        Column("revision", "int", "how often it had been read otherwise before; only its newest counts"),
        Column("row_sha256", "string", "digest of all its columns"),
        Column(
            "is_left_out",
            "bool",
            "a later reading of the row leaves it out, as another kind or an equal row; it counts no more",
        ),
        QUEUE_ARN,
        QUEUE,
        _BOOK,
        _EDITION,
        Column("key", "string", "what the work is about, as the consumers' logs name it"),
        Column("entry_id", "string", "the ledger's own name of the row; null where no column was said to hold it"),
        Column("amount", "string", "a decimal number as text; null where no column was said to hold it"),
        Column("currency", "string", "of the amount: a code as the ledger writes it; null where not known"),
        Column("booked_at", "timestamp", "when, UTC; null where no column was said to hold it"),
        Column("row_number", "int", "place in the file it was read from; the first row is 1"),
        _READ,
    ),
)

BOOKS = Table(
    "books",
    "evidence",
    grain="one reading of one ledger's file, or a ledger's withdrawal: how far it can be relied on",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "reading: and the SHA-256 of queue, ledger, file, window and time"),
        QUEUE_ARN,
        QUEUE,
        _BOOK,
        _EDITION,
        Column("file_name", "string", "the file, without its folder; null for a withdrawal"),
        Column("file_sha256", "string", "the file's digest; null for a withdrawal"),
        Column("key_column", "string", "the column that names the work"),
        Column("entry_count", "long", "rows that the file gave"),
        Column("stored_count", "long", "of these, rows that were new"),
        Column("window_start_at", "timestamp", "it holds everything from here, UTC; null where nobody says so"),
        Column("window_end_at", "timestamp", "to here, exclusive; null where nobody says so"),
        Column("is_withdrawn", "bool", "the ledger was read in error: what it said before counts no more"),
        _READ,
    ),
)
