"""A dead-letter queue's plan: what may go back, what repeats, and what has become of each message since."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.books import Columns, read_books
from forensics.errors import QueueUnknownError
from forensics.lake.findings import rows_of
from forensics.redrive import plan
from forensics.report.case import load_case
from forensics.report.prevention import REDRIVE_WORDS
from forensics.report.render import render
from forensics.settings import Queue, Settings
from forensics.tables.evidence import MOVE_TASKS, QUEUE_SETTINGS, SETTING_CHANGES
from forensics.tables.findings import DELIVERIES, MESSAGES, QUEUE_FINDINGS
from tests.forensics.report import dead_world, world

pytestmark = pytest.mark.slow

DLQ = "payments-dlq.fifo"
DLQ_ARN = f"arn:aws:sqs:eu-west-1:111122223333:{DLQ}"
SAFE = "00000000-0000-4000-8000-0000000000bb"
COMMON = {"account_id": "111122223333", "region": "eu-west-1", "observed_at": world.after(3700)}


def saved(folder, change=lambda found: None):
    """The world with a safe dead letter beside those that repeat or may; its queue names a dead-letter queue."""
    found = world.findings()
    rows = [r for r in dead_world.queue_findings() if r["code"] == "dead_lettered" and r["incident_id"]]
    one = next(r for r in rows if r["item_id"] == world.IDS[1])
    safe = one | {
        "item_id": SAFE,
        "message_id": SAFE,
        "message_ids": [SAFE],
        "business_keys": ["pay-1999"],
        "effects_at_least": 0,
        "effects_at_most": 0,
        "redrive": "safe",
        "redrive_sentence": "Its work was not done in any delivery: redriving it does the work for the first time.",
    }
    failed = world.deliveries()[2] | {
        "item_id": SAFE,
        "message_id": SAFE,
        "business_keys": ["pay-1999"],
        "group_id": "acct-2",
    }
    found[QUEUE_FINDINGS.name] = [*rows, safe]
    found[DELIVERIES.name] = [*world.deliveries(), failed]
    change(found)
    lake = world.save(folder, found)
    queue = {"queue_arn": world.QUEUE_ARN, "queue_name": world.QUEUE, "is_fifo": True, "dead_letter_queue_arn": DLQ_ARN}
    dlq = {"queue_arn": DLQ_ARN, "queue_name": DLQ, "is_fifo": True, "message_retention_s": 1_209_600}
    rows = [
        COMMON | {"evidence_id": "queue:2", "max_receive_count": 2} | queue,
        COMMON | {"evidence_id": "queue:3"} | dlq,
    ]
    lake.append(QUEUE_SETTINGS, rows, "test|dlq")
    return lake


def published(lake, found, run="run-2"):
    world.publish(lake, found, run)
    return lake


@pytest.fixture
def lake(tmp_path):
    return again(saved(tmp_path / "lake"))


def again(lake):
    """Publish the same findings once more, over the evidence that came after them."""
    from forensics.tables import FINDINGS

    found = {t.name: rows_of(lake.findings().read(t)) for t in FINDINGS}
    return published(lake, found, f"run-{len(lake.generations()) + 1}")


def steps(lake, settings=None):
    return {s.item_id: s for s in plan(lake.findings(), DLQ, settings).steps}


def test_each_message_is_safe_repeats_or_cannot_be_told(lake):
    found = steps(lake)

    assert {item: s.decision for item, s in found.items()} == {
        world.IDS[0]: "repeats",
        world.IDS[1]: "cannot_tell",
        SAFE: "safe",
    }
    assert [s.item_id for s in plan(lake.findings(), DLQ).scripted] == [SAFE]


def test_the_plan_says_of_a_message_what_its_incident_says(lake):
    moved = [r for r in rows_of(lake.findings().read(QUEUE_FINDINGS)) if r["code"] == "dead_lettered"]
    found = steps(lake)

    assert {row["item_id"]: REDRIVE_WORDS[row["redrive"]] for row in moved} == {i: s.words for i, s in found.items()}


def test_of_what_would_be_safe_and_is_shown_nowhere_the_plan_says_that_it_cannot_tell(tmp_path):
    def not_shown(found):
        found[QUEUE_FINDINGS.name][-1]["stance"] = "undecidable"

    step = steps(again(saved(tmp_path / "lake", not_shown)))[SAFE]

    assert (step.words, step.left_out) == ("cannot tell", "nothing shows that it is there")


def test_a_run_whose_lines_tell_no_end_did_not_end_by_itself(tmp_path):
    def without_an_end(found):
        found[DELIVERIES.name][-1]["run_status"] = "unknown"

    step = steps(again(saved(tmp_path / "lake", without_an_end)))[SAFE]

    assert (step.mended, step.mended_sentence) == ("unknown", "How its last delivery ended is not known.")


def test_groups_are_gone_through_in_the_order_of_their_sends(lake):
    places = [(s.group_id, s.place, s.item_id) for s in plan(lake.findings(), DLQ).steps]

    assert places == [("acct-1", 1, world.IDS[0]), ("acct-1", 2, world.IDS[1]), ("acct-2", 1, SAFE)]


def test_what_would_come_out_of_order_by_now_is_not_in_the_script(tmp_path):
    def later(found):
        done = world.deliveries()[3]
        found[DELIVERIES.name].append(
            done | {"item_id": "later", "message_id": "later", "group_id": "acct-2", "sent_at": world.after(900)}
        )

    step = steps(again(saved(tmp_path / "lake", later)))[SAFE]

    assert step.overtaken_by == 1
    assert step.left_out == "it would come out of order"
    assert "1 later message of its group was done since." in step.by_now


def test_what_would_overtake_a_message_that_stays_is_not_in_the_script(tmp_path):
    def same_group(found):
        found[DELIVERIES.name][-1]["group_id"] = "acct-1"
        found[DELIVERIES.name][-1]["sent_at"] = world.after(800)
        for row in found[QUEUE_FINDINGS.name]:
            row["group_id"] = "acct-1"

    step = steps(again(saved(tmp_path / "lake", same_group)))[SAFE]

    assert f"It would overtake {world.IDS[0]} of its group, which stays." in step.by_now
    assert step.left_out


def test_groups_of_a_standard_queue_have_no_order(tmp_path):
    """There they share the consumers out fairly: nobody waits for who was sent before."""
    standard = {"queue": "payments", "queue_arn": world.QUEUE_ARN.removesuffix(".fifo")}

    def fair(found):
        found[DELIVERIES.name][-1]["sent_at"] = world.after(800)
        for row in (*found[DELIVERIES.name], *found[QUEUE_FINDINGS.name]):
            row |= standard | {"group_id": "acct-1"}

    lake = saved(tmp_path / "lake", fair)
    named = {"queue_arn": standard["queue_arn"], "queue_name": "payments", "is_fifo": False}
    row = COMMON | {"evidence_id": "queue:4", "max_receive_count": 2, "dead_letter_queue_arn": DLQ_ARN} | named
    lake.append(QUEUE_SETTINGS, [row], "test|standard")
    found = steps(again(lake))

    assert {(step.line, step.group_id) for step in found.values()} == {("payments", "acct-1")}
    assert sorted(step.place for step in found.values()) == [1, 2, 3]
    safe = found[SAFE]
    assert (safe.order_sentence, safe.overtaken_by, safe.left_out) == ("", None, "")


def test_a_change_and_the_runs_since_tell_whether_the_cause_is_mended(lake):
    assert "none of 1 run since did (at most 95.0 % at 95 %), though no change is known" in steps(lake)[SAFE].by_now
    change = {
        "evidence_id": "change:1",
        "account_id": "111122223333",
        "region": "eu-west-1",
        "event_id": "1",
        "changed_at": world.after(300),
        "event_source": "lambda.amazonaws.com",
        "event_name": "UpdateFunctionCode",
        "function_name": world.FUNCTION,
        "settings": [],
        "collected_at": world.after(3600),
    }
    lake.append(SETTING_CHANGES, [change], "test|change")
    step = steps(again(lake))[SAFE]

    assert step.mended == "changed"
    assert "UpdateFunctionCode at 2026-11-20 05:17:00.200 UTC" in step.by_now
    assert "change:1" in step.evidence_ids


def test_a_queue_on_which_most_runs_still_fail_redrives_nothing(tmp_path):
    def failing(found):
        last = world.deliveries()[2]
        found[DELIVERIES.name] += [
            last
            | {"item_id": f"x{n}", "message_id": f"x{n}", "consumer": f"x{n}", "run_ended_at": world.after(700 + n)}
            for n in range(5)
        ]

    found = plan(again(saved(tmp_path / "lake", failing)).findings(), DLQ)
    step = next(s for s in found.steps if s.item_id == SAFE)

    assert (step.mended, step.left_out) == ("still_failing", "what it failed of still happens")
    assert "so did 5 of 6 runs since (35.9 % to 99.6 % at 95 %)" in step.by_now
    assert found.scripted == ()


def test_how_long_the_guard_remembers_is_said_where_the_settings_say_it(lake):
    assert "No guard was seen on this queue." in steps(lake)[world.IDS[0]].by_now
    hours = {n: Settings(queues=(Queue(world.QUEUE, guard_s=n * 3600),)) for n in (1, 24)}

    assert "Its guard forgot it at 2026-11-20 06:22:01.500 UTC." in steps(lake, hours[1])[world.IDS[0]].by_now
    assert "remembers it until 2026-11-21 05:22:01.500 UTC" in steps(lake, hours[24])[world.IDS[0]].by_now


def redriven_before(item):
    def redriven(found):
        found[MESSAGES.name].append(
            world.messages()[2]
            | {"item_id": "new", "message_id": "new", "origin": "dlq_redrive", "related_message_ids": [item]}
        )

    return redriven


def test_a_message_that_was_redriven_before_is_no_longer_there(tmp_path):
    step = steps(again(saved(tmp_path / "lake", redriven_before(SAFE))))[SAFE]

    assert (step.decision, step.why) == ("gone", "It was redriven already, as new.")


def test_what_is_no_longer_there_comes_last_and_keeps_its_place_in_its_group(tmp_path):
    lake = again(saved(tmp_path / "lake", redriven_before(world.IDS[0])))
    places = [(s.group_id, s.place, s.item_id) for s in plan(lake.findings(), DLQ).steps]

    assert places == [("acct-1", 2, world.IDS[1]), ("acct-2", 1, SAFE), ("acct-1", 1, world.IDS[0])]


def test_a_message_whose_retention_is_over_is_no_longer_there(lake):
    row = COMMON | {"evidence_id": "queue:4", "queue_arn": DLQ_ARN, "queue_name": DLQ, "message_retention_s": 60}
    lake.append(QUEUE_SETTINGS, [row | {"observed_at": world.after(3800)}], "test|short")

    assert steps(again(lake))[SAFE].decision == "gone"


def test_a_move_task_that_was_seen_is_said(lake):
    task = {
        "evidence_id": "move:1",
        "task": "t",
        "source_arn": DLQ_ARN,
        "started_at": world.after(2000),
        "status": "COMPLETED",
    }
    lake.append(MOVE_TASKS, [COMMON | task | {"moved_count": 2}], "test|task")
    (note,) = plan(again(lake).findings(), DLQ).notes

    assert "moved 2 messages (COMPLETED)" in note


def test_whole_books_decide_what_the_logs_do_not(lake, tmp_path):
    from forensics.window import TimeWindow

    (tmp_path / "c.csv").write_text("id\npay-1001\n")
    whole = TimeWindow(world.START - timedelta(days=1), world.START + timedelta(days=1))
    read_books(lake.findings(), tmp_path / "c.csv", Columns("id"), datetime(2026, 11, 21, tzinfo=UTC), whole=whole)
    found = steps(lake)

    assert found[world.IDS[0]].decision == "repeats"  # the ledger lacks what the logs prove: nothing becomes safe by it
    assert found[world.IDS[1]].decision in ("cannot_tell", "repeats")


def test_a_queue_that_is_no_dead_letter_queue_is_named_with_its_neighbours(lake):
    with pytest.raises(QueueUnknownError, match=r"'payments-dlq' as its dead-letter queue") as refused:
        plan(lake.findings(), "payments-dlq")

    assert "Did you mean payments-dlq.fifo?" in refused.value.hint


def test_the_report_says_what_became_of_each_dead_letter(lake):
    page = render(load_case(lake.findings(), world.INCIDENT), "md").decode()

    assert "By now: Its last run ended by itself" in page
