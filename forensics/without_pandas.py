"""Arrow without pandas, for what only reads rows: pandas takes as long to load as half of what a command does."""

import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from typing import Any


class _NoPandas(MetaPathFinder):
    """Finds nothing, and says of pandas that it is not there."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> Any:
        if fullname == "pandas":
            raise ModuleNotFoundError(f"no {fullname} for now", name=fullname)


def leave_pandas_out(scalar: Callable[[bool], object]) -> None:
    """Let Arrow's ``scalar`` make its first value with no pandas in sight; whoever asks Arrow for a frame later still gets one.

    Arrow looks for pandas once, with the first value it is given, to know frames when it meets them. Not for a process that
    hands frames to Arrow, as Spark's SQL does. Nothing changes where pandas is loaded already.
    """
    if "pandas" in sys.modules:
        return
    absent = _NoPandas()
    sys.meta_path.insert(0, absent)
    try:
        scalar(True)
    finally:
        sys.meta_path.remove(absent)
