"""The dashboard's own process: Streamlit, once what every page needs has been read in, behind what a browser must be told.

Else the first visitor waits for it: that page's script took 4.0 s, and takes 1.7 s now. It ends with its stdin. Run by
``doubletake serve`` with the page to serve, Streamlit's options as JSON, and the socket on which it already listens.
"""

import gc
import json
import logging
import os
import socket
import sys
import threading
from importlib import import_module
from pathlib import Path

import streamlit
from starlette.middleware import Middleware
from streamlit.components.v2 import manifest_scanner
from streamlit.web.server.starlette import starlette_server

NO_PARTS = ("__init__", "start")
NEEDED = ("pandas", "pyarrow.dataset", "plotly.graph_objects", "deltalake", "jinja2")


def _end_with_parent() -> None:
    """End when stdin does: the command that started this process holds its other end, and may have been killed."""
    sys.stdin.buffer.read()
    os._exit(0)


def parts_of_pages() -> list[str]:
    """Name the modules that pages are made of: each page brings those that draw and read for it."""
    return [
        f"pages._ui.{file.stem}" for file in sorted(Path(__file__).parent.glob("*.py")) if file.stem not in NO_PARTS
    ]


def _hand_over(server: socket.socket) -> None:
    """Let Streamlit listen on a socket of ours: it takes none itself, and a port taken since sends it to the next one."""
    server.setblocking(False)
    starlette_server._bind_socket = lambda address, port, backlog: server


def _without_components() -> None:
    """Let Streamlit ask no installed package whether it brings a widget: our pages have none, and it reads about each four times."""
    manifest_scanner.scan_component_manifests = lambda *args, **named: []


def main(page: str, options: str, listens_at: str = "") -> None:
    """Serve a page until somebody ends it; without a socket, at the port that the options name."""
    sys.path.insert(0, str(Path(page).parent))
    from pages._ui.guard import Guard
    from pages._ui.preload import Preload

    threading.Thread(target=_end_with_parent, daemon=True).start()
    caches = logging.getLogger("streamlit.runtime.caching.cache_data_api")
    level = caches.level
    caches.setLevel(
        logging.ERROR
    )  # of each cache it would warn that there is no server yet: there is one when it is asked
    gc.disable()  # what is read in here stays
    for name in (*NEEDED, *parts_of_pages()):
        import_module(name)
    gc.enable()
    caches.setLevel(level)
    gc.collect()
    gc.freeze()  # Streamlit collects after every run of a page: 0.1 s more, with all that was read in here to look through
    _without_components()
    if listens_at:
        _hand_over(socket.socket(fileno=int(listens_at)))
    sys.argv = [page]  # Streamlit looks beside it for the other pages and its own settings
    streamlit.App(page, middleware=[Middleware(Guard), Middleware(Preload)]).run(config=json.loads(options))


if __name__ == "__main__":
    main(*sys.argv[1:])
