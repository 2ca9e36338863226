"""An incident is told by its works in whatever parts they lie: what the parts tell adds up."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from forensics.incidents.gaps import Gaps
from forensics.incidents.shares import Share, share_of_works
from forensics.incidents.told import Told, told
from forensics.incidents.whole import told_of
from forensics.judging.model import Judged
from tests.forensics.incidents.builders import ARN, at, delivery, harmless, message, redelivery, ruled

RUNS = st.sampled_from(["run-1", "run-2", "run-3"])
OPEN = [
    [],
    [ruled("throttled", "undecidable", "nobody looked")],
    [ruled("released", "undecidable", "x")],
]


@st.composite
def works(draw: Any, item: str) -> Judged:
    """One message, delivered twice; its first delivery is of one of three runs, so that batches lie in several works."""
    first, again = draw(st.integers(0, 9)), draw(st.none() | st.integers(30, 40))
    of_run = {"run_ended_at": at(20), "run_started_at": at(draw(st.integers(0, 1))), "run_status": "timeout"}
    one = delivery(
        item,
        1,
        first,
        consumer=draw(RUNS),
        batch_position=draw(st.none() | st.integers(1, 3)),
        batch_count=draw(st.integers(1, 5)),
        effect=draw(st.sampled_from(["yes", "no", "unknown"])),
        function_timeout_s=draw(st.none() | st.integers(1, 2)),
        **of_run,
    )
    other = delivery(item, 2, again, consumer=draw(RUNS), effect=draw(st.sampled_from(["yes", "unknown"])))
    pair = redelivery(
        item,
        later=again,
        cause=draw(st.sampled_from(["batch_collateral", "function_timeout", "throttled"])),
        excluded=draw(st.sampled_from([[], ["released: no"], ["released: never", "throttled: no"]])),
        rulings=draw(st.sampled_from(OPEN)),
    )
    kind = draw(st.sampled_from([message, message, harmless]))
    verdict = kind(
        item,
        first,
        again,
        verdict=draw(st.sampled_from(["confirmed", "probable"])),
        certainty=draw(st.sampled_from(["proved", "inferred"])),
        group_id=draw(st.none() | st.sampled_from(["g", "h"])),
        final_at=draw(st.none() | st.integers(1, 3)),
        receive_count=draw(st.sampled_from([1, 2])),
        origin_open=draw(st.sampled_from([[], ["producer_retry: it may be"]])),
    )
    return Judged([one, other], [pair], [verdict])


@given(st.data())
def test_an_incident_is_the_same_however_its_works_are_shared_out(data):
    every = [data.draw(works(item)) for item in ("a", "b", "c", "d", "e")]
    every[0].messages[0].effects_at_most = data.draw(st.sampled_from([2, None]))
    places = data.draw(st.lists(st.integers(0, 2), min_size=5, max_size=5))
    members = {m.item_id: m.is_affected for work in every for m in work.messages}
    parts = [[work for work, part in zip(every, places, strict=True) if part == n] for n in range(3)]
    shares = [share_of_works(_of(members, part), map(carried_work, part)) for part in parts if part]
    carried = [msgspec.json.decode(msgspec.json.encode(share), type=Share) for share in shares]

    whole, in_parts = (told_of("i", ARN, some, Gaps([]), 5) for some in ([share_of_works(members, every)], carried))

    assert whole == in_parts


def carried_work(work: Judged) -> Told:
    """Return what a work tells, packed and read again."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(told(work)), type=Told)


def _of(members: dict[str, bool], works: list[Judged]) -> dict[str, bool]:
    return {item: members[item] for work in works for item in {d.item_id for d in work.ledger}}


def test_a_batch_counts_whole_though_its_messages_lie_in_different_parts():
    batch = {"consumer": "run-1", "batch_count": 2, "run_started_at": at(0), "run_ended_at": at(10)}
    batch["is_batch_printed"] = True
    parts = [
        Judged(
            [delivery(item, 1, 0, effect="yes", **batch), delivery(item, 2, 30, effect="yes")],
            [redelivery(item, later=30, gap_ms=30_000)],
            [message(item)],
        )
        for item in ("a", "b")
    ]

    whole = told_of("i", ARN, [share_of_works({w.messages[0].item_id: True}, [w]) for w in parts], Gaps([]), None)

    assert "All had finished; SQS redelivered all 2" in whole.row["cause_sentence"]
    assert whole.row["messages"] == whole.row["extra_effects_at_least"] == 2
