"""Each rule's borders: the facts just on this side and just on the other, and the stance they must give."""

from forensics.sentence import said

PRINTED = {"earlier_is_printed": True, "earlier_batch_count": 10}
HELD = {
    "visibility_timeout_s": 30,
    "gap_ms": 8_000,
    "run_ms": 3_000,
    "earlier_held_ms": 30_000,
    "earlier_holder": "throttled",
}
THROTTLED_LATE = {
    "visibility_timeout_s": 30,
    "run_ms": 20_000,
    "gap_ms": 30_100,
    "earlier_held_ms": 30_000,
    "earlier_holder": "throttled",
}
GATHERED = {
    "visibility_timeout_s": 30,
    "run_ms": 15_000,
    "earlier_held_ms": 20_000,
    "earlier_gathered_ms": 20_000,
    "earlier_holder": "window",
}
AT_ITS_END = {**THROTTLED_LATE, "run_ms": 29_800, "gap_ms": 29_900}
UP = {"visibility_timeout_s": 30, "earlier_held_ms": 8_000, "earlier_holder": "init"}
IN_TIME = {"visibility_timeout_s": 600, "run_ms": 30_000, "gap_ms": 600_060}
UNTOLD = {"run_ms": 30_000}
"""A run that was over after half a minute, of a message of which nothing tells when it was visible or received again."""
UNTIMED = {"run_ms": 900, "gap_ms": 1_900}
LEFT = {"earlier_status": "success", "reports_batch_item_failures": False}
APART = said(
    "it was received again {span} before its previous receive, by the clocks of two hosts: they differ by that at least, or "
    "the earlier one had the message for that long before its first line of it",
    span="10 s",
)
HOSTS = {"is_fifo": True, "earlier_kind": "worker", "visibility_timeout_s": 90, "is_other_host": True}
BEATS = {"visibility_timeout_s": 300, "hidden_ms": 90_000, "has_heartbeat": True}
"""The last of several changes that hid it for as long each ended after 90 s, of the queue's 300."""
AGAIN = {"visibility_timeout_s": 30, "gap_ms": 30_100, "run_ms": 900}

CASES = {
    "function_timeout": {
        "finished, and its run's lines begin no other message": (
            dict(earlier_status="timeout", earlier_has_finish_mark=True, earlier_is_only_one_begun=True, **IN_TIME),
            "supported",
        ),
        "nothing tells when it came back": (dict(earlier_status="timeout", **UNTOLD), "undecidable"),
        "nothing tells when it came back, and the run took a second": (
            dict(earlier_status="timeout", run_ms=1000),
            "supported",
        ),
        "nothing tells when it came back, and the run took a millisecond more": (
            dict(earlier_status="timeout", run_ms=1001),
            "undecidable",
        ),
        "a call hid it until the run had ended": (
            dict(earlier_status="timeout", hidden_ms=30_000, **UNTOLD),
            "supported",
        ),
        "it is known when it came back": (dict(earlier_status="timeout", gap_ms=31_000, **UNTOLD), "supported"),
        "nothing tells when it came back, nor how long the run took": (dict(earlier_status="timeout"), "undecidable"),
        "came back a moment after the run, and nothing tells the visibility timeout": (
            dict(earlier_status="timeout", run_ms=30_000, gap_ms=30_999),
            "undecidable",
        ),
        "came back early, and a throttled poller may have held it": (
            dict(earlier_status="timeout", is_fifo=False, **HELD),
            "undecidable",
        ),
        "came back early on FIFO, where there are no copies: a poller had held it": (
            dict(earlier_status="timeout", is_fifo=True, **HELD),
            "undecidable",
        ),
        "came back at nine tenths of the timeout": (
            dict(earlier_status="timeout", is_fifo=False, **{**HELD, "gap_ms": 27_000}),
            "supported",
        ),
        "came back early for its START, its environment had come up before": (
            dict(earlier_status="timeout", is_fifo=False, gap_ms=22_500, run_ms=20_000, **UP),
            "supported",
        ),
        "the later run's batch may have been gathered since the earlier run was on": (
            dict(earlier_status="timeout", **GATHERED, gap_ms=34_999),
            "undecidable",
        ),
        "since that had ended": (dict(earlier_status="timeout", **GATHERED, gap_ms=35_000), "supported"),
        "nobody knows when it came back, and its batch was gathered": (
            dict(earlier_status="timeout", **GATHERED),
            "supported",
        ),
        "nor when the earlier run was over": (
            dict(earlier_status="timeout", **{**GATHERED, "run_ms": None}, gap_ms=20_000),
            "supported",
        ),
        "the same, and it may have been visible again before it timed out": (
            dict(earlier_status="timeout", is_fifo=False, gap_ms=22_500, run_ms=22_400, **UP),
            "undecidable",
        ),
        "came back early, the timeout not known": (
            dict(earlier_status="timeout", is_fifo=False, **{**HELD, "visibility_timeout_s": None}),
            "supported",
        ),
        "received again as the run ended, timeout not known": (
            dict(earlier_status="timeout", gap_ms=31_000, run_ms=31_000),
            "undecidable",
        ),
        "received again as the run ended": (
            dict(earlier_status="timeout", visibility_timeout_s=31, gap_ms=31_000, run_ms=31_000),
            "supported",
        ),
        "received again a millisecond before the end": (
            dict(earlier_status="timeout", gap_ms=31_000, run_ms=31_001),
            "excluded",
        ),
        "ended as the visibility timeout ended": (
            dict(earlier_status="timeout", visibility_timeout_s=30, run_ms=30_000),
            "supported",
        ),
        "ended a millisecond after the visibility timeout": (
            dict(earlier_status="timeout", visibility_timeout_s=30, run_ms=30_001),
            "excluded",
        ),
        "timed out without a finish mark": (dict(earlier_status="timeout", **IN_TIME), "supported"),
        "timed out after its own finish mark": (
            dict(earlier_status="timeout", earlier_has_finish_mark=True, **PRINTED, **IN_TIME),
            "excluded",
        ),
        "timed out alone in its batch, after the mark": (
            dict(
                earlier_status="timeout",
                earlier_has_finish_mark=True,
                earlier_is_printed=True,
                earlier_batch_count=1,
                **IN_TIME,
            ),
            "supported",
        ),
        "finished, and the batch was not printed": (
            dict(earlier_status="timeout", earlier_has_finish_mark=True, **IN_TIME),
            "undecidable",
        ),
        "came again before the timeout": (
            dict(earlier_status="timeout", visibility_timeout_s=10, run_ms=30_000, gap_ms=10_200),
            "excluded",
        ),
        "the end of the run is not in the logs": (dict(earlier_status="unknown"), "undecidable"),
        "the run ended well": (dict(earlier_status="success"), "excluded"),
        "nothing shows the earlier delivery": (dict(earlier_is_seen=False), "undecidable"),
        "a worker took it": (dict(earlier_kind="worker", earlier_status="timeout"), "excluded"),
    },
    "function_error": {
        "logged an error that its handler may have raised": (
            dict(
                earlier_status="success",
                earlier_may_have_raised=True,
                reports_batch_item_failures=False,
                **IN_TIME,
            ),
            "undecidable",
        ),
        "logged an error that its handler may have raised, and a call deleted it": (
            dict(earlier_status="success", earlier_may_have_raised=True, earlier_was_deleted=True, **IN_TIME),
            "excluded",
        ),
        "logged an error that its handler may have raised, and came again too early for a failed run": (
            dict(
                earlier_status="success",
                earlier_may_have_raised=True,
                visibility_timeout_s=30,
                gap_ms=5_000,
                run_ms=900,
            ),
            "excluded",
        ),
        "logged an error that its handler may have raised, and the mapping counted none that failed": (
            dict(earlier_status="success", earlier_may_have_raised=True, earlier_was_given_back=False, **IN_TIME),
            "excluded",
        ),
        "finished, and its run's lines begin no other message": (
            dict(earlier_status="error", earlier_has_finish_mark=True, earlier_is_only_one_begun=True, **IN_TIME),
            "supported",
        ),
        "nothing tells when it came back": (dict(earlier_status="error", **UNTOLD), "undecidable"),
        "came back early, and a throttled poller may have held it": (
            dict(earlier_status="error", is_fifo=False, **HELD),
            "undecidable",
        ),
        "came back early on FIFO, where there are no copies: a poller had held it": (
            dict(earlier_status="error", is_fifo=True, **HELD),
            "undecidable",
        ),
        "came back at nine tenths of the timeout": (
            dict(earlier_status="error", is_fifo=False, **{**HELD, "gap_ms": 27_000}),
            "supported",
        ),
        "came back early, the timeout not known": (
            dict(earlier_status="error", is_fifo=False, **{**HELD, "visibility_timeout_s": None}),
            "supported",
        ),
        "the handler raised": (dict(earlier_status="error", earlier_error_type="ValueError", **IN_TIME), "supported"),
        "the item was done before the batch raised": (
            dict(earlier_status="error", earlier_has_finish_mark=True, **PRINTED, **IN_TIME),
            "excluded",
        ),
        "the run timed out": (dict(earlier_status="timeout"), "excluded"),
        "it came back too early for a failure": (
            dict(earlier_status="error", visibility_timeout_s=30, gap_ms=2_000, run_ms=500),
            "excluded",
        ),
        "a worker's error came from its delete": (
            dict(earlier_kind="worker", earlier_status="error", earlier_delete_reason="expired"),
            "excluded",
        ),
        "a worker that wrote no end went on to its delete": (
            dict(earlier_kind="worker", earlier_status="unknown", earlier_delete_reason="expired"),
            "excluded",
        ),
        "a worker that wrote no end": (dict(earlier_kind="worker", earlier_status="unknown"), "undecidable"),
    },
    "runtime_crash": {
        "finished, and its run's lines begin no other message": (
            dict(earlier_status="crash", earlier_has_finish_mark=True, earlier_is_only_one_begun=True, **IN_TIME),
            "supported",
        ),
        "nothing tells when it came back": (dict(earlier_status="crash", **UNTOLD), "undecidable"),
        "came back early, and a throttled poller may have held it": (
            dict(earlier_status="crash", is_fifo=False, **HELD),
            "undecidable",
        ),
        "came back early on FIFO, where there are no copies: a poller had held it": (
            dict(earlier_status="crash", is_fifo=True, **HELD),
            "undecidable",
        ),
        "came back at nine tenths of the timeout": (
            dict(earlier_status="crash", is_fifo=False, **{**HELD, "gap_ms": 27_000}),
            "supported",
        ),
        "came back early, the timeout not known": (
            dict(earlier_status="crash", is_fifo=False, **{**HELD, "visibility_timeout_s": None}),
            "supported",
        ),
        "finished before the crash, with others": (
            dict(earlier_status="crash", earlier_has_finish_mark=True, **PRINTED, **IN_TIME),
            "excluded",
        ),
        "finished, and the batch was not printed": (
            dict(earlier_status="crash", earlier_has_finish_mark=True, **IN_TIME),
            "undecidable",
        ),
        "out of memory": (
            dict(earlier_status="crash", earlier_error_type="Runtime.OutOfMemory", **IN_TIME),
            "supported",
        ),
        "the init failed": (dict(earlier_status="init_failed"), "supported"),
        "the handler raised": (dict(earlier_status="error"), "excluded"),
    },
    "batch_collateral": {
        "finished, and its run's lines begin no other message": (
            dict(earlier_status="timeout", earlier_has_finish_mark=True, earlier_is_only_one_begun=True, **IN_TIME),
            "excluded",
        ),
        "nothing tells when it came back": (
            dict(earlier_status="error", earlier_has_finish_mark=True, **PRINTED, **UNTOLD),
            "undecidable",
        ),
        "came back early, and a throttled poller may have held it": (
            dict(earlier_status="timeout", is_fifo=False, **HELD, earlier_has_finish_mark=True, **PRINTED),
            "undecidable",
        ),
        "came back early on FIFO, where there are no copies: a poller had held it": (
            dict(earlier_status="timeout", is_fifo=True, **HELD, earlier_has_finish_mark=True, **PRINTED),
            "undecidable",
        ),
        "came back at nine tenths of the timeout": (
            dict(
                earlier_status="timeout",
                is_fifo=False,
                **{**HELD, "gap_ms": 27_000},
                earlier_has_finish_mark=True,
                **PRINTED,
            ),
            "supported",
        ),
        "came back early, the timeout not known": (
            dict(
                earlier_status="timeout",
                is_fifo=False,
                **{**HELD, "visibility_timeout_s": None},
                earlier_has_finish_mark=True,
                **PRINTED,
            ),
            "supported",
        ),
        "the batch was not printed, its size is not known": (
            dict(earlier_status="error", earlier_has_finish_mark=True, **IN_TIME),
            "undecidable",
        ),
        "the batch was not printed, but lines name two of it": (
            dict(earlier_status="error", earlier_has_finish_mark=True, earlier_batch_count=2, **IN_TIME),
            "supported",
        ),
        "finished, then the batch timed out": (
            dict(earlier_status="timeout", earlier_has_finish_mark=True, **PRINTED, **IN_TIME),
            "supported",
        ),
        "not finished": (dict(earlier_status="timeout", **PRINTED), "excluded"),
        "alone in its batch": (
            dict(earlier_status="timeout", earlier_has_finish_mark=True, batch_size=1, **IN_TIME),
            "excluded",
        ),
        "the batch ended well": (dict(earlier_status="success", earlier_has_finish_mark=True), "excluded"),
        "the batch was not printed": (
            dict(earlier_status="error", earlier_has_finish_mark=True, earlier_batch_count=1, **IN_TIME),
            "undecidable",
        ),
    },
    "partial_response": {
        "a call deleted it": (
            dict(earlier_status="success", reports_batch_item_failures=True, earlier_was_deleted=True, **AGAIN),
            "excluded",
        ),
        "the response names nobody of the batch": (
            dict(
                earlier_status="success",
                reports_batch_item_failures=True,
                earlier_response_is_malformed=True,
                **IN_TIME,
            ),
            "supported",
        ),
        "named in batchItemFailures": (
            dict(earlier_status="success", earlier_is_named_failure=True, reports_batch_item_failures=True),
            "supported",
        ),
        "the response was not logged": (
            dict(earlier_status="success", reports_batch_item_failures=True, **IN_TIME),
            "undecidable",
        ),
        "the response was logged and clean": (
            dict(earlier_status="success", reports_batch_item_failures=True, earlier_has_response=True, **IN_TIME),
            "excluded",
        ),
        "the counts say that something was given back": (
            dict(earlier_status="success", reports_batch_item_failures=True, earlier_was_given_back=True, **IN_TIME),
            "supported",
        ),
        "the counts say so, and it came back before its timeout": (
            dict(
                earlier_status="success",
                reports_batch_item_failures=True,
                earlier_was_given_back=True,
                **{**IN_TIME, "gap_ms": 60_000},
            ),
            "undecidable",
        ),
        "the counts say so, and nothing tells when it came back": (
            dict(earlier_status="success", reports_batch_item_failures=True, earlier_was_given_back=True),
            "undecidable",
        ),
        "the counts say that nothing was given back": (
            dict(earlier_status="success", reports_batch_item_failures=True, earlier_was_given_back=False, **IN_TIME),
            "excluded",
        ),
        "the counts say so, and the mapping is not known": (
            dict(earlier_status="success", earlier_was_given_back=False, **IN_TIME),
            "excluded",
        ),
        "the mapping does not use it": (dict(earlier_status="success", reports_batch_item_failures=False), "excluded"),
        "the mapping is not known": (dict(earlier_status="success"), "undecidable"),
        "the run timed out": (dict(earlier_status="timeout", reports_batch_item_failures=True), "excluded"),
    },
    "visibility_expired": {
        "ended a millisecond after the timeout, received long before": (
            dict(visibility_timeout_s=30, gap_ms=20_000, run_ms=30_001),
            "supported",
        ),
        "received a second after the other ended, timeout not known": (dict(gap_ms=32_000, run_ms=31_000), "excluded"),
        "received sooner after it, timeout not known": (dict(gap_ms=31_999, run_ms=31_000), "undecidable"),
        "received a millisecond before the other ended, timeout not known": (
            dict(gap_ms=31_000, run_ms=31_001),
            "supported",
        ),
        "ended as the timeout ended, received long before": (
            dict(visibility_timeout_s=30, gap_ms=20_000, run_ms=30_000),
            "excluded",
        ),
        "the times of the receives cannot both hold, and it ended in time": (
            dict(visibility_timeout_s=30, run_ms=30_000, clocks_words=APART),
            "undecidable",
        ),
        "the times cannot both hold, and it took a millisecond longer than its timeout": (
            dict(visibility_timeout_s=30, run_ms=30_001, clocks_words=APART),
            "supported",
        ),
        "it went on after its heartbeats ran out": (
            dict(**BEATS, gap_ms=90_400, run_ms=110_000),
            "supported",
        ),
        "received while the other ran, as its heartbeats ran out": (
            dict(**BEATS, gap_ms=81_000, run_ms=90_000),
            "supported",
        ),
        "received while the other ran, before its heartbeats ran out": (
            dict(**BEATS, gap_ms=80_999, run_ms=90_000),
            "excluded",
        ),
        "received while the other ran, inside what was extended": (
            dict(visibility_timeout_s=30, hidden_ms=90_000, gap_ms=45_000, run_ms=60_000),
            "excluded",
        ),
        "ended before an extended timeout did": (
            dict(visibility_timeout_s=30, hidden_ms=90_000, gap_ms=90_400, run_ms=60_000),
            "excluded",
        ),
        "an environment came up for so long that it was visible again a millisecond before the run ended": (
            dict(UP, run_ms=22_001, gap_ms=30_100),
            "undecidable",
        ),
        "for so long that it was visible again as the run ended": (dict(UP, run_ms=22_000, gap_ms=30_100), "excluded"),
        "the same, hidden for longer by a call": (dict(UP, run_ms=50_000, hidden_ms=60_000, gap_ms=60_100), "excluded"),
        "a poller that was throttled at some time had it, and it came back in time": (
            dict(
                visibility_timeout_s=30,
                run_ms=30_000,
                gap_ms=30_100,
                earlier_held_ms=30_000,
                earlier_holder="throttled",
            ),
            "excluded",
        ),
        "a poller that was throttled at some time gathered a batch for too long": (
            dict(THROTTLED_LATE, earlier_gathered_ms=10_001),
            "undecidable",
        ),
        "just so long that it was visible again as the run ended": (
            dict(THROTTLED_LATE, earlier_gathered_ms=10_000),
            "excluded",
        ),
        "a run began early after another on FIFO: a poller had held the message": (
            dict(
                is_fifo=True,
                visibility_timeout_s=30,
                gap_ms=26_999,
                run_ms=20_000,
                earlier_held_ms=30_000,
                earlier_holder="poller",
            ),
            "undecidable",
        ),
        "the same on a standard queue": (
            dict(
                is_fifo=False,
                visibility_timeout_s=30,
                gap_ms=26_999,
                run_ms=20_000,
                earlier_held_ms=30_000,
                earlier_holder="poller",
            ),
            "undecidable",
        ),
        "the same on FIFO, no longer early": (
            dict(
                is_fifo=True,
                visibility_timeout_s=30,
                gap_ms=27_000,
                run_ms=20_000,
                earlier_held_ms=30_000,
                earlier_holder="poller",
            ),
            "excluded",
        ),
        "received early, just as the other ended": (
            dict(visibility_timeout_s=30, gap_ms=20_000, run_ms=20_000),
            "excluded",
        ),
        "received early, a millisecond before the other ended": (
            dict(visibility_timeout_s=30, gap_ms=20_000, run_ms=20_001),
            "excluded",
        ),
        "neither timeout nor later receive known": (dict(run_ms=1001), "undecidable"),
        "the same of a run that no timeout is shorter than": (dict(run_ms=1000), "excluded"),
        "only the later receive not known": (dict(visibility_timeout_s=30, run_ms=400), "excluded"),
        "received while the other ran": (dict(visibility_timeout_s=30, gap_ms=31_000, run_ms=42_000), "supported"),
        "ended one millisecond too late": (dict(visibility_timeout_s=30, gap_ms=60_000, run_ms=30_001), "supported"),
        "ended as the timeout ended": (dict(visibility_timeout_s=30, gap_ms=60_000, run_ms=30_000), "excluded"),
        "the same, received a moment before the run began": (
            dict(visibility_timeout_s=30, gap_ms=60_000, run_ms=30_000, was_received_before_run=True),
            "supported",
        ),
        "a millisecond sooner, received a moment before the run began": (
            dict(visibility_timeout_s=30, gap_ms=60_000, run_ms=29_999, was_received_before_run=True),
            "excluded",
        ),
        "overlap long before the timeout": (dict(visibility_timeout_s=30, gap_ms=5_000, run_ms=10_000), "excluded"),
        "a refused delete says it more sharply": (
            dict(visibility_timeout_s=30, gap_ms=31_000, run_ms=42_000, earlier_delete_reason="expired"),
            "excluded",
        ),
        "the end of the run is not known": (dict(visibility_timeout_s=30, gap_ms=31_000), "undecidable"),
        "the end is not known, its last line stands before the other was received": (
            dict(visibility_timeout_s=30, gap_ms=31_000, last_line_ms=30_000),
            "undecidable",
        ),
        "the end is not known, a line stands behind the timeout": (
            dict(visibility_timeout_s=30, gap_ms=31_000, last_line_ms=30_001),
            "supported",
        ),
        "the end is not known, a line stands where the other was received": (
            dict(gap_ms=31_000, last_line_ms=31_000),
            "undecidable",
        ),
        "the end is not known, a line stands behind it": (dict(gap_ms=31_000, last_line_ms=31_001), "supported"),
        "the end is known, whatever the last line": (
            dict(visibility_timeout_s=30, gap_ms=60_000, run_ms=30_000, last_line_ms=90_000),
            "excluded",
        ),
    },
    "handle_expired": {
        "ran for a second, timeout not known": (dict(run_ms=1000), "excluded"),
        "ran for longer, timeout not known": (dict(run_ms=1001), "undecidable"),
        "ran for a second, of a message that is hidden for none": (
            dict(run_ms=1000, visibility_timeout_s=0),
            "undecidable",
        ),
        "outlived, and no delete was refused among all": (
            dict(earlier_kind="worker", is_fifo=True, visibility_timeout_s=30, run_ms=30_001, was_delete_refused=False),
            "excluded",
        ),
        "outlived, and a refused delete may be its own": (
            dict(earlier_kind="worker", is_fifo=True, visibility_timeout_s=30, run_ms=30_001, was_delete_refused=True),
            "undecidable",
        ),
        "a call hid it for longer": (
            dict(visibility_timeout_s=30, hidden_ms=60_000, run_ms=60_000),
            "excluded",
        ),
        "the delete was refused": (dict(earlier_delete_reason="expired"), "supported"),
        "the run ended in time": (dict(visibility_timeout_s=30, run_ms=30_000), "excluded"),
        "outlived on a standard queue, no error": (
            dict(earlier_kind="worker", is_fifo=False, visibility_timeout_s=30, run_ms=30_001),
            "undecidable",
        ),
        "outlived on a FIFO queue, no error": (
            dict(earlier_kind="worker", is_fifo=True, visibility_timeout_s=30, run_ms=30_001),
            "undecidable",
        ),
        "the poller's delete leaves no line": (dict(visibility_timeout_s=30, run_ms=30_001), "undecidable"),
    },
    "delete_failed": {
        "it was visible again by then": (
            dict(earlier_kind="worker", earlier_delete_reason="other", gap_ms=31_000, run_ms=40_000),
            "excluded",
        ),
        "the handle had expired while the next one ran": (
            dict(earlier_kind="worker", earlier_delete_reason="expired", gap_ms=31_000, run_ms=40_000),
            "excluded",
        ),
        "the network failed it": (dict(earlier_delete_reason="other"), "supported"),
        "the network failed it, and the times of the receives cannot both hold": (
            dict(earlier_delete_reason="other", clocks_words=APART),
            "undecidable",
        ),
        "no delete error, and the times of the receives cannot both hold": (dict(clocks_words=APART), "excluded"),
        "the message was gone": (dict(earlier_delete_reason="gone"), "supported"),
        "the handle had expired": (dict(earlier_delete_reason="expired"), "excluded"),
        "no delete error": (dict(), "excluded"),
    },
    "delete_ineffective": {
        "logged an error that its handler may have raised": (
            dict(
                earlier_status="success",
                earlier_may_have_raised=True,
                reports_batch_item_failures=False,
                **IN_TIME,
            ),
            "undecidable",
        ),
        "its delete was refused, and nothing else tells how it ended": (
            dict(earlier_kind="worker", earlier_status="unknown", earlier_delete_reason="expired", **AGAIN),
            "excluded",
        ),
        "a call deleted it": (
            dict(earlier_status="success", reports_batch_item_failures=False, earlier_was_deleted=True, **AGAIN),
            "excluded",
        ),
        "the timeout is not known": (
            dict(earlier_status="success", reports_batch_item_failures=False, gap_ms=30_100, run_ms=900),
            "undecidable",
        ),
        "the later receive is not known": (
            dict(earlier_status="success", reports_batch_item_failures=False, visibility_timeout_s=30, run_ms=900),
            "undecidable",
        ),
        "a throttled poller may have held it": (
            dict(
                earlier_status="success",
                reports_batch_item_failures=False,
                visibility_timeout_s=30,
                gap_ms=2_000,
                run_ms=900,
                earlier_held_ms=30_000,
                earlier_holder="poller",
            ),
            "undecidable",
        ),
        "it may have been held until it was visible again before the run ended": (
            dict(
                earlier_status="success",
                reports_batch_item_failures=False,
                visibility_timeout_s=30,
                gap_ms=30_100,
                run_ms=15_000,
                earlier_held_ms=20_000,
                earlier_holder="window",
            ),
            "undecidable",
        ),
        "a run began a little early, as the one before ended: a poller had held the message": (
            dict(is_fifo=True, **LEFT, **AT_ITS_END),
            "undecidable",
        ),
        "a second after that had ended": (dict(is_fifo=True, **LEFT, **{**AT_ITS_END, "run_ms": 28_900}), "supported"),
        "as late as the timeout lets": (dict(is_fifo=True, **LEFT, **{**AT_ITS_END, "gap_ms": 30_000}), "supported"),
        "and no poller was throttled": (
            dict(is_fifo=True, **LEFT, **{**AT_ITS_END, "earlier_held_ms": 0}),
            "supported",
        ),
        "on FIFO, before any timeout could end": (dict(is_fifo=True, **LEFT, **UNTIMED), "supported"),
        "on a standard queue, which may deliver a copy": (dict(is_fifo=False, **LEFT, **UNTIMED), "undecidable"),
        "after a second in which a timeout may have ended": (
            dict(is_fifo=True, **LEFT, run_ms=1_001, gap_ms=30_000),
            "undecidable",
        ),
        "a poller may have held it, its timeout known": (
            dict(is_fifo=True, **LEFT, **{**UP, "earlier_held_ms": 30_000}, run_ms=900, gap_ms=26_000),
            "undecidable",
        ),
        "a malformed response gave the batch back": (
            dict(
                earlier_status="success",
                reports_batch_item_failures=True,
                earlier_response_is_malformed=True,
                visibility_timeout_s=30,
                gap_ms=30_100,
                run_ms=900,
            ),
            "excluded",
        ),
        "success, no partial responses, again after the timeout": (
            dict(
                earlier_status="success",
                reports_batch_item_failures=False,
                visibility_timeout_s=30,
                gap_ms=30_100,
                run_ms=900,
            ),
            "supported",
        ),
        "the response may have given it back": (
            dict(
                earlier_status="success",
                reports_batch_item_failures=True,
                visibility_timeout_s=30,
                gap_ms=30_100,
                run_ms=900,
            ),
            "undecidable",
        ),
        "the counts say that it did": (
            dict(earlier_status="success", reports_batch_item_failures=True, earlier_was_given_back=True, **AGAIN),
            "excluded",
        ),
        "the counts say that it did not": (
            dict(earlier_status="success", reports_batch_item_failures=True, earlier_was_given_back=False, **AGAIN),
            "supported",
        ),
        "the counts of a worker's queue tell nothing": (
            dict(earlier_kind="worker", earlier_status="success", earlier_was_given_back=True, **AGAIN),
            "supported",
        ),
        "again before the timeout": (
            dict(
                earlier_status="success",
                reports_batch_item_failures=False,
                visibility_timeout_s=30,
                gap_ms=26_000,
                run_ms=900,
            ),
            "excluded",
        ),
    },
    "released": {
        "Lambda was to delete it, and it came back after that": (dict(**LEFT, **UNTIMED), "excluded"),
        "by what counts tell": (
            dict(earlier_status="success", earlier_was_given_back=False, **UNTIMED),
            "excluded",
        ),
        "by its response": (dict(earlier_status="success", earlier_has_response=True, **UNTIMED), "excluded"),
        "by a response that Lambda cannot read": (
            dict(earlier_status="success", earlier_has_response=True, earlier_response_is_malformed=True, **UNTIMED),
            "undecidable",
        ),
        "by a response that nobody printed": (dict(earlier_status="success", **UNTIMED), "undecidable"),
        "named in the response": (dict(earlier_is_named_failure=True, **LEFT, **UNTIMED), "undecidable"),
        "a worker deletes by itself": (dict(earlier_kind="worker", **LEFT, **UNTIMED), "undecidable"),
        "a run that failed left nothing to delete": (
            dict(earlier_status="error", reports_batch_item_failures=False, **UNTIMED),
            "undecidable",
        ),
        "it came back while Lambda deleted it": (dict(**LEFT, run_ms=900, gap_ms=1_899), "undecidable"),
        "nobody knows when the run was over": (dict(**LEFT, gap_ms=30_100), "undecidable"),
        "nobody knows when it came back": (dict(**LEFT, run_ms=900), "undecidable"),
        "it came back early, whatever Lambda did": (
            dict(is_fifo=True, visibility_timeout_s=30, gap_ms=10_000, run_ms=900, **LEFT),
            "supported",
        ),
        "extended by ten milliseconds": (dict(visibility_timeout_s=30, hidden_ms=30_010, gap_ms=31_000), "excluded"),
        "exactly nine tenths of the timeout": (
            dict(is_fifo=True, visibility_timeout_s=30, gap_ms=27_000),
            "excluded",
        ),
        "one millisecond below nine tenths": (dict(is_fifo=True, visibility_timeout_s=30, gap_ms=26_999), "supported"),
        "the later receive is not known": (dict(is_fifo=True, visibility_timeout_s=30), "undecidable"),
        "an environment may have had it for the rest of nine tenths of the timeout": (
            dict(is_fifo=True, gap_ms=19_000, **UP),
            "undecidable",
        ),
        "for a millisecond less": (dict(is_fifo=True, gap_ms=18_999, **UP), "supported"),
        "a throttled poller may have held it": (
            dict(is_fifo=True, visibility_timeout_s=30, gap_ms=2_000, earlier_held_ms=30_000, earlier_holder="poller"),
            "undecidable",
        ),
        "the times of the receives cannot both hold": (
            dict(is_fifo=True, visibility_timeout_s=30, clocks_words=APART),
            "undecidable",
        ),
        "a minute before the timeout, by the clocks of two hosts": (dict(**HOSTS, gap_ms=30_000), "undecidable"),
        "a millisecond more than that": (dict(**HOSTS, gap_ms=29_999), "supported"),
        "a minute before, after an error of the handler": (
            dict(**HOSTS, gap_ms=30_000, earlier_status="error"),
            "supported",
        ),
        "a minute before, by the clock of one host": (
            dict(HOSTS, gap_ms=30_000, is_other_host=False),
            "supported",
        ),
        "a minute before what the worker had extended it to": (
            dict(HOSTS, visibility_timeout_s=30, hidden_ms=90_000, gap_ms=30_000),
            "excluded",
        ),
        "as its heartbeats ran out": (dict(**BEATS, gap_ms=90_400), "excluded"),
        "the same of one that was changed once": (dict(BEATS, has_heartbeat=False, gap_ms=90_400), "supported"),
        "far inside the timeout on FIFO": (dict(is_fifo=True, visibility_timeout_s=30, gap_ms=2_000), "supported"),
        "inside the timeout on a standard queue": (
            dict(is_fifo=False, earlier_status="success", visibility_timeout_s=30, gap_ms=2_000),
            "undecidable",
        ),
        "a worker let go of it after an error": (
            dict(earlier_kind="worker", is_fifo=False, earlier_status="error", visibility_timeout_s=30, gap_ms=2_000),
            "supported",
        ),
        "after the timeout": (dict(is_fifo=True, visibility_timeout_s=30, gap_ms=30_000), "excluded"),
        "the timeout is not known": (dict(is_fifo=True, gap_ms=2_000), "undecidable"),
        "a call released it, on a standard queue": (
            dict(is_fifo=False, visibility_timeout_s=30, gap_ms=2_000, hidden_ms=1_000),
            "supported",
        ),
        "a call released it, and it waited long": (
            dict(is_fifo=True, visibility_timeout_s=30, gap_ms=90_000, hidden_ms=1_000),
            "supported",
        ),
        "a call released it at once": (
            dict(is_fifo=True, visibility_timeout_s=30, gap_ms=500, hidden_ms=0),
            "supported",
        ),
        "a call let it be visible just before the timeout": (
            dict(is_fifo=True, visibility_timeout_s=30, gap_ms=31_000, hidden_ms=29_999),
            "supported",
        ),
        "a call let it be visible as the timeout ended": (
            dict(is_fifo=True, visibility_timeout_s=30, gap_ms=31_000, hidden_ms=30_000),
            "excluded",
        ),
        "it came back in the second in which a call released it": (
            dict(is_fifo=True, visibility_timeout_s=30, gap_ms=9_000, hidden_ms=10_000),
            "supported",
        ),
        "it had come back before a call released it": (
            dict(is_fifo=True, visibility_timeout_s=30, gap_ms=8_999, hidden_ms=10_000),
            "excluded",
        ),
        "a call released it, the timeout not known": (
            dict(is_fifo=True, gap_ms=2_000, hidden_ms=1_000),
            "undecidable",
        ),
        "a call released it, and nobody knows when it came back": (
            dict(is_fifo=True, visibility_timeout_s=30, hidden_ms=1_000),
            "undecidable",
        ),
        "no call among all that were recorded": (
            dict(is_fifo=True, visibility_timeout_s=30, gap_ms=2_000, was_visibility_changed=False),
            "excluded",
        ),
        "some call among all that were recorded": (
            dict(is_fifo=False, visibility_timeout_s=30, gap_ms=2_000, was_visibility_changed=True),
            "undecidable",
        ),
    },
    "throttled": {
        "another one received it": (
            dict(earlier_is_seen=False, is_throttled=True, is_other_receiver=True, earlier_receiver="ana"),
            "excluded",
        ),
        "throttles, but a log was not read": (
            dict(earlier_is_seen=False, is_throttled=True, earlier_is_watched=False),
            "undecidable",
        ),
        "no run and throttles": (dict(earlier_is_seen=False, is_throttled=True), "supported"),
        "no run and no throttles": (dict(earlier_is_seen=False, is_throttled=False), "excluded"),
        "no run and no metric": (dict(earlier_is_seen=False), "undecidable"),
        "a run is in the logs": (dict(is_throttled=True), "excluded"),
    },
    "unseen_receive": {
        "another one received it, and throttles": (
            dict(earlier_is_seen=False, is_throttled=True, is_other_receiver=True, earlier_receiver="ana"),
            "supported",
        ),
        "the usual one received it, and throttles": (
            dict(earlier_is_seen=False, is_throttled=True, earlier_receiver="poller"),
            "excluded",
        ),
        "the usual one received it": (
            dict(earlier_is_seen=False, is_throttled=False, earlier_receiver="poller"),
            "supported",
        ),
        "a log was not read": (
            dict(earlier_is_seen=False, is_throttled=False, earlier_is_watched=False),
            "undecidable",
        ),
        "no run and no throttles": (dict(earlier_is_seen=False, is_throttled=False), "supported"),
        "no run and throttles": (dict(earlier_is_seen=False, is_throttled=True), "undecidable"),
        "no run and no metric": (dict(earlier_is_seen=False), "undecidable"),
        "a run is in the logs": (dict(), "excluded"),
    },
    "worker_killed": {
        "killed by its own limit": (dict(earlier_kind="worker", earlier_status="timeout"), "supported"),
        "ended by itself": (dict(earlier_kind="worker", earlier_status="success"), "excluded"),
        "its last line is missing": (dict(earlier_kind="worker"), "undecidable"),
        "told to stop before it came back": (dict(earlier_kind="worker", stopped_ms=900, gap_ms=30_000), "supported"),
        "told to stop as it came back": (dict(earlier_kind="worker", stopped_ms=30_000, gap_ms=30_000), "supported"),
        "told to stop after it came back": (
            dict(earlier_kind="worker", stopped_ms=30_001, gap_ms=30_000),
            "undecidable",
        ),
        "told to stop, nothing tells when it came back": (dict(earlier_kind="worker", stopped_ms=900), "supported"),
        "told to stop at once": (dict(earlier_kind="worker", stopped_ms=0, gap_ms=30_000), "supported"),
        "told to stop, and it wrote on when it was back": (
            dict(earlier_kind="worker", stopped_ms=900, gap_ms=30_000, last_line_ms=30_001),
            "excluded",
        ),
        "not told to stop, came back": (dict(earlier_kind="worker", gap_ms=30_000), "undecidable"),
        "its task stopped as the message was visible again": (
            dict(earlier_kind="worker", visibility_timeout_s=30, gap_ms=30_400, process_ended_ms=30_000),
            "supported",
        ),
        "its task stopped a millisecond later": (
            dict(earlier_kind="worker", visibility_timeout_s=30, gap_ms=30_400, process_ended_ms=30_001),
            "excluded",
        ),
        "its task stopped before an extended timeout did": (
            dict(
                earlier_kind="worker", visibility_timeout_s=30, hidden_ms=90_000, gap_ms=90_400, process_ended_ms=60_000
            ),
            "supported",
        ),
        "its task stopped, and only when it came back is known": (
            dict(earlier_kind="worker", gap_ms=30_400, process_ended_ms=30_400),
            "supported",
        ),
        "a function took it": (dict(), "excluded"),
    },
    "broker_copy": {
        "FIFO": (dict(is_fifo=True), "excluded"),
        "the run failed": (dict(is_fifo=False, earlier_status="error"), "excluded"),
        "again after the timeout": (
            dict(is_fifo=False, earlier_status="success", visibility_timeout_s=30, gap_ms=30_000),
            "excluded",
        ),
        "both fine, inside the timeout": (
            dict(is_fifo=False, earlier_status="success", visibility_timeout_s=30, gap_ms=500, run_ms=400),
            "undecidable",
        ),
        "a call deleted it": (dict(is_fifo=False, earlier_was_deleted=True, **AGAIN), "supported"),
        "a call deleted it, the queue's kind not known": (dict(earlier_was_deleted=True, **AGAIN), "excluded"),
        "a call deleted it too late": (
            dict(is_fifo=False, earlier_was_deleted=True, **{**AGAIN, "run_ms": 30_050}),
            "excluded",
        ),
    },
}
