"""Whether what a function says of failed items is heard."""

from forensics.checks.answer import CRITICAL, NO_MAPPING, NOT_HERE, Answer, fails, passes
from forensics.checks.setup import Setup
from forensics.words import count_text


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
    said = f"{count_text(setup.response_count, 'run')} logged batchItemFailures"
    if setup.reports_batch_item_failures:
        return passes(f"{said}, and the mapping asks for them", *uses)
    return fails(
        CRITICAL,
        f"{said}, and the mapping does not ask for them: failed items were deleted with their batch",
        "Add ReportBatchItemFailures to the mapping's FunctionResponseTypes.",
        *uses,
    )
