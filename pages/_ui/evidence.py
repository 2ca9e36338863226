"""The rows of evidence behind a sentence, in a window of their own: each opens whole, a log line with its neighbours."""

from functools import partial
from typing import Any

import streamlit as st

from forensics.health import Signal
from forensics.report.evidence_lines import EvidenceLine, evidence_lines
from forensics.tables.evidence import LOG_EVENTS
from pages._ui import lines
from pages._ui.board import Board
from pages._ui.said import busy, in_words, say, term
from pages._ui.said import count_text as count
from pages._ui.shell import Page
from pages._ui.states import guarded
from pages._ui.tables import data_table
from pages._ui.words import plain

Row = dict[str, Any]
_WANTED = "evidence_wanted"
_OPENS = "Open each row: the whole log line with those around it, a metric's point, a snapshot of settings."
_MOST = 200
"""Rows listed at once, the first by time."""
_ROWS_PX = 260
"""Height of the list, so that the chosen row below it stays in sight."""


def opener(evidence_ids: tuple[str, ...] | list[str] | None, told: str, page: Page, key: str) -> None:
    """Show how many rows a sentence of ours rests on; a click opens them."""
    ids = tuple(evidence_ids or ())
    if ids and st.button(
        count(len(ids), "row of evidence", "rows of evidence"),
        key=f"evidence-{key}",
        type="tertiary",
        icon=":material/fact_check:",
        help=say(_OPENS),
    ):
        _window(ids, told, page)


def opener_of_week(signal: Signal, week: dict[str, Any] | None, page: Page, key: str) -> None:
    """Offer the rows that a reason of the weekly review rests on; what its number counted is looked for on a click."""
    if signal.is_setting or week is None:
        opener(signal.evidence_ids, signal.sentence, page, key)
    elif st.button(
        say("Rows of evidence"), key=f"evidence-{key}", type="tertiary", icon=":material/fact_check:", help=say(_OPENS)
    ):
        from forensics.reasons import reason_ids  # polars, which no page needs before a click

        with guarded("the rows behind a reason", page.data_version), busy("Reading the rows of evidence"):
            ids = reason_ids(page.board.findings, signal, week)
        _window(ids, signal.sentence, page)


def on_choice(table: str, rows: list[Row], sentence: str) -> Any:
    """Return what a table calls when one of its rows is chosen, so that ``open_chosen`` opens that row's evidence.

    ``rows`` have ``evidence_ids``, and the ``sentence`` that rests on them in the column of that name.
    """
    return partial(_choose, table, [(tuple(r["evidence_ids"] or ()), r[sentence] or "") for r in rows])


def open_chosen(page: Page) -> None:
    """Open the rows of evidence of what was newly chosen in a table; once, or every rerun would open them again."""
    ids, told = st.session_state.pop(_WANTED, ((), ""))
    if ids:
        _window(ids, told, page)


def _choose(table: str, rows: list[tuple[tuple[str, ...], str]]) -> None:
    selection = st.session_state[table]["selection"]
    picked = [*(selection.get("rows") or ()), *(row for row, _ in selection.get("cells") or ())]
    if picked and picked[0] < len(rows):
        st.session_state[_WANTED] = rows[picked[0]]


def _window(ids: tuple[str, ...], told: str, page: Page) -> None:
    st.dialog(say("Rows of evidence"), width="large", icon=":material/fact_check:")(_rows)(ids, told, page)


def _rows(ids: tuple[str, ...], told: str, page: Page) -> None:
    """List the rows in order of time; below them the chosen one, whole."""
    st.markdown(plain(in_words(told)))
    with guarded("the cited rows of evidence", page.data_version), busy("Reading the rows of evidence"):
        found, raw = _read(page.board.key, ids[:_MOST], page.board)
    if len(ids) > _MOST:
        st.caption(say("The first {shown} of {of} rows.", shown=_MOST, of=f"{len(ids):,}"))
    if not found:
        st.caption(say("None of the cited rows is in this data version."))
        return
    time, width = page.clock.fitting(row.at for row in found)
    event = data_table(
        [
            {
                "Time": time(row.at) if row.at else None,
                "Kind": row.table.replace("_", " "),
                "Where": row.source.partition(" ")[0] if row.table == LOG_EVENTS.name else row.source,
                "Row": lines.cut(row.text),
            }
            for row in found
        ],
        told=("Kind",),
        hide_index=True,
        key=f"rows-{ids[0]}-{len(ids)}",
        placeholder="–",
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],
        height=_ROWS_PX if len(found) > 6 else "auto",
        column_config={
            "Time": st.column_config.TextColumn(width=width, help=say("Times in {zone}.", zone=page.clock.label())),
            "Kind": st.column_config.TextColumn(width=120),
            "Where": st.column_config.TextColumn(width=170),
            "Row": st.column_config.TextColumn(width=300),
        },
        alt=say("Rows of evidence, one each"),
    )
    picked = [*event["selection"]["rows"], *(row for row, _ in event["selection"]["cells"])]
    shown = found[picked[0]] if picked and picked[0] < len(found) else _first(found)
    if line := raw.get(shown.evidence_id):
        around = lines.around_switch()
        lines.whole_line(line, page, around=around)
        return
    st.code(shown.text, language=None, wrap_lines=True)
    when = f"{page.clock.stamp(shown.at)} · " if shown.at else ""
    st.caption(plain(f"{when}{term(shown.table.replace('_', ' '))} · {shown.evidence_id}"))


def _first(found: tuple[EvidenceLine, ...]) -> EvidenceLine:
    """Return the row that is shown before one is chosen: a log line where there is one."""
    return next((row for row in found if row.table == LOG_EVENTS.name), found[0])


@st.cache_resource(max_entries=32, show_spinner=False)
def _read(
    key: tuple[str, str], ids: tuple[str, ...], _board: Board
) -> tuple[tuple[EvidenceLine, ...], dict[str, lines.Line]]:
    """Return the cited rows as text, and those of them that are log lines, by evidence id."""
    tables = _board.findings.evidence_rows(sorted(ids))
    return evidence_lines(tables), {row["evidence_id"]: row for row in tables.get(LOG_EVENTS.name, ())}
