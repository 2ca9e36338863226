"""Why a message was redelivered, redelivery by redelivery."""

from typing import Any

import streamlit as st

from forensics.sentence import capitalized, clause, said
from pages._ui.said import count_text as count
from pages._ui.said import in_words, say
from pages._ui.words import cause, plain, rival

Row = dict[str, Any]
AT_ONCE = 20
"""Redeliveries on one page: a message that always fails has hundreds, each with a dozen causes ruled out."""
FEW = 3
"""Redeliveries of which each says what is ruled out without a click."""


@st.fragment
def redelivered(redeliveries: list[Row], names: dict[tuple[str, str], str]) -> None:
    """Say for each redelivery why it came, and which rival causes are out."""
    if not redeliveries:
        return
    st.subheader(say("Why it was redelivered"), anchor="why")
    several_ids = len({(r["queue_arn"], r["item_id"]) for r in redeliveries}) > 1
    in_order = sorted(redeliveries, key=lambda r: (r["item_id"], r["delivery_index"]))
    shown = _of_page(in_order)
    for r in shown:
        who = f"{names[r['queue_arn'], r['item_id']]} · " if several_ids else ""
        number = (
            say("Receive #{n}", n=r["receive_count"])
            if r["receive_count"]
            else say("Delivery {n}", n=r["delivery_index"])
        )
        told = in_words(said("{clause}.", clause=capitalized(clause(r["sentence"]))))
        st.markdown(f"**{plain(who)}{number}: {plain(cause(r['cause']))}.** {plain(told)}")
        out = r["excluded"] or ()
        lines = [] if len(shown) > FEW else [say("- ruled out: {rival}", rival=rival(text)) for text in out]
        if r["would_decide"]:
            lines.append(say("- would decide it: {would_decide}", would_decide=plain(in_words(r["would_decide"]))))
        if lines:
            st.markdown("\n".join(lines))
        if out and len(shown) > FEW:
            with st.expander(say("{cause} ruled out", cause=count(len(out), "cause")), icon=":material/rule:"):
                st.markdown("\n".join(f"- {rival(text)}" for text in out))


def _of_page(rows: list[Row]) -> list[Row]:
    """Show the switch of pages where there are several, and return the rows of the chosen one."""
    pages = -(-len(rows) // AT_ONCE)
    if pages < 2:
        return rows
    low = (st.pagination(pages, key=f"why-{pages}") - 1) * AT_ONCE
    shown = rows[low : low + AT_ONCE]
    st.caption(say("Redeliveries {first} to {last} of {total}", first=low + 1, last=low + len(shown), total=len(rows)))
    return shown
