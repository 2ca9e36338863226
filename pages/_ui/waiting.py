"""How long messages wait, day by day, and how backlog and messages in flight went."""

from zoneinfo import ZoneInfo

import streamlit as st

from forensics.charts.queue_days import backlog_figure
from forensics.health import WeekReview, week_bounds
from forensics.settings import Settings
from forensics.tables.findings import DELIVERIES
from forensics.tables.health import QUEUE_HEALTH
from forensics.waiting import Drain, WaitingDay, drain_of, waiting_days
from pages._ui.board import Board
from pages._ui.cards import ROW_OF_TWO_LINES, two_line_height
from pages._ui.plots import legible, show
from pages._ui.said import busy, in_words, language, say
from pages._ui.said import count_text as count
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import plain


def waiting(queue: str, review: WeekReview, page: Page) -> None:
    """Show the queue's waiting times and the share over its promise, day by day of the week, and its trends up to then."""
    if not any(
        row["queue"] == queue and row["sent_at_min"] for row in page.board.spans(DELIVERIES, "queue", "sent_at")
    ):
        return
    st.subheader(say("How long do messages wait?"), anchor="waiting")
    with busy("Measuring how long messages waited"):
        days, drain = _told(page.board.key, queue, page.settings.text, page.board, page.settings)
    first, last = week_bounds(review.week)
    days = [day for day in days if first <= day.day <= last]
    if drain and first <= drain.at.astimezone(ZoneInfo(review.zone)).date() <= last:
        st.markdown(plain(in_words(drain.sentence)))
    if days:
        _table(days)
    else:
        st.caption(say("No message is known that was sent this week."))
    _trends(queue, review, page)


def _table(days: list[WaitingDay]) -> None:
    data_table(
        [
            {
                "Day": str(day.day),
                "Sent": day.sent,
                "To the first receive": day.received.words if day.received else None,
                "Until done": day.done.words if day.done else None,
                "Not seen done": day.undone,
                "Over the promise": day.over_words or None,
            }
            for day in reversed(days)
        ],
        told=("To the first receive", "Until done", "Over the promise"),
        hide_index=True,
        key="waiting_days",
        placeholder="–",
        row_height=ROW_OF_TWO_LINES,
        height=two_line_height(len(days)),
        column_config={
            "Day": st.column_config.TextColumn(width=88),
            "Sent": st.column_config.NumberColumn(width=66),
            "To the first receive": st.column_config.TextColumn(width=250),
            "Until done": st.column_config.TextColumn(width=250),
            "Not seen done": st.column_config.NumberColumn(width=96),
            "Over the promise": st.column_config.TextColumn(width=150),
        },
        alt=say("Waiting times per day"),
    )
    st.caption(
        say(
            "Median and 95th percentile from the send, with the 95 % interval of the latter; messages are taken "
            "to wait independently. `promise_s` in the settings file says what is promised."
        )
    )


def _trends(queue: str, review: WeekReview, page: Page) -> None:
    columns = ("day", "backlog_max_count", "in_flight_max_count")
    (first, _), (_, last) = week_bounds(review.trend_weeks[0]), week_bounds(review.week)
    span = ("day", ">=", first.isoformat()), ("day", "<=", last.isoformat())
    rows = page.board.records(QUEUE_HEALTH, ("queue", "==", queue), *span, columns=columns)
    rows = sorted((r for r in rows if r["backlog_max_count"] is not None), key=lambda r: r["day"])
    if len(rows) > 1:
        show(
            legible(backlog_figure(rows, language())),
            key="backlog",
            config={"displaylogo": False},
            alt=say("Messages that waited and were in flight, by day"),
        )
    elif rows:
        st.caption(
            plain(
                say(
                    "On {day} at most {messages} waited, and at most {in_flight} in flight.",
                    day=rows[0]["day"],
                    messages=count(rows[0]["backlog_max_count"], "message"),
                    in_flight=rows[0]["in_flight_max_count"] or 0,
                )
            )
        )


@st.cache_resource(max_entries=16, show_spinner=False)
def _told(
    key: tuple[str, str], queue: str, text: str, _board: Board, _settings: Settings
) -> tuple[list[WaitingDay], Drain | None]:
    return waiting_days(_board.findings, _settings, queue), drain_of(_board.findings, queue)
