"""Settings that the log lines themselves propose: one tick each, and the text for doubletake.toml."""

import streamlit as st

from forensics.sentence import capitalized, said
from forensics.settings import Settings
from forensics.suggestions import Proposal, Suggestions, rivals_in, settings_text, suggest
from forensics.tables.evidence import CONSUMERS
from forensics.tables.findings import DELIVERIES
from pages._ui.board import Board
from pages._ui.said import busy, in_words, say, term
from pages._ui.shell import Page
from pages._ui.words import plain


def suggestions(page: Page) -> None:
    """Let the reader choose a queue, look through its consumers' lines, and tick what to take over; nothing is written."""
    delivered = [row["queue"] for row in page.board.spans(DELIVERIES, "queue", "received_at")]
    consumed = [row["queue_name"] for row in page.board.records(CONSUMERS) if row["queue_name"]]
    queues = list(dict.fromkeys([*delivered, *sorted(consumed)]))
    if not queues:
        return
    st.subheader(say("Find the marks in the log"), anchor="marks")
    st.caption(
        say(
            "Which lines say that the work was done, that it began, or that a guard stopped a repeat, told by "
            "the lines alone."
        )
    )
    chosen, button = st.columns([3, 1], vertical_alignment="bottom")
    queue = chosen.selectbox(say("Queue"), queues, key="marks_of")
    if button.button(say("Look through its lines"), key="look_for_marks"):
        st.session_state["marks_asked"] = queue
    if st.session_state.get("marks_asked") != queue:
        return
    with busy("Looking through the lines"):
        found = _found(page.board.key, queue, page.settings.text, page.board, page.settings)
    for sentence in found.cannot_tell:
        st.caption(plain(say("Not told: {sentence}", sentence=in_words(sentence))))
    ticked = [p for place, p in enumerate(found.proposals) if _ticked(place, p)]
    if found.proposals:
        st.markdown(plain(say("All together: {decides}", decides=in_words(found.decides))))
    else:
        st.markdown(plain(in_words(found.decides)))
    if rivals := rivals_in(ticked):
        st.warning(
            plain(
                say(
                    "{name} has {n} lines that may be its {kind}, and one can be written",
                    **{**rivals, "kind": term(rivals["kind"])},
                )
            )
        )
    elif ticked:
        st.caption(say("doubletake.toml then reads as below; copy it, then run doubletake correlate."))
        st.code(settings_text(page.settings.text, ticked), language=None, wrap_lines=True)


def _ticked(place: int, proposal: Proposal) -> bool:
    with st.container(border=True):
        is_taken = st.checkbox(
            plain(
                say(
                    "{kind} of {name}: fits {fit}",
                    kind=term(proposal.kind),
                    name=proposal.name,
                    fit=in_words(proposal.fit),
                )
            ),
            value=not proposal.is_rival,
            key=f"mark_{place}",
        )
        st.code(str(proposal.value).lower() if proposal.value is True else proposal.value, language=None)
        st.caption(plain(in_words(said("{clause}.", clause=capitalized(proposal.sentence)))))
        if proposal.examples or proposal.counter_examples:
            with st.expander(say("Lines")):
                for title, lines in (
                    (say("For it"), proposal.examples),
                    (say("Against it"), proposal.counter_examples),
                ):
                    if lines:
                        st.caption(title)
                        st.code("\n".join(lines), language=None, wrap_lines=True)
    return bool(is_taken)


@st.cache_data(max_entries=8, show_spinner=False)
def _found(key: tuple[str, str], queue: str, text: str, _board: Board, _settings: Settings) -> Suggestions:
    return suggest(_board.findings, queue, _settings)
