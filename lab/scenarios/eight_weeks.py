"""eight-weeks: six queues over eight weeks, for the weekly review.

payments.fifo turns bad in the last week; invoices drifted in the fifth, when its function timeout was raised and its
visibility timeout was not; webhooks are throttled and dead-letter what always fails; exports have a poison message and
no dead-letter queue; mail and search-index are well.
"""

import json
import random
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from lab.aws import EmbeddedAws
from lab.functions import HandlerError, Run, SimulatedFunction
from lab.history import Stretch, dead_letter_history, function_history, play_session, queue_history
from lab.ids import Ids
from lab.loglines import JsonFormat, TextFormat
from lab.played import Played, truths_of
from lab.simulation import QueueSpec, SimulatedQueue
from lab.world import World

NAME = "eight-weeks"
ABOUT = "six queues over eight weeks: one that turned bad, one that drifted, two with poison, and two that are well"

WEEKS = 8
ENDED_BEFORE_NOW = timedelta(minutes=10)
AGE = timedelta(days=30)
ZONE = ZoneInfo("Asia/Tokyo")
DRIFT_IN_WEEK = 4
"""From this week on (counted from 0) the invoices' function may run for 60 s, under a visibility timeout of 30 s."""
BAD_WEEK = WEEKS - 1
SESSION = timedelta(minutes=20)
OLD_TIMEOUT_S, NEW_TIMEOUT_S = 25, 60

SETTINGS = r"""
[[function]]
name = "charge-card"
effect = 'charged payment_id=(?P<key>[\w-]+)'
effect_is_exhaustive = true
started = 'processing (?P<message_id>[0-9a-f-]{36})'
order = "sequential"
idempotent = false

[[function]]
name = "render-invoice"
effect = 'sent invoice_id=(?P<key>[\w-]+)'
effect_is_exhaustive = true
started = 'processing (?P<message_id>[0-9a-f-]{36})'
order = "sequential"
idempotent = false

[[function]]
name = "deliver-webhook"
effect = 'delivered webhook_id=(?P<key>[\w-]+)'
effect_is_exhaustive = true
started = 'processing (?P<message_id>[0-9a-f-]{36})'
order = "sequential"

[[function]]
name = "write-export"
effect = 'wrote export_id=(?P<key>[\w-]+)'
effect_is_exhaustive = true
started = 'processing (?P<message_id>[0-9a-f-]{36})'
order = "sequential"

[[function]]
name = "send-mail"
effect = 'sent mail_id=(?P<key>[\w-]+)'
effect_is_exhaustive = true
started = 'processing (?P<message_id>[0-9a-f-]{36})'
order = "sequential"

[[function]]
name = "index-page"
effect = 'indexed page_id=(?P<key>[\w-]+)'
effect_is_exhaustive = true
started = 'processing (?P<message_id>[0-9a-f-]{36})'
order = "sequential"

[[queue]]
name = "payments.fifo"
business_key = "$.payment_id"
owner = "payments team"
note = "charges cards: ask before a redrive"

[[queue]]
name = "invoices"
business_key = "$.invoice_id"
owner = "billing team"

[[queue]]
name = "webhooks"
business_key = "$.webhook_id"
owner = "platform team"

[[queue]]
name = "exports"
business_key = "$.export_id"
owner = "data team"
[[queue.accepted]]
check = "dead_letter_queue_missing"
until = 2027-06-30
reason = "the export service is replaced in spring"

[[queue]]
name = "mail"
business_key = "$.mail_id"
owner = "platform team"

[[queue]]
name = "search-index"
business_key = "$.page_id"
owner = "search team"

[team]
zone = "Asia/Tokyo"
"""

STORY = (
    "Six queues over eight weeks. payments.fifo was well for seven of them; in the last, a slow provider makes batches "
    "run into the function timeout, and payments are charged twice. invoices drifted in the fifth week: the function "
    "may run for 60 s since then, the queue hides messages for 30 s, and slow invoices are sent twice. webhooks are "
    "throttled by a reserved concurrency without a maximum concurrency, and what always fails is dead-lettered. "
    "exports have no dead-letter queue: a message that always fails comes back for days, and the age metric hides it."
)


@dataclass(frozen=True)
class Line:
    """One queue with its function, and how its work goes: what is done, and how long an item takes in seconds."""

    queue: QueueSpec
    function: str
    did: str
    key: str
    batch_size: int
    timeout_s: int
    messages: int
    """On a working day; a quarter of it at the weekend."""
    item_s: tuple[float, float]
    environments: int = 1
    slow_share: float = 0.0
    slow_s: tuple[float, float] = (0.0, 0.0)
    slow_from_week: int = 0
    poison_share: float = 0.0
    throttled_polls: int = 0
    reserved: int | None = None
    burst: int = 1
    """Messages that come at once."""
    mapping: Mapping[str, object] = field(default_factory=dict)


_PARTIAL = {"FunctionResponseTypes": ["ReportBatchItemFailures"]}
LINES = (
    Line(
        QueueSpec("payments.fifo", 600, "payments-dlq.fifo", 5),
        "charge-card",
        "charged payment_id",
        "payment_id",
        batch_size=10,
        timeout_s=30,
        messages=60,
        item_s=(0.5, 1.2),
        slow_share=0.04,
        slow_s=(18.0, 26.0),
        slow_from_week=BAD_WEEK,
        burst=12,
    ),
    Line(
        QueueSpec("invoices", 30, "invoices-dlq", 5),
        "render-invoice",
        "sent invoice_id",
        "invoice_id",
        batch_size=1,
        timeout_s=OLD_TIMEOUT_S,
        messages=30,
        item_s=(2.0, 9.0),
        environments=3,
        slow_share=0.03,
        slow_s=(33.0, 44.0),
        slow_from_week=DRIFT_IN_WEEK,
    ),
    Line(
        QueueSpec("webhooks", 60, "webhooks-dlq", 3),
        "deliver-webhook",
        "delivered webhook_id",
        "webhook_id",
        batch_size=1,
        timeout_s=10,
        messages=40,
        item_s=(0.1, 0.9),
        environments=2,
        poison_share=0.008,
        throttled_polls=1,
        reserved=2,
    ),
    Line(
        QueueSpec("exports", 900),
        "write-export",
        "wrote export_id",
        "export_id",
        batch_size=1,
        timeout_s=50,
        messages=12,
        item_s=(1.0, 6.0),
        poison_share=0.004,
    ),
    Line(
        QueueSpec("mail", 120, "mail-dlq", 5),
        "send-mail",
        "sent mail_id",
        "mail_id",
        batch_size=5,
        timeout_s=20,
        messages=50,
        item_s=(0.05, 0.4),
        environments=2,
        burst=5,
        mapping=_PARTIAL,
    ),
    Line(
        QueueSpec("search-index", 180, "search-index-dlq", 5),
        "index-page",
        "indexed page_id",
        "page_id",
        batch_size=10,
        timeout_s=30,
        messages=40,
        item_s=(0.02, 0.2),
        burst=8,
        mapping=_PARTIAL,
    ),
)

CODE = '''\
import json
import logging

logging.getLogger().setLevel(logging.INFO)

def handler(event, context):
    print(json.dumps(event))
    for record in event["Records"]:
        item = json.loads(record["body"])
        logging.info("processing %s", record["messageId"])
        work(item)
        logging.info("{did}=%s", item["{key}"])
    return {{"batchItemFailures": []}}

def work(item):
    """Ask another service; the lab has none."""
'''


def play(aws: EmbeddedAws, now: datetime, lines: tuple[Line, ...] = LINES, weeks: int = WEEKS) -> Played:
    """Play the weeks into ``aws``; the last one is the one ``now`` is in, up to ten minutes ago."""
    end = now.replace(second=0, microsecond=0) - ENDED_BEFORE_NOW
    today = end.astimezone(ZONE).replace(hour=0, minute=0)
    start = (today - timedelta(days=today.weekday(), weeks=weeks - 1)).astimezone(end.tzinfo)
    world = World(aws, start - AGE)
    queues = []
    for line in lines:
        stretch = _stretch(aws, line)
        for week, session in _sessions(start, end, weeks):
            _play_day(stretch, line, week, session, end)
        _leave(world, stretch, line, start, end)
        queues.append(stretch.queue)
    return Played(
        scenario=NAME,
        story=STORY,
        queues=tuple(q.spec.name for q in queues),
        log_groups=(),
        settings_text=SETTINGS,
        window_start=start,
        window_end=end,
        truths=truths_of(queues),
    )


def _stretch(aws: EmbeddedAws, line: Line) -> Stretch:
    ids, chance = Ids(f"{NAME} {line.function}"), random.Random(f"{NAME} {line.function}")
    queue = SimulatedQueue(line.queue, ids)
    handler = _Handler(line, chance)
    function = SimulatedFunction(
        line.function,
        aws.region,
        aws.account_id,
        handler.work,
        ids,
        chance,
        line.timeout_s,
        256,
        line.batch_size,
        JsonFormat() if line.mapping else TextFormat(),
    )
    stretch = Stretch(queue, function)
    handler.stretch = stretch
    return stretch


def _sessions(start: datetime, end: datetime, weeks: int) -> Iterator[tuple[int, datetime]]:
    """Yield one session a day, at ten in the morning of the team's zone, with its week counted from 0."""
    for day in range(7 * weeks):
        at = start + timedelta(days=day, hours=10)
        if at + SESSION + timedelta(hours=1) > end:
            return
        yield day // 7, at


def _play_day(stretch: Stretch, line: Line, week: int, at: datetime, end: datetime) -> None:
    chance = stretch.function.random
    weekend = at.astimezone(ZONE).weekday() > 4
    count = max(1, round(line.messages * chance.uniform(0.85, 1.15) / (4 if weekend else 1)))
    if line.function == "render-invoice":
        stretch.function.timeout_s = NEW_TIMEOUT_S if week >= DRIFT_IN_WEEK else OLD_TIMEOUT_S
    play_session(
        stretch,
        at,
        min(at + timedelta(days=1), end),
        SESSION,
        count,
        _sender(stretch, line),
        chance,
        line.environments,
        line.throttled_polls if not weekend else 0,
        line.burst,
    )


def _sender(stretch: Stretch, line: Line) -> Callable[[datetime], None]:
    ids = stretch.function.ids

    def send(at: datetime) -> None:
        key = f"{line.key.removesuffix('_id')[:3]}-{ids.code(10)}"
        is_fifo = line.queue.is_fifo
        stretch.queue.send(
            at,
            json.dumps({line.key: key}),
            sender_id="AROAEXAMPLEROLE00000:producer",
            business_key=key,
            group="all" if is_fifo else None,
            deduplication_id=key if is_fifo else None,
        )

    return send


@dataclass
class _Handler:
    """How a function works on its batches: mostly quick, sometimes slow, and never on what is poison."""

    line: Line
    chance: random.Random
    stretch: Stretch | None = None
    began: datetime | None = None
    poisoned: dict[str, bool] = field(default_factory=dict)

    def work(self, run: Run) -> Generator[float, None, None]:
        """Work on a batch one item after the other, as CODE does."""
        self.began = self.began or run.started_at
        week = (run.started_at - self.began).days // 7
        yield 0.004
        run.prints(json.dumps(run.event()))
        for delivery in run.deliveries:
            message = delivery.message
            yield 0.002
            run.logs(f"processing {message.message_id}")
            if self.poisoned.setdefault(message.message_id, self.chance.random() < self.line.poison_share):
                yield 0.2
                raise HandlerError("ValueError", "no destination")
            is_slow = week >= self.line.slow_from_week and self.chance.random() < self.line.slow_share
            yield self.chance.uniform(*(self.line.slow_s if is_slow else self.line.item_s))
            run.does_the_work_of(delivery)
            run.logs(f"{self.line.did}={message.business_key}")


def _leave(world: World, stretch: Stretch, line: Line, start: datetime, end: datetime) -> None:
    """Put what AWS would hold of the line: settings with their changes, log events and metrics."""
    function = stretch.function
    if line.function == "render-invoice":
        function.timeout_s = line.timeout_s
    arn = world.create_queue(line.queue)
    world.create_function(function, arn, CODE.format(did=line.did, key=line.key), **line.mapping)
    client = world.aws.client("lambda")
    if line.reserved is not None:
        client.put_function_concurrency(FunctionName=function.name, ReservedConcurrentExecutions=line.reserved)
    if line.function == "render-invoice":
        with world.aws.clock_at(start + timedelta(weeks=DRIFT_IN_WEEK)):
            client.update_function_configuration(FunctionName=function.name, Timeout=NEW_TIMEOUT_S)
    world.put_log_lines(function.log_group, [entry for entry in function.lines if entry.at < end])
    world.put_metrics("AWS/SQS", queue_history(stretch.queue, end) + dead_letter_history(stretch.queue, end))
    world.put_metrics("AWS/Lambda", function_history(stretch, end))
