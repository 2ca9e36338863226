"""The product's words for its codes, each said once: verdicts, causes, ends, events, and what a count rests on.

Pages, charts, reports and the command say these; in other languages they are phrases of the catalogue.
"""

VERDICT_WORDS = {
    "confirmed": "the work was done more than once",
    "probable": "done once for sure, and maybe again",
    "possible": "maybe done more than once",
    "absorbed": "redelivered, done once: a guard stopped the repeat",
    "harmless": "redelivered, done at most once",
}
"""Verdict to what it says of the work."""

CAUSE_WORDS = {
    "function_timeout": "the function timed out",
    "function_error": "the handler raised an error",
    "runtime_crash": "the runtime crashed",
    "batch_collateral": "its batch failed on another message after this one had finished",
    "partial_response": "the partial batch response returned it",
    "worker_killed": "the worker was stopped",
    "released": "its visibility timeout was cut short",
    "visibility_expired": "the visibility timeout expired while the consumer was still working",
    "handle_expired": "the delete after the work was refused: the receipt handle had expired",
    "delete_failed": "the delete after the work failed",
    "delete_ineffective": "the message was not deleted although the run succeeded",
    "throttled": "the function was throttled",
    "unseen_receive": "something received it without leaving a log line",
    "broker_copy": "SQS delivered a second copy",
    "producer_retry": "the producer sent the same work in a second message",
    "dedup_window_passed": "the producer sent them again after the deduplication window of five minutes",
    "dlq_redrive": "they were sent back from the dead-letter queue",
    "undecidable": "the evidence leaves several causes open",
}
"""Cause code to a clause that fits after "because"."""

TRIED_AGAIN = "tried_again"
"""How work is repeated where SQS redelivers nothing: its worker tries a message again that it has in hand."""
INVOKED_AGAIN = "invoked_again"
"""What began a redelivery that was none of SQS's: Lambda's poller gave one receive to two runs. A trigger, and no cause code."""
CLOCKS_APART = "how far the clocks of the two hosts were apart"
"""What would decide a cause where the times that two hosts wrote are compared."""

BASIS_WORDS = {
    "marker": "its effect line",
    "finished": "the consumer's own completion or delete",
    "returned": "a run that ended in success",
    "recorded": "the record that its run completed in the idempotency table",
}
"""What shows that work was done, by its code."""

CAUSE_NAMES = {
    "function_timeout": "Function timeout",
    "function_error": "Function error",
    "runtime_crash": "Runtime crash",
    "batch_collateral": "Finished, but its batch failed",
    "partial_response": "Partial batch response",
    "worker_killed": "Worker killed",
    "released": "Released early",
    "visibility_expired": "Handler longer than visibility timeout",
    "handle_expired": "Delete refused: receipt handle expired",
    "delete_failed": "Delete failed",
    "delete_ineffective": "Delete had no effect",
    "throttled": "Throttled",
    "unseen_receive": "Received by someone unseen",
    "dlq_redrive": "Redriven from the dead-letter queue",
    "producer_retry": "Sent twice by the producer",
    "dedup_window_passed": "Sent again after the deduplication window",
    "broker_copy": "Copy made by SQS",
    "undecidable": "Undecidable",
}
"""Cause code to its name, as it stands in a table."""
TRIGGER_NAMES = CAUSE_NAMES | {INVOKED_AGAIN: "Invoked again for one receive"}
"""The same of what began a redelivery."""

RIVAL_NAMES = CAUSE_NAMES | {"redelivery": "Redelivery by SQS"}
"""The same of what is ruled out or still open: of one work's several messages that SQS handed one out twice, too."""

END_WORDS = {
    "deleted": "deleted",
    "visibility_expired": "visibility timeout",
    "delete_refused": "delete refused",
    "dead_lettered": "dead-lettered",
    "in_flight": "still in flight",
    "unknown": "unknown",
}
"""How a delivery ended."""

EVENT_WORDS = {
    "sent": "sent",
    "in_flight": "received",
    "handling": "handler started",
    "effect": "work done",
    "repeat": "work done again",
    "timeout": "function timeout",
    "error": "handler error",
    "crash": "handler crashed",
    "deleted": "deleted",
    "delete_refused": "delete refused",
    "dead_lettered": "dead-lettered",
    "unseen": "received, no log shows it",
}
"""What a row of a timeline tells of."""
GIVEN_AGAIN = "the poller invoked the function again by the same receive"
"""How the label of such a bar begins that is no receive: its receive was that of the delivery before."""


def event_words(kind: str, label: str | None) -> str:
    """Return what a row of a timeline tells of.

    >>> event_words("in_flight", "in flight, receive #1"), event_words("in_flight", f"{GIVEN_AGAIN}: receive #1")
    ('received', 'invoked again')
    """
    if kind == "in_flight" and label and label.startswith(GIVEN_AGAIN):
        return "invoked again"
    return EVENT_WORDS.get(kind, kind)


RESTS_ON = {"proved": "from log lines", "inferred": "from run results"}
"""What a certainty rests on, in the words that stand beside a verdict."""

CERTAINTY_WORDS = {
    "proved": "Every count rests on a line that the handler or its framework printed.",
    "inferred": "At least one count is inferred from how a run ended, or from there having been no run, not from a line about the work.",
}
"""What a certainty means."""
