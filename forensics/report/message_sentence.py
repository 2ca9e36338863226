"""What happened to one message, or to all ids of one work, in one sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.words import count_text, interval_text

Row = Mapping[str, Any]


def message_sentence(deliveries: Sequence[Row], verdict: Row | None) -> str:
    """Say what happened: ``Received 2 times, deleted once, work done 2 times.``

    ``deliveries`` are those of one message or of every id of one work; ``verdict`` is its row of ``messages``, None for
    a message that came once.
    """
    # By id over all queues: a message that was moved to a dead-letter queue may keep its receive count there.
    of_id: dict[str, list[Row]] = {}
    for d in deliveries:
        of_id.setdefault(d["message_id"] or d["item_id"], []).append(d)
    times = sum(max([len(mine), *(d["receive_count"] or 0 for d in mine)]) for mine in of_id.values())
    ids = f" under {len(of_id)} ids" if len(of_id) > 1 else ""
    parts = [f"Received {_times(times)}{ids}"]
    if unseen := times - sum(bool(d["is_seen"]) for d in deliveries):
        parts.append(f"of which {count_text(unseen, 'receive')} left no log line")
    deleted = sum(d["ended_by"] == "deleted" for d in deliveries)
    parts.append(f"deleted {_times(deleted)}" if deleted else "not seen to be deleted")
    if refused := sum(d["delete_status"] == "expired" for d in deliveries):
        parts.append(f"delete refused {_times(refused)}")
    if any(d["ended_by"] == "dead_lettered" for d in deliveries):
        parts.append("moved to the dead-letter queue")
    least, most = done(deliveries, verdict)
    said = _times(least) if least == most else f"{interval_text(least, most)} times"
    parts.append(f"work done {said}" if (least, most) != (0, 0) else "work not done")
    return ", ".join(parts) + "."


def done(deliveries: Sequence[Row], verdict: Row | None) -> tuple[int, int | None]:
    """Return how often the work was done: its interval, from the verdict where there is one."""
    if verdict:
        return verdict["effects_at_least"] or 0, verdict["effects_at_most"]
    least = sum(d["effect"] == "yes" for d in deliveries)
    return least, least + sum(d["effect"] == "unknown" for d in deliveries)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
