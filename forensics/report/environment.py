"""Where the report's templates are looked up and how they are read."""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from forensics.printable import LINES, printable


def environment(filters: Mapping[str, Callable[..., Any]], names: Mapping[str, Any]) -> Environment:
    """Return an environment with filters and names; every value is escaped, and an unknown one is an error.

    Templates are compiled once for all environments: compiling one costs as much as filling it in.
    """
    made = Environment(
        loader=PackageLoader("forensics.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
        optimized=False,  # it would fold what one environment's filters make of a constant into code that all share
        bytecode_cache=_COMPILED,
    )
    made.filters.update(filters)
    made.globals.update(names)
    return made


class _Compiled(BytecodeCache):
    """Code of templates, by their names and texts."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


def _shown(value: Any) -> Any:
    """Show what is hidden in a value; what a filter made of one is markup of ours."""
    return printable(value, keep=LINES) if isinstance(value, str) and not isinstance(value, Markup) else value
