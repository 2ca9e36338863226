"""What an incident says of itself in the reader's language, made of its codes and numbers."""

from collections.abc import Mapping
from typing import Any

from forensics.language import Language
from forensics.verdict.why import why_of, why_sentence

Row = Mapping[str, Any]
NO_CAUSE = "No cause was found for these redeliveries."


def cause(say: Language, incident: Row) -> str:
    """Say why; in English as the findings say it."""
    english = incident["cause_sentence"] or NO_CAUSE
    if say.code == "en" or not incident.get("trigger") or incident["messages"] is None:
        return say.sentence(english)
    told = why_of(incident["queue"], incident["functions"] or (), incident["trigger"], incident["why"] or ())
    return why_sentence(told, say, say.span).replace("。 ", "。")
