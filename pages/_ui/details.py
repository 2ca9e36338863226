"""The two tables below a timeline: deliveries, and the evidence behind every bar and mark."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import streamlit as st

from forensics.charts.lanes import key_labels, lane_names
from forensics.lake.conditions import Condition, all_of
from forensics.tables.findings import DELIVERIES, MESSAGES
from forensics.terms import END_WORDS, event_words
from pages._ui.cards import name_px
from pages._ui.lines import cut, line_of, log_lines
from pages._ui.said import count_text as count
from pages._ui.said import language, say, term
from pages._ui.shell import Page
from pages._ui.states import guarded
from pages._ui.tables import data_table

Case = dict[str, Any]
MOST_ROWS = 2000
"""Rows of each table: with more the page waits longer for its tables than for its chart."""
MOST_OF_A_KEY = 14
"""Characters of a lane's name that is a key and nothing else."""
MOST_TOLD_APART = 5000
"""Messages up to which a lane's name is told apart from all others; of more, from those that are drawn beside it."""


def turn_of(case: Case) -> str:
    """Name the counter that gives the chart a new key when its selection is cleared."""
    return f"turn-{case['incident_id']}"


def pointed_of(case: Case) -> str:
    """Name the memory of the mark that the chart draws a ring around."""
    return f"pointed-{case['incident_id']}"


def memory_of(case: Case) -> str:
    """Name the memory of the last click and its form of the chart, which tells a new click from a rerun."""
    return f"clicked-{case['incident_id']}"


def keys(case: Case, page: Page) -> dict[str, str]:
    """Return per item id its business key, where it has exactly one and no other message here shares it."""
    return _keys((*page.board.key, case["incident_id"]), case, page)[1]


@st.cache_resource(max_entries=32, show_spinner=False)
def _keys(key: tuple[Any, ...], _case: Case, _page: Page) -> tuple[dict[str, str], dict[str, str]]:
    """Return the business key per item that has exactly one, and of those the keys that no other item has."""
    with guarded(f"table {MESSAGES.name}", _page.data_version):
        here = all_of(("incident_id", "==", _case["incident_id"]))
        rows = _page.board.findings.read(MESSAGES, ["item_id", "business_keys"], here)
    of_items = zip(rows["item_id"].to_pylist(), rows["business_keys"].to_pylist(), strict=True)
    found = {item: keys[0] for item, keys in of_items if len(keys or ()) == 1}
    often = Counter(found.values())
    return found, {item: key for item, key in found.items() if often[key] == 1}


def labels(case: Case, page: Page, items: Iterable[str]) -> dict[str, str]:
    """Return what lanes of ``items`` are called: the business key, and how the id begins where messages share it."""
    found, _ = _keys((*page.board.key, case["incident_id"]), case, page)
    if len(found) > MOST_TOLD_APART:
        drawn = {found[item] for item in items if item in found}
        found = {item: key for item, key in found.items() if key in drawn}
    return key_labels(found)


def of_chosen(rows: Any, chosen: list[str], named: dict[str, str]) -> Any:
    """Keep the rows of messages that a link names, by business key or by id."""
    items = {item for item, key in named.items() if key in chosen}
    return rows[rows["message_id"].isin(chosen) | rows["item_id"].isin({*chosen, *items})]


def tables(case: Case, page: Page, timeline: Any, chosen: list[str]) -> dict[str, Any] | None:
    """Show the deliveries and the evidence of the chosen messages, or of all that the chart shows.

    Returns the row of the timeline that is chosen in the evidence.
    """
    called = labels(case, page, timeline["item_id"].unique())  # as in the chart, also where some are chosen
    if chosen:
        timeline = of_chosen(timeline, chosen, keys(case, page))
    items = tuple(timeline.sort_values("lane", kind="stable")["item_id"].unique())
    names = dict(zip(items, lane_names(items, called), strict=True))
    if chosen and not items:
        st.info(say("No message of that id is shown here."), icon=":material/search_off:")
        return None
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader(say("Deliveries"), anchor="deliveries")
        deliveries(page, ("queue_arn", "==", case["queue_arn"]), ("item_id", "in", tuple(sorted(items))), names=names)
    with right:
        st.subheader(say("Evidence"), anchor="evidence")
        picked, _ = evidence(page, timeline, names)
    return picked


def only(case: Case, page: Page, chosen: list[str]) -> None:
    """Say of which messages the tables are, where some are chosen, with a button that shows all again."""
    if not chosen:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(say("Only {name}", name=_name(chosen, keys(case, page))), width="content")
        st.button(
            say("Clear"),
            icon=":material/close:",
            key="clear",
            help=say("Show all messages again"),
            on_click=_clear,
            args=(case,),
        )


def _name(chosen: list[str], named: dict[str, str]) -> str:
    """Name what is chosen; a business key stands before its message id."""
    if len(chosen) > 1:
        return count(len(chosen), "message")
    ids = [chosen[0], *(item for item, key in named.items() if key == chosen[0])]
    return " · ".join(f"`{name.replace('`', '')}`" for name in ids)


def _row_memory(case: Case) -> str:
    return f"row-{case['incident_id']}"


def _chosen_cells() -> list[Any]:
    return list((st.session_state.get("evidence") or {"selection": {}})["selection"].get("cells") or ())


def is_row_new(case: Case) -> bool:
    """Tell whether a row of the evidence was chosen since the last run; one that no longer is, is forgotten."""
    cells = _chosen_cells()
    if not cells:
        st.session_state.pop(_row_memory(case), None)
    return bool(cells) and cells != st.session_state.get(_row_memory(case))


def remember_row(case: Case) -> None:
    """Remember the chosen row of the evidence, so that it counts once."""
    st.session_state[_row_memory(case)] = _chosen_cells()


def _clear(case: Case) -> None:
    """Forget what is chosen: in the link, in the memory of the click, and in the chart."""
    for key in ("msg", "event"):
        st.query_params.pop(key, None)
    st.session_state.pop(pointed_of(case), None)
    st.session_state.pop(memory_of(case), None)
    st.session_state[turn_of(case)] = st.session_state.get(turn_of(case), 0) + 1


def deliveries(page: Page, *where: Condition, names: dict[str, str] | None = None) -> None:
    """Show one row per delivery that passes the filters, messages in the order of ``names``.

    Names are shown where there are several messages.
    """
    names = names or {}
    rows = page.board.records(DELIVERIES, *where)
    place = {item: n for n, item in enumerate(names)}
    rows = sorted(rows, key=lambda d: (place.get(d["item_id"], len(place)), d["item_id"], d["delivery_index"]))
    clock, said = page.clock, language()
    time, width = clock.fitting(d["received_at"] for d in rows[:MOST_ROWS])
    data_table(
        [
            {
                "Message": names.get(d["item_id"], d["item_id"]),
                "#": d["receive_count"],
                "Received": time(d["received_at"]),
                "Ended by": said.maybe(END_WORDS.get(d["ended_by"], d["ended_by"])),
                "Work done": f"{said.maybe(d['effect'])} · {said.maybe(d['basis']).replace('_', ' ')}",
                "Hidden until": time(d["hidden_until_at"]),
                "Consumer": consumer(d),
                "Message id": d["message_id"],
            }
            for d in rows[:MOST_ROWS]
        ],
        hide_index=True,
        key="deliveries",
        placeholder="–",
        column_order=_columns(
            names, "#", "Received", "Work done", "Ended by", "Hidden until", "Consumer", "Message id"
        ),
        height=318 if len(rows) > 10 else "auto",
        column_config={
            "Message": st.column_config.TextColumn(width=_message_px(names)),
            "#": st.column_config.NumberColumn(width=30, help=say("Receive count; a dash where it was not logged.")),
            "Received": st.column_config.TextColumn(
                width=width, help=say("When SQS handed it out; times in {zone}.", zone=clock.label())
            ),
            "Hidden until": st.column_config.TextColumn(width=width, help=say("Received + visibility timeout.")),
            "Ended by": st.column_config.TextColumn(width=124),
            "Work done": st.column_config.TextColumn(
                help=say("Was the work done in this delivery, and what shows it.")
            ),
        },
        alt=say("Deliveries, one row each"),
    )
    if len(rows) > MOST_ROWS:
        st.caption(say("The first {shown} of {n} deliveries.", shown=MOST_ROWS, n=len(rows)))


def _columns(names: dict[str, str], *columns: str) -> list[str]:
    """Name the columns in order, the message first where there are several."""
    return ["Message", *columns] if len(names) > 1 else list(columns)


def _message_px(names: dict[str, str]) -> int:
    """Return the pixels of the column of messages; what tells two of one key apart stands at the end of their names."""
    return 110 if all(len(name) <= MOST_OF_A_KEY for name in names.values()) else name_px(names.values())


def consumer(delivery: dict[str, Any]) -> str:
    """Name who handled it: function and request id, or the worker's stream."""
    if not delivery["is_seen"]:
        return say("not seen in any log")
    if delivery["request_id"]:
        return f"{delivery['function_name'] or delivery['log_group']} {delivery['request_id']}"
    return delivery["log_stream"] or delivery["log_group"] or term("unknown")


def evidence(
    page: Page, timeline: Any, names: dict[str, str] | None = None
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Show one row per bar and mark with the log line that proves it; return the chosen row and its line."""
    names = names or {}
    marks = timeline.sort_values(["at", "item_id", "kind"], kind="stable")
    total = len(marks)
    rows = marks.head(MOST_ROWS).astype(object).where(marks.head(MOST_ROWS).notna(), None).to_dict("records")
    lines = log_lines(page, rows)
    cited = [line_of(row, lines) for row in rows]
    time, width = page.clock.fitting(row["at"] for row in rows)
    said = language()
    event = data_table(
        [
            {
                "Time": time(row["at"]),
                "Message": names.get(row["item_id"], row["item_id"]),
                "Event": said.maybe(event_words(row["kind"], row["label"])),
                "#": None if row["kind"] == "sent" else row["receive_count"],
                "Line": cut(line["line"]) if line else None,
                "Source": said.place(row["source"]),
            }
            for row, line in zip(rows, cited, strict=True)
        ],
        hide_index=True,
        key="evidence",
        placeholder="–",
        column_order=["Time", *_columns(names, "Event", "#", "Line", "Source")],
        on_select="rerun",
        selection_mode="single-cell",
        height=318 if total > 10 else "auto",
        column_config={
            "Time": st.column_config.TextColumn(width=width, help=say("Times in {zone}.", zone=page.clock.label())),
            "Message": st.column_config.TextColumn(width=_message_px(names)),
            "Event": st.column_config.TextColumn(width=112),
            "#": st.column_config.NumberColumn(width=30, help=say("Receive count")),
            "Line": st.column_config.TextColumn(
                width=320, help=say("The log line nearest in time. Choose a cell for the whole line.")
            ),
            "Source": st.column_config.TextColumn(help=say("Log stream and request id, or derived from other rows.")),
        },
        alt=say("Evidence, one row per bar and mark"),
    )
    if total > MOST_ROWS:
        st.caption(say("The first {shown} of {total} events.", shown=MOST_ROWS, total=total))
    picked = [row for row, _ in event["selection"].get("cells") or ()]
    if picked and picked[0] < len(rows):
        return rows[picked[0]], cited[picked[0]]
    return None, None
