"""An idempotency key: the handler records the business key with the effect, and refuses it the second time."""

from forensics.counterfactuals.repeat import Answer, Repeat, prevented, undecided


def idempotency_key(repeat: Repeat) -> Answer:
    """Would the work have been done again, had the handler kept a key that outlives the message's retention?

    >>> idempotency_key(Repeat(earlier_effect="yes")).outcome, idempotency_key(Repeat(cause="producer_retry")).outcome
    ('prevented', 'undecided')
    """
    if repeat.earlier_effect != "yes":
        return undecided("nothing tells whether the work had been done before, and its key been recorded")
    if repeat.is_sent_again:
        return prevented(
            "the business key of the second message was known; a key on the message id would not have helped"
        )
    return prevented("the work had been done before, so its business key would have been found")
