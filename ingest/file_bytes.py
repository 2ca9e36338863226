"""The bytes of a file as text in pieces: gzip in any number of members, whatever Unicode encoding, never more than caps allow.

Bytes that are no text in their encoding come through as lone surrogates: whoever makes an event of them quarantines it.
"""

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import cast

from forensics.errors import SourceUnreadableError
from forensics.sentence import said

PIECE_BYTES = 64 * 1024
MOST_BYTES_OUT = 1024**3
"""Most bytes that one compressed file may become: one that holds more is no log export but a bomb."""
MOST_RATIO = 200
RATIO_FREE_BYTES = 10 * 1024**2
"""So many bytes come out before the ratio counts: a short log of equal lines shrinks well, too."""
GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),  # what PowerShell's > writes
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class FileDamagedError(SourceUnreadableError):
    """A file ends in the middle, or is not what it claims to be; what came before is good."""


class FileTooLargeError(SourceUnreadableError):
    """A compressed file would become larger than any log export is, or holds another archive: nothing of it is read."""


def pieces(path: Path, heard: Callable[[int], None] = lambda byte_count: None) -> Iterator[bytes]:
    """Yield a file's content, decompressed, in pieces of up to 64 KB; ``heard`` is told of bytes read from the disk.

    Raises FileDamagedError after the last good piece; OSError if the file cannot be read at all.
    """
    with path.open("rb") as raw:
        is_gzip = raw.read(2) == GZIP
        raw.seek(0)
        stream = cast(BufferedIOBase, gzip.GzipFile(fileobj=raw)) if is_gzip else raw
        told = 0
        while True:
            piece, problem = _piece(stream)
            at = raw.tell()
            heard(at - told)
            told = at
            if piece:
                yield piece
            if problem is not None:
                damage = said("the gzip stream breaks off or is damaged: {problem}", problem=problem)
                raise FileDamagedError(damage) from problem
            if not piece:
                return


def _piece(stream: BufferedIOBase) -> tuple[bytes, Exception | None]:
    """Return the next 64 KB, fewer only before the end or before damage, and what the damage is."""
    read = b""
    try:
        while len(read) < PIECE_BYTES and (more := stream.read1(PIECE_BYTES - len(read))):
            read += more
    except (EOFError, gzip.BadGzipFile, zlib.error) as problem:
        return read, problem
    return read, None


def check_size(path: Path) -> None:
    """Read a compressed file through once and keep nothing; raises FileTooLargeError where a cap is passed.

    Damage is not looked for: whoever reads the file meets it, after the good part.
    """
    with path.open("rb") as raw:
        if raw.read(2) != GZIP:
            return
    size_in, size_out = path.stat().st_size, 0
    try:
        for number, piece in enumerate(pieces(path)):
            if number == 0 and piece.startswith((GZIP, b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")):
                raise FileTooLargeError("there is another archive inside: unpack the outer one first")
            size_out += len(piece)
            if size_out > MOST_BYTES_OUT:
                raise FileTooLargeError(said("it would become more than {n} bytes", n=MOST_BYTES_OUT))
            if size_out > RATIO_FREE_BYTES and size_out > MOST_RATIO * size_in:
                raise FileTooLargeError(said("it would become more than {n} times its size", n=MOST_RATIO))
    except FileDamagedError:
        return


def head(path: Path) -> str:
    """Return the first 64 KB of a file as text, decompressed; raises FileDamagedError where nothing of it can be read."""
    return next(texts(pieces(path)), "")


def texts(content: Iterator[bytes]) -> Iterator[str]:
    """Turn pieces of bytes into pieces of text; a byte order mark decides the encoding, and UTF-8 is the rule."""
    decoder = None
    for piece in content:
        if decoder is None:
            mark, encoding = next(((m, e) for m, e in _BYTE_ORDER_MARKS if piece.startswith(m)), (b"", "utf-8"))
            decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")
            piece = piece[len(mark) :]
        if text := decoder.decode(piece):
            yield text
    if decoder is not None and (text := decoder.decode(b"", final=True)):
        yield text


def lines(content: Iterator[str], most_chars: int) -> Iterator[str]:
    """Yield lines without their end; only line feeds end a line. One longer than ``most_chars`` is cut to one more."""
    rest = ""
    skipping = False
    for piece in content:
        *whole, rest = (rest + piece).split("\n")
        for line in whole:
            if skipping:
                skipping = False
                continue
            yield line.removesuffix("\r")[: most_chars + 1]
        if len(rest) > most_chars:
            if not skipping:
                yield rest[: most_chars + 1]
            skipping, rest = True, ""
    if rest and not skipping:
        yield rest.removesuffix("\r")
