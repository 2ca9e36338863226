"""Which small files of a table are merged into larger ones."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

AT_FILES = 50
"""Files of about one size from which on they are merged: readers open every file."""
SMALL_BYTES = 32 * 1024 * 1024
"""A file of this size is merged no more, so that a growing table is not written anew each time."""


def groups(files: Iterable[dict[str, Any]], at_files: int) -> Iterator[list[dict[str, Any]]]:
    """Put small files of about one size together where there are many, until each group has the bytes of a large one.

    Each file is told by its ``path``, ``size_bytes`` and ``modification_time``.
    """
    by_size: dict[int, list[dict[str, Any]]] = defaultdict(list)
    # rows written together stay together
    for file in sorted(files, key=lambda file: (file["modification_time"], file["path"])):
        if file["size_bytes"] < SMALL_BYTES:
            by_size[file["size_bytes"].bit_length() // 3].append(file)  # within a factor of eight
    for alike in by_size.values():
        if len(alike) < at_files:
            continue
        group: list[dict[str, Any]] = []
        for file in alike:
            group.append(file)
            if sum(f["size_bytes"] for f in group) >= SMALL_BYTES:
                yield group
                group = []
        if group:
            yield group
