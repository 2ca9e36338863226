"""Who is looking: the gate in front of every page."""

import streamlit as st


def signed_in_name() -> str | None:
    """Return the e-mail address of who is signed in; None where the dashboard has no login."""
    return str(st.user.get("email")) if st.user.get("is_logged_in") and st.user.get("email") else None
