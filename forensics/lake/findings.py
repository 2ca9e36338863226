"""Readers of one generation: the same rows for as long as they are kept, whatever is published meanwhile."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.lake.generation import Generation
from forensics.lake.rows import plain_rows
from forensics.lake.schemas import arrow_schema
from forensics.queue_names import arns_of_names, consumers_with_arns, with_arns
from forensics.sentence import as_sentence
from forensics.tables import BY_NAME, Table
from forensics.tables.evidence import CONSUMERS, COVERAGE, QUEUE_SETTINGS
from forensics.tables.schema import MARKED

if TYPE_CHECKING:
    from forensics.lake.lake import Lake


class Findings:
    """Reads the findings of one generation, and the evidence it was made from. Times are UTC."""

    def __init__(self, lake: "Lake", generation: Generation) -> None:
        self.lake = lake
        self.generation = generation

    def read(self, table: Table, columns: list[str] | None = None, where: pc.Expression | None = None) -> pa.Table:
        """Read rows of a findings table as of this generation, or of an evidence table as it was read then.

        What a column of sentences keeps beside them comes with it. Consumers and coverage of a queue that an import knew by its
        name alone come with its ARN, once that is known.
        """
        columns = _with_marked(table, columns)
        pinned = self.generation.versions if table.layer == "findings" else self.generation.inputs
        if table.name not in pinned:
            return arrow_schema(table).empty_table().select(columns or list(table.column_names))
        if table in (CONSUMERS, COVERAGE) and self._arns:
            found = self._with_arns(table)
            found = found if where is None else found.filter(where)
            return found.select(columns) if columns else found
        return self.lake.read(table, columns, where, pinned[table.name])

    def scan(
        self, table: Table, columns: list[str] | None = None, where: pc.Expression | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield what ``read`` returns in small batches: what a table holds may be larger than memory."""
        pinned = self.generation.versions if table.layer == "findings" else self.generation.inputs
        if table in (CONSUMERS, COVERAGE):
            yield from self.read(table, columns, where).to_batches()
        elif table.name in pinned:
            yield from self.lake.scan(table, _with_marked(table, columns), where, pinned[table.name])

    @cached_property
    def _arns(self) -> dict[str, str]:
        """ARNs of queues that consumers name by their name alone."""
        pinned = self.generation.inputs
        consumers, queues = (
            plain_rows(self.lake.read(t, ["queue_name", "queue_arn"], None, pinned[t.name])) if t.name in pinned else []
            for t in (CONSUMERS, QUEUE_SETTINGS)
        )
        return arns_of_names(consumers, queues)

    def _with_arns(self, table: Table) -> pa.Table:
        rows = plain_rows(self.lake.read(table, None, None, self.generation.inputs[table.name]))
        named = consumers_with_arns if table is CONSUMERS else with_arns
        return pa.Table.from_pylist(named(rows, self._arns), arrow_schema(table))

    def evidence_rows(self, evidence_ids: list[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the cited evidence rows per table name; every id that resolves is in exactly one of them."""
        wanted = pa.array(sorted(set(evidence_ids)), pa.string())
        found = {}
        for name in self.generation.inputs:
            rows = plain_rows(self.read(BY_NAME[name], where=pc.field("evidence_id").isin(wanted)))
            if rows:
                found[name] = rows
        return found


def rows_of(rows: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """Return rows as dictionaries, their sentences such that every language can say them."""
    found = plain_rows(rows)
    for beside in (name for name in rows.schema.names if name.endswith(MARKED)):
        name = beside.removesuffix(MARKED)
        for row in found:
            said, form = row[name], row.pop(beside)
            if form is not None and said is not None:
                row[name] = as_sentence(said, form) if isinstance(said, str) else list(map(as_sentence, said, form))
    return found


def sayable(rows: pa.Table) -> pa.Table:
    """Return rows for a frame, which keeps texts alone: each sentence in its marked form, which every language can say."""
    for beside in (name for name in rows.schema.names if name.endswith(MARKED)):
        name = beside.removesuffix(MARKED)
        told = pc.coalesce(rows[beside], rows[name])
        rows = rows.set_column(rows.schema.names.index(name), name, told).drop_columns([beside])
    return rows


def _with_marked(table: Table, columns: list[str] | None) -> list[str] | None:
    if columns is None:
        return None
    return [*columns, *(f"{name}{MARKED}" for name in table.sentence_names if name in columns)]
