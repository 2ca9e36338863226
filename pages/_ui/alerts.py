"""What notices would tell by now."""

from datetime import UTC, datetime

import streamlit as st

from forensics.report.alerts import alerts
from forensics.sentence import capitalized
from pages._ui.cards import row_px
from pages._ui.said import in_words, say
from pages._ui.shell import Page
from pages._ui.states import guarded
from pages._ui.tables import data_table

WHAT_PX, WORDS_PX = 214, 330
"""Widths that a window of 1280 pixels leaves them."""


def standing(page: Page) -> None:
    """Show the alerts of the last day of the evidence, whether or not anybody was told."""
    with guarded("alerts", page.data_version):
        found = alerts(page.board.findings, page.settings, datetime.now(UTC))
    if not found:
        return
    st.subheader(say("What notices tell"), anchor="alerts")
    data_table(
        [
            {
                "Kind": alert.kind.replace("_", " "),
                "Severity": alert.severity,
                "What": capitalized(alert.title),
                "At": page.clock.minute(alert.at) if alert.at else None,
                "In words": alert.text,
            }
            for alert in found
        ],
        told=("Kind", "Severity", "What", "In words"),
        hide_index=True,
        key="alerts",
        row_height=row_px((text, px) for a in found for text, px in ((a.title, WHAT_PX), (in_words(a.text), WORDS_PX))),
        placeholder="–",
        column_config={
            "What": st.column_config.TextColumn(width=WHAT_PX),
            "In words": st.column_config.TextColumn(width=WORDS_PX),
        },
        alt=say("Alerts of the last day of the evidence"),
    )
    st.caption(say("Of the 24 hours before the evidence ends; `doubletake notify` tells each once per change."))
