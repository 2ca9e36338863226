"""The plain values that proposals are made of: runs with their lines, and the proposals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from forensics.run_ends import CUT_OFF
from forensics.sentence import joined, said
from forensics.verdict.interval import VERDICTS

OF_LINE = "line"
"""Where a line without an id names the work of the message that its thread has in hand."""
MESSAGE_ID = "message_id"
"""Where a line holds the message's own id; any other place is a path into the body, such as ``$.payment_id``."""


class Line(NamedTuple):
    """One line of the handler's own; ``at`` in µs since 1970, UTC."""

    at: int
    text: str


@dataclass(frozen=True)
class Item:
    """One message of a run: its place in the batch from 1, and every value by which a line may name it.

    ``values`` maps a value to where it stands: ``message_id`` or a path into the printed body. ``receive_count`` None: not
    logged. ``delivery_index`` is its place among the message's deliveries that are known, from 1; None: not told.
    """

    message_id: str
    position: int
    values: Mapping[str, str]
    receive_count: int | None = None
    deduplication_id: str | None = None
    delivery_index: int | None = None

    @property
    def has_id(self) -> bool:
        """Tell whether more is known of the message than a key that lines tell."""
        return set(self.values.values()) != {OF_LINE}


@dataclass
class RunLines:
    """One run of a function with the lines between its START and its end; times in µs since 1970, UTC.

    ``named_failures`` are ids of messages that it named in batchItemFailures: the run ended well, their work did not. ``beside``: what its
    ``log_stream`` says of repeats without an id while others were on, too; nothing tells whose it is.
    """

    run_id: str
    log_group: str
    status: str
    started_at: int
    ended_at: int
    items: list[Item] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    named_failures: set[str] = field(default_factory=set)
    log_stream: str = ""
    beside: list[Line] = field(default_factory=list)

    @property
    def handled(self) -> list[Item]:
        """Its messages without those that it named as failed."""
        return [item for item in self.items if item.message_id not in self.named_failures]

    @property
    def was_cut_off(self) -> bool:
        """Tell whether it ended before its handler was through."""
        return self.status in CUT_OFF


@dataclass(frozen=True)
class Proposal:
    """One line for the settings file, and what speaks for it.

    ``kind`` is a key of a [[function]] or [[queue]] section and ``value`` what to write there. It fits ``fits`` of ``of``
    items, messages or runs (``of_what``). ``sentence`` is how it was told, ``counter_examples`` are lines or ids that speak
    against it. ``by_cut_off`` counts the runs cut off in which it was told from a line at the other end of the work. Of several with
    ``is_rival`` for the same key one can be meant: what each line means is for people to say.
    """

    section: str
    name: str
    kind: str
    value: str | bool
    fits: int
    of: int
    of_what: str
    sentence: str
    by_cut_off: int = 0
    examples: tuple[str, ...] = ()
    counter_examples: tuple[str, ...] = ()
    is_rival: bool = False

    @property
    def fit(self) -> str:
        """How much it fits, in words.

        >>> Proposal("function", "f", "effect", "x", 992, 1000, "messages", "it closes the work").fit
        '99.2 % of 1,000 messages'
        """
        return said("{share} of {n} {things}", share=f"{100 * self.share:.1f} %", n=self.of, things=self.of_what)

    @property
    def share(self) -> float:
        """How much of what it should fit it fits, from 0 to 1."""
        return self.fits / self.of if self.of else 0.0


@dataclass(frozen=True)
class Suggestions:
    """What was found for one queue; ``cannot_tell`` are sentences on what was looked for and could not be decided.

    ``now`` and ``then`` count the verdicts of what was redelivered, as judged and as the proposals would have it judged;
    None where that could not be worked out, for the reason in ``not_tried``.
    """

    queue: str
    proposals: tuple[Proposal, ...]
    cannot_tell: tuple[str, ...]
    items: int
    now: Mapping[str, int] | None = None
    then: Mapping[str, int] | None = None
    not_tried: str | None = None

    @property
    def decides(self) -> str:
        """What all proposals together would decide, in one sentence."""
        if not self.proposals and not self.cannot_tell:
            return said(
                "Nothing to propose for {queue}: no line of its consumers tells more than its settings do.",
                queue=self.queue,
            )
        if not self.proposals:
            return said("Nothing to propose for {queue}.", queue=self.queue)
        if self.now is None or self.then is None:
            return said("What they would decide is not known: {why}.", why=self.not_tried)
        if self.now == self.then:
            return said("They would change no verdict of {queue}: {now}.", queue=self.queue, now=_counted(self.now))
        return said("They would decide: {now} → {then}.", now=_counted(self.now), then=_counted(self.then))


def _counted(told: Mapping[str, int]) -> str:
    counts = [said("{n} {verdict}", n=told[verdict], verdict=verdict) for verdict in VERDICTS if told.get(verdict)]
    return joined(counts, ", ") if counts else said("nothing redelivered")
