"""Kinds of worlds: one in which anything may happen, and those that put one promise to the test."""

import random
from collections.abc import Callable
from dataclasses import fields, replace

from tests.oracle.plan import RESPONSES, SEVERAL_RUNS, Plan

Drawn = Callable[[random.Random], Plan]


def _of_functions(rng: random.Random, *troubles: str, **fixed: object) -> Plan:
    """Draw a world of Lambda functions with these troubles and whatever else is fixed; nothing of it is lost."""
    drawn = replace(Plan.draw(rng), consumer="lambda", troubles=frozenset(troubles), loss="none")
    return replace(drawn, **fixed).made_fair()  # type: ignore[arg-type]


def _raised_as_success(rng: random.Random) -> Plan:
    """JSON logs in which a run whose handler raised is reported as success; others log what they caught and go on."""
    return _of_functions(
        rng,
        "error",
        *rng.choice(((), ("slow",), ("crash",), ("delete_lost",))),
        platform="json",
        raised_statuses=("success",),
        caught_errors=rng.random() < 0.5,
        trouble_rate=rng.choice((0.2, 0.4)),
    )


def _swallowing(rng: random.Random) -> Plan:
    """Functions that log what failed and end in success: their mapping does not hear of it, or they tell nobody else."""
    hears_nothing = rng.random() < 0.4
    effect_line = rng.choice((None, None, "both", "message"))
    return _of_functions(
        rng,
        *rng.choice((("error",), ("error_after_effect",), ("error", "error_after_effect"))),
        *rng.choice(((), ("slow",), ("crash",), ("delete_lost",), ("short_visibility",))),
        response=rng.choice(RESPONSES) if hears_nothing else None,
        is_response_heard=not hears_nothing,
        swallows=None if hears_nothing else rng.choice(("id", "key", "nothing")),
        leaves_rest=rng.random() < 0.4,
        order=rng.choice(("sequential", "sequential", "parallel")),
        effect_line=effect_line,
        effect_declared=effect_line is not None,
        exhaustive_declared=effect_line is not None,
        guard=None,
        batch_size=rng.choice((1, 4, 10)),
        trouble_rate=rng.choice((0.2, 0.4)),
    )


def _handlers_types(rng: random.Random) -> Plan:
    """JSON logs that name the handler's exception by its own type, as custom runtimes do."""
    return _of_functions(
        rng,
        "error",
        *rng.choice((("error_after_effect",), ("slow",), ("crash",), ())),
        platform="json",
        raised_types=("PostingRejected", "KeyError", "Function.PostingRejected", "RuntimeError"),
        trouble_rate=rng.choice((0.2, 0.4)),
    )


def _uncounted(rng: random.Random) -> Plan:
    """Logs that print no receive count, so that a later delivery may hide; good runs may print nothing at all."""
    more = rng.choice(((), ("throttle",), ("crash",), ("delete_lost",), ("error_after_effect",), ("lost_receive",)))
    runtime, form = rng.choice(
        (("node", "object"), ("node", "ids"), ("python_logging", "ids"), ("python_logging", "nothing"))
    )
    return _of_functions(
        rng,
        rng.choice(("error", "slow")),
        *more,
        runtime=runtime,
        event_form=form,
        queue_settings_kept=True,
        mapping_kept=True,
        awaits_siblings=True,
        response=rng.choice((None, None, None, "right", "right_logged")),
        trouble_rate=rng.choice((0.2, 0.4)),
    )


def _sharing(rng: random.Random) -> Plan:
    """Two functions of the queue that share a log group with a stranger, each with marks of its own."""
    return _of_functions(
        rng,
        rng.choice(("slow", "error", "crash")),
        *rng.choice(((), ("throttle",), ("delete_lost",), ("lost_receive",), ("same_work_again",))),
        second_function=True,
        shared_group=True,
        effect_line="both",
        effect_declared=True,
        trouble_rate=rng.choice((0.2, 0.4)),
    )


def _of_undeclared_order(rng: random.Random) -> Plan:
    """Busy functions whose order nobody declares: one item after the other, or all at once, evenly or not."""
    started_line = rng.random() < 0.5
    return _of_functions(
        rng,
        rng.choice(("error", "slow", "crash")),
        *rng.choice(((), (), ("error_after_effect",), ("reused_request_id",))),
        order=rng.choice(("sequential", "sequential", "parallel")),
        order_declared=False,
        even_pace=rng.random() < 0.5,
        effect_line=rng.choice(("both", "message")),
        effect_declared=True,
        exhaustive_declared=True,
        started_line=started_line,
        started_declared=started_line,
        event_form="json",
        message_count=240,
        send_spread_s=10,
        batch_size=rng.choice((3, 5)),
        trouble_rate=0.1,
    )


def _counting(rng: random.Random) -> Plan:
    """Mappings that count events, of functions whose partial responses no line tells."""
    troubles = (("error",), ("delete_lost",), ("error", "delete_lost"), ("crash", "delete_lost"), ("error", "slow"))
    return _of_functions(
        rng,
        *rng.choice(troubles),
        *rng.choice(((), (), ("throttle",), ("copy",), ("short_visibility",))),
        response=rng.choice(("right", "right", "unlogged_wrong_id")),
        counts_events=True,
        metrics_kept=True,
        mapping_kept=True,
        queue_settings_kept=True,
        event_form="json",
        trouble_rate=rng.choice((0.1, 0.3)),
    )


def _stopped_workers(rng: random.Random) -> Plan:
    """Workers that are killed, with or without a word, beside slow ones and others that end well; some send heartbeats."""
    drawn = replace(
        Plan.draw(rng),
        consumer=rng.choice(("laravel", "lines", "lines")),
        troubles=frozenset(("killed", *rng.choice(((), ("slow",), ("error",), ("delete_failed",), ("lost_receive",))))),
        loss="none",
        effect_line=rng.choice(("both", "message", None)),
        queue_settings_kept=True,
        trouble_rate=rng.choice((0.2, 0.4)),
        task_events=rng.random() < 0.5,
        heartbeat=rng.random() < 0.4,
        own_words=rng.random() < 0.5,
    )
    return drawn.made_fair()


def _with_late_lines(rng: random.Random) -> Plan:
    """Queues whose log is read at once, while lines of some streams are still to come, and again a day later."""
    more = rng.choice(("error", "delete_lost", "throttle", "lost_receive", "delete_failed", "killed"))
    drawn = replace(
        Plan.draw(rng),
        troubles=frozenset(("slow", more)),
        loss="to_come",
        effect_line=rng.choice(("both", "message")),
        effect_declared=True,
        exhaustive_declared=True,
        second_function=rng.random() < 0.3,
        trouble_rate=rng.choice((0.2, 0.4)),
    )
    return drawn.made_fair()


def _with_recorded_calls(rng: random.Random) -> Plan:
    """Queues whose calls CloudTrail records, with handles and message ids or without; metrics are not kept."""
    more = rng.choice(
        ((), ("error",), ("delete_failed",), ("copy",), ("same_work_again",), ("redrive",), ("lost_receive",))
    )
    drawn = replace(
        Plan.draw(rng),
        consumer=rng.choice(("laravel", "laravel", "lines", "lambda")),
        troubles=frozenset((rng.choice(("slow", "error", "lost_receive", "same_work_again")), *more)),
        loss="none",
        calls=rng.choice(("all", "all", "hidden", "sends")),
        queue_settings_kept=True,
        event_form="json",
        metrics_kept=rng.random() < 0.3,
        trouble_rate=rng.choice((0.2, 0.4)),
    )
    return drawn.made_fair()


def _with_producers_lines(rng: random.Random) -> Plan:
    """Queues whose producer logs each send with the payment's key, which the settings rarely let the bodies tell."""
    more = rng.choice(((), ("error",), ("lost_receive",), ("redrive",), ("slow",)))
    drawn = replace(
        Plan.draw(rng),
        consumer=rng.choice(("laravel", "lines", "lambda", "lambda")),
        troubles=frozenset((rng.choice(("same_work_again", "same_work_again", "redrive")), *more)),
        loss="none",
        calls="producer",
        queue_settings_kept=True,
        event_form=rng.choice(("json", "ids")),
        trouble_rate=rng.choice((0.2, 0.4)),
    )
    return replace(drawn, business_key_declared=drawn.guard is not None or rng.random() < 0.3).made_fair()


def _with_guard_tables(rng: random.Random) -> Plan:
    """Functions whose guard records in a table that is read: kept for long or shorter than a repeat takes, by either id."""
    key = rng.choice(("business_key", "business_key", "message_id"))
    again = ("same_work_again",) if key == "message_id" else rng.choice(((), ("same_work_again",), ("redrive",)))
    more = rng.choice((("slow",), ("error",), ("delete_lost",), ("slow", "delete_lost"), ("copy",), ("throttle",)))
    return _of_functions(
        rng,
        *more,
        *again,
        guard=rng.choice(("silent", "silent", "powertools", "line")),
        guard_key=key,
        guard_store_s=rng.choice((20, 90, 300, 3600)),
        guard_table=rng.choice(("whole", "whole", "whole", "part", "denied")),
        guard_table_forgets=rng.random() < 0.4,
        event_form="json",
        effect_line=rng.choice((None, None, "both")),
        function_settings_kept=True,
        business_key_declared=True,
        body="json",
        trouble_rate=rng.choice((0.2, 0.4)),
    )


def _run_again(rng: random.Random) -> Plan:
    """Functions whose request ids are run again, as asynchronous retries are, in logs that may lack START lines."""
    return _of_functions(
        rng,
        "reused_request_id",
        *rng.choice((("slow",), ("crash",), ("slow", "delete_lost"), ("error",))),
        platform="json",
        system_log_level=rng.choice(("WARN", "WARN", "INFO")),
        runtime=rng.choice(("python_logging", "powertools", "node", "dotnet")),
        event_form="json",
        effect_line=rng.choice(("both", "message", None)),
        trouble_rate=rng.choice((0.2, 0.4, 0.6)),
    )


def _printing_in_part(rng: random.Random) -> Plan:
    """Functions that print their batches in part: one record, each in turn, some runs' only, or cut where a line is full."""
    form = rng.choice(("first", "each", "sampled", "cut", "cut"))
    more = rng.choice(((), ("throttle",), ("crash",), ("delete_lost",), ("lost_receive",), ("error_after_effect",)))
    drawn = _of_functions(
        rng,
        rng.choice(("error", "slow")),
        *more,
        runtime=rng.choice(("python_logging", "powertools", "python_print")),
        event_form="json" if form == "cut" else form,
        event_limit=rng.choice((1_500, 2_500, 4_000)) if form == "cut" else None,
        event_goes_on=rng.random() < 0.5,
        batch_size=rng.choice((4, 10)),
        send_spread_s=rng.choice((1, 10)),
        visibility_s=rng.choice((30, 60)),
        trouble_rate=rng.choice((0.2, 0.4)),
    )
    if rng.random() < 0.6:
        return drawn
    # whose key a line names, only what was printed of the batch can tell
    guard = rng.choice((None, "silent", "line"))
    by_key = replace(drawn, effect_line="key", effect_declared=True, guard=guard, business_key_declared=False)
    return replace(by_key, started_declared=False).made_fair()


def _held_for_long(rng: random.Random) -> Plan:
    """Pollers that gather batches, on standard queues, and environments that take seconds to come up."""
    window_s = rng.choice((0, 5, 20))
    more = rng.choice(((), ("throttle",), ("delete_lost",), ("crash",), ("lost_receive",), ("error_after_effect",)))
    return _of_functions(
        rng,
        rng.choice(("error", "slow")),
        *more,
        is_fifo=window_s == 0 and rng.random() < 0.5,
        group_count=3,
        batch_window_s=window_s,
        slow_init=rng.random() < 0.7,
        snap_start=rng.random() < 0.3,
        function_timeout_s=rng.choice((5, 10)),
        visibility_s=rng.choice((30, 60)),
        batch_size=rng.choice((4, 10)),
        max_receive_count=rng.choice((None, 3, 5)),
        trouble_rate=rng.choice((0.2, 0.4)),
    )


def _read_twice(rng: random.Random) -> Plan:
    """Logs whose shipper delivered some lines twice."""
    more = rng.choice(("error", "delete_lost", "throttle", "killed", "delete_failed", "same_work_again"))
    drawn = replace(
        Plan.draw(rng), troubles=frozenset(("slow", more)), loss="none", doubled_lines=True, trouble_rate=0.3
    )
    return drawn.made_fair()


def _with_follow_ups(rng: random.Random) -> Plan:
    """Handlers that send further work to their own queue, and name the new message."""
    more = rng.choice(("error", "delete_lost", "crash", "killed", "lost_receive"))
    drawn = replace(
        Plan.draw(rng),
        troubles=frozenset(("slow", more)),
        loss="none",
        follow_ups=True,
        guard=None,
        idempotent_declared=rng.random() < 0.5,
        trouble_rate=0.2,
    )
    return drawn.made_fair()


def _of_reused_deduplication_ids(rng: random.Random) -> Plan:
    """FIFO queues whose deduplication ids stand for a place in a group, or for a customer, and not for the work."""
    stands_for = rng.choice(("place", "customer"))
    more = rng.choice(((), ("error",), ("delete_lost",), ("crash",)))
    return _of_functions(
        rng,
        "slow",
        *more,
        is_fifo=True,
        group_count=3,
        deduplication=stands_for,
        send_spread_s=10 if stands_for == "place" else 3_600,
        event_form="json",
        runtime=rng.choice(("python_logging", "powertools", "node")),
        business_key_declared=rng.random() < 0.4,
        body="json",
        guard=None,
        queue_settings_kept=True,
        trouble_rate=0.2,
    )


def _of_bodies_that_change(rng: random.Random) -> Plan:
    """FIFO producers that put the time into each send: of a work under its deduplication id, or of works under their customer's."""
    stands_for, again, body = rng.choice(
        (
            ("work", ("same_work_again",), "timed"),
            ("work", ("same_work_again",), "timed"),
            ("work", ("same_work_again",), "bare"),
            ("customer", (), "timed"),
            ("customer", (), "bare"),
            ("customer", ("same_work_again",), "timed"),
        )
    )
    more = rng.choice(((), ("error",), ("delete_lost",), ("crash",), ("redrive",)))
    return _of_functions(
        rng,
        "slow",
        *again,
        *more,
        is_fifo=True,
        group_count=rng.choice((1, 3)),
        deduplication=stands_for,
        send_spread_s=300 if stands_for == "work" else 3_600,
        event_form=rng.choice(("json", "json", "repr")),
        runtime=rng.choice(("python_logging", "python_print")),
        effect_line=rng.choice(("message", "message", "both", None)),
        effect_declared=True,
        body=body,
        guard=None,
        queue_settings_kept=True,
        trouble_rate=rng.choice((0.2, 0.4)),
    )


def _beside_one_another(rng: random.Random) -> Plan:
    """Workers of one container, that write one stream, or of hosts whose clocks are off; functions of one environment."""
    drawn = replace(
        Plan.draw(rng),
        consumer=rng.choice(("laravel", "laravel", "lines", "lambda")),
        troubles=frozenset(("slow", rng.choice(("error", "killed", "delete_failed", "lost_receive", "crash")))),
        loss="none",
        concurrency=rng.choice((2, 4)),
        send_spread_s=rng.choice((1, 10)),
        trouble_rate=0.2,
    )
    is_skewed = drawn.consumer != "lambda" and rng.random() < 0.5
    drawn = replace(drawn, one_stream=not is_skewed, clock_skew_ms=rng.choice((200, 2_000)) if is_skewed else 0)
    if drawn.consumer == "lambda":
        drawn = replace(drawn, platform="json", system_log_level="INFO", response=None)
    return drawn.made_fair()


def _with_settings_changed_later(rng: random.Random) -> Plan:
    """Queues, mappings and functions whose settings were all changed when it was over, and read only then."""
    more = rng.choice(((), ("throttle",), ("delete_lost",), ("lost_receive",), ("crash",)))
    return _of_functions(
        rng,
        rng.choice(("error", "slow")),
        *more,
        settings_change_later=True,
        queue_settings_kept=True,
        function_settings_kept=True,
        mapping_kept=True,
        trouble_rate=rng.choice((0.2, 0.4)),
    )


def _past_retention(rng: random.Random) -> Plan:
    """Logs of which the log group's retention had taken the first lines when they were read."""
    more = rng.choice(((), ("throttle",), ("delete_lost",), ("lost_receive",), ("crash",)))
    return _of_functions(
        rng, rng.choice(("error", "slow")), *more, retention_passed=True, trouble_rate=rng.choice((0.2, 0.4))
    )


def _letting_go(rng: random.Random) -> Plan:
    """Handlers that let a message go when it failed, for now or for some seconds, and say so in words of their own."""
    more = rng.choice(((), (), ("slow",), ("crash",), ("copy",), ("lost_receive",)))
    drawn = replace(
        Plan.draw(rng),
        consumer=rng.choice(("lambda", "lambda", "lines")),
        troubles=frozenset(("error", *more)),
        loss="none",
        response=None,
        lets_go_after_s=rng.choice((0, 2, 10)),
        own_words=True,
        event_form="json",
        visibility_s=rng.choice((60, 120, 600)),
        queue_settings_kept=True,
        trouble_rate=rng.choice((0.1, 0.3)),
    )
    return drawn.made_fair()


def _named_by_key(rng: random.Random) -> Plan:
    """Consumers whose effect lines name a payment and no message: in streams of one worker, of several threads or processes."""
    consumer = rng.choice(("lines", "lines", "lambda"))
    drawn = Plan.draw(rng)
    more = rng.choice(((), ("error",), ("killed",), ("delete_failed",), ("same_work_again",), ("redrive",), ("crash",)))
    drawn = replace(
        drawn,
        consumer=consumer,
        runtime=rng.choice(("python_print", "python_logging", "node")) if consumer == "lambda" else "python_print",
        troubles=frozenset((rng.choice(("slow", "error", "delete_lost", "delete_failed", "killed")), *more)),
        effect_line="key",
        effect_declared=True,
        started_line=True,
        started_declared=rng.random() < 0.8,
        event_form=rng.choice(("ids", "nothing", "json")),
        guard=rng.choice((None, None, "line")),
        batch_size=rng.choice((1, 1, 4)),
        message_count=rng.choice((8, 30)),
        one_stream=consumer == "lines" and rng.random() < 0.5,
        threads=rng.choice(("untold", "own", "alike")),
        says_deleted=consumer == "lines" and rng.random() < 0.5,
        loss=rng.choice(("none", "none", "none", "tail", "lines")),
        trouble_rate=rng.choice((0.1, 0.3, 0.6)),
    )
    return drawn.made_fair()


def _losing_lines_of_keys(rng: random.Random) -> Plan:
    """Workers in trouble whose effect lines name a payment, and of whose lines some are lost: openings, ends and effects."""
    drawn = replace(
        Plan.draw(rng),
        consumer=rng.choice(("laravel", "lines", "lines")),
        troubles=frozenset(rng.sample(("slow", "error", "same_work_again", "delete_lost", "delete_failed"), 2)),
        effect_line=rng.choice(("key", "key", "both")),
        effect_declared=True,
        business_key_declared=rng.random() < 0.7,
        guard=None,
        threads=rng.choice(("untold", "untold", "own", "alike")),
        message_count=rng.randrange(5, 26),
        loss="lines",
        trouble_rate=0.6,
    )
    return drawn.made_fair()


def _told_to_the_second(rng: random.Random) -> Plan:
    """Workers whose lines say the second in which they were written, as those of syslog and of many files do."""
    troubles = ("slow", "error", "killed", "delete_failed", "lost_receive", "same_work_again")
    drawn = replace(
        Plan.draw(rng),
        consumer=rng.choice(("laravel", "lines", "lines")),
        troubles=frozenset(rng.sample(troubles, rng.choice((1, 2)))),
        loss=rng.choice(("none", "none", "none", "lines", "tail")),
        visibility_s=rng.choice((10, 30, 60)),
        concurrency=rng.choice((1, 2, 4)),
        one_stream=rng.random() < 0.3,
        threads=rng.choice(("untold", "own", "alike")),
        lets_go_after_s=rng.choice((None, None, 0, 2)),
        own_words=rng.random() < 0.5,
        heartbeat=rng.random() < 0.3,
        says_deleted=rng.random() < 0.4,
        clock_ms=1_000,
        trouble_rate=rng.choice((0.2, 0.4)),
    )
    return drawn.made_fair()


def _with_dead_letters_received(rng: random.Random) -> Plan:
    """Dead-letter queues with a consumer: another function that does the same work, the queue's own, or one that merely reports."""
    more = rng.choice(
        (("poison",), ("error",), ("error_after_effect",), ("crash",), ("slow", "throttle"), ("slow", "lost_receive"))
    )
    return _of_functions(
        rng,
        rng.choice(("error_after_effect", "error", "slow")),
        *more,
        dead_letter_consumer=rng.choice(("again", "again", "same", "reports")),
        max_receive_count=rng.choice((1, 2, 3)),
        effect_line=rng.choice(("both", "message", None)),
        effect_declared=True,
        queue_settings_kept=rng.random() < 0.9,
        send_spread_s=60,
        trouble_rate=rng.choice((0.3, 0.6)),
    )


def _mixed(rng: random.Random) -> Plan:
    """What worlds of other kinds have, field by field: no kind draws what only two of them together bring about."""
    kinds = [draw for draw in KINDS.values() if draw not in (_mixed, *_OF_SEVERAL_RUNS)]
    plan = rng.choice(kinds)(rng)
    names = [field.name for field in fields(Plan) if field.name not in SEVERAL_RUNS]
    for name in rng.sample(names, rng.choice((2, 4, 7))):
        plan = replace(plan, **{name: getattr(rng.choice(kinds)(rng), name)})
    return plan.made_fair()


def _of_any_functions(rng: random.Random) -> Plan:
    """Draw a world of functions of any kind, or a plain one whose lines tell much, of which little is lost."""
    if rng.random() < 0.5:
        kinds = [draw for draw in KINDS.values() if draw not in _OF_SEVERAL_RUNS]
        return replace(rng.choice(kinds)(rng), consumer="lambda")
    troubles = rng.choice(((), ("slow",), ("error",), ("error_after_effect",), ("crash",), ("slow", "delete_lost")))
    plan = _of_functions(rng, *(troubles or ("throttle",)), loss=rng.choice(("none", "none", "none", "lines", "tail")))
    return replace(
        plan,
        event_form=rng.choice(("json", "json", "json", "ids", "nothing")),
        trouble_rate=rng.choice((0.2, 0.4)) if troubles else 0.0,
        effect_line=rng.choice(("both", "both", "message", None)),
        function_settings_kept=rng.random() < 0.9,
    )


def _invoked_again(rng: random.Random) -> Plan:
    """Functions that their poller invokes again with a batch that a run has or had, without a failure."""
    plan = replace(_of_any_functions(rng), invokes_again=rng.choice((0.05, 0.2, 0.5)))
    return replace(plan, durability_kept=rng.random() < 0.8).made_fair()


def _durable(rng: random.Random) -> Plan:
    """Durable functions, whose executions take several runs for waits, tries and what cut them off; some are invoked again."""
    plan = replace(
        _of_any_functions(rng),
        is_durable=True,
        durability_kept=rng.random() < 0.85,
        waits=rng.choice((None, "before", "after", "after")),
        step_attempts=rng.choice((1, 3)),
        step_lines=rng.choice(("inside", "inside", "outside", "logger")),
        execution_timeout_s=rng.choice((60, 300, 900)),
        invokes_again=rng.choice((0.0, 0.0, 0.2)),
    )
    return plan.made_fair()


_OF_SEVERAL_RUNS = (_invoked_again, _durable)
"""What the kinds before them draw stays as it was for each seed: they are not mixed into those."""


KINDS: dict[str, Drawn] = {
    "anything": Plan.draw,
    "raised as success": _raised_as_success,
    "error types of handlers": _handlers_types,
    "errors swallowed": _swallowing,
    "receives not counted": _uncounted,
    "log group shared": _sharing,
    "order not declared": _of_undeclared_order,
    "events counted": _counting,
    "workers stopped": _stopped_workers,
    "calls recorded": _with_recorded_calls,
    "sends logged": _with_producers_lines,
    "guard tables read": _with_guard_tables,
    "lines to come": _with_late_lines,
    "request ids run again": _run_again,
    "batches printed in part": _printing_in_part,
    "further work sent": _with_follow_ups,
    "deduplication ids reused": _of_reused_deduplication_ids,
    "side by side": _beside_one_another,
    "retention passed": _past_retention,
    "lines delivered twice": _read_twice,
    "settings changed later": _with_settings_changed_later,
    "messages held for long": _held_for_long,
    "messages let go": _letting_go,
    "works named by key": _named_by_key,
    "lines of keys lost": _losing_lines_of_keys,
    "told to the second": _told_to_the_second,
    "bodies that change": _of_bodies_that_change,
    "dead letters received": _with_dead_letters_received,
    "mixed": _mixed,
    "invoked again": _invoked_again,
    "durable functions": _durable,
}
"""Name to how such a world is drawn. The first is that of every world of which nothing is said."""

ANYTHING = "anything"


def dealt(worlds: int) -> dict[str, int]:
    """Return how many worlds of each kind are played of so many: half are of the first kind, the others share the rest.

    >>> sum(dealt(10).values())
    10
    """
    special = list(KINDS)[1:]
    share, more = divmod(worlds // 2, len(special))
    found = {name: share + (place < more) for place, name in enumerate(special)}
    return {ANYTHING: worlds - worlds // 2, **{name: count for name, count in found.items() if count}}
