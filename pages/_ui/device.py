"""What the reader holds: a phone has no keys for shortcuts, and no room for a legend beside itself."""

import streamlit as st


def is_phone() -> bool:
    """Tell whether the browser says that it is a phone's."""
    headers = st.context.headers
    return headers.get("Sec-Ch-Ua-Mobile") == "?1" or "Mobi" in (headers.get("User-Agent") or "")


def shortcut(keys: str) -> str | None:
    """Return the keys of a button where there is a keyboard: a phone would only show what nobody can press."""
    return None if is_phone() else keys
