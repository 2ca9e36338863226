"""How large a package is: lines, files, and the floors that its modules' imports build."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Size:
    """``floors``: how many modules stand on one another in the longest chain of imports within the package."""

    lines: int
    files: int
    floors: int


def size_of(package: Path) -> Size:
    """Measure the Python files of a package. Raises ValueError where modules import each other in a circle."""
    files = sorted(package.rglob("*.py"))
    sources = {_module(file, package): file.read_text(encoding="utf-8") for file in files}
    imports = {name: set(_imported(source)) & sources.keys() - {name} for name, source in sources.items()}
    return Size(sum(len(source.splitlines()) for source in sources.values()), len(files), _floors(imports))


def _module(file: Path, package: Path) -> str:
    parts = [package.name, *file.relative_to(package).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(source: str) -> Iterator[str]:
    """Yield what a module imports when it is imported; what functions and type checkers import is not there then."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _floors(imports: dict[str, set[str]]) -> int:
    floor: dict[str, int] = {}
    while len(floor) < len(imports):
        ready = [name for name, below in imports.items() if name not in floor and below <= floor.keys()]
        if not ready:
            raise ValueError(f"these import each other: {', '.join(sorted(imports.keys() - floor.keys()))}")
        floor |= {name: 1 + max((floor[one] for one in imports[name]), default=0) for name in ready}
    return max(floor.values(), default=0)
