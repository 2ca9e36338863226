"""The command that checks a report's ZIP: verify."""

from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from cli.options import Everywhere
from cli.output import answer, say
from forensics.errors import ForensicsError
from forensics.sentence import said


class NoBundleError(ForensicsError):
    """What is to be checked cannot be a ZIP."""


def verify(
    chosen: Everywhere,
    bundle: Annotated[Path, typer.Argument(metavar="FILE", help="A ZIP of `doubletake report --format zip`.")],
) -> None:
    """Check that a report's ZIP is undamaged and of one piece; who wrote it is told by its digest, if you know that."""
    from forensics.report.bundle import MOST_BYTES, naming
    from forensics.report.bundle import verify as verified

    if not bundle.exists():
        raise NoBundleError(said("there is no file {file}", file=repr(str(bundle))), "Check the path.")
    if not bundle.is_file():
        raise NoBundleError(
            said("{file} is a folder, a pipe or a device, and no file", file=repr(str(bundle))),
            "Save the ZIP as a file first.",
        )
    with bundle.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    with naming(bundle):
        found = verified(data)
    answer(
        "{incident_id}: {n} files as written, data version {data_version}",
        incident_id=found["incident_id"],
        n=len(found["files"]),
        data_version=found["data_version"],
    )
    say("SHA-256 of the ZIP: {digest}", digest=sha256(data).hexdigest())
    say("Whoever changes a bundle can also write new digests: compare this one with what its sender told you.")
