"""The small timeline of messages that no incident drew, as a frame."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from forensics.sentence import marked
from forensics.tables.findings import TIMELINE

COLUMNS = tuple(name for name in TIMELINE.given_names if name != "incident_id")


def timeline_of(drawn: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows of a timeline (``forensics.incidents.drawn``) as ``timeline_figure`` draws them."""
    frame = pd.DataFrame([{**row, "label": marked(row["label"])} for row in drawn], columns=list(COLUMNS))
    for column in ("at", "until_at"):
        frame[column] = pd.to_datetime(frame[column], utc=True)
    return frame
