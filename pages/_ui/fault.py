"""The Fault page's parts, and what the Incidents page needs of faults."""

from typing import Any

import streamlit as st

from forensics.charts.fault_times import fault_times
from forensics.people import marks_text
from forensics.report.activity import state_of
from forensics.report.before_after import Side
from forensics.report.csv_text import to_csv
from forensics.report.fault_case import FaultCase, load_fault
from forensics.report.faults import Fault, faults, shares_works
from forensics.report.records import message_record
from forensics.report.told import cause as told_cause
from forensics.tables.findings import MESSAGES
from pages._ui import marks
from pages._ui.case import case_key
from pages._ui.changes import changes_table
from pages._ui.incident import stop_now
from pages._ui.incidents import affected as of_incident
from pages._ui.nothing_found import no_suspicion
from pages._ui.plots import legible, show
from pages._ui.said import busy, in_words, interval, language, percent, say, term
from pages._ui.said import count_text as count
from pages._ui.shell import Page, name_tab
from pages._ui.states import guarded
from pages._ui.tables import data_table
from pages._ui.words import VERDICTS, cause, plain, verdict_column

Incident = dict[str, Any]
MOST_MESSAGES = 2000
BINS = 48
"""Bars of the chart of its incidents."""
CSV_COLUMNS = (
    "message_id",
    "business_keys",
    "verdict",
    "effects_at_least",
    "effects_at_most",
    "queue",
    "incident_id",
    "work_id",
    "message_ids",
    "first_received_at",
    "last_received_at",
    "dead_lettered",
    "effect_sentence",
    "marks",
    "set_aside",
)


def all_faults(found: list[Incident], page: Page) -> list[Fault]:
    """Gather incidents into faults, the worst first."""
    ids = shares_works(found)
    columns = ("incident_id", "queue_arn", "work_id", "verdict")
    shared = page.board.records(MESSAGES, ("incident_id", "in", ids), columns=columns) if len(ids) > 1 else []
    return faults(found, page.board.generation.data_until_at, page.people.messages(shared), page.settings.weights)


def fault_with(incident: Incident, found: list[Incident], page: Page) -> Fault:
    """Return the fault that an incident belongs to; it is one of those ``found``."""
    return next(f for f in all_faults(found, page) if incident["incident_id"] in f.incident_ids)


def choose(found: list[Fault], page: Page) -> Fault:
    """Return the fault that the link names, or the worst; an unknown one is said, and its URL kept."""
    if not found:
        st.title(say("Fault"), anchor=False)
        no_suspicion(page)
        st.stop()
    asked = st.query_params.get("fault")
    of = st.query_params.get("incident")
    if not asked and (mine := next((f for f in found if of in f.incident_ids), None)):
        return mine
    if not asked:
        st.query_params["fault"] = found[0].fault_id
        return found[0]
    chosen = next((f for f in found if f.fault_id == asked), None)
    if chosen is None:
        st.title(say("Fault"), anchor=False)
        st.error(
            plain(
                say("Fault {asked} is not in data version {data_version}.", asked=asked, data_version=page.data_version)
            ),
            icon=":material/error:",
        )
        page.link_to("app.py", say("All faults"), ":material/arrow_back:")
        st.stop()
    return chosen


def told(fault: Fault, page: Page) -> FaultCase:
    """Return the fault with all that belongs to it, read once per data version."""
    with guarded("the fault's evidence", page.data_version), busy("Reading the fault's evidence"):
        return _told((*case_key(page), *fault.incident_ids), fault, page)


@st.cache_resource(max_entries=8, show_spinner=False)
def _told(key: tuple[Any, ...], _fault: Fault, _page: Page) -> FaultCase:
    return load_fault(_page.board.findings, _fault, _page.people)


def header(fault: Fault, page: Page) -> None:
    """Say what happened in all, why, how often, and what next."""
    name_tab(fault.fault_id, "Fault")
    until = page.board.generation.data_until_at
    st.title(plain(f"{fault.queue}: {in_words(fault.headline)}"), anchor=False)
    case = told(fault, page)
    first = case.opening
    often = " · ".join(in_words(part) for part in (fault.times, first.repeats) if part)
    why = plain(told_cause(language(), fault.newest))
    if len(fault.incidents) > 1:
        why = say("Newest, began {at}: {why}", at=page.clock.minute(fault.newest["started_at"]), why=why)
    lines = [
        why,
        say("**How often:** {often}", often=plain(often)) if often else "",
    ]
    lines.append(say("**Next:** {next_line}", next_line=plain(in_words(first.next_line))) if first.steps else "")
    st.markdown("  \n".join(line for line in lines if line))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(term(fault.verdict), color=VERDICTS[fault.verdict][0], help=say(VERDICTS[fault.verdict][1]))
        st.badge(
            in_words(fault.state(until)),
            color="red" if fault.is_open(until) else "gray",
            icon=":material/schedule:",
        )
        st.badge(cause(fault.trigger), color="gray")
        st.space("stretch")
        stop_now(first)
        st.download_button(
            "CSV",
            lambda: _csv(case),
            file_name=f"{fault.fault_id}-messages.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
            disabled=not case.works,
            help=say("Every affected message of every incident of this fault, once.")
            if case.works
            else say("The logs name no message ids: there is nothing to list."),
        )
    if fault.set_aside:
        marks.by_the_logs(page)
    if fault.elsewhere:
        st.caption(plain(say("The same trigger under the same settings: {names}.", names=", ".join(fault.elsewhere))))


def _csv(case: FaultCase) -> bytes:
    records = [
        message_record(work)
        | {
            "message_ids": work["message_ids"],
            "marks": marks_text(case.people.of(work["incident_id"]).of(work["item_ids"])),
            "set_aside": aside.mark.words if (aside := case.people.aside_of(work["item_ids"])) else "",
        }
        for work in case.works
    ]
    return to_csv(records, CSV_COLUMNS).encode()


def over_time(fault: Fault, page: Page) -> None:
    """Draw when it came back."""
    if len(fault.incidents) < 2:
        return
    until = page.board.generation.data_until_at or fault.ended_at
    width = (until - fault.started_at) / BINS
    starts = [(fault.started_at + n * width).astimezone(page.clock.zone).replace(tzinfo=None) for n in range(BINS)]
    figure = fault_times(starts, fault.bars(fault.started_at, until, BINS), page.clock.label(until), language())
    show(
        legible(figure),
        key="fault_times",
        config={"displayModeBar": False},
        alt=f"{fault.queue}: {in_words(fault.times)}",
    )


def did_it_help(fault: Fault, page: Page) -> None:
    """Show what was changed since it began, and the runs before and since the repair."""
    case = told(fault, page)
    st.subheader(say("What changed since"), anchor="changes-since")
    if not case.changes:
        st.markdown(
            say(
                "No settings changes recorded since it began. Mark an incident as fixed when it is repaired elsewhere: "
                "the runs before and since are then compared here."
            )
        )
        return
    if found := case.comparison:
        st.markdown(f"**{plain(in_words(found.sentence))}**")
        st.markdown(
            "\n".join(
                [say("| | Runs | Led to it | Rate, 95 % sure |"), "|---|---|---|---|"]
                + [
                    f"| {name} | {side.runs:,} | {side.failed:,} | {in_words(_rates(side))} |"
                    for name, side in ((say("Before"), found.before), (say("Since"), found.since))
                ]
            )
        )
    changes_table([*reversed(case.changes)], page, "fault_changes", say("What was changed since this fault began"))


def _rates(side: Side) -> str:
    return " to ".join(percent(bound) for bound in side.interval)


def open_page(fault: Fault, page: Page) -> None:
    """Go to a fault; to its incident where it has only one."""
    if len(fault.incidents) == 1:
        st.switch_page("pages/incident.py", query_params=page.link(incident=fault.newest["incident_id"]))
    st.switch_page("pages/fault.py", query_params=page.link(fault=fault.fault_id))


def incidents(fault: Fault, page: Page) -> None:
    """List its incidents, newest first; a click opens one."""
    until = page.board.generation.data_until_at
    st.subheader(count(len(fault.incidents), "incident"), anchor="incidents")
    event = data_table(
        [
            {
                "Verdict": [next((v for v in VERDICTS if i[v]), "possible")],
                "Started": page.clock.stamp(i["started_at"]),
                "Messages": of_incident(i),
                "Repeats": interval(i["extra_effects_at_least"] or 0, i["extra_effects_at_most"]),
                "State": in_words(state_of(i, until)),
                "Incident": i["incident_id"],
            }
            for i in fault.incidents
        ],
        told=("State",),
        hide_index=True,
        key="fault_incidents",
        height=330 if len(fault.incidents) > 8 else "auto",
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],
        column_config={
            "Verdict": verdict_column(),
            "Started": st.column_config.TextColumn(width=170, help=say("Times in {zone}.", zone=page.clock.label())),
            "Messages": st.column_config.TextColumn(help=say("Processed twice, of those delivered more than once.")),
            "Repeats": st.column_config.TextColumn(width=90, help=say("Times that work was done beyond the first.")),
            "Incident": st.column_config.TextColumn(width=260),
        },
        alt=say("Incidents of this fault, newest first"),
    )
    picked = [*event["selection"]["rows"], *(row for row, _ in event["selection"]["cells"])]
    if picked:
        st.switch_page("pages/incident.py", query_params=page.link(incident=fault.incidents[picked[0]]["incident_id"]))


def affected(fault: Fault, page: Page) -> None:
    """List the affected messages of all its incidents, each work once."""
    works = told(fault, page).works
    if not works:
        return
    st.subheader(say("{message}, each once", message=count(len(works), "affected message")), anchor="messages")
    people = told(fault, page).people
    marked = [marks_text(people.of(w["incident_id"]).of(w["item_ids"])) for w in works[:MOST_MESSAGES]]
    is_shown = {"Marked": any(marked), "Incident": len(fault.incidents) > 1}
    columns = ("Verdict", "Times done", "Keys", "Message", "First received", "Marked", "Incident")
    data_table(
        [
            {
                "Verdict": [w["verdict"]],
                "Times done": interval(w["effects_at_least"] or 0, w["effects_at_most"]),
                "Marked": mark or None,
                "Keys": ", ".join(w["business_keys"] or []),
                "Message": ", ".join(w["message_ids"]) or w["item_id"],
                "First received": page.clock.stamp(w["first_received_at"]),
                "Incident": w["incident_id"],
            }
            for w, mark in zip(works[:MOST_MESSAGES], marked, strict=True)
        ],
        hide_index=True,
        key="fault_messages",
        placeholder="–",
        column_order=[name for name in columns if is_shown.get(name, True)],
        height=420 if len(works) > 10 else "auto",
        column_config={
            "Verdict": verdict_column(),
            "Times done": st.column_config.TextColumn(
                width=84, help=say("Times the work was done: for sure, to at most.")
            ),
            "Marked": st.column_config.TextColumn(width=170),
        },
        alt=say("Affected messages of this fault"),
    )
    if len(works) > MOST_MESSAGES:
        st.caption(say("The first {shown} of {n} messages; the CSV has all.", shown=MOST_MESSAGES, n=len(works)))
