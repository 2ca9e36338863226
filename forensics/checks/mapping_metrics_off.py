"""The only sign of a delete by the poller that had no effect."""

from forensics.checks.answer import NO_MAPPING, NOT_HERE, NOTE, Answer, fails, passes
from forensics.checks.setup import Setup


def mapping_metrics_off(setup: Setup) -> Answer:
    """The mapping publishes EventCount metrics: without them a poller's failed delete leaves no trace.

    >>> mapping_metrics_off(Setup("q", "f", "lambda", counts_events=False)).severity
    'note'
    """
    if not setup.is_lambda:
        return NOT_HERE
    if setup.counts_events is None:
        return NO_MAPPING
    if not setup.counts_events:
        return fails(
            NOTE,
            "the mapping's EventCount metrics are off: a delete by the poller that failed leaves no trace",
            "Add EventCount to the mapping's MetricsConfig; each metric is billed.",
            "counts_events",
        )
    return passes("the mapping's EventCount metrics are on", "counts_events")
