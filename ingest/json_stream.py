"""JSON documents one after another, read in pieces: a saved reply may be larger than memory, an archive has no commas."""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from forensics.errors import SourceUnreadableError
from forensics.possessive import compiled
from forensics.sentence import said

MOST_CHARS = 16 * 1024**2
"""Longest single value: an event is at most 1 MB, a delivered batch of them 6 MB."""
MOST_DEEP = 500
"""Deepest value that is read; AWS nests less than 20 deep. How deep Python reads differs by release, what then walks a value is ours."""
_BLANKS = " \t\r\n"
_BLANKS_AND_COMMA = _BLANKS + ","


HEAD_CHARS = 400
REST = "{}"
"""Behind a key: what an object holds beside its streamed arrays."""
_MARK = compiled(r'"(?:[^"\\]|\\.)*+"|[\[\]{}"]', re.DOTALL)
"""A whole string, a bracket, or the quote of a string whose end is not there yet."""
_DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}
_END_OF_NUMBER = re.compile(r"[^-+.0-9eE]")


class BadJsonError(SourceUnreadableError):
    """The text is not JSON from ``offset`` (characters) on; ``text`` begins there."""

    def __init__(self, reason: str, offset: int, text: str) -> None:
        super().__init__(said("not JSON at character {offset}: {reason}", offset=offset, reason=reason))
        self.offset = offset
        self.text = text


@dataclass(frozen=True)
class UnreadableValue:
    """Stands for a value that has an end but cannot be read: nested too deep, or with a number of thousands of digits."""

    reason: str
    text: str
    """Where it begins."""


class JsonStream:
    """Values out of a stream of text.

    Objects and arrays at the top are walked, so that the arrays asked for can be had item by item.
    """

    def __init__(self, content: Iterator[str]) -> None:
        self._content = content
        self._text, self._at, self._passed = "", 0, 0
        self._decoder = json.JSONDecoder()

    @property
    def offset(self) -> int:
        """Characters read so far."""
        return self._passed + self._at

    def documents(self, streamed: frozenset[str] = frozenset()) -> Iterator[tuple[str | None, Any]]:
        """Yield ``(key, item)`` for the items of the streamed arrays, and ``(None, document)`` as each document ends.

        An object under such a key is gone into; what is left of it comes under its key and REST.

        A document is an object without its streamed arrays; an item or document may be an UnreadableValue. Items of an array at the top are documents themselves.
        Raises BadJsonError; documents may go on after ``skip_to``.
        """
        in_array = False
        while (char := self._peek(_BLANKS_AND_COMMA if in_array else _BLANKS)) is not None:
            if char == "[" and not in_array:
                self._at += 1
                in_array = True
            elif char == "]" and in_array:
                self._at += 1
                in_array = False
            elif char == "{" and streamed:
                yield from self._object(streamed)
            else:
                yield None, self._value()
        if in_array:
            raise self._bad("the array has no end")

    def skip_to(self, mark: str) -> bool:
        """Go on at the next place where ``mark`` stands, behind the present one; false if there is none."""
        self._at += 1
        while (found := self._text.find(mark, self._at)) < 0:
            self._at = max(self._at, len(self._text) - len(mark) + 1)
            if not self._more():
                self._at = len(self._text)
                return False
        self._at = found
        return True

    def _object(self, streamed: frozenset[str], within: tuple[str, ...] = ()) -> Iterator[tuple[str | None, Any]]:
        self._expect("{")
        document: dict[str, Any] = {}
        while self._peek(_BLANKS_AND_COMMA) != "}":
            if self._peek() != '"':
                raise self._bad("a key was expected")
            key = self._value()
            self._expect(":")
            if key in streamed and self._peek() == "[":
                self._expect("[")
                while self._peek(_BLANKS_AND_COMMA) != "]":
                    yield key, self._value()
                self._expect("]")
            elif key in streamed and key not in within and self._peek() == "{":
                yield from self._object(streamed, (*within, key))
            else:
                document[key] = self._value()
        self._expect("}")
        yield (f"{within[-1]}{REST}" if within else None), document

    def _value(self) -> Any:
        """Read one value; reads on for as long as there is no end to it."""
        self._peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as problem:
                # More text helps only where the text ran out: at the very end, or in an open string.
                at_end = problem.pos >= len(self._text) - 12 or problem.msg.startswith("Unterminated string")
                if at_end and len(self._text) - self._at < MOST_CHARS and self._more(len(self._text) - self._at):
                    continue
                is_open = problem.pos >= len(self._text.rstrip()) or problem.msg.startswith("Unterminated string")
                raise self._bad("the value has no end" if is_open else problem.msg) from problem
            except RecursionError:
                return self._passed_over(said("nested more than {n} deep", n=MOST_DEEP))
            except ValueError:  # Python reads no longer one
                return self._passed_over(said("a number of more than {n} digits", n=sys.get_int_max_str_digits()))
            if end == len(self._text) and not isinstance(value, str | dict | list) and self._more():
                continue  # a number may go on
            if self._is_deep(end):
                return self._passed_over(said("nested more than {n} deep", n=MOST_DEEP))
            self._at = end
            return value

    def _is_deep(self, end: int) -> bool:
        """Tell whether the value up to ``end`` nests too deep; nearly all have too few brackets for that."""
        brackets = self._text.count("[", self._at, end) + self._text.count("{", self._at, end)
        if brackets <= MOST_DEEP:
            return False
        depth = deepest = 0
        for mark in _MARK.finditer(self._text, self._at, end):
            depth += _DEPTH.get(mark[0], 0)
            deepest = max(deepest, depth)
        return deepest > MOST_DEEP

    def _passed_over(self, reason: str) -> UnreadableValue:
        """Go on behind a value that cannot be read, which takes no nesting of ours; raises BadJsonError if it has no end."""
        offset, depth, ahead = self.offset, 0, 0
        head = self._text[self._at : self._at + HEAD_CHARS]
        while True:
            pattern = _MARK if depth or self._text[self._at] in "[{" else _END_OF_NUMBER
            found = pattern.search(self._text, self._at + ahead)
            if found is None or found[0] == '"':  # the text ran out, perhaps in a string
                ahead = (found.start() if found else len(self._text)) - self._at
                if ahead > MOST_CHARS or not self._more(len(self._text) - self._at):
                    raise self._bad(said("{reason}, and the value has no end", reason=reason))
                continue
            if pattern is _END_OF_NUMBER:
                self._at = found.start()
                break
            ahead = found.end() - self._at
            depth += _DEPTH.get(found[0], 0)
            if depth == 0:
                self._at = found.end()
                break
        return UnreadableValue(
            said("not to be read at character {offset}: {reason}", offset=offset, reason=reason), head
        )

    def _peek(self, over: str = _BLANKS) -> str | None:
        """Return the next character that is not in ``over``, without taking it; None at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in over:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return None

    def _expect(self, char: str) -> None:
        if self._peek() != char:
            raise self._bad(said("{char} was expected", char=repr(char)))
        self._at += 1

    def _more(self, at_least: int = 0) -> bool:
        """Take more text, as much again as there is, so that a long value is not begun too often."""
        added: list[str] = []
        count = 0
        for piece in self._content:
            added.append(piece)
            count += len(piece)
            if count > at_least:
                break
        if not added:
            return False
        self._passed += self._at
        self._text = self._text[self._at :] + "".join(added)
        self._at = 0
        return True

    def _bad(self, reason: str) -> BadJsonError:
        return BadJsonError(reason, self.offset, self._text[self._at : self._at + HEAD_CHARS])
