"""Every word for people in the reader's language: English is the key of a phrase, ``languages/<code>/*.toml`` hold the others.

Code says ``say("{n} of {total} runs", n=3, total=10)``; a test finds every phrase that a language lacks. What was written
down before anybody asked goes through ``sentence``: a ``forensics.sentence`` is said by its phrase, any other text where it is
a phrase. No text is known by its form.
Lines of logs, names and ids are never translated: they are values.
"""

import re
import tomllib
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from forensics.choices import LANGUAGES
from forensics.commands import in_lake
from forensics.sentence import NAMED, has_values, marked, parted, plain
from forensics.words import count_text, interval_text, offset_text, percent, span_text

_UNITS = {"ja": {"ms": "ミリ秒", "s": "秒", "min": "分", "h": "時間", "d": "日", "days": "日"}}
_MEASURE = re.compile(
    r"(?:[\d,.%<()+ -]|\b(?:ms|s|min|h|d|days|to|of|T)\b)*\d(?:[\d,.%<() ]|\b(?:ms|s|min|h|d|days|to|of)\b)*"
)
"""Numbers with their units, alone, from one to another, or one of another."""
_TOLD = ("headline", "sentence")
"""Places of a marked sentence in which a whole sentence of the findings stands."""


class Language:
    """Says English words in one language; English is the key of every phrase.

    Commands in what is said mean ``lake``, where one is named; else the one that they find by themselves.
    """

    def __init__(self, code: str = "en", lake: str | None = None) -> None:
        self.code = code if code in LANGUAGES else "en"
        self._phrases = phrases(self.code)
        self._lake = lake

    def __call__(self, text: str, /, **values: Any) -> str:
        """Return a phrase with its values filled in; whole numbers get separators. In English where the language lacks it.

        >>> Language()("The first {n} of {queue}.", n=1200, queue="orders")
        'The first 1,200 of orders.'
        """
        told = self._phrases.get(text, text)
        return self._here(told.format(**{name: _value(value) for name, value in values.items()}) if values else told)

    def maybe(self, text: str | None) -> str:
        """Return a phrase, or the text itself where it is none, as a name is."""
        return self._phrases.get(text or "", text or "")

    def count(self, count: int, one: str, many: str | None = None) -> str:
        """Say a count with its noun.

        >>> Language().count(1, "message"), Language("ja").count(12000, "message")
        ('1 message', 'メッセージ 12,000 件')
        """
        phrase = f"{{count}} {many or one + 's'}"
        return count_text(count, one, many) if self.code == "en" else self(phrase, count=count)

    def count_place(self, place: str, many: str) -> str:
        """Say a noun with a place where something else writes its count later, as a chart does."""
        return self(f"{{count}} {many}", count=place)

    def date(self, at: datetime) -> str:
        """Write a day: ``20 Nov 2026`` in English, with numbers alone elsewhere."""
        return f"{at:%d %b %Y}" if self.code == "en" else f"{at:%Y-%m-%d}"

    def dates(self, first: datetime, last: datetime) -> str:
        """Write the days from one to another, the year once where they share it.

        >>> Language().dates(datetime(2026, 11, 20, 23), datetime(2026, 11, 21, 1))
        '20 Nov – 21 Nov 2026'
        """
        if first.date() == last.date():
            return self.date(first)
        if first.year != last.year:
            return f"{self.date(first)} – {self.date(last)}"
        return f"{first:%d %b} – {self.date(last)}" if self.code == "en" else f"{self.date(first)} – {last:%m-%d}"

    def span(self, span_ms: float | None) -> str:
        """Say a span with this language's units."""
        return self.units(span_text(span_ms))

    def offset(self, offset_ms: float | None) -> str:
        """Say the distance from the incident's start: ``T+9 min 30 s``."""
        return self.units(offset_text(offset_ms))

    def share(self, share: float | None) -> str:
        """Say a share of one as per cent."""
        return self.maybe(percent(share))

    def interval(self, at_least: int, at_most: int | None) -> str:
        """Say how often: ``7``, ``7 to 8`` or ``7 or more``."""
        return self.sentence(interval_text(at_least, at_most))

    def units(self, text: str) -> str:
        """Put this language's units behind numbers: ``10 min`` becomes ``10 分``."""
        units = _UNITS.get(self.code)
        if not units:
            return text
        return re.sub(r"(?<=\d )(ms|min|s|h|days|d)\b", lambda m: units[m[1]], self.maybe(text))

    def place(self, text: str | None) -> str:
        """Say where something is told: our own words; what names a log, a stream or a run is the same in every language."""
        return self.sentence(text) if has_values(marked(text or "")) else self.maybe(text)

    def sentence(self, text: str | None) -> str:
        """Say a sentence of the findings with its numbers; as it is, in English, where this language does not know it."""
        if not text:
            return ""
        if self.code == "en":
            return self._here(plain(text))
        form = marked(text)
        return self._here(_by_phrase(self.code, form) if has_values(form) else _sentence(self.code, form))

    def _here(self, text: str) -> str:
        return in_lake(text, self._lake) if self._lake and "doubletake " in text else text


def of_call(text: str) -> tuple[str, str]:
    """Part what a call to AWS answered: its names, which no language changes, and the message; no names for any other text.

    >>> of_call("GetQueueUrl: AccessDenied: not allowed"), of_call("a file is damaged")
    (('GetQueueUrl: AccessDenied: ', 'not allowed'), ('', 'a file is damaged'))
    """
    found = _CALL.fullmatch(text)
    return (found[1], found[2]) if found else ("", text)


_CALL = re.compile(r"((?:[A-Z][a-z]+(?:[A-Z][A-Za-z]*)+: )(?:(?:[A-Z][\w.]*|HTTP \d+)(?:: |$))?)(.*)", re.DOTALL)


def _value(value: Any) -> Any:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value


@lru_cache(maxsize=20_000)
def _by_phrase(code: str, form: str) -> str:
    """Say a marked sentence by its phrase; one without a phrase is several, which are said one by one."""
    known = phrases(code)
    phrase, values = parted(form)
    if all(not name for name, _ in values):
        joint = phrase.partition("{}")[2].partition("{}")[0]
        said = [_by_phrase(code, part) if has_values(part) else _sentence(code, part) for _, part in values]
        return _joined(said, known.get(joint, joint))
    told = known.get(phrase) or known.get(phrase[:1].lower() + phrase[1:])
    if told is None and (whole := known.get(f"{phrase}.")):
        told = whole.removesuffix("。")
    if told is None:
        label, colon, why = form.partition(": ")
        if colon and label.isidentifier():
            return f"{_sentence(code, label)}：{_by_phrase(code, why)}"
        return _sentence(code, plain(form))
    return told.format(**{name: _in_place(code, name, part) for name, part in values})


def _in_place(code: str, name: str, part: str) -> str:
    """Say what stands in a place of this name."""
    if name in NAMED and not has_values(part):
        return part
    return _sentence(code, part) if name in _TOLD and not has_values(part) else _of_value(code, part)


def _of_value(code: str, part: str) -> str:
    """Say what stands in a place: a sentence, one of our words, a measure; a name is the same in every language."""
    if has_values(part):
        return _by_phrase(code, part)
    if (said := phrases(code).get(part)) is not None:
        return said
    return _measured(code, part) if _MEASURE.fullmatch(part) else part


def _measured(code: str, text: str) -> str:
    return Language(code).units(text).replace(" to ", "〜").replace(" of ", " / ")


@lru_cache(maxsize=20_000)
def _sentence(code: str, text: str) -> str:
    if text in (known := phrases(code)):
        return known[text]
    if not re.search("[A-Za-z(]", text):
        return text
    call, message = of_call(text)
    if call:
        return call + (known.get(message, message) if " " in message else message)
    if _MEASURE.fullmatch(text):
        return _measured(code, text)
    return text


def _joined(said: list[str], joint: str) -> str:
    """Join parts, with a blank only beside what stayed English."""
    if joint != " ":
        return {"; ": "。", ": ": "："}.get(joint, joint).join(said)
    told = ""
    for part in said:
        told += part if not told or told.endswith(("。", "）")) else f" {part}"
    return told


@cache
def phrases(code: str) -> dict[str, str]:
    """Return a language's phrases by their English ones; empty for English."""
    if code == "en":
        return {}
    folder = files("forensics").joinpath("languages", code)
    read = [tomllib.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.iterdir(), key=lambda f: f.name)]
    return {english: told for found in read for section in found.values() for english, told in section.items()}


ENGLISH = Language()
"""What is said where nobody asks for another language."""
