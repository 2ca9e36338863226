"""Progress of long work, on stderr: bars and spinners on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
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

from cli_output import printable, say


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
        self.bar.update(self.task, description=printable(name))

    def events(self, seen_count: int) -> None:
        """Show how many log events were seen so far."""
        self.bar.update(self.task, completed=seen_count)


@contextmanager
def collecting() -> Iterator[CollectBar | None]:
    """Show source, events and rate on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
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
    if not sys.stderr.isatty():
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


@contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """Show the step that long work is in: a spinner on a terminal, a line each elsewhere."""
    if not sys.stderr.isatty():
        yield lambda words: say(f"  {words}")
        return
    console = Console(stderr=True)
    with console.status("starting") as status:

        def show(words: str) -> None:
            if words.startswith("Spark runs on"):  # worth keeping: which Java was taken
                console.print(f"  {printable(words)}", markup=False, highlight=False)
            status.update(escape(printable(words)))

        yield show
