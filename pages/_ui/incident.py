"""The Incident page's parts but for the timeline."""

from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from forensics.tables.findings import MESSAGES, REDELIVERIES
from pages._ui import chain, exports, settings
from pages._ui.incidents import affected, delivered_again, is_open, state, verdict
from pages._ui.shell import Page
from pages._ui.words import CERTAINTY, VERDICTS, cause, code_counts, count, interval, plain

Incident = dict[str, Any]


def choose(found: list[Incident], page: Page) -> Incident:
    """Return the incident that the link names, or the newest; an unknown one is said, and its URL kept."""
    asked = st.query_params.get("incident")
    if not asked:
        if not found:
            st.title("Incident")
            st.success(
                "No incident in this data version: no message was processed more than once.",
                icon=":material/check_circle:",
            )
            st.stop()
        asked = max(found, key=lambda i: (i["started_at"], i["incident_id"]))["incident_id"]
        st.query_params["incident"] = asked
    case = next((i for i in found if i["incident_id"] == asked), None)
    if case is None:
        st.title("Incident")
        st.error(plain(f"Incident {asked} is not in data version {page.data_version}."), icon=":material/error:")
        st.write("It may be in another version, or its messages may belong to another incident by now.")
        st.page_link("app.py", label="All incidents", icon=":material/arrow_back:", query_params=page.link())
        st.stop()
    st.session_state["last_incident"] = asked
    return case


def partial_evidence(case: Incident) -> None:
    """Name above the headline what could not be read, and what that does to the verdict."""
    if not case["unread_sources"]:
        return
    lines = "\n".join(f"- {plain(source)}" for source in case["unread_sources"])
    st.warning(
        f"**Evidence is incomplete.** What is unknown widens the interval; it is never counted as harmless.\n\n{lines}",
        icon=":material/rule:",
    )


def header(case: Incident, found: list[Incident], page: Page) -> None:
    """Show id and verdict, the headline, the cause sentence, and the actions."""
    until = page.board.generation.data_until_at
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"`{case['incident_id'].replace('`', '')}`", width="content")
        word = verdict(case)
        st.badge(f"{word} · {case['certainty']}", color=VERDICTS[word][0], help=VERDICTS[word][1])
        st.badge(state(case, until), color="red" if is_open(case, until) else "gray", icon=":material/schedule:")
        st.space("stretch")
        exports.buttons(case, page, link(case, page), summary(case, page))
        _neighbours(case, found, page)
    st.title(plain(case["headline"]), anchor=False)
    st.markdown(plain(case["cause_sentence"]))


def _neighbours(case: Incident, found: list[Incident], page: Page) -> None:
    """Go to the incident before and after, by button or Alt+P / Alt+N."""
    ids = [i["incident_id"] for i in sorted(found, key=lambda i: (i["started_at"], i["incident_id"]))]
    at = ids.index(case["incident_id"])
    for label, icon, shortcut, index in (
        ("Previous incident", ":material/chevron_left:", "Alt+P", at - 1),
        ("Next incident", ":material/chevron_right:", "Alt+N", at + 1),
    ):
        there = 0 <= index < len(ids)
        if st.button(
            icon,
            key=label,
            shortcut=shortcut,
            disabled=not there,
            help=f"{label} in time" if there else f"There is no {label.lower()}.",
            type="tertiary",
        ):
            st.switch_page("pages/incident.py", query_params=page.link(incident=ids[index]))


def cards(case: Incident, page: Page) -> None:
    """Show the six numbers."""
    suspects = sum(case[v] or 0 for v in ("confirmed", "probable", "possible"))
    grid = st.grid(6, min_column_width=122, gap="small")
    same = {"border": True, "height": "stretch"}
    grid.metric(
        "Processed twice",
        affected(case),
        help="Messages whose work was done more than once, of those redelivered.",
        **same,
    )
    least = case["extra_effects_at_least"] or 0
    most = _extra_at_most(case, page)
    grid.metric("Extra side effects", interval(least, most), help="Times the work was done beyond the first.", **same)
    grid.metric(
        "First repeat",
        page.clock.second(case["first_repeat_at"]),
        help=f"First redelivery, {page.clock.stamp(case['first_repeat_at'])} {page.clock.label(case['first_repeat_at'])}.",
        **same,
    )
    function, visibility = case["function_timeout_s"], case["visibility_timeout_s"]
    grid.metric(
        "Timeout / visible",
        f"{'–' if function is None else function} / {'–' if visibility is None else visibility} s",
        help="Function timeout and the queue's visibility timeout then. A dash: a worker, or not in evidence.",
        **same,
    )
    grid.metric(
        "Batch · groups",
        f"{case['batch_size'] or '–'} · {case['group_count'] or '–'}",
        help="The mapping's batch size, and message groups among the affected. A dash: none, or not in evidence.",
        **same,
    )
    word = verdict(case)
    grid.metric(
        "Verdict", word, help=f"{VERDICTS[word][1]} {CERTAINTY.get(case['certainty'], '')} {suspects} suspects.", **same
    )


def _extra_at_most(case: Incident, page: Page) -> int | None:
    """Add up what every message may have had beyond the first; None where one has no upper bound."""
    rows = page.board.records(
        MESSAGES, ("incident_id", "==", case["incident_id"]), columns=("work_id", "effects_at_most")
    )
    most = {row["work_id"]: row["effects_at_most"] for row in rows}
    if not most or None in most.values():
        return None if most else case["extra_effects_at_least"] or 0
    return sum(max(n - 1, 0) for n in most.values())


def cause_chain(case: Incident, page: Page) -> None:
    """Tell the incident in three to six facts, each with its time and offset from the first receive."""
    facts = chain.key_moments(case, page)
    if not facts:
        return
    st.subheader("Cause chain", anchor="cause-chain")
    st.markdown(
        "\n".join(
            f"{n}. `{page.clock.time(at)}` · T{offset} — {plain(words)}"
            for n, (at, offset, words) in enumerate(facts, 1)
        )
    )


def verdicts(case: Incident, page: Page) -> None:
    """Show why each message came again, and which rival causes are out."""
    where = ("incident_id", "==", case["incident_id"])
    st.subheader("Why, and why not otherwise", anchor="causes")
    said = ", ".join(f"{cause(code)} ({n:,})" for code, n in code_counts(case["causes"]))
    if said:
        st.markdown(plain(f"Redeliveries by cause: {said}."))
    if case["excluded"]:
        st.markdown("Excluded:")
        st.markdown("\n".join(f"- {_rival(text)}" for text in case["excluded"]))
    rows = page.board.records(MESSAGES, where)
    total = len(rows)
    order = {word: n for n, word in enumerate(VERDICTS)}
    rows = sorted(rows, key=lambda m: (order.get(m["verdict"], 9), m["first_received_at"], m["item_id"]))[:5000]
    st.dataframe(
        [
            {
                "Message": m["message_id"] or m["item_id"],
                "Keys": ", ".join(m["business_keys"] or []),
                "Verdict": [m["verdict"]],
                "Done": interval(m["effects_at_least"] or 0, m["effects_at_most"]),
                "Certainty": m["certainty"],
                "Why it came again": m["trigger_sentence"],
                "Why nothing stopped it": m["guard_sentence"],
                "How often done": m["effect_sentence"],
            }
            for m in rows
        ],
        hide_index=True,
        key="verdicts",
        column_config={
            "Verdict": st.column_config.MultiselectColumn(
                options=list(VERDICTS), color=[colour for colour, _ in VERDICTS.values()]
            ),
            "Done": st.column_config.TextColumn(help="Times the work was done: for sure, to at most."),
        },
        alt="Verdict per message",
    )
    if total > len(rows):
        st.caption(f"The first {len(rows):,} of {total:,} messages; the CSV has all.")


def _rival(text: str) -> str:
    code, colon, why = text.partition(": ")
    if not colon or " " in code:
        return plain(text)
    return f"**{plain(cause(code))}**: {plain(why)}"


def settings_then(case: Incident, page: Page) -> None:
    """Show the settings that were in force, each with what AWS advises."""
    st.subheader("Settings at that time", anchor="settings")
    st.dataframe(
        settings.then(case, page),
        hide_index=True,
        key="settings",
        column_config={
            "Setting": st.column_config.TextColumn(width=220),
            "Value": st.column_config.TextColumn(width=160),
        },
        alt="Settings in force during the incident",
    )


def limits(case: Incident, page: Page) -> None:
    """Say what the data cannot show, and what evidence would decide it."""
    st.subheader("What the data cannot show", anchor="limits")
    lines = [*case["unread_sources"], *chain.limits(case, page)]
    open_questions = page.board.records(
        REDELIVERIES,
        ("queue_arn", "==", case["queue_arn"]),
        ("later_received_at", ">=", case["started_at"]),
        columns=("item_id", "would_decide"),
    )
    lines += sorted(
        {f"Undecided; this would decide it: {r['would_decide']}" for r in open_questions if r["would_decide"]}
    )
    if not lines:
        lines = ["Nothing that this verdict rests on is missing from the evidence."]
    st.markdown("\n".join(f"- {plain(line)}" for line in lines))


def link(case: Incident, page: Page) -> str:
    """Return the full address of this page with data version and zone, to be copied."""
    base = urlsplit(st.context.url or "http://localhost:8501/incident")
    keys = {"incident": case["incident_id"], "dv": page.data_version, "tz": page.clock.name}
    return f"{base.scheme}://{base.netloc}{base.path}?{urlencode(keys)}"


def summary(case: Incident, page: Page) -> str:
    """Return the six lines one pastes into a chat."""
    clock = page.clock
    zone = clock.label(case["started_at"])
    causes = ", ".join(f"{code} {n}" for code, n in code_counts(case["causes"])) or "none decided"
    return "\n".join(
        (
            f"{case['incident_id']}: {case['headline']}",
            f"Verdict: {verdict(case)} ({case['certainty']}), {affected(case)} redelivered",
            f"When: {clock.stamp(case['started_at'])} to {clock.stamp(case['ended_at'])} {zone}; "
            f"{state(case, page.board.generation.data_until_at)}",
            f"Why: {case['cause_sentence']}",
            f"Causes: {causes}; {count(delivered_again(case), 'message')} delivered again",
            f"Data version {page.data_version}",
        )
    )
