"""What makes a queue need work in a week: each signal looks at the week's row and the one before, and says both numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.checks import FAILS
from forensics.checks.answer import CRITICAL, WARNING
from forensics.words import count_text as counted
from forensics.words import percent, span_text

Row = Mapping[str, Any]
ACT_NOW, WATCH = "act now", "watch"
REDELIVERED_FROM = 0.01
"""From one redelivery in a hundred on, a queue is worth a look."""
AGE_FROM_S = 60
GROWTH = 2
ERRORS_FROM = 0.01


@dataclass(frozen=True)
class Signal:
    """One reason to look at a queue. The heaviest one is the queue's ``why``."""

    code: str
    level: str
    weight: int
    sentence: str
    advice: str
    evidence_ids: tuple[str, ...] = ()
    """Of a settings check. The rows behind a week's number are found by its code, see forensics.reasons."""
    is_setting: bool = False
    """It holds for the settings at the end of the evidence, not for the week's numbers."""


Found = tuple[str, int, str, str] | None
"""Level, weight, sentence and advice."""


def processed_twice(now: Row, before: Row | None) -> Found:
    """Work was done more than once, for sure or maybe."""
    least, most, of = now["twice_at_least"] or 0, now["twice_at_most"] or 0, now["item_count"]
    if not most:
        return None
    share = twice_share(now)
    rate = f" ({percent_interval(*share)})" if share else ""
    what = f"{interval(least, most)} of {of:,} messages" if of else f"{interval(least, most)} messages"
    advice = "Open the incidents below for cause and fix."
    if least:
        return ACT_NOW, 100, f"{what} processed twice{rate}", advice
    return WATCH, 60, f"{what} maybe processed twice{rate}", advice


def function_timeouts(now: Row, before: Row | None) -> Found:
    """Runs hit the function timeout."""
    count = now["timeout_count"] or 0
    if not count:
        return None
    words = f"{counted(count, 'function timeout')} in {counted(now['run_count'] or 0, 'run')}{_was(before, 'timeout_count')}"
    return WATCH, 55, words, "Make a full batch of slow items fit into the function timeout: smaller batches first."


def dead_letters(now: Row, before: Row | None) -> Found:
    """Messages went to the dead-letter queue."""
    count = max(now["dead_lettered_count"] or 0, now["dead_letter_rise_count"] or 0)
    if not count:
        return None
    reasons = [r.rpartition("=") for r in now["dead_letter_reasons"] or ()]
    why = ", ".join(f"{code} {n}" for code, _, n in reasons)
    words = f"{counted(count, 'message')} moved to the dead-letter queue{f' ({why})' if why else ''}"
    return (
        WATCH,
        50,
        words + _was(before, "dead_lettered_count"),
        "Before a redrive, look up whether their work was done: a redrive does it again.",
    )


def expired_handles(now: Row, before: Row | None) -> Found:
    """SQS refused deletes: the work was done and the message came back."""
    count = now["expired_handle_count"] or 0
    if not count:
        return None
    words = f"{counted(count, 'delete')} refused: the receipt handle had expired{_was(before, 'expired_handle_count')}"
    return WATCH, 45, words, "Raise the visibility timeout above the slowest handling, or extend it while working."


def throttles(now: Row, before: Row | None) -> Found:
    """Its functions were throttled."""
    count = now["throttle_count"] or 0
    if not count:
        return None
    words = f"{counted(count, 'throttle')}{_was(before, 'throttle_count')}: each poll that finds no room is a receive"
    return WATCH, 40, words, "Set the mapping's maximum concurrency below the reserved concurrency."


def hidden_poison(now: Row, before: Row | None) -> Found:
    """Messages that the age metric no longer counts."""
    count = now["poison_count"] or 0
    if not count:
        return None
    metric, true_age = now["age_max_s"], now["poison_age_s"]
    hidden = "the age metric leaves them out"
    if true_age is not None and metric is not None and true_age > metric:
        hidden = f"the oldest is {span(true_age)} old, the age metric says {span(metric)}"
    words = f"{counted(count, 'message')} received three times or more: {hidden}"
    return WATCH, 38, words, "Look at why they fail, and give them a dead-letter queue."


def redelivered(now: Row, before: Row | None) -> Found:
    """Many messages are redelivered, or many more than the week before."""
    share, was = redelivered_share(now), redelivered_share(before)
    if share is None or share == 0:
        return None
    grown = was is not None and share >= GROWTH * was and (now["redelivery_count"] or 0) >= 5
    if share < REDELIVERED_FROM and not grown:
        return None
    told = f", {percent(was)} {when_before(before)}" if was is not None else ""
    return WATCH, 35, f"{percent(share)} redelivered{told}", "Open its incidents and redeliveries: each has its cause."


def age(now: Row, before: Row | None) -> Found:
    """The oldest message waits longer."""
    p95, was = now["age_p95_s"], before["age_p95_s"] if before else None
    if p95 is None or p95 < AGE_FROM_S or (was is not None and p95 < GROWTH * was):
        return None
    told = f", {span(was)} the week before" if was is not None else ""
    return WATCH, 30, f"p95 age {span(p95)}{told}", "Raise the concurrency of its consumer, or make its items quicker."


def errors(now: Row, before: Row | None) -> Found:
    """Runs end in errors or crashes."""
    runs, bad = now["run_count"] or 0, (now["error_count"] or 0) + (now["crash_count"] or 0)
    if not runs or bad / runs < ERRORS_FROM:
        return None
    words = f"{counted(bad, 'run')} of {runs:,} ended in an error or a crash"
    return WATCH, 20, words, "Read the errors in the function's log; each one causes its batch to be redelivered."


SIGNALS: dict[str, Callable[[Row, Row | None], Found]] = {
    f.__name__: f
    for f in (
        processed_twice,
        function_timeouts,
        dead_letters,
        expired_handles,
        throttles,
        hidden_poison,
        redelivered,
        age,
        errors,
    )
}
"""Every signal of a week's numbers, by the code that an accepted risk names."""

_CHECK_LEVELS = {CRITICAL: (ACT_NOW, 90), WARNING: (WATCH, 25)}


def signals_of(now: Row, before: Row | None, checks: Sequence[Row] = ()) -> Iterator[Signal]:
    """Yield what a week's row gives rise to; ``checks`` are the queue's rows of setting_findings.

    ``before`` is the week before, or as many days of it as ``compared_days`` says.
    """
    for code, signal in SIGNALS.items():
        if found := signal(now, before):
            if code == function_timeouts.__name__ and (runs := _runs_since_repair(now, checks)):
                level, _, words, _ = found
                words += f", none in the {counted(runs, 'run')} since the function timeout was set"
                found = level, REPAIRED, words, "Nothing more, as long as it stays so."
            yield Signal(code, *found)


REPAIRED = 10
"""Weight of what was so in the week and has not been since it was repaired."""


def _runs_since_repair(now: Row, checks: Sequence[Row]) -> int:
    """Return how many runs began under today's function timeout without one of them hitting it; 0 unless all is repaired.

    Every timeout of the week must have come under an earlier value.
    """
    told = [
        dict(number.split("=", 1) for number in row["numbers"] or ())
        for row in checks
        if row["code"] == "run_near_timeout"
    ]
    changed = [numbers for numbers in told if "timeout_set_at" in numbers]
    if not changed or any(int(n.get("since_timeout_count", 0)) for n in changed):
        return 0
    if sum(int(n.get("earlier_timeout_count", 0)) for n in changed) < (now["timeout_count"] or 0):
        return 0
    return sum(int(n.get("since_run_count", 0)) for n in changed)


def signals_of_checks(findings: list[Row]) -> Iterator[Signal]:
    """Yield a signal for every failed check above a note."""
    for row in findings:
        if row["status"] == FAILS and row["severity"] in _CHECK_LEVELS:
            level, weight = _CHECK_LEVELS[row["severity"]]
            ids = tuple(row["evidence_ids"] or ())
            yield Signal(row["code"], level, weight, row["sentence"], row["advice"] or "", ids, is_setting=True)


def redelivered_share(row: Row | None) -> float | None:
    """Return redeliveries per delivery in the ledger; else what metrics received and did not delete; None if unknown."""
    if row is None:
        return None
    if row["delivery_count"]:
        return float(row["redelivery_count"] / row["delivery_count"])
    if row["received_count"] and row["deleted_count"] is not None:
        return max(0.0, float((row["received_count"] - row["deleted_count"]) / row["received_count"]))
    return None


def twice_share(row: Row | None) -> tuple[float, float] | None:
    """Return the share of messages processed twice, at least and at most; None if unknown."""
    if row is None or not row["item_count"]:
        return None
    of = row["item_count"]
    return min(1.0, (row["twice_at_least"] or 0) / of), min(1.0, (row["twice_at_most"] or 0) / of)


def percent_interval(least: float, most: float) -> str:
    """Write an interval of shares.

    >>> percent_interval(0.0084, 0.0099), percent_interval(0.5, 0.5)
    ('0.8 % to 1.0 %', '50.0 %')
    """
    low, high = percent(least), percent(most)
    return low if low == high else f"{low} to {high}"


def interval(least: int, most: int) -> str:
    """Write an interval of counts: ``7`` or ``7 to 8``."""
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def span(value_s: int) -> str:
    """Write seconds in the two units that matter."""
    return span_text(1000 * value_s)


def _was(before: Row | None, column: str) -> str:
    value = before[column] if before else None
    return "" if value is None else f", {value:,} {when_before(before)}"


def when_before(before: Row | None) -> str:
    """Name what a number is compared with: the week before, or as many days of it as the week at hand has."""
    days = (before or {}).get("compared_days")
    return f"in the same {counted(days, 'day')} of the week before" if days else "the week before"
