"""What a chart says when a bar or mark is pointed at, as a browser puts it together."""

import re
from typing import Any

PLACE = re.compile(r"%\{customdata\[(\d+)\]\}")


def pointed_at(trace: Any, n: int = 0) -> str:
    """Return the hover text of a trace's nth point; the trace is Plotly's, or its JSON."""
    template = trace["hovertemplate"]
    template = template if isinstance(template, str) else template[n]
    return PLACE.sub(lambda place: str(trace["customdata"][n][int(place[1])]), template).removesuffix("<extra></extra>")
