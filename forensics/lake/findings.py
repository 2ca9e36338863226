"""Readers of one generation: the same rows for as long as they are kept, whatever is published meanwhile."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.lake.generation import Generation
from forensics.lake.schemas import arrow_schema
from forensics.tables import BY_NAME, Table

if TYPE_CHECKING:
    from forensics.lake.lake import Lake


class Findings:
    """Reads the findings of one generation, and the evidence it was made from. Times are UTC."""

    def __init__(self, lake: "Lake", generation: Generation) -> None:
        self.lake = lake
        self.generation = generation

    def read(self, table: Table, columns: list[str] | None = None, where: pc.Expression | None = None) -> pa.Table:
        """Read rows of a findings table as of this generation, or of an evidence table as it was read then."""
        pinned = self.generation.versions if table.layer == "findings" else self.generation.inputs
        if table.name not in pinned:
            return arrow_schema(table).empty_table().select(columns or list(table.column_names))
        return self.lake.read(table, columns, where, pinned[table.name])

    def scan(
        self, table: Table, columns: list[str] | None = None, where: pc.Expression | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield what ``read`` returns in small batches: what a table holds may be larger than memory."""
        pinned = self.generation.versions if table.layer == "findings" else self.generation.inputs
        if table.name in pinned:
            yield from self.lake.scan(table, columns, where, pinned[table.name])

    def evidence_rows(self, evidence_ids: list[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the cited evidence rows per table name; every id that resolves is in exactly one of them."""
        wanted = pa.array(sorted(set(evidence_ids)), pa.string())
        found = {}
        for name in self.generation.inputs:
            rows = self.read(BY_NAME[name], where=pc.field("evidence_id").isin(wanted)).to_pylist()
            if rows:
                found[name] = rows
        return found
