"""How invocations and handlings end that do not end in success, and what of them follows."""

FAILED = ("timeout", "error", "crash", "init_failed")
"""Where anything tells how it ended: the run deletes nothing by itself."""
CUT_OFF = ("timeout", "error", "crash")
"""Ends of a run that had begun to work on its batch."""
UNANSWERED = ("timeout", "crash", "init_failed")
"""Ends after which nothing is returned: an error in the handler is an answer, too."""
CAUSES = {
    "timeout": "function_timeout",
    "error": "function_error",
    "crash": "runtime_crash",
    "init_failed": "runtime_crash",
}
"""The cause for which messages of such a run come again."""
WORDS = {
    "timeout": "was stopped at its timeout",
    "error": "failed",
    "crash": "crashed",
    "init_failed": "failed while starting",
}
"""What such a run did, for people."""
