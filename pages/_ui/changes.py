"""The Incident page's list of settings that were changed before."""

from typing import Any

import streamlit as st

from forensics.report.changes import when_before
from forensics.window import CHANGES_REACH
from pages._ui.case import case_of
from pages._ui.shell import Page
from pages._ui.words import plain


def changes(incident: dict[str, Any], page: Page) -> None:
    """Show what was changed in the days before the incident, and say so where nothing is known."""
    st.subheader("What changed before", anchor="changes")
    case = case_of(incident["incident_id"], page)
    found = case.changes
    if case.changes_not_known:
        st.caption(plain(case.changes_not_known))
    if not found:
        st.markdown(
            f"No change of the queue, its functions or mappings is known from the {CHANGES_REACH.days} days before until its end. "
            "Deployments of other systems are not in the evidence."
        )
        return
    st.dataframe(
        [
            {
                "When": page.clock.stamp(change.at),
                "Before the start": when_before(change),
                "What": change.what,
                "Shown by": change.source,
            }
            for change in found
        ],
        hide_index=True,
        key="changes",
        column_config={
            "When": st.column_config.TextColumn(width=170, help=f"Times in {page.clock.label()}; no later than this."),
            "What": st.column_config.TextColumn(width=430),
        },
        alt="Settings that were changed before the incident",
    )


def changes_since(incident: dict[str, Any], page: Page) -> None:
    """Show what was changed after the incident, which may be what repaired it."""
    found = case_of(incident["incident_id"], page).changes_since
    if not found:
        return
    st.subheader("What changed since", anchor="changes-since")
    st.dataframe(
        [{"When": page.clock.stamp(c.at), "What": c.what, "Shown by": c.source} for c in found],
        hide_index=True,
        key="changes_since",
        column_config={
            "When": st.column_config.TextColumn(width=170, help=f"Times in {page.clock.label()}; no later than this."),
            "What": st.column_config.TextColumn(width=430),
        },
        alt="Settings that were changed after the incident",
    )
    st.caption("Whether it helped is on the fault's page: the runs before and since.")
