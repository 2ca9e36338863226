"""What SQS and Lambda take: no setting lies beyond these; and what holds where nobody has set it."""

DEFAULT_VISIBILITY_S = 30
"""SQS hides a message for so long after its receive unless its queue, or the receive, says otherwise."""
LONGEST_VISIBILITY_S = 43_200
"""SQS hides a message for twelve hours after its receive, however often that is extended: so long a poller may hold one where nothing tells the timeout."""
LONGEST_RETENTION_S = 1_209_600
"""SQS keeps a message for 14 days."""
LONGEST_FUNCTION_TIMEOUT_S = 900
"""Lambda stops a run after 15 minutes."""
LEAST_MAXIMUM_CONCURRENCY = 2
"""A mapping takes no lower maximum concurrency."""
LARGEST_BATCH, LARGEST_FIFO_BATCH = 10_000, 10
"""Messages that a mapping hands to one run, of a standard and of a FIFO queue."""
