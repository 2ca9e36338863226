"""The command as a program: ``python -m doubletake``, and what the installed ``doubletake`` runs.

An installed Doubletake lies under this folder, a checkout around it. Either way its parts import one another by their own
names (``forensics``, ``pages``), which this process alone finds: nothing else on the machine meets a module called ``app``.
"""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
HOME = _HERE if (_HERE / "forensics").is_dir() else _HERE.parent
"""The folder that holds the parts. Processes of our own get it too: see their PYTHONPATH."""


def main() -> int:
    """Run the command and return its exit code."""
    sys.path.insert(0, str(HOME))  # before the current folder, whose modules are none of ours
    from cli import whole_process

    return whole_process()


if __name__ == "__main__":
    sys.exit(main())
