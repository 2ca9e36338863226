"""No byte of evidence drives the terminal of whoever reads it, in whatever form it is printed."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout

import pytest

from cli.output import OutputUnwritableError, RowFormat, answer, complain, print_rows, write_out
from cli.table import Layout

HOSTILE = "pay\x1b[2J\x9b31m\u202egnp"
KEYS = Layout(("key",), row=("key",))
SHOWN = "pay\\x1b[2J\\x9b31m\\u202egnp"


class Stdout(io.TextIOWrapper):
    """A stdout that keeps what it is given, and says whether it is a terminal."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), "utf-8", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def printed(print_it: Callable[[], None], is_terminal: bool = True) -> bytes:
    """Return what comes out where stdout is a terminal, or a pipe."""
    out = Stdout(is_terminal)
    with redirect_stdout(out):
        print_it()
    return out.buffer.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("how", list(RowFormat))
def test_rows_in_every_format_show_control_characters_as_escapes(how):
    text = printed(lambda: print_rows([{"key": HOSTILE}], how, KEYS, ("key",))).decode()

    assert not any(hidden in text for hidden in ("\x1b[2J", "\x9b", "\u202e"))  # a table has bold words of its own
    assert "x1b[2J" in text or "u001b[2J" in text


def test_csv_in_a_pipe_or_a_file_keeps_the_truth():
    text = printed(lambda: print_rows([{"key": HOSTILE}], RowFormat.CSV, KEYS, ("key",)), is_terminal=False)

    assert text.decode() == f'"key"\n"{HOSTILE}"\n'


@pytest.mark.parametrize("output", [None, "-"])
def test_a_report_that_goes_to_a_terminal_cannot_drive_it(output):
    text = printed(lambda: write_out(f"a\t{HOSTILE}\nb\n".encode(), output))

    assert text.decode() == f"a\t{SHOWN}\nb\n"


def test_a_report_that_is_no_text_goes_to_a_pipe_and_not_to_a_terminal():
    archive = b"PK\x03\x04\xff\xfe"

    assert printed(lambda: write_out(archive, "-"), is_terminal=False) == archive
    with pytest.raises(OutputUnwritableError, match="not text"):
        printed(lambda: write_out(archive, "-"))


def test_answers_and_errors_show_what_they_name(capsys):
    answer(HOSTILE)
    complain(f"no queue {HOSTILE}")

    assert capsys.readouterr() == (f"{SHOWN}\n", f"doubletake: no queue {SHOWN}\n")
