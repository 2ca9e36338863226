"""Effect lines of one key, some of which name a message and some of which nothing tells the message."""

import pytest

from forensics.judging.judge import judge
from tests.forensics.judging.plain import Around, S, delivery

MARK = {"marker_at": 5 * S, "business_keys": ["k"], "has_effect": True}
ALONE = {**MARK, "message_id": None, "consumer": "run-2"}

CASES = {
    "its own line, and one of its key in another run": ([{**MARK, "consumer": "run-1"}], (1, 2)),
    "its own line, and one of its key in the same run": ([{**MARK, "consumer": "run-2"}], None),
    "no line of its own: that of its key may be its own": ([{**MARK, "consumer": "run-1", "marker_at": None}], None),
    "its own line of another key": ([{**MARK, "consumer": "run-1", "business_keys": ["l"]}], None),
    "its own line in another queue": ([{**MARK, "consumer": "run-1", "queue_arn": "other"}], None),
    "delivered again, and not done": (
        [{**MARK, "consumer": "run-1"}, {"consumer": "run-3", "guard_at": 9 * S, "received_at": 8 * S}],
        (1, 2),
    ),
}


@pytest.mark.parametrize(("deliveries", "interval"), CASES.values(), ids=CASES)
def test_a_line_of_the_key_in_another_run_may_be_the_same_work_done_again(deliveries, interval):
    mine = [
        delivery("m1", **{"delivery_index": n, "receive_count": n, "run_status": "success", **d})
        for n, d in enumerate(deliveries, 1)
    ]
    found = judge([*mine, delivery("key:k", **ALONE)], Around())

    said = {m.item_id: (m.effects_at_least, m.effects_at_most) for m in found.messages}
    assert said.get("m1") == interval
    assert ("key:k" in said) == (interval is not None)
