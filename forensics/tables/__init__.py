"""Every table of the lake, declared once."""

from forensics.tables.evidence import EVIDENCE
from forensics.tables.findings import FINDINGS, GENERATIONS
from forensics.tables.people import PEOPLE
from forensics.tables.schema import Column, Table

ALL_TABLES: tuple[Table, ...] = (*EVIDENCE, *PEOPLE, *FINDINGS, GENERATIONS)
BY_NAME: dict[str, Table] = {t.name: t for t in ALL_TABLES}

__all__ = ["ALL_TABLES", "BY_NAME", "EVIDENCE", "FINDINGS", "GENERATIONS", "PEOPLE", "Column", "Table"]
