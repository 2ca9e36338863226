"""Partial batch responses: on in the mapping, and returned as the mapping reads them."""

from forensics.checks.answer import CRITICAL, NO_MAPPING, NOT_HERE, NOTE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.sentence import counted, said


def partial_responses(setup: Setup) -> Answer:
    """A batch of more than one reports its failed items, and the function's response is one that Lambda can read.

    A run that ended in success and whose whole batch was redelivered is the sign of a missing or malformed response.
    Where they are off and no run failed lately, that is a note, not a warning.

    >>> partial_responses(Setup("q", "f", "lambda", batch_size=10, reports_batch_item_failures=False)).severity
    'warning'
    """
    if not setup.is_lambda:
        return NOT_HERE
    if setup.batch_size is None or setup.reports_batch_item_failures is None:
        return NO_MAPPING
    if setup.batch_size == 1:
        return NOT_HERE
    uses = ("batch_size", "reports_batch_item_failures", "returned_whole_count", "run_count", "failed_run_count")
    if not setup.reports_batch_item_failures:
        quiet = bool(setup.run_count) and setup.failed_run_count == 0
        told = (
            "batch size {n} without partial batch responses: one failed item causes the whole batch to be redelivered; no run "
            "failed in the last 7 days"
            if quiet
            else "batch size {n} without partial batch responses: one failed item causes the whole batch to be redelivered"
        )
        return fails(
            NOTE if quiet else WARNING,
            said(told, n=setup.batch_size),
            "Turn ReportBatchItemFailures on in the mapping and return batchItemFailures. Does not help with "
            "timeouts or crashes.",
            *uses,
        )
    if setup.run_count is None:
        return unknown("on in the mapping; no run was seen that could show the response", "the function's log", *uses)
    if setup.returned_whole_count:
        return fails(
            CRITICAL,
            said(
                "on in the mapping, but {runs} ended in success and the whole batch was redelivered: the response was missing or "
                "malformed",
                runs=counted(setup.returned_whole_count, "run"),
            ),
            'Return {"batchItemFailures": [{"itemIdentifier": "<messageId>"}]}, and an empty list when all went well.',
            *uses,
        )
    well = said(
        "on in the mapping; no whole batch was redelivered from {runs} of the last 7 days",
        runs=counted(setup.run_count, "run"),
    )
    return passes(well, *uses)
