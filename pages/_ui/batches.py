"""The Incident page's view of batches whose run was cut off."""

from typing import Any

import streamlit as st

from forensics.charts.lanes import short_names
from forensics.report.batches import BatchItem
from pages._ui.case import case_of
from pages._ui.said import count_text as count
from pages._ui.said import in_words, say, span_text
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import Colour, plain

MOST_RUNS = 50
MOST_CHARS = 38
"""Of a message's name: a message id whole, and of a longer key what tells it from the others."""
MOST_TOLD = 5
"""Runs told in sentences before the others are folded away."""
STATES: dict[str, tuple[Colour, str]] = {
    "finished": ("blue", "✔ finished"),
    "in progress": ("orange", "◐ in progress"),
    "not started": ("green", "○ not started"),
    "stopped by a guard": ("green", "◇ stopped by a guard"),
    "unknown": ("gray", "? unknown"),
}
"""Finished is no alarm by itself: that it came again stands beside it."""


def batches(incident: dict[str, Any], page: Page) -> None:
    """Show each batch at the moment its run failed: what was finished, in progress, and not started."""
    found = case_of(incident["incident_id"], page).batches
    if not found:
        return
    st.subheader(say("How far each failed run got"), anchor="batches")
    time, _ = page.clock.fitting(b.ended_at for b in found)
    said = [f"- `{time(b.ended_at)}` {plain(in_words(b.sentence))}" for b in found[:MOST_RUNS]]
    st.markdown("\n".join(said[:MOST_TOLD]))
    if more := said[MOST_TOLD:]:
        with st.expander(count(len(more), "further run"), icon=":material/unfold_more:"):
            st.markdown("\n".join(more))
    if len(found) > MOST_RUNS:
        st.caption(
            say(
                "The first {shown} of {run}; the JSON report has all.",
                shown=MOST_RUNS,
                run=count(len(found), "run"),
            )
        )
    several = len(found) > 1
    items = [(n, item) for n, batch in enumerate(found[:MOST_RUNS], 1) for item in batch.items]
    names = short_names([_name(item) for _, item in items], MOST_CHARS, "…")
    data_table(
        [_row(n, item, name) for (n, item), name in zip(items, names, strict=True)],
        told=("Redelivered",),
        hide_index=True,
        key="batches",
        placeholder="–",
        height=318 if sum(len(b.items) for b in found) > 8 else "auto",
        column_order=[
            *(["Run"] if several else []),
            "#",
            "Message",
            "At the end",
            "Began",
            "Done",
            "Redelivered",
            "Id",
        ],
        column_config={
            "Run": st.column_config.NumberColumn(width=44, help=say("In the order above.")),
            "#": st.column_config.NumberColumn(
                width=36, help=say("Place in the batch; a dash where it was not printed.")
            ),
            "At the end": st.column_config.MultiselectColumn(
                options=[words for _, words in STATES.values()],
                color=[colour for colour, _ in STATES.values()],
                width=130,
                help=say("How far the item had got when the run ended."),
            ),
            "Began": st.column_config.TextColumn(width=80, help=say("Seconds after the batch was received.")),
            "Done": st.column_config.TextColumn(width=80, help=say("Seconds after the batch was received.")),
            "Redelivered": st.column_config.TextColumn(width=90),
        },
        alt=say("Messages of the batches whose runs failed"),
    )


def _name(item: BatchItem) -> str:
    return ", ".join(item.business_keys) or item.message_id or item.item_id


def _row(number: int, item: BatchItem, name: str) -> dict[str, Any]:
    return {
        "Run": number,
        "#": item.position,
        "Message": name,
        "At the end": [STATES[item.state][1]],
        "Began": _seconds(item.started_ms),
        "Done": _seconds(item.finished_ms),
        "Redelivered": "yes" if item.came_again else "no",
        "Id": item.message_id or item.item_id,
    }


def _seconds(ms: int | None) -> str | None:
    return None if ms is None else span_text(ms)
