"""Whether what a function says of failed items is heard."""

from forensics.checks.answer import CRITICAL, NO_MAPPING, NOT_HERE, Answer, fails, passes
from forensics.checks.setup import Setup
from forensics.sentence import counted, said


def responses_ignored(setup: Setup) -> Answer:
    """Where a function returns batchItemFailures the mapping asks for them: else the failed items are deleted with the batch.

    >>> responses_ignored(Setup("q", "f", "lambda", reports_batch_item_failures=False, response_count=4)).severity
    'critical'
    """
    if not setup.is_lambda or setup.response_count is None:
        return NOT_HERE
    if not setup.response_count:
        return passes("no run logged batchItemFailures", "response_count", "reports_batch_item_failures")
    if setup.reports_batch_item_failures is None:
        return NO_MAPPING
    uses = ("reports_batch_item_failures", "response_count")
    runs = counted(setup.response_count, "run")
    if setup.reports_batch_item_failures:
        return passes(said("{runs} logged batchItemFailures, and the mapping asks for them", runs=runs), *uses)
    return fails(
        CRITICAL,
        said(
            "{runs} logged batchItemFailures, and the mapping does not ask for them: failed items were deleted with their batch",
            runs=runs,
        ),
        "Add ReportBatchItemFailures to the mapping's FunctionResponseTypes.",
        *uses,
    )
