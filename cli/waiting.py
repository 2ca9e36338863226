"""The command that tells how long messages wait: waiting."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import Everywhere, OnlyQueueArgument, SameQueueOption, either_queue
from cli.output import FormatOption, RowFormat, answer, print_rows, say
from cli.table import Layout
from forensics.errors import ForensicsError
from forensics.identity import queue_name
from forensics.sentence import said

if TYPE_CHECKING:
    from forensics.waiting import WaitingDay

_TABLE = Layout(
    ("queue", "day", "sent", "first_receive", "done", "undone", "over_promise"),
    row=("queue", "day", "sent", "undone"),
    facts=("first_receive", "done", "over_promise"),
)
_COLUMNS = (
    "queue",
    "day",
    "sent",
    "received_p50_s",
    "received_p95_s",
    "received_p95_low_s",
    "received_p95_high_s",
    "done_p50_s",
    "done_p95_s",
    "done_p95_low_s",
    "done_p95_high_s",
    "done_p99_s",
    "undone",
    "promise_s",
    "promised",
    "over",
)


class PromiseError(ForensicsError):
    """A promise that nobody can keep or break."""


def waiting(
    chosen: Everywhere,
    queue: OnlyQueueArgument = None,
    promise: Annotated[
        int | None,
        typer.Option("--promise", metavar="SECONDS", help="For queues the settings promise nothing for."),
    ] = None,
    how: FormatOption = RowFormat.TABLE,
    same_queue: SameQueueOption = None,
) -> None:
    """Tell per queue and day how long messages waited: to their first receive, until they were done, and over the promise."""
    queue = either_queue(queue, same_queue)
    from forensics.waiting import drain_of, waiting_days

    if promise is not None and promise < 1:
        raise PromiseError(said("--promise {text} is not a promise", text=promise), "Give whole seconds, from 1 on.")
    findings = chosen.findings(queue_name(queue))
    days = waiting_days(findings, chosen.settings(), queue, promise)
    is_table = how is RowFormat.TABLE
    print_rows([_shown(day) if is_table else _record(day) for day in days], how, _TABLE, _COLUMNS)
    for name in dict.fromkeys(day.queue for day in days):
        if drain := drain_of(findings, name):
            (answer if is_table else say)(drain.sentence)
    if not days:
        say("No delivery tells when its message was sent, so no wait is known.")
        return
    say("Intervals are at 95 %; messages are taken to wait independently of one another.")


def _shown(day: "WaitingDay") -> dict[str, Any]:
    return {
        "queue": day.queue,
        "day": str(day.day),
        "sent": day.sent,
        "first_receive": day.received.words if day.received else None,
        "done": day.done.words if day.done else None,
        "undone": day.undone,
        "over_promise": day.over_words or None,
    }


def _record(day: "WaitingDay") -> dict[str, Any]:
    found: dict[str, Any] = {"queue": day.queue, "day": str(day.day), "sent": day.sent}
    for name, times in (("received", day.received), ("done", day.done)):
        low, high = times.p95_between_s if times else (None, None)
        found |= {f"{name}_p50_s": times.p50_s if times else None, f"{name}_p95_s": times.p95_s if times else None}
        found |= {f"{name}_p99_s": times.p99_s if times else None}
        found |= {f"{name}_p95_low_s": _finite(low), f"{name}_p95_high_s": _finite(high)}
    return found | {"undone": day.undone, "promise_s": day.promise_s, "promised": day.promised, "over": day.over}


def _finite(value: float | None) -> float | None:
    return None if value is None or value in (float("inf"), float("-inf")) else value
