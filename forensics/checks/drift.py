"""Declared against observed: what changed since the mapping was made."""

from forensics.advised_visibility import FUNCTION_TIMEOUTS
from forensics.checks.answer import (
    CRITICAL,
    NO_FUNCTION_SETTINGS,
    NO_MAPPING,
    NO_QUEUE_SETTINGS,
    NOT_HERE,
    WARNING,
    Answer,
    fails,
    passes,
)
from forensics.checks.setup import Setup
from forensics.sentence import said

VISIBILITY_MOVED, TIMEOUT_MOVED = "visibility timeout {before} → {now}", "function timeout {before} → {now}"
FUNCTION_CHANGED, QUEUE_CHANGED = "the function was changed on {at} UTC", "the queue was changed on {at} UTC"


def drift(setup: Setup) -> Answer:
    """The two timeouts still stand to each other as when the mapping was made.

    AWS refuses to make a mapping whose queue hides messages for less than the function timeout, and does not look
    again when either is changed later.

    >>> drift(Setup("q", "f", "lambda", batch_size=1, visibility_timeout_s=30, function_timeout_s=60)).severity
    'critical'
    """
    if not setup.is_lambda:
        return NOT_HERE
    visibility, timeout = setup.visibility_timeout_s, setup.function_timeout_s
    if visibility is None:
        return NO_QUEUE_SETTINGS
    if timeout is None:
        return NO_FUNCTION_SETTINGS
    if setup.batch_size is None:
        return NO_MAPPING
    uses = (
        "visibility_timeout_s",
        "function_timeout_s",
        "first_visibility_timeout_s",
        "first_function_timeout_s",
        "mapping_changed_at",
        "function_changed_at",
        "queue_changed_at",
    )
    advice = "Set both timeouts in one change, the visibility timeout to six function timeouts."
    if visibility < timeout:
        return fails(
            CRITICAL,
            said(
                "AWS would refuse this mapping today (visibility timeout {visibility} < function timeout {timeout}): {changed} after "
                "it was made",
                visibility=f"{visibility} s",
                timeout=f"{timeout} s",
                changed=_who_changed(setup),
            ),
            advice,
            *uses,
        )
    was_visibility, was_timeout = setup.first_visibility_timeout_s, setup.first_function_timeout_s
    moved = [
        said(phrase, before=f"{before} s", now=f"{now} s")
        for phrase, before, now in (
            (VISIBILITY_MOVED, was_visibility, visibility),
            (TIMEOUT_MOVED, was_timeout, timeout),
        )
        if before is not None and before != now
    ]
    both = _both(moved) if moved else ""
    if moved and was_visibility is not None and was_timeout is not None:
        if was_visibility >= FUNCTION_TIMEOUTS * was_timeout and visibility < FUNCTION_TIMEOUTS * timeout:
            worse = said("{moved}: no longer six function timeouts, as it was before", moved=both)
            return fails(WARNING, worse, advice, *uses)
        return passes(said("changed without harm: {moved}", moved=both), *uses)
    return passes("the timeouts fit each other as AWS demands of a new mapping, and no change of them was seen", *uses)


def _both(told: list[str]) -> str:
    return told[0] if len(told) == 1 else said("{one} and {other}", one=told[0], other=told[1])


def _who_changed(setup: Setup) -> str:
    made = setup.mapping_changed_at
    changed = [
        said(phrase, at=f"{at:%Y-%m-%d %H:%M}")
        for phrase, at in ((FUNCTION_CHANGED, setup.function_changed_at), (QUEUE_CHANGED, setup.queue_changed_at))
        if at and made and at > made
    ]
    return _both(changed) if changed else "one of the two was changed"
