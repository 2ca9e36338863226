"""fifo-order: a published run of a FIFO queue with a message that always fails, to the hundredth of a second.

Visibility timeout 3 s, maxReceiveCount 2, the messages 0 to 19 in one group, three consumer threads; message 15 sleeps
for 5 s. It was received at 08:20:26.65 and 08:20:29.72; the receive after that moved it to the dead-letter queue and
brought message 16, at 08:20:32.75. Four lines are as published; the others follow from the same rules.
"""

import random
from datetime import UTC, date, datetime, time, timedelta

from lab.aws import EmbeddedAws
from lab.functions import LogLine
from lab.ids import Ids
from lab.metrics import dead_letter_metrics, queue_metrics
from lab.played import Played, truths_of
from lab.simulation import QueueSpec, SimulatedQueue
from lab.worker_lines import received_line
from lab.world import World

NAME = "fifo-order"
ABOUT = "a published run: one failing message holds up its FIFO group for 6.1 s, then is dead-lettered"

AGE = timedelta(days=2)
LOG_GROUP = "/ecs/numbers-worker"
NUMBERS = QueueSpec("numbers.fifo", visibility_timeout_s=3, dead_letter_queue="numbers-dlq.fifo", max_receive_count=2)
WINDOW = (time(8, 15), time(8, 25))
SENT_FROM = time(8, 20, 25, 120_000)
FAILING = "15"
THREADS = ("123145414438912", "123145397649408", "123145380859904")
PUBLISHED = (
    # thread, time of the line, body
    (THREADS[0], time(8, 20, 26, 588_985), "14"),
    (THREADS[0], time(8, 20, 26, 653_587), FAILING),
    (THREADS[1], time(8, 20, 29, 719_290), FAILING),
    (THREADS[0], time(8, 20, 32, 746_732), "16"),
)
STEP = timedelta(milliseconds=64)
"""From one message of the group to the next, as between the published lines of 14 and 15."""
HANDLING = timedelta(microseconds=640)
"""From the receive to the worker's line."""

SETTINGS = """
[[worker]]
log_group = "/ecs/numbers-worker"
queue = "numbers.fifo"
format = "lines"

[[queue]]
name = "numbers.fifo"
owner = "platform team"
"""

STORY = (
    "Three threads take the numbers 0 to 19 from numbers.fifo, one message group. Number 15 needs 5 s, longer than the "
    "visibility timeout of 3 s, and is never deleted: while it is hidden, nothing else of its group is handed out. It "
    "comes a second time 3 s later, and at the third receive SQS moves it to numbers-dlq.fifo and hands out 16. The "
    "order was kept, and the group stood still for 6.1 s."
)


def play(aws: EmbeddedAws, now: datetime) -> Played:
    """Play the run into ``aws``: at its published time of day, on the last UTC day on which that is well past."""
    day = last_day(now)

    def on_the_day(at: time) -> datetime:
        return datetime.combine(day, at, UTC)

    start, end = (on_the_day(at) for at in WINDOW)
    ids = Ids(NAME)
    queue = SimulatedQueue(NUMBERS, ids)
    sender_id = f"{ids.role_id()}:numbers-producer"
    for number in range(20):
        sent_at = on_the_day(SENT_FROM) + timedelta(milliseconds=11 * number)
        queue.send(
            sent_at, str(number), sender_id=sender_id, group="numbers", deduplication_id=f"numbers-{day}-{number}"
        )

    lines: list[LogLine] = []
    stream = f"worker/numbers-worker/{ids.hex(32)}"
    for thread, at, body in _schedule(random.Random(NAME)):
        _handle(queue, on_the_day(at), thread, body, stream, lines)

    world = World(aws, start - AGE)
    world.create_queue(NUMBERS)
    world.create_log_group(LOG_GROUP)
    world.put_log_lines(LOG_GROUP, lines)
    world.put_metrics("AWS/SQS", queue_metrics(queue, start, end) + dead_letter_metrics(queue, start, end))
    return Played(
        scenario=NAME,
        story=STORY,
        queues=(NUMBERS.name,),
        log_groups=(f"{LOG_GROUP}={NUMBERS.name}",),
        settings_text=SETTINGS,
        window_start=start,
        window_end=end,
        truths=truths_of([queue]),
    )


def last_day(now: datetime) -> date:
    """Return the last UTC day on which the run is over, and its log events have arrived."""
    day = now.astimezone(UTC).date()
    is_over = now >= datetime.combine(day, WINDOW[1], UTC) + timedelta(minutes=6)
    return day if is_over else day - timedelta(days=1)


def _schedule(chance: random.Random) -> list[tuple[str, time, str]]:
    """Put the unpublished messages before 14 and after 16, at the pace of the published ones."""

    def moved(at: time, steps: int) -> time:
        off = timedelta(microseconds=chance.randrange(-4_000, 4_000))
        return (datetime.combine(datetime.min.date() + timedelta(days=1), at) + STEP * steps + off).time()

    first, last = PUBLISHED[0][1], PUBLISHED[-1][1]
    before = [(chance.choice(THREADS), moved(first, n - 14), str(n)) for n in range(14)]
    after = [(chance.choice(THREADS), moved(last, n - 16), str(n)) for n in range(17, 20)]
    return [*before, *PUBLISHED, *after]


def _handle(queue: SimulatedQueue, at: datetime, thread: str, body: str, stream: str, lines: list[LogLine]) -> None:
    """Receive and handle one message; the simulated queue must hand out the one that was seen in the run."""
    received_at = at - HANDLING
    [delivery] = queue.receive(received_at, 1, thread)
    assert delivery.message.body == body, "the queue's rules and the published run disagree"
    lines.append(LogLine(stream, received_at, received_line(delivery)))
    failed = " failed" if body == FAILING else ""
    lines.append(LogLine(stream, at, f"{thread} {at:%Y-%m-%d %H:%M:%S.%f} {body}{failed}"))
    if not failed:
        delivery.effect_at = at
        queue.delete(at + timedelta(milliseconds=21), delivery)
