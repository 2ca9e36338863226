"""The Data page's parts."""

from typing import Any

import streamlit as st

from forensics.report.lake_status import LakeStatus, lake_status
from forensics.settings_text import changed_since
from forensics.tables import BY_NAME
from forensics.tables.evidence import LOG_EVENTS
from forensics.words import count_text as count
from forensics.words import percent, span_text
from pages._ui.board import Board, settings_path
from pages._ui.cards import card, row
from pages._ui.coverage import by_day, complete_share, gaps
from pages._ui.shell import Page
from pages._ui.states import guarded
from pages._ui.words import plain

MOST_DAYS = 28
MARKS = {"complete": "● complete", "partial": "◐ partial", "missing": "○ missing"}
Row = dict[str, Any]


def status_of(page: Page) -> LakeStatus:
    """Return what the lake holds now, which may be more than this data version was made from."""
    with guarded("the lake's state", page.data_version):
        return _status((*page.board.key, tuple(sorted(page.board.lake.versions().items()))), page.board)


@st.cache_resource(max_entries=4, show_spinner="Counting rows")
def _status(key: tuple[Any, ...], _board: Board) -> LakeStatus:
    return lake_status(_board.lake)


def sentence(coverage: list[Row], status: LakeStatus, page: Page) -> None:
    """Say how complete the data is, and that looking changed nothing."""
    share = complete_share(coverage)
    sources = len({(r["source"], r["resource"]) for r in coverage})
    holes = sum(len(spans) for spans in gaps(coverage).values())
    if share is None:
        said = "No reading is recorded yet: nothing is known about completeness."
    elif not holes:
        said = f"Everything that was asked of {count(sources, 'source')} was read in full."
    else:
        said = (
            f"{percent(share)} of the time asked of {count(sources, 'source')} was read; {count(holes, 'gap')} below."
        )
    if status.is_stale:
        said += " Evidence was added since these findings were made: run doubletake correlate to see it."
    said += "".join(f" {line}" for line in status.expiring)
    st.markdown(plain(said))
    st.caption(
        "Doubletake only reads. It never calls ReceiveMessage, DeleteMessage or ChangeMessageVisibility: receiving would "
        "raise the receive count, could push a message to the dead-letter queue, and would block a FIFO group. "
        "All it may do in an account stands in docs/iam-policy.json."
    )


def cards(coverage: list[Row], status: LakeStatus, page: Page) -> None:
    """Show the four numbers."""
    grid = row(4)
    card(grid, "Evidence complete", percent(complete_share(coverage)))
    card(grid, "Log events", f"{status.evidence_rows.get(LOG_EVENTS.name, 0):,}")
    card(grid, "Deliveries checked", f"{page.board.generation.row_counts.get('deliveries', 0):,}")
    bad = sum(s.status != "ok" for s in status.sources)
    card(grid, "Sources not readable", f"{bad:,} of {len(status.sources):,}")


def grid(coverage: list[Row]) -> None:
    """Show queue × day; the word stands in every cell."""
    states = by_day(coverage)
    if not states:
        return
    days = sorted({day for _, day in states})[-MOST_DAYS:]
    st.subheader("Coverage by queue and day", anchor="coverage")
    st.dataframe(
        [
            {"Queue": queue} | {f"{day:%d %b}": MARKS.get(states.get((queue, day), ""), "–") for day in reversed(days)}
            for queue in sorted({queue for queue, _ in states})
        ],
        hide_index=True,
        key="coverage",
        column_config={"Queue": st.column_config.TextColumn(pinned=True)},
        alt="Coverage per queue and day",
    )
    st.caption("UTC days, newest first. A dash: nobody asked for that day.")


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
    ]
    if rows:
        st.subheader("Not read", anchor="gaps")
        st.dataframe(rows[:1000], hide_index=True, key="gaps-table", alt="Gaps")


def table(status: LakeStatus, page: Page) -> None:
    """Show every source with how far it was read, and the clock range of its events."""
    st.subheader("Sources", anchor="sources")
    if LOG_EVENTS.name in page.board.generation.inputs:
        clocks = {r["log_group"]: r for r in page.board.spans(LOG_EVENTS, "log_group", "logged_at")}
    else:
        clocks = {}
    st.dataframe(
        [
            {
                "Queue": s.queue,
                "Source": s.source,
                "Resource": s.resource,
                "Status": s.status,
                "Read from": page.clock.minute(s.read_from_at),
                "Read until": page.clock.minute(s.read_until_at),
                "Provisional": s.provisional,
                "Seen": s.seen_count,
                "Stored": s.stored_count,
                "First event": page.clock.stamp(clocks.get(s.resource, {}).get("logged_at_min")),
                "Last event": page.clock.stamp(clocks.get(s.resource, {}).get("logged_at_max")),
                "Detail": s.detail,
            }
            for s in status.sources
        ],
        hide_index=True,
        key="sources",
        placeholder="–",
        column_config={
            "Provisional": st.column_config.CheckboxColumn(help="The end was read early: late events may be missing."),
            "First event": st.column_config.TextColumn(help=f"The writer's own clock, shown in {page.clock.label()}."),
        },
        alt="Sources",
    )


def versions(page: Page) -> None:
    """Show this data version and the ones before it; a click pins one in the link."""
    st.subheader("Data versions", anchor="versions")
    with guarded("the list of data versions"):
        found = page.board.lake.generations()
    event = st.dataframe(
        [
            {
                "Data version": g.data_version,
                "": "shown" if g.generation_id == page.board.generation.generation_id else "",
                "Made at": page.clock.minute(g.made_at),
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
        on_select="rerun",
        selection_mode="single-row",
        alt="Data versions, newest first",
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
    st.subheader("Tables", anchor="tables")
    generation = page.board.generation
    counts = [("evidence", name, n, generation.inputs.get(name)) for name, n in status.evidence_rows.items()]
    counts += [("findings", name, n, generation.versions.get(name)) for name, n in generation.row_counts.items()]
    st.dataframe(
        [
            {"Kind": kind, "Table": name, "Rows": n, "Version": version, "One row is": BY_NAME[name].grain}
            for kind, name, n, version in counts
        ],
        hide_index=True,
        key="tables",
        placeholder="–",
        alt="Tables of the lake",
    )
    st.caption(plain(f"{status.lake}, {status.size_bytes / 1e6:,.1f} MB"))


def settings(page: Page) -> None:
    """Show the settings that the shown version was made with, and what today's file says otherwise."""
    st.subheader("Settings", anchor="settings")
    made_with, file = page.board.generation.settings, settings_path()
    where = f"Today's file, {file}" if file else "Today there is no settings file, which"
    if made_with is None:
        st.markdown("An earlier release made this data version, and did not keep the settings it was made with.")
    elif made_with:
        st.caption(f"What data version `{page.data_version}` was made with, `{page.board.generation.settings_digest}`")
        st.code(made_with, language="toml")
    else:
        st.markdown(
            f"Data version `{page.data_version}` was made without settings that bear on it: every default held. "
            "`doubletake.toml` can name effect lines, guards and business keys."
        )
    if changed := changed_since(made_with, page.settings):
        st.warning(
            plain(f"{where} says otherwise. `doubletake correlate` judges the evidence anew by it.")
            + "".join(f"\n- {plain(line)}" for line in changed),
            icon=":material/tune:",
        )
    elif made_with is None and page.settings.text:
        st.caption(plain(f"{where}, says:"))
        st.code(page.settings.text, language="toml")
    elif file:
        st.caption(plain(f"{where}, says the same."))
