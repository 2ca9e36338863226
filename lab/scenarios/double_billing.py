"""double-billing: a FIFO queue, "exactly once", and customers who pay twice.

A slow payment provider makes two batches run into the function's 30 s timeout half-way. Nothing of a timed-out batch is
deleted, so all of it comes again when its visibility timeout of 600 s ends, and what had been charged is charged again.
Around it three hours of healthy payments, and a second queue where a guard stops the repeats of a failed batch.
"""

import json
import random
from collections.abc import Generator, Iterator
from datetime import datetime, timedelta
from itertools import cycle

from lab.aws import EmbeddedAws
from lab.functions import HandlerError, Run, SimulatedFunction
from lab.ids import Ids
from lab.loglines import JsonFormat
from lab.metrics import dead_letter_metrics, function_metrics, queue_metrics
from lab.played import Played, truths_of
from lab.simulation import QueueSpec, SimulatedQueue, play_out
from lab.world import World

NAME = "double-billing"
ABOUT = "a slow payment provider, a function timeout and a FIFO queue that charges eleven customers twice"

LENGTH = timedelta(hours=3)
ENDED_BEFORE_NOW = timedelta(minutes=10)
INCIDENT_AFTER = timedelta(hours=1, minutes=12)
"""When, within the window, the provider gets slow and a sale sends more payments than usual."""
REPEAT_AFTER = timedelta(minutes=47)
"""When, within the window, a batch of shipments fails after its work, and its guard stops the repeat."""
AGE = timedelta(days=63)
SLOW_SPELLS_S = (3.82, 6.31)
"""What one payment takes in each slow spell: 7 fit into 30 s, then 4."""

PAYMENTS = QueueSpec(
    "payments.fifo", visibility_timeout_s=600, dead_letter_queue="payments-dlq.fifo", max_receive_count=5
)
SHIPMENTS = QueueSpec(
    "shipment-updates", visibility_timeout_s=180, dead_letter_queue="shipment-updates-dlq", max_receive_count=5
)

SETTINGS = r"""
[[function]]
name = "charge-card"
effect = 'charged payment_id=(?P<key>\S+)'
effect_is_exhaustive = true
started = 'processing (?P<message_id>\S+)'
order = "sequential"

[[function]]
name = "notify-shipment"
effect = 'notified shipment_id=(?P<key>[\w-]+)'
effect_is_exhaustive = true
started = 'handling (?P<message_id>[0-9a-f-]{36})'
guard = 'already notified shipment_id=(?P<key>[\w-]+)'
order = "sequential"

[[queue]]
name = "payments.fifo"
business_key = "$.payment_id"
owner = "payments team"

[[queue]]
name = "shipment-updates"
business_key = "$.shipment_id"
owner = "logistics team"
"""

STORY = (
    "payments.fifo feeds charge-card, ten payments a batch, one message group. The payment provider turns slow: one "
    "batch is killed by the 30 s function timeout after 7 charges, a second after 4. SQS shows both batches again 600 s "
    "after it had handed them out, and charge-card charges every payment of them from the start: 11 customers pay "
    "twice, and 2 more may have, because their charge was under way at the kill. Meanwhile the queue stands still, "
    "twice for 570 s. shipment-updates had a failed batch too; there a guard stopped the repeats."
)

CHARGE_CARD = '''\
import json
import logging

logging.getLogger().setLevel(logging.INFO)

def handler(event, context):
    print(json.dumps(event))
    for record in event["Records"]:
        payment = json.loads(record["body"])
        logging.info("processing %s", record["messageId"])
        charge(payment)
        logging.info("charged payment_id=%s amount=%s", payment["payment_id"], payment["amount"])

def charge(payment):
    """Ask the payment provider; the lab has none."""
'''

NOTIFY_SHIPMENT = """\
import json
import logging

logging.getLogger().setLevel(logging.INFO)
sent = set()  # stands for a table with a unique key

def handler(event, context):
    logging.info(json.dumps(event))
    for record in event["Records"]:
        shipment_id = json.loads(record["body"])["shipment_id"]
        logging.info("handling %s", record["messageId"])
        if shipment_id in sent:
            logging.info("already notified shipment_id=%s", shipment_id)
            continue
        sent.add(shipment_id)
        logging.info("notified shipment_id=%s", shipment_id)
"""


def play(aws: EmbeddedAws, now: datetime) -> Played:
    """Play the incident into ``aws``; it ends ten minutes before ``now``."""
    end = now.replace(second=0, microsecond=0) - ENDED_BEFORE_NOW
    start = end - LENGTH
    ids = Ids(NAME)
    chance = random.Random(NAME)

    payments = SimulatedQueue(PAYMENTS, ids)
    _send_payments(payments, start, end, ids, chance)
    provider = _Provider(start + INCIDENT_AFTER, chance)
    charge_card = SimulatedFunction(
        "charge-card", aws.region, aws.account_id, provider.charge_batch, ids, chance, memory_mb=256
    )
    charge_card.timeout_forms = cycle(("timeout_line", "timeout_status"))

    shipments = SimulatedQueue(SHIPMENTS, ids)
    _send_shipments(shipments, start, end, ids, chance)
    notifier = _Notifier(start + REPEAT_AFTER, chance)
    notify_shipment = SimulatedFunction(
        "notify-shipment", aws.region, aws.account_id, notifier.notify_batch, ids, chance, 30, 128, 5, JsonFormat()
    )

    consumers = [*charge_card.environments(payments, start), *notify_shipment.environments(shipments, start, count=3)]
    play_out(consumers, until=end)

    world = World(aws, start - AGE)
    for queue, function, code in (
        (payments, charge_card, CHARGE_CARD),
        (shipments, notify_shipment, NOTIFY_SHIPMENT),
    ):
        world.create_function(function, world.create_queue(queue.spec), code)
        world.put_log_lines(function.log_group, function.lines)
        world.put_metrics("AWS/SQS", queue_metrics(queue, start, end) + dead_letter_metrics(queue, start, end))
        world.put_metrics("AWS/Lambda", function_metrics(function, start, end))
    return Played(
        scenario=NAME,
        story=STORY,
        queues=(PAYMENTS.name, SHIPMENTS.name),
        log_groups=(),
        settings_text=SETTINGS,
        window_start=start,
        window_end=end,
        truths=truths_of((payments, shipments)),
        books=_ledger(payments, Ids(f"{NAME} ledger")),
    )


def _ledger(payments: SimulatedQueue, ids: Ids) -> str:
    """Write the provider's ledger: a row per charge, whether or not the function lived to log it."""
    charges = [
        (delivery.effect_at, json.loads(message.body))
        for message in payments.messages
        for delivery in message.deliveries
        if delivery.effect_at is not None
    ]
    charges.sort(key=lambda charge: (charge[0], charge[1]["payment_id"]))
    rows = [
        f"ch-{ids.code(10)},{body['payment_id']},{body['amount']},{body['currency']},{at.isoformat(timespec='milliseconds')}"
        for at, body in charges
    ]
    return "\n".join(["charge_id,payment_id,amount,currency,charged_at", *rows, ""])


class _Provider:
    """The payment provider, with two slow spells; each holds for the first full batch that meets it."""

    def __init__(self, slow_from: datetime, chance: random.Random) -> None:
        self._chance = chance
        self._spells = list(zip((slow_from, slow_from + timedelta(seconds=600)), SLOW_SPELLS_S, strict=True))

    def charge_batch(self, run: Run) -> Generator[float, None, None]:
        """Charge a batch one payment after the other, as CHARGE_CARD does."""
        slow_s = self._slow_spell(run)
        yield 0.004
        run.prints(json.dumps(run.event()))
        for delivery in run.deliveries:
            payment = json.loads(delivery.message.body)
            yield 0.002
            run.logs(f"processing {delivery.message.message_id}")
            asked_at = run.now
            takes_s = slow_s + self._chance.uniform(-0.07, 0.07) if slow_s else self._chance.uniform(0.55, 1.35)
            if slow_s == SLOW_SPELLS_S[0]:
                # The request is with the provider, who goes through with it whether or not the function lives on.
                delivery.effect_at = asked_at + timedelta(seconds=takes_s)
            yield takes_s
            run.does_the_work_of(delivery)
            run.logs(f"charged payment_id={payment['payment_id']} amount={payment['amount']}")

    def _slow_spell(self, run: Run) -> float | None:
        is_fresh = all(delivery.receive_count == 1 for delivery in run.deliveries)
        if self._spells and is_fresh and len(run.deliveries) == 10 and run.started_at >= self._spells[0][0]:
            return self._spells.pop(0)[1]
        return None


class _Notifier:
    """Tells customers about shipments; one batch fails after all its work was done, and is stopped by the guard."""

    def __init__(self, fails_from: datetime, chance: random.Random) -> None:
        self._chance = chance
        self._fails_from: datetime | None = fails_from
        self._sent: set[str] = set()

    def notify_batch(self, run: Run) -> Generator[float, None, None]:
        """Notify a batch one shipment after the other, as NOTIFY_SHIPMENT does."""
        yield 0.003
        run.logs(json.dumps(run.event()))
        for delivery in run.deliveries:
            shipment_id = json.loads(delivery.message.body)["shipment_id"]
            yield 0.001
            run.logs(f"handling {delivery.message.message_id}")
            yield self._chance.uniform(0.04, 0.3)
            if shipment_id in self._sent:
                run.logs(f"already notified shipment_id={shipment_id}")
                continue
            self._sent.add(shipment_id)
            run.does_the_work_of(delivery)
            run.logs(f"notified shipment_id={shipment_id}")
        if self._fails_from and run.started_at >= self._fails_from and len(run.deliveries) > 1:
            self._fails_from = None
            yield 1.0
            raise HandlerError("ConnectTimeoutError", "Connect timeout on endpoint URL: metrics gateway")


def _send_payments(queue: SimulatedQueue, start: datetime, end: datetime, ids: Ids, chance: random.Random) -> None:
    """A payment every nine seconds or so; a sale starts just before the provider turns slow."""
    sender_id = f"{ids.role_id()}:checkout-api"
    sale = start + INCIDENT_AFTER
    times = [
        *_arrivals(start, end - timedelta(minutes=2), 9.0, chance),
        *_arrivals(sale, sale + timedelta(minutes=2), 0.9, chance),
    ]
    for at in sorted(times):
        payment_id = f"pay-{ids.code(10)}"
        body = {
            "payment_id": payment_id,
            "order_id": f"ord-{ids.code(8)}",
            "amount": chance.randrange(480, 29_800, 10),
            "currency": "JPY",
        }
        queue.send(
            at,
            json.dumps(body),
            sender_id=sender_id,
            business_key=payment_id,
            group="card-payments",
            deduplication_id=payment_id,
        )


def _send_shipments(queue: SimulatedQueue, start: datetime, end: datetime, ids: Ids, chance: random.Random) -> None:
    """Shipment updates, one every twelve seconds, and a warehouse that reports eight at once each quarter of an hour."""
    sender_id = f"{ids.role_id()}:warehouse-gateway"
    reports = [start + timedelta(minutes=minutes) for minutes in range(2, 175, 15) for _ in range(8)]
    for at in sorted([*_arrivals(start, end - timedelta(minutes=5), 12.0, chance), *reports]):
        shipment_id = f"shp-{ids.code(9)}"
        body = {"shipment_id": shipment_id, "status": chance.choice(("packed", "handed_over", "delivered"))}
        queue.send(at, json.dumps(body), sender_id=sender_id, business_key=shipment_id)


def _arrivals(start: datetime, end: datetime, mean_s: float, chance: random.Random) -> Iterator[datetime]:
    at = start + timedelta(seconds=chance.expovariate(1 / mean_s))
    while at < end:
        yield at.replace(microsecond=at.microsecond // 1000 * 1000)
        at += timedelta(seconds=chance.expovariate(1 / mean_s))
