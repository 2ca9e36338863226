"""The Incident page's list of settings that were changed before."""

from typing import Any

import streamlit as st

from forensics.report.changes import when_before
from forensics.window import CHANGES_REACH
from pages._ui.case import case_of
from pages._ui.said import in_words, say
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import plain


def changes(incident: dict[str, Any], page: Page) -> None:
    """Show what was changed in the days before the incident, and say so where nothing is known."""
    st.subheader(say("What changed before"), anchor="changes")
    case = case_of(incident["incident_id"], page)
    found = case.changes
    if case.changes_not_known:
        st.caption(plain(in_words(case.changes_not_known)))
    if not found:
        st.markdown(
            say(
                "No settings changes recorded between {days} days before the incident and its end. "
                "Code deployments elsewhere are not covered.",
                days=CHANGES_REACH.days,
            )
        )
        return
    data_table(
        [
            {
                "When": page.clock.stamp(change.at),
                "Before the start": in_words(when_before(change)),
                "What": change.what,
                "Shown by": change.source,
            }
            for change in found
        ],
        told=("What", "Shown by"),
        hide_index=True,
        key="changes",
        column_config={
            "When": st.column_config.TextColumn(
                width=170, help=say("Times in {zone}; no later than this.", zone=page.clock.label())
            ),
            "What": st.column_config.TextColumn(width=430),
        },
        alt=say("Settings that were changed before the incident"),
    )


def changes_since(incident: dict[str, Any], page: Page) -> None:
    """Show what was changed after the incident, which may be what repaired it."""
    found = case_of(incident["incident_id"], page).changes_since
    if not found:
        return
    st.subheader(say("What changed since"), anchor="changes-since")
    data_table(
        [{"When": page.clock.stamp(c.at), "What": c.what, "Shown by": c.source} for c in found],
        told=("What", "Shown by"),
        hide_index=True,
        key="changes_since",
        column_config={
            "When": st.column_config.TextColumn(
                width=170, help=say("Times in {zone}; no later than this.", zone=page.clock.label())
            ),
            "What": st.column_config.TextColumn(width=430),
        },
        alt=say("Settings that were changed after the incident"),
    )
    st.caption(say("Whether it helped is on the fault's page: the runs before and since."))
