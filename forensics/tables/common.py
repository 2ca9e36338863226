"""Columns that many findings tables share."""

from forensics.tables.schema import Column

QUEUE_ARN = Column("queue_arn", "string", "the queue's ARN; a name alone where the logs give no ARN")
QUEUE = Column("queue", "string", "the queue's name")
EVIDENCE = Column("evidence_ids", "strings", "evidence rows this rests on, sorted")
