"""Find a message: by any of its ids, told in one sentence."""

from datetime import timedelta

import pytest

from forensics.tables.findings import DELIVERIES, MESSAGES, REDELIVERIES
from pages._ui import plots, search
from tests.pages import tales
from tests.pages.reading import words
from tests.pages.worlds import START, Story, handle, uuid

pytestmark = pytest.mark.page

SEARCHES = {
    "message id": uuid("payment", 3),
    "start of a message id": uuid("payment", 3)[:10],
    "business key": "pay_1043",
    "deduplication id": "pay-3",
    "whole receipt handle": handle(uuid("payment", 3), 2),
    "quoted message id": f'"{uuid("payment", 3)}"',
}


@pytest.mark.parametrize("asked", SEARCHES.values(), ids=SEARCHES)
def test_a_message_is_found_by_any_id_and_told_in_one_sentence(visit, asked):
    at = visit("pages/messages.py", "demo", q=asked)

    assert at.subheader[0].value == "Received 2 times, deleted once, work done 2 times."
    assert f"`{uuid('payment', 3)}`" in words(at)
    assert len(at.get("plotly_chart")) == 1


def test_a_message_s_timeline_is_drawn_once_for_each_message_language_and_zone(visit, monkeypatch):
    plots._kept.clear()
    drawn, draw = [], search.timeline_figure
    monkeypatch.setattr(search, "timeline_figure", lambda *given, **named: drawn.append(given) or draw(*given, **named))
    first = {"q": "pay_1043"}
    asked = [first, first, {"q": "pay_1044"}, first | {"lang": "ja"}, first | {"tz": "Pacific/Chatham"}]
    opened = [visit("pages/messages.py", "demo", zone="Asia/Kathmandu", **keys) for keys in asked]
    specs = [at.get("plotly_chart")[0].proto.spec for at in opened]

    assert len(drawn) == 4
    assert specs[0] == specs[1]
    assert len(set(specs)) == 4


def test_a_request_id_names_every_message_of_its_batch(visit):
    at = visit("pages/messages.py", "demo", q=uuid("run", "A"))

    assert at.subheader[0].value == "10 messages by request id"
    assert len(at.dataframe[0].value) == 10


def test_the_start_of_a_receipt_handle_is_enough(visit):
    at = visit("pages/messages.py", "demo", q=handle(uuid("payment", 3), 1)[:20])

    assert at.subheader[0].value.startswith("Received 2 times")


def test_every_id_of_one_work_is_told_together(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.dead_lettered(story)
    first, verdict = story.findings["deliveries"][0], story.findings["messages"][0]
    copy = {"message_id": uuid("redriven"), "item_id": uuid("redriven")}
    story.add(DELIVERIES, first | copy | {"received_at": START, "effect": "yes", "basis": "marker", "effect_at": START})
    story.add(MESSAGES, verdict | copy | {"origin": "dlq_redrive", "related_message_ids": [verdict["message_id"]]})
    at = visit("pages/messages.py", story.save(tmp_path / "lake"), q=uuid("redriven"))
    ids = next(f.value for f in at.dataframe if "How it came about" in f.value)

    assert "under 2 ids" in at.subheader[0].value
    assert "The work came in 2 messages, delivered " in words(at)
    assert list(ids["How it came about"]) == ["first id", "redriven from the dead-letter queue"]
    assert set(ids["Message"]) == {uuid("mail", 1), uuid("redriven")}


def test_a_pasted_receipt_handle_does_not_stay_in_the_address(visit):
    secret = handle(uuid("payment", 3), 1)
    at = visit("pages/messages.py", "demo", q=secret)

    assert secret not in str(at.query_params)
    assert secret not in str(at.main)


def test_a_search_without_a_hit_says_what_was_searched(visit):
    at = visit("pages/messages.py", "demo", q="no-such-id")

    assert "no-such-id names no message among 27 deliveries" in words(at)
    assert set(at.dataframe[0].value["Queue"]) == {"payments.fifo", "billing", "mail"}


def test_a_message_delivered_once_is_told_too(visit):
    at = visit("pages/messages.py", "demo", q=uuid("bill", 1))

    assert at.subheader[0].value == "Received once, deleted once, work done once."


def test_receives_that_no_log_shows_are_part_of_the_sentence(visit):
    at = visit("pages/messages.py", "demo", q=uuid("mail", 1))

    assert "of which 1 receive left no log line" in at.subheader[0].value
    assert "moved to the dead-letter queue" in at.subheader[0].value


def test_another_message_with_the_same_body_is_a_hint(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.dead_lettered(story)
    first = story.findings["deliveries"][0]
    copy = {"message_id": uuid("alike"), "item_id": uuid("alike"), "delivery_index": 1}
    story.add(DELIVERIES, first | copy)
    at = visit("pages/messages.py", story.save(tmp_path / "lake"), q=first["message_id"])

    assert f"had the same body as {first['message_id']} within 15 min" in words(at)
    assert "this is a hint and counts as nothing" in words(at)


@pytest.mark.parametrize(("most", "title"), [(2, "The first 2 lines with this text"), (500, "lines with this text")])
def test_the_first_lines_of_a_text_are_not_called_all_of_them(visit, monkeypatch, most, title):
    for place in ("forensics.finding.lines", "pages._ui.search"):
        monkeypatch.setattr(f"{place}.MOST_LINES", most)
    at = visit("pages/messages.py", "demo", q="charged")
    label = next(e.label for e in at.expander if "with this text" in e.label)

    assert label.endswith(title)
    assert ("write more of it" in words(at)) == (most == 2)


def test_a_text_that_is_too_short_is_not_called_unknown(visit):
    said = words(visit("pages/messages.py", "demo", q="pa"))

    assert "pa is too short: 3 characters of a text, or 8 of an id." in said
    assert "names no message" not in said


def test_the_name_of_a_queue_leads_to_the_queue(visit):
    at = visit("pages/messages.py", "demo", q="payments.fifo")

    assert "payments.fifo is a queue." in words(at)
    assert not at.dataframe


def test_a_message_that_has_one_business_key_is_drawn_and_listed_under_it(visit):
    at = visit("pages/messages.py", "demo", q=uuid("payment", 3))
    evidence = next(d.value for d in at.dataframe if "Event" in d.value)

    assert '"ticktext":["pay_1043"]' in at.get("plotly_chart")[0].proto.spec.replace(" ", "")
    assert set(evidence["Message"]) == {"pay_1043"}


def test_the_reason_after_a_cause_is_a_whole_sentence(visit):
    at = visit("pages/messages.py", "demo", q="pay_1043")
    told = [m.value.partition(".** ")[2] for m in at.markdown if m.value.startswith("**Receive #")]

    assert told
    assert all(reason[0].isupper() and reason.endswith(".") for reason in told)


@pytest.mark.parametrize("page", [1, 2])
def test_hundreds_of_redeliveries_of_one_message_are_told_page_by_page(visit, tmp_path, page):
    story = Story(data_until_at=START + timedelta(hours=1))
    tales.double_billing(story)
    (one,) = [r for r in story.findings[REDELIVERIES.name] if r["message_id"] == uuid("payment", 3)]
    story.findings[REDELIVERIES.name] = [one | {"delivery_index": n, "receive_count": n} for n in range(2, 27)]
    at = visit("pages/messages.py", story.save(tmp_path / "lake"), q="pay_1043", selection={"why-2": page})
    told = [m.value.partition(":")[0] for m in at.markdown if m.value.startswith("**Receive #")]

    assert not at.exception
    assert told == [f"**Receive #{n}" for n in (range(2, 22) if page == 1 else range(22, 27))]
    assert ("Redeliveries 1 to 20 of 25" if page == 1 else "Redeliveries 21 to 25 of 25") in words(at)


@pytest.mark.parametrize(("count", "is_folded"), [(1, False), (4, True)])
def test_what_is_ruled_out_folds_up_where_many_redeliveries_say_it(visit, tmp_path, count, is_folded):
    story = Story(data_until_at=START + timedelta(hours=1))
    tales.double_billing(story)
    (one,) = [r for r in story.findings[REDELIVERIES.name] if r["message_id"] == uuid("payment", 3)]
    one = one | {"excluded": ["worker_killed: a Lambda function took it, not a worker"]}
    story.findings[REDELIVERIES.name] = [one | {"delivery_index": n, "receive_count": n} for n in range(2, 2 + count)]
    at = visit("pages/messages.py", story.save(tmp_path / "lake"), q="pay_1043")
    folded = [e for e in at.expander if e.label == "1 cause ruled out"]

    assert len(folded) == (count if is_folded else 0)
    assert ("ruled out: **Worker killed**" in words(at)) != is_folded
    assert words(at).count("a Lambda function took it, not a worker") == count
