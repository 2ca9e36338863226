import io
import sys

import pytest
from rich.console import Console

from cli.progress import StepLines, collecting, steps


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal. Called by the test itself: pytest sets stderr anew after fixtures."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(
        "cli.progress.Console", lambda **_: Console(file=stream, force_terminal=True, width=120, highlight=False)
    )
    return stream


def test_on_a_terminal_collecting_shows_source_events_and_rate(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with collecting() as progress:
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
    with collecting() as progress:
        progress.stage("log group [red]\x1b]0;title\x07")
        progress.bar.refresh()
    with steps() as progress:
        progress.step("reading [bold]x[/nonsense]")

    assert "\x1b]0;" not in terminal.getvalue()
    assert "[red]" in terminal.getvalue()


def test_elsewhere_collecting_is_silent_and_steps_are_lines(capsys):
    with collecting() as progress:
        assert progress is None
    with steps() as progress:
        progress.step("Spark runs on Java 17")

    assert capsys.readouterr().err == "  Spark runs on Java 17\n"


def test_on_a_terminal_a_step_shows_how_much_is_over_and_how_long_the_rest_takes(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with steps() as progress:
        clock = iter(range(0, 1000, 10))
        monkeypatch.setattr(progress.bar, "get_time", lambda: next(clock))
        progress.step("Spark runs on Java 17")
        progress.step("reading 2,000,000 log events")
        for over in range(1_000_000, 1_500_000, 100_000):
            progress.done(over, 2_000_000, "log events read")
        progress.bar.refresh()
        shown = terminal.getvalue()
        progress.step("weighing incidents")
        progress.bar.refresh()
        after = terminal.getvalue().removeprefix(shown)

    assert "Spark runs on Java 17" in shown
    assert "reading 2,000,000 log events 1,400,000 of 2,000,000 log events read about" in shown
    assert "left" in shown
    assert "weighing incidents" in after
    assert "log events read" not in after


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def told(capsys, says_steps: bool, *moments: tuple[float, int]) -> list[str]:
    """Return the lines about a step of which so much was over at those seconds."""
    clock = Clock()
    lines = StepLines(says_steps, clock)
    lines.step("reading 2,000 log events")
    for after_s, over in moments:
        clock.now_s = 100.0 + after_s
        lines.done(over, 2_000, "log events read")
    return capsys.readouterr().err.splitlines()


def test_elsewhere_a_step_that_takes_long_says_now_and_then_how_far_it_is(capsys):
    assert told(capsys, True, (0, 0), (1, 300), (9, 600), (10, 1_000), (15, 1_100), (20, 1_600), (31, 2_000)) == [
        "  reading 2,000 log events",
        "  1,000 of 2,000 log events read, about 10 s left",
        "  1,600 of 2,000 log events read, about 5 s left",
        "  2,000 of 2,000 log events read",
    ]


def test_what_an_earlier_run_left_does_not_make_the_rest_look_quick(capsys):
    assert told(capsys, True, (0, 1_000), (100, 1_500))[1:] == [
        "  1,500 of 2,000 log events read, about 1 min 40 s left"
    ]


def test_nothing_is_said_of_the_time_left_before_anything_is_over(capsys):
    assert told(capsys, True, (0, 0), (30, 0))[1:] == ["  0 of 2,000 log events read"]


def test_a_watch_says_nothing_of_rounds_that_take_no_time(capsys):
    assert told(capsys, False, (0, 0), (1, 2_000)) == []
    assert told(capsys, False, (0, 0), (60, 1_000)) == ["  1,000 of 2,000 log events read, about 1 min left"]
