"""``--help`` in the reader's language: the commands' own texts, and the few words that Typer writes around them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from shutil import get_terminal_size
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup

from cli.fold import breaks
from cli.said import language, phrase, term

_AROUND = ("ARGUMENTS_PANEL_TITLE", "OPTIONS_PANEL_TITLE", "DEFAULT_STRING", "ENVVAR_STRING", "REQUIRED_LONG_STRING")
"""What Typer writes in help by itself, by the names it keeps it under."""
_NARROW = 80
"""In fewer columns the table of options has no room for their names."""


class SpokenCommand(TyperCommand):
    """A command whose help speaks the reader's language."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        with _around():
            super(SpokenCommand, _spoken(self, ctx)).format_help(ctx, formatter)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the line that shows how the command is called."""
        _write_usage(self, ctx, formatter)


class SpokenGroup(TyperGroup):
    """The program, whose help speaks the reader's language."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        spoken = _spoken(self, ctx)
        spoken.commands = {name: _with_words(command) for name, command in self.commands.items()}
        with _around():
            super(SpokenGroup, spoken).format_help(ctx, formatter)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the line that shows how the program is called."""
        _write_usage(self, ctx, formatter)


def _spoken(command: Any, ctx: Any) -> Any:
    """Return a copy of a command to show: the command itself stays as the parser knows it."""
    spoken = _with_words(command)
    spoken.params = [_with_words(param) for param in command.get_params(ctx)]
    spoken.add_help_option = False  # it is among them
    return spoken


def _with_words(part: Any) -> Any:
    """Return a copy of a command, an argument or an option with its text and the title of its panel put into words."""
    spoken = copy(part)
    spoken.help = term(part.help)
    spoken.rich_help_panel = term(part.rich_help_panel) or None
    return spoken


def _write_usage(command: Any, ctx: Any, formatter: Any) -> None:
    formatter.write_usage(ctx.command_path, " ".join(command.collect_usage_pieces(ctx)), f"{phrase('Usage:')} ")


@contextmanager
def _around() -> Iterator[None]:
    """Have Typer write its own words, and Rich fold lines, in the reader's language; English is theirs already."""
    import rich.text  # with what draws help, which other commands do without
    from typer import rich_utils

    before = {(rich_utils, name): getattr(rich_utils, name) for name in _AROUND}
    spoken: dict[Any, Any] = {place: term(text) for place, text in before.items()}
    if get_terminal_size().columns < _NARROW:
        by_options = (rich_utils, "_print_options_panel")
        before[by_options], spoken[by_options] = rich_utils._print_options_panel, _one_below_another
    if language().code != "en":
        by_words = (rich.text, "divide_line")
        before[by_words], spoken[by_words] = rich.text.divide_line, _fold_anywhere
    try:
        for (module, name), value in spoken.items():
            setattr(module, name, value)
        yield
    finally:
        for (module, name), value in before.items():
            setattr(module, name, value)


def _one_below_another(*, name: str, params: Sequence[Any], ctx: Any, markup_mode: Any, console: Any) -> None:
    """Stand in for Typer's table of options, which cuts off their names where it is narrow: each with what it says below it."""
    from rich.padding import Padding
    from rich.text import Text
    from typer import rich_utils

    if params:
        console.print(Text(name, "bold"))
    for param in params:
        is_argument = isinstance(param, TyperArgument)
        names = [param.display_name_raw] if is_argument else [*param.opts, *param.secondary_opts]
        kind = param.display_type_rich(ctx=ctx)
        span = param._get_number_range_help_str()
        head = " ".join(
            [", ".join(names), *([kind] if kind and kind not in names else []), *([f"[{span}]"] if span else [])]
        )
        console.print(Padding(rich_utils.highlighter(head), (0, 0, 0, 1)))
        told = rich_utils._get_parameter_help(param=param, ctx=ctx, markup_mode=markup_mode)
        console.print(Padding(told, (0, 0, 0, 3)))
    if params:
        console.print()


def _fold_anywhere(text: str, width: int, fold: bool = True) -> list[int]:
    """Stand in for what Rich folds lines by: it knows only blanks, and cuts off what is written without any.

    A column stays free for a blank at the end of a line, which Rich counts where characters are wide.
    """
    return breaks(text, width - 1)
