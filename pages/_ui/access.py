"""The gate in front of every page: who is looking, and may they?"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn

import streamlit as st

from forensics.access import LOOPBACK, TRUSTED_PROXY, Access
from pages._ui.said import in_words, say
from pages._ui.words import plain


def gate(access: Access) -> None:
    """Stop the page unless whoever looks may look; a logged-out visitor sees a sign-in button and nothing else."""
    if access.mode == "none":
        if st.get_option("server.address") not in LOOPBACK and not os.environ.get(TRUSTED_PROXY):
            _closed(say("This dashboard listens beyond this machine, and no login is set: nothing is shown."))
        return
    who = claims()
    if not who.get("is_logged_in"):
        _ask_to_sign_in()
    if refused := access.refusal(who):
        _closed(refused)
    if access.is_over(who, datetime.now(UTC)):
        _ask_to_sign_in(say("The sign-in is older than {n} h.", n=access.session_hours))


def sign_out(access: Access) -> None:
    """Show who is signed in, and the way out."""
    if access.mode != "none":
        st.caption(plain(say("Signed in as {name}", name=signed_in_name())))
        st.button(say("Sign out"), key="sign_out", icon=":material/logout:", type="tertiary", on_click=st.logout)


def claims() -> Mapping[str, Any]:
    """Return what the identity provider said of the visitor; nothing where nobody signed in."""
    return dict(st.user.to_dict())


def signed_in_name() -> str | None:
    """Return the e-mail address of who is signed in; None where the dashboard has no login."""
    who = claims()
    return str(who["email"]) if who.get("is_logged_in") and who.get("email") else None


def _ask_to_sign_in(why: str | None = None) -> NoReturn:
    st.title("Doubletake", anchor=False)
    if why:
        st.info(plain(why), icon=":material/schedule:")
    if st.button(say("Sign in"), key="sign_in", icon=":material/login:"):
        st.login()
    st.stop()


def _closed(sentence: str) -> NoReturn:
    st.title("Doubletake", anchor=False)
    st.error(plain(in_words(sentence)), icon=":material/lock:")
    if claims().get("is_logged_in"):
        st.button(say("Sign out"), key="sign_out", icon=":material/logout:", on_click=st.logout)
    st.stop()
