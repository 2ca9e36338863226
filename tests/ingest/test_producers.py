"""Sends that producers logged become records of calls: only they, each once, anew where the pattern was mended, with their gaps."""

from datetime import timedelta

import pytest

from cli.import_ import imported as imported_in_words
from cli.said import in_words
from forensics.coverage import read_spans
from forensics.lake import Lake
from forensics.parsers.sends import pattern_of, read_as
from forensics.settings import Settings
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest.collect import collect
from ingest.estimate import estimate
from ingest.file_run import ImportChoices
from ingest.files import import_files
from tests.ingest import saved_files
from tests.ingest.proxy import refuse
from tests.ingest.test_files import GROUP, QUEUE_ARN, START, row
from tests.ingest.world import HANDLE
from tests.ingest.world import START as WORLD_START

pytestmark = pytest.mark.slow
SENDS, COVERAGE, LOG_EVENTS = (BY_NAME[name] for name in ("send_records", "coverage", "log_events"))
LINES = [
    row(0, "GET /pay 200"),
    row(1, '{"level": "INFO", "sqs": {"id": "A1B2"}, "payment": 7, "job": "j-1", "at": "2026-11-20T05:11:59.5Z"}'),
    row(2, f'{{"sqs": {{"id": "c3d4"}}, "payment": 7, "job": "j-1", "receiptHandle": "{HANDLE}"}}'),
    row(3, '{"sqs": {"id": null}}'),
]
SAID = f"""[[producer]]
log_group = "{GROUP}"
queue = "{QUEUE_ARN.rpartition(":")[2]}"
message_id = "$.sqs.id"
key = "$.payment"
request_id = "$.job"
sent_at = "$.at"
"""


def imported(tmp_path, text=SAID, **choices) -> Lake:
    lake, files = Lake(tmp_path / "lake"), saved_files.delivery(LINES, tmp_path / "delivery.gz", batch=2)
    import_files(lake, [files], ImportChoices(settings=Settings.parse(text), **choices))
    return lake


def sends(lake: Lake) -> list[dict]:
    return sorted(lake.read(SENDS).to_pylist(), key=lambda r: r["message_id"])


def test_lines_that_tell_of_a_send_are_kept_and_no_others(tmp_path):
    first, second = sends(imported(tmp_path))

    assert (first["message_id"], first["business_key"], first["producer_request_id"]) == ("a1b2", "7", "j-1")
    assert first["called_at"] == START - timedelta(milliseconds=500)
    assert second["called_at"] == START + timedelta(milliseconds=2)
    assert (first["operation"], first["log_group"], first["line"]) == ("SendMessage", GROUP, LINES[1]["line"])
    assert HANDLE not in second["line"]
    assert imported(tmp_path).count(LOG_EVENTS) == 0


OTHER_PATTERN = SAID.replace("$.sqs.id", "$.MessageId").replace("$.payment", "$.order")


@pytest.mark.parametrize(("text", "sends_count"), [(SAID, 2), (OTHER_PATTERN, 0)], ids=["sends", "none that is told"])
def test_an_import_says_how_many_lines_of_a_producer_are_sends(tmp_path, text, sends_count):
    files = saved_files.delivery(LINES, tmp_path / "delivery.gz", batch=2)
    report = import_files(Lake(tmp_path / "lake"), [files], ImportChoices(settings=Settings.parse(text)))
    (told,) = [line for line in map(in_words, imported_in_words(report)) if "of a producer" in line]

    assert "4 log events of a producer from 2026-11-20 05:12:00.000 to" in told
    assert told.endswith(f"{sends_count} sends among them, {sends_count} of these new.")
    assert [GROUP in note for note in map(in_words, report.notes)] == [True] * (sends_count == 0)


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        (SAID, {"log_groups": (f"{GROUP}=elsewhere",)}),
        (SAID + '[[function]]\nname = "charge-card"\norder = "sequential"', {}),
    ],
    ids=["said on the command line", "said in the settings"],
)
def test_a_group_in_which_a_consumer_writes_too_is_kept_whole(tmp_path, text, choices):
    lake = imported(tmp_path, text, **choices)

    assert (lake.count(LOG_EVENTS), len(sends(lake))) == (len(LINES), 2)
    assert {r["source"] for r in lake.read(COVERAGE).to_pylist()} == {"log_events", "send_records"}


def test_a_second_import_adds_nothing_and_a_mended_pattern_reads_anew(tmp_path):
    imported(tmp_path)
    assert len(sends(imported(tmp_path))) == 2

    mended = sends(imported(tmp_path, SAID.replace("$.payment", "$.job")))
    assert sorted(r["business_key"] for r in mended) == ["7", "7", "j-1", "j-1"]
    assert len({r["pattern"] for r in mended}) == 2


def test_files_of_a_producer_are_read_in_part_unless_somebody_vouches_for_them(tmp_path):
    (producer,) = Settings.parse(SAID).producers
    (part,) = imported(tmp_path).read(COVERAGE).to_pylist()
    vouched = imported(tmp_path, complete=TimeWindow(START, START + timedelta(hours=1)))

    assert (part["source"], part["resource"], part["status"]) == ("send_records", read_as(producer), "partial")
    assert list(read_spans(vouched.read(COVERAGE).to_pylist())["send_records"]) == [read_as(producer)]


@pytest.fixture
def shop(world) -> tuple[str, str]:
    queue, group = world.queue("orders"), world.name("/ecs/shop")
    world.log(group, [(1, "GET /pay 200"), (2, "sent m1 for p-7"), (3, "sent m2 for p-7")])
    return queue, group


def said_of(shop: tuple[str, str]) -> Settings:
    queue, group = shop
    return Settings.parse(
        f'[[producer]]\nlog_group = "{group}"\nqueue = "{queue}"\n'
        r"sent = 'sent (?P<message_id>\S+) for (?P<key>\S+)'"
    )


@pytest.mark.emulator
def test_a_collection_reads_the_producers_that_the_settings_name(lake, aws, shop, hour):
    now, settings = WORLD_START + timedelta(hours=2), said_of(shop)
    collect(lake, aws, [shop[0]], hour, settings=settings, now=now)
    before = lake.data_versions()
    collect(lake, aws, [shop[0]], hour, settings=settings, now=now)

    assert [(r["message_id"], r["business_key"]) for r in sends(lake)] == [("m1", "p-7"), ("m2", "p-7")]
    assert lake.count(LOG_EVENTS) == 0
    assert lake.data_versions() == before
    assert read_as(settings.producers[0]) in read_spans(lake.read(COVERAGE).to_pylist())["send_records"]
    assert {r["pattern"] for r in sends(lake)} == {pattern_of(settings.producers[0])}


@pytest.mark.emulator
def test_a_producer_whose_log_may_not_be_read_is_a_gap(lake, aws, shop, hour, proxy):
    proxy.fail("logs:FilterLogEvents", refuse("AccessDeniedException"))
    report = collect(lake, aws, [shop[0]], hour, settings=said_of(shop), now=WORLD_START + timedelta(hours=2))

    assert [gap for gap in report.gaps if gap.startswith(f"sends logged in '{shop[1]}")]


@pytest.mark.emulator
def test_an_estimate_counts_the_producers_log_too(lake, aws, shop, hour):
    found = estimate(lake, aws, [shop[0]], hour, (), said_of(shop), WORLD_START + timedelta(hours=2))

    assert [group.log_group for group in found.groups] == [shop[1]]
