"""The settings checks of one queue: failed ones first, each with its numbers, advice and evidence."""

from typing import Any

import streamlit as st

from forensics.checks import FAILS
from forensics.commands import in_lake
from forensics.health.accepted import accepted_risk
from forensics.settings import AcceptedRisk
from forensics.tables.health import SETTING_FINDINGS
from pages._ui import evidence
from pages._ui.cards import lines_px, name_px, two_line_height
from pages._ui.place import lake_path
from pages._ui.said import count_text as count
from pages._ui.said import in_words, say, term
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import Colour, plain, with_commands

COLOURS: dict[str, Colour] = {
    "critical": "red",
    "warning": "orange",
    "note": "yellow",
    "accepted": "gray",
    "unknown": "gray",
    "passes": "green",
}
_ORDER = list(COLOURS)
_FINDING_PX = 430


def of_queue(queue_arn: str, page: Page) -> None:
    """Show the checks of a queue as the evidence ends."""
    table(page.board.records(SETTING_FINDINGS, ("queue_arn", "==", queue_arn)), page)


def table(checks: list[dict[str, Any]], page: Page, has_others: bool = False) -> None:
    """Show some answers of setting_findings, the gravest first; those that passed are counted, and listed on demand.

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
    for place, check in enumerate(open_ones):
        _entry(check, page, f"check-{place}")
    if passed:
        with st.expander(say("{check} passed", check=count(len(passed), "check"))):
            _passed(passed)
            st.caption(say("Choose a row to open its rows of evidence."))
    evidence.open_chosen(page)


def _entry(check: dict[str, Any], page: Page, key: str) -> None:
    """Show one answer whole. A table has one height for all rows: a long finding, or advice that is code, would make every one high."""
    needs = say("Needs {would_decide}.", would_decide=in_words(check["would_decide"])) if check["would_decide"] else ""
    consumer = "" if check["consumer"] == "-" else check["consumer"]
    more = " · ".join(filter(None, (in_words(check["advice"]) or needs, consumer, check["code"])))
    with st.container(gap=None):
        st.markdown(
            f":{COLOURS[check['answer']]}-badge[{term(check['answer'])}] {plain(in_words(check['sentence']))}  \n"
            f":gray[:small[{with_commands(in_lake(more, lake_path()))}]]"
        )
        evidence.opener(check["evidence_ids"], check["sentence"], page, key)


def _passed(checks: list[dict[str, Any]]) -> None:
    """List the checks that passed: many, and each is short."""
    rows = [
        {
            "Finding": c["sentence"],
            "Consumer": "" if c["consumer"] == "-" else c["consumer"],
            "Check": c["code"],
            "Evidence": len(c["evidence_ids"] or ()),
        }
        for c in checks
    ]
    high = lines_px((in_words(row["Finding"]), _FINDING_PX) for row in rows)
    data_table(
        rows,
        told=("Finding",),
        hide_index=True,
        key="passed_checks",
        on_select=evidence.on_choice("passed_checks", checks, "sentence"),
        selection_mode=["single-row", "single-cell"],
        row_height=high,
        height=two_line_height(len(rows), high),
        column_config={
            "Finding": st.column_config.TextColumn(width=_FINDING_PX),
            "Consumer": st.column_config.TextColumn(width=name_px(c["consumer"] for c in checks)),
            "Check": st.column_config.TextColumn(width=name_px(c["code"] for c in checks)),
            "Evidence": st.column_config.NumberColumn(width=62, help=say("Rows of evidence this rests on.")),
        },
        alt=say("Settings checks that passed"),
    )


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
