"""The dashboard's own process: Streamlit, once what every page needs has been read in.

Else the first visitor waits for it: that page's script took 4.0 s, and takes 1.7 s now. It ends with its stdin. Run by ``doubletake serve``.
"""

import os
import sys
import threading
from importlib import import_module

from streamlit.web.cli import main as streamlit

NEEDED = ("pandas", "pyarrow.dataset", "plotly.graph_objects", "deltalake", "jinja2")


def _end_with_parent() -> None:
    """End when stdin does: the command that started this process holds its other end, and may have been killed."""
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    """Run Streamlit's command with the arguments given."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for name in NEEDED:
        import_module(name)
    streamlit(prog_name="streamlit")


if __name__ == "__main__":
    main()
