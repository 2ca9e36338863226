"""Find a message."""

import streamlit as st

from pages._ui.shell import shell

page = shell("Find a message", "This page finds a message.")
st.title("Find a message")
