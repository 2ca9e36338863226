"""Declared against observed: what changed since the mapping was made."""

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

TIMEOUTS = 6


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
            f"AWS would refuse this mapping today (visibility timeout {visibility} s < function timeout {timeout} s): "
            f"{_who_changed(setup)} after it was made",
            advice,
            *uses,
        )
    was_visibility, was_timeout = setup.first_visibility_timeout_s, setup.first_function_timeout_s
    moved = [
        f"{name} {before} s → {now} s"
        for name, before, now in (
            ("visibility timeout", was_visibility, visibility),
            ("function timeout", was_timeout, timeout),
        )
        if before is not None and before != now
    ]
    if moved and was_visibility is not None and was_timeout is not None:
        if was_visibility >= TIMEOUTS * was_timeout and visibility < TIMEOUTS * timeout:
            return fails(
                WARNING, f"{' and '.join(moved)}: no longer six function timeouts, as it was before", advice, *uses
            )
        return passes(f"changed without harm: {' and '.join(moved)}", *uses)
    return passes("the timeouts fit each other as AWS demands of a new mapping, and no change of them was seen", *uses)


def _who_changed(setup: Setup) -> str:
    made = setup.mapping_changed_at
    changed = [
        f"the {what} was changed on {at:%Y-%m-%d %H:%M} UTC"
        for what, at in (("function", setup.function_changed_at), ("queue", setup.queue_changed_at))
        if at and made and at > made
    ]
    return " and ".join(changed) or "one of the two was changed"
