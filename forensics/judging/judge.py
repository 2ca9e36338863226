"""Judge whole works: their ledger in order, why each delivery came again, and how often the work was done."""

from collections import defaultdict
from collections.abc import Iterable
from copy import copy
from itertools import chain

from forensics.judging.calls import add_calls, add_receive, give_marks_to_deletes
from forensics.judging.dead_letters import count_with_source
from forensics.judging.effect import count_returned_once, decide_effect
from forensics.judging.ending import decide_endings, delete_status, ends_surely
from forensics.judging.evidence import evidence_of
from forensics.judging.given_back import add_given_back
from forensics.judging.guard_tables import add_records
from forensics.judging.keyed_marks import with_contradicted_marks_apart, with_guessed_marks_apart, with_marks_by_key
from forensics.judging.late_output import share_by_key, with_late_output_returned
from forensics.judging.ledger import put_in_order
from forensics.judging.lone_marks import with_lone_marks_moved
from forensics.judging.marks_beside import MarksBeside, count_beyond_messages
from forensics.judging.maybe_same import MaybeSame
from forensics.judging.messages import messages_of
from forensics.judging.model import Judged, Message, Redelivery
from forensics.judging.pairs import redeliveries_of
from forensics.judging.passing import without_passing
from forensics.judging.placing import place_by_message
from forensics.judging.provisional import delivery_final_at
from forensics.judging.same_receive import put_together
from forensics.judging.sends import add_sends
from forensics.judging.surroundings import Surroundings
from forensics.judging.task_stops import add_stop
from forensics.judging.unlogged import unlogged_receives
from forensics.judging.works import works
from forensics.run_ends import CUT_OFF
from forensics.streams.model import Delivery

Item = list[Delivery]
"""The deliveries of one message, or of one business key, in one queue."""


def judge(deliveries: Iterable[Delivery], around: Surroundings) -> Judged:
    """Judge the deliveries that logs show, placed among settings and with how far their batches got; they stay as they are.

    Takes whole works, of any number of queues: every delivery of every item that may share work with another one here. What
    comes out is in order of queue, work, item and delivery, whatever order they come in.
    """
    judged = Judged()
    items = _items(deliveries, around)
    beside = MarksBeside(items)
    found = works(items, around)
    for work in found:
        count_returned_once([d for item in work for d in item])
        add_records(work, around.guard_records)
        count_beyond_messages(work)
    maybe = MaybeSame(found, around)
    told: dict[int, tuple[list[list[Redelivery]], list[Message]]] = {}
    # one after the other what a run had: most of what is asked of it was just asked
    for place in sorted(range(len(found)), key=lambda place: by_run(found[place][0][0])):
        work = found[place]
        deliveries = list(chain.from_iterable(work))
        for delivery in deliveries if len(deliveries) > 1 else ():
            delivery.is_provisional = delivery_final_at(delivery, around.finality) is not None
        redeliveries = [redeliveries_of(item, around) for item in work]
        told[place] = redeliveries, messages_of(work, redeliveries, around, beside.count(work), maybe.of(place))
    for place, work in enumerate(found):
        redeliveries, messages = told[place]
        judged.ledger += chain.from_iterable(work)
        judged.redeliveries += chain.from_iterable(redeliveries)
        judged.messages += messages
    return judged


def by_run(delivery: Delivery) -> tuple[int, str]:
    """Return a sort key that puts together what a run had."""
    at = delivery.received_at if delivery.run_started_at is None else delivery.run_started_at
    return at or 0, delivery.consumer or ""


def judge_alone(delivery: Delivery) -> bool:
    """Judge a delivery as if it were its message's only one; tells whether it ``ends_surely``, and so needs no more."""
    decide_effect(delivery)
    delivery.delete_status = delete_status(delivery.delete_reason)
    if is_over := ends_surely(delivery):
        delivery.ended_by = "deleted"
    return is_over


def _items(deliveries: Iterable[Delivery], around: Surroundings) -> list[Item]:
    """Return the ledger of each item by queue and item id: deliveries in order, each with its effect and its ending."""
    to_judge = [_to_judge(d, around) for d in deliveries]
    place_by_message(to_judge, around)
    count_with_source(to_judge, around.dead_letter_sources, around.consumed)
    logged = with_late_output_returned(to_judge)
    share_by_key(logged)
    logged = with_guessed_marks_apart(with_contradicted_marks_apart(logged), around.sends)
    logged = with_marks_by_key(logged, around.sends)
    logged = with_lone_marks_moved(logged)
    by_item: dict[tuple[str, str], Item] = defaultdict(list)
    for delivery in logged:
        by_item[delivery.queue_arn, delivery.item_id].append(delivery)
    items = {}
    for name, item in by_item.items():
        item = without_passing(item)
        for delivery in item:
            delivery.is_one_of_several = len(item) > 1
        item = put_together(item)
        in_order = put_in_order(item + unlogged_receives(item, around))
        _add_calls(in_order, around)
        for delivery in in_order:
            add_given_back(delivery, in_order, around)
            decide_effect(delivery)
        decide_endings(in_order, around)
        items[name] = in_order
    return [item for _, item in sorted(items.items())]


def _add_calls(item: Item, around: Surroundings) -> None:
    """Add what recorded calls to SQS, and the ends of tasks, tell of an item's deliveries."""
    for delivery in item:
        if not delivery.is_seen:
            add_receive(delivery, item, around.calls)
            continue
        if around.calls:
            add_calls(delivery, around.calls)
        add_stop(delivery, around.task_stops)
    if around.calls:
        give_marks_to_deletes(item, around.calls)
    add_sends(item, around.sends)


def _to_judge(delivery: Delivery, around: Surroundings) -> Delivery:
    """Return a copy of which everything is still to judge."""
    mine = copy(delivery)
    mine.order_at = mine.received_at
    if mine.is_exhaustive and mine.log_group is not None and around.shows_no_effect(mine.log_group, mine.function_name):
        mine.is_exhaustive = False  # no line at all is like the effect's: nothing shows that every work prints it
    if mine.told_again_count and around.tells_effect_once(mine.log_group):
        mine.lone_mark_count += mine.told_again_count
    bears = mine.run_status in CUT_OFF or (mine.run_status == "success" and mine.is_exhaustive)
    if bears and mine.order_declared is None and mine.log_group is not None:
        mine.order_inferred, mine.order_runs = around.order_of(mine.log_group, mine.function_name)
    mine.evidence_ids = evidence_of(mine)
    return mine
