"""The Find a message page's parts."""

from typing import Any

import streamlit as st

from forensics.charts import timeline_figure
from forensics.charts.lanes import short_names
from forensics.charts.ledger import timeline_of
from forensics.finding import FoundLine, in_lines
from forensics.finding.lines import LEAST_CHARS as TEXT_CHARS
from forensics.finding.lines import MOST_LINES
from forensics.identity import handle_token, queue_name
from forensics.incidents.drawn import drawn_rows
from forensics.lake.conditions import Condition
from forensics.report.find import FULL_HANDLE, LEAST_CHARS, MOST_HITS, Key, Work, asked_text, hits_of, works
from forensics.report.find import find as find_messages
from forensics.report.hints import hints_for
from forensics.report.message_sentence import done, message_sentence
from forensics.report.works import told_of_work
from forensics.tables import Table
from forensics.tables.evidence import CONSUMERS, COVERAGE, LOG_EVENTS
from forensics.tables.findings import DELIVERIES, MESSAGES, REDELIVERIES
from pages._ui import details, lines, marks, why
from pages._ui.board import Board
from pages._ui.coverage import reach
from pages._ui.plots import finished, fitted, kept, legible, show
from pages._ui.said import busy, in_words, interval, language, say, term
from pages._ui.said import count_text as count
from pages._ui.shell import Page
from pages._ui.states import guarded
from pages._ui.tables import data_table
from pages._ui.urltime import read_window
from pages._ui.words import plain, verdict_badges, verdict_column

Row = dict[str, Any]
ORIGINS = {
    "producer_retry": "sent twice by the producer",
    "dedup_window_passed": "sent again after the deduplication window",
    "dlq_redrive": "redriven from the dead-letter queue",
}


def field() -> str:
    """Show the search field and return what is asked for.

    A whole receipt handle is a credential: it is replaced by its token before it can stay in the address.
    """
    asked = str(st.query_params.get("q") or "").strip()
    if FULL_HANDLE.fullmatch(asked):
        st.query_params["q"] = handle_token(asked)
    text = st.text_input(
        say(
            "Message id, deduplication id, request id, receipt handle (its start or digest), business key, or "
            "text of a body or line"
        ),
        key="q",
        bind="query-params",
        icon=":material/search:",
        placeholder=say("an id, a key, or a text"),
        on_change=_hide_handle,
    )
    return asked_text(text or "")


def _hide_handle() -> None:
    st.session_state["q"] = asked_text(str(st.session_state.get("q") or ""))


def explain() -> None:
    """Say what can be searched for, and what comes out."""
    st.markdown(
        say(
            "Paste any id from a log line or from a customer. The answer is one sentence, a small timeline, "
            "every delivery under every id of the same work, and the log lines behind them."
        )
    )
    st.caption(
        say(
            "The first {n} characters of an id are enough. A whole receipt handle is a credential: it "
            "is turned into its digest at once and never kept.",
            n=LEAST_CHARS,
        )
    )


def find(asked: str, page: Page) -> list[Work]:
    """Return the works that the text names, each with every id of it, in order of their first receive."""
    window = read_window()
    window.notice(page.clock)

    def read(table: Table, conditions: tuple[Condition, ...], columns: tuple[str, ...]) -> list[Row]:
        return page.board.any_records(table, *conditions, columns=columns)

    return works(find_messages(asked, read, window.start, window.end), read)


def find_by_text(asked: str, page: Page) -> list[Work]:
    """Return the works of messages whose bodies or lines have the text, and show the lines; nothing for a short text."""
    if len(asked) < TEXT_CHARS:
        return []
    with busy("Searching bodies and lines"):
        told = _lines((*page.board.key, asked), asked, page.board)
    ways: dict[Key, list[str]] = {}
    for line in told:
        for key, way in line.messages.items():
            ways.setdefault(key, []).append(way)

    def read(table: Table, conditions: tuple[Condition, ...], columns: tuple[str, ...]) -> list[Row]:
        return page.board.any_records(table, *conditions, columns=columns)

    if told:
        is_all = len(told) < MOST_LINES
        title = "{line} with this text" if is_all else "The first {line} with this text"
        with st.expander(say(title, line=count(len(told), "line")), expanded=not ways, icon=":material/notes:"):
            data_table(
                [{"Time": page.clock.stamp(line.at), "Log group": line.log_group, "Line": line.line} for line in told],
                hide_index=True,
                key="text_lines",
                alt=say("Lines in which the text stands"),
            )
        if not is_all:
            st.caption(say("More lines have this text, and maybe of other messages; write more of it."))
    return works(hits_of(ways, read), read)


@st.cache_resource(max_entries=16, show_spinner=False)
def _lines(key: tuple[str, ...], asked: str, _board: Board) -> list[FoundLine]:
    return in_lines(_board.findings, asked)


def several(found: list[Work], asked: str, page: Page) -> None:
    """Show the messages that one text names; a click asks for that one."""
    ways = sorted({way for work in found for hit in work.hits for way in hit.found_by})
    st.subheader(
        say(
            "{message} by {names}",
            message=count(len(found), "message"),
            names=say(" and ").join(in_words(way) for way in ways),
        ),
        anchor=False,
    )
    event = data_table(
        [
            {
                "Message": work.hit.message_id or work.hit.item_id,
                "Queue": work.hit.queue,
                "Keys": ", ".join(work.hit.business_keys),
                "First received": page.clock.stamp(work.hit.received_at),
                "Ids of its work": len(work.items),
                "Found by": ", ".join(in_words(way) for way in work.hit.found_by),
            }
            for work in found[:MOST_HITS]
        ],
        hide_index=True,
        key="hits",
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],
        column_config={"Message": st.column_config.TextColumn(width=300)},
        alt=say("Messages found"),
    )
    if len(found) > MOST_HITS:
        st.caption(say("The first {shown} of {n}; write more of it.", shown=MOST_HITS, n=len(found)))
    picked = [*event["selection"]["rows"], *(row for row, _ in event["selection"].get("cells") or ())]
    if picked:
        answer(found[picked[0]], page)


def answer(work: Work, page: Page) -> None:
    """Tell one message: a sentence, a small timeline, its deliveries and its lines, under every id of its work."""
    hit, items = work.hit, (("item_id", "in", tuple(sorted({item for _, item in work.items}))),)
    mine = set(work.items)
    rows = [d for d in page.board.records(DELIVERIES, *items) if (d["queue_arn"], d["item_id"]) in mine]
    rows.sort(key=lambda d: (d["queue_arn"], d["item_id"], d["delivery_index"]))
    verdicts = {_key(m): m for m in page.board.records(MESSAGES, *items) if _key(m) in mine}
    verdict = verdicts.get(hit.key)
    said = in_words(message_sentence(rows, verdict))
    st.subheader(plain(said), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if verdict:
            verdict_badges(verdict["verdict"], verdict["certainty"])
            marks.beside_message(verdict, page)
        st.markdown(
            say("`{message}` on `{queue}`", message=_code(hit.message_id or hit.item_id), queue=_code(hit.queue)),
            width="content",
        )
        if verdict and verdict["incident_id"]:
            keys = {"incident": verdict["incident_id"], "msg": hit.message_id or hit.item_id}
            page.link_to("pages/incident.py", verdict["incident_id"], ":material/timeline:", **keys)
    if verdict:
        st.markdown(plain(" ".join(in_words(told) for told in told_of_work(verdict, verdicts.values()))))
    else:
        st.caption(say("No redelivery found."))
    works = {key: told["work_id"] for key, told in verdicts.items()}
    timeline = timeline_of(drawn_rows(d | {"item_id": _lane(d), "work_id": works.get(_key(d))} for d in rows))
    names = _names(work, rows)
    if not timeline.empty:
        labels = {lane: names[key] for key in work.items if (lane := _lane_of(key)) in set(timeline["item_id"])}
        seconds = rows[0]["visibility_timeout_s"]
        key = "message", page.clock.name, *page.board.key, *sorted(mine), *sorted(labels.items())

        def draw() -> Any:
            figure = timeline_figure(
                timeline, page.clock.zone, labels=labels, visibility_timeout_s=seconds, say=language()
            )
            return finished(fitted(legible(figure)))

        show(kept(key, draw), key="message-timeline", config={"displaylogo": False}, alt=said)
    if len(work.items) > 1:
        ids(work, rows, verdicts, page)
    facts([d for d in rows if _key(d) == hit.key] or rows, verdict)
    same_bodies(work, rows, verdict, page)
    left, right = st.columns([4, 5], gap="medium")
    with left:
        st.subheader(say("Deliveries"), anchor="deliveries")
        of_item = {item: name for (_, item), name in names.items()}
        details.deliveries(page, *items, names=of_item)
    with right:
        st.subheader(say("Evidence"), anchor="evidence")
        chosen, line = details.evidence(page, timeline, {_lane_of(key): name for key, name in names.items()})
        if line:
            lines.whole_line(line, page, around=lines.around_switch())
        elif chosen:
            st.caption(say("No log line stands behind this row: it follows from the others."))
    why.redelivered([r for r in page.board.records(REDELIVERIES, *items) if _key(r) in mine], names)


def _key(row: Row) -> Key:
    return row["queue_arn"], row["item_id"]


def _lane(delivery: Row) -> str:
    return _lane_of(_key(delivery))


def _lane_of(key: Key) -> str:
    """Name a lane by queue and item: one id is a lane in every queue it was in."""
    return f"{queue_name(key[0])} {key[1]}"


def _names(work: Work, rows: list[Row]) -> dict[Key, str]:
    """Name one message by its business key, several by their shortened ids; one that was in several queues gets the queue's name before it."""
    keys = work.hit.business_keys
    if len(work.items) == len(keys) == 1:
        return {work.items[0]: short_names(list(keys), 13, "…")[0]}
    short = dict(zip(work.items, short_names([item for _, item in work.items]), strict=True))
    twice = {item for _, item in work.items if sum(other == item for _, other in work.items) > 1}
    return {k: f"{k[0].rpartition(':')[2][:8]} {name}" if k[1] in twice else name for k, name in short.items()}


def ids(work: Work, rows: list[Row], verdicts: dict[Key, Row], page: Page) -> None:
    """List every id of the same work: how it came about, when it was received, what became of it."""
    st.subheader(say("Every id of this work"), anchor="ids")
    found = []
    for key in work.items:
        mine, verdict = [d for d in rows if _key(d) == key], verdicts.get(key)
        first = min((d["received_at"] for d in mine if d["received_at"]), default=None)
        least, most = done(mine, None)
        found.append(
            {
                "Message": next((d["message_id"] for d in mine if d["message_id"]), key[1]),
                "Queue": queue_name(key[0]),
                "How it came about": ORIGINS.get((verdict or {}).get("origin") or "", "first id"),
                "First received": page.clock.stamp(first),
                "Received": len(mine),
                "Work done": interval(least, most),
                "Verdict": [verdict["verdict"]] if verdict else [],
                "_at": (first is None, first),
            }
        )
    data_table(
        [{k: v for k, v in row.items() if k != "_at"} for row in sorted(found, key=lambda row: row["_at"])],
        told=("How it came about",),
        hide_index=True,
        key="ids",
        column_config={
            "Message": st.column_config.TextColumn(width=290),
            "Received": st.column_config.NumberColumn(help=say("Deliveries in the ledger.")),
            "Work done": st.column_config.TextColumn(help=say("Under this id alone: for sure, to at most.")),
            "Verdict": verdict_column(),
        },
        alt=say("Ids of the same work"),
    )
    st.caption(say("The verdict is that of the work: all its ids of one queue together."))


def _code(text: str) -> str:
    return text.replace("`", "")


def facts(deliveries: list[Row], verdict: Row | None) -> None:
    """Show what names the message."""
    first = deliveries[0]
    rows = {
        "Message id": first["message_id"],
        "Business keys": ", ".join(first["business_keys"] or []),
        "Deduplication id": first["deduplication_id"],
        "Message group": first["group_id"],
        "Sent by": first["sender_id"],
        "Body MD5": first["body_md5"],
        "Receipt handles": ", ".join(dict.fromkeys(d["receipt_handle"] for d in deliveries if d["receipt_handle"])),
        "Work": verdict["work_id"] if verdict else None,
    }
    with st.expander(say("Ids and keys"), icon=":material/fingerprint:"):
        data_table(
            [{"Name": term(k), "Value": v} for k, v in rows.items() if v],
            hide_index=True,
            key="facts",
            column_config={"Name": st.column_config.TextColumn(width=140)},
            alt=say("Ids and keys of the message"),
        )


def same_bodies(work: Work, rows: list[Row], verdict: Row | None, page: Page) -> None:
    """Name other messages that are alike, close in time: a hint that counts nothing."""
    with guarded("messages that are alike", page.data_version):
        for hint in hints_for(page.board.findings, [(work.hit, verdict, rows)]).get(work.hit.key, ()):
            st.markdown(f":material/lightbulb: {plain(in_words(hint.sentence))}")


def is_queue(asked: str, page: Page) -> bool:
    """Tell whether a queue is asked for; its incidents and its week are then linked to."""
    named = page.board.records(CONSUMERS, columns=("queue_name",))
    if asked not in {row["queue_name"] for row in named}:
        return False
    st.info(plain(say("{queue} is a queue.", queue=asked)), icon=":material/inbox:")
    page.link_to("app.py", say("Its incidents"), ":material/warning:", queue=asked)
    page.link_to("pages/queue_health.py", say("Its week"), ":material/monitoring:", queue=asked)
    return True


def nothing(asked: str, page: Page) -> None:
    """Say what was searched: days, queues, sources; a text that is too short to be searched for is none that was not found."""
    if len(asked) < TEXT_CHARS:
        said = say(
            "{asked} is too short: {least} characters of a text, or {n} of an id.",
            asked=asked,
            least=TEXT_CHARS,
            n=LEAST_CHARS,
        )
        st.info(plain(said), icon=":material/search:")
        return
    checked = page.board.generation.row_counts.get("deliveries", 0)
    st.info(
        plain(
            say(
                "{asked} names no message among {deliveries} of this data version.",
                asked=asked,
                deliveries=count(checked, "delivery", "deliveries"),
            )
        ),
        icon=":material/search_off:",
    )
    spans = reach(page.board.records(COVERAGE, ("source", "==", LOG_EVENTS.name)), page.board.generation.data_since_at)
    if not spans:
        st.markdown(say("No log group was read yet."))
        return
    st.markdown(say("Searched:"))
    data_table(
        [
            {
                "Queue": queue,
                "Log group": resource,
                "From": page.clock.stamp(start),
                "To": page.clock.stamp(end),
                "Not read": count(gaps, "gap") if gaps else term("nothing"),
            }
            for queue, resource, start, end, gaps in spans
        ],
        hide_index=True,
        key="searched",
        alt=say("What was searched"),
    )
    st.caption(
        say("Only deliveries that a log shows can be found. An id of another day needs `doubletake collect --since`.")
    )
