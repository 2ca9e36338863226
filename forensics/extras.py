"""What an installation may leave out, and under which name it is had."""

from importlib.util import find_spec

from forensics.errors import ForensicsError
from forensics.sentence import said

DISTRIBUTION = "doubletake-sqs"
"""The name on the package index, where `doubletake` is somebody else's project."""
EXTRAS = {"demo": "ministack", "pdf": "plutoprint"}
"""Extra to the module that tells whether it is installed; pyproject.toml says which packages it brings."""


class ExtraMissingError(ForensicsError):
    """Something was asked for that this installation was made without."""


def is_installed(extra: str) -> bool:
    """Tell whether the packages of an extra are there."""
    return find_spec(EXTRAS[extra]) is not None


def how_to_install(extra: str) -> str:
    """Say how to get an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def need(extra: str, what: str) -> None:
    """Raise ExtraMissingError where ``what`` cannot be done without an extra."""
    if not is_installed(extra):
        raise ExtraMissingError(
            said("{what} needs packages that this installation was made without", what=what),
            said("Get them: {command}", command=how_to_install(extra)),
        )
