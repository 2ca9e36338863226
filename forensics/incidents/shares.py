"""What some works tell of one incident: shares of different works add up, so that each can be counted where its works are."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from operator import attrgetter
from typing import NamedTuple

from forensics.incidents.ranking import highest
from forensics.incidents.repeats import Repeated, WorkRepeat, all_repeated, counted, repeats
from forensics.incidents.told import AnyDelivery, Told
from forensics.incidents.trigger import Triggers, all_triggers, triggers_of
from forensics.judging.model import Judged, Message, Redelivery
from forensics.origins import still_open
from forensics.rules.ruling import UNDECIDABLE, Ruling
from forensics.sentence import marked

Counts = Mapping[str, int]


class InForce(NamedTuple):
    """The settings of one delivery, who got it, and the lines that tell them."""

    name: str | None
    is_fifo: bool | None
    visibility_timeout_s: int | None
    function_timeout_s: int | None
    batch_size: int | None
    evidence_ids: tuple[str | None, str | None, str | None]


@dataclass(kw_only=True, slots=True)
class Share:
    """What some works tell of one incident; times in µs. Texts are counted as they stand: ``code: why``.

    Of all its messages: ``verdicts``, ``works`` by verdict, ``sent``, ``received_once`` (no redelivery of them is seen), ``origin``
    (the last by name), ``proved`` of the confirmed, ``final_at``, and ``further`` with what is out and open of their origins. Of the affected ones the rest:
    ``repeated_elsewhere``: the items of works that are repeated in other incidents alone, sorted,
    ``has_open_end`` where one has no upper bound, ``has_other_receives`` where a receive count is not 1, ``stopped_s``: how long
    runs lasted that timed out. ``evidence_ids``, sorted, name the lines of the settings in force, too.
    """

    queue: str
    verdicts: Counts
    works: Counts
    sent: int
    received_once: int
    origin: str | None
    proved: int
    final_at: int | None
    further: int
    origins_out: Counts
    origins_open: Counts

    affected: int
    works_affected: int
    works_shared: int
    repeated_elsewhere: list[str]
    started_at: int | None
    ended_at: int | None
    group_ids: set[str]
    has_open_end: bool
    has_other_receives: bool
    evidence_ids: list[str]
    causes: Counts
    excluded: Counts
    rivals: Counts
    first_repeat_at: int | None
    in_force: set[InForce]
    stopped_s: set[int]
    triggers: Triggers
    repeated: Repeated


def share_of_works(members: Mapping[str, bool], works: Iterable[Judged | Told]) -> Share:
    """Return what whole works tell; ``members`` says of the incident's items whether they may have been done twice."""
    ledger: list[AnyDelivery] = []
    redeliveries: list[Redelivery] = []
    messages: list[Message] = []
    for work in works:
        ledger += work.ledger
        redeliveries += work.redeliveries
        messages += [m for m in work.messages if m.item_id in members]
    affected = {item for item, is_affected in members.items() if is_affected}
    return share_of(messages, redeliveries, ledger, affected)


def share_of(
    messages: Collection[Message],
    redeliveries: Collection[Redelivery],
    ledger: Collection[AnyDelivery],
    affected: Collection[str],
) -> Share:
    """Return what some works tell of an incident.

    ``messages`` are all of theirs that belong to it, ``affected`` the item ids of those that may have been done twice; redeliveries of
    others are not looked at. ``ledger`` holds the works whole.
    """
    messages = [message for message in messages if not message.is_beside_messages]
    hit = [message for message in messages if message.item_id in affected]
    here = {message.message_id for message in messages}
    further = [message for message in messages if message.origin_excluded or message.origin_open or message.origin]
    mine = [redelivery for redelivery in redeliveries if redelivery.item_id in affected]
    times = [r.again_at for r in mine if r.again_at is not None]
    times += _other_ids_at(hit)
    times += [message.repeat_shown_at for message in hit if message.repeat_shown_at is not None]
    of_affected = [d for d in ledger if d.item_id in affected]
    shared = [message for message in hit if not here.issuperset(message.related_message_ids)]
    again = repeats(messages, mine, ledger, affected)
    in_force = _in_force(of_affected)
    of_settings = (line for one in in_force for line in one.evidence_ids if line)
    return Share(
        queue=max((message.queue for message in hit), default=""),
        verdicts=Counter(message.verdict for message in messages),
        works=Counter({message.work_id: message.verdict for message in messages}.values()),
        sent=_sent_count(messages),
        received_once=sum(not message.is_redelivered for message in messages),
        origin=max((message.origin for message in messages if message.origin is not None), default=None),
        proved=sum(m.verdict == "confirmed" and m.certainty == "proved" for m in messages),
        final_at=highest(message.final_at for message in messages),
        further=len(further),
        origins_out=Counter(text for message in further for text in message.origin_excluded),
        origins_open=Counter(text for message in further for text in message.origin_open),
        affected=len(hit),
        works_affected=len({message.work_id for message in hit}),
        works_shared=len({message.work_id for message in shared}),
        repeated_elsewhere=_repeated_elsewhere(shared, hit, again),
        started_at=_lowest(message.first_received_at for message in hit),
        ended_at=highest(message.last_active_at for message in hit),
        group_ids={message.group_id for message in hit if message.group_id is not None},
        has_open_end=any(message.effects_at_most is None for message in hit),
        has_other_receives=any(message.receive_count != 1 for message in hit),
        evidence_ids=sorted(set().union(of_settings, *(message.evidence_ids for message in hit))),
        causes=Counter(redelivery.cause for redelivery in mine),
        excluded=_excluded(mine),
        rivals=_rivals(mine),
        first_repeat_at=_lowest(times),
        in_force=in_force,
        stopped_s={
            round((d.run_ended_at - d.run_started_at) / 1_000_000)
            for d in of_affected
            if d.run_status == "timeout" and d.run_started_at and d.run_ended_at
        },
        triggers=triggers_of(mine, ledger, affected),
        repeated=counted(again),
    )


def with_marked_texts(share: Share) -> Share:
    """Return it with its texts in their marked form: what is packed keeps the keys of a count as plain texts."""
    return replace(
        share,
        origins_out=_marked(share.origins_out),
        origins_open=_marked(share.origins_open),
        excluded=_marked(share.excluded),
        rivals=_marked(share.rivals),
    )


def _marked(counts: Counts) -> Counts:
    return {marked(text): count for text, count in counts.items()}


def together(shares: Sequence[Share]) -> Share:
    """Add up what different works tell of one incident, at least one."""
    return Share(
        queue=max(share.queue for share in shares),
        verdicts=_sum(share.verdicts for share in shares),
        works=_sum(share.works for share in shares),
        sent=sum(share.sent for share in shares),
        received_once=sum(share.received_once for share in shares),
        origin=max((share.origin for share in shares if share.origin is not None), default=None),
        proved=sum(share.proved for share in shares),
        final_at=highest(share.final_at for share in shares),
        further=sum(share.further for share in shares),
        origins_out=_sum(share.origins_out for share in shares),
        origins_open=_sum(share.origins_open for share in shares),
        affected=sum(share.affected for share in shares),
        works_affected=sum(share.works_affected for share in shares),
        works_shared=sum(share.works_shared for share in shares),
        repeated_elsewhere=merged(share.repeated_elsewhere for share in shares),
        started_at=_lowest(share.started_at for share in shares),
        ended_at=highest(share.ended_at for share in shares),
        group_ids=set().union(*(share.group_ids for share in shares)),
        has_open_end=any(share.has_open_end for share in shares),
        has_other_receives=any(share.has_other_receives for share in shares),
        evidence_ids=merged(share.evidence_ids for share in shares),
        causes=_sum(share.causes for share in shares),
        excluded=_sum(share.excluded for share in shares),
        rivals=_sum(share.rivals for share in shares),
        first_repeat_at=_lowest(share.first_repeat_at for share in shares),
        in_force=set().union(*(share.in_force for share in shares)),
        stopped_s=set().union(*(share.stopped_s for share in shares)),
        triggers=all_triggers([share.triggers for share in shares]),
        repeated=all_repeated(share.repeated for share in shares),
    )


def _repeated_elsewhere(shared: Iterable[Message], hit: Iterable[Message], again: Iterable[WorkRepeat]) -> list[str]:
    """Return the items of shared works of which no repeat is here, nor can hide here."""
    repeated = {repeat.item_id for repeat in again}
    works = {message.work_id for message in hit if message.item_id in repeated}
    return sorted(m.item_id for m in shared if m.work_id not in works and m.effects_at_most is not None)


def _other_ids_at(messages: Iterable[Message]) -> list[int]:
    """Return when each id of a work but its first was received, as far as that is known."""
    received: dict[str, list[int]] = {}
    for message in messages:
        if message.first_received_at is not None:
            received.setdefault(message.work_id, []).append(message.first_received_at)
    return [at for mine in received.values() for at in sorted(mine)[1:]]


def _sum(counts: Iterable[Counts]) -> Counter[str]:
    found = Counter[str]()
    for some in counts:
        found.update(some)
    return found


def merged(lists: Iterable[Sequence[str]]) -> list[str]:
    """Return what sorted lists hold, sorted, each once."""
    return [text for text, _ in groupby(sorted(chain.from_iterable(lists)))]


def _sent_count(messages: Iterable[Message]) -> int:
    """Count what was sent: message ids, and one of each work of which only a business key is logged."""
    ids: dict[str, set[str]] = defaultdict(set)
    for message in messages:
        ids[message.work_id].update([message.message_id] if message.message_id is not None else [])
    return sum(max(len(of_work), 1) for of_work in ids.values())


def _excluded(redeliveries: Collection[Redelivery]) -> Counter[str]:
    """Count what is excluded, each with why: of redeliveries that are alike it is one list."""
    once = {id(redelivery.excluded): redelivery.excluded for redelivery in redeliveries}
    found = Counter[str]()
    for name, count in Counter(id(redelivery.excluded) for redelivery in redeliveries).items():
        for text in once[name]:
            found[text] += count
    return found


def _rivals(redeliveries: Iterable[Redelivery]) -> Counter[str]:
    """Count the causes that are open still, each with why."""
    rulings = (ruled for redelivery in redeliveries for ruled in redelivery.rulings if ruled.stance == UNDECIDABLE)
    found = Counter[str]()
    for ruled, count in Counter(rulings).items():
        found[still_open(ruled.code, Ruling(ruled.stance, ruled.sentence, ruled.would_decide))] += count
    return found


_NAMED = attrgetter("function_name", "log_group")
_SET = attrgetter(*InForce._fields[1:-1])
_SETTING_IDS = attrgetter("queue_settings_id", "mapping_id", "function_settings_id")


def _in_force(deliveries: Iterable[AnyDelivery]) -> set[InForce]:
    """Return the settings of deliveries: most have the same."""
    found = {(_NAMED(d), _SET(d), _SETTING_IDS(d)) for d in deliveries}
    return {InForce(function or group, *of, ids) for (function, group), of, ids in found}


def _lowest(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)
