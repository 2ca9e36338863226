"""Messages that are alike, close in time: shown as a hint, and counted as nothing."""

import json

import pytest

import cli
from forensics.language import Language
from forensics.report import hints
from forensics.report.case import load_case
from forensics.report.options import ReportOptions
from forensics.report.render import render
from tests.forensics.report import world

pytestmark = pytest.mark.slow

BODY = "0" * 32


def other(number: int, sent_s: float, **facts):
    """A message that came once and was deleted, with the first message's body."""
    message_id = f"11111111-0000-4000-8000-{number:012d}"
    once = {"item_id": message_id, "message_id": message_id, "delivery_index": 1, "body_md5": BODY}
    once["deduplication_id"] = f"other-{number}"
    return world.deliveries()[0] | once | {"sent_at": world.after(sent_s), "evidence_ids": [world.log_id(5)]} | facts


def lake_with(tmp_path, *others):
    found = world.findings()
    first = [d | {"body_md5": BODY} if d["item_id"] == world.IDS[0] else d for d in found["deliveries"]]
    return world.save(tmp_path / "lake", found | {"deliveries": [*first, *others]})


def hints_of(tmp_path, *others):
    findings = lake_with(tmp_path, *others).findings()
    return load_case(findings, world.INCIDENT).hints


NO_HINT = {
    "another body": {"body_md5": "1" * 32},
    "a body that nobody logged": {"body_md5": None},
    "a quarter of an hour and more apart": {"sent_at": world.after(-1 + 901)},
    "another queue": {"queue_arn": "arn:aws:sqs:eu-west-1:111122223333:mails"},
    "a later delivery": {"delivery_index": 2},
}


@pytest.mark.parametrize("facts", NO_HINT.values(), ids=NO_HINT)
def test_what_is_no_twin_gives_no_hint(tmp_path, facts):
    assert hints_of(tmp_path, other(1, 5, **facts)) == ()


def test_a_twin_is_named_with_how_far_away_it_was_and_that_it_counts_as_nothing(tmp_path):
    [hint] = hints_of(tmp_path, other(1, 899))

    assert hint.item_id == world.IDS[0]
    assert hint.message_ids == ("11111111-0000-4000-8000-000000000001",)
    assert hint.sentence == (
        f"1 other message had the same body as {world.IDS[0]} within 15 min, the nearest 15 min away: "
        "11111111-0000-4000-8000-000000000001. Nothing else links them, so this is a hint and counts as nothing."
    )
    assert world.log_id(5) in hint.evidence_ids


UNDER_THE_SAME_ID = {"deduplication_id": world.deliveries()[0]["deduplication_id"], "body_md5": "1" * 32}


def test_another_body_under_the_same_deduplication_id_is_a_hint_even_hours_later(tmp_path):
    [hint] = hints_of(tmp_path, other(1, 7200, **UNDER_THE_SAME_ID))

    assert hint.item_id == world.IDS[0]
    assert hint.sentence == (
        f"1 other message of the same message group had the deduplication id of {world.IDS[0]}, and another body, within 24 h, "
        "the nearest 2 h away: 11111111-0000-4000-8000-000000000001. The id may stand for more than one piece of work, so this "
        "is a hint and counts as nothing."
    )
    assert "重複排除 ID が同じ" in Language("ja").sentence(hint.sentence)


OF_NO_ID = {
    "the group is another": {"group_id": "acct-2"},
    "a day and more lies between": {"sent_at": world.after(-1 + 86_401)},
    "nobody logged the body": {"body_md5": None},
    "the body is the same, which is a hint of its own": {"body_md5": BODY},
}


@pytest.mark.parametrize("facts", OF_NO_ID.values(), ids=OF_NO_ID)
def test_the_same_deduplication_id_gives_no_hint_where(tmp_path, facts):
    found = hints_of(tmp_path, other(1, 5, **UNDER_THE_SAME_ID | facts))

    assert not [hint for hint in found if "deduplication id" in hint.sentence]


def test_of_many_twins_the_nearest_are_named_and_the_others_counted(tmp_path):
    [hint] = hints_of(tmp_path, *(other(n, n) for n in range(1, 9)))

    assert [i[-1] for i in hint.message_ids] == ["1", "2", "3", "4", "5"]
    assert "8 other messages" in hint.sentence
    assert " and 3 more. " in hint.sentence


@pytest.mark.parametrize("name", ["related_message_ids", "maybe_related_message_ids"])
def test_a_message_of_the_same_work_or_perhaps_of_it_is_no_twin(tmp_path, name):
    findings = lake_with(tmp_path, other(1, 5)).findings()
    linked = world.messages()[0] | {name: ["11111111-0000-4000-8000-000000000001"]}
    mine = [d | {"body_md5": BODY} for d in world.deliveries() if d["item_id"] == world.IDS[0]]

    assert hints.hints_of(findings, world.QUEUE_ARN, [linked], mine) == ()


def alone(handlings, message_id=None, key="ord"):
    item = f"key:{key}"
    rows = [
        {"item_id": item, "message_id": message_id, "delivery_index": n, "evidence_ids": [f"line {n}", "more"]}
        for n in range(handlings)
    ]
    return list(hints._often_alone([{"item_id": item}, {"item_id": item}], rows))


def test_a_key_that_stands_alone_in_many_handlings_may_be_cut_short():
    [hint] = alone(hints.OFTEN)

    assert hint.sentence.startswith(
        "5 handlings have the key ord, and no line names their message. If that is not the key of one"
    )
    assert hint.evidence_ids == ("line 0", "line 1", "line 2", "line 3", "line 4")
    assert alone(hints.OFTEN - 1) == []
    assert alone(hints.OFTEN, "m1") == []


def test_a_hint_changes_no_count_and_stands_in_every_report(tmp_path):
    case = load_case(lake_with(tmp_path, other(1, 5)).findings(), world.INCIDENT)
    said = "had the same body as"

    assert case.incident == load_case(world.save(tmp_path / "plain").findings(), world.INCIDENT).incident
    for form in ("md", "html", "json"):
        assert said in render(case, form).decode()
    assert "本文が同じメッセージが 15 分 以内に 1 件" in render(case, "md", ReportOptions("ja")).decode()
    assert said not in Language("ja").sentence(case.hints[0].sentence)


def test_who_asks_why_or_looks_for_a_message_that_was_done_once_is_told_of_its_twin(tmp_path, capsys):
    twin = other(1, 5)
    lake = lake_with(tmp_path, twin)
    hint = f"1 other message had the same body as {twin['message_id']} within 15 min"

    for asked in (["ask", "why", twin["message_id"]], ["find", twin["message_id"]]):
        assert cli.main([*asked, "--lake", str(lake.root)]) == 0
        assert hint in capsys.readouterr().out
        assert cli.main([*asked, "--lake", str(lake.root), "--format", "json"]) == 0
        [row] = json.loads(capsys.readouterr().out)
        assert row["verdict"] is None
        assert [told[: len(hint)] for told in row["hints"]] == [hint]
