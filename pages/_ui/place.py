"""Where the lake is that the pages show."""

import os
from pathlib import Path


def lake_path() -> Path:
    """Return where the lake is: DOUBLETAKE_LAKE, else ./lake."""
    return Path(os.environ.get("DOUBLETAKE_LAKE") or "lake")
