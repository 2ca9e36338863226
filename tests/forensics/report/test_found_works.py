"""Works that were looked for are told the same whether they are read together or one by one."""

import pytest

from forensics.report.find import hits_of, reader, works
from forensics.report.found_works import read_works
from tests.forensics.report import world
from tests.forensics.report.test_hints import lake_with, other

pytestmark = pytest.mark.lake


@pytest.fixture
def findings(tmp_path):
    return lake_with(tmp_path, other(1, 5), other(2, 7000)).findings()


def asked(findings):
    read = reader(findings)
    keys = {(world.QUEUE_ARN, item): ["log line"] for item in (*world.IDS, other(2, 0)["item_id"])}
    return works(hits_of(keys, read), read)


def test_each_work_has_its_own_rows_its_verdict_and_what_is_like_it(findings):
    found = {one.work.hit.item_id: one for one in read_works(findings, asked(findings))}
    twin, alone = found[world.IDS[0]], found[other(2, 0)["item_id"]]

    assert {d["item_id"] for d in twin.deliveries} == {world.IDS[0]}
    assert twin.verdict["verdict"] == "confirmed"
    assert [hint.message_ids for hint in twin.hints] == [(other(1, 5)["item_id"],)]
    assert (len(alone.deliveries), alone.verdict, alone.hints) == (1, None, ())


def test_works_that_are_read_one_by_one_are_told_as_those_that_are_read_together(findings, monkeypatch):
    together = list(read_works(findings, asked(findings)))
    monkeypatch.setattr("forensics.report.found_works.AT_ONCE", 1)

    assert list(read_works(findings, asked(findings))) == together
    assert len(together) == len(world.IDS) + 1
