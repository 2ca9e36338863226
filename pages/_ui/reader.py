"""What a reader chooses once for all pages: the zone of times, and the language.

Kept in the session, so that neither another page nor the way back takes it away; a link that names a choice decides anew.
"""

from collections.abc import Callable
from zoneinfo import ZoneInfo

import streamlit as st

from forensics.clock import zone_of

BROWSER = "Browser"
KEYS = ("tz", "lang")
"""Their keys, of the switch and of the link."""


def follow_link(key: str, meaning: Callable[[str], str | None]) -> str | None:
    """Take the choice that the link names, once; return what the link says where that means nothing."""
    asked = st.query_params.get(key)
    if not asked:
        return None
    meant = meaning(asked)
    if meant and asked != st.session_state.get(f"{key}_of_link"):
        st.session_state[f"{key}_of_link"] = asked
        st.session_state[f"{key}_of_reader"] = meant
    return None if meant else asked


def chosen(key: str) -> str | None:
    """Return what the reader chose by a link or by the switch; None where that was nothing."""
    found: str | None = st.session_state.get(f"{key}_of_reader")
    return found


def zone() -> ZoneInfo | None:
    """Return the zone in which the reader sees times; None for UTC."""
    named = chosen("tz")
    found = zone_of(st.context.timezone if named == BROWSER else named)
    return None if str(found) == "UTC" else found


def keep(key: str, default: str) -> None:
    """Keep what the switch ``key`` says, and write it into the link; to be called as the switch changes."""
    value = st.session_state[key]
    st.session_state[f"{key}_of_reader"] = st.session_state[f"{key}_of_link"] = value
    if value == default:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = value


def carried() -> dict[str, str]:
    """Return the reader's choices as keys of a link to another page."""
    return {key: value for key in KEYS if (value := chosen(key))}
