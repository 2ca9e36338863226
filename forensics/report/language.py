"""The report's words in the reader's language. Lines of logs stay as they are, and so do reasons why a rival cause is out."""

import re
import tomllib
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from forensics.people import is_settled
from forensics.report.records import verdict_counts
from forensics.verdict.why import why_of, why_sentence
from forensics.words import clock_text, ms_between, span_text

Row = Mapping[str, Any]
_UNITS = {"ja": {"ms": "ミリ秒", "s": "秒", "min": "分", "h": "時間", "d": "日"}}
_MEASURE = re.compile(r"(?:[\d,.%<() ]|\b(?:ms|s|min|h|d|to|of)\b)+")
"""Numbers with their units, alone, from one to another, or one of another."""


class Language:
    """Says English words of the report in one language; English is the key of every phrase."""

    def __init__(self, code: str) -> None:
        self.code = code
        self._phrases = phrases(code)

    def __call__(self, text: str, **values: Any) -> str:
        """Return a phrase with its values filled in; KeyError where the language lacks it."""
        said = text if self.code == "en" else self._phrases[text]
        return said.format(**values) if values else said

    def maybe(self, text: str | None) -> str:
        """Return a phrase, or the text itself where it comes from the evidence or has numbers in it."""
        return self._phrases.get(text or "", text or "")

    def span(self, span_ms: float | None) -> str:
        """Say a span with this language's units."""
        return self.units(span_text(span_ms))

    def units(self, text: str) -> str:
        """Put this language's units behind numbers: ``10 min`` becomes ``10 分``."""
        units = _UNITS.get(self.code)
        if not units:
            return text
        return re.sub(r"(?<=\d )(ms|min|s|h|d)\b", lambda m: units[m[1]], self.maybe(text))

    def sentence(self, text: str | None) -> str:
        """Say a sentence of the findings with its numbers; as it is, in English, where this language does not know it."""
        if not text or text in self._phrases:
            return self.maybe(text)
        for pattern, said in patterns(self.code):
            if found := pattern.fullmatch(text):
                return said.format(**{name: self.sentence(part) for name, part in found.groupdict().items()})
        if self.code == "en" or not _MEASURE.fullmatch(text):
            return text
        return self.units(text).replace(" to ", "〜").replace(" of ", " / ")

    def headline(self, incident: Row, english: str) -> str:
        """Say what happened; in English as the findings say it."""
        if self.code == "en":
            return english
        if is_settled(incident):
            return self.sentence(english)
        if incident["messages"] is None:
            most = incident["messages_at_most"]
            return (
                self("up to {most} messages may have been processed twice", most=f"{most:,}")
                if most
                else self("messages may repeat")
            )
        counts = verdict_counts(incident)
        sure, maybe = counts["confirmed"], counts["probable"] + counts["possible"]
        total = f"{sum(counts.values()):,}"
        which = "messages sent again" if "sent again" in english else "redelivered messages"
        if ", sent in " in english:
            which = "works sent in several messages"
        if sure and maybe:
            return self(
                f"{{low}} to {{high}} of {{total}} {which} were processed more than once",
                low=f"{sure:,}",
                high=f"{sure + maybe:,}",
                total=total,
            )
        if sure:
            return self(f"{{low}} of {{total}} {which} were processed more than once", low=f"{sure:,}", total=total)
        return self(
            f"{{high}} of {{total}} {which} may have been processed more than once", high=f"{maybe:,}", total=total
        )

    def cause(self, incident: Row) -> str:
        """Say why; in English as the findings say it."""
        if self.code == "en":
            return incident["cause_sentence"] or "No cause was found for these redeliveries."
        if not incident.get("trigger"):
            return self.sentence(incident["cause_sentence"] or "No cause was found for these redeliveries.")
        if incident["messages"] is None:
            return self.sentence(incident["cause_sentence"])
        told = why_of(incident["queue"], incident["functions"] or (), incident["trigger"], incident["why"] or ())
        return why_sentence(told, self, self.span)

    def state(self, incident: Row, data_until_at: datetime | None, english: str) -> str:
        """Say how long the queue was quiet at the end of the evidence."""
        quiet_ms = ms_between(incident["ended_at"], data_until_at)
        if self.code == "en" or quiet_ms is None or quiet_ms <= 0:
            return self.maybe(english)
        return self(
            "quiet for {span} until the evidence ends at {at} UTC",
            span=self.span(quiet_ms),
            at=clock_text(data_until_at),
        )


@cache
def patterns(code: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return what recognises each English sentence of the findings, and the sentence to say instead."""
    return tuple((_pattern(english), said) for english, said in _sections(code).get("findings", {}).items())


def _pattern(english: str) -> re.Pattern[str]:
    """Turn a sentence with places into a pattern; ``{count}`` takes a number alone, every other place any text."""
    numbers = re.escape(english).replace(r"\{count\}", r"(?P<count>[\d,]+)")
    places = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.*?)", numbers)
    return re.compile(places.replace(re.escape("(s)"), "s?"))


@cache
def phrases(code: str) -> dict[str, str]:
    """Return a language's phrases by their English ones; empty for English."""
    return {english: said for section in _sections(code).values() for english, said in section.items()}


@cache
def _sections(code: str) -> dict[str, dict[str, str]]:
    if code == "en":
        return {}
    return tomllib.loads(files("forensics.report").joinpath("languages", f"{code}.toml").read_text(encoding="utf-8"))
