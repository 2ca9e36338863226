"""The Find a message page's parts."""

import re
from typing import Any

import streamlit as st

from forensics.charts import timeline_figure
from forensics.charts.ledger import timeline_of
from forensics.identity import HANDLE_PREFIX_CHARS, handle_token
from forensics.tables.evidence import COVERAGE, LOG_EVENTS
from forensics.tables.findings import DELIVERIES, MESSAGES, REDELIVERIES
from pages._ui import details
from pages._ui.coverage import reach
from pages._ui.shell import Page
from pages._ui.urltime import read_window
from pages._ui.words import VERDICTS, cause, count, interval, plain, rival

Hit = dict[str, Any]
LEAST_CHARS = 8
"""Fewest characters of an id's or receipt handle's start that are searched for."""
MOST_HITS = 200
_FULL_HANDLE = re.compile(r"AQEB[A-Za-z0-9+/=_-]{60,}")


def field() -> str:
    """Show the search field and return what is asked for, without the blanks and quotes that copying leaves.

    A whole receipt handle is a credential: it is replaced by its token before it can stay in the address.
    """
    asked = str(st.query_params.get("q") or "").strip()
    if _FULL_HANDLE.fullmatch(asked):
        st.query_params["q"] = handle_token(asked)
    text = st.text_input(
        "Message id, deduplication id, request id, start of a receipt handle, or business key",
        key="q",
        bind="query-params",
        icon=":material/search:",
        placeholder="11d6ee51-4cc7-4302-9e22-7cd8afdaadf5",
        on_change=_hide_handle,
    )
    return (text or "").strip().strip("\"'")


def _hide_handle() -> None:
    asked = str(st.session_state.get("q") or "").strip().strip("\"'")
    if _FULL_HANDLE.fullmatch(asked):
        st.session_state["q"] = handle_token(asked)


def explain() -> None:
    """Say what can be searched for, and what comes out."""
    st.markdown(
        "Paste any id from a log line or from a customer. The answer is one sentence, a small timeline, every delivery "
        "of the message, and the log lines behind them."
    )
    st.caption(
        f"The first {LEAST_CHARS} characters of an id are enough. A whole receipt handle is a credential: "
        "it is turned into its digest at once and never kept."
    )


def find(asked: str, page: Page) -> list[Hit]:
    """Return the messages that the text names, each with how it was found, in order of their first receive."""
    ways = [
        ("message id", ("message_id", "==", asked)),
        ("business key", ("item_id", "==", f"key:{asked}")),
        ("business key", ("business_keys", "holds", asked)),
        ("deduplication id", ("deduplication_id", "==", asked)),
        ("request id", ("request_id", "==", asked)),
        ("receipt handle", ("receipt_handle", "==", asked)),
    ]
    if len(asked) >= LEAST_CHARS:
        ways += [
            ("start of its message id", ("message_id", "starts", asked)),
            ("start of its request id", ("request_id", "starts", asked)),
            ("receipt handle", ("receipt_handle", "starts", f"RH~{asked[:HANDLE_PREFIX_CHARS]}")),
        ]
    if _FULL_HANDLE.fullmatch(asked):
        ways = [("receipt handle", ("receipt_handle", "==", handle_token(asked)))]
    window = read_window()
    window.notice(page.clock)
    columns = (
        "queue_arn",
        "queue",
        "item_id",
        "message_id",
        "business_keys",
        "deduplication_id",
        "request_id",
        "receipt_handle",
        "received_at",
    )
    rows = page.board.any(DELIVERIES, *(condition for _, condition in ways), columns=columns)
    if window.start:
        rows = rows[rows["received_at"] >= window.start]
    if window.end:
        rows = rows[rows["received_at"] < window.end]
    hits: dict[tuple[str, str], Hit] = {}
    for row in rows.sort_values("received_at", kind="stable").to_dict("records"):
        hit = hits.setdefault((row["queue_arn"], row["item_id"]), row | {"found_by": set()})
        found = {way: condition[1] for way, condition in ways if _passes(row, condition)}
        exact = {way for way, comparison in found.items() if comparison != "starts"}
        hit["found_by"] |= exact or set(found)
    return list(hits.values())


def _passes(row: Hit, condition: tuple[str, str, Any]) -> bool:
    column, comparison, value = condition
    have = row[column]
    if comparison == "holds":
        return have is not None and value in list(have)
    if have is None:
        return False
    return str(have).startswith(value) if comparison == "starts" else have == value


def several(hits: list[Hit], asked: str, page: Page) -> None:
    """Show the messages that one text names; a click asks for that one."""
    ways = sorted({way for hit in hits for way in hit["found_by"]})
    st.subheader(f"{count(len(hits), 'message')} by {' and '.join(ways)}", anchor=False)
    event = st.dataframe(
        [
            {
                "Message": h["message_id"] or h["item_id"],
                "Queue": h["queue"],
                "Keys": ", ".join(h["business_keys"] if h["business_keys"] is not None else ()),
                "First received": page.clock.stamp(h["received_at"]),
                "Found by": ", ".join(sorted(h["found_by"])),
            }
            for h in hits[:MOST_HITS]
        ],
        hide_index=True,
        key="hits",
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],
        column_config={"Message": st.column_config.TextColumn(width=300)},
        alt="Messages found",
    )
    if len(hits) > MOST_HITS:
        st.caption(f"The first {MOST_HITS} of {len(hits):,}; write more of the id.")
    picked = [*event["selection"]["rows"], *(row for row, _ in event["selection"].get("cells") or ())]
    if picked:
        answer(hits[picked[0]], page)


def answer(hit: Hit, page: Page) -> None:
    """Tell one message: a sentence, a small timeline, its deliveries and its lines."""
    item = (("queue_arn", "==", hit["queue_arn"]), ("item_id", "==", hit["item_id"]))
    rows = sorted(page.board.records(DELIVERIES, *item), key=lambda d: d["delivery_index"])
    verdicts = page.board.records(MESSAGES, *item)
    verdict = verdicts[0] if verdicts else None
    st.subheader(plain(sentence(rows, verdict)), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if verdict:
            colour, meaning = VERDICTS[verdict["verdict"]]
            st.badge(f"{verdict['verdict']} · {verdict['certainty']}", color=colour, help=meaning)
        st.markdown(f"`{_code(hit['message_id'] or hit['item_id'])}` on `{_code(hit['queue'])}`", width="content")
        if verdict and verdict["incident_id"]:
            keys = {"incident": verdict["incident_id"], "msg": hit["message_id"] or hit["item_id"]}
            page.link_to("pages/incident.py", verdict["incident_id"], ":material/timeline:", **keys)
    if verdict:
        told = ("trigger_sentence", "guard_sentence", "effect_sentence")
        st.markdown(plain(" ".join(verdict[k] for k in told if verdict[k])))
    else:
        st.caption("Delivered once, or not known to be delivered again: there is nothing to judge.")
    timeline = timeline_of(rows)
    if not timeline.empty:
        figure = timeline_figure(timeline, page.clock.zone, visibility_timeout_s=rows[0]["visibility_timeout_s"])
        st.plotly_chart(figure, key="message-timeline", config={"displaylogo": False}, alt=sentence(rows, verdict))
    facts(rows, verdict)
    left, right = st.columns([4, 5], gap="medium")
    with left:
        st.subheader("Deliveries", anchor="deliveries")
        details.deliveries(page, *item)
    with right:
        st.subheader("Evidence", anchor="evidence")
        details.evidence(page, timeline)
    why(page.board.records(REDELIVERIES, *item))
    related(verdict, page)


def sentence(deliveries: list[Hit], verdict: Hit | None) -> str:
    """Say what happened: ``Received 2 times, deleted once, work done exactly 2 times.``"""
    times = max([len(deliveries), *(d["receive_count"] or 0 for d in deliveries)])
    parts = [f"Received {_times(times)}"]
    unseen = times - sum(d["is_seen"] for d in deliveries)
    if unseen:
        parts.append(f"of which {count(unseen, 'receive')} left no log line")
    deleted = sum(d["ended_by"] == "deleted" for d in deliveries)
    refused = sum(d["delete_status"] == "expired" for d in deliveries)
    dead = any(d["ended_by"] == "dead_lettered" for d in deliveries)
    parts.append(f"deleted {_times(deleted)}" if deleted else "not seen to be deleted")
    if refused:
        parts.append(f"delete refused {_times(refused)}")
    if dead:
        parts.append("moved to the dead-letter queue")
    if verdict:
        least, most = verdict["effects_at_least"] or 0, verdict["effects_at_most"]
    else:
        least = sum(d["effect"] == "yes" for d in deliveries)
        most = least + sum(d["effect"] == "unknown" for d in deliveries)
    done = _times(least) if least == most else f"{interval(least, most)} times"
    parts.append(f"work done {done}" if (least, most) != (0, 0) else "work not done")
    return ", ".join(parts) + "."


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _code(text: str) -> str:
    return text.replace("`", "")


def facts(deliveries: list[Hit], verdict: Hit | None) -> None:
    """Show what names the message."""
    first = deliveries[0]
    rows = {
        "Message id": first["message_id"],
        "Business keys": ", ".join(first["business_keys"] or []),
        "Deduplication id": first["deduplication_id"],
        "Message group": first["group_id"],
        "Body MD5": first["body_md5"],
        "Receipt handles": ", ".join(dict.fromkeys(d["receipt_handle"] for d in deliveries if d["receipt_handle"])),
        "Work": verdict["work_id"] if verdict else None,
    }
    with st.expander("Ids and keys", icon=":material/fingerprint:"):
        st.dataframe(
            [{"Name": k, "Value": v} for k, v in rows.items() if v],
            hide_index=True,
            key="facts",
            column_config={"Name": st.column_config.TextColumn(width=140)},
            alt="Ids and keys of the message",
        )


def why(redeliveries: list[Hit]) -> None:
    """Say for each redelivery why it came, and which rival causes are out."""
    if not redeliveries:
        return
    st.subheader("Why it came again", anchor="why")
    for r in sorted(redeliveries, key=lambda r: r["delivery_index"]):
        number = f"Receive #{r['receive_count']}" if r["receive_count"] else f"Delivery {r['delivery_index']}"
        st.markdown(f"**{number}: {plain(cause(r['cause']))}.** {plain(r['sentence'] or '')}")
        lines = [f"- excluded: {rival(text)}" for text in r["excluded"] or ()]
        if r["would_decide"]:
            lines.append(f"- would decide it: {plain(r['would_decide'])}")
        if lines:
            st.markdown("\n".join(lines))


def related(verdict: Hit | None, page: Page) -> None:
    """Link to the other messages of the same work."""
    if not verdict or not verdict["related_message_ids"]:
        return
    st.subheader("Other messages of the same work", anchor="related")
    for other in verdict["related_message_ids"]:
        page.link_to("pages/messages.py", _code(other), ":material/mail:", q=other)


def nothing(asked: str, page: Page) -> None:
    """Say what was searched: days, queues, sources."""
    checked = page.board.generation.row_counts.get("deliveries", 0)
    st.info(
        plain(f"{asked} names no message among {count(checked, 'delivery', 'deliveries')} of this data version."),
        icon=":material/search_off:",
    )
    spans = reach(page.board.records(COVERAGE, ("source", "==", LOG_EVENTS.name)))
    if not spans:
        st.markdown("No log group was read yet.")
        return
    st.markdown("Searched:")
    st.dataframe(
        [
            {
                "Queue": queue,
                "Log group": resource,
                "From": page.clock.stamp(start),
                "To": page.clock.stamp(end),
                "Not read": count(gaps, "gap") if gaps else "nothing",
            }
            for queue, resource, start, end, gaps in spans
        ],
        hide_index=True,
        key="searched",
        alt="What was searched",
    )
    st.caption(
        "Only deliveries that a log shows can be found. An id of another day needs `doubletake collect --since`."
    )
