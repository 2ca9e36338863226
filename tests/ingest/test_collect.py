"""One collection: it finds everything by itself, adds nothing twice, and no refusal hides another source."""

from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from forensics.errors import EndpointUnreachableError, LakeBusyError, LakeTooNewError, QueueUnknownError
from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import BY_NAME, EVIDENCE
from forensics.window import TimeWindow
from ingest.clients import ALLOWED, Aws
from ingest.collect import CollectReport, collect
from ingest.discovery import discover
from ingest.metrics import of_estate
from tests.ingest.proxy import Proxy, Reply, cut, refuse
from tests.ingest.world import HANDLE, START, World
from tests.tables import take_over

pytestmark = pytest.mark.emulator

NOW = START + timedelta(hours=2)


class Payments:
    """A FIFO queue with a dead-letter queue, a function that logs to a group of its own, traffic and metrics."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.dead_letters = world.queue("payments-dlq.fifo")
        self.queue = world.queue("payments.fifo", self.dead_letters, VisibilityTimeout="600")
        self.group = world.name("/shop/charge")
        self.function = world.function("charge-card", [self.queue], self.group)
        world.log(self.group, [(n * 1000, f"charged payment_id=pay-{n}") for n in range(5)])
        world.log(self.group, [(6000, f"{{'receiptHandle': '{HANDLE}', 'body': 'x'}}")], stream="stream-2")
        world.metric(self.queue, "NumberOfMessagesReceived", [1, 2, 3])
        world.metric(self.dead_letters, "ApproximateNumberOfMessagesVisible", [0, 1])


@pytest.fixture(scope="module")
def payments(ministack_url: str) -> Payments:
    """What all tests look at that change nothing there: to make it takes half as long as to collect it."""
    return Payments(World(ministack_url))


@pytest.fixture
def own_payments(world: World) -> Payments:
    """The same for a test that changes it."""
    return Payments(world)


def column(lake: Lake, table: str, name: str) -> list:
    return lake.read(BY_NAME[table], [name])[name].to_pylist()


def coverage(lake: Lake) -> dict[tuple[str, str], str]:
    rows = lake.read(BY_NAME["coverage"]).to_pylist()
    return {(row["source"], row["resource"]): row["status"] for row in rows}


def run(lake: Lake, aws: Aws, payments: Payments, window: TimeWindow, **more) -> CollectReport:
    return collect(lake, aws, [payments.queue], window, now=NOW, **more)


def test_a_queues_name_is_enough(lake, aws, payments, hour):
    report = run(lake, aws, payments, hour)

    assert report.exit_code == 0
    assert (report.queues, report.dead_letter_queues) == ((payments.queue,), (payments.dead_letters,))
    assert (report.functions, report.log_groups) == ((payments.function,), (payments.group,))
    assert (report.seen_count, report.stored_count, report.points_stored_count) == (6, 6, 5)
    assert sorted(column(lake, "queue_settings", "queue_name")) == sorted([payments.queue, payments.dead_letters])
    assert column(lake, "consumers", "log_group") == [payments.group]


def test_settings_arrive_as_values(lake, aws, payments, hour):
    run(lake, aws, payments, hour)
    queue = next(r for r in lake.read(BY_NAME["queue_settings"]).to_pylist() if r["queue_name"] == payments.queue)
    (function,) = lake.read(BY_NAME["function_settings"]).to_pylist()
    (mapping,) = lake.read(BY_NAME["event_source_mappings"]).to_pylist()

    assert (queue["is_fifo"], queue["visibility_timeout_s"], queue["max_receive_count"]) == (True, 600, 3)
    assert queue["dead_letter_queue_arn"].endswith(payments.dead_letters)
    assert (function["timeout_s"], function["log_group"], function["log_format"]) == (30, payments.group, "Text")
    assert (mapping["batch_size"], mapping["function_arn"]) == (10, function["function_arn"])
    assert mapping["queue_arn"] == queue["queue_arn"]


def test_a_second_run_changes_no_table(lake, aws, payments, hour):
    run(lake, aws, payments, hour)
    versions = lake.versions()
    report = collect(lake, aws, [payments.queue], hour, now=NOW + timedelta(minutes=1))

    assert lake.versions() == versions
    assert (report.seen_count, report.settled, report.log_groups) == (0, (payments.group,), (payments.group,))


def test_reading_everything_again_changes_no_table_either(lake, aws, payments, hour):
    run(lake, aws, payments, hour)
    versions = lake.versions()
    report = collect(lake, aws, [payments.queue], hour, now=NOW + timedelta(minutes=1), again=True)

    assert lake.versions() == versions
    assert (report.seen_count, report.stored_count, report.already_count) == (6, 0, 6)


def test_a_moving_window_changes_no_table_either_while_nothing_happens(lake, aws, payments):
    for minute in (0, 1, 2):
        now = START + timedelta(hours=1, minutes=minute)
        collect(lake, aws, [payments.queue], TimeWindow(now - timedelta(hours=1), now), now=now)
        if minute == 0:
            versions = lake.versions()

    assert lake.versions() == versions


def test_a_changed_setting_is_one_more_row(lake, aws, own_payments, hour, world):
    run(lake, aws, own_payments, hour)
    world.client("sqs").set_queue_attributes(
        QueueUrl=world.queue_url(own_payments.queue), Attributes={"VisibilityTimeout": "30"}
    )
    collect(lake, aws, [own_payments.queue], hour, now=NOW + timedelta(minutes=1))
    rows = [r for r in lake.read(BY_NAME["queue_settings"]).to_pylist() if r["queue_name"] == own_payments.queue]

    assert [r["visibility_timeout_s"] for r in sorted(rows, key=lambda r: r["observed_at"])] == [600, 30]


@pytest.mark.parametrize("form", ["url", "arn"])
def test_a_queue_may_be_given_otherwise(lake, aws, payments, hour, world, form):
    text = world.queue_url(payments.queue) if form == "url" else world.queue_arn(payments.queue)
    report = collect(lake, aws, [text, payments.queue], hour, now=NOW)

    assert (report.queues, report.exit_code) == ((payments.queue,), 0)


def test_every_operation_called_is_allowed(lake, aws, payments, hour, proxy):
    run(lake, aws, payments, hour)

    when_asked = {"sqs:ListQueues", "logs:StartQuery", "logs:GetQueryResults"}
    of_tables = {call for call in ALLOWED if call.startswith("dynamodb:")}  # where the settings name one
    assert set(proxy.calls) == ALLOWED - when_asked - of_tables


def test_looking_changes_no_receive_count(lake, aws, own_payments, hour, world):
    sqs, url = world.client("sqs"), world.queue_url(own_payments.queue)
    sqs.send_message(QueueUrl=url, MessageBody="{}", MessageGroupId="g", MessageDeduplicationId="d")
    run(lake, aws, own_payments, hour)
    (message,) = sqs.receive_message(QueueUrl=url, MessageSystemAttributeNames=["All"])["Messages"]

    assert message["Attributes"]["ApproximateReceiveCount"] == "1"


def everything_in(folder: Path) -> str:
    """All that the lake holds, decoded: every Parquet value, and the text of every other file."""
    parts = []
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            parts.append(repr(pq.read_table(path).to_pylist()) + repr(pq.read_metadata(path).to_dict()))
        elif path.is_file():
            parts.append(path.read_text(errors="replace"))
    return "\n".join(parts)


def test_neither_handles_nor_environments_reach_the_lake(lake, aws, own_payments, hour, world):
    world.log(
        own_payments.group,
        [
            (10_000, f"Value {HANDLE} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired."),
            (10_001, f"&quot;receiptHandle&quot;:&quot;{HANDLE}&quot;"),
            (10_002, f"deleting {HANDLE}"),
            (10_003, f"nul \0 and receiptHandle={HANDLE}"),
        ],
    )
    run(lake, aws, own_payments, hour)
    text = everything_in(lake.root)

    assert text.count("RH~AQEBWH9t") >= 5
    assert HANDLE[24:40] not in text
    assert "canary-environment" not in text


SOURCES = {
    "setting changes": ("cloudtrail:LookupEvents", "setting_changes"),
    "log group settings": ("logs:DescribeLogGroups", "log_group_settings"),
    "queue settings": ("sqs:GetQueueAttributes", "queue_settings"),
    "mappings": ("lambda:ListEventSourceMappings", "event_source_mappings"),
    "function settings": ("lambda:GetFunctionConfiguration", "function_settings"),
    "metrics": ("cloudwatch:GetMetricData", "metric_points"),
    "logs": ("logs:FilterLogEvents", "log_events"),
}


@pytest.mark.parametrize(("operation", "table"), SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("fault", [refuse("AccessDeniedException"), cut], ids=["denied", "cut"])
def test_one_source_that_cannot_be_read_hides_no_other(lake, aws, payments, hour, proxy, operation, table, fault):
    proxy.fail(operation, fault)
    report = run(lake, aws, payments, hour, log_groups=[payments.group])
    status = "failed" if fault is cut else "denied"

    assert report.exit_code == 3
    assert report.gaps
    assert {s for (source, _), s in coverage(lake).items() if source == table} == {status}
    if table not in ("queue_settings", "event_source_mappings"):  # what they would have led to is not found
        others = {what: s for what, s in coverage(lake).items() if what[0] != table}
        presumed_group = others.pop(("log_events", f"/aws/lambda/{payments.function}"), "gone")
        assert (set(others.values()), presumed_group) == ({"ok"}, "gone")
    if table != "log_events":
        assert report.stored_count == 6


def test_a_queue_that_may_not_be_looked_up_is_found_by_its_arn(lake, aws, payments, hour, proxy, world):
    arn = world.queue_arn(payments.queue)
    proxy.fail("sqs:*", refuse("AccessDenied", 403))
    report = collect(lake, aws, [arn], hour, now=NOW)

    assert (report.exit_code, report.stored_count) == (3, 6)


def test_denied_settings_of_a_queue_leave_its_dead_letter_queue_known(lake, aws, payments, hour, proxy):
    before = run(lake, aws, payments, hour)
    proxy.fail("sqs:GetQueueAttributes", refuse("AccessDenied", 403))
    report = run(lake, aws, payments, hour, again=True)

    assert report.exit_code == 3
    assert before.dead_letter_queues
    assert report.dead_letter_queues == before.dead_letter_queues


def test_denied_mappings_fall_back_on_the_lakes_last_word(lake, aws, payments, hour, proxy):
    run(lake, aws, payments, hour)
    proxy.fail("lambda:*", refuse("AccessDeniedException"))
    report = run(lake, aws, payments, hour, again=True)

    assert (report.log_groups, report.already_count, report.exit_code) == ((payments.group,), 6, 3)


def test_setting_changes_are_read_from_a_week_before_so_that_what_changed_before_is_known(lake, aws, payments, hour):
    run(lake, aws, payments, hour)
    rows = [r for r in lake.read(BY_NAME["coverage"]).to_pylist() if r["resource"] == "CloudTrail"]

    assert {(r["window_start_at"], r["window_end_at"], r["status"]) for r in rows} == {
        (hour.start_at - timedelta(days=7), hour.end_at, "ok")
    }


def test_settings_that_were_set_after_the_window_began_are_looked_up_before_it_and_only_once(lake, aws, payments, hour):
    run(lake, aws, payments, hour)
    before = [r for r in coverage(lake) if r[0] == "setting_changes"]
    run(lake, aws, payments, hour)

    assert ("setting_changes", "CloudTrail SetQueueAttributes") in before
    assert [r for r in coverage(lake) if r[0] == "setting_changes"] == before


def test_denied_mappings_are_measured_as_the_lakes_last_word_has_them(lake, aws, payments, hour, proxy):
    run(lake, aws, payments, hour)
    mappings = BY_NAME["event_source_mappings"]
    (row,) = lake.read(mappings).to_pylist()
    later = {"counts_events": True, "observed_at": row["observed_at"] + timedelta(hours=1), "evidence_id": "mapping:2"}
    lake.append(mappings, [row | later], "event_source_mappings|test")
    proxy.fail("lambda:ListEventSourceMappings", refuse("AccessDeniedException"))

    wanted = of_estate(discover(lake, [aws], [payments.queue]))

    assert [m.resource for m in wanted if ("DeletedEventCount", "Sum") in m.metrics] == [row["mapping_uuid"]]


def test_a_gap_that_stays_is_said_once_and_its_end_too(lake, aws, payments, hour, proxy):
    proxy.fail("logs:FilterLogEvents", refuse("AccessDeniedException"), on=[1, 2])
    statuses = []
    for _ in range(4):
        run(lake, aws, payments, hour)
        rows = lake.read(BY_NAME["coverage"]).to_pylist()
        statuses.append([r["status"] for r in rows if r["source"] == "log_events"])

    assert [sorted(s) for s in statuses] == [["denied"], ["denied"], ["denied", "ok"], ["denied", "ok"]]


def test_a_dead_letter_queue_that_is_gone_is_a_gap(lake, aws, own_payments, hour, world):
    world.client("sqs").delete_queue(QueueUrl=world.queue_url(own_payments.dead_letters))
    report = run(lake, aws, own_payments, hour)

    assert report.exit_code == 3
    assert coverage(lake)["queue_settings", own_payments.dead_letters] == "gone"
    assert report.stored_count == 6


def test_the_consumers_of_a_dead_letter_queue_are_read_too(lake, aws, own_payments, hour, world):
    group = world.name("/shop/bury")
    world.function("bury", [own_payments.dead_letters], group)
    world.log(group, [(1, "buried")])
    report = run(lake, aws, own_payments, hour)

    assert report.log_groups == (own_payments.group, group)
    assert "buried" in column(lake, "log_events", "line")


def test_a_log_group_that_functions_share_is_read_once(lake, aws, hour, world, proxy):
    queues, group = [world.queue("one"), world.queue("two")], world.name("/shop/shared")
    for name in ("first", "second"):
        world.function(name, queues, group)
    world.log(group, [(1, "line")])
    report = collect(lake, aws, queues, hour, now=NOW)
    served = [r["queue_arn"] for r in lake.read(BY_NAME["coverage"]).to_pylist() if r["source"] == "log_events"]

    assert (report.log_groups, report.seen_count) == ((group,), 1)
    assert proxy.calls.count("logs:FilterLogEvents") == 1
    assert sorted(served) == sorted(world.queue_arn(queue) for queue in queues)
    assert len(column(lake, "consumers", "evidence_id")) == 4


def test_all_queues_of_the_region_are_found(lake, moto_proxy, moto_url, hour):
    region = "sa-east-1"  # where no other test has queues
    elsewhere = World(moto_url, region)
    names = [elsewhere.queue("all-one"), elsewhere.queue("all-two")]
    aws = Aws(
        region=region, endpoint_url=moto_proxy.url, max_attempts=1, patience_s=0
    )  # moto has no CloudTrail: 500, again and again
    report = collect(lake, aws, None, hour, now=NOW)

    assert set(report.queues) == set(names)


def test_an_unknown_queue_names_its_neighbours_and_writes_nothing(lake, aws, payments, hour):
    wrong = payments.queue.replace("payments", "payment")

    with pytest.raises(QueueUnknownError, match=f"queue '{wrong}' is not there in eu-west-1") as caught:
        collect(lake, aws, [payments.queue, wrong], hour, now=NOW)
    assert payments.queue in caught.value.hint
    assert not lake.root.exists()


STRANGERS = {
    "a web page": lambda *_: Reply(200, {"content-type": "text/html"}, b"<h1>Welcome</h1>"),
    "a web server's refusal": lambda *_: Reply(501, {"content-type": "text/html"}, b"<h1>Unsupported method</h1>"),
}


@pytest.mark.parametrize("answer", STRANGERS.values(), ids=STRANGERS)
def test_a_server_that_is_not_aws_is_said(lake, proxy, hour, answer):
    proxy.fail("*", answer)

    with pytest.raises(EndpointUnreachableError, match="does not answer as AWS does"):
        collect(lake, Aws(region="eu-west-1", endpoint_url=proxy.url, max_attempts=1), ["orders"], hour, now=NOW)
    assert not lake.root.exists()


def test_a_lake_of_a_newer_release_is_said_before_aws_is_asked(lake, aws, payments, hour, proxy):
    run(lake, aws, payments, hour)
    proxy.calls.clear()
    take_over(lake.path(BY_NAME["log_events"]))

    with pytest.raises(LakeTooNewError, match="log_events"):
        run(lake, aws, payments, hour)
    assert proxy.calls == []


def test_what_is_no_queue_name_is_not_asked_for(lake, aws, hour, proxy):
    with pytest.raises(QueueUnknownError, match="'pay ments' is not a queue's name, URL or ARN"):
        collect(lake, aws, ["pay ments"], hour, now=NOW)
    assert proxy.calls == []


@pytest.fixture
def worker(world: World) -> tuple[str, str]:
    """A queue that workers read, and their log group."""
    queue, group = world.queue("orders"), world.name("/ecs/orders-worker")
    world.log(group, [(1, "done")])
    return queue, group


def consumers(lake: Lake) -> list[tuple[str, str, str]]:
    rows = lake.read(BY_NAME["consumers"]).to_pylist()
    return [(row["queue_name"], row["kind"], row["found_by"]) for row in rows]


def test_a_workers_group_belongs_to_the_only_queue(lake, aws, worker, hour):
    queue, group = worker
    report = collect(lake, aws, [queue], hour, [group], now=NOW)

    assert (report.stored_count, report.notes) == (1, ())
    assert consumers(lake) == [(queue, "worker", "option")]


def test_a_workers_group_names_its_queue_where_there_are_several(lake, aws, worker, hour, world):
    queue, group = worker
    other = world.queue("other")
    report = collect(lake, aws, [other, queue], hour, [f"{group}={queue}"], now=NOW)

    assert consumers(lake) == [(queue, "worker", "option")]
    assert [note.split("'")[1] for note in report.notes] == [other]


def test_a_workers_group_without_a_queue_is_refused_where_there_are_several(lake, aws, worker, hour, world):
    queue, group = worker

    with pytest.raises(QueueUnknownError, match="does not say whose it is: 2 queues") as caught:
        collect(lake, aws, [world.queue("other"), queue], hour, [group], now=NOW)
    assert caught.value.hint == f"Write {group}=QUEUE."


def test_a_workers_group_of_a_queue_that_is_not_collected_is_refused(lake, aws, worker, hour):
    queue, group = worker

    with pytest.raises(QueueUnknownError, match="names a queue that is not collected"):
        collect(lake, aws, [queue], hour, [f"{group}=invoices"], now=NOW)
    assert not lake.root.exists()


def test_workers_of_the_settings_file_are_added_for_their_queue(lake, aws, worker, hour, world):
    queue, group = worker
    settings = Settings.parse(
        f'[[worker]]\nlog_group = "{group}"\nqueue = "{queue}"\n[[worker]]\nlog_group = "/x"\nqueue = "elsewhere"'
    )
    report = collect(lake, aws, [queue, world.queue("other")], hour, settings=settings, now=NOW)

    assert (report.log_groups, consumers(lake)) == ((group,), [(queue, "worker", "settings file")])


def test_a_queue_without_known_consumers_is_noted(lake, aws, worker, hour):
    report = collect(lake, aws, [worker[0]], hour, now=NOW)

    assert report.exit_code == 0
    assert report.notes == (
        f"queue {worker[0]!r} has no event source mapping: name its workers' logs with --log-group GROUP={worker[0]}",
    )


def test_a_second_collector_is_told_to_wait(lake, aws, payments, hour):
    with lake.writing("collect"), pytest.raises(LakeBusyError, match="another `doubletake collect`"):
        run(lake, aws, payments, hour)


def test_progress_names_stages_and_counts_events(lake, aws, payments, hour):
    class Heard:
        def __init__(self) -> None:
            self.stages: list[str] = []
            self.counts: list[int] = []

        def stage(self, name: str) -> None:
            self.stages.append(name)

        def events(self, seen_count: int) -> None:
            self.counts.append(seen_count)

    heard = Heard()
    run(lake, aws, payments, hour, progress=heard)

    found = ["queues", "event source mappings", "functions"]
    assert heard.stages[:-1] == [*found, "setting changes", "settings before the window", "metrics"]
    assert (heard.stages[-1], heard.counts) == (f"log group {payments.group}", [6])


def test_every_row_of_evidence_has_an_id_of_its_own(lake, aws, payments, hour):
    run(lake, aws, payments, hour)
    ids = [i for table in EVIDENCE for i in lake.read(table, ["evidence_id"])["evidence_id"].to_pylist()]

    assert len(ids) == len(set(ids)) > 20


def provisional_of(lake: Lake) -> set[bool]:
    rows = lake.read(BY_NAME["coverage"]).to_pylist()
    return {row["is_provisional"] for row in rows if row["source"] == "log_events"}


def test_the_window_ahead_of_late_events_is_provisional(lake, aws, payments):
    now = START + timedelta(minutes=30)
    collect(lake, aws, [payments.queue], TimeWindow(START, now), now=now)
    provisional = provisional_of(lake)
    collect(lake, aws, [payments.queue], TimeWindow(START, now), now=now + timedelta(minutes=5))

    assert provisional == {True}
    assert provisional_of(lake) == {True, False}


def test_operations_that_an_endpoint_lacks_are_gaps_and_all_else_is_read(
    lake, ministack_url, payments, hour, monkeypatch
):
    monkeypatch.setenv("AWS_ENDPOINT_URL", ministack_url)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    report = run(lake, Aws(), payments, hour)

    assert (report.exit_code, report.stored_count) == (3, 6)
    assert [gap.partition(": ")[0] for gap in report.gaps] == [
        f"settings of queue '{payments.queue} (whose dead letters it takes)'",
        f"redrives out of queue '{payments.dead_letters}'",
    ]


def test_proxy_and_world_meet(proxy: Proxy, world: World):
    World(proxy.url).client("sqs").list_queues()

    assert proxy.calls == ["sqs:ListQueues"]
