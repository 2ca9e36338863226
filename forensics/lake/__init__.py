"""The lake: append, commit, pinned reads, file lists."""

from forensics.lake.lake import Appended, Findings, Generation, Lake, LakeDamagedError
from forensics.lake.schemas import arrow_schema, to_arrow

__all__ = [
    "Appended",
    "Findings",
    "Generation",
    "Lake",
    "LakeDamagedError",
    "arrow_schema",
    "filters_to_expression",
    "to_arrow",
]
