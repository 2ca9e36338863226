"""Numbers that count up within a group: what is missing, out of order or there twice, and nothing that cannot be told."""

import json
from datetime import timedelta

import pytest

from forensics.errors import ForensicsError
from forensics.sequence import Sent, check, commits_not_sent, sequences
from tests.forensics.report import world


def sends(*numbers, step_s=1.0):
    return [Sent(n, world.after(place * step_s), f"m{place}", "g", f"log:{place}") for place, n in enumerate(numbers)]


def kinds(found):
    return [(b.kind, b.first, b.last, b.count) for b in found]


CASES = {
    "one after the other": ([1, 2, 3], []),
    "it need not begin at one": ([7, 8], []),
    "one is missing": ([1, 2, 4], [("gap", 3, 3, 1)]),
    "several are missing": ([1, 5], [("gap", 2, 4, 3)]),
    "two changed places": ([1, 3, 2], [("out_of_order", 2, 3, 1)]),
    "one came very late": ([2, 3, 4, 1], [("out_of_order", 1, 4, 1)]),
    "one was sent twice": ([1, 2, 2], [("twice", 2, 2, 1)]),
    "none": ([], []),
}


@pytest.mark.parametrize(("numbers", "broken"), CASES.values(), ids=CASES)
def test_what_is_wrong_with_numbers(numbers, broken):
    assert kinds(check(sends(*numbers))) == broken


def test_sends_of_the_same_moment_have_no_order():
    assert kinds(check(sends(2, 1, step_s=0))) == []


def test_a_send_whose_time_nobody_logged_is_in_no_order_and_fills_its_gap():
    timeless = Sent(2, None, "m9", "g", "log:9")

    assert kinds(check([*sends(1, 3), timeless])) == []


def test_a_gap_says_between_which_sends_and_cites_both():
    (gap,) = check(sends(1, 3))

    assert "Number 2 was never seen: not sent, or not received where the logs were read" in gap.sentence
    assert "(after 2026-11-20 05:12:00 UTC) (before 2026-11-20 05:12:01 UTC)" in gap.sentence
    assert gap.evidence_ids == ("log:0", "log:1")


def printed(*numbers):
    bodies = [json.dumps({"version": n} if n is not None else {"other": 1}) for n in numbers]
    records = [
        {"messageId": i, "receiptHandle": "RH~x", "body": b, "attributes": {"ApproximateReceiveCount": "1"}}
        for i, b in zip(world.IDS, bodies, strict=True)
    ]
    return json.dumps({"Records": records})


def lake_of(folder, *numbers):
    lines = world.lines()
    lines[1]["line"] = printed(*numbers)
    return world.save(folder / "lake", world.findings(), lines)


@pytest.mark.lake
def test_numbers_are_read_off_printed_bodies_with_the_times_of_their_sends(tmp_path):
    found = sequences(lake_of(tmp_path, 1, 4, 2).findings(), world.QUEUE, "$.version")

    assert (found.messages, found.groups, found.unread) == (3, 1, 0)
    assert kinds(found.broken) == [("gap", 3, 3, 1), ("out_of_order", 2, 4, 1)]


@pytest.mark.lake
def test_a_body_without_the_number_is_counted_and_says_nothing(tmp_path):
    found = sequences(lake_of(tmp_path, 1, None, 2).findings(), world.QUEUE, "$.version")

    assert (found.messages, found.unread, found.broken) == (2, 1, ())


REFUSED = {
    "no field said": (None, "nothing says which field of 'payments.fifo' counts up"),
    "a field that no body has": ("$.serial", "no printed body of 'payments.fifo' has a whole number at $.serial"),
}


@pytest.mark.lake
@pytest.mark.parametrize(("path", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_checked_is_refused(tmp_path, path, sentence):
    with pytest.raises(ForensicsError) as refused:
        sequences(lake_of(tmp_path, 1, 2, 3).findings(), world.QUEUE, path)

    assert sentence in str(refused.value)
    assert refused.value.exit_code == 2


@pytest.mark.lake
def test_commits_that_were_never_delivered_are_named(tmp_path):
    lake = lake_of(tmp_path, 1, 2, 3)
    (tmp_path / "orders.csv").write_text("id,n\npay-1001,1\npay-1002,2\npay-7777,3\n")

    assert commits_not_sent(lake.findings(), world.QUEUE, tmp_path / "orders.csv", "id") == (3, ["pay-7777"])
    with pytest.raises(ForensicsError, match="none of the 3 keys in column 'n'"):
        commits_not_sent(lake.findings(), world.QUEUE, tmp_path / "orders.csv", "n")


def test_a_late_group_does_not_break_another_one():
    mine, others = sends(1, 2), [Sent(1, world.START + timedelta(hours=1), "o1", "other")]

    assert [*check(mine), *check(others)] == []
