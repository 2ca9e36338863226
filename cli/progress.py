"""Progress of long work, on stderr: bars and spinners on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from cli.output import say, shows_progress
from cli.said import in_words, phrase, span_text, term
from forensics.printable import printable

LINE_EVERY_S = 10.0
"""Where nobody watches a bar, a step that takes long says so often how far it is."""


class RateColumn(ProgressColumn):
    """Events per second."""

    def render(self, task: Task) -> Text:
        """Return the rate; nothing until there is one."""
        return Text(f"{task.speed:,.0f} events/s" if task.speed else "")


@dataclass
class CollectBar:
    """What ``ingest.collect`` reports to: the source that is read, and events so far."""

    bar: Progress
    task: TaskID

    def stage(self, name: str) -> None:
        """Show what is read from now on."""
        self.bar.update(self.task, description=printable(in_words(name)))

    def events(self, seen_count: int) -> None:
        """Show how many log events were seen so far."""
        self.bar.update(self.task, completed=seen_count)


@contextmanager
def collecting() -> Iterator[CollectBar | None]:
    """Show source, events and rate on a terminal, nothing elsewhere."""
    if not shows_progress():
        yield None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.completed:,.0f} events"),
        RateColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield CollectBar(bar, bar.add_task("starting", total=None))


@dataclass
class ImportBar:
    """What ``ingest.files`` reports to: the file that is read, and bytes of all there are."""

    bar: Progress
    task: TaskID

    def size(self, byte_count: int) -> None:
        """Take the number of bytes there are to read."""
        self.bar.update(self.task, total=byte_count)

    def file(self, name: str) -> None:
        """Show which file is read from now on."""
        self.bar.update(self.task, description=printable(name))

    def bytes(self, byte_count: int) -> None:
        """Show that so many further bytes were read."""
        self.bar.advance(self.task, byte_count)


@contextmanager
def importing() -> Iterator[ImportBar | None]:
    """Show the file, a bar of bytes and the time left on a terminal, nothing elsewhere."""
    if not shows_progress():
        yield None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield ImportBar(bar, bar.add_task("starting", total=None))


@dataclass
class StepBar:
    """What a correlation reports to on a terminal: the step it is in, how much of it is over, and how long the rest takes."""

    bar: Progress
    task: TaskID
    _counted: str = ""

    def step(self, words: str) -> None:
        """Show what is done from now on."""
        if words.startswith("Spark runs on"):  # worth keeping: which Java was taken
            self.bar.console.print(f"  {printable(in_words(words))}", markup=False, highlight=False)
        self._counted = ""
        self.bar.reset(self.task, total=None, completed=0, description=printable(in_words(words)), counted="")

    def done(self, over: int, of: int, what: str) -> None:
        """Show how much is over."""
        if self._counted != what:
            self._counted = what
            self.bar.reset(self.task, total=of, completed=over, counted=what)
        else:
            self.bar.update(self.task, completed=over)


class CountColumn(ProgressColumn):
    """How many of how many, and of what; nothing in a step that counts nothing."""

    def render(self, task: Task) -> Text:
        """Return the count."""
        return Text(
            "" if task.total is None else _count(round(task.completed), round(task.total), task.fields["counted"])
        )


class LeftColumn(ProgressColumn):
    """How long a step still takes, once that can be told."""

    def render(self, task: Task) -> Text:
        """Return the time left."""
        return Text("" if task.total is None or task.time_remaining is None else _left(task.time_remaining))


@dataclass
class StepLines:
    """What a correlation reports to where nobody watches: a line for each step, and more of those that take long."""

    says_steps: bool
    clock: Callable[[], float] = time.monotonic
    _counted: str = ""
    _began_s: float = 0.0
    _began_with: int = 0
    _said_s: float = 0.0

    def step(self, words: str) -> None:
        """Say what is done from now on."""
        self._counted = ""
        if self.says_steps:
            say(f"  {in_words(words)}")

    def done(self, over: int, of: int, what: str) -> None:
        """Say how much is over, every LINE_EVERY_S."""
        now = self.clock()
        if self._counted != what:
            self._counted, self._began_with = what, over
            self._began_s = self._said_s = now
        elif now - self._said_s >= LINE_EVERY_S:
            self._said_s = now
            fresh = over - self._began_with
            left = f", {_left((now - self._began_s) / fresh * (of - over))}" if fresh and over < of else ""
            say(f"  {_count(over, of, what)}{left}")


def _count(over: int, of: int, what: str) -> str:
    return phrase("{over} of {all} {what}", over=over, all=of, what=term(what))


def _left(left_s: float) -> str:
    return phrase("about {span} left", span=span_text(max(1, round(left_s)) * 1000))


@contextmanager
def steps(says_steps: bool = True) -> Iterator[StepBar | StepLines]:
    """Show the step that long work is in, and how much of it is over: a bar on a terminal, lines elsewhere.

    Without ``says_steps`` a line is written only of what takes long.
    """
    if not shows_progress():
        yield StepLines(says_steps)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        CountColumn(),
        LeftColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield StepBar(bar, bar.add_task("starting", total=None, counted=""))
