"""Idempotency tables are read over HTTP as they are: key, status and times of every record, and never its result."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.settings import Consumer, GuardTable, Settings
from forensics.tables import BY_NAME
from ingest import guard_tables
from ingest.clients import Aws
from ingest.collect import collect
from tests.ingest.proxy import cut, refuse
from tests.ingest.world import REGION, START, World, ms

pytestmark = pytest.mark.emulator

NOW = START + timedelta(hours=2)
CARD = "4000-0000-0000-0002"
DIGEST = "f" * 32


def rows(lake, table: str) -> list[dict]:
    return sorted(lake.read(BY_NAME[table]).to_pylist(), key=lambda row: row["evidence_id"])


def record(key: str, status: str = "COMPLETED", until: datetime = START, **more) -> dict:
    said = {
        "id": {"S": key},
        "status": {"S": status},
        "expiration": {"N": str(ms(until) // 1000)},
        "in_progress_expiration": {"N": str(ms(START) + 30_123)},
        "data": {"S": f'{{"card": "{CARD}"}}'},
        "validation": {"S": CARD},
    }
    return {name: value for name, value in (said | more).items() if value is not None}


class Guarded:
    """A queue, its function, and the table that the function's guard asks."""

    def __init__(self, world: World, sort_key: str | None = None) -> None:
        self.dynamo, self.table = world.client("dynamodb"), world.name("idempotency")
        self.queue = world.queue("orders")
        self.function = world.function("take-order", [self.queue])
        keys = {"id": "HASH"} | ({sort_key: "RANGE"} if sort_key else {})
        self.dynamo.create_table(
            TableName=self.table,
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
            BillingMode="PAY_PER_REQUEST",
        )

    def put(self, *items: dict) -> None:
        for item in items:
            self.dynamo.put_item(TableName=self.table, Item=item)

    def delete_expired(self) -> None:
        self.dynamo.update_time_to_live(
            TableName=self.table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expiration"}
        )

    def settings(self, **said) -> Settings:
        consumer = Consumer(name=self.function, guard_table=self.table)
        return Settings(functions=(consumer,), guard_tables=(GuardTable(self.table, **said),) if said else ())


@pytest.fixture
def guarded(world: World) -> Guarded:
    return Guarded(world)


def read(lake, aws, guarded, hour, settings=None, now=NOW, **more):
    return collect(lake, aws, [guarded.queue], hour, settings=settings or guarded.settings(), now=now, **more)


def tables_gaps(report) -> list[str]:
    return [gap for gap in report.gaps if "idempotency table" in gap]


def test_a_record_is_kept_without_its_result(lake, aws, guarded, hour):
    tomorrow = START + timedelta(days=1)  # what has expired, the emulator deletes once a minute
    guarded.put(record(f"take-order.app.take#{DIGEST}", until=tomorrow))
    guarded.delete_expired()
    report = read(lake, aws, guarded, hour)
    (row,) = rows(lake, "guard_records")
    (table,) = rows(lake, "guard_table_settings")

    assert not tables_gaps(report)
    assert {name: row[name] for name in row if name not in ("evidence_id", "account_id", "region")} == {
        "guard_table": guarded.table,
        "record_key": f"take-order.app.take#{DIGEST}",
        "guarded_function": "take-order.app.take",
        "record_status": "COMPLETED",
        "expires_at": tomorrow,
        "locked_until_at": START + timedelta(milliseconds=30_123),
        "observed_at": NOW,
    }
    assert (table["partition_key"], table["sort_key"], table["deletes_expired"]) == ("id", None, True)
    assert CARD not in repr([rows(lake, name) for name in ("guard_records", "guard_table_settings", "coverage")])


def test_results_are_not_even_asked_for(lake, aws, guarded, hour, proxy):
    asked = []
    proxy.fail("dynamodb:Scan", lambda upstream, request: asked.append(request) or upstream())
    read(lake, aws, guarded, hour)
    (request,) = asked

    assert sorted(request["ExpressionAttributeNames"].values()) == [
        "expiration",
        "id",
        "in_progress_expiration",
        "status",
    ]
    assert set(request["ProjectionExpression"].split(", ")) == set(request["ExpressionAttributeNames"])


def test_a_table_that_keeps_what_has_expired_says_so(lake, aws, guarded, hour):
    read(lake, aws, guarded, hour)

    assert [(r["deletes_expired"], r["expiry_attribute"]) for r in rows(lake, "guard_table_settings")] == [
        (False, None)
    ]


def test_the_same_state_adds_nothing_and_another_adds_a_row(lake, aws, guarded, hour):
    guarded.put(record("charge#1", "INPROGRESS"))
    for minute in (0, 11):
        read(lake, aws, guarded, hour, now=NOW + timedelta(minutes=minute))
    guarded.put(record("charge#1", "COMPLETED"))
    read(lake, aws, guarded, hour, now=NOW + timedelta(minutes=22))
    found = sorted((r["observed_at"], r["record_status"]) for r in rows(lake, "guard_records"))

    assert found == [(NOW, "INPROGRESS"), (NOW + timedelta(minutes=22), "COMPLETED")]


def test_a_table_is_not_read_in_every_run_of_a_watch(lake, aws, guarded, hour, proxy):
    guarded.put(record("charge#1"))
    for minute in (0, 9, 11):
        read(lake, aws, guarded, hour, now=NOW + timedelta(minutes=minute))
    read(lake, aws, guarded, hour, now=NOW + timedelta(minutes=12), again=True)

    assert proxy.calls.count("dynamodb:Scan") == 3


def test_nothing_is_asked_of_a_table_that_the_settings_do_not_name(lake, aws, guarded, hour, proxy):
    read(lake, aws, guarded, hour, settings=Settings(functions=(Consumer(name=guarded.function),)))

    assert not [call for call in proxy.calls if call.startswith("dynamodb")]


def test_a_table_of_another_form_is_read_by_its_own_names(lake, aws, guarded, hour):
    until = START + timedelta(minutes=5)
    own = {"pk": {"S": "charge#p-1"}, "state": {"S": "done"}, "ttl": {"N": str(ms(until) / 1000)}, "id": {"S": "x"}}
    guarded.put(own)
    read(lake, aws, guarded, hour, guarded.settings(key="pk", status="state", completed="done", expires="ttl"))
    (row,) = rows(lake, "guard_records")

    assert (row["record_key"], row["record_status"], row["expires_at"], row["locked_until_at"]) == (
        "charge#p-1",
        "done",
        until,
        None,
    )


def test_of_one_partition_nothing_else_is_read(lake, aws, world, hour, proxy):
    guarded = Guarded(world, sort_key="sort_key")
    for partition in ("idempotency#take-order", "idempotency#other"):
        guarded.put(record(partition, sort_key={"S": f"{partition}#{DIGEST}"}))
    read(lake, aws, guarded, hour, guarded.settings(partition="idempotency#take-order", key="sort_key"))

    assert [r["record_key"] for r in rows(lake, "guard_records")] == [f"idempotency#take-order#{DIGEST}"]
    assert "dynamodb:Scan" not in proxy.calls


def test_every_page_of_a_table_is_read(lake, aws, guarded, hour, proxy):
    guarded.put(*(record(f"charge#{n}") for n in range(25)))
    proxy.fail("dynamodb:Scan", _few_at_a_time(proxy, 10))
    report = read(lake, aws, guarded, hour)

    assert not tables_gaps(report)
    assert {r["record_key"] for r in rows(lake, "guard_records")} == {f"charge#{n}" for n in range(25)}


def test_a_table_that_is_larger_than_one_reading_takes_is_read_in_part(lake, aws, guarded, hour, proxy, monkeypatch):
    monkeypatch.setattr(guard_tables, "MOST_PAGES", 2)
    guarded.put(*(record(f"charge#{n}") for n in range(25)))
    proxy.fail("dynamodb:Scan", _few_at_a_time(proxy, 10))
    report = read(lake, aws, guarded, hour)

    assert len(rows(lake, "guard_records")) == 20
    assert tables_gaps(report) == [
        f"records of idempotency table {guarded.table!r}: read in part (the table is larger: its first 20 records were read)"
    ]


def _few_at_a_time(proxy, count):
    """Answer with pages of so many items, each with a pointer to the next."""
    held: list = []

    def fault(upstream, request):
        if not held:
            held.extend(upstream().json()["Items"])
        begin = int(request.get("ExclusiveStartKey", {"id": {"S": "0"}})["id"]["S"])
        page = {"Items": held[begin : begin + count], "Count": count, "ScannedCount": count}
        if begin + count < len(held):
            page["LastEvaluatedKey"] = {"id": {"S": str(begin + count)}}
        return upstream().with_json(**{"LastEvaluatedKey": None} | page)

    return fault


GAPS = {
    "reading the records is denied": ("dynamodb:Scan", refuse("AccessDeniedException"), ["denied"], 1),
    "reading the records is throttled": (
        "dynamodb:Scan",
        refuse("ProvisionedThroughputExceededException"),
        ["failed"],
        1,
    ),
    "the reply was cut": ("dynamodb:Scan", cut, ["failed"], 1),
    "the table is not there": ("dynamodb:DescribeTable", refuse("ResourceNotFoundException"), ["gone"], 2),
    "its settings are denied": ("dynamodb:DescribeTimeToLive", refuse("AccessDeniedException"), ["ok"], 1),
}


@pytest.mark.parametrize(("operation", "fault", "statuses", "gaps"), GAPS.values(), ids=GAPS)
def test_what_cannot_be_read_of_a_table_is_a_gap_and_hides_nothing(
    lake, guarded, hour, proxy, operation, fault, statuses, gaps
):
    guarded.put(record("charge#1"))
    proxy.fail(operation, fault)
    aws = Aws(region=REGION, endpoint_url=proxy.url, max_attempts=1, patience_s=0)
    report = read(lake, aws, guarded, hour)

    assert (report.exit_code, len(tables_gaps(report))) == (3, gaps)
    assert [r["status"] for r in rows(lake, "coverage") if r["source"] == "guard_records"] == statuses
    assert rows(lake, "queue_settings")
    assert len(rows(lake, "guard_records")) == (1 if statuses == ["ok"] else 0)


def test_items_without_the_named_key_are_a_gap(lake, aws, guarded, hour):
    guarded.put(record("charge#1"), record("charge#2", pk={"S": "p-2"}))
    report = read(lake, aws, guarded, hour, guarded.settings(key="pk"))

    assert [r["record_key"] for r in rows(lake, "guard_records")] == ["p-2"]
    assert "1 items have no attribute 'pk': name it as key under [[guard_table]]" in tables_gaps(report)[0]


TIMES = {
    "whole seconds": ({"N": "1795147200"}, datetime(2026, 11, 20, 4, tzinfo=UTC)),
    "seconds with a fraction": ({"N": "1795147200.5"}, datetime(2026, 11, 20, 4, 0, 0, 500_000, tzinfo=UTC)),
    "milliseconds": ({"N": "1795147200123"}, datetime(2026, 11, 20, 4, 0, 0, 123_000, tzinfo=UTC)),
    "a text of digits": ({"S": "1795147200"}, datetime(2026, 11, 20, 4, tzinfo=UTC)),
    "ISO 8601": ({"S": "2026-11-20T04:00:00Z"}, datetime(2026, 11, 20, 4, tzinfo=UTC)),
    "no time": ({"S": "never"}, None),
    "no number": ({"N": "NaN"}, None),
    "an endless number": ({"N": "Infinity"}, None),
    "past every calendar": ({"N": "9" * 38}, None),
    "another type": ({"BOOL": True}, None),
    "not there": (None, None),
}


@pytest.mark.parametrize(("value", "expected"), TIMES.values(), ids=TIMES)
def test_a_time_is_read_as_it_is_written(value, expected):
    row = guard_tables.to_row({"id": {"S": "k"}, "expiration": value}, GuardTable("t"), None, None, NOW)

    assert row["expires_at"] == expected


def of_another(region: str) -> str:
    return f"arn:aws:dynamodb:{region}:999988887777:table/idempotency"


@pytest.mark.emulator
@pytest.mark.parametrize(
    ("is_far", "status"), [(False, "denied"), (True, "unsupported")], ids=["its region", "another"]
)
def test_a_table_of_another_account_is_asked_for_by_its_arn_in_its_queues_region(
    world, lake, aws, guarded, hour, proxy, is_far, status
):
    proxy.fail("dynamodb:DescribeTable", refuse("AccessDeniedException"))
    guarded.table = of_another("ap-southeast-7" if is_far else aws.region)
    read(lake, aws, guarded, hour)
    gaps = [r for r in rows(lake, "coverage") if r["source"] == "guard_records"]

    assert [(r["resource"], r["account_id"], r["status"]) for r in gaps] == [(guarded.table, "999988887777", status)]
    assert ("dynamodb:DescribeTable" in proxy.calls) is not is_far
