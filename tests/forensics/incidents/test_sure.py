"""What works tell of their incident where it is theirs for sure, and who is left for when all are known."""

from collections.abc import Sequence
from typing import Any

import msgspec
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting.membership import VERDICT_SCHEMA, membership
from forensics.incidents.gaps import Gaps
from forensics.incidents.shares import Share, share_of_works, with_marked_texts
from forensics.incidents.sure import Members, open_shares, sure_shares
from forensics.incidents.told import Told
from forensics.incidents.told import told as told_by
from forensics.incidents.whole import told_of
from forensics.judging.model import Judged, Message
from forensics.sentence import both_forms, labelled, marked, said
from tests.forensics.incidents.builders import ARN, at, delivery, harmless, message, redelivery, ruled

QUIET_S = 15 * 60
OPEN = ruled("batch_collateral", "undecidable", said("{run} printed no batch", run="run 1"))


def carried_work(work: Judged) -> Told:
    """Return what a work tells, packed and read again."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(told_by(work), enc_hook=marked), type=Told)


def carried_share(share: Share) -> Share:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(share, enc_hook=marked), type=Share)


def work_of(*messages: Message) -> Judged:
    work = Judged([], [], list(messages))
    for one in messages:
        one.work_id, one.group_id = messages[0].item_id, one.item_id
        for index in (1, 2):
            work.ledger.append(delivery(one.item_id, index, 0, work_id=one.work_id, effect="yes"))
        out = [labelled("released", said("it was redelivered after {gap}", gap="60 s")), "throttled: no"]
        work.redeliveries.append(redelivery(one.item_id, excluded=out, rulings=[OPEN]))
    return work


def by_name(works: Sequence[Judged]) -> dict[tuple[str, str], Judged]:
    return {(work.ledger[0].queue_arn, work.ledger[0].work_id): work for work in works}


def incidents_of(messages: Sequence[Message]) -> Members:
    """Return who belongs to which incident, as columns tell it, in the order of what is told."""
    rows = [{name: getattr(one, name) for name in VERDICT_SCHEMA} for one in messages]
    found = membership(pl.DataFrame(rows, schema=VERDICT_SCHEMA)).sort("queue_arn", "incident_id", "item_id")
    return found.select("queue_arn", "incident_id", "item_id", "work_id", "is_member_affected").rows()


def sure_and_open(*works: Judged) -> tuple[list[list[str]], list[str]]:
    """Return which items each share is of, and which works are left open."""
    shares, others = sure_shares(by_name(works))
    return [sorted(share.group_ids) for *_, share in shares], [work_id for _, work_id in others]


def test_works_with_no_quiet_between_them_are_told_together():
    works = [work_of(message("a", 0, 60)), work_of(message("b", 60 + QUIET_S)), work_of(message("c", 61 + 2 * QUIET_S))]

    assert sure_and_open(*works) == ([["a", "b"], ["c"]], [])


def test_activity_of_a_message_goes_on_though_a_later_one_was_over_before():
    works = [work_of(message("a", 0, 3000)), work_of(message("b", 10)), work_of(message("c", 3000 + QUIET_S))]

    assert sure_and_open(*works) == ([["a", "b", "c"]], [])


def test_a_longer_visibility_timeout_is_no_reason_to_be_sure():
    works = [work_of(message(item, first, visibility_timeout_s=3600)) for item, first in (("a", 0), ("b", QUIET_S + 1))]

    assert sure_and_open(*works) == ([["a"], ["b"]], [])


def test_open_are_works_that_reach_over_a_quiet_that_may_fall_into_an_incident_or_are_without_a_time():
    apart = work_of(message("a", 0), message("b", 2 * QUIET_S))
    works = [apart, work_of(harmless("c")), work_of(message("d", None)), work_of(message("e", 5))]

    assert sure_and_open(*works) == ([["e"]], ["a", "c", "d"])


def test_a_work_without_a_verdict_tells_nothing():
    assert sure_and_open(Judged([delivery("a")], [], [])) == ([], [])


def test_queues_have_incidents_of_their_own():
    other = work_of(message("b", 1, queue_arn=f"{ARN}-2"))
    other.ledger = [delivery("b", queue_arn=f"{ARN}-2")]

    assert sure_and_open(work_of(message("a", 0)), other) == ([["a"], ["b"]], [])


TIMES = st.none() | st.sampled_from([0, 10, 899, 900, 901, 1500, 1801, 2702, 4000])


@st.composite
def verdicts(draw: Any, item: str) -> Message:
    first = draw(TIMES)
    last = None if first is None else first + draw(st.sampled_from([0, 1, 900, 1300]))
    kind = draw(st.sampled_from([message, message, harmless]))
    active = draw(st.sampled_from([at(last), at(last), None]))
    timeout = draw(st.sampled_from([None, 30, 700]))
    return kind(item, first, last, last_active_at=active, visibility_timeout_s=timeout)


@given(st.data())
def test_sure_or_open_an_incident_is_told_as_if_all_were_known_at_once(data):
    drawn = [data.draw(verdicts(item)) for item in "abcdefg"]
    works = [work_of(*drawn[low:high]) for low, high in ((0, 2), (2, 3), (3, 4), (4, 5), (5, 7))]
    parts = [works[:3], works[3:]]
    members = incidents_of(drawn)
    told: dict[str, list] = {}
    for part in parts:
        shares, others = sure_shares(by_name(part))
        incident_of = {item: incident for _, incident, item, *_ in members}
        for _, item, share in shares:
            told.setdefault(incident_of[item], []).append(carried_share(share))
        for _, incident, share in open_shares(members, map(carried_work, others.values())):
            told.setdefault(incident, []).append(share)
    whole = {incident: share for _, incident, share in open_shares(members, map(carried_work, works))}

    assert told.keys() == whole.keys()
    for incident, shares in told.items():
        one, other = (told_of(incident, ARN, some, Gaps([]), None) for some in (shares, [whole[incident]]))
        assert one == other


def test_of_a_work_that_is_open_only_the_members_count():
    whole = with_marked_texts(share_of_works({"a": True}, [work_of(message("a"), message("b", 9000))]))
    members = [(ARN, "i", "a", "a", True), (ARN, "i", "x", "x", True)]

    ((queue_arn, incident, share),) = open_shares(members, [work_of(message("a"), message("b", 9000))])

    assert (queue_arn, incident, share) == (ARN, "i", whole)


def test_what_an_open_work_tells_is_carried_with_its_values_marked():
    ((*_, share),) = open_shares([(ARN, "i", "a", "a", True)], [work_of(message("a"))])
    row = told_of("i", ARN, [carried_share(share)], Gaps([]), None).row

    assert both_forms(row["still_open"])[1] is not None
