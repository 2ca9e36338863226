"""One picture of a message, whether its incident drew it or nobody did."""

from collections import defaultdict
from typing import Any

import pytest

from forensics.incidents.drawn import drawn_rows
from forensics.incidents.timeline import GIVEN
from forensics.lake.findings import rows_of
from forensics.tables.findings import DELIVERIES, MESSAGES, TIMELINE

pytestmark = pytest.mark.slow

SAID = [name for name in GIVEN if name not in ("place", "label")]
_UNTOLD = {"error", "crash"}
"""Of these the ledger's row does not hold the name of the error."""


@pytest.fixture(scope="module")
def pictures(many_worlds) -> list[tuple[Any, Any]]:
    """Return per message what its incident drew and what is drawn of the rows of its work, where those tell every time."""
    findings = many_worlds.lake.findings()
    works = {_key(m): m["work_id"] for m in rows_of(findings.read(MESSAGES))}
    of_works, of_incidents = defaultdict(list), defaultdict(list)
    vague = set()
    for row in rows_of(findings.read(DELIVERIES)):
        if work := works.get(_key(row)):
            of_works[row["queue_arn"], work].append(row | {"work_id": work})
            if row["run_ended_at"] is None:  # the incident has the time of the last line, or of the receive beside it
                vague.add(row["item_id"])
    for row in rows_of(findings.read(TIMELINE)):
        of_incidents[row["item_id"]].append(_said(row))
    of_ledgers = defaultdict(list)
    for row in (row for rows in of_works.values() for row in drawn_rows(rows)):
        of_ledgers[row["item_id"]].append(_said(row))
    asked = (of_ledgers.keys() & of_incidents.keys()) - vague
    return [(sorted(of_incidents[item], key=repr), sorted(of_ledgers[item], key=repr)) for item in sorted(asked)]


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return row["queue_arn"], row["item_id"]


def _said(row: dict[str, Any]) -> tuple[Any, ...]:
    label = None if row["kind"] in _UNTOLD else str(row["label"])
    return *(row[name] for name in SAID), label


def test_the_marks_of_a_ledger_are_those_of_its_incident(pictures):
    assert len(pictures) > 100
    assert [(drawn, again) for drawn, again in pictures if drawn != again] == []
