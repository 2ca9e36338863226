"""The Data page's parts."""

from pathlib import Path
from typing import Any

import streamlit as st

from forensics.commands import in_lake
from forensics.coverage import tells_of_files
from forensics.report.lake_status import LakeStatus, lake_status
from forensics.settings_text import changed_since
from forensics.tables import BY_NAME
from forensics.tables.evidence import LOG_EVENTS
from pages._ui.board import Board, settings_path
from pages._ui.cards import HEADER_PX, ROW_OF_TWO_LINES, ROW_PX, card, name_px, row, row_px, two_line_height, whole_px
from pages._ui.completeness import said_of_files, share_card
from pages._ui.coverage import by_day, complete_share, gaps, is_read_from_files
from pages._ui.device import is_phone
from pages._ui.place import lake_path
from pages._ui.said import busy, day_text, in_words, percent, say, span_text, term
from pages._ui.said import count_text as count
from pages._ui.shell import Page
from pages._ui.states import guarded
from pages._ui.tables import data_table, opening_table
from pages._ui.words import plain, with_commands

POLICY = Path(__file__).resolve().parents[2] / "docs" / "iam-policy.json"
"""The one policy file, beside the pages in a checkout and in an installation."""
MOST_DAYS, MOST_QUEUES = 28, 20
MARKS = {"complete": "● complete", "partial": "◐ partial", "missing": "○ missing", "files": "◐ from files"}
Row = dict[str, Any]


def status_of(page: Page) -> LakeStatus:
    """Return what the lake holds now, which may be more than this data version was made from."""
    with guarded("the lake's state", page.data_version), busy("Counting rows"):
        return _status((*page.board.key, tuple(sorted(page.board.lake.versions().items()))), page.board)


@st.cache_resource(max_entries=4, show_spinner=False)
def _status(key: tuple[Any, ...], _board: Board) -> LakeStatus:
    return lake_status(_board.lake)


def sentence(coverage: list[Row], status: LakeStatus, page: Page) -> None:
    """Say how complete the data is, and that looking changed nothing."""
    share = complete_share(coverage)
    sources = len({(r["source"], r["resource"]) for r in coverage})
    holes = sum(len(spans) for spans in gaps(coverage).values())
    if share is None:
        said = say("No reading is recorded yet: nothing is known about completeness.")
    elif not holes:
        said = say("All {n} sources read in full for the requested period.", n=sources)
    elif is_read_from_files(coverage):
        said = said_of_files()
    else:
        said = say(
            "{percent} of the time asked of {source} was read; {gap} below.",
            percent=percent(share),
            source=count(sources, "source"),
            gap=count(holes, "gap"),
        )
    if status.is_stale:
        said += say(" Evidence was added since these findings were made: run doubletake correlate to see it.")
    said += "".join(f" {in_words(line)}" for line in status.expiring)
    st.markdown(with_commands(said))
    st.caption(
        say(
            "Doubletake only reads. It never calls ReceiveMessage, DeleteMessage or ChangeMessageVisibility: "
            "receiving would raise the receive count, could push a message to the dead-letter queue, and would "
            "block a FIFO group."
        )
    )
    st.download_button(
        say("Required permissions"),
        POLICY.read_bytes(),
        file_name=POLICY.name,
        mime="application/json",
        icon=":material/policy:",
        on_click="ignore",
        help=say("The IAM policy of the role that collects: reading operations alone."),
    )


def cards(coverage: list[Row], status: LakeStatus, page: Page) -> None:
    """Show the four numbers."""
    grid = row(4)
    share_card(grid, coverage, page.board, page.clock)
    card(grid, say("Log events"), f"{status.evidence_rows.get(LOG_EVENTS.name, 0):,}")
    card(grid, say("Deliveries checked"), f"{page.board.generation.row_counts.get('deliveries', 0):,}")
    bad = sum(s.is_not_readable for s in status.sources)
    card(grid, say("Sources not readable"), say("{some} of {total}", some=bad, total=len(status.sources)))


def grid(coverage: list[Row]) -> None:
    """Show queue × day; the word stands in every cell."""
    states = by_day(coverage)
    if not states:
        return
    days = sorted({day for _, day in states})[-MOST_DAYS:]
    st.subheader(say("Coverage by queue and day"), anchor="coverage")
    queues = sorted({queue for queue, _ in states})
    px = name_px(queues)
    high = row_px((queue, px) for queue in queues) if px < whole_px(queues) else ROW_PX
    data_table(
        [
            {"Queue": queue}
            | {day_text(day): term(MARKS.get(states.get((queue, day), ""), "–")) for day in reversed(days)}
            for queue in queues
        ],
        hide_index=True,
        key="coverage",
        row_height=high,
        height=high * min(len(queues), MOST_QUEUES) + HEADER_PX,
        column_config={"Queue": st.column_config.TextColumn(pinned=True, width=px)},
        alt=say("Coverage per queue and day"),
    )
    st.caption(say("UTC days, newest first. –: not requested."))


def missing(coverage: list[Row], page: Page) -> None:
    """Name every gap with its source."""
    details = {(r["source"], r["resource"]): r["detail"] for r in coverage if r["status"] != "ok"}
    rows = [
        {
            "Source": source,
            "Resource": resource,
            "From": page.clock.stamp(start),
            "To": page.clock.stamp(end),
            "Length": span_text((end - start).total_seconds() * 1000),
            "Why": details.get((source, resource)),
        }
        for (source, resource), spans in sorted(gaps(coverage).items())
        for start, end in spans
        if not tells_of_files(details.get((source, resource)))
    ]
    if rows:
        st.subheader(say("Not read"), anchor="gaps")
        columns = ("Resource", "From", "To", "Length")
        opening_table(rows[:1000], columns, columns[:2], told=("Why",), key="gaps-table", alt=say("Gaps"))


def table(status: LakeStatus, page: Page) -> None:
    """Show every source with how far it was read, and the clock range of its events."""
    st.subheader(say("Sources"), anchor="sources")
    if LOG_EVENTS.name in page.board.generation.inputs:
        clocks = {r["log_group"]: r for r in page.board.spans(LOG_EVENTS, "log_group", "logged_at")}
    else:
        clocks = {}
    opening_table(
        [
            {
                "Queue": s.queue,
                "Source": term(s.source.replace("_", " ")),
                "Resource": s.resource,
                "State": term("from files") if s.is_from_files else s.status,
                "Read from": page.clock.minute(s.read_from_at),
                "Read until": page.clock.minute(s.read_until_at),
                "Provisional": s.provisional,
                "Seen": s.seen_count,
                "Stored": s.stored_count,
                "First event": page.clock.minute(clocks.get(s.resource, {}).get("logged_at_min")),
                "Last event": page.clock.minute(clocks.get(s.resource, {}).get("logged_at_max")),
                "Detail": s.detail,
            }
            for s in status.sources
        ],
        ("Queue", "Source", "Resource", "State", "Read until", "Last event"),
        ("Resource", "State", "Read until"),
        told=("State", "Detail"),
        key="sources",
        column_config={
            "Resource": st.column_config.TextColumn(width=130 if is_phone() else 180),
            "Provisional": st.column_config.CheckboxColumn(
                help=say("The end was read early: late events may be missing.")
            ),
            "Last event": st.column_config.TextColumn(
                help=say("The writer's own clock, shown in {zone}.", zone=page.clock.label())
            ),
        },
        alt=say("Sources"),
    )


def versions(page: Page) -> None:
    """Show this data version and the ones before it; a click pins one in the link."""
    st.subheader(say("Data versions"), anchor="versions")
    with guarded("the list of data versions"):
        found = page.board.lake.generations()
    event = data_table(
        [
            {
                "Data version": g.data_version,
                "": term("shown") if g.generation_id == page.board.generation.generation_id else "",
                "Made at": page.clock.minute(g.made_at),
                "Data from": page.clock.minute(g.data_since_at) if g.data_since_at else None,
                "Data until": page.clock.minute(g.data_until_at),
                "Settings": g.settings_digest,
                "Rules": g.rules_version,
                "Incidents": g.row_counts.get("incidents", 0),
                "Messages": g.row_counts.get("messages", 0),
                "Deliveries": g.row_counts.get("deliveries", 0),
            }
            for g in found
        ],
        hide_index=True,
        key="versions",
        placeholder="–",
        column_config={"Incidents": st.column_config.NumberColumn(term("incidents").capitalize())},  # a count, no list
        column_order=("Data version", "Made at", "Incidents") if is_phone() else None,
        on_select="rerun",
        selection_mode="single-row",
        alt=say("Data versions, newest first"),
    )
    picked = event["selection"]["rows"]
    if picked and found[picked[0]].generation_id != page.board.generation.generation_id:
        chosen = found[picked[0]]
        if picked[0] == 0:
            st.query_params.pop("dv", None)
        else:
            st.query_params["dv"] = chosen.data_version
        st.rerun()


def rows(status: LakeStatus, page: Page) -> None:
    """Show how many rows every table holds."""
    st.subheader(say("Tables"), anchor="tables")
    generation = page.board.generation
    counts = [("evidence", name, n, generation.inputs.get(name)) for name, n in status.evidence_rows.items()]
    counts += [("findings", name, n, generation.versions.get(name)) for name, n in generation.row_counts.items()]
    opening_table(
        [
            {"Kind": kind, "Table": name, "Rows": n, "Version": version, "One row is": BY_NAME[name].grain}
            for kind, name, n, version in counts
        ],
        ("Kind", "Table", "Rows", "Version", "One row is"),
        ("Table", "Rows"),
        told=("Kind", "One row is"),
        key="tables",
        column_config={"One row is": st.column_config.TextColumn(width=470)},
        row_height=None if is_phone() else ROW_OF_TWO_LINES,
        height="auto" if is_phone() else two_line_height(len(counts)),
        alt=say("Tables of the lake"),
    )
    st.caption(plain(say("{lake}, {n} MB", lake=status.lake, n=f"{status.size_bytes / 1000000.0:,.1f}")))


def settings(page: Page) -> None:
    """Show the settings that the shown version was made with, and what today's file says otherwise."""
    st.subheader(say("Settings"), anchor="settings")
    made_with, file = page.board.generation.settings, settings_path()
    where = say("Today's file ({file})", file=file) if file else say("Today's defaults (there is no settings file)")
    if made_with is None:
        st.markdown(say("An earlier release made this data version, and did not keep the settings it was made with."))
    elif made_with:
        st.caption(
            say(
                "What data version {data_version} was made with ({digest})",
                data_version=page.data_version,
                digest=page.board.generation.settings_digest,
            )
        )
        st.code(made_with, language=None)
    else:
        st.markdown(
            say(
                "Data version `{data_version}` was made without settings that bear on it: every default held. "
                "`doubletake.toml` can name effect lines, guards and business keys.",
                data_version=page.data_version,
            )
        )
    if changed := changed_since(made_with, page.settings):
        st.warning(
            with_commands(
                in_lake(
                    say("{where}: other settings. `doubletake correlate` judges the evidence by them.", where=where),
                    lake_path(),
                )
            )
            + "".join(f"\n- {plain(in_words(line))}" for line in changed),
            icon=":material/tune:",
        )
    elif made_with is None and page.settings.text:
        st.caption(plain(say("{where}:", where=where)))
        st.code(page.settings.text, language=None)
    elif file:
        st.caption(plain(say("{where}: the same settings.", where=where)))
