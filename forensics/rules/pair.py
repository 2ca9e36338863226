"""What a rule is asked about: one delivery of a message beside the one before it, as plain values."""

from functools import lru_cache
from typing import NamedTuple

from forensics.rules.kept import ANSWERS_KEPT
from forensics.sentence import said
from forensics.words import seconds_text

POLLER_MS = 1000
"""A poller takes less than that from a receive to the START of its run, unless something holds it up."""
CLOCKS_MS = 60_000
"""Clocks of hosts may differ by that, where nothing keeps them together."""
THROTTLES = ("throttled", "poller")
HOLDERS = {
    "throttled": (said("a throttled poller"), said("CloudTrail data events of ReceiveMessage")),
    "poller": (said("a poller that was throttled"), said("the function's Throttles metric")),
    "window": (said("a poller that gathers a batch"), said("CloudTrail data events of ReceiveMessage")),
    "init": (said("an environment that was coming up"), said("the REPORT line of the earlier run")),
}
"""Who may have had a message before its run began, in words, and what would tell since when."""


class DeliveryPair(NamedTuple):
    """The earlier and the later delivery of one message. None always means "nothing tells", never zero or no.

    Durations are in milliseconds (``_ms``) or seconds (``_s``). ``gap_ms`` lies between the two receives; ``run_ms``
    between the earlier receive and the known end of its run, ``last_line_ms`` and ``stopped_ms`` between it and the
    last line about it, and the line that told its worker to stop; ``process_ended_ms`` the end of its worker's task,
    told beside the lines, where the worker wrote nothing of the message's end. ``earlier_is_watched`` is about
    deliveries that no log shows: whatever took them is none of the consumers whose logs were read. ``earlier_may_have_raised``: the run ended
    without a word of failure and had logged an error, and its runtime need not tell what a handler raised. ``earlier_is_only_one_begun``: a line
    begins the message, as its consumer's lines do, and none begins or names another of its run. The earlier
    receive may lie ``earlier_held_ms`` before the time it is counted from, at most; ``earlier_holder`` had the
    message then: a key of HOLDERS; ``was_received_before_run``: by a millisecond at least, since nothing but its run
    tells of it. ``earlier_was_given_back`` is what the mapping's counts tell of a run that succeeded. Recorded calls
    tell ``hidden_ms``, from the earlier receive until a change of visibility let the message be visible again,
    whether the last changes hid it for as long each (``has_heartbeat``), whether there was a change or a refused delete at all (False: all were recorded), and who made a receive that no
    log shows. ``went_on_ms``: of an earlier delivery whose receive nothing tells, how long its lines go on after the
    later receive. ``clocks_words``: why the times of two receives cannot both hold; then no ``gap_ms`` is told. ``is_one_receive``: both runs had the message by one receive. ``is_other_host``: lines of two workers tell the times, whose clocks may differ. ``*_is_assumed``: only a later snapshot shows the timeout, and nothing tells since when it holds.
    """

    is_fifo: bool | None = None
    visibility_timeout_s: int | None = None
    function_timeout_s: int | None = None
    visibility_is_assumed: bool = False
    function_timeout_is_assumed: bool = False
    batch_size: int | None = None
    reports_batch_item_failures: bool | None = None
    earlier_is_seen: bool = True
    earlier_kind: str | None = "lambda"
    earlier_name: str = "the earlier run"
    earlier_status: str = "unknown"
    earlier_error_type: str | None = None
    earlier_has_finish_mark: bool = False
    earlier_batch_count: int | None = None
    earlier_is_printed: bool = False
    earlier_is_only_one_begun: bool = False
    earlier_delete_reason: str | None = None
    earlier_is_named_failure: bool = False
    earlier_has_response: bool = False
    earlier_response_is_malformed: bool = False
    earlier_was_given_back: bool | None = None
    earlier_may_have_raised: bool = False
    earlier_is_watched: bool = True
    earlier_held_ms: int = 0
    earlier_holder: str | None = None
    earlier_gathered_ms: int = 0
    was_received_before_run: bool = False
    is_throttled: bool | None = None
    run_ms: int | None = None
    last_line_ms: int | None = None
    stopped_ms: int | None = None
    process_ended_ms: int | None = None
    process_end_words: str | None = None
    gap_ms: int | None = None
    went_on_ms: int | None = None
    clocks_words: str | None = None
    is_other_host: bool = False
    hidden_ms: int | None = None
    has_heartbeat: bool = False
    was_visibility_changed: bool | None = None
    was_delete_refused: bool | None = None
    earlier_was_deleted: bool = False
    earlier_receiver: str | None = None
    is_other_receiver: bool = False
    is_one_receive: bool = False

    @property
    def visibility_words(self) -> str:
        """The visibility timeout in force, whether that is taken from a later snapshot, and how far it was extended."""
        limit = _timeout(self.visibility_timeout_s, "visibility timeout", self.visibility_is_assumed)
        if not self.was_extended:
            return limit
        if self.has_heartbeat:
            return said(
                "{limit}, set by heartbeats to end {span} after the receive", limit=limit, span=seconds(self.hidden_ms)
            )
        return said("{limit}, extended to {span} after the receive", limit=limit, span=seconds(self.hidden_ms))

    @property
    def was_extended(self) -> bool:
        """The consumer hid the message for longer than its queue does, or again and again while it worked."""
        if self.hidden_ms is None or self.visibility_timeout_s is None:
            return False
        return self.has_heartbeat or self.hidden_ms > self.visibility_timeout_s * 1000

    @property
    def early_ms(self) -> int | None:
        """How long before the end of its visibility timeout it came back; None where nothing tells, or a call ended that."""
        if self.gap_ms is None or self.visibility_timeout_s is None:
            return None
        if self.hidden_ms is None:
            return self.visibility_timeout_s * 1000 - self.gap_ms
        return self.hidden_ms - self.gap_ms if self.was_extended else None

    @property
    def function_timeout_words(self) -> str:
        """The function timeout in force, and whether that is taken from a later snapshot."""
        return _timeout(self.function_timeout_s, "function timeout", self.function_timeout_is_assumed)

    @property
    def outlived_ms(self) -> int | None:
        """How long the earlier run went on after its visibility timeout; negative if it ended in time."""
        if self.hidden_ms is not None:
            return self._beyond(self.hidden_ms)
        limit_ms = None if self.visibility_timeout_s is None else self.visibility_timeout_s * 1000
        return self._beyond(None if limit_ms is None else limit_ms - self.was_received_before_run)

    @property
    def overlap_ms(self) -> int | None:
        """How long both ran at once; negative if the earlier one had ended before the later one was received."""
        if self.went_on_ms is not None:
            return self.went_on_ms
        return self._beyond(self.gap_ms)

    def _beyond(self, limit_ms: int | None) -> int | None:
        """Return how long the earlier run went on after a moment; a last line is no end, but shows that it went on so far."""
        if limit_ms is None:
            return None
        if self.run_ms is not None:
            return self.run_ms - limit_ms
        return None if self.last_line_ms is None else max(self.last_line_ms - limit_ms, 0) or None

    @property
    def end_of_earlier(self) -> str:
        """What would tell how the earlier run ended, of the consumer at hand."""
        if self.earlier_kind == "worker":
            return "a line of the worker that says that it finished, failed or deleted this message"
        return "the END and REPORT lines of the earlier run"

    @property
    def was_received_while_running(self) -> bool:
        """The later delivery was received while the earlier run was still going, as far as anything tells."""
        if self.overlap_ms is not None and self.overlap_ms > 0:
            return True
        return self.outlived_ms is not None and self.outlived_ms > 0

    @property
    def may_have_been_out(self) -> bool:
        """It was held for so long, before the earlier run and before the later one, that it may have been received while that was on."""
        if not self.was_held_too_long or self.gap_ms is None or self.run_ms is None:
            return False
        return self.came_early or self.gap_ms - self.earlier_gathered_ms < self.run_ms

    @property
    def may_have_outlived(self) -> bool:
        """Nothing tells when it was visible again: perhaps while the earlier run was still going.

        A later run that began within a moment after the earlier one ended may have been received before that.
        """
        if self.clocks_words is not None:
            return True
        if self.visibility_timeout_s is not None or self.hidden_ms is not None or self.took_a_second:
            return False
        return self.gap_ms is None or (self.run_ms is not None and not self.came_after_its_end)

    @property
    def took_a_second(self) -> bool:
        """The earlier run took a second or less: no visibility timeout is shorter."""
        return self.run_ms is not None and self.run_ms <= 1000

    @property
    def was_left_to_delete(self) -> bool:
        """A function's run succeeded and gave the message back to nobody: Lambda deletes it, whatever its visibility then was."""
        if self.earlier_kind != "lambda" or self.earlier_status != "success" or self.earlier_is_named_failure:
            return False
        if self.reports_batch_item_failures is False or self.earlier_was_given_back is False:
            return True
        return self.earlier_has_response and not self.earlier_response_is_malformed

    @property
    def was_deleted_in_time(self) -> bool:
        """Lambda was to delete it, before any visibility timeout could end, and it came back after that."""
        is_untold = self.visibility_timeout_s is None
        return is_untold and self.was_left_to_delete and self.took_a_second and self.came_after_its_end

    @property
    def came_after_its_end(self) -> bool:
        """A later run began so long after the earlier one that its message was received after that had ended."""
        return self.run_ms is not None and self.gap_ms is not None and self.gap_ms - self.run_ms >= POLLER_MS

    @property
    def is_short_gap(self) -> bool | None:
        """It came back far below the visibility timeout; None where nothing tells."""
        if self.gap_ms is None or self.visibility_timeout_s is None:
            return None
        limit_ms = self.hidden_ms if self.was_extended and self.hidden_ms else self.visibility_timeout_s * 1000
        if self.gap_ms >= limit_ms * 0.9:
            return False
        return True if self.gap_ms + self.earlier_held_ms < limit_ms * 0.9 else None

    @property
    def may_be_late(self) -> bool:
        """It came early only by the clocks of two hosts, by no more than these may differ, and no line shows that a handler let go of it."""
        if not self.is_other_host or self.earlier_status == "error":
            return False
        return self.early_ms is not None and self.early_ms <= CLOCKS_MS

    @property
    def came_early(self) -> bool:
        """Run began after run within the visibility timeout, and the message may have been held for the rest of it before."""
        is_known = self.gap_ms is not None and self.visibility_timeout_s is not None
        return is_known and self.is_short_gap is None

    @property
    def may_be_copy(self) -> bool:
        """It came back early, and on a standard queue a copy would explain it as well as a poller that was throttled."""
        return self.came_early and not self.is_fifo and self.earlier_holder in THROTTLES

    @property
    def was_held_too_long(self) -> bool:
        """It may have been held for so long that it was visible again before the earlier run ended.

        Of a throttled poller only an early return tells: one that comes as late as the timeout lets it was held for moments.
        Before the timeout, and within a moment of the earlier run's end, it comes early enough.
        """
        is_held = self.came_early or self.earlier_holder not in THROTTLES or self._came_at_its_end
        held_ms = self.earlier_held_ms if is_held else self.earlier_gathered_ms
        if self.visibility_timeout_s is None or not held_ms:
            return False
        limit_ms = self.visibility_timeout_s * 1000 if self.hidden_ms is None else self.hidden_ms
        return self.run_ms is None or self.run_ms + held_ms > limit_ms

    @property
    def _came_at_its_end(self) -> bool:
        """The later run began before the visibility timeout was over, and at once when the earlier one had ended."""
        if self.gap_ms is None or self.run_ms is None or self.visibility_timeout_s is None:
            return False
        return self.gap_ms < self.visibility_timeout_s * 1000 and not self.came_after_its_end

    @property
    def holder_decides(self) -> str:
        """What would tell since when the message had been received, in words, and why that is open."""
        who, decides = HOLDERS[self.earlier_holder or "poller"]
        return said(
            "{decides}: {holder} may have had the message before the earlier run began", decides=decides, holder=who
        )

    @property
    def was_alone(self) -> bool:
        """The message was the only one of its batch, for sure."""
        return self.batch_size == 1 or (self.earlier_is_printed and self.earlier_batch_count == 1)


@lru_cache(maxsize=ANSWERS_KEPT)
def _timeout(timeout_s: int | None, name: str, is_assumed: bool) -> str:
    if timeout_s is None:
        return name
    limit = said(f"{{span}} {name}", span=f"{timeout_s} s")
    return said("{limit} (as a later snapshot shows it)", limit=limit) if is_assumed else limit


@lru_cache(maxsize=ANSWERS_KEPT)
def seconds(ms: int | None) -> str:
    """Say milliseconds as seconds.

    >>> seconds(600_060), seconds(30_000), seconds(None)
    ('600.06 s', '30 s', 'an unknown time')
    """
    if ms is None:
        return "an unknown time"
    return seconds_text(ms)
