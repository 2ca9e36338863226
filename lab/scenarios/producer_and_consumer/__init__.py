"""producer-and-consumer: five queues, and on each one thing that goes wrong, on the sending or the receiving side.

A producer sends again after the deduplication window; a slow consumer is overtaken; a delete fails after the commit; a
message outlives its retention; a message that cannot be read has no dead-letter queue to go to. Around each of them two
hours of healthy traffic.
"""

import random
from datetime import datetime, timedelta

from lab.aws import EmbeddedAws
from lab.ids import Ids
from lab.metrics import dead_letter_metrics, function_metrics, queue_metrics
from lab.played import Played, truths_of
from lab.scenarios.producer_and_consumer import feed, invoices, mails, refunds, stock
from lab.scenarios.producer_and_consumer.part import Part, Stage
from lab.simulation import play_out
from lab.world import World

NAME = "producer-and-consumer"
ABOUT = "five queues: sent twice, overtaken, not deleted, lost to retention, and poison without a dead-letter queue"

LENGTH = timedelta(hours=2)
ENDED_BEFORE_NOW = timedelta(minutes=10)
AGE = timedelta(days=35)
SETTINGS = "".join(part.SETTINGS for part in (invoices, stock, mails, refunds, feed))

STORY = (
    "invoices.fifo: the billing run sends three invoices again with the same deduplication id; SQS drops the one that "
    "comes within five minutes and takes the two that come later, so both are booked twice. stock-levels.fifo: a run "
    "stalls for 48 s, the message is visible again after 30 s, a second run stores it and the next change, and then the "
    "first run stores the old level over the new one. mails: three deletes fail after the mail was sent, and three mails "
    "are sent twice. refund-requests keeps a message for 15 minutes: two runs fail on one refund, and it is lost before "
    "the third. product-feed has no dead-letter queue: one message that is no JSON comes back every minute."
)


def play(aws: EmbeddedAws, now: datetime) -> Played:
    """Play the incidents into ``aws``; they end ten minutes before ``now``."""
    end = now.replace(second=0, microsecond=0) - ENDED_BEFORE_NOW
    stage = Stage(aws, end - LENGTH, end, Ids(NAME), random.Random(NAME))
    parts = [
        invoices.invoices(stage),
        stock.stock(stage),
        mails.mails(stage),
        refunds.refunds(stage),
        feed.feed(stage),
    ]
    play_out([process for part in parts for process in part.processes], until=end)
    world = World(aws, stage.start - AGE)
    for part in parts:
        _put(world, part, stage)
    return Played(
        scenario=NAME,
        story=STORY,
        queues=tuple(part.queue.spec.name for part in parts),
        log_groups=tuple(f"{part.log_group}={part.queue.spec.name}" for part in parts if part.log_group),
        settings_text=SETTINGS,
        window_start=stage.start,
        window_end=end,
        truths=truths_of(part.queue for part in parts),
    )


def _put(world: World, part: Part, stage: Stage) -> None:
    arn = world.create_queue(part.queue.spec)
    if part.function:
        world.create_function(part.function, arn, part.code)
        world.put_log_lines(part.function.log_group, part.function.lines)
        world.put_metrics("AWS/Lambda", function_metrics(part.function, stage.start, stage.end))
    else:
        world.create_log_group(part.log_group)
        world.put_log_lines(part.log_group, part.lines())
    world.put_metrics(
        "AWS/SQS",
        queue_metrics(part.queue, stage.start, stage.end) + dead_letter_metrics(part.queue, stage.start, stage.end),
    )
