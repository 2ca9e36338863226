"""The incident told in a few moments, and what its evidence leaves open. Facts from the findings; no judgement."""

from datetime import datetime, timedelta
from typing import Any

from forensics.charts.words import duration
from forensics.tables.findings import DELIVERIES, TIMELINE
from pages._ui.shell import Page
from pages._ui.words import count

Moment = tuple[datetime, str, str]


def key_moments(case: dict[str, Any], page: Page) -> list[Moment]:
    """Return (time, offset from the first receive, words) of the incident's turning points, in order."""
    marks = page.board.rows(
        TIMELINE,
        ("incident_id", "==", case["incident_id"]),
        columns=("item_id", "delivery_index", "kind", "at", "until_at", "ended_by", "function_name"),
    )
    marks = marks[marks["at"].notna()]
    if marks.empty:
        return []
    begin = case["started_at"] or marks["at"].min().to_pydatetime()
    who = ", ".join(case["functions"] or []) or "the consumer"
    found: list[tuple[datetime, str]] = []

    def say(rows: Any, column: str, words: str, last: bool = False) -> None:
        if len(rows):
            at = rows[column].max() if last else rows[column].min()
            found.append((at.to_pydatetime(), words.format(n=count(rows["item_id"].nunique(), "message"))))

    windows = marks[marks["kind"] == "in_flight"]
    say(marks[marks["kind"] == "sent"], "at", "first of {n} sent")
    say(
        windows[windows["delivery_index"] == windows["delivery_index"].min()],
        "at",
        f"{who} received the first of {{n}}",
    )
    say(marks[marks["kind"] == "timeout"], "at", "the function was killed at its timeout with {n} in progress")
    say(marks[marks["kind"].isin(["error", "crash"])], "at", "the handler failed on {n}")
    say(marks[marks["kind"] == "delete_refused"], "at", "SQS refused the delete of {n}: the receipt handle had expired")
    ran_out = windows[windows["ended_by"].isin(["visibility_expired", "delete_refused"])]
    say(ran_out[ran_out["until_at"].notna()], "until_at", "{n} became visible again, undeleted")
    repeats = marks[marks["kind"] == "repeat"]
    say(repeats, "at", "the first of {n} had its work done again")
    say(marks[marks["kind"] == "dead_lettered"], "at", "{n} moved to the dead-letter queue")
    deleted = marks[marks["kind"] == "deleted"]
    if len(repeats) + len(deleted):
        final = deleted if len(deleted) else repeats
        say(final, "at", "the last of {n} deleted" if len(deleted) else "the last of {n} done again", last=True)
    found.sort(key=lambda f: f[0])
    return [(at, _offset(at - begin), words) for at, words in found]


def _offset(gap: timedelta) -> str:
    us = round(gap.total_seconds() * 1_000_000)
    return f"{'−' if us < 0 else '+'}{duration(abs(us))}" if us else "+0 s"


def limits(case: dict[str, Any], page: Page) -> list[str]:
    """Say what the evidence of this incident does not hold, in sentences."""
    found = []
    if case["visibility_timeout_s"] is None:
        found.append("No settings snapshot gives the queue's visibility timeout at that time.")
    if case["messages"] is None:
        found.append("The logs name no message ids, so the affected messages are counted as an upper bound.")
    rows = page.board.rows(
        DELIVERIES,
        ("queue_arn", "==", case["queue_arn"]),
        ("received_at", ">=", case["started_at"]),
        ("received_at", "<=", case["ended_at"]),
        columns=("message_id", "received_basis", "basis", "effect", "receive_count"),
    )
    late = int(rows["received_basis"].isin(["run_start", "line"]).sum())
    if late:
        found.append(
            f"The receive time of {count(late, 'delivery', 'deliveries')} is taken from the first line about it: "
            "the true receive was earlier."
        )
    silent = int((rows["effect"] == "unknown").sum())
    if silent:
        found.append(f"For {count(silent, 'delivery', 'deliveries')} no line tells whether the work was done.")
    uncounted = int(rows["receive_count"].isna().sum())
    if uncounted:
        found.append(f"{count(uncounted, 'delivery', 'deliveries')} without a logged receive count.")
    unseen = page.board.rows(
        TIMELINE, ("incident_id", "==", case["incident_id"]), ("kind", "==", "unseen"), columns=("item_id",)
    )
    if len(unseen):
        found.append(f"{count(len(unseen), 'receive')} that the receive count proves and no log shows.")
    return found
