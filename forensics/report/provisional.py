"""What late lines may still change, in a sentence: until when, and what makes it final."""

from collections.abc import Iterable, Mapping
from typing import Any

from forensics.sentence import counted, said
from forensics.words import clock_text

Row = Mapping[str, Any]


def provisional_sentence(incident: Row, messages: Iterable[Row] = ()) -> str | None:
    """Say that verdicts of an incident rest on lines that are missing, and when they will be final; None where they are.

    ``messages`` are the incident's, to say of how many works; times are UTC.
    """
    if not incident.get("is_provisional"):
        return None
    works = {m["work_id"] or m["item_id"] for m in messages if m.get("is_provisional")}
    what = said("the verdict on {works}", works=counted(len(works), "work")) if works else "the verdict"
    return said(
        "Provisional: {what} rests on lines that are missing, and late ones may still come. It is final once that time is read "
        "again after {at} UTC, or sealed.",
        what=what,
        at=clock_text(incident["final_at"]),
    )
