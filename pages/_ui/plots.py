"""How every chart is shown: its words in the theme's strong text colour."""

from typing import Any

from streamlit.elements.lib.streamlit_plotly_theme import GRAY_90

from pages._ui.device import is_phone

_ENTRY_PX = 20
"""Height of an entry of a legend; on a phone each has a row of its own."""


def legible(figure: Any) -> Any:
    """Give a figure's words the theme's strong text colour, and return it.

    Streamlit's own choice for ticks is a grey of 3.7:1. The name stands for a colour that the browser puts in, so the
    figure follows a change of theme without being drawn again.
    """
    figure.update_layout(font_color=GRAY_90, legend_font_color=GRAY_90)
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(tickfont_color=GRAY_90, title_font_color=GRAY_90)
    figure.for_each_annotation(lambda note: note.update(font_color=note.font.color or GRAY_90))
    return figure


def fitted(figure: Any) -> Any:
    """Make a chart with its legend below as tall on a phone as that takes, and return it: else the legend scrolls in a box."""
    if is_phone():
        entries = sum(trace.showlegend is not False and bool(trace.name) for trace in figure.data)
        more = max(_ENTRY_PX * entries + 8 - figure.layout.legend.maxheight, 0)
        figure.update_layout(
            height=figure.layout.height + more,
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
