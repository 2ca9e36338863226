"""A queue's day balances where nothing is missing, and says how much is where something is."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.balance import Between, balance, balance_of, per_queue
from forensics.balance.day import levels_of
from forensics.errors import QueueUnknownError
from forensics.language import Language
from forensics.sentence import said
from forensics.tables.evidence import MOVE_TASKS, SETTING_CHANGES
from forensics.tables.findings import QUEUE_FINDINGS
from forensics.tables.health import QUEUE_HEALTH, SETTING_FINDINGS
from tests.forensics.redrive.test_plan import again
from tests.forensics.report import world
from tests.pages.english import english_in

DAY = datetime(2026, 11, 20, tzinfo=UTC)
NONE = Between(0, 0)
HEALTH = {
    "queue": world.QUEUE,
    "queue_arn": world.QUEUE_ARN,
    "day": "2026-11-20",
    "week": "2026-W47",
    "starts_at": DAY,
    "ends_at": DAY + timedelta(days=1),
    "metrics_read_s": 86_400,
    "sent_count": 1000,
    "deleted_count": 990,
    "deduplicated_count": 0,
    "filtered_event_count": None,
    "waiting_start_count": 0,
    "waiting_end_count": 10,
    "redelivery_count": 0,
    "unseen_count": 0,
    "dead_letter_rise_count": None,
}


def day(dead=NONE, expired=NONE, **changed):
    return balance_of(HEALTH | changed, dead, expired)


def test_what_was_sent_is_worked_off_or_waits():
    found = day()

    assert (found.unexplained, found.is_balanced) == (Between(0, 1), True)
    assert found.worked_off == Between(990, 990)


CASES = {
    "ten went nowhere": ({"waiting_end_count": 0}, NONE, Between(10, 10), False),
    "ten were dead-lettered": ({"waiting_end_count": 0}, Between(10, 10), Between(0, 0), True),
    "ten may have been dead-lettered": ({"waiting_end_count": 0}, Between(0, 10), Between(0, 10), True),
    "repeats were deleted again": ({"deleted_count": 1010, "redelivery_count": 30}, NONE, Between(-20, 11), True),
    "more left than came": ({"deleted_count": 1100}, NONE, Between(-110, -109), False),
    "sends that FIFO took for repeats": ({"deduplicated_count": 7}, NONE, Between(-7, 1), True),
    "nothing was deleted": ({"deleted_count": None, "waiting_end_count": 1000}, NONE, Between(0, 1), True),
}


@pytest.mark.parametrize(("changed", "dead", "unexplained", "is_balanced"), CASES.values(), ids=CASES)
def test_what_is_unexplained_has_two_ends(changed, dead, unexplained, is_balanced):
    found = day(dead, **changed)

    assert (found.unexplained, found.is_balanced) == (unexplained, is_balanced)


def test_filtered_messages_are_deleted_and_not_worked_off():
    found = day(filtered_event_count=90)

    assert (found.filtered, found.worked_off) == (Between(90, 90), Between(900, 900))
    assert found.is_balanced


@pytest.mark.parametrize("metric", ["sent_count", "waiting_start_count", "waiting_end_count"])
def test_a_metric_that_was_not_read_leaves_everything_open(metric):
    found = day(**{metric: None})

    assert (found.unexplained, found.is_balanced) == (None, None)
    assert "were not read" in found.sentence


def test_a_queue_at_rest_is_not_called_unread():
    silent = dict.fromkeys(("sent_count", "deleted_count", "waiting_start_count", "waiting_end_count"))

    assert "a queue at rest publishes none" in day(**silent).sentence
    assert "were not read" in day(**silent, metrics_read_s=0).sentence


def test_a_busier_queue_has_wider_ends():
    quiet, busy = (day(waiting_start_count=500, waiting_end_count=510, sent_count=n) for n in (1000, 864_000))

    assert quiet.waiting_before == Between(499, 500)
    assert busy.waiting_before == Between(0, 500)


def test_a_burst_at_the_border_is_not_taken_for_messages_that_waited():
    """Eight were sent, and worked off, within the first point: its level, 8, says nothing of the time before."""
    burst = {"sent_count": 40, "deleted_count": 40, "waiting_end_count": 0, "waiting_start_count": 8}
    found = day(**burst, waiting_start_least=0)

    assert found.waiting_before == Between(0, 8)
    assert found.is_balanced
    assert not day(**burst).is_balanced, "an earlier release did not keep the least"
    assert day(**burst | {"waiting_end_count": 8, "waiting_start_count": 0}, waiting_end_least=0).is_balanced


NEXT = {"starts_at": DAY + timedelta(days=1), "ends_at": DAY + timedelta(days=2)}
BORDERS = {
    "after 0 to 14, before 0 to 12": ((14, 0), (12, 0), {}, Between(0, 12), Between(0, 12)),
    "after 0, before 0 to 12": ((0, 0), (12, 0), {}, NONE, NONE),
    "after 3 to 8, before 5 to 20": ((8, 3), (20, 5), {}, Between(5, 8), Between(5, 8)),
    "something left in between": ((8, 8), (2, 1), {}, Between(7, 8), Between(1, 2)),
    "a part of the second day was not read": ((0, 0), (12, 0), {"metrics_read_s": 80_000}, NONE, Between(0, 12)),
    "the evidence ends in the second day": ((0, 0), (12, 0), {"metrics_read_s": 43_200}, NONE, NONE),
    "a day is missing between": ((0, 0), (12, 0), {"starts_at": DAY + timedelta(days=2)}, NONE, Between(0, 12)),
    "the second day has no point": ((14, 0), (None, None), {}, Between(0, 14), None),
}


@pytest.mark.parametrize(("ended", "started", "changed", "after", "before"), BORDERS.values(), ids=BORDERS)
def test_a_day_ends_with_what_the_next_one_begins_with(ended, started, changed, after, before):
    first = HEALTH | {"waiting_end_count": ended[0], "waiting_end_least": ended[1]}
    second = HEALTH | NEXT | {"waiting_start_count": started[0], "waiting_start_least": started[1]} | changed
    ends_at = DAY + timedelta(days=1.5 if changed.get("metrics_read_s") == 43_200 else 3)
    (_, ending), (beginning, _) = levels_of([first, second], ends_at)

    assert (ending, beginning) == (after, before)


def test_what_a_neighbouring_day_tells_narrows_what_is_unexplained():
    row = HEALTH | {"waiting_start_count": 12, "waiting_start_least": 0, "waiting_end_count": 10}

    assert balance_of(row, NONE, NONE).unexplained == Between(0, 13)
    assert balance_of(row, NONE, NONE, (), (NONE, Between(9, 10))).unexplained == Between(0, 1)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    found = world.findings()
    moved = {"code": "dead_lettered", "message_id": None, "message_ids": [], "business_keys": [], "redrive": "safe"}
    found[QUEUE_HEALTH.name] = [HEALTH | {"waiting_end_count": 0, "dead_letter_reasons": [], "evidence_ids": []}]
    found[QUEUE_FINDINGS.name] = [
        world.blocked_group() | moved | {"item_id": f"m{n}", "stance": stance}
        for n, stance in enumerate(["supported"] * 6 + ["undecidable"] * 3)
    ]
    found[SETTING_FINDINGS.name] = [
        {
            "queue_arn": world.QUEUE_ARN,
            "queue": world.QUEUE,
            "consumer": world.FUNCTION,
            "code": "mapping_disabled",
            "status": "fails",
            "sentence": said("the mapping is {state}", state="Disabled"),
            "numbers": [],
            "evidence_ids": [],
        }
    ]
    lake = world.save(tmp_path_factory.mktemp("balance") / "lake", found)
    common = {"account_id": "111122223333", "region": "eu-west-1"}
    purge = {"event_id": "1", "event_name": "PurgeQueue", "queue_arn": world.QUEUE_ARN, "actor": "ana", "settings": []}
    times = {"changed_at": world.after(60), "collected_at": world.after(3600)}
    lake.append(SETTING_CHANGES, [common | purge | times | {"evidence_id": "change:p"}], "t|p")
    task = {
        "task": "t",
        "destination_arn": world.QUEUE_ARN,
        "source_arn": "arn:x",
        "status": "COMPLETED",
        "moved_count": 4,
    }
    times = {"started_at": world.after(90), "observed_at": world.after(3600)}
    lake.append(MOVE_TASKS, [common | task | times | {"evidence_id": "move:t"}], "t|m")
    return again(lake)


def test_findings_purges_redrives_and_mappings_are_named(lake):
    found = balance(lake.findings())
    (day,) = found.days

    assert day.dead_lettered == Between(6, 9)
    assert (day.unexplained, day.is_balanced) == (Between(1, 4), False)
    assert day.notes == ("Purged at 2026-11-20 05:13:00.200 UTC by ana.", "A redrive moved 4 messages into it.")
    assert found.named == {world.QUEUE: ("charge-card: the mapping is Disabled",)}


def test_all_of_it_is_said_in_another_language_by_its_phrases(lake):
    say = Language("ja").sentence
    found = balance(lake.findings())
    (off,) = found.days
    days = [day(), day(waiting_end_count=0), day(deleted_count=1100), day(sent_count=None), off]
    totals = [queue.sentence for some in (days, days[:1], days[:1] * 2, days[3:4]) for queue in per_queue(some)]
    told = [*(each.sentence for each in days), *totals, *off.notes, *found.named[world.QUEUE]]

    assert [
        str(text)
        for text in told
        if english_in(say(text).replace("charge-card", "").replace("ana", "").replace("Disabled", ""))
    ] == []
    assert len(told) == 12, told
    assert say(found.named[world.QUEUE][0]) == "charge-card：マッピングは無効（Disabled）です"
    assert say(off.notes[0]) == "2026-11-20 05:13:00.200 UTC に ana がパージしました。"
    assert say(off.notes[1]) == "再投入でメッセージ 4 件が入りました。"


def test_a_queue_without_metrics_is_named(lake):
    with pytest.raises(QueueUnknownError, match="'mails'"):
        balance(lake.findings(), "mails")


@pytest.mark.lake
def test_of_all_queues_a_dead_letter_queue_has_only_the_days_that_do_not_balance(tmp_path):
    at_rest = HEALTH | {
        "queue": "dlq",
        "queue_arn": "arn:aws:sqs:eu-west-1:111122223333:dlq",
        "is_dead_letter_queue": True,
    }
    purged = at_rest | {"day": "2026-11-21", "starts_at": DAY + timedelta(days=1), "ends_at": DAY + timedelta(days=2)}
    levels = {"waiting_start_count": 40, "waiting_end_count": 0, "sent_count": 0, "deleted_count": 0}
    rows = [at_rest | levels | {"waiting_start_count": 0}, purged | levels]
    of_lists = {"dead_letter_reasons": [], "evidence_ids": []}
    found = world.findings() | {QUEUE_HEALTH.name: [row | of_lists for row in rows]}
    read = world.save(tmp_path / "lake", found).findings()

    assert [day.day for day in balance(read).days] == ["2026-11-21"]
    assert [day.day for day in balance(read, "dlq").days] == ["2026-11-20", "2026-11-21"]


@pytest.mark.lake
def test_the_balance_of_a_queue_says_one_number_of_one_moment(tmp_path):
    found = world.findings()
    days = [
        {"day": "2026-11-20", "waiting_end_count": 0, "waiting_end_least": 0},
        {"day": "2026-11-21", "waiting_start_count": 12, "waiting_start_least": 0} | NEXT,
    ]
    kept = {"dead_letter_reasons": [], "evidence_ids": []}
    found[QUEUE_HEALTH.name] = [HEALTH | kept | day for day in days]
    lake = world.save(tmp_path / "lake", found)
    first, second = balance(lake.findings(), world.QUEUE).days

    assert str(first.waiting_after) == str(second.waiting_before) == "0"
