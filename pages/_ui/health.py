"""The Queue health page's parts: the week, the cards, the ranking, and one queue in detail."""

from functools import partial
from textwrap import shorten
from typing import Any
from zoneinfo import ZoneInfo

import streamlit as st

from forensics.commands import in_lake
from forensics.errors import ForensicsError
from forensics.extras import how_to_install, is_installed
from forensics.health import NEEDS, QueueReview, Signal, WeekReview, week_bounds, week_title
from forensics.health.signals import span
from forensics.report.week import NO_WEEK, NO_WEEKS, load_week, set_aside, week_to_open, weeks_read
from forensics.report.week_render import cards as numbers
from forensics.report.week_render import compared_with, headline, reach, render_week, twice_words
from forensics.sentence import capitalized, joined, said
from forensics.tables.health import QUEUE_HEALTH
from forensics.words import cells
from pages._ui import evidence, marks, setting_checks
from pages._ui.cards import card, name_px, row, row_px, two_line_height
from pages._ui.health_chart import CHART_PX, days_chart, days_figure, drawable
from pages._ui.linked import week_not_there
from pages._ui.plots import kept
from pages._ui.said import busy, in_words, language, of_sentence, percent, say, span_text, term
from pages._ui.said import count_text as count
from pages._ui.shell import Page
from pages._ui.states import guarded, show_broken
from pages._ui.tables import data_table
from pages._ui.words import Colour, plain, with_commands

NEED_COLOURS: dict[str, Colour] = {"act now": "red", "watch": "orange", "unknown": "gray", "ok": "green"}
TABLE_PX, LEAST_WHY_PX = 866, 150
"""What a desk of 1360 px leaves a table's columns; the reason gets what the others leave, and at least so much."""
LINES_OF_WHY, CELL_PX = 3, 7
"""Lines of the reason in the table, and the pixels of a letter; the queue's own part has the whole sentence."""
SHORT = {"Queues needing work": "Need work"}
"""Labels that would be cut off on one of six cards."""
FORMATS = {
    "pdf": ("PDF", "application/pdf", "For print, or a mail."),
    "md": ("Markdown", "text/markdown", "For a wiki or a chat."),
    "csv": ("CSV", "text/csv", "One row a queue with every number."),
    "html": ("HTML", "text/html", "One file that opens offline."),
}


def choose_week(page: Page) -> WeekReview:
    """Show the week switch in the sidebar and return the review of the chosen week; stops where there is none."""
    with guarded("table queue_weeks", page.data_version):
        weeks = _weeks(page.board.key, page)
    if not weeks:
        st.title(say("Queue health"), anchor=False)
        told = in_words(joined([said("{clause}.", clause=capitalized(NO_WEEKS)), NO_WEEK]))
        st.info(with_commands(in_lake(told, page.board.lake.root)), icon=":material/inbox:")
        st.stop()
    newest_first = list(reversed(weeks))
    opened = week_to_open(page.board.findings, page.settings, weeks)
    asked = st.query_params.get("week")
    if asked and asked not in weeks:
        st.warning(
            plain(week_not_there(asked, weeks, opened)),
            icon=":material/calendar_month:",
        )
    with st.sidebar:
        week = st.selectbox(say("Week"), newest_first, newest_first.index(opened), key="week", bind="query-params")
    try:
        with busy("Weighing the week"):
            return _review(page.people_key, page.settings.text, week, page)
    except ForensicsError as problem:
        st.title(say("Queue health"), anchor=False)
        show_broken(problem, page.data_version)
        st.stop()


@st.cache_data(max_entries=8, show_spinner=False)
def _weeks(key: tuple[str, str], _page: Page) -> list[str]:
    return weeks_read(_page.board.findings)


@st.cache_resource(max_entries=16, show_spinner=False)
def _review(key: tuple[Any, ...], settings: str, week: str, _page: Page) -> WeekReview:
    return load_week(_page.board.findings, _page.settings, week, _page.people)


def title(review: WeekReview) -> str:
    """Write the week as dates."""
    if language().code == "en":
        return week_title(review.week)
    first, last = week_bounds(review.week)
    return say("{first} to {last}", first=first.isoformat(), last=last.isoformat())


def sentence(review: WeekReview, page: Page) -> None:
    """Answer the page's question in one sentence, and say where the week is not whole."""
    first = review.needy[0] if review.needy else None
    why = say(" First {queue}: {why}.", queue=first.queue, why=in_words(first.why)) if first else ""
    st.markdown(plain(f"{of_sentence(headline(review))}{why}"))
    st.caption(
        plain(
            " ".join(
                filter(
                    None,
                    (
                        language().sentence(reach(review)),  # in the zone of its days, not of the page
                        in_words(compared_with(review)),
                        say("Days of {zone}.", zone=review.zone),
                    ),
                )
            )
        )
    )
    marks.of_works(set_aside(review), page)


def cards(review: WeekReview) -> None:
    """Show the numbers, each with its change against the week before."""
    grid = row(6)
    for label, value, change in numbers(review):
        no_change = change == "no change"
        of_interval = label == "Processed twice" and change is not None
        card(
            grid,
            term(SHORT.get(label, label)),
            in_words(value),
            say("At least to at most. The arrow compares what is sure.") if of_interval else None,
            delta=0 if no_change else in_words(change).replace("\xa0", " "),  # a card is narrow, and breaks there
            delta_color="off" if no_change else "inverse",
        )


def table(review: WeekReview) -> None:
    """Show the queues by need; a click chooses the one that the rest of the page is about."""
    if not review.queues:
        st.info(say("No queue was read for this week."), icon=":material/inbox:")
        return
    trends = [drawable(q.redelivered_trend) for q in review.queues]
    has_trend = any(trends)
    px = _widths([q.queue for q in review.queues], has_trend)
    rows = [
        {
            "Queue": q.queue,
            "Status": [q.need],
            "Why": _shortened(in_words(q.why), px["Why"]),
            "Redelivered": percent(q.redelivered),
            "8 weeks": trend,
            "Processed twice": in_words(twice_words(q)),
            "p95 age": _span(q.number("age_p95_s")),
            "p99 / visibility": f"{_seconds(q.number('handler_p99_ms'))} / {_span(q.timeouts.visibility_s)}",
            "To DLQ": q.number("dead_lettered_count"),
        }
        for q, trend in zip(review.queues, trends, strict=True)
    ]
    high = row_px((q.queue, px["Queue"]) for q in review.queues)
    config = st.column_config
    key = f"queues-{review.week}"
    data_table(
        rows,
        column_order=[
            name for name in rows[0] if has_trend or name != "8 weeks"
        ],  # else empty cells push the last ones out
        hide_index=True,
        key=key,
        row_height=high,
        height=two_line_height(len(rows), high),
        on_select=partial(_clicked, key, [q.queue for q in review.queues]),
        selection_mode=["single-row", "single-cell"],
        column_config={
            "Queue": config.TextColumn(pinned=True, width=px["Queue"]),
            "Status": config.MultiselectColumn(
                options=list(NEEDS), color=[NEED_COLOURS[n] for n in NEEDS], width=px["Status"]
            ),
            "Why": config.TextColumn(width=px["Why"]),
            "Redelivered": config.TextColumn(
                width=px["Redelivered"], help=say("Deliveries that were not the message's first.")
            ),
            "8 weeks": config.BarChartColumn(  # a line is drawn smooth there, with hills that nobody measured
                width=px["8 weeks"], y_min=0, help=say("The same by week, as far as read; the last point is this week.")
            ),
            "Processed twice": config.TextColumn(width=px["Processed twice"], help=say("At least to at most.")),
            "p95 age": config.TextColumn(width=px["p95 age"], help="ApproximateAgeOfOldestMessage"),
            "p99 / visibility": config.TextColumn(
                width=px["p99 / visibility"],
                help=say("p99 handler, and the visibility timeout in force at the end of the evidence."),
            ),
            "To DLQ": config.NumberColumn(width=px["To DLQ"]),
        },
        alt=say("Queues by need"),
    )


def _widths(queues: list[str], has_trend: bool) -> dict[str, int]:
    """Return the columns' pixels, so that all fit a desk."""
    names = ("Status", "Redelivered", "8 weeks", "Processed twice", "p95 age", "p99 / visibility", "To DLQ")
    px = (78, 84, 62, 112, 68, 122, 60) if language().code == "en" else (90, 62, 62, 114, 82, 112, 56)
    widths = {"Queue": name_px(queues)} | dict(zip(names, px, strict=True))
    left = TABLE_PX - sum(widths.values()) + (0 if has_trend else widths["8 weeks"])
    return widths | {"Why": max(LEAST_WHY_PX, left)}


def _shortened(why: str, px: int) -> str:
    """Cut a reason where it would not fit three lines of its cell; Japanese has no blanks to cut at, and breaks lines earlier."""
    is_english = language().code == "en"
    most = int(LINES_OF_WHY * (px - 16) / CELL_PX * (0.9 if is_english else 0.75))
    if is_english:
        return shorten(why, most, placeholder="…")
    if cells(why) <= most:
        return why
    return next(f"{cut}…" for cut in (why[:end] for end in range(len(why), 0, -1)) if cells(cut) < most)


def _clicked(table: str, names: list[str]) -> None:
    selection = st.session_state[table]["selection"]
    picked = [*(selection.get("rows") or ()), *(row for row, _ in selection.get("cells") or ())]
    if picked and picked[0] < len(names):
        st.session_state["queue"] = names[picked[0]]


def choose_queue(review: WeekReview) -> QueueReview | None:
    """Show the one switch of the queue that all below it is about: clicked, named in the link, or the neediest."""
    if not review.queues:
        return None
    names = [q.queue for q in review.queues]
    asked = st.query_params.get("queue")
    if asked and asked not in names:
        st.warning(plain(say("Queue {asked} is not in this week.", asked=asked)), icon=":material/search_off:")
    if st.session_state.get("queue") not in names:
        st.session_state.pop("queue", None)
    with st.container(key="queue_switch"):
        chosen = st.selectbox(say("Queue"), names, key="queue", bind="query-params", width=320)
    return review.queues[names.index(chosen)]


def details(queue: QueueReview, review: WeekReview, page: Page) -> None:
    """Show one queue: the reasons with advice, its days, its incidents and its settings checks."""
    st.subheader(plain(queue.queue), anchor=False)
    said = [
        say("Owner: {owner}.", owner=queue.owner) if queue.owner else "",
        say("Note: {note}", note=queue.note) if queue.note else "",
    ]
    if any(said):
        st.caption(plain(" ".join(filter(None, said))))
    numbers = [s for s in queue.signals if not s.is_setting]
    of_settings = [s for s in queue.signals if s.is_setting]
    _reasons(say("This week"), numbers, queue, page)
    _reasons(say("Settings today"), of_settings, queue, page)
    if not queue.signals:
        st.success(
            say("Nothing to do for this queue.") if queue.need == "ok" else say("Nothing was read."),
            icon=":material/check:",
        )
    for signal, risk in queue.accepted:
        st.info(
            plain(
                say(
                    "Accepted until {day}: {sentence}. {reason}",
                    day=risk.until.isoformat(),
                    sentence=in_words(signal.sentence),
                    reason=risk.reason,
                )
            ),
            icon=":material/verified_user:",
        )
    _days(queue, review, page)
    _numbers(queue, review)
    _incidents(queue, page)
    if not review.is_newest:
        st.caption(
            say(
                "The settings checks are those of the end of the evidence, whatever the week, and no reasons of this one."
            )
        )
    told_above = {s.sentence for s in queue.signals if s.is_setting} | {s.sentence for s, _ in queue.accepted}
    setting_checks.table([c for c in queue.checks if c["sentence"] not in told_above], page, bool(told_above))


def _reasons(title: str, signals: list[Signal], queue: QueueReview, page: Page) -> None:
    """Show why the queue needs work: what its week showed apart from what its settings ask for."""
    if not signals:
        return
    st.markdown(f"**{title}**")
    for place, signal in enumerate(signals):
        colour = NEED_COLOURS[signal.level]
        advice = plain(in_words(signal.advice))
        with st.container(gap=None):
            st.markdown(
                f":{colour}-badge[{term(signal.level)}] {plain(in_words(signal.sentence))}  \n:gray[:small[{advice}]]"
            )
            evidence.opener_of_week(signal, queue.now, page, f"{signal.is_setting}-{place}")


def _days(queue: QueueReview, review: WeekReview, page: Page) -> None:
    first, _ = week_bounds(review.trend_weeks[0])
    key = "days", page.clock.name, *page.people_key, page.settings.text, review.week, queue.queue_arn

    def draw() -> Any:
        days = page.board.rows(QUEUE_HEALTH, ("queue_arn", "==", queue.queue_arn), ("day", ">=", first.isoformat()))
        days = days[days["day"] <= review.last_day.isoformat()]
        for column in ("twice_at_least", "twice_at_most") if page.people.aside else ():
            days = days.assign(**{column: [r[column] for r in page.people.periods(days.to_dict("records"))]})
        return days_figure(queue, review, days, _incident_days(queue, review, page))

    with st.skeleton(height=CHART_PX):
        figure = kept(key, draw)
    days_chart(queue, review, figure)


def _numbers(queue: QueueReview, review: WeekReview) -> None:
    with st.expander(say("Every number, against the week before"), icon=":material/table_rows:"):
        data_table(
            [
                {
                    "": n.label,
                    "This week": n.now,
                    "Week before" if not review.is_running else "Same days before": n.before,
                    "Change": in_words(n.change or "unknown"),
                }
                for n in queue.numbers
            ],
            told=("", "This week", "Week before", "Same days before"),
            hide_index=True,
            key="numbers",
            height="content",
            alt=say("{queue}: every number of the week against the week before", queue=queue.queue),
        )


def _incident_days(queue: QueueReview, review: WeekReview, page: Page) -> list[dict[str, str]]:
    zone = ZoneInfo(review.zone)
    found = [i for i in page.incidents() if i["queue_arn"] == queue.queue_arn]
    return [
        {
            "incident_id": i["incident_id"],
            "headline": in_words(i["headline"]),
            "day": i["started_at"].astimezone(zone).date().isoformat(),
        }
        for i in found
        if i["started_at"]
    ]


def _incidents(queue: QueueReview, page: Page) -> None:
    if not queue.incidents:
        return
    st.markdown(say("**{incident} this week**", incident=count(len(queue.incidents), "incident")))
    for incident in reversed(queue.incidents[-10:]):
        label = plain(f"{incident['incident_id']}: {in_words(incident['headline'])}")
        page.link_to("pages/incident.py", label, ":material/timeline:", incident=incident["incident_id"])
    if len(queue.incidents) > 10:
        st.caption(say("The newest ten; the Incidents page has all."))


def downloads(review: WeekReview, page: Page) -> None:
    """Offer the review as files."""
    with st.container(horizontal=True, gap="small"):
        for suffix, (name, mime, words) in FORMATS.items():
            lacking = suffix == "pdf" and not is_installed("pdf")
            st.download_button(
                name,
                partial(_file, review, suffix, language().code),
                file_name=f"queue-health-{review.week}.{suffix}",
                mime=mime,
                key=f"week-{suffix}",
                icon=":material/download:",
                on_click="ignore",
                disabled=lacking,
                help=say("Not installed: {command}", command=how_to_install("pdf")) if lacking else say(words),
            )


def _file(review: WeekReview, suffix: str, code: str) -> bytes:
    return render_week(review, suffix, code)


def method(review: WeekReview) -> None:
    """Say how the numbers are meant."""
    st.caption(
        say(
            "Redelivered: deliveries that were not the message's first, of all in the ledger. Processed twice: "
            "messages whose work was done more than once, at least to at most. Unknown means that the source was "
            "not read, never zero. The age metric leaves out messages received three times or more on a standard "
            "queue."
        )
    )


def _span(value_s: int | None) -> str:
    return "–" if value_s is None else in_words(span(value_s))


def _seconds(value_ms: int | None) -> str:
    return "–" if value_ms is None else span_text(value_ms)
