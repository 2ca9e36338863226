"""The lanes of FIFO message groups above a timeline: when nothing of the group could be handed out."""

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

import pandas as pd

from forensics.language import ENGLISH, Language
from forensics.sentence import counted, marked, said
from forensics.words import span_text

PREFIX = "group:"
"""What the item id of a group's lane starts with; a click there chooses no message."""
MOST_GROUPS = 6
MOST_CHARS = 12
"""Characters of a group's name that a lane has room for."""


class Blocked(Protocol):
    """One stretch in which a group stood still; times are UTC."""

    @property
    def group_id(self) -> str: ...  # noqa: D102
    @property
    def start_at(self) -> datetime: ...  # noqa: D102
    @property
    def end_at(self) -> datetime: ...  # noqa: D102
    @property
    def blocked_ms(self) -> int: ...  # noqa: D102
    @property
    def messages(self) -> int | None: ...  # noqa: D102


def with_groups(
    timeline: pd.DataFrame, spans: Iterable[Blocked], say: Language = ENGLISH
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return ``timeline`` rows with a lane on top per group that stood still, and those lanes' labels.

    At most MOST_GROUPS lanes, longest blocked first.
    """
    of_group: dict[str, list[Blocked]] = {}
    for span in spans:
        of_group.setdefault(span.group_id, []).append(span)
    total = {group: sum(s.blocked_ms for s in found) for group, found in of_group.items()}
    shown = sorted(total, key=lambda g: (-total[g], g))[:MOST_GROUPS]
    if timeline.empty or not shown:
        return timeline, {}
    rows = [
        {
            "item_id": PREFIX + group,
            "delivery_index": 0,
            "message_id": None,
            "receive_count": None,
            "lane": place - len(shown),
            "kind": "blocked",
            "at": pd.Timestamp(span.start_at),
            "until_at": pd.Timestamp(span.end_at),
            "ended_by": None,
            "consumer": None,
            "source": "derived",
            "label": marked(said("group {group}: blocked, {waiting}", group=group, waiting=_waiting(span.messages))),
        }
        for place, group in enumerate(shown)
        for span in of_group[group]
    ]
    top = pd.DataFrame(rows).reindex(columns=timeline.columns).astype(object)
    whole = pd.concat([top, timeline.astype(object)], ignore_index=True)
    for column in ("at", "until_at"):
        whole[column] = pd.to_datetime(whole[column], utc=True)
    for column in ("lane", "delivery_index"):
        whole[column] = whole[column].astype("int64")
    return whole, {PREFIX + g: f"■ {_short(g or say('group'))}" for g in shown}


def _waiting(messages: int | None) -> str:
    if messages is None:
        return "messages waiting unknown"
    return said("{messages} waiting", messages=counted(messages, "message"))


def _short(name: str) -> str:
    return name if len(name) <= MOST_CHARS else f"{name[: MOST_CHARS - 1]}…"


def blocked_words(spans: Iterable[Blocked]) -> str | None:
    """Say in one sentence how long the groups stood still; None if none did."""
    found = list(spans)
    if not found:
        return None
    groups = {s.group_id for s in found}
    total = span_text(sum(s.blocked_ms for s in found))
    times = said("{count} times", count=len(found)) if len(found) > 1 else "once"
    if len(groups) == 1:
        return said(
            "The message group was blocked {times}, {whole} in total: no other message of a FIFO group is delivered while one is in flight."
            if "" in groups
            else "Message group {group} was blocked {times}, {whole} in total: no other message of a FIFO group is delivered while one is in flight.",
            group=next(iter(groups)),
            times=times,
            whole=total,
        )
    return said(
        "{count} message groups were blocked {times}, {whole} in total.", count=len(groups), times=times, whole=total
    )
