"""What makes a queue need work in a week: each signal looks at the week's row and the one before, and says both numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.checks import FAILS, PASSES
from forensics.checks.answer import CRITICAL, WARNING
from forensics.identity import is_fifo_name
from forensics.sentence import counted, joined, said
from forensics.words import percent, span_text

Row = Mapping[str, Any]
ACT_NOW, WATCH = "act now", "watch"
REDELIVERED_FROM = 0.01
"""From one redelivery in a hundred on, a queue is worth a look."""
AGE_FROM_S = 60
GROWTH = 2
_BEFORE = ", {n} {when}"
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
    told = {
        "n": interval(least, most),
        "all": of,
        "rate": said(" ({share})", share=percent_interval(*share)) if share else "",
    }
    advice = "Open the incidents below for cause and fix."
    if least:
        sure = "{n} of {all} messages processed twice{rate}" if of else "{n} messages processed twice{rate}"
        return ACT_NOW, 100, said(sure, **told), advice
    maybe = "{n} of {all} messages maybe processed twice{rate}" if of else "{n} messages maybe processed twice{rate}"
    return WATCH, 60, said(maybe, **told), advice


def function_timeouts(now: Row, before: Row | None) -> Found:
    """Runs hit the function timeout."""
    count = now["timeout_count"] or 0
    if not count:
        return None
    words = said(
        "{timeouts} in {runs}{was}",
        timeouts=counted(count, "function timeout"),
        runs=counted(now["run_count"] or 0, "run"),
        was=_was(before, "timeout_count"),
    )
    return WATCH, 55, words, "Make a full batch of slow items fit into the function timeout: smaller batches first."


def dead_letters(now: Row, before: Row | None) -> Found:
    """Messages went to the dead-letter queue."""
    count = max(now["dead_lettered_count"] or 0, now["dead_letter_rise_count"] or 0)
    if not count:
        return None
    reasons = [r.rpartition("=") for r in now["dead_letter_reasons"] or ()]
    why = joined((said("{code} {n}", code=code, n=n) for code, _, n in reasons), ", ") if reasons else ""
    words = said(
        "{messages} moved to the dead-letter queue{why}{was}",
        messages=counted(count, "message"),
        why=said(" ({words})", words=why) if why else "",
        was=_was(before, "dead_lettered_count"),
    )
    return WATCH, 50, words, "Before a redrive, look up whether their work was done: a redrive does it again."


def expired_handles(now: Row, before: Row | None) -> Found:
    """SQS refused deletes: the work was done and the message came back."""
    count = now["expired_handle_count"] or 0
    if not count:
        return None
    words = said(
        "{deletes} refused: the receipt handle had expired{was}",
        deletes=counted(count, "delete"),
        was=_was(before, "expired_handle_count"),
    )
    return WATCH, 45, words, "Raise the visibility timeout above the slowest handling, or extend it while working."


def throttles(now: Row, before: Row | None) -> Found:
    """Its functions were throttled."""
    count = now["throttle_count"] or 0
    if not count:
        return None
    words = said(
        "{throttles}{was}: each poll that finds no room is a receive",
        throttles=counted(count, "throttle"),
        was=_was(before, "throttle_count"),
    )
    return (
        WATCH,
        40,
        words,
        "Find what uses up the concurrency: other callers of the function, its reserved concurrency or the account's limit.",
    )


def hidden_poison(now: Row, before: Row | None) -> Found:
    """Messages that the age metric no longer counts."""
    count = now["poison_count"] or 0
    if not count:
        return None
    metric, true_age = now["age_max_s"], now["poison_age_s"]
    messages = counted(count, "message")
    words = said("{messages} received three times or more: the age metric leaves them out", messages=messages)
    if true_age is not None and metric is not None and true_age > metric:
        words = said(
            "{messages} received three times or more: the oldest is {age} old, the age metric says {metric}",
            messages=messages,
            age=span(true_age),
            metric=span(metric),
        )
    return WATCH, 38, words, "Look at why they fail, and give them a dead-letter queue."


def redelivered(now: Row, before: Row | None) -> Found:
    """Many messages are redelivered, or many more than the week before."""
    share, was = redelivered_share(now), redelivered_share(before)
    if share is None or share == 0:
        return None
    grown = was is not None and share >= GROWTH * was and (now["redelivery_count"] or 0) >= 5
    if share < REDELIVERED_FROM and not grown:
        return None
    told = said(_BEFORE, n=percent(was), when=when_before(before)) if was is not None else ""
    words = said("{share} redelivered{was}", share=percent(share), was=told)
    return WATCH, 35, words, "Open its incidents and redeliveries: each has its cause."


def age(now: Row, before: Row | None) -> Found:
    """The oldest message waits longer."""
    p95, was = now["age_p95_s"], before["age_p95_s"] if before else None
    if p95 is None or p95 < AGE_FROM_S or (was is not None and p95 < GROWTH * was):
        return None
    told = said(_BEFORE, n=span(was), when="the week before") if was is not None else ""
    words = said("p95 age {age}{was}", age=span(p95), was=told)
    advice = (
        "Make its items quicker, or spread them over more message groups: a group is handled by one run at a time, whatever the "
        "concurrency."
        if is_fifo_name(now["queue"])
        else "Raise the concurrency of its consumer, or make its items quicker."
    )
    return WATCH, 30, words, advice


def errors(now: Row, before: Row | None) -> Found:
    """Runs end in errors or crashes."""
    runs, bad = now["run_count"] or 0, (now["error_count"] or 0) + (now["crash_count"] or 0)
    if not runs or bad / runs < ERRORS_FROM:
        return None
    words = said("{runs} of {total} ended in an error or a crash", runs=counted(bad, "run"), total=runs)
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
                words = said(
                    "{told}, none in the {runs} since the function timeout was set",
                    told=words,
                    runs=counted(runs, "run"),
                )
                found = level, REPAIRED, words, "Nothing more, as long as it stays so."
            else:
                level, weight, words, advice = found
                found = level, weight, words, _of_settings(code, checks) or advice
            yield Signal(code, *found)


_CHECK_OF = {
    function_timeouts.__name__: "run_near_timeout",
    expired_handles.__name__: "handling_outgrows_visibility",
    throttles.__name__: "concurrency_limit",
}
"""Signals of which a settings check knows what is possible under the settings in force."""


def _of_settings(code: str, checks: Sequence[Row]) -> str | None:
    """Return what the settings leave to advise; None where no check says more than the signal itself."""
    if code == hidden_poison.__name__ and any(
        row["code"] == "dead_letter_queue_missing" and row["status"] == PASSES for row in checks
    ):
        return "Look at why they fail."
    failed = (row["advice"] for row in checks if row["code"] == _CHECK_OF.get(code) and row["status"] == FAILS)
    return next(failed, None)


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
    """Write seconds in the two units that matter.

    >>> span(0), span(796)
    ('0 s', '13 min 16 s')
    """
    return span_text(1000 * value_s) if value_s else "0 s"


def _was(before: Row | None, column: str) -> str:
    value = before[column] if before else None
    return "" if value is None else said(_BEFORE, n=value, when=when_before(before))


def when_before(before: Row | None) -> str:
    """Name what a number is compared with: the week before, or as many days of it as the week at hand has."""
    days = (before or {}).get("compared_days")
    if days == 1:
        return "on the same day of the week before"
    return said("in the same {days} of the week before", days=counted(days, "day")) if days else "the week before"
