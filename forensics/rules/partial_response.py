"""The function's partial batch response gave the message back."""

from forensics.rules.pair import DeliveryPair
from forensics.rules.ruling import (
    NO_LOG_OF_EARLIER,
    RESPONSE_OR_COUNTS,
    Ruling,
    excluded,
    no_end_of_earlier,
    supported,
    undecidable,
)
from forensics.sentence import said


def partial_response(pair: DeliveryPair) -> Ruling:
    """The function named this item in batchItemFailures, or its response was missing or malformed.

    >>> partial_response(DeliveryPair(earlier_status="success", reports_batch_item_failures=False)).stance
    'excluded'
    """
    if not pair.earlier_is_seen:
        return NO_LOG_OF_EARLIER
    if pair.earlier_kind == "worker":
        return excluded("a worker took it, not a Lambda function")
    if pair.earlier_status == "unknown":
        return no_end_of_earlier(pair.end_of_earlier)
    if pair.earlier_status != "success":
        return excluded(
            said("{run} ended in {status}: no response was read", run=pair.earlier_name, status=pair.earlier_status)
        )
    if pair.earlier_is_named_failure and pair.reports_batch_item_failures is not False:
        return supported(said("{run} named this message in batchItemFailures", run=pair.earlier_name))
    if pair.reports_batch_item_failures is False:
        return excluded("the mapping does not use partial batch responses")
    if pair.earlier_was_deleted:
        return excluded("CloudTrail recorded its delete, and SQS took it")
    if pair.earlier_was_given_back is False:
        return excluded("the mapping counted no failed message but those of runs that failed: nothing was given back")
    if pair.reports_batch_item_failures is None:
        return undecidable(
            "nothing tells whether the mapping uses partial batch responses", "the event source mapping's settings"
        )
    if pair.was_received_while_running:
        return excluded("it was visible again before the response")
    if pair.earlier_response_is_malformed:
        return supported(
            said(
                "the response of {run} names something that is no message of its batch; Lambda takes such a response as the "
                "failure of the whole batch",
                run=pair.earlier_name,
            )
        )
    if pair.earlier_has_response:
        return excluded("the logged response does not name this message")
    if pair.earlier_was_given_back and pair.is_short_gap is False:
        return supported(
            said(
                "{run} succeeded under partial batch responses, and the mapping counted every message as deleted that had not "
                "failed: this one was given back",
                run=pair.earlier_name,
            )
        )
    return undecidable(
        said("{run} succeeded under partial batch responses and its response was not logged", run=pair.earlier_name),
        RESPONSE_OR_COUNTS,
    )
