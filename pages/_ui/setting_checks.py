"""The settings checks of one queue: failed ones first, each with its numbers, advice and evidence."""

from typing import Any

import streamlit as st

from forensics.checks import FAILS
from forensics.health.accepted import accepted_risk
from forensics.settings import AcceptedRisk
from forensics.tables.health import SETTING_FINDINGS
from pages._ui import evidence
from pages._ui.cards import LINE_PX, LINES_OF_A_ROW, ROW_OF_TWO_LINES, name_px, row_px, two_line_height
from pages._ui.said import count_text as count
from pages._ui.said import in_words, say
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import Colour

COLOURS: dict[str, Colour] = {
    "critical": "red",
    "warning": "orange",
    "note": "yellow",
    "accepted": "gray",
    "unknown": "gray",
    "passes": "green",
}
_ORDER = list(COLOURS)
_TEXT_PX = {"Finding": 290, "What to do": 240}
"""Widths of the columns of sentences."""
MOST_LINES = 6
"""Of one check: advice that is code to copy, which the Data page has whole, would make every row as high as half a screen."""
_HIGHEST = ROW_OF_TWO_LINES + LINE_PX * (MOST_LINES - LINES_OF_A_ROW)


def of_queue(queue_arn: str, page: Page) -> None:
    """Show the checks of a queue as the evidence ends."""
    table(page.board.records(SETTING_FINDINGS, ("queue_arn", "==", queue_arn)), page)


def table(checks: list[dict[str, Any]], page: Page, has_others: bool = False) -> None:
    """Show some answers of setting_findings; those that passed are counted, and listed on demand.

    ``has_others`` says that the page tells of further answers elsewhere.
    """
    if has_others and not checks:
        return
    st.markdown(say("**Other settings checks**") if has_others else say("**Settings checks**"))
    if not checks:
        st.caption(say("No settings were read for this queue: collect it again, then correlate."))
        return
    told = [_told(c, page) for c in checks]
    open_ones = sorted((c for c in told if c["status"] != "passes"), key=_gravest)
    passed = sorted((c for c in told if c["status"] == "passes"), key=_gravest)
    if open_ones:
        _table(open_ones, "open_checks", say("Settings checks that failed or cannot tell"))
    if passed:
        with st.expander(say("{check} passed", check=count(len(passed), "check"))):
            _table(passed, "passed_checks", say("Settings checks that passed"))
    st.caption(say("Choose a row to open its rows of evidence."))
    evidence.open_chosen(page)


def _table(checks: list[dict[str, Any]], key: str, alt: str) -> None:
    rows = [
        {
            "Severity": [c["answer"]],
            "Finding": c["sentence"],
            "What to do": shortened(in_words(c["advice"]))
            or (say("Needs {would_decide}.", would_decide=in_words(c["would_decide"])) if c["would_decide"] else ""),
            "Consumer": "" if c["consumer"] == "-" else c["consumer"],
            "Check": c["code"],
            "Evidence": len(c["evidence_ids"] or ()),
        }
        for c in checks
    ]
    texts = [(in_words(row[name]), px) for row in rows for name, px in _TEXT_PX.items()]
    high = min(row_px(texts), _HIGHEST)
    data_table(
        rows,
        told=("Finding", "What to do"),
        hide_index=True,
        key=key,
        on_select=evidence.on_choice(key, checks, "sentence"),
        selection_mode=["single-row", "single-cell"],
        row_height=high,
        height=two_line_height(len(rows), high),
        column_config={
            "Severity": st.column_config.MultiselectColumn(
                options=_ORDER, color=[COLOURS[name] for name in _ORDER], width=84
            ),
            "Finding": st.column_config.TextColumn(width=_TEXT_PX["Finding"]),
            "What to do": st.column_config.TextColumn(width=_TEXT_PX["What to do"]),
            "Consumer": st.column_config.TextColumn(width=name_px(c["consumer"] for c in checks)),
            "Check": st.column_config.TextColumn(width=name_px(c["code"] for c in checks)),
            "Evidence": st.column_config.NumberColumn(width=62, help=say("Rows of evidence this rests on.")),
        },
        alt=alt,
    )


def shortened(advice: str) -> str:
    """Cut advice where its cell would cut it through."""
    fits = [
        cut
        for cut in (advice[:end] for end in range(len(advice) + 1))
        if row_px([(f"{cut}…", _TEXT_PX["What to do"])]) <= _HIGHEST
    ]
    return advice if len(fits) > len(advice) else f"{fits[-1]}…"


def answer(check: dict[str, Any], page: Page) -> str:
    """Say an answer in one word: a severity, or that the team accepted the risk, or that the check passed or cannot tell."""
    if check["status"] != FAILS:
        return str(check["status"])
    return "accepted" if _risk(check, page) else str(check["severity"])


def _told(check: dict[str, Any], page: Page) -> dict[str, Any]:
    """Put the team's word in the place of the advice where it accepted the risk."""
    risk = _risk(check, page)
    advice = (
        say("Accepted until {day}: {reason}", day=risk.until.isoformat(), reason=risk.reason)
        if risk
        else check["advice"]
    )
    return check | {"answer": answer(check, page), "advice": advice}


def _risk(check: dict[str, Any], page: Page) -> AcceptedRisk | None:
    """Return the risk that the team accepted, as of the evidence's last day."""
    until = page.board.generation.data_until_at
    if check["status"] != FAILS or not until:
        return None
    today = until.astimezone(page.settings.team.local).date()
    return accepted_risk(page.settings, check["queue"], check["code"], today)


def _gravest(check: dict[str, Any]) -> tuple[Any, ...]:
    return (_ORDER.index(check["answer"]), check["consumer"], check["code"])
