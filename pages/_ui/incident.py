"""The Incident page's parts but for the timeline and its tables."""

from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from forensics.origins import ORIGIN_RULES
from forensics.report.activity import is_open
from forensics.report.opening import Opening, headline
from forensics.report.provisional import provisional_sentence
from forensics.report.works import by_work
from forensics.words import count_text as count
from forensics.words import offset_text
from pages._ui import exports, marks
from pages._ui.case import case_of
from pages._ui.completeness import warn
from pages._ui.incidents import no_suspicion, state, verdict
from pages._ui.readiness import readiness
from pages._ui.shell import Page
from pages._ui.words import CERTAINTY, VERDICTS, cause, code_counts, interval, plain, rival, verdict_column

Incident = dict[str, Any]
MOST_MESSAGES = 2000
MOST_HINTS = 10


def choose(found: list[Incident], page: Page, title: str = "Incident") -> Incident:
    """Return the incident that the link names, or the newest; an unknown one is said, and its URL kept.

    ``title`` heads the page where there is no incident to show.
    """
    asked = st.query_params.get("incident")
    if not asked:
        if not found:
            st.title(title, anchor=False)
            no_suspicion(page)
            st.stop()
        asked = max(found, key=lambda i: (i["started_at"], i["incident_id"]))["incident_id"]
        st.query_params["incident"] = asked
    case = next((i for i in found if i["incident_id"] == asked), None)
    if case is None:
        st.title(title, anchor=False)
        st.error(plain(f"Incident {asked} is not in data version {page.data_version}."), icon=":material/error:")
        st.write("It may be in another data version, or its messages belong to another incident by now.")
        page.link_to("app.py", "All incidents", ":material/arrow_back:")
        st.stop()
    st.session_state["last_incident"] = asked
    return case


def neighbours(case: Incident, found: list[Incident], page: Page) -> None:
    """Go to the incident before and after, by button or Alt+P / Alt+N."""
    ids = [i["incident_id"] for i in sorted(found, key=lambda i: (i["started_at"], i["incident_id"]))]
    st.sidebar.markdown(f"`{case['incident_id'].replace('`', '')}`")
    at = ids.index(case["incident_id"])
    with st.sidebar.container(horizontal=True, gap="small"):
        for word, icon, shortcut, index in (
            ("Previous", ":material/chevron_left:", "Alt+P", at - 1),
            ("Next", ":material/chevron_right:", "Alt+N", at + 1),
        ):
            there = 0 <= index < len(ids)
            if st.button(
                word,
                icon=icon,
                key=f"{word.lower()}_incident",
                shortcut=shortcut,
                disabled=not there,
                help=f"{word} incident in time" if there else f"There is no {word.lower()} incident.",
                type="tertiary",
            ):
                st.switch_page("pages/incident.py", query_params=page.link(incident=ids[index]))


def partial_evidence(case: Incident) -> None:
    """Name above the headline what could not be read, and what that does to the verdict."""
    if not case["unread_sources"]:
        return
    warn([f"- {plain(source)}" for source in case["unread_sources"]])


def header(case: Incident, page: Page) -> Any:
    """Show what happened, why and how often and what next, then the verdict; return the place for the actions."""
    until = page.board.generation.data_until_at
    word = verdict(case)
    st.title(plain(headline(case)), anchor=False)
    first = case_of(case["incident_id"], page).opening
    what_next = f"**Next:** {plain(first.next_line)}" if first.steps else ""
    st.markdown(f"{plain(first.why)}  \n{how_often(case, first, page)}{what_next}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(
            f"{word} · {case['certainty']}",
            color=VERDICTS[word][0],
            help=f"{VERDICTS[word][1]} {CERTAINTY.get(case['certainty'], '')}",
        )
        if case["is_provisional"]:
            said = plain(provisional_sentence(case))
            st.badge("provisional", color="blue", icon=":material/hourglass_top:", help=said)
        opened = is_open(case, until)
        ends = f"Active in the last hour of the data, which ends {page.clock.minute(until)}." if opened else None
        st.badge(state(case, until), color="red" if opened else "gray", icon=":material/schedule:", help=ends)
        marks.badges(case, page)
        st.space("stretch")
        actions = st.container(horizontal=True, width="content", gap="small")
        with actions:
            stop_now(first)
    marks.of_incident(case, page)
    return actions


def stop_now(first: Opening) -> None:
    """Offer the first moves, each with its command, cost and undo, to be copied; nothing here runs them."""
    with st.popover(first.stop_heading, icon=":material/pan_tool:"):
        st.caption("For you to run; Doubletake only reads.")
        for move in first.moves:
            st.markdown(f"**{plain(move.title)}.** {plain(move.why)}")
            if move.commands:
                st.code("\n".join(move.commands), language="bash", wrap_lines=True)
            st.markdown(f"Costs: {plain(move.cost)}")
            if move.undo:
                st.markdown("Undo:")
                st.code("\n".join(move.undo), language="bash", wrap_lines=True)


def share(case: Incident, page: Page, actions: Any) -> None:
    """Put the downloads and the link into their place; last, because they need the whole case."""
    with actions:
        exports.buttons(case, page, link(case, page))


def how_often(case: Incident, first: Opening, page: Page) -> str:
    """Say how often work was repeated, and since when; nothing where no message is named."""
    if not first.repeats:
        return ""
    at = case["first_repeat_at"]
    if at is None:
        return f"**How often:** {plain(first.repeats)}  \n"
    write = page.clock.day if page.clock.spans_days([case["started_at"], case["ended_at"]]) else page.clock.second
    return f"**How often:** {plain(first.repeats)} · first redelivery {write(at)}  \n"


def cause_chain(incident: Incident, page: Page) -> None:
    """Tell the incident in three to six facts, each with its time and offset from the first receive."""
    facts = case_of(incident["incident_id"], page).chain
    if not facts:
        return
    st.subheader("Cause chain", anchor="cause-chain")
    time, _ = page.clock.fitting(f.at for f in facts)
    st.markdown(
        "\n".join(
            f"{n}. `{time(f.at)}` {plain(offset_text(f.offset_ms))} · {plain(f.sentence)}"
            for n, f in enumerate(facts, 1)
        )
    )


def causes(case: Incident) -> None:
    """Show which causes count, and why the rival ones are out."""
    st.subheader("Cause, and causes ruled out", anchor="causes")
    said = " · ".join(f"**{plain(cause(code))}** {n:,}" for code, n in code_counts(case["causes"] or []))
    counted = "Failed runs" if case["messages"] is None else "Redeliveries"
    if case["primary_cause"] in ORIGIN_RULES:
        why = plain(cause(case["primary_cause"]))
        st.markdown(f"No message came again under its own id; the same work came under another one: **{why}**.")
    else:
        st.markdown(f"{counted} by cause: {said}" if said else "No cause could be decided.")
    if case["still_open"]:
        st.markdown("Still open, as the evidence does not rule them out:")
        st.markdown("\n".join(f"- {rival(text)}" for text in case["still_open"]))
    if case["excluded"]:
        few = len(case["excluded"]) <= 4
        with st.expander(
            f"{count(len(case['excluded']), 'rival cause')} excluded", expanded=few, icon=":material/rule:"
        ):
            st.markdown("\n".join(f"- {rival(text)}" for text in case["excluded"]))


def verdicts(case: Incident, page: Page) -> None:
    """Show the verdict of every work in its three parts, with the ids of its messages."""
    messages = case_of(case["incident_id"], page).messages
    rows = by_work(messages)
    title = "Verdict per message" if len(rows) == len(messages) else "Verdict per work"
    st.subheader(title if rows else "Marks", anchor="verdicts")
    marks.form(case, page)
    if not rows:
        return
    marked = marks.of_messages(case, page)
    order = {word: n for n, word in enumerate(VERDICTS)}
    ranked = sorted(rows, key=lambda m: (order.get(m["verdict"], 9), str(m["first_received_at"]), m["item_id"]))
    st.dataframe(
        [
            {
                "Verdict": [m["verdict"]],
                "Done": interval(m["effects_at_least"] or 0, m["effects_at_most"]),
                "Message": ", ".join(m["message_ids"] or m["item_ids"]),
                "Keys": ", ".join(m["business_keys"] or []),
                "Marked": " · ".join(dict.fromkeys(marked[i] for i in m["item_ids"] if i in marked)) or None,
                "Why it was redelivered": m["trigger_sentence"],
                "Guard": m["guard_sentence"],
                "Effect": m["effect_sentence"],
                "Certainty": f"{m['certainty']} · provisional" if m["is_provisional"] else m["certainty"],
                "Dead-lettered": m["is_dead_lettered"],
            }
            for m in ranked[:MOST_MESSAGES]
        ],
        hide_index=True,
        key="verdicts",
        placeholder="–",
        height=420 if len(ranked) > 10 else "auto",
        column_config={
            "Verdict": verdict_column(),
            "Done": st.column_config.TextColumn(width=60, help="Times the work was done: for sure, to at most."),
            "Marked": st.column_config.TextColumn(width=110),
            "Why it was redelivered": st.column_config.TextColumn(width=320),
            "Guard": st.column_config.TextColumn(width=240, help="Why the repeat was or was not stopped."),
            "Effect": st.column_config.TextColumn(width=240),
        },
        alt=title,
    )
    if len(ranked) > MOST_MESSAGES:
        st.caption(f"The first {MOST_MESSAGES:,} of {len(ranked):,} works; the CSV has all affected ones.")


def hints(case: Incident, page: Page) -> None:
    """Name messages with the same body as an affected one: a hint that counts nothing."""
    found = case_of(case["incident_id"], page).hints
    if not found:
        return
    st.subheader("Hints: the same body", anchor="hints")
    st.markdown("\n".join(f"- {plain(hint.sentence)}" for hint in found[:MOST_HINTS]))
    if len(found) > MOST_HINTS:
        st.caption(f"{len(found) - MOST_HINTS:,} more are in the JSON report.")


def what_to_log(case: Incident, page: Page) -> None:
    """Show the lines that would have named the messages, where no line does."""
    if case["messages"] is None:
        readiness(page, ("queue_arn", "==", case["queue_arn"]))


def settings_then(incident: Incident, page: Page) -> None:
    """Show the settings that were in force, each beside what AWS advises."""
    facts = case_of(incident["incident_id"], page).settings
    st.subheader("Settings at that time", anchor="settings")
    if not facts:
        st.markdown("No snapshot of the queue's or function's settings is in the lake.")
        return
    was_changed = any(f.now for f in facts)
    st.dataframe(
        [
            {
                "Setting": f"{f.name[:1].upper()}{f.name[1:]}",
                "Value": f.value,
                **({"Now": f.now or ""} if was_changed else {}),
                "Advised": f.advice,
                "": "not as advised" if f.falls_short else "",
                "Source": f.source,
            }
            for f in facts
        ],
        hide_index=True,
        key="settings",
        column_config={
            "Setting": st.column_config.TextColumn(width=230),
            "Value": st.column_config.TextColumn(width=120),
            "Now": st.column_config.TextColumn(width=130, help="Where it was changed since."),
            "Advised": st.column_config.TextColumn(width=330),
            "": st.column_config.TextColumn(width=104),
        },
        alt="Settings in force during the incident",
    )


def limits(incident: Incident, page: Page) -> None:
    """Say what the data cannot show, and what evidence would decide it."""
    st.subheader("What the data cannot show", anchor="limits")
    lines = case_of(incident["incident_id"], page).gaps or (
        "Nothing that this verdict rests on is missing from the evidence.",
    )
    st.markdown("\n".join(f"- {plain(line)}" for line in lines))


def link(case: Incident, page: Page) -> str:
    """Return the full address of this page with data version and zone, to be copied."""
    base = urlsplit(st.context.url or "http://localhost:8501/incident")
    keys = {"incident": case["incident_id"], "dv": page.data_version, "tz": page.clock.name}
    return f"{base.scheme}://{base.netloc}{base.path}?{urlencode(keys)}"
