r"""Receipt handles in log text become tokens before anything is written: a handle is a live credential.

Recognised, wherever a line holds them: the value of a key such as ``receiptHandle`` in JSON, escaped JSON, HTML, XML,
Python, Node, Java, Ruby or PHP output; the handle inside SQS's error texts; and bare handles, which begin with AQEB.
Handles that were shortened already (``AQEB...``, ``XXXXX``, ``{VALUE}``) stay as they are, and so do tokens.

Time is linear in the length of the line: repeats are possessive, and what may stand around a handle is bounded.
"""

import html
import re
from urllib.parse import unquote

from forensics.identity import HANDLE_PREFIX_CHARS, handle_token
from forensics.possessive import compiled

# A handle's characters: base64 and UUIDs (emulators issue those; ElasticMQ joins two with "#").
_PLAIN = r"[A-Za-z0-9+/=_#-]"
# The same as printers escape them: "\/" and "\u002B" from JSON, %2B from query strings, &#43; from HTML.
_ESCAPED = r"\\{1,8}/|\\{1,8}u00(?:2[bBfF]|3[dD])|%2[bBfF]|%3[dD]|&#(?:43|47|61|x2[bBfF]|x3[dD]);"
# Between two delimiters a handle may also have been wrapped: real line ends, or escaped ones.
_LINE_END = r"\\{1,8}[rn]|[\r\n]"


def _handle(at_least: int, also: str = "") -> str:
    other = f"{_ESCAPED}|{also}" if also else _ESCAPED
    return rf"(?=(?:{_PLAIN}|{other}){{{at_least}}})(?:{_PLAIN}++|{other})++"


_QUOTE = r"(?:\\{0,8}[\"'`]|\\{1,8}u002[27]|&(?:amp;){0,3}(?:quot|apos|#3[49]|#x2[27]);)"
_BLANKS = r"(?:\\{1,8}[nrt]|\s){0,16}"
_KEY = r"(?i:receipt[ _-]?handles?)"
# After the key: at most one closer (also PHP's "]"), a separator (also "=>", "->"), and what may stand before a string:
# a list's bracket, Python's b, the type that PHP's var_dump prints.
_SEPARATOR = r"(?:[=-]>|[=-]&gt;|[:=>]|&gt;|%3[Dd]|\\{1,8}u003[dDeE])"
_IS = rf"{_QUOTE}?\]?{_BLANKS}{_SEPARATOR}{_BLANKS}(?:\[{_BLANKS}|string\([0-9]{{1,4}}\) )?"

# What stands before a handle, the handle, what must follow. The repeats are possessive: nothing is tried twice.
_PLACES = (
    (rf"{_KEY}{_IS}b?{_QUOTE}", _handle(8, _LINE_END), rf"(?={_QUOTE}|$)"),  # receiptHandle": "..."
    (rf"{_KEY}{_IS}", _handle(20), ""),  # receiptHandle=...
    (rf"{_KEY} {_QUOTE}", _handle(8, _LINE_END), rf"(?={_QUOTE})"),  # The receipt handle "..." is not valid
    (rf"{_KEY} ", _handle(20), ""),  # receipt handle ...
    (rf"\bValue {_QUOTE}?", _handle(20, _LINE_END), rf"(?={_QUOTE}? for parameter ReceiptHandle)"),
    (r"(?:(?<![A-Za-z0-9+/])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))(?=AQEB)", _handle(64), ""),
)
_HANDLE = compiled("|".join(f"{before}({handle}){after}" for before, handle, after in _PLACES))
_ESCAPED_END = re.compile(r"\\+[rn]|[\r\n]")
_ESCAPED_SLASH = re.compile(r"\\+/")
_ESCAPED_CHAR = re.compile(r"\\+u00([0-9A-Fa-f]{2})")
_SHORTENED = re.compile(r"(?i)(.)\1*|null|none|undefined|redacted|receipt-?_?handle|<.*>|\{.*\}|\[.*\]")


def redact_handles(line: str, key: bytes | None = None) -> str:
    """Return the line with a token in place of every receipt handle; the same handle and key give the same token.

    Redacting twice changes nothing more.

    >>> redact_handles("START RequestId: 4dc1 Version: 7")
    'START RequestId: 4dc1 Version: 7'
    >>> redact_handles("{'receiptHandle': 'c0ffee00-1111-4222-8333-444455556666'}")
    "{'receiptHandle': 'RH~c0ffee00-1111-4222-8333-~0af82b4d97d119ca6fbeea862c518395'}"
    """
    if "AQEB" not in line and (("andle" not in line and "ANDLE" not in line) or "rece" not in line.lower()):
        return line  # asked of every line there is: what is "handled" needs no pattern
    return _HANDLE.sub(lambda found: _replaced(found, key), line)


def canonical_handle(text: str) -> str:
    """Undo what printers did to a handle (escapes, wrapping), so that the same handle gives the same token."""
    if "\\" in text:
        text = _ESCAPED_CHAR.sub(lambda found: chr(int(found[1], 16)), text)
        text = _ESCAPED_SLASH.sub("/", text)
    text = _ESCAPED_END.sub("", text)
    if "%" in text:
        text = unquote(text)
    if "&" in text:
        text = html.unescape(text)
    return text


def _replaced(found: re.Match[str], key: bytes | None) -> str:
    place = found.lastindex or 0
    handle = canonical_handle(found[place])
    cut_short = len(handle) <= HANDLE_PREFIX_CHARS and found.end() == len(found.string)
    if cut_short or _SHORTENED.fullmatch(handle):
        return found[0]
    return found[0][: found.start(place) - found.start()] + handle_token(handle, key)
