"""The settings checks of one queue: failed ones first, each with its numbers, advice and evidence."""

from typing import Any

import streamlit as st

from forensics.tables.health import SETTING_FINDINGS
from pages._ui.shell import Page
from pages._ui.words import Colour, count

COLOURS: dict[str, Colour] = {
    "critical": "red",
    "warning": "orange",
    "note": "yellow",
    "unknown": "gray",
    "passes": "green",
}
_ORDER = list(COLOURS)
ROW_OF_TWO_LINES = 68
"""Pixels of a table row in which a long sentence wraps."""


def of_queue(queue_arn: str, page: Page) -> None:
    """Show the checks of a queue as the evidence ends."""
    table(page.board.records(SETTING_FINDINGS, ("queue_arn", "==", queue_arn)), page)


def table(checks: list[dict[str, Any]], page: Page) -> None:
    """Show some answers of setting_findings; those that passed are counted, and listed on demand."""
    st.markdown("**Settings checks**")
    if not checks:
        st.caption("No settings were read for this queue: collect it again, then correlate.")
        return
    open_ones = sorted((c for c in checks if c["status"] != "passes"), key=_gravest)
    passed = sorted((c for c in checks if c["status"] == "passes"), key=_gravest)
    if open_ones:
        _table(open_ones, "Settings checks that failed or cannot tell")
    if passed:
        with st.expander(f"{count(len(passed), 'check')} passed"):
            _table(passed, "Settings checks that passed")


def _table(checks: list[dict[str, Any]], alt: str) -> None:
    st.dataframe(
        [
            {
                "Answer": [_answer(c)],
                "What was compared": c["sentence"],
                "What to do": c["advice"] or (f"Needs {c['would_decide']}." if c["would_decide"] else ""),
                "Consumer": "" if c["consumer"] == "-" else c["consumer"],
                "Check": c["code"],
                "Evidence": len(c["evidence_ids"] or ()),
            }
            for c in checks
        ],
        hide_index=True,
        row_height=ROW_OF_TWO_LINES,
        column_config={
            "Answer": st.column_config.MultiselectColumn(
                options=_ORDER, color=[COLOURS[name] for name in _ORDER], width=84
            ),
            "What was compared": st.column_config.TextColumn(width=400),
            "What to do": st.column_config.TextColumn(width=330),
            "Evidence": st.column_config.NumberColumn(width=70, help="Rows of evidence this rests on."),
        },
        alt=alt,
    )


def _answer(check: dict[str, Any]) -> str:
    return check["severity"] if check["status"] == "fails" else check["status"]


def _gravest(check: dict[str, Any]) -> tuple[Any, ...]:
    return (_ORDER.index(_answer(check)), check["consumer"], check["code"])
