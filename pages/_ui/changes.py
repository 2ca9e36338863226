"""The Incident page's list of settings that were changed before."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from forensics.report.changes import Change, when_before
from forensics.report.fault_case import FaultCase
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
    before = [{"Before the start": in_words(when_before(change))} for change in found]
    changes_table(found, page, "changes", say("Settings that were changed before the incident"), before)


def changes_since(incident: dict[str, Any], page: Page, of_fault: Callable[[], FaultCase]) -> None:
    """Show what was changed after the incident, which may be what repaired it, and whether its fault came back since.

    ``of_fault`` reads the fault, where something was changed or somebody marked the incident as fixed.
    """
    found = case_of(incident["incident_id"], page).changes_since
    if not found and not any(mark.mark == "fixed" for mark in page.people.of(incident["incident_id"]).whole):
        return
    st.subheader(say("What changed since"), anchor="changes-since")
    if held := of_fault().comparison:
        st.markdown(f"**{plain(in_words(held.sentence))}**")
    if found:
        changes_table(found, page, "changes_since", say("Settings that were changed after the incident"))
    page.link_to(
        "pages/fault.py",
        say("Did it help? The runs before and since"),
        ":material/compare_arrows:",
        incident=incident["incident_id"],
    )


def changes_table(
    found: Sequence[Change], page: Page, key: str, alt: str, more: Sequence[dict[str, str]] | None = None
) -> None:
    """Show a row per change; ``more`` are further cells of each, behind its time."""
    data_table(
        [
            {"When": page.clock.stamp(change.at), **cells, "What": change.what, "Shown by": change.source}
            for change, cells in zip(found, more or [{}] * len(found), strict=True)
        ],
        told=("What", "Shown by"),
        hide_index=True,
        key=key,
        column_config={
            "When": st.column_config.TextColumn(
                width=170, help=say("Times in {zone}; no later than this.", zone=page.clock.label())
            ),
            "What": st.column_config.TextColumn(width=430),
        },
        alt=alt,
    )
