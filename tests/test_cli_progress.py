import io
import sys

import pytest
from rich.console import Console

import cli_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal. Called by the test itself: pytest sets stderr anew after fixtures."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(
        cli_progress, "Console", lambda **_: Console(file=stream, force_terminal=True, width=120, highlight=False)
    )
    return stream


def test_on_a_terminal_collecting_shows_source_events_and_rate(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with cli_progress.collecting() as progress:
        progress.stage("log group /aws/lambda/charge-card")
        for seen in range(0, 20_000, 1_000):
            progress.events(seen)
        progress.bar.refresh()
        shown = terminal.getvalue()

    assert "log group /aws/lambda/charge-card" in shown
    assert "19,000 events" in shown
    assert "events/s" in shown


def test_a_name_from_the_account_cannot_drive_the_terminal_or_the_markup(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with cli_progress.collecting() as progress:
        progress.stage("log group [red]\x1b]0;title\x07")
        progress.bar.refresh()
    with cli_progress.steps() as tell:
        tell("reading [bold]x[/nonsense]")

    assert "\x1b]0;" not in terminal.getvalue()
    assert "[red]" in terminal.getvalue()


def test_elsewhere_collecting_is_silent_and_steps_are_lines(capsys):
    with cli_progress.collecting() as progress:
        assert progress is None
    with cli_progress.steps() as tell:
        tell("Spark runs on Java 17")

    assert capsys.readouterr().err == "  Spark runs on Java 17\n"
