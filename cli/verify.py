"""The command that checks a report's ZIP: verify."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import Everywhere
from cli.output import answer


def verify(
    chosen: Everywhere,
    bundle: Annotated[Path, typer.Argument(metavar="FILE", help="A ZIP of `doubletake report --format zip`.")],
) -> None:
    """Check that every file of a report's ZIP is the one its manifest names."""
    from forensics.report.bundle import verify as verified

    found = verified(bundle.read_bytes())
    answer(f"{found['incident_id']}: {len(found['files'])} files as written, data version {found['data_version']}")
