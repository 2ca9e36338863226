"""Tables of what people say, bring along and are told. Append-only, and never an input of findings: it is no log line."""

from forensics.tables.books import BOOK_ENTRIES, BOOKS
from forensics.tables.common import QUEUE_ARN
from forensics.tables.schema import Column, Table

MARKS = ("false-alarm", "charged-once", "refunded", "accepted", "fixed", "comment", "withdrawn")
"""What a person can mark; ``withdrawn`` takes the same person's or anybody's earlier mark back, a comment says something."""

ANNOTATIONS = Table(
    "annotations",
    "evidence",
    grain="one mark or comment that a person put on an incident's works or on one work; a later one is a further row",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "annotation: and the SHA-256 of subject, mark, reason, author and time"),
        Column(
            "incident_id", "string", "<queue name>-<UTC start, yyyymmddThhmmZ>; where it was found, and may be gone"
        ),
        Column("item_id", "string", "the message id, or key:<business key>; null where the whole incident is meant"),
        Column("mark", "string", "false-alarm, charged-once, refunded, accepted, fixed, comment or withdrawn"),
        Column("reason", "string", "why, in the person's words; the comment"),
        Column("author", "string", "who said it; the signed-in e-mail address where the dashboard has a login"),
        Column("data_version", "string", "the data version the person looked at"),
        Column(
            "marked_at", "timestamp", "when it was said, UTC; never before what was said earlier, whatever the clock"
        ),
        QUEUE_ARN,
        Column("item_ids", "strings", "every message of the works that are meant: what the mark hangs on"),
        Column(
            "from_at", "timestamp", "when the incident began, UTC: what a mark hangs on where no log names a message"
        ),
        Column("until_at", "timestamp", "when the incident was last active, UTC"),
    ),
)

NOTICES = Table(
    "notices",
    "evidence",
    grain="one notice of an incident or an alert that was taken; the same news is sent there once until it is over",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "notice: and the SHA-256 of target, incident, news and time"),
        Column(
            "incident_id",
            "string",
            "the incident; of an alert its kind and what it is about: dead_letter:payments.fifo",
        ),
        Column(
            "target", "string", "host and the SHA-256's first 12 digits of the webhook's address; never the address"
        ),
        Column(
            "news",
            "string",
            "digest of what the notice says; a change gives another; over: and the notice that it ends",
        ),
        Column("data_version", "string", "the data version it was made from"),
        Column("sent_at", "timestamp", "when the webhook took it, UTC"),
    ),
)

VIEWS = Table(
    "views",
    "evidence",
    grain="one view of the dashboard that a person kept under a name; a later one of the same name takes its place",
    key=("evidence_id",),
    columns=(
        Column("evidence_id", "string", "view: and the SHA-256 of name, page, query, author and time"),
        Column("view", "string", "the name it was kept under"),
        Column(
            "page", "string", "the page's path in the dashboard: incident, queue_health; null: the view was deleted"
        ),
        Column("query", "string", "what stands behind the ? of its address"),
        Column("author", "string", "who kept it; the signed-in e-mail address where the dashboard has a login"),
        Column("saved_at", "timestamp", "when it was kept, UTC"),
    ),
)

PEOPLE = (ANNOTATIONS, VIEWS, NOTICES, BOOKS, BOOK_ENTRIES)
