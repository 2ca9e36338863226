"""What a line says behind the value that names its item: the words of its template apart from what fills it.

"order 7 shipped" and "order 8 rejected" say two things, "order 7 for Ada" and "order 8 for Bea" one. Numbers, ids, times, values of
fields and whom or how long it was for fill a template. So do words that have too many rivals to tell ways of going on apart.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from forensics.suggestions.circumstances import ANY_WORDS, VARIABLE

MOST_WAYS = 10
"""Of more ways in which one beginning goes on, the rarest words are no template's: names of customers, of products."""
_MOST_WORDS = 6
_TOLD = re.compile(
    rf"""(?x)
    (?P<field>[A-Za-z_][\w.-]*)(?:=|:[ ]?(?={VARIABLE}))    # a field before its value
        (?:"(?P<quoted>[^"]*)"|(?P<value>[^\s,;)\]}}]*))
    | (?P<word>[A-Za-z_][\w.-]*\w)
    | {VARIABLE} | {ANY_WORDS}
    """,
    re.ASCII,
)
_TELLS_OUTCOME = re.compile(
    r"(?:^|[_.-])(?:status|state|outcome|result|decision|action|event|reason|msg|message)\Z", re.IGNORECASE
)
"""Names of fields whose value says what happened."""
_HOW = re.compile(r"(?:in|for|by|at|from|to|on|after|with|of|via|within)\Z", re.IGNORECASE)
"""What begins to tell of circumstances: for whom, from where, how long."""
_DETERMINERS = frozenset(("the", "a", "an", "its", "our", "this", "that"))
_UNIT = re.compile(r"(?:[mn]?s|secs?|seconds?|mins?|minutes?|hours?|bytes|[kKMG]i?B|[A-Z]{3})\Z")
"""What a number is counted in."""
_SAYS_NOTHING_YET = re.compile(
    r"(?:already|not|is|are|was|were|be|been|has|have|had|will|can|could|the|an?)\Z", re.IGNORECASE
)
"""What a sentence goes on behind with what happened."""
_FIRST_WORD = re.compile(r"[A-Za-z]{2,}", re.ASCII)
_NAME = re.compile(r"[A-Z][a-z'.-]*\Z")
REFUSED = re.compile(
    r"(?<![A-Za-z])(?i:reject\w*|refus\w*|declin\w*|den(?:y|ies|ied)|skip\w*|ignor\w*|duplicate\w*|already|cancel\w*|abort\w*|"
    r"invalid|expired|timeout|timed[ _-]?out|drop(?:s|ped)|discard\w*|postpon\w*|defer\w*|retr(?:y|ies|ied|ying)|fail\w*|errors?|"
    r"cannot|unable|not|no|never)(?![A-Za-z])",
    re.ASCII,
)
"""Words that say of a piece of work that it was not done, or not now."""

NOT_DONE = re.compile(
    r"\b(?i:fail\w*|errors?|cannot|can't|could not|couldn't|unable|refused|not|will|about to|going to|start\w*|begin\w*|"
    r"trying|receiv(?:e[sd]|ing|e(?![ =:#]{0,2}[\d\0]))(?! count)|got|fetch\w*|poll\w*|dequeu\w*|pick\w* up|processing|handling|calling|validat\w*|check\w*)\b|"
    r"_(?:fail\w*|error)|(?<=[a-z])(?:Fail\w*|Error)",
    re.ASCII,
)
"""Words that say of something that it went wrong, or is still to be done."""
_BEGUN = re.compile(
    r"(?<![^\W_])(?i:(?:re-?)?processing|receiv(?:ed|ing)|handling|consuming|dequeued|start(?:ing|ed)|begin(?:ning)?|got|picked up|working on)"
    r"(?![^\W_])",
    re.ASCII,
)
_FAILED = re.compile(
    r"(?<![^\W_])(?<!no )(?<!0 )(?i:fail(?:ed|s|ing|ure|ures)?|errors?|exceptions?|reject(?:ed|s|ing)?|refused|declined|aborted|timed[ _-]?out)"
    r"(?![^\W_])(?!\\?[\"']?\s?[=:]\s?\\?[\"']?(?:0(?![\w.])|null|none|false))",
    re.ASCII,
)
_WAS_DONE = re.compile(
    r"(?<![^\W_])(?i:(?!(?:received|dequeued|started|picked)(?![^\W_]))[a-z]+ed|done|ok|success\w*)(?![^\W_])", re.ASCII
)
_CLAUSE = re.compile(r"[:\]|>]\s+|\s-\s")
"""What parts a logger's name, or a tag, from what the line says."""
_DELETED = re.compile(
    r"(?:(?<![^\W_])|(?<=[a-z])(?=[A-Z]))(?i:(?:delet|remov|acknowledg)\w*|ack(?:ed|ing)?(?![a-z]))", re.ASCII
)
"""In a name such as message_deleted or messageDeleted, too."""


def clauses(lead: str) -> list[str]:
    """Part what stands before a value: names of loggers and tags, and last what the line says.

    >>> clauses("app.queue - message ")
    ['app.queue', 'message ']
    """
    return _CLAUSE.split(lead)


def from_first_word(lead: str) -> str:
    """Return what a line says before a value without what changes before its first word: to look for that takes long in a line with many places for it.

    >>> from_first_word(f"{VARIABLE} {VARIABLE}:{VARIABLE} INFO charged {VARIABLE} for ") == f"INFO charged {VARIABLE} for "
    True
    """
    word = _FIRST_WORD.search(lead)
    return lead[word.start() :] if word and {VARIABLE, ANY_WORDS} & set(lead[: word.start()]) else lead


def says_deleted(words: str) -> bool:
    """Tell whether words say that something was deleted or acknowledged.

    >>> [says_deleted(words) for words in ("message deleted", "messageAcked", "acknowledged by queue", "charged at the rack")]
    [True, True, True, False]
    """
    return _DELETED.search(words) is not None


def says_begun(words: str) -> bool:
    """Tell whether words say that work on something begins, and nothing that was done.

    >>> [says_begun(words) for words in ("processing", "got it from queue", "processed", "charged before processing", "next")]
    [True, True, False, False, False]
    """
    return _BEGUN.search(words) is not None and _WAS_DONE.search(words) is None


def says_failed(words: str) -> bool:
    """Tell whether words say that something failed; a field may say that nothing did.

    >>> [says_failed(words) for words in ("failed message", "charge_failed", "charged with errors=0", "charged, no error")]
    [True, True, False, False]
    """
    return _FAILED.search(words) is not None


class Word(NamedTuple):
    """A word of a template and where it stands in the text behind a value, with the name of its field if it has one."""

    text: str
    start: int
    end: int


def words_behind(tail: str) -> list[Word]:
    """Return the words that a masked text says behind a value, without what fills it; of many the first ones.

    >>> [word.text for word in words_behind(" for Ada Lovelace shipped in \\0 ms, status=ok amount=\\0")]
    ['shipped', 'ok']
    """
    return [*_words(tail.partition("\n")[0])][:_MOST_WORDS]


def _words(tail: str) -> Iterator[Word]:
    behind_number = -2
    how = names = False
    """Whether a word such as "for" was the last that counts, and whether names followed it."""
    for told in _TOLD.finditer(tail):
        if told["field"] is not None:
            group = "value" if told["quoted"] is None else "quoted"
            if _TELLS_OUTCOME.search(told["field"]) and told[group] and VARIABLE not in told[group]:
                yield Word(told[group], told.start("field"), told.end())
            how = names = False
        elif (word := told["word"]) is None:
            names = how
            behind_number = told.end()
        elif _UNIT.match(word) and told.start() - behind_number <= 1:
            continue
        elif _HOW.match(word):
            how, names = True, False
        elif how and (word.lower() in _DETERMINERS or _NAME.match(word) or not names):
            names = names or word.lower() not in _DETERMINERS
        elif len(word) > 1:
            how = names = False
            yield Word(word, *told.span("word"))


def free_words(tails: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return words that fill a template, given the words of all lines that begin alike: the rarest, until few ways are left.

    What says that a piece of work was not done is kept, however rare it is.

    >>> names = [f"customer{chr(97 + n)}" for n in range(20)]
    >>> free_words([(name, "shipped") for name in names]) == set(names)
    True
    """
    counts = Counter(word for words in tails for word in set(words))
    hidden: set[str] = set()
    ways = set(map(tuple, tails))
    for rare in sorted(set(counts.values())):
        if len(ways) <= MOST_WAYS:
            break
        hidden |= {word for word, count in counts.items() if count == rare and not REFUSED.search(word)}
        ways = {tuple(word for word in words if word not in hidden) for words in ways}
    return frozenset(hidden)


def said_behind(tail: str, free: Collection[str] = ()) -> str:
    """Return a masked text up to its last word, with ANY_WORDS in place of what fills it.

    >>> said_behind(" for Ada shipped in \\0 ms") == f"{ANY_WORDS} shipped"
    True
    """
    found, last = "", 0
    for word in words_behind(tail):
        if word.text in free:
            continue
        between = tail[last : word.start]
        if re.search(rf"[\w{VARIABLE}{ANY_WORDS}]", between, re.ASCII):
            between = ANY_WORDS + (re.search(r"[^\w\0\1]*\Z", between, re.ASCII) or [""])[0]
        found += between + tail[word.start : word.end]
        last = word.end
    return found


def beginnings(said: str) -> Iterator[str]:
    """Yield what ``said_behind`` returned, up to its first word, its second, ... the whole; at a word that says nothing yet it does not end.

    >>> list(beginnings(" is paid already"))
    [' is paid', ' is paid already']
    """
    for word in re.finditer(r"[A-Za-z_][\w.-]*", said, re.ASCII):
        if word.end() == len(said) or not _SAYS_NOTHING_YET.match(word[0]):
            yield said[: word.end()]
