"""Suggested follow-ups: what would have prevented these repeats, and what would not."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.people import Marks
from forensics.report.actions import ANY_ROOM, Room
from forensics.report.left_to_do import left_to_do
from forensics.report.opening import affected_works
from forensics.report.records import cause_counts, verdict_counts
from forensics.report.settings_then import SettingFact
from forensics.sentence import counted, said
from forensics.terms import INVOKED_AGAIN
from forensics.verdict.interval import AFFECTED

Row = Mapping[str, Any]
NOTHING_SAID = Marks()


@dataclass(frozen=True)
class FollowUp:
    """One thing to do, and why here."""

    action: str
    reason: str


_BY_CAUSE: Mapping[frozenset[str], FollowUp] = {
    frozenset({"runtime_crash"}): FollowUp(
        "Find what stopped the runtime (memory, exit code) and size the function for its largest batch.",
        "A crash returns the whole batch and no handler can catch it.",
    ),
    frozenset({"visibility_expired", "handle_expired"}): FollowUp(
        "Make the visibility timeout longer than the slowest item, or extend it while working (ChangeMessageVisibility).",
        "The message was redelivered while, or just after, the first consumer worked on it.",
    ),
    frozenset({"unseen_receive", "throttled"}): FollowUp(
        "Look for a second consumer, a console that polls, or throttling of the function.",
        "Receives that no log shows use up receive counts and may end in the dead-letter queue.",
    ),
    frozenset({"undecidable"}): FollowUp(
        "Log message id and receive count at the start of each item, and one line when its work is done.",
        "Several causes remain; these lines would decide between them.",
    ),
}


def follow_ups(
    incident: Row,
    messages: Sequence[Row],
    settings: Sequence[SettingFact],
    gone: Collection[str] = (),
    room: Room = ANY_ROOM,
    works: Sequence[Row] | None = None,
    marks: Marks = NOTHING_SAID,
) -> tuple[FollowUp, ...]:
    """Return suggestions in the order of their weight for this incident.

    ``works`` are all affected ones that count, of which ``counted_works`` is enough; None: those of the messages. What ``marks``
    settle is not asked for again. ``gone``: items that are no more in the dead-letter queue. ``room`` is what the newest settings leave: what they have no
    room for, or have already, is not suggested.
    """
    affected = [m for m in messages if m["verdict"] in AFFECTED]
    found: list[FollowUp] = []
    refund, check = _left(incident, affected_works(affected) if works is None else works, marks)
    noun = "message" if incident.get("works") in (None, incident.get("messages")) else "work"
    if refund:
        found.append(
            FollowUp(
                said(
                    "Undo or refund the repeats: {works} listed under affected messages.",
                    works=counted(refund, noun),
                ),
                "Their work was done more than once.",
            )
        )
    if check:
        is_named = incident["messages"] is not None
        found.append(
            FollowUp(
                said("Check {works} against the system that the work was done in.", works=counted(check, noun))
                if is_named
                else "Check the messages of the failed runs against the system that the work was done in.",
                "The evidence leaves open whether their work was done once or more often.",
            )
        )
    if affected or check:
        found.append(
            FollowUp(
                "Give the work an idempotency key that outlives the message's retention: a business key, not the message id.",
                "Delivery at least once is SQS's promise; only the handler can make the effect happen once.",
            )
        )
    if dead := [m for m in affected if m["is_dead_lettered"] and m["item_id"] not in gone]:
        found.append(
            FollowUp(
                said(
                    "Do not redrive {messages} before checking each one's effects.",
                    messages=counted(len(dead), "dead-lettered message"),
                ),
                "Redriving a message whose work was done does the work again.",
            )
        )
    causes = set(cause_counts(incident))
    if incident.get("trigger") == INVOKED_AGAIN and not incident.get("still_open"):
        causes.discard("undecidable")
    found += _against(causes, incident.get("trigger"), room)
    found += [suggestion for codes, suggestion in _BY_CAUSE.items() if causes & codes]
    if any(s.name == "dead-letter queue" and s.falls_short and s.falls_short_now for s in settings):
        found.append(
            FollowUp("Add a dead-letter queue.", "A message that always fails is redelivered until its retention ends.")
        )
    if any(s.name == "visibility timeout" and s.falls_short and s.falls_short_now for s in settings):
        found.append(
            FollowUp(
                "Set the visibility timeout to at least 6 × the function timeout plus the batching window.",
                "With less, throttled or slow runs overlap with the next delivery.",
            )
        )
    return tuple(found)


def _left(incident: Row, works: Sequence[Row], marks: Marks) -> tuple[int, int]:
    """Return how many works are to be refunded and to be checked; where no message is named, of how many the verdict asks for it."""
    if incident.get("messages") is None:
        counts = verdict_counts(incident)
        return counts["confirmed"], counts["probable"] + counts["possible"]
    left = left_to_do(incident, works, marks)
    return left.refund, left.check


def _against(causes: Collection[str], trigger: str | None, room: Room) -> Iterator[FollowUp]:
    """Yield what helps against failed runs and deletes, as far as the settings leave room for it.

    A message that had finished before its batch failed needs what stops that failure.
    """
    ended = {trigger} if "batch_collateral" in causes and trigger else set()
    known = {*causes, *ended}
    if "function_timeout" in known or known & {"batch_collateral"} and not known & {"function_error", "runtime_crash"}:
        yield _against_timeouts(room)
    if known & {"function_error", "partial_response"}:
        yield _against_errors(room)
    if known & {"delete_failed", "delete_ineffective"}:
        yield _OF_POLLER if room.is_of_functions else _OF_WORKER


def _against_timeouts(room: Room) -> FollowUp:
    if room.takes_one_message:
        return FollowUp(
            "Make the work of one message shorter: no run may take longer than Lambda's 15 minutes."
            if room.has_longest_timeout
            else "Give the run time to finish: a function timeout longer than the slowest message.",
            "A run that times out deletes nothing; a longer visibility timeout does not change that.",
        )
    return FollowUp(
        "Give the batch time to finish: a smaller batch, for the function timeout is Lambda's longest."
        if room.has_longest_timeout
        else "Give the batch time to finish: a smaller batch, or a function timeout longer than the slowest batch.",
        "A timeout returns the whole batch, finished items included; partial batch responses and a longer visibility "
        "timeout do not change that.",
    )


def _against_errors(room: Room) -> FollowUp:
    if room.is_of_workers:
        return FollowUp(
            "Find why handlings fail, and delete a message as soon as its work is done.",
            "What fails between the work and the delete is redelivered although its work is done.",
        )
    if room.takes_one_message:
        return FollowUp(
            "Find why the handler raises, and let nothing that can fail come after the work.",
            "A message that is alone in its batch is redelivered whenever its run fails.",
        )
    if room.reports_failed_items:
        return FollowUp(
            "Let the handler catch each item's error and return that item in batchItemFailures, in the form that Lambda reads.",
            "The mapping asks for failed items alone; a raised error or a malformed response returns the whole batch all the same.",
        )
    return FollowUp(
        "Report failed items alone (ReportBatchItemFailures) and check that the response is well formed.",
        "One raised error otherwise returns items that were already done.",
    )


_OF_WORKER = FollowUp(
    "Check and repeat deletes that fail, each entry of a batch on its own.",
    "A message whose delete failed is redelivered although its work is done.",
)
_OF_POLLER = FollowUp(
    "Let the handler refuse work that is done: Lambda's poller deletes, and nobody can repeat a delete of its that failed.",
    "A message whose delete failed is redelivered although its work is done.",
)
