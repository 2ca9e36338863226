"""One thread for each library of a test's process: tests have frames of some rows, and the cores have other processes."""

import os

_FEWEST = {
    "OPENBLAS_NUM_THREADS": "1",  # of numpy, as in a command: a sixth of what a short process takes
    "POLARS_MAX_THREADS": "1",  # a second only waits, and costs a seventh of correlating some rows
    "TOKIO_WORKER_THREADS": "1",  # of delta-rs: small tables cost a fifth less without a second
}


def set_fewest() -> None:
    """Say so to the libraries that are imported from now on, where nobody has said otherwise."""
    for name, count in _FEWEST.items():
        os.environ.setdefault(name, count)
