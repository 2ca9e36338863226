"""What an incident says of itself in the reader's language, made of its codes and numbers."""

from collections.abc import Mapping
from typing import Any

from forensics.language import Language
from forensics.sentence import marked
from forensics.terms import RIVAL_NAMES
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


def rival(say: Language, text: str) -> tuple[str, str]:
    """Say a cause that was ruled out or not, written ``code: why``: its name, empty where there is none, and the reason.

    >>> rival(Language("en"), "broker_copy: a FIFO queue does not deliver copies")
    ('Copy made by SQS', 'a FIFO queue does not deliver copies')
    >>> rival(Language("en"), "redelivery: every receive count is 1")[0]
    'Redelivery by SQS'
    """
    code, colon, why = marked(text).partition(": ")
    if not colon or " " in code:
        return "", say.sentence(text)
    return say.maybe(RIVAL_NAMES.get(code, code.replace("_", " "))), say.sentence(why)
