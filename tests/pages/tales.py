"""The incidents that the test lakes hold: each function tells one into a Story."""

from datetime import datetime, timedelta

from forensics.queue_rules.facts import QueueFacts
from forensics.queue_rules.fifo_group_blocked import fifo_group_blocked
from forensics.rules import RULES, DeliveryPair
from forensics.sentence import labelled, marked, said
from forensics.tables.findings import INCIDENTS, MESSAGES, QUEUE_FINDINGS, REDELIVERIES, RULINGS
from forensics.verdict.guards import guard_sentence
from forensics.verdict.sentences import effect_sentence, headline, trigger_sentence
from forensics.verdict.why import Why, why_sentence
from tests.pages.worlds import (
    DEAD_LETTERED,
    DOUBLE_BILLING,
    EXPIRED_HANDLE,
    HUGE,
    START,
    Consumer,
    Row,
    Run,
    Story,
    arn,
    uuid,
)

CHARGE = Consumer("payments.fifo", "/aws/lambda/charge-card", "charge-card", 30, 600, 10, True)
BILLING = Consumer("billing", "/ecs/billing-worker", None, None, 30, None, False)
MAIL = Consumer("mail", "/aws/lambda/send-mail", "send-mail", 15, 30, 1, False)
CLICKS = Consumer("clicks", "/aws/lambda/count-click", "count-click", 10, 60, 10, False)


def _hit(limit_s: int) -> str:
    """Say what the rule says of a run that was killed at its limit."""
    pair = DeliveryPair(earlier_status="timeout", function_timeout_s=limit_s, gap_ms=600_600, run_ms=limit_s * 1000)
    return RULES["function_timeout"](pair).sentence


ENDED_IN_TIME = labelled(
    "visibility_expired",
    RULES["visibility_expired"](DeliveryPair(visibility_timeout_s=600, gap_ms=600_600, run_ms=30_040)).sentence,
)
NOT_IN_TIME = labelled("function_timeout", RULES["function_timeout"](DeliveryPair(earlier_status="error")).sentence)


def _why(why: Why) -> dict[str, object]:
    """Return why messages were redelivered, as an incident holds it."""
    return {"cause_sentence": why_sentence(why), "trigger": why.trigger, "why": why.values}


def s(seconds: float) -> timedelta:
    """Seconds, for short sums of times."""
    return timedelta(seconds=seconds)


def double_billing(story: Story) -> None:
    """Ten payments in one batch; the run is killed at 30 s, and 600 s later the second run charges seven again."""
    story.settings(CHARGE, "payments-dlq.fifo", 5)
    messages = [
        {
            "message_id": uuid("payment", n),
            "group_id": "merchant-7",
            "deduplication_id": f"pay-{n}",
            "sent_at": START - s(6 - 0.4 * n),
            "body_md5": f"{n:032x}",
            "business_keys": [f"pay_{1040 + n}"],
            "batch_position": n,
            "batch_count": 10,
        }
        for n in range(1, 11)
    ]
    first = story.run(CHARGE, "A", START + s(0.2), 30, "timeout", 10)
    second = story.run(CHARGE, "B", START + s(600.8), 13, "success", 10)
    seen: list[tuple[Row, Row]] = []
    for n, message in enumerate(messages, 1):
        starts = first.started_at + s(4 * (n - 1))
        done = starts + s(4)
        got, effect = [first.first_id], {"effect": "no", "basis": "not_reached"}
        if n <= 7:
            line = story.log(first, done, f"charged payment_id={message['business_keys'][0]} amount=4900 JPY\n")
            got.append(line)
            effect = {"effect": "yes", "basis": "marker", "started_at": starts, "finished_at": done, "effect_at": done}
        elif n == 8:
            effect = {"effect": "unknown", "basis": "in_progress", "started_at": starts}
        one = story.deliver(
            first, message, 1, ended_by="visibility_expired", evidence_ids=sorted(got + first.end_ids), **effect
        )
        again = second.started_at + s(1.25 * (n - 1))
        charged = again + s(1.2)
        line = story.log(second, charged, f"charged payment_id={message['business_keys'][0]} amount=4900 JPY\n")
        two = story.deliver(
            second,
            message,
            2,
            ended_by="deleted",
            effect="yes",
            basis="marker",
            started_at=again,
            finished_at=charged,
            effect_at=charged,
            delete_status="attempted",
            delete_at=second.ended_at,
            evidence_ids=sorted([line, second.first_id, *second.end_ids]),
        )
        seen.append((one, two))
        _bars(story, DOUBLE_BILLING, n, [one, two])
        verdict, least, most, cause = (
            ("confirmed", 2, 2, "batch_collateral")
            if n <= 7
            else ("probable", 1, 2, "function_timeout")
            if n == 8
            else ("harmless", 1, 1, "function_timeout")
        )
        _judge(
            story,
            DOUBLE_BILLING if n <= 8 else DOUBLE_BILLING,
            [one, two],
            verdict,
            "proved",
            least,
            most,
            cause,
            trigger=trigger_sentence([cause], 2, 2),
            guard=guard_sentence({}),
            effect=effect_sentence(least, most, ["marker"]),
            sentence=_hit(30),
            excluded=[
                ENDED_IN_TIME,
                "producer_retry: the same message ids were redelivered; nothing was sent twice",
                "broker_copy: a FIFO queue does not deliver copies",
            ],
        )
    story.add(
        QUEUE_FINDINGS,
        {
            "queue_arn": arn("payments.fifo"),
            "queue": "payments.fifo",
            "code": "fifo_group_blocked",
            "item_id": messages[0]["message_id"],
            "message_id": messages[0]["message_id"],
            "incident_id": DOUBLE_BILLING,
            "group_id": "merchant-7",
            "stance": "supported",
            "from_at": first.ended_at,
            "until_at": second.received_at,
            "span_ms": 570_560,
            "message_count": 9,
            "message_ids": sorted(m["message_id"] for m in messages[1:]),
            "business_keys": [],
            "sentence": fifo_group_blocked(QueueFacts(span_ms=570_560, waiting_count=9)).sentence,
            "evidence_ids": sorted(first.end_ids),
        },
    )
    story.add(
        INCIDENTS,
        {
            "incident_id": DOUBLE_BILLING,
            "queue_arn": arn("payments.fifo"),
            "queue": "payments.fifo",
            "started_at": first.received_at,
            "ended_at": second.ended_at,
            "first_repeat_at": second.received_at,
            "messages": 8,
            "messages_at_most": 8,
            "confirmed": 7,
            "probable": 1,
            "possible": 0,
            "absorbed": 0,
            "harmless": 2,
            "causes": ["batch_collateral=7", "function_timeout=3"],
            "primary_cause": "batch_collateral",
            "headline": headline(7, 1, 0, 10),
            **_why(
                Why("payments.fifo", ["charge-card"], "function_timeout", 10, 7, 10, 7, 30_040, 600_600, 0, 30, 600)
            ),
            "excluded": [
                ENDED_IN_TIME,
                "producer_retry: the same message ids were redelivered; nothing was sent twice",
                "broker_copy: a FIFO queue does not deliver copies",
            ],
            "certainty": "proved",
            "functions": ["charge-card"],
            "is_fifo": True,
            "visibility_timeout_s": 600,
            "function_timeout_s": 30,
            "batch_size": 10,
            "group_count": 1,
            "blocked_ms": 570_560,
            "extra_effects_at_least": 7,
            "extra_effects_at_most": 8,
            "unread_sources": [],
            "evidence_ids": sorted({i for pair in seen for d in pair for i in d["evidence_ids"]}),
        },
    )


def expired_handle(story: Story) -> None:
    """A worker slower than its visibility timeout: the work is done, the delete refused, the work done again."""
    story.settings(BILLING)
    at = datetime(2026, 11, 19, 8, 20, 25, tzinfo=START.tzinfo)
    seen = []
    for n in (1, 2, 3):
        message = {"message_id": uuid("bill", n), "sent_at": at - s(3 - 0.2 * n), "body_md5": f"{n:032x}"}
        received = at + s(2 * n)
        slow = n == 3
        run = story.run(BILLING, f"{n}a", received, 41 if slow else 0.9)
        begun = story.log(run, run.started_at, f"[{run.started_at:%Y-%m-%d %H:%M:%S}] Processing: App\\Jobs\\Bill\n")
        done = story.log(run, run.ended_at, f"[{run.ended_at:%Y-%m-%d %H:%M:%S}] Processed:  App\\Jobs\\Bill\n")
        ids = [begun, done]
        if slow:
            ids.append(
                story.log(
                    run,
                    run.ended_at + s(0.1),
                    "Aws\\Sqs\\Exception\\SqsException: InvalidParameterValue: Value RH~AQEBexpired~0 for parameter "
                    "ReceiptHandle is invalid. Reason: The receipt handle has expired.\n",
                )
            )
        one = story.deliver(
            run,
            message,
            1,
            ended_by="delete_refused" if slow else "deleted",
            effect="yes",
            basis="finished",
            started_at=run.started_at,
            finished_at=run.ended_at,
            effect_at=run.ended_at,
            delete_status="expired" if slow else "attempted",
            delete_at=run.ended_at + s(0.1),
            evidence_ids=sorted(ids),
        )
        deliveries = [one]
        if slow:
            later = story.run(BILLING, f"{n}b", received + s(30.4), 22)
            ids = [
                story.log(later, later.started_at, "Processing: App\\Jobs\\Bill\n"),
                story.log(later, later.ended_at, "Processed:  App\\Jobs\\Bill\n"),
            ]
            deliveries.append(
                story.deliver(
                    later,
                    message,
                    2,
                    ended_by="deleted",
                    effect="yes",
                    basis="finished",
                    started_at=later.started_at,
                    finished_at=later.ended_at,
                    effect_at=later.ended_at,
                    delete_status="attempted",
                    delete_at=later.ended_at + s(0.1),
                    evidence_ids=sorted(ids),
                )
            )
            seen = deliveries
            _bars(story, EXPIRED_HANDLE, 1, deliveries)
    _judge(
        story,
        EXPIRED_HANDLE,
        seen,
        "confirmed",
        "proved",
        2,
        2,
        "handle_expired",
        trigger=trigger_sentence(["handle_expired"], 2, 2),
        guard=guard_sentence({}),
        effect=effect_sentence(2, 2, ["finished"]),
        sentence="its delete was refused: the receipt handle had expired",
        excluded=["function_timeout: a worker took it, not a Lambda function"],
    )
    story.add(
        INCIDENTS,
        {
            "incident_id": EXPIRED_HANDLE,
            "queue_arn": arn("billing"),
            "queue": "billing",
            "started_at": seen[0]["received_at"],
            "ended_at": seen[1]["delete_at"],
            "first_repeat_at": seen[1]["received_at"],
            "messages": 1,
            "messages_at_most": 1,
            "confirmed": 1,
            "probable": 0,
            "possible": 0,
            "absorbed": 0,
            "harmless": 0,
            "causes": ["handle_expired=1"],
            "primary_cause": "handle_expired",
            "headline": headline(1, 0, 0, 1),
            **_why(Why("billing", ["/ecs/billing-worker"], "handle_expired", gap_ms=30_000, visibility_timeout_s=30)),
            "excluded": ["function_timeout: a worker took it, not a Lambda function"],
            "certainty": "proved",
            "functions": ["/ecs/billing-worker"],
            "is_fifo": False,
            "visibility_timeout_s": 30,
            "group_count": None,
            "blocked_ms": None,
            "extra_effects_at_least": 1,
            "extra_effects_at_most": 1,
            "unread_sources": [],
            "evidence_ids": sorted({i for d in seen for i in d["evidence_ids"]}),
        },
    )


def dead_lettered(story: Story, unread: bool = False) -> None:
    """A mail that fails twice, is once received without a trace, and moves to the dead-letter queue."""
    story.settings(MAIL, "mail-dlq", 3)
    at = datetime(2026, 11, 18, 22, 0, tzinfo=START.tzinfo)
    message = {"message_id": uuid("mail", 1), "sent_at": at - s(2), "body_md5": f"{1:032x}"}
    deliveries = []
    for count in (1, 2):
        run = story.run(MAIL, f"mail{count}", at + s(31 * (count - 1)), 3.2, "error")
        error = story.log(run, run.ended_at, "[ERROR] SMTPServerDisconnected: Connection unexpectedly closed\n")
        deliveries.append(
            story.deliver(
                run,
                message,
                count,
                ended_by="visibility_expired",
                started_at=run.started_at,
                evidence_ids=sorted([error, run.first_id, *run.end_ids]),
            )
        )
    ghost = story.deliver(
        run,
        message,
        3,
        is_seen=False,
        consumer=None,
        consumer_kind=None,
        function_name=None,
        request_id=None,
        log_group=None,
        log_stream=None,
        received_at=None,
        received_basis=None,
        hidden_until_at=None,
        run_ended_at=None,
        run_status=None,
        ended_by="dead_lettered",
        basis="unseen",
    )
    _bars(story, DEAD_LETTERED, 1, deliveries)
    story.mark(DEAD_LETTERED, ghost | {"log_stream": "derived"}, 1, "unseen", at + s(62))
    story.mark(DEAD_LETTERED, ghost | {"log_stream": "derived"}, 1, "dead_lettered", at + s(93))
    _judge(
        story,
        DEAD_LETTERED,
        [*deliveries, ghost],
        "possible",
        "inferred",
        0,
        None,
        "function_error",
        trigger=trigger_sentence(["function_error", "unseen_receive"], 2, 3),
        guard=guard_sentence({}),
        effect=effect_sentence(0, None, []),
        sentence=said(
            "{run} raised {what}; no line shows that this message was finished",
            run="the earlier run",
            what="SMTPServerDisconnected",
        ),
        excluded=[NOT_IN_TIME],
        dead=True,
    )
    story.add(
        INCIDENTS,
        {
            "incident_id": DEAD_LETTERED,
            "queue_arn": arn("mail"),
            "queue": "mail",
            "started_at": at,
            "ended_at": at + s(93),
            "first_repeat_at": at + s(31),
            "messages": 1,
            "messages_at_most": 1,
            "confirmed": 0,
            "probable": 0,
            "possible": 1,
            "absorbed": 0,
            "harmless": 0,
            "causes": ["function_error=1", "unseen_receive=1"],
            "primary_cause": "function_error",
            "headline": said("{what} may have been processed more than once", what=said("{count} message", count=1)),
            **_why(Why("mail", ["send-mail"], "function_error", ran_ms=3200, gap_ms=30_000)),
            "excluded": [NOT_IN_TIME],
            "certainty": "inferred",
            "functions": ["send-mail"],
            "is_fifo": False,
            "visibility_timeout_s": 30,
            "function_timeout_s": 15,
            "batch_size": 1,
            "extra_effects_at_least": 0,
            "extra_effects_at_most": 0,
            "unread_sources": [
                said(
                    "{resource}: {start} to {until} {zone} was not read{why}",
                    resource="/aws/lambda/send-mail",
                    start="22:00",
                    until="22:30",
                    zone="UTC",
                    why=" (AccessDenied)",
                )
            ]
            if unread
            else [],
            "evidence_ids": deliveries[0]["evidence_ids"],
        },
    )


def huge(story: Story, messages: int = 5200) -> None:
    """Thousands of clicks delivered twice: more than lanes can show. The first and the last are of one business key."""
    story.settings(CLICKS)
    at = datetime(2026, 11, 17, 3, 0, tzinfo=START.tzinfo)
    timeline = story.findings.setdefault("timeline", [])
    for n in range(messages):
        message_id = uuid("click", n)
        row = {
            "incident_id": HUGE,
            "item_id": message_id,
            "message_id": message_id,
            "lane": n + 1,
            "function_name": "count-click",
            "evidence_ids": [],
        }
        received = at + s(4 * (n * 7919 % messages))
        seen = []
        for count in (1, 2):
            start = received + s(61 * (count - 1))
            stream, request = f"2026/11/17/[$LATEST]{n % 16:032x}", uuid("click run", n // 10, count)
            run = Run(CLICKS, stream, request, start, start, start + s(10 if count == 1 else 2), "timeout")
            ended = "deleted" if count == 2 else "visibility_expired"
            seen.append(
                story.deliver(
                    run,
                    {"message_id": message_id, "business_keys": [f"click-{n % (messages - 1)}"]},
                    count,
                    ended_by=ended,
                    effect="yes",
                    basis="marker",
                    batch_count=10,
                )
            )
            where = {"delivery_index": count, "receive_count": count, "consumer": run.invocation_id, "source": stream}
            until = start + s(60 if count == 1 else 2)
            bar = {"kind": "in_flight", "at": start, "until_at": until, "ended_by": ended, "label": "in flight"}
            timeline.append(row | where | bar)
        timeline.append(row | where | {"kind": "repeat", "at": start + s(1), "label": "done again"})
        _judge(
            story,
            HUGE,
            seen,
            "confirmed",
            "proved",
            2,
            2,
            "function_timeout",
            trigger=trigger_sentence(["function_timeout"], 2, 2),
            guard=guard_sentence({}),
            effect=effect_sentence(2, 2, ["marker"]),
            sentence=_hit(10),
            excluded=[],
        )
    story.add(
        INCIDENTS,
        {
            "incident_id": HUGE,
            "queue_arn": arn("clicks"),
            "queue": "clicks",
            "started_at": at,
            "ended_at": at + s(4 * messages + 63),
            "first_repeat_at": at + s(61),
            "messages": messages,
            "messages_at_most": messages,
            "confirmed": messages,
            "probable": 0,
            "possible": 0,
            "absorbed": 0,
            "harmless": 0,
            "causes": [f"function_timeout={messages}"],
            "primary_cause": "function_timeout",
            "headline": headline(messages, 0, 0, messages),
            **_why(Why("clicks", ["count-click"], "function_timeout", ran_ms=10_000, runs=messages)),
            "excluded": [],
            "certainty": "proved",
            "functions": ["count-click"],
            "is_fifo": False,
            "visibility_timeout_s": 60,
            "function_timeout_s": 10,
            "batch_size": 10,
            "extra_effects_at_least": messages,
            "extra_effects_at_most": messages,
            "unread_sources": [],
            "evidence_ids": [],
        },
    )


def _bars(story: Story, incident: str, lane: int, deliveries: list[Row]) -> None:
    """Draw what the deliveries of one message left on the timeline."""
    done = 0
    for d in deliveries:
        if d["delivery_index"] == 1:
            story.mark(incident, d, lane, "sent", d["sent_at"], source="derived", label="sent")
        refused = d["ended_by"] == "delete_refused"
        until = d["delete_at"] if d["ended_by"] == "deleted" else d["hidden_until_at"]
        story.mark(incident, d, lane, "in_flight", d["received_at"], until_at=until, ended_by=d["ended_by"])
        if d.get("started_at"):
            until = d.get("finished_at") or d["run_ended_at"]
            story.mark(incident, d, lane, "handling", d["started_at"], until_at=until)
        if d["run_status"] != "success":
            story.mark(
                incident,
                d,
                lane,
                d["run_status"],
                d["run_ended_at"],
                label=said("the run ended: {what}", what=d["run_status"]),
            )
        if d.get("effect_at"):
            done += 1
            story.mark(incident, d, lane, "effect" if done == 1 else "repeat", d["effect_at"])
        if d.get("delete_at"):
            story.mark(incident, d, lane, "delete_refused" if refused else "deleted", d["delete_at"])


def _judge(
    story: Story,
    incident: str,
    deliveries: list[Row],
    verdict: str,
    certainty: str,
    least: int,
    most: int | None,
    cause: str,
    *,
    trigger: str,
    guard: str,
    effect: str,
    sentence: str,
    excluded: list[str],
    dead: bool = False,
) -> None:
    """Keep the verdict of one message and why each redelivery happened."""
    first, ids = deliveries[0], sorted({i for d in deliveries for i in d["evidence_ids"]})
    same = {k: first[k] for k in ("queue_arn", "item_id", "message_id")}
    seen = [d for d in deliveries if d["is_seen"]]
    story.add(
        MESSAGES,
        same
        | {
            "queue": first["queue"],
            "incident_id": incident,
            "work_id": first["message_id"],
            "verdict": verdict,
            "certainty": certainty,
            "effects_at_least": least,
            "effects_at_most": most,
            "deliveries": len(seen),
            "receive_count": deliveries[-1]["receive_count"],
            "causes": [cause],
            "trigger_sentence": trigger,
            "guard_sentence": guard,
            "effect_sentence": effect,
            "first_received_at": first["received_at"],
            "last_received_at": seen[-1]["received_at"],
            "sent_at": first.get("sent_at"),
            "group_id": first.get("group_id"),
            "deduplication_id": first.get("deduplication_id"),
            "is_dead_lettered": dead,
            "business_keys": first["business_keys"],
            "related_message_ids": [],
            "evidence_ids": ids,
        },
    )
    for earlier, later in zip(deliveries, deliveries[1:], strict=False):
        key = same | {"delivery_index": later["delivery_index"]}
        gap = later["received_at"] and later["received_at"] - earlier["received_at"]
        code = cause if later["is_seen"] else "unseen_receive"
        story.add(
            REDELIVERIES,
            key
            | {
                "queue": first["queue"],
                "receive_count": later["receive_count"],
                "earlier_received_at": earlier["received_at"],
                "later_received_at": later["received_at"],
                "gap_ms": gap and int(gap.total_seconds() * 1000),
                "visibility_timeout_s": earlier["visibility_timeout_s"],
                "overlap_ms": 0,
                "cause": code,
                "causes": [code],
                "sentence": sentence,
                "excluded": excluded,
                "evidence_ids": ids,
            },
        )
        ruled = {k: v for k, v in key.items() if k != "message_id"}
        for rival in excluded:
            name, _, why = marked(rival).partition(": ")
            story.add(RULINGS, ruled | {"code": name, "stance": "excluded", "sentence": why, "evidence_ids": ids})
        story.add(RULINGS, ruled | {"code": code, "stance": "supported", "sentence": sentence, "evidence_ids": ids})
