"""Data."""

import streamlit as st

from pages._ui.shell import shell

page = shell("Data", "This page shows what was read.")
st.title("Data")
