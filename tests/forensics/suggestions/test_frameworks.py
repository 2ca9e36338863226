"""What frameworks of .NET, Go and Java log: a marked line is the work's, a failed try is no work, and where the end alone is logged nothing is."""

from collections.abc import Callable, Iterator, Mapping

import pytest

from forensics.settings import Settings
from tests.forensics.suggestions.test_nameless import an_id
from tests.forensics.suggestions.workers import Lines, SideBySide, Worker, correlated

pytestmark = pytest.mark.lake

FAILED, DOUBLED = (3, 4), 7
"""Messages whose first try fails, and one whose work is done twice; all others are handled once."""
Says = Callable[[int, bool, str], Iterator[str]]

RECEIVED = "dbug: MassTransit.Messages[0]\n      RECEIVE amazonsqs://eu-west-1/orders {} Shop.Order Shop.OrderConsumer(00:00:01)"
FAULT = "fail: MassTransit.ReceiveTransport[0]\n      R-FAULT amazonsqs://eu-west-1/orders {} Shop.Order Shop.OrderConsumer(00:00:01)"
SPRING = "2026-01-05T12:00:00.001Z {} 1 --- [orders-1] {} : {}"


def mass_transit(number: int, fails: bool, name: str) -> Iterator[str]:
    yield "dbug: MassTransit.Messages[0]\n      Create send transport: amazonsqs://eu-west-1/invoices"
    yield (FAULT if fails else RECEIVED).format(name)


def n_service_bus(number: int, fails: bool, name: str) -> Iterator[str]:
    yield f"DEBUG Processing message {name}"
    retry = f"INFO  NServiceBus.RecoverabilityExecutor Immediate Retry is going to retry message '{name}' because of an exception:"
    yield retry if fails else f"INFO  Shop.OrderHandler Order ORD-{number} charged for message '{name}'"


def watermill(number: int, fails: bool, name: str) -> Iterator[str]:
    yield f'level=DEBUG msg="Received message" topic=orders message_uuid={name} subscriber=sqs'
    if fails:
        yield f'level=ERROR msg="Handler returned error" handler_name=charge message_uuid={name} err="i/o timeout"'
    else:
        yield f'level=INFO msg="order charged" order=ORD-{number} message_uuid={name}'
        yield f'level=TRACE msg="Message acked" handler_name=charge message_uuid={name}'


def spring(number: int, fails: bool, name: str) -> Iterator[str]:
    yield SPRING.format("TRACE", "i.a.c.s.l.p.MessageListenerExecutionStage", f"Processing message {name}")
    if fails:
        yield SPRING.format("ERROR", "i.a.c.sqs.listener.errorhandler", f"Error processing message {name}.")
    else:
        yield SPRING.format("INFO", "shop.OrderListener", f"charged order ORD-{number}")
        yield SPRING.format("TRACE", "i.a.c.s.l.a.SqsAcknowledgementExecutor", f"Acknowledging messages: {name}")


def worked(says: Says) -> Worker:
    """Return a worker that handles forty messages, and some of them once more."""

    def lines(kind: int) -> Lines:
        for place, number in enumerate([*range(40), *FAILED, DOUBLED]):
            fails = number in FAILED and place < 40
            for nth, line in enumerate(says(number, fails, an_id(kind * 1000 + number))):
                yield 30.0 * place + nth, "worker-1", line

    return Worker(lines)


FRAMEWORKS: Mapping[str, tuple[Worker, str | None]] = {
    "MassTransit": (worked(mass_transit), None),
    "NServiceBus": (worked(n_service_bus), "charged for message"),
    "Watermill": (worked(watermill), "order charged"),
    "Spring Cloud AWS": (worked(spring), "charged order"),
}
"""And what its proposed effect says; None: nothing tells that its one line of a message stands behind the work."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> SideBySide:
    return SideBySide(tmp_path_factory.mktemp("frameworks") / "lake", [worker for worker, _ in FRAMEWORKS.values()])


@pytest.mark.parametrize(("worker", "effect"), FRAMEWORKS.values(), ids=FRAMEWORKS)
def test_the_line_of_the_work_is_proposed_and_no_other(lake, worker, effect):
    told = {p.kind: p.value for p in lake.proposed[worker].proposals}

    if effect is None:
        assert not told
    else:
        assert effect in told["effect"]


def test_under_what_is_proposed_only_work_done_twice_is_confirmed(lake):
    sections = []
    for worker, _ in FRAMEWORKS.values():
        said = "".join(f"{p.kind} = '''{p.value}'''\n" for p in lake.proposed[worker].proposals)
        number = lake.kind(worker)
        sections.append(f'[[worker]]\nlog_group = "/ecs/pay-{number}"\nqueue = "{lake.queue(worker)}"\n{said}')
    findings = correlated(lake.lake, Settings.parse("\n".join(sections)))

    for worker, effect in FRAMEWORKS.values():
        found = {row["message_id"]: row for row in lake.messages(findings, worker)}
        names = {number: an_id(lake.kind(worker) * 1000 + number) for number in (*FAILED, DOUBLED)}
        assert set(found) == (set(names.values()) if effect else set())
        for number, name in names.items() if effect else ():
            row, done = found[name], 1 + (number == DOUBLED)
            assert row["effects_at_least"] == done
            assert row["verdict"] == ("confirmed" if number == DOUBLED else "probable")
