from forensics.report.groups import blocked_spans, busiest_groups, found_spans
from tests.forensics.report import world


def test_a_group_stands_still_from_the_end_of_the_failed_run_to_the_next_receive(case):
    (span,) = case.blocked

    assert (span.group_id, span.start_at, span.end_at) == ("acct-1", world.after(30.05), world.after(600.3))
    assert span.blocked_ms == 570_250
    assert span.messages == 3


def test_a_standard_queue_has_no_groups_to_block():
    assert blocked_spans(world.incident() | {"is_fifo": False}, world.deliveries()) == ()


def test_without_a_next_receive_it_lasts_until_the_visibility_timeout():
    first = [d for d in world.deliveries() if d["delivery_index"] == 1]
    (span,) = blocked_spans(world.incident(), first)

    assert span.end_at == world.after(600)


def test_groups_do_not_block_each_other():
    rows = [d | {"group_id": f"acct-{d['item_id'][-1]}"} for d in world.deliveries()]
    spans = blocked_spans(world.incident(), rows)

    assert [s.group_id for s in spans] == ["acct-1", "acct-2", "acct-3"]
    assert all(s.messages == 1 for s in spans)
    assert busiest_groups(spans, 2) == ("acct-1", "acct-2")


def test_a_run_whose_messages_were_deleted_blocks_nothing():
    rows = [d | {"ended_by": "deleted"} for d in world.deliveries()]

    assert blocked_spans(world.incident(), rows) == ()


def test_the_findings_of_the_queue_are_taken_where_they_are_there():
    row = {
        "code": "fifo_group_blocked",
        "stance": "supported",
        "group_id": "acct-1",
        "from_at": world.after(30),
        "until_at": world.after(600),
        "span_ms": 570_000,
        "message_count": 2,
        "evidence_ids": ["log:1"],
    }
    others = [row | {"code": "dead_lettered"}, row | {"stance": "undecidable"}, row | {"span_ms": None}]
    (span,) = found_spans([*others, row])

    assert (span.group_id, span.blocked_ms, span.messages) == ("acct-1", 570_000, 2)
