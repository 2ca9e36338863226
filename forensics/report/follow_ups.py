"""Suggested follow-ups: what would have prevented these repeats, and what would not."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.report.records import cause_counts, verdict_counts
from forensics.report.settings_then import SettingFact
from forensics.sentence import counted, said
from forensics.verdict.interval import AFFECTED

Row = Mapping[str, Any]


@dataclass(frozen=True)
class FollowUp:
    """One thing to do, and why here."""

    action: str
    reason: str


_BY_CAUSE: Mapping[frozenset[str], FollowUp] = {
    frozenset({"function_timeout", "batch_collateral"}): FollowUp(
        "Give the batch time to finish: a smaller batch, or a function timeout longer than the slowest batch.",
        "A timeout returns the whole batch, finished items included; partial batch responses and a longer visibility "
        "timeout do not change that.",
    ),
    frozenset({"function_error", "partial_response"}): FollowUp(
        "Report failed items alone (ReportBatchItemFailures) and check that the response is well formed.",
        "One raised error otherwise returns items that were already done.",
    ),
    frozenset({"runtime_crash"}): FollowUp(
        "Find what stopped the runtime (memory, exit code) and size the function for its largest batch.",
        "A crash returns the whole batch and no handler can catch it.",
    ),
    frozenset({"visibility_expired", "handle_expired"}): FollowUp(
        "Make the visibility timeout longer than the slowest item, or extend it while working (ChangeMessageVisibility).",
        "The message was redelivered while, or just after, the first consumer worked on it.",
    ),
    frozenset({"delete_failed", "delete_ineffective"}): FollowUp(
        "Check and repeat deletes that fail, each entry of a batch on its own.",
        "A message whose delete failed is redelivered although its work is done.",
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
    incident: Row, messages: Sequence[Row], settings: Sequence[SettingFact], gone: Collection[str] = ()
) -> tuple[FollowUp, ...]:
    """Return suggestions in the order of their weight for this incident; ``gone``: items that are no more in the dead-letter queue."""
    affected = [m for m in messages if m["verdict"] in AFFECTED]
    found: list[FollowUp] = []
    counts = verdict_counts(incident)
    confirmed, open_count = counts["confirmed"], counts["probable"] + counts["possible"]
    noun = "message" if incident.get("works") in (None, incident.get("messages")) else "work"
    if confirmed:
        found.append(
            FollowUp(
                said(
                    "Undo or refund the repeats: {works} listed under affected messages.",
                    works=counted(confirmed, noun),
                ),
                "Their work was done more than once.",
            )
        )
    if open_count:
        is_named = incident["messages"] is not None
        found.append(
            FollowUp(
                said("Check {works} against the system that the work was done in.", works=counted(open_count, noun))
                if is_named
                else "Check the messages of the failed runs against the system that the work was done in.",
                "The evidence leaves open whether their work was done once or more often.",
            )
        )
    if affected or open_count:
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
