"""The judge itself: findings that know nothing pass, findings that lie are caught."""

from dataclasses import replace

import pytest

from tests.oracle import Plan, World
from tests.oracle.judge import Findings, judge, stories, verdict_of
from tests.oracle.truth import MessageTruth

WORLD = World(3, Plan(troubles=frozenset({"slow"}), trouble_rate=0.3, send_spread_s=1, max_receive_count=3))


def honest_messages(world: World) -> list[dict]:
    """What a perfect product would say of every redelivered message."""
    return [honest_message(world, known) for known in world.truth.values() if len(known.deliveries) > 1]


def honest_message(world: World, known: MessageTruth) -> dict:
    """What a perfect product would say of a message by itself."""
    done = known.effects_done
    return {
        "queue": world.queue_name,
        "message_id": known.message_id,
        "related_message_ids": [],
        "maybe_related_message_ids": [],
        "business_keys": [known.business_key],
        "verdict": verdict_of(done, done, False),
        "certainty": "inferred",
        "is_provisional": False,
        "effects_at_least": done,
        "effects_at_most": done,
        "receive_count": len(known.deliveries),
        "is_dead_lettered": known.dead_lettered_ms is not None,
    }


def honest_redeliveries(world: World) -> list[dict]:
    return [
        {
            "queue": world.queue_name,
            "item_id": c.message_id,
            "message_id": c.message_id,
            "delivery_index": c.receive_count,
            "receive_count": c.receive_count,
            "cause": c.code,
        }
        for known in world.truth.values()
        for c in known.causes
    ]


def judged(messages=None, redeliveries=(), deliveries=()):
    rows = honest_messages(WORLD) if messages is None else messages
    return judge([WORLD], Findings(rows, list(redeliveries), list(deliveries)))


def kinds(problems) -> set[str]:
    return {p.kind for p in problems}


def test_the_truth_itself_has_no_problems_and_a_full_score():
    problems, score = judged(redeliveries=honest_redeliveries(WORLD))

    assert not problems
    assert score.told_confirmed == score.told > 0
    assert score.wrong == score.undecidable == 0
    assert set(score.widths) == {0}


def test_knowing_nothing_is_sound_but_blunt():
    ignorant = [
        {**row, "effects_at_least": 0, "effects_at_most": None, "verdict": "possible"} for row in honest_messages(WORLD)
    ]

    problems, score = judged(ignorant)

    assert kinds(problems) == {"blunt"}
    assert score.told_confirmed == 0


def change(done: int, **values):
    """Change the first honest row whose work was done so often."""
    rows = honest_messages(WORLD)
    known = {t.message_id: t.effects_done for t in WORLD.truth.values()}
    row = next(row for row in rows if known[row["message_id"]] == done)
    row.update(values)
    return rows


LIES = {
    "one too many": (1, {"effects_at_least": 2, "effects_at_most": 2, "verdict": "confirmed"}, "false confirmed"),
    "one too few": (2, {"effects_at_least": 1, "effects_at_most": 1, "verdict": "harmless"}, "unsound interval"),
    "unknown taken as none": (
        2,
        {"effects_at_least": 0, "effects_at_most": 1, "verdict": "harmless"},
        "unsound interval",
    ),
    "a verdict of its own": (2, {"verdict": "harmless"}, "verdict beside its interval"),
    "a receive that never was": (2, {"receive_count": 99}, "invented receive"),
    "a move that never was": (2, {"is_dead_lettered": True}, "false dead letter"),
    "a message that never was": (2, {"message_id": "8e894867-57c3-421d-80e6-3b9af3a6a1f0"}, "phantom"),
}


@pytest.mark.parametrize(("done", "values", "kind"), LIES.values(), ids=LIES)
def test_a_lie_about_a_message_is_caught(done, values, kind):
    problems, _ = judged(change(done, **values))

    assert kind in kinds(p for p in problems if p.is_unsound)


@pytest.mark.parametrize(("lines", "is_lie"), [(1, True), (2, False), (9, False)])
def test_work_may_be_said_to_be_done_as_often_as_lines_name_its_key_alone_where_its_messages_did_it_so_often(
    lines, is_lie
):
    world = World(5, Plan(troubles=frozenset({"same_work_again"}), trouble_rate=0.9, send_spread_s=1, guard=None))
    by_key = {}
    for known in world.truth.values():
        by_key.setdefault(known.business_key, []).append(known)
    known = next(one for same in by_key.values() for one in same if (one.effects_done, len(same)) == (1, 2))
    row = honest_message(world, known) | {"effects_at_least": 2, "effects_at_most": 2, "verdict": "confirmed"}
    line = {
        "queue": world.queue_name,
        "item_id": f"key:{known.business_key}",
        "message_id": None,
        "effect": "yes",
        "basis": "marker",
        "receive_count": None,
    }
    more = row | {"effects_at_least": 3, "effects_at_most": 3}

    assert sum(one.effects_done for one in by_key[known.business_key]) == 2
    assert ("false confirmed" in kinds(judge([world], Findings([row], [], [line] * lines))[0])) == is_lie
    assert kinds(judge([world], Findings([more], [], [line] * lines))[0]) & {"false confirmed", "unsound interval"}


def test_a_link_between_two_works_is_caught():
    one, other = list(WORLD.truth)[:2]
    rows = change(2, related_message_ids=[one, other])

    assert "false link" in kinds(judged(rows)[0])


def test_a_message_left_out_is_caught():
    rows = [row for row in honest_messages(WORLD) if row["verdict"] != "confirmed"]

    assert kinds(judged(rows)[0]) == {"missed"}


def test_a_proof_that_rests_on_an_inference_is_caught():
    rows = change(2, certainty="proved")
    proved = next(row for row in rows if row["certainty"] == "proved")
    delivery = {
        "queue": WORLD.queue_name,
        "item_id": proved["message_id"],
        "message_id": proved["message_id"],
        "receive_count": 1,
        "effect": "yes",
        "basis": "returned",
    }

    assert "false proof" in kinds(judged(rows, deliveries=[delivery])[0])


@pytest.mark.parametrize(
    ("loss", "is_provisional", "is_lie"),
    [("to_come", True, False), ("to_come", False, True), ("none", True, True)],
    ids=["said provisionally while lines are to come", "said for good", "provisionally where none is to come"],
)
def test_an_interval_beside_the_truth_may_be_said_provisionally_while_lines_are_to_come(loss, is_provisional, is_lie):
    world = World(3, replace(WORLD.plan, loss=loss))
    rows = honest_messages(world)
    wrong = next(row for row in rows if row["verdict"] == "confirmed")
    wrong |= {"effects_at_most": 9, "effects_at_least": 9, "is_provisional": is_provisional}

    (problem,) = judge([world], Findings(rows, [], []))[0]

    assert (problem.kind, problem.is_unsound) == ("unsound interval", is_lie)


def test_a_proof_to_which_lines_may_still_come_is_caught():
    rows = honest_messages(WORLD)
    one = next(row for row in rows if row["verdict"] != "confirmed")
    one |= {"certainty": "proved", "is_provisional": True}

    assert kinds(judged(rows)[0]) == {"provisional proof"}


def test_a_wrong_cause_counts_against_accuracy_and_undecidable_does_not():
    rows = honest_redeliveries(WORLD)
    rows[0]["cause"], rows[1]["cause"] = "producer_retry", "undecidable"

    problems, score = judged(redeliveries=rows)

    assert kinds(problems) == {"wrong cause"}
    assert (score.wrong, score.undecidable) == (1, 1)


def test_a_story_tells_seed_lines_truth_and_finding():
    problems, _ = judged(change(2, effects_at_most=1, effects_at_least=1, verdict="harmless"))

    text = stories(problems)

    message_id = problems[0].message_id
    assert "seed 3" in text and "work done 2 times" in text
    assert f"charged payment_id={WORLD.truth[message_id].business_key}" in text
    assert "Status: timeout" in text
    assert "verdict='harmless'" in text


CASES = {
    (2, 2): "confirmed",
    (2, None): "confirmed",
    (1, 2): "probable",
    (1, None): "probable",
    (0, 2): "possible",
    (0, None): "possible",
    (1, 1): "harmless",
}


@pytest.mark.parametrize(("interval", "verdict"), CASES.items(), ids=map(str, CASES))
def test_the_contract_of_intervals_and_verdicts(interval, verdict):
    assert verdict_of(*interval, is_guarded=False) == verdict


GUARD_LIES = {
    "by the message id": "The table t holds a record for each of 2 message ids: its guard keys on the message id and takes each for new.",
    "kept too short": "A record is kept: a record is kept for 3,599 s at most, so the one before had expired.",
    "not recorded": "its guard did not record this work as done.",
    "not asked": "it was done without asking the table, or under another key.",
}


@pytest.mark.parametrize("said", GUARD_LIES.values(), ids=GUARD_LIES)
def test_what_is_said_of_a_guard_is_held_to_how_it_keeps_its_records(said):
    rows = [row | {"guard_sentence": said} for row in honest_messages(WORLD)]
    problems, _ = judge([WORLD], Findings(rows, honest_redeliveries(WORLD), []))

    assert len([p for p in problems if p.kind == "lie about the guard" and p.is_unsound]) == len(rows) > 0
