"""Where the report's templates are looked up and how they are read."""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from forensics.printable import LINES, printable


def environment(filters: Mapping[str, Callable[..., Any]], names: Mapping[str, Any]) -> Environment:
    """Return an environment with filters and names; every value is escaped, and an unknown one is an error.

    It keeps the templates it compiled: make it once, for compiling one costs as much as filling it in.
    """
    made = Environment(
        loader=PackageLoader("forensics.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )
    made.filters.update(filters)
    made.globals.update(names)
    return made


def _shown(value: Any) -> Any:
    """Show what is hidden in a value; what a filter made of one is markup of ours."""
    return printable(value, keep=LINES) if isinstance(value, str) and not isinstance(value, Markup) else value
