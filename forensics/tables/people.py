"""Tables of what people say, bring along and are told. Append-only, and never an input of findings: it is no log line."""

from forensics.tables.books import BOOK_ENTRIES, BOOKS
from forensics.tables.schema import Column, Table

MARKS = ("false-alarm", "refunded", "accepted", "withdrawn")
"""What a person can mark; ``withdrawn`` takes the same person's or anybody's earlier mark back."""

ANNOTATIONS = Table(
    "annotations",
    "evidence",
    grain="one mark that a person put on an incident or on one of its messages; a later mark is a further row",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "annotation: and the SHA-256 of subject, mark, reason, author and time"),
        Column("incident_id", "string", "<queue name>-<UTC start, yyyymmddThhmmZ>"),
        Column("item_id", "string", "the message id, or key:<business key>; null where the whole incident is meant"),
        Column("mark", "string", "false-alarm, refunded, accepted or withdrawn"),
        Column("reason", "string", "why, in the person's words"),
        Column("author", "string", "who said it; the signed-in e-mail address where the dashboard has a login"),
        Column("data_version", "string", "the data version the person looked at"),
        Column("marked_at", "timestamp", "when it was said, UTC"),
    ),
)

NOTICES = Table(
    "notices",
    "evidence",
    grain="one notice of one incident that a webhook took; the same news is never sent there twice",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "notice: and the SHA-256 of target, incident and news"),
        Column("incident_id", "string", "<queue name>-<UTC start, yyyymmddThhmmZ>"),
        Column(
            "target", "string", "host and the SHA-256's first 12 digits of the webhook's address; never the address"
        ),
        Column("news", "string", "digest of what the notice says of the incident; a change gives another"),
        Column("data_version", "string", "the data version it was made from"),
        Column("sent_at", "timestamp", "when the webhook took it, UTC"),
    ),
)

PEOPLE = (ANNOTATIONS, NOTICES, BOOKS, BOOK_ENTRIES)
