"""The Incident page's parts but for the timeline and its tables."""

from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from forensics.origins import ORIGIN_RULES
from forensics.report.activity import is_open, state_of, was_active
from forensics.report.faults import trigger_of
from forensics.report.guards import guard_notes
from forensics.report.opening import Opening, headline
from forensics.report.provisional import provisional_sentence
from forensics.report.told import cause as told_cause
from forensics.report.works import by_work
from forensics.sentence import said
from forensics.terms import INVOKED_AGAIN
from pages._ui import exports, marks
from pages._ui.cards import lines_px, two_line_height
from pages._ui.case import case_of
from pages._ui.completeness import warn
from pages._ui.device import shortcut
from pages._ui.incidents import verdict
from pages._ui.nothing_found import no_suspicion
from pages._ui.readiness import readiness
from pages._ui.said import count_text as count
from pages._ui.said import in_words, language, offset_text, say, term
from pages._ui.shell import Page, name_tab
from pages._ui.tables import data_table, opening_table
from pages._ui.words import VERDICTS, cause, code_counts, plain, rival, verdict_badges, verdict_column

Incident = dict[str, Any]
MOST_MESSAGES = 2000
MOST_HINTS = 10
MOST_NOTES = 6
AS_SEEN = ("lanes", "gaps", "from", "to", "msg", "event")
"""Keys of the address that name what of an incident is on the screen; the language is the reader's own."""


def choose(found: list[Incident], page: Page, title: str = "Incident") -> Incident:
    """Return the incident that the link names, or the newest; an unknown one is said, and its URL kept.

    ``title`` is the page's; it heads the page where there is no incident to show, and the tab is named for the incident.
    """
    asked = st.query_params.get("incident")
    if not asked:
        if not found:
            st.title(say(title), anchor=False)
            no_suspicion(page)
            st.stop()
        asked = max(found, key=lambda i: (i["started_at"], i["incident_id"]))["incident_id"]
        st.query_params["incident"] = asked
    case = next((i for i in found if i["incident_id"] == asked), None)
    if case is None:
        st.title(say(title), anchor=False)
        st.error(
            plain(
                say(
                    "Incident {asked} is not in data version {data_version}.",
                    asked=asked,
                    data_version=page.data_version,
                )
            ),
            icon=":material/error:",
        )
        st.write(say("It may be in another data version, or its messages belong to another incident by now."))
        page.link_to("app.py", say("All incidents"), ":material/arrow_back:")
        st.stop()
    st.session_state["last_incident"] = asked
    name_tab(asked, title)
    return case


def neighbours(case: Incident, found: list[Incident], page: Page) -> None:
    """Go to the incident before and after, by button or Alt+P / Alt+N."""
    ids = [i["incident_id"] for i in sorted(found, key=lambda i: (i["started_at"], i["incident_id"]))]
    st.sidebar.markdown(f"`{case['incident_id'].replace('`', '')}`")
    at = ids.index(case["incident_id"])
    with st.sidebar.container(horizontal=True, gap="small"):
        for word, icon, keys, index, there_is, there_is_none in (
            (
                "Earlier",
                ":material/chevron_left:",
                "Alt+P",
                at - 1,
                say("Previous incident in time"),
                say("There is no previous incident."),
            ),
            (
                "Later",
                ":material/chevron_right:",
                "Alt+N",
                at + 1,
                say("Next incident in time"),
                say("There is no next incident."),
            ),
        ):
            there = 0 <= index < len(ids)
            if st.button(
                term(word),
                icon=icon,
                key="previous_incident" if index < at else "next_incident",
                shortcut=shortcut(keys),
                disabled=not there,
                help=there_is if there else there_is_none,
                type="tertiary",
            ):
                st.switch_page("pages/incident.py", query_params=page.link(incident=ids[index]))


def partial_evidence(case: Incident) -> None:
    """Name above the headline what could not be read, and what that does to the verdict."""
    if not case["unread_sources"]:
        return
    warn([f"- {plain(in_words(source))}" for source in case["unread_sources"]])


def header(case: Incident, page: Page) -> Any:
    """Show what happened, why and how often and what next, then the verdict; return the place for the actions."""
    until = page.board.generation.data_until_at
    word = verdict(case)
    st.title(plain(f"{case['queue']}: {in_words(headline(case))}"), anchor=False)
    first = case_of(case["incident_id"], page).opening
    what_next = say("**Next:** {next_line}", next_line=plain(in_words(first.next_line))) if first.steps else ""
    st.markdown(f"{plain(told_cause(language(), case))}  \n{how_often(case, first, page)}{what_next}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        verdict_badges(word, case["certainty"])
        if case["is_provisional"]:
            said = plain(in_words(provisional_sentence(case)))
            st.badge(term("provisional"), color="blue", icon=":material/hourglass_top:", help=said)
        ends = (
            say("Active in the last hour of the data, which ends {at}.", at=page.clock.minute(until))
            if was_active(case, until)
            else None
        )
        badge, colour = in_words(state_of(case, until)), "red" if is_open(case, until) else "gray"
        st.badge(badge, color=colour, icon=":material/schedule:", help=ends)
        marks.badges(case, page)
        st.space("stretch")
        actions = st.container(horizontal=True, width="content", gap="small")
        with actions:
            stop_now(first)
    marks.of_incident(case, page)
    return actions


def stop_now(first: Opening) -> None:
    """Offer the first moves, each with its command, cost and undo, to be copied; nothing here runs them."""
    with st.popover(say(first.stop_heading), icon=":material/pan_tool:"):
        st.caption(say("For you to run; Doubletake only reads."))
        for move in first.moves:
            st.markdown(f"**{plain(in_words(said('{clause}.', clause=move.title)))}** {plain(in_words(move.why))}")
            if move.commands:
                st.code("\n".join(move.commands), language=None, wrap_lines=True)
            st.markdown(say("Costs: {cost}", cost=plain(in_words(move.cost))))
            if move.undo:
                st.markdown(say("Undo:"))
                st.code("\n".join(move.undo), language=None, wrap_lines=True)


def share(case: Incident, page: Page, actions: Any) -> None:
    """Put the downloads and the link into their place; last, because they need the whole case."""
    with actions:
        exports.buttons(case, page, partial(link, case, page))


def how_often(case: Incident, first: Opening, page: Page) -> str:
    """Say how often work was repeated, and since when; nothing where no message is named."""
    if not first.repeats:
        return ""
    at = case["first_repeat_at"]
    if at is None:
        return say("**How often:** {repeats}  \n", repeats=plain(in_words(first.repeats)))
    write = page.clock.day if page.clock.spans_days([case["started_at"], case["ended_at"]]) else page.clock.second
    values = {"repeats": plain(in_words(first.repeats)), "at": write(at)}
    has_other_ids = case["works"] is not None and case["works"] < case["messages"]
    is_invoked = trigger_of(case) == INVOKED_AGAIN
    if (
        has_other_ids or case.get("received_once") or is_invoked
    ):  # or the receive of another id, a line of the key, a second run
        return say("**How often:** {repeats} · first repeat {at}  \n", **values)
    return say("**How often:** {repeats} · first redelivery {at}  \n", **values)


def cause_chain(incident: Incident, page: Page) -> None:
    """Tell the incident in three to six facts, each with its time and offset from the first receive."""
    facts = case_of(incident["incident_id"], page).chain
    if not facts:
        return
    st.subheader(say("Cause chain"), anchor="cause-chain")
    time, _ = page.clock.fitting(f.at for f in facts)
    st.markdown(
        "\n".join(
            f"{n}. `{time(f.at)}` {plain(offset_text(f.offset_ms))} · {plain(in_words(f.sentence))}"
            for n, f in enumerate(facts, 1)
        )
    )


def causes(case: Incident) -> None:
    """Show which causes count, and why the rival ones are out."""
    st.subheader(say("Cause, and causes ruled out"), anchor="causes")
    said = " · ".join(f"**{plain(cause(code))}** {n:,}" for code, n in code_counts(case["causes"] or []))
    counted = say("Failed runs") if case["messages"] is None else say("Redeliveries of affected messages")
    if case["primary_cause"] in ORIGIN_RULES:
        why = plain(cause(case["primary_cause"]))
        st.markdown(
            say(
                "No message was redelivered under its own id; the same work came under another one: **{why}**.", why=why
            )
        )
    else:
        st.markdown(
            say("{counted} by cause: {said}", counted=counted, said=said) if said else say("No cause could be decided.")
        )
    if case["still_open"]:
        st.markdown(say("Still open, as the evidence does not rule them out:"))
        st.markdown("\n".join(f"- {rival(text)}" for text in case["still_open"]))
    if case["excluded"]:
        few = len(case["excluded"]) <= 4
        with st.expander(
            say("{cause} ruled out", cause=count(len(case["excluded"]), "cause")),
            expanded=few,
            icon=":material/rule:",
        ):
            st.markdown("\n".join(f"- {rival(text)}" for text in case["excluded"]))


def verdicts(case: Incident, page: Page) -> None:
    """Show the verdict of every work in its three parts, with the ids of its messages."""
    messages = case_of(case["incident_id"], page).messages
    rows = by_work(messages)
    title = say("Verdict per message") if len(rows) == len(messages) else say("Verdict per work")
    st.subheader(title if rows else say("Marks"), anchor="verdicts")
    marks.form(case, page)
    if not rows:
        return
    marked = marks.of_messages(case, page)
    order = {word: n for n, word in enumerate(VERDICTS)}
    spoken = language()
    ranked = sorted(rows, key=lambda m: (order.get(m["verdict"], 9), str(m["first_received_at"]), m["item_id"]))
    _verdict_table(
        [
            {
                "Verdict": [m["verdict"]],
                "Times done": spoken.interval(m["effects_at_least"] or 0, m["effects_at_most"]),
                "Keys": ", ".join(m["business_keys"] or []),
                "Cause": ", ".join(map(cause, m["causes"] or filter(None, [m["origin"]]))),
                "Message": ", ".join(m["message_ids"] or m["item_ids"]),
                "Marked": " · ".join(dict.fromkeys(marked[i] for i in m["item_ids"] if i in marked)) or None,
                "Why it was redelivered": m["trigger_sentence"],
                "Guard": m["guard_sentence"],
                "Effect": m["effect_sentence"],
                "Certainty": f"{m['certainty']} · provisional" if m["is_provisional"] else m["certainty"],
                "Dead-lettered": m["is_dead_lettered"],
            }
            for m in ranked[:MOST_MESSAGES]
        ],
        title,
    )
    if len(ranked) > MOST_MESSAGES:
        st.caption(
            say(
                "The first {shown} of {n} works; the CSV has all affected ones.",
                shown=MOST_MESSAGES,
                n=len(ranked),
            )
        )


@st.fragment
def _verdict_table(rows: list[dict[str, Any]], title: str) -> None:
    """Show what tells works apart and what is done about each first; a chosen row opens with its sentences."""
    is_shown = {name: any(row[name] for row in rows) for name in ("Keys", "Marked")}
    opening_table(
        rows,
        [name for name in rows[0] if is_shown.get(name, True)],
        ["Verdict", "Times done", "Keys" if is_shown["Keys"] else "Message"],
        told=("Why it was redelivered", "Guard", "Effect", "Certainty", "Marked"),
        key="verdicts",
        height=420 if len(rows) > 10 else "auto",
        column_config={
            "Verdict": verdict_column(),
            "Times done": st.column_config.TextColumn(
                width=84, help=say("Times the work was done: for sure, to at most.")
            ),
            "Message": st.column_config.TextColumn(width=264),
            "Marked": st.column_config.TextColumn(width=110),
            "Why it was redelivered": st.column_config.TextColumn(width=320),
            "Guard": st.column_config.TextColumn(width=240, help=say("Why the repeat was or was not stopped.")),
            "Effect": st.column_config.TextColumn(width=240),
        },
        alt=title,
    )


def guards(case: Incident, page: Page) -> None:
    """Say what guards did, by what most works tell first: why a repeat was or was not stopped."""
    notes = guard_notes(by_work(case_of(case["incident_id"], page).messages))
    if not notes:
        return
    st.subheader(say("Guard"), anchor="guard")
    lines = []
    for note in notes[:MOST_NOTES]:
        sentence = plain(in_words(note.sentence))
        works = count(note.work_count, "work")
        if note.are_alike:
            lines.append(f"- **{works}**: {sentence}")
        else:
            lines.append(f"- **{works}**, {say('for example')}: {sentence}")
    st.markdown("\n".join(lines))
    if left := notes[MOST_NOTES:]:
        st.caption(say("{n} more works tell otherwise; the table shows each.", n=sum(note.work_count for note in left)))


def hints(case: Incident, page: Page) -> None:
    """Name messages that are like an affected one: a hint that counts nothing."""
    found = case_of(case["incident_id"], page).hints
    if not found:
        return
    st.subheader(say("Hints: messages that are alike"), anchor="hints")
    st.markdown("\n".join(f"- {plain(in_words(hint.sentence))}" for hint in found[:MOST_HINTS]))
    if len(found) > MOST_HINTS:
        st.caption(say("{n} more are in the JSON report.", n=len(found) - MOST_HINTS))


def what_to_log(case: Incident, page: Page) -> None:
    """Show the lines that would have named the messages, where no line does."""
    if case["messages"] is None:
        readiness(page, ("queue_arn", "==", case["queue_arn"]))


def settings_then(incident: Incident, page: Page) -> None:
    """Show the settings that were in force, each beside what AWS advises."""
    facts = case_of(incident["incident_id"], page).settings
    st.subheader(say("Settings at that time"), anchor="settings")
    if not facts:
        st.markdown(say("No snapshot of the queue's or function's settings is in the lake."))
        return
    was_changed = any(f.now for f in facts)
    rows = [
        {
            "Setting": _capital(term(f.name)),
            "Value": f.value,
            **({"Now": f.now or ""} if was_changed else {}),
            "Advised": f.advice,
            "": "not as advised" if f.falls_short else "",
            "Source": f.source,
        }
        for f in facts
    ]
    px = {"Setting": 160, "Value": 130, "Now": 110, "Advised": 230 if was_changed else 330, "": 104, "Source": 128}
    high = lines_px((in_words(row[name]), px[name]) for row in rows for name in row)
    data_table(
        rows,
        told=("Value", "Now", "Advised", "", "Source"),
        hide_index=True,
        key="settings",
        row_height=high,
        height=two_line_height(len(rows), high),
        column_config={
            name: st.column_config.TextColumn(
                width=px[name], help=say("Where it was changed since.") if name == "Now" else None
            )
            for name in rows[0]
        },
        alt=say("Settings in force during the incident"),
    )


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def limits(incident: Incident, page: Page) -> None:
    """Say what the data cannot show, and what evidence would decide it."""
    st.subheader(say("What the data cannot show"), anchor="limits")
    lines = case_of(incident["incident_id"], page).gaps or (
        say("Nothing that this verdict rests on is missing from the evidence."),
    )
    st.markdown("\n".join(f"- {plain(in_words(line))}" for line in lines))


def link(case: Incident, page: Page) -> str:
    """Return the full address of this page as it is seen, with data version and zone, to be copied."""
    base = urlsplit(st.context.url or "http://localhost:8501/incident")
    seen = {key: values for key in AS_SEEN if (values := st.query_params.get_all(key))}
    keys = {"incident": case["incident_id"], "dv": page.data_version, "tz": page.clock.name, **seen}
    return f"{base.scheme}://{base.netloc}{base.path}?{urlencode(keys, doseq=True)}"
