"""One meaning per colour across the product. Shape or pattern always says the same thing again."""

HANDLER = "#0072B2"
"""A handler running, and the first time the work was done."""
ALARM = "#D55E00"
"""The visibility timeout ran out, a timeout, an error, and work done again."""
DELETED = "#009E73"
"""Deleted, and the window that a delete ended."""
REFUSED = "#9B5DE5"
"""A delete that SQS refused: the receipt handle had expired."""
QUIET = "#6B6B6B"
"""Sent, moved to a dead-letter queue, and receives that no log shows."""

MEANINGS = {"handler": HANDLER, "alarm": ALARM, "deleted": DELETED, "refused": REFUSED, "quiet": QUIET}
BACKGROUNDS = {"light": "#FFFFFF", "dark": "#0E1117"}
"""Page backgrounds of the two themes; ``.streamlit/config.toml`` says the same."""

OUTLINE = "#FFFFFF"
"""Around markers, so that they stand off the bar below."""

CHOSEN_OPACITY = 0.999
"""Of what was chosen in a large chart: no eye tells it from 1, but a style of the page does, and puts a strong outline around it."""


def veil(colour: str, alpha: float) -> str:
    """Return ``colour`` (#RRGGBB) as an rgba() of that opacity, for the fill of a window.

    >>> veil("#009E73", 0.18)
    'rgba(0,158,115,0.18)'
    """
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
