"""The safe first move while a fault is still happening: the AWS CLI command, what it costs, and how to undo it.

The commands are printed, for a person to run; nothing here runs them.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.advised_visibility import advised_visibility_s
from forensics.identity import queue_name
from forensics.limits import LEAST_MAXIMUM_CONCURRENCY, LONGEST_VISIBILITY_S
from forensics.regions import dns_suffix
from forensics.report.faults import trigger_of
from forensics.sentence import said
from forensics.settings_in_force import NEWEST, SettingsInForce
from forensics.terms import INVOKED_AGAIN
from forensics.words import ms_between, span_text

Row = Mapping[str, Any]
_WAITS = (
    "A message whose handling fails waits up to {span} for its next receive. It takes up to 60 s to hold, and holds for messages "
    "received from then on."
)
_GROUP_WAITS = (
    "A message whose handling fails waits up to {span} for its next receive, and its group with it. It takes up to 60 s to hold, "
    "and holds for messages received from then on."
)


@dataclass(frozen=True)
class Move:
    """One thing to do now. ``commands`` and ``undo`` are lines for a shell; none where AWS has no call for it."""

    title: str
    why: str
    cost: str
    commands: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scene:
    """What the moves are made of: the newest settings known of one incident's queue, functions and mappings.

    ``slowest_ms`` is the longest handling seen of an affected message, ``is_active`` tells that something of it is left to be
    stopped; ``unmapped`` names functions that consume the queue and whose mappings were not read, ``kinds`` are those of the
    consumers that had affected messages. ``longer_visibility`` is the incident's counterfactual of that name, where it has one.
    ``has_risky_letters``: a message of it was dead-lettered, or may have been, and redriving it does its work again, or may.
    """

    incident: Row
    queue: Row | None
    functions: tuple[Row, ...]
    mappings: tuple[Row, ...]
    slowest_ms: int | None
    is_active: bool = True
    unmapped: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    longer_visibility: Row | None = None
    has_risky_letters: bool = False

    @property
    def region(self) -> str | None:
        """The queue's region; None where logs gave no ARN."""
        parts = (self.incident["queue_arn"] or "").split(":")
        return parts[3] if len(parts) == 6 else None

    @property
    def in_region(self) -> str:
        """The option that names the region."""
        return f" --region {shlex.quote(self.region)}" if self.region else ""

    @property
    def address(self) -> str:
        """The queue's URL for a shell; a call that finds it where the account is not known."""
        parts = (self.incident["queue_arn"] or "").split(":")
        if len(parts) == 6:
            return shlex.quote(f"https://sqs.{parts[3]}.{dns_suffix(parts[3])}/{parts[4]}/{parts[5]}")
        name = shlex.quote(self.incident["queue"])
        return f'"$(aws sqs get-queue-url --queue-name {name} --query QueueUrl --output text)"'


def scene_of(
    incident: Row,
    deliveries: Sequence[Row],
    evidence: Mapping[str, Sequence[dict[str, Any]]],
    is_active: bool,
    prevention: Sequence[Row],
    dead: Sequence[Row] = (),
) -> Scene:
    """Look up what stands now; ``evidence`` holds the rows of the settings tables, ``deliveries`` the affected messages'.

    ``prevention`` are the incident's counterfactuals, ``dead`` its dead letters that are still there. Where logs name no message,
    nobody knows which were dead-lettered.
    """
    settings = SettingsInForce.of(
        evidence["queue_settings"],
        evidence["function_settings"],
        evidence["event_source_mappings"],
        evidence["setting_changes"],
    )
    arn = incident["queue_arn"]
    seen = {d["function_name"] for d in deliveries if d["function_name"]}
    fed = sorted(seen.intersection(settings.fed_by(arn)) or settings.fed_by(arn))
    ways = [(arn, name) for name in fed]
    dead_letter_queues = sorted({d["received_from_arn"] for d in deliveries if d.get("received_from_arn")})
    ways += [(queue, name) for queue in dead_letter_queues for name in sorted(seen & set(settings.fed_by(queue)))]
    mappings = tuple(row for way in ways if (row := settings.mapping(*way, NEWEST)))
    unmapped = seen if incident["messages"] is not None else {_function(name) for name in incident["functions"] or ()}
    spans = [ms_between(d["received_at"], d["run_ended_at"] or d["finished_at"]) for d in deliveries]
    return Scene(
        incident,
        settings.queue(arn, NEWEST),
        tuple(row for name in fed if (row := settings.function(name, NEWEST))),
        mappings,
        max((span for span in spans if span is not None), default=None),
        is_active,
        () if mappings else tuple(sorted(unmapped)),
        frozenset(d["consumer_kind"] for d in deliveries if d["consumer_kind"]),
        next((row for row in prevention if row["change"] == "longer_visibility"), None),
        incident["messages"] is None or any(row["redrive"] != "safe" for row in dead),
    )


def _function(name: str) -> str:
    """Return a function's name, of its log group where nothing else names it."""
    return name.removeprefix("/aws/lambda/")


def moves(scene: Scene) -> tuple[Move, ...]:
    """Return what to do now, the safest first; never none."""
    trigger = trigger_of(scene.incident)
    first = _BY_TRIGGER.get(trigger, _pause)(scene)
    return (*first, *_no_redrive(scene, trigger))


def _pause(scene: Scene) -> tuple[Move, ...]:
    """Stop handing messages out: what is in the queue stays there."""
    cost = said(
        "Nothing of the queue is processed until you undo it; {kept}. Runs in progress still end by themselves.",
        kept=_kept(scene),
    )
    if scene.unmapped:
        return tuple(_disable_unread(scene, name, cost) for name in scene.unmapped)
    if not scene.mappings:
        return (_stop_worker(scene, cost),)
    return tuple(_disable(scene, mapping, cost) for mapping in scene.mappings)


def _disable(scene: Scene, mapping: Row, cost: str) -> Move:
    call = f"aws lambda update-event-source-mapping --uuid {_uuid(mapping)}{scene.in_region}"
    undo = (f"{call} --enabled",)
    name = mapping["function_name"]
    if scene.is_active and _is_off(mapping):
        is_off = said("The mapping to {name} is disabled already", name=name)
        return Move(is_off, "No further message is handed to it.", cost, (), undo)
    return Move(
        said("Pause {name}: disable the mapping that feeds it", name=name),
        "Messages wait in the queue instead of being processed again.",
        cost,
        (f"{call} --no-enabled",),
        undo,
    )


def _is_off(mapping: Row) -> bool:
    return str(mapping["state"]).startswith("Disabl")


def _disable_unread(scene: Scene, function: str, cost: str) -> Move:
    """Let the shell look the mapping's UUID up: no snapshot of the mapping is in the lake."""
    parts = (scene.incident["queue_arn"] or "").split(":")
    ends = f'ends_with(EventSourceArn, `":{scene.incident["queue"]}"`)'
    of_queue = f" --event-source-arn {shlex.quote(scene.incident['queue_arn'])}" if len(parts) == 6 else ""
    query = "EventSourceMappings[0].UUID" if of_queue else f"EventSourceMappings[?{ends}].UUID | [0]"
    find = (
        f"aws lambda list-event-source-mappings --function-name {shlex.quote(function)}{of_queue}{scene.in_region} "
        f"--query {shlex.quote(query)} --output text"
    )
    call = f'aws lambda update-event-source-mapping --uuid "$({find})"{scene.in_region}'
    return Move(
        said("Pause {name}: disable the mapping that feeds it", name=function),
        "Messages wait in the queue instead of being processed again. The mapping was not read: the command looks it up.",
        cost,
        (f"{call} --no-enabled",),
        (f"{call} --enabled",),
    )


def _uuid(mapping: Row) -> str:
    return shlex.quote(mapping["mapping_uuid"]) if mapping["mapping_uuid"] else "<UUID of the mapping>"


def _stop_worker(scene: Scene, cost: str) -> Move:
    consumers = ", ".join(scene.incident["functions"] or ()) or "the consumer"
    call = f"aws ecs update-service --cluster <cluster> --service <service>{scene.in_region} --desired-count"
    return Move(
        said("Scale {name} in to zero", name=consumers),
        "Messages wait in the queue instead of being processed again. The evidence names no cluster and service: fill them "
        "in, or stop the worker the way you run it.",
        cost,
        (f"{call} 0",),
        (f"{call} <count before>",),
    )


def _kept(scene: Scene) -> str:
    retention_s = scene.queue["message_retention_s"] if scene.queue else None
    is_fifo = scene.incident["is_fifo"]
    if not retention_s:
        return f"SQS keeps them for the retention time{', in order' if is_fifo else ''}"
    kept = "SQS keeps messages for {span}, in order" if is_fifo else "SQS keeps messages for {span}"
    return said(kept, span=span_text(1000 * retention_s))


def _raise_visibility(scene: Scene) -> tuple[Move, ...]:
    """Give a message long enough to be finished before SQS makes it visible again, where the queue's setting rules that.

    Where heartbeats do, a longer one of the queue would have prevented none of the repeats.
    """
    would = scene.longer_visibility
    if would is not None and would["repeats"] and not would["prevented"] + would["undecided"]:
        return _pause(scene)
    now_s = scene.queue["visibility_timeout_s"] if scene.queue else scene.incident["visibility_timeout_s"]
    wanted_s, why = _wanted_visibility(scene, now_s)
    if wanted_s is None or (now_s is not None and wanted_s <= now_s):
        return _pause(scene)
    call = f"aws sqs set-queue-attributes --queue-url {scene.address}{scene.in_region} --attributes VisibilityTimeout="
    return (
        Move(
            said("Raise the visibility timeout to {n} s", n=str(wanted_s)),
            why,
            said(_GROUP_WAITS if scene.incident["is_fifo"] else _WAITS, span=span_text(1000 * wanted_s)),
            (f"{call}{wanted_s}",),
            (f"{call}{now_s if now_s is not None else '<seconds before>'}",),
        ),
    )


def _wanted_visibility(scene: Scene, now_s: int | None) -> tuple[int | None, str]:
    """Return the visibility timeout that is advised everywhere, and why it is that; for a handling that no line times, twice the present one."""
    timeouts = [f["timeout_s"] for f in scene.functions if f["timeout_s"] is not None]
    window_s = max((m["batching_window_s"] or 0 for m in scene.mappings), default=0)
    advised_s = advised_visibility_s(max(timeouts, default=None), window_s, scene.slowest_ms)
    if timeouts:
        return (
            advised_s,
            "Six function timeouts and the batching window, as AWS advises: a run then ends before its messages are visible again.",
        )
    if now_s and (advised_s is None or advised_s <= now_s == scene.incident["visibility_timeout_s"]):
        return min(
            2 * now_s, LONGEST_VISIBILITY_S
        ), "Twice the present value: no line tells how long the slowest handling took."
    why = "Three times the slowest handling of its messages, in whole minutes: that took {span}."
    return advised_s, said(why, span=span_text(scene.slowest_ms or 0))


def _limit_concurrency(scene: Scene) -> tuple[Move, ...]:
    """Let the poller take no more than the function can run."""
    found = []
    for mapping in scene.mappings:
        reserved = next(
            (f["reserved_concurrency"] for f in scene.functions if f["function_name"] == mapping["function_name"]), None
        )
        limit, before = LEAST_MAXIMUM_CONCURRENCY if reserved is None else reserved, mapping["maximum_concurrency"]
        if limit < LEAST_MAXIMUM_CONCURRENCY or (before is not None and before <= limit) or _is_off(mapping):
            continue
        call = f"aws lambda update-event-source-mapping --uuid {_uuid(mapping)}{scene.in_region} --scaling-config"
        found.append(
            Move(
                said("Let the mapping run at most {n} of {name} at once", n=limit, name=mapping["function_name"]),
                "The poller then takes no message that the function has no room for, so none is received without a run.",
                "A backlog drains more slowly.",
                (f"{call} MaximumConcurrency={limit}",),
                (f"{call} {f'MaximumConcurrency={before}' if before else shlex.quote('{}')}",),
            )
        )
    return tuple(found) or _pause(scene)


def _cancel_redrive(scene: Scene) -> tuple[Move, ...]:
    source = (scene.queue or {}).get("dead_letter_queue_arn")
    where = shlex.quote(source) if source else "<ARN of the dead-letter queue>"
    return (
        Move(
            "Stop the redrive",
            "Messages whose work was done are sent again under new ids.",
            "What was moved already stays where it is.",
            (
                f"aws sqs list-message-move-tasks --source-arn {where}{scene.in_region}",
                f"aws sqs cancel-message-move-task --task-handle <TaskHandle that the first shows>{scene.in_region}",
            ),
            (f"aws sqs start-message-move-task --source-arn {where}{scene.in_region}",),
        ),
        *_pause(scene),
    )


def _find_receiver(scene: Scene) -> tuple[Move, ...]:
    arn = scene.incident["queue_arn"] if scene.region else "<ARN of the queue>"
    return (
        Move(
            "Find who else receives from the queue",
            "A second mapping, a worker nobody collected, or a person polling in the console takes messages.",
            "It only looks.",
            (f"aws lambda list-event-source-mappings --event-source-arn {shlex.quote(arn)}{scene.in_region}",),
        ),
    )


def _nothing_stops(why: str) -> Callable[[Scene], tuple[Move, ...]]:
    move = Move("No setting stops this", why, "Pausing the consumer would only delay it.")
    return lambda scene: (move,)


def _no_redrive(scene: Scene, trigger: str) -> tuple[Move, ...]:
    source = (scene.queue or {}).get("dead_letter_queue_arn")
    if not source or trigger == "dlq_redrive" or not scene.has_risky_letters:
        return ()
    return (
        Move(
            said("Do not redrive {name} yet", name=queue_name(source)),
            "Redriving a message whose work was done does the work again, under a new message id.",
            "Dead letters wait until their effects are checked; their retention runs on from when they were sent"
            f"{'' if not scene.incident['is_fifo'] else ' or moved'}.",
        ),
    )


_BY_TRIGGER: Mapping[str, Callable[[Scene], tuple[Move, ...]]] = {
    "visibility_expired": _raise_visibility,
    "handle_expired": _raise_visibility,
    "throttled": _limit_concurrency,
    "dlq_redrive": _cancel_redrive,
    "unseen_receive": _find_receiver,
    "broker_copy": _nothing_stops(
        "A standard queue may deliver a message more than once at any time; only an idempotent handler helps."
    ),
    INVOKED_AGAIN: _nothing_stops(
        "Lambda may invoke a function more than once for one receive at any time; only an idempotent handler helps."
    ),
}
"""Trigger to its first move; every other one is stopped by pausing the consumer."""
