"""Works that make one incident whatever else is judged: what they tell of it can be counted where they are."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from forensics.incidents.quiet import QUIET_MS
from forensics.incidents.shares import Share, share_of_works, with_marked_texts
from forensics.incidents.told import Told
from forensics.judging.model import Judged, Message

Works = Mapping[tuple[str, str], Judged]
"""Judged works by queue ARN and work id."""

Members = Iterable[tuple[str, str, str, str, bool]]
"""Messages of incidents as queue ARN, incident, item id, work id, and whether its work may have been done twice."""


def sure_shares(works: Works) -> tuple[list[tuple[str, str, Share]], Works]:
    """Return what works tell of their incident, each with its queue and one message of it; and the works of which that is open.

    Affected messages of a queue between which there is never a longer quiet than any incident bears are of one incident: others
    between them only shorten it. Open are works that reach over such a quiet, and those that may fall into an incident or not;
    works without a verdict tell of none.
    """
    stretch_of: dict[tuple[str, str], set[int | None]] = {name: set() for name, work in works.items() if work.messages}
    by_queue: dict[str, list[Message]] = defaultdict(list)
    for (queue_arn, work_id), stretches in stretch_of.items():
        for message in works[queue_arn, work_id].messages:
            if message.is_affected and message.first_received_at is not None:
                by_queue[queue_arn].append(message)
            else:
                stretches.add(None)
    sure: dict[int, list[Judged]] = {}
    for messages in by_queue.values():
        for message, began in _without_quiet(messages, len(sure)):
            sure.setdefault(began, [])
            stretch_of[message.queue_arn, message.work_id].add(began)
    others = {}
    for name, stretches in stretch_of.items():
        (stretch,) = stretches if len(stretches) == 1 else (None,)
        if stretch is None:
            others[name] = works[name]
        else:
            sure[stretch].append(works[name])
    return [_share(mine) for mine in sure.values() if mine], others


def open_shares(members: Members, works: Iterable[Judged | Told]) -> Iterator[tuple[str, str, Share]]:
    """Yield what works that are in no share tell of each incident, given all its members in order of incidents."""
    by_name = {(work.ledger[0].queue_arn, work.ledger[0].work_id): work for work in works}
    items: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    work_ids: dict[tuple[str, str], set[str]] = defaultdict(set)
    for queue_arn, incident_id, item_id, work_id, is_affected in members:
        if (queue_arn, work_id) in by_name:
            items[queue_arn, incident_id][item_id] = is_affected
            work_ids[queue_arn, incident_id].add(work_id)
    for (queue_arn, incident_id), of_incident in items.items():
        mine = [by_name[queue_arn, work_id] for work_id in sorted(work_ids[queue_arn, incident_id])]
        yield queue_arn, incident_id, with_marked_texts(share_of_works(of_incident, mine))


def _share(works: list[Judged]) -> tuple[str, str, Share]:
    first = works[0].messages[0]
    members = {message.item_id: True for work in works for message in work.messages}
    return first.queue_arn, first.item_id, with_marked_texts(share_of_works(members, works))


def _without_quiet(messages: Iterable[Message], number: int) -> Iterator[tuple[Message, int]]:
    """Yield messages of one queue in order, with the number of the stretch without quiet that they are in, above ``number``."""
    active_at = None
    for message in sorted(messages, key=_by_receive):
        assert message.first_received_at is not None
        if active_at is None or message.first_received_at // 1000 - active_at // 1000 > QUIET_MS:
            number += 1
        yield message, number
        if message.last_active_at is not None:
            active_at = max(message.last_active_at, active_at or message.last_active_at)


def _by_receive(message: Message) -> tuple[int, str]:
    return message.first_received_at or 0, message.item_id
