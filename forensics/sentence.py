"""A sentence of the findings as its phrase and values, so that any language can say it; as text it is English.

Findings keep the sentence beside its marked form, in which every value is set between signs that no text has, with its
name: the phrase is the code, and what stands between the signs its values. Nobody has to recognise a sentence by its form.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

_OPEN, _NAMED, _CLOSE = "\x02", "\x1f", "\x03"
_SIGNS = re.compile(f"{_OPEN}[a-z_]*{_NAMED}|{_CLOSE}")
_LAST_STOP = re.compile(rf"\.(?={_CLOSE}*\Z)")
_KEPT = 300
"""Sentences that are kept: what is said of one run is said of each message of its batch, under ten rules. Few, as ``ANSWERS_KEPT``."""
_PLACE = re.compile(r"\{([a-z_]+)\}")
NAMED = (
    "command",
    "option",
    "table",
    "operation",
    "code",
    "name",
    "column",
    "queue",
    "who",
    "group",
    "dlq",
    "sender",
    "earlier",
)
"""Places of a sentence in which a name stands, which is none of our words though it may read like one."""
_FIRST = re.compile(f"(?:{_OPEN}(?P<place>[a-z_]*){_NAMED})*(?P<word>[^\\s{_OPEN}{_CLOSE}]*)(?P<end>{_CLOSE}?)")
"""The first word of a marked sentence, with the innermost place that begins before it."""
_OF_CODE = re.compile(r"[\d_/.@$`'\"]")
"""What no word of a sentence has, and ids, paths, code and what is quoted have."""
_STRIPPED = str.maketrans("", "", _OPEN + _NAMED + _CLOSE)


class Sentence(str):
    """English for people, with ``marked``: the same with its values marked, and ``english``: itself as a plain text."""

    __slots__ = ("english", "marked")
    english: str
    marked: str

    def __new__(cls, text: str, form: str) -> "Sentence":
        """Keep both forms."""
        made = str.__new__(cls, text)
        made.english, made.marked = text, form
        return made

    def __eq__(self, other: object) -> bool:
        """Tell sentences apart by their values too; any other text by what it says."""
        is_same = str.__eq__(self, other)
        if is_same is NotImplemented:  # which is true where a truth is asked for
            return is_same
        return is_same and (other.__class__ is not Sentence or self.marked == other.marked)

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[type["Sentence"], tuple[str, str]]:
        """Return what a copy is made of."""
        return Sentence, (self.english, self.marked)


@lru_cache(maxsize=_KEPT, typed=True)
def said(phrase: str, /, **values: Any) -> str:
    """Fill a phrase: whole numbers get separators, sentences stay sentences, every other value is a name or a measure.

    >>> said("it was redelivered after {gap}", gap="30 s")
    'it was redelivered after 30 s'
    """
    names, english, form = _FORMS.get(phrase) or _form_of(phrase)
    texts, forms = [], []
    for name in names:
        value = values[name]
        kind = value.__class__
        if kind is Sentence:
            texts.append(value.english)
            forms.append(value.marked)
            continue
        if kind is not str:
            value = value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else str(value)
        texts.append(value)
        forms.append(value)
    text = english % tuple(texts)
    if _OPEN not in text and _CLOSE not in text and _NAMED not in text:
        return Sentence(text, form % tuple(forms))
    return Sentence(english % tuple(map(plain, texts)), form % tuple(map(_inside, forms)))


_FORMS: dict[str, tuple[tuple[str, ...], str, str]] = {}
"""By phrase, of which the code holds so many: its values' names, and its two forms with a place for each value."""


def _form_of(phrase: str) -> tuple[tuple[str, ...], str, str]:
    names = tuple(_PLACE.findall(phrase))
    whole = phrase.replace("%", "%%")
    form = _PLACE.sub(lambda place: f"{_OPEN}{place[1]}{_NAMED}%s{_CLOSE}", whole)
    _FORMS[phrase] = names, _PLACE.sub("%s", whole), form
    return _FORMS[phrase]


def counted(count: int, one: str, many: str | None = None) -> str:
    """Say a count with its noun: ``1 message``, ``12,000 messages``; ``many`` is the noun's plural where it is no mere s."""
    return said(f"{{count}} {noun(count, one, many)}", count=count)


def noun(count: int, one: str, many: str | None = None) -> str:
    """Return the form of a noun that goes with a count; ``many`` is its plural where that is no mere s."""
    return one if count == 1 else many or one + "s"


def clause(sentence: str) -> str:
    """Return a sentence without its full stop, to stand in another one."""
    if isinstance(sentence, Sentence):
        return Sentence(sentence.english.removesuffix("."), _LAST_STOP.sub("", sentence.marked))
    return sentence.removesuffix(".")


def joined(parts: Iterable[str], joint: str = " ") -> str:
    """Join sentences that are said one by one."""
    every = list(parts)
    if len(every) == 1:
        return every[0]
    form = joint.join(f"{_OPEN}{_NAMED}{_inside(part)}{_CLOSE}" for part in every)
    return Sentence(joint.join(map(plain, every)), form)


@lru_cache(maxsize=_KEPT, typed=True)
def labelled(code: str, why: str) -> str:
    """Put a code before a sentence: ``code: why``."""
    if isinstance(why, Sentence):
        return Sentence(f"{code}: {why}", f"{code}: {why.marked}")
    return f"{code}: {why}"


def capitalized(clause: str) -> str:
    """Begin a clause with a capital, in English, unless an id, a name or code begins it; other languages say the clause as it is.

    >>> print(capitalized(said("{count} messages of {queue}", count="no", queue="q")), capitalized(said("{queue} is empty", queue="orders")))
    No messages of q orders is empty
    """
    text = plain(clause)
    if not text:
        return clause
    told = text if _begins_with_name(marked(clause)) else text[:1].upper() + text[1:]
    return Sentence(told, f"{_OPEN}{_NAMED}{_inside(clause)}{_CLOSE}")


def _begins_with_name(form: str) -> bool:
    """Tell whether the first word is none of ours. In the place of a name may stand what is said for none: several words."""
    first = _FIRST.match(form)
    if first is None:
        return False
    is_name = first["place"] in (*NAMED, "id") and bool(first["end"])
    return is_name or _OF_CODE.search(first["word"].rstrip(".")) is not None


def marked(text: str) -> str:
    """Return a sentence with its values marked; any other text as it is."""
    return getattr(text, "marked", text)


def plain(text: str) -> str:
    """Return a sentence, marked or not, as English text.

    >>> plain(marked(said("{n} runs of {who}", n=1200, who="charge")))
    '1,200 runs of charge'
    """
    if isinstance(text, Sentence):
        return text.english
    return _SIGNS.sub("", text) if _OPEN in text else text


def both_forms(text: Any) -> tuple[Any, Any]:
    """Return what is kept of a sentence or a list of them: in English, and marked, None where nothing has values.

    >>> both_forms(["nothing was read", "nothing was sent"])[1] is None
    True
    """
    if text.__class__ is Sentence:
        return text.english, text.marked if _OPEN in text.marked else None
    if text is None or (type(text) is str and _OPEN not in text):
        return text, None
    if isinstance(text, str):
        form = marked(text)
        return plain(text), form if _OPEN in form else None
    told = [both_forms(one) for one in text]
    return [english for english, _ in told], [form for _, form in told] if any(form for _, form in told) else None


def has_values(text: str) -> bool:
    """Tell whether a text has values that are marked."""
    return _OPEN in text


def as_sentence(english: str, form: str | None) -> str:
    """Return a sentence as it was kept: in English, and marked where it has values."""
    return Sentence(english, form) if form is not None else english


class Parted(NamedTuple):
    """A marked sentence taken apart: its phrase, with a place for every value, and the values, marked themselves."""

    phrase: str
    values: Sequence[tuple[str, str]]


def parted(text: str) -> Parted:
    """Take a marked sentence apart.

    >>> parted(marked(said("{run} took {span}", run="it", span="3 s")))
    Parted(phrase='{run} took {span}', values=[('run', 'it'), ('span', '3 s')])
    """
    phrase, values, depth, at = "", [], 0, 0
    name = ""
    for sign in _SIGNS.finditer(text):
        if sign[0] != _CLOSE:
            if depth == 0:
                name = sign[0][1:-1]
                phrase += f"{text[at : sign.start()]}{{{name}}}"
                at = sign.end()
            depth += 1
            continue
        depth -= 1
        if depth == 0:
            values.append((name, text[at : sign.start()]))
            at = sign.end()
    return Parted(phrase + text[at:], values)


def _inside(text: str) -> str:
    """Return a value as it stands inside a sentence: no text of a log is taken for our signs."""
    if isinstance(text, Sentence):
        return text.marked
    return (
        text
        if _OPEN not in text and _CLOSE not in text and _NAMED not in text or _balanced(text)
        else text.translate(_STRIPPED)
    )


def _balanced(form: str) -> bool:
    return form.count(_OPEN) == form.count(_CLOSE) == form.count(_NAMED)


def pieces(text: str) -> tuple[str, ...]:
    """Return the sentences that ``joined`` put together, also those of one that was joined before; any other as it is.

    >>> pieces(joined(["a line", joined(["its end", "a line"], "; ")], "; "))
    ('a line', 'its end', 'a line')
    """
    form = marked(text)
    values = parted(form).values if has_values(form) else ()
    if len(values) < 2 or any(name for name, _ in values):
        return (text,)
    return tuple(
        one for _, value in values for one in pieces(Sentence(plain(value), value) if has_values(value) else value)
    )
