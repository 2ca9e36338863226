"""The lake: append, commit, pinned reads, file lists."""

from forensics.lake.delta import LakeDamagedError
from forensics.lake.findings import Findings
from forensics.lake.generation import Generation
from forensics.lake.lake import Appended, Lake
from forensics.lake.schemas import arrow_schema, to_arrow

__all__ = [
    "Appended",
    "Findings",
    "Generation",
    "Lake",
    "LakeDamagedError",
    "arrow_schema",
    "to_arrow",
]
