"""The evidence bundle of an incident, to hand on: made when it is asked for, with what is to be left out."""

from functools import partial
from hashlib import sha256
from typing import Any

import streamlit as st

from forensics.report.evidence_bundle import evidence_bundle
from forensics.report.pseudonyms import PRESETS, Pseudonyms
from forensics.report.render import file_name
from pages._ui.case import case_of
from pages._ui.said import say, term
from pages._ui.shell import Page


def evidence(incident: dict[str, Any], page: Page) -> None:
    """Offer the bundle from which anybody can judge the incident again."""
    incident_id = incident["incident_id"]
    st.subheader(say("Evidence that can be judged again"), anchor="evidence-bundle")
    st.caption(
        say(
            "The report with the raw rows it rests on, the settings, versions, and how to fetch each line from "
            "AWS. doubletake import and doubletake correlate then give the same report. It holds log lines: "
            "choose what to leave out."
        )
    )
    left_out = st.multiselect(
        say("Leave out"),
        sorted(PRESETS),
        format_func=term,
        placeholder=say("Choose"),
        key="redact",
        help=say("Each value gets a name of its own, so that what joins by it joins still."),
    )
    if not st.button(say("Make the bundle"), key="make_bundle"):
        return
    with st.spinner(say("Packing the evidence")):
        data = evidence_bundle(page.board.findings, case_of(incident_id, page), redact=Pseudonyms(left_out))
    st.download_button(
        say("Evidence bundle ({n} MB)", n=f"{len(data) / 1000000.0:,.1f}"),
        partial(bytes, data),
        file_name=file_name(case_of(incident_id, page), "zip").replace(".zip", "-evidence.zip"),
        mime="application/zip",
        key="evidence_bundle",
        icon=":material/download:",
        on_click="ignore",
    )
    st.code(f"SHA-256 {sha256(data).hexdigest()}", language=None)
