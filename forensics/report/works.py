"""The works of a case: one row for all messages that stand for the same work, because one payment is refunded once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def by_work(messages: Iterable[Row]) -> list[Row]:
    """Return a row of ``messages`` per work, at the place of its first message and with what all of them say together.

    Added are ``message_ids`` (all ids of the work, those of other incidents last), ``item_ids`` (of the messages given),
    ``extra_effects_at_least`` and ``extra_effects_at_most`` (None: no upper bound). ``deliveries`` and ``receive_count``
    are of all given messages together, the count None where one is not logged.
    """
    works: dict[tuple[str, str], list[Row]] = {}
    for message in messages:
        works.setdefault((message["queue_arn"], message["work_id"] or message["item_id"]), []).append(message)
    return [_of_work(mine) for mine in works.values()]


def _of_work(mine: Sequence[Row]) -> Row:
    first = mine[0]
    most = first["effects_at_most"]
    return {
        **first,
        **{name: _first_known(mine, name) for name in ("message_id", "origin", "group_id", "deduplication_id")},
        **{name: _together(mine, name) for name in ("causes", "business_keys", "evidence_ids")},
        "message_ids": _ids(mine),
        "item_ids": [m["item_id"] for m in mine],
        "deliveries": sum(m["deliveries"] or 0 for m in mine),
        "receive_count": _sum(m["receive_count"] for m in mine),
        "first_received_at": min((m["first_received_at"] for m in mine if m["first_received_at"]), default=None),
        "last_received_at": max((m["last_received_at"] for m in mine if m["last_received_at"]), default=None),
        "is_dead_lettered": any(m["is_dead_lettered"] for m in mine),
        "trigger_sentence": " ".join(dict.fromkeys(m["trigger_sentence"] for m in mine if m["trigger_sentence"])),
        "extra_effects_at_least": max((first["effects_at_least"] or 0) - 1, 0),
        "extra_effects_at_most": None if most is None else max(most - 1, 0),
    }


def _ids(mine: Sequence[Row]) -> list[str]:
    here = [m["message_id"] for m in mine if m["message_id"]]
    return list(dict.fromkeys([*here, *(i for m in mine for i in m["related_message_ids"] or ())]))


def _first_known(mine: Sequence[Row], name: str) -> Any:
    return next((m[name] for m in mine if m[name] is not None), None)


def _together(mine: Sequence[Row], name: str) -> list[str]:
    return list(dict.fromkeys(value for m in mine for value in m[name] or ()))


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count for count in known if count is not None)
