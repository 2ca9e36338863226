"""The Incident page's answers to "what would have prevented it", "what else went wrong" and "may I redrive"."""

from typing import Any

import streamlit as st

from forensics.report.prevention import ASIDE_WORDS, CHANGE_WORDS, FINDING_WORDS, REDRIVE_WORDS, dead_of, share_text
from forensics.sentence import said
from forensics.tables.findings import QUEUE_FINDINGS
from pages._ui.cards import ROW_OF_TWO_LINES, two_line_height
from pages._ui.case import case_of
from pages._ui.device import is_phone
from pages._ui.said import count_text, in_words, interval, say, span_text, term
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import Colour, plain

MOST_ROWS = 2000
FEW_ROWS = 10
"""Findings told as sentences; more of them make a table."""
FEW_KEYS = 3
REDRIVES: dict[str, Colour] = {"repeats": "red", "may_repeat": "orange", "safe": "green"}

Row = dict[str, Any]


def prevention(incident: Row, page: Page) -> None:
    """Show which share of the repeats each change would have prevented, and why."""
    rows = case_of(incident["incident_id"], page).counterfactuals
    if not rows:
        return
    st.subheader(say("What would have prevented it"), anchor="prevention")
    told = [(term(CHANGE_WORDS[r["change"]]), in_words(share_text(r)), plain(in_words(r["reason"]))) for r in rows]
    if is_phone():  # a table would break each word into lines of three letters
        st.caption(say("Change, what it prevents of the repeats of affected messages, and why."))
        lines = [f"- **{_capital(words)}**: {share}  \n  {why}" for words, share, why in told]
    else:
        lines = [say("| Change | Prevents, of the repeats of affected messages | Why |"), "|---|---|---|"]
        lines += [f"| {_capital(words)} | {share} | {why} |" for words, share, why in told]
    st.markdown("\n".join(lines))
    if "judged" in incident:
        st.caption(in_words(ASIDE_WORDS))


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def on_the_queue(incident: Row, page: Page) -> None:
    """Show what went wrong with the queue and its groups in the incident's time."""
    rows = [r for r in case_of(incident["incident_id"], page).queue_findings if r["code"] != "dead_lettered"]
    if not rows:
        return
    st.subheader(say("On the queue"), anchor="queue-findings")
    if len(rows) > FEW_ROWS:
        findings_table(rows, page)
        return
    lines = []
    time, _ = page.clock.fitting(r["from_at"] for r in rows)
    for r in rows:
        who = ", ".join(r["business_keys"][:FEW_KEYS]) if r["business_keys"] else r["message_id"] or r["item_id"]
        more = len(r["business_keys"] or []) - FEW_KEYS
        decide = (
            say(" To decide: {would_decide}.", would_decide=in_words(r["would_decide"])) if r["would_decide"] else ""
        )
        lines.append(
            f"- `{time(r['from_at'])}` **{plain_words(r)}** · {plain(in_words(_sentence(r)))}{plain(decide)} "
            f"{plain(who)}{say(' and {n} more', n=more) if more > 0 else ''}"
        )
    st.markdown("\n".join(lines))


def dead_letters(incident: Row, page: Page) -> None:
    """Show the dead-lettered messages, worst to redrive first, and say what redriving does."""
    rows = dead_of(case_of(incident["incident_id"], page).queue_findings)
    if not rows:
        return
    st.subheader(say("Dead-lettered messages"), anchor="dead-letters")
    again = sum(r["redrive"] == "repeats" for r in rows)
    maybe = sum(r["redrive"] == "may_repeat" for r in rows)
    if again or maybe:
        st.warning(
            say(
                "**Do not redrive all of them.** Of {message}, redriving {what_again}.",
                message=count_text(len(rows), "message"),
                what_again=_what_again(again, maybe),
            ),
            icon=":material/replay:",
        )
    time, width = page.clock.fitting(r["from_at"] for r in rows[:MOST_ROWS])
    data_table(
        [
            {
                "Redriving": [REDRIVE_WORDS[r["redrive"]]],
                "Times done": interval(r["effects_at_least"], r["effects_at_most"]),
                "Keys": ", ".join(r["business_keys"] or []),
                "Message": r["message_id"] or r["item_id"],
                "Moved": time(r["from_at"]),
                "What redriving does": r["redrive_sentence"],
                "How it was moved": r["sentence"],
            }
            for r in rows[:MOST_ROWS]
        ],
        told=("What redriving does", "How it was moved"),
        hide_index=True,
        key="dead_letters",
        row_height=ROW_OF_TWO_LINES,
        height=two_line_height(min(len(rows), MOST_ROWS)),
        column_config={
            "Redriving": st.column_config.MultiselectColumn(
                options=list(REDRIVE_WORDS.values()), color=[REDRIVES[code] for code in REDRIVE_WORDS], width=126
            ),
            "Times done": st.column_config.TextColumn(
                width=84, help=say("Times the work was done: for sure, to at most.")
            ),
            "Moved": st.column_config.TextColumn(
                width=width, help=say("Not before; times in {zone}.", zone=page.clock.label())
            ),
            "Keys": st.column_config.TextColumn(width=108),
            "Message": st.column_config.TextColumn(width=138),
            "What redriving does": st.column_config.TextColumn(width=374),
        },
        alt=say("Dead-lettered messages and what redriving them does"),
    )


def _what_again(again: int, maybe: int) -> str:
    """Say what redriving repeats for sure, and what maybe.

    >>> _what_again(3, 2), _what_again(0, 2)
    ('does the work of 3 again, and may do that of 2 again', 'may do the work of 2 again')
    """
    if not again:
        return say("may do the work of {maybe} again", maybe=maybe)
    return say("does the work of {again} again", again=again) + (
        say(", and may do that of {maybe} again", maybe=maybe) if maybe else ""
    )


def beside_incidents(page: Page) -> None:
    """Show what went wrong with queues and groups outside every incident."""
    rows = [r for r in page.board.records(QUEUE_FINDINGS) if r["incident_id"] is None]
    if not rows:
        return
    st.subheader(say("Queues and message groups"), anchor="queue-findings")
    st.markdown(say("No work was done twice here, and yet something went wrong."))
    findings_table(sorted(rows, key=lambda r: (r["from_at"], r["queue"], r["item_id"]), reverse=True), page, queue=True)


def findings_table(rows: list[Row], page: Page, queue: bool = False) -> None:
    """Show findings about queues and groups, one row each."""
    data_table(
        [
            {
                "Queue": r["queue"],
                "What": plain_words(r),
                "From": page.clock.stamp(r["from_at"]),
                "How long": span_text(r["span_ms"]) if r["span_ms"] is not None else "–",
                "In words": _sentence_with_doubt(r),
                "Keys": ", ".join(r["business_keys"] or []),
                "Message": r["message_id"] or r["item_id"],
            }
            for r in rows[:MOST_ROWS]
        ],
        hide_index=True,
        key="queue_findings",
        column_order=[*(["Queue"] if queue else []), "What", "From", "How long", "In words", "Keys", "Message"],
        column_config={
            "What": st.column_config.TextColumn(width=200),
            "From": st.column_config.TextColumn(width=170, help=say("Times in {zone}.", zone=page.clock.label())),
            "How long": st.column_config.TextColumn(width=100),
            "In words": st.column_config.TextColumn(width=520),
        },
        alt=say("What went wrong with queues and message groups"),
    )
    if len(rows) > MOST_ROWS:
        st.caption(say("The first {shown} of {n}; doubletake findings lists all.", shown=MOST_ROWS, n=len(rows)))


def _sentence(row: Row) -> str:
    return said("{clause}.", clause=row["sentence"])


def _sentence_with_doubt(row: Row) -> str:
    if not row["would_decide"]:
        return in_words(row["sentence"])
    return in_words(_sentence(row)) + say(" To decide: {would_decide}.", would_decide=in_words(row["would_decide"]))


def plain_words(row: Row) -> str:
    """Say what a finding is; a question mark where the evidence does not decide."""
    words = term(FINDING_WORDS[row["code"]])
    return plain(words[:1].upper() + words[1:] + ("?" if row["stance"] == "undecidable" else ""))
