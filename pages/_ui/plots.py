"""How every chart is shown: its words in the theme's strong text colour, and around what was chosen an outline of it."""

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.elements.lib.streamlit_plotly_theme import GRAY_90

from forensics.charts.palette import CHOSEN_OPACITY
from pages._ui.device import is_phone
from pages._ui.said import language

_STRONG = ("fill: rgb(38, 39, 48)", "fill: rgb(250, 250, 250)")
"""What the browser puts in for the strong text colour, in a light theme and a dark one."""
_TOOLBAR_PX = 28
_ENTRY_PX = 29
"""Height of an entry of a legend; on a phone each has a row of its own."""

_NOT_ON_A_PHONE = ("toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d")
"""Buttons that fingers do without: on a phone all of them would cover the chart's title. Reset and full screen stay."""


def legible(figure: Any) -> Any:
    """Give a figure's words the theme's strong text colour, and return it.

    Streamlit's own choice for ticks is a grey of 3.7:1. The name stands for a colour that the browser puts in once;
    ``show`` lets the words change with the theme after that.
    """
    ink = {"color": GRAY_90}
    axes = [name for name in figure.layout if name.startswith(("xaxis", "yaxis"))]
    words = {name: {"tickfont": ink, "title": {"font": ink}} for name in axes}
    figure.update_layout(
        {"font": ink, "legend": {"font": ink}, **words}
    )  # at once: each change lays everything out anew
    figure.for_each_annotation(lambda note: note.update(font_color=note.font.color or GRAY_90))
    return figure


_WORDS = ", ".join(f'.js-plotly-plot .main-svg > g:not(.hoverlayer) text[style*="{rgb}"]' for rgb in _STRONG)
_CHOSEN = f'.js-plotly-plot .cartesianlayer path[style*="opacity: {CHOSEN_OPACITY}"]'
_BARS = ".js-plotly-plot .barlayer .point > path"
"""Plotly cuts each bar to the chart's frame, and their layer too: for the browser thousands of cuts more in every picture it paints."""
_EMPTY_PANEL = '[data-testid="stBottom"]:has([data-testid="stEmpty"])'
"""The panel at the window's foot before an event is chosen: it would hide a strip of the chart."""
_IN_THE_THEME = (
    f"<style>{_WORDS} {{ fill: currentColor !important; }} "
    f"{_CHOSEN} {{ stroke: currentColor !important; stroke-width: 3px !important; }} "
    f"{_BARS} {{ clip-path: none !important; }} "
    f"{_EMPTY_PANEL} {{ display: none; }}</style>"
)


def show(figure: Any, **how: Any) -> Any:
    """Show a figure as ``st.plotly_chart`` does, in words that follow a change of theme, as a system makes it in the evening.

    Of what is drawn Streamlit changes nothing then. A label that one points at has its own ground, and keeps its colour.
    """
    st.html(_IN_THE_THEME)
    if is_phone():
        config = how.get("config") or {}
        left_out = [*config.get("modeBarButtonsToRemove", ()), *_NOT_ON_A_PHONE]
        how["config"] = config | {"modeBarButtonsToRemove": left_out}
    return st.plotly_chart(figure, **how)


def fitted(figure: Any) -> Any:
    """Make a chart with its legend below as tall on a phone as that takes, and return it: else the legend scrolls in a box.

    The toolbar, which is always there on a phone, gets a row of its own above the name of the time axis.
    """
    if is_phone():
        entries = sum(trace.showlegend is not False and bool(trace.name) for trace in figure.data)
        more = max(_ENTRY_PX * entries + 8 - figure.layout.legend.maxheight, 0)
        figure.update_layout(
            height=figure.layout.height + more + _TOOLBAR_PX,
            margin_t=figure.layout.margin.t + _TOOLBAR_PX,
            margin_b=figure.layout.margin.b + more,
            legend_maxheight=figure.layout.legend.maxheight + more,
        )
    return figure


def finished(figure: Any) -> Any:
    """Let a figure that changes no more put together what is sent of it once, and return it.

    Streamlit asks for that in every run of a page, to say the chart again: of thousands of bars a copy takes 0.04 s.
    """
    whole = figure.to_dict()
    figure.to_dict = lambda: whole
    return figure


def kept(key: tuple[Any, ...], draw: Callable[[], Any]) -> Any:
    """Draw a figure once: a click reruns its page, and a figure takes 0.1 s to build, one of thousands of bars a second.

    ``key`` says all that it depends on, the zone of its times included, but the reader's language and kind of screen.
    """
    return _kept((is_phone(), language().code, *key), draw)


@st.cache_resource(max_entries=32, show_spinner=False)
def _kept(key: tuple[Any, ...], _draw: Callable[[], Any]) -> Any:
    return _draw()
