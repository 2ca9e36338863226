import pytest

from forensics.identity import handle_token
from forensics.report.find import asked_text, find, reader, works
from forensics.report.message_sentence import message_sentence
from tests.forensics.report import world

HANDLE = "AQEB" + "x1Y2" * 40 + "=="
TOKEN = handle_token(HANDLE)
KEYED_HANDLE = "AQEB" + "z9Q8" * 40 + "=="
KEYED = handle_token(KEYED_HANDLE, b"k" * 32)
REDRIVEN = "00000000-0000-4000-8000-0000000000d1"
DLQ_ARN = world.QUEUE_ARN.replace("payments", "payments-dlq")


def redriven():
    """The second message moved to the dead-letter queue, was received there, and was redriven under a new id."""
    found = world.findings()
    second = world.deliveries()[1]
    in_dlq = second | {"queue_arn": DLQ_ARN, "queue": "payments-dlq.fifo", "receipt_handle": TOKEN}
    again = second | {"message_id": REDRIVEN, "item_id": REDRIVEN, "received_at": world.after(5000), "effect": "yes"}
    verdict = world.messages()[1] | {"message_id": REDRIVEN, "item_id": REDRIVEN, "origin": "dlq_redrive"}
    found["deliveries"] += [
        in_dlq,
        again | {"receipt_handle": KEYED, "body_md5": "0" * 31 + "1", "request_id": "cccc-3"},
    ]
    found["messages"].append(verdict | {"related_message_ids": [world.IDS[1]]})
    return found


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    return reader(world.save(tmp_path_factory.mktemp("find") / "lake", redriven()).findings())


ASKED = {
    "message id": (world.IDS[0], world.IDS[0], ("message id",)),
    "business key": ("pay-1001", world.IDS[0], ("business key",)),
    "deduplication id": ("dedup-0", world.IDS[0], ("deduplication id",)),
    "whole receipt handle": (HANDLE, world.IDS[1], ("receipt handle",)),
    "whole receipt handle of a lake with a key": (KEYED_HANDLE, REDRIVEN, ("receipt handle",)),
    "its token": (TOKEN, world.IDS[1], ("receipt handle",)),
    "its digest": (TOKEN.rpartition("~")[2], world.IDS[1], ("digest of a receipt handle",)),
    "its start": (HANDLE[:12], world.IDS[1], ("receipt handle",)),
    "a start longer than what is kept": (HANDLE[:40], world.IDS[1], ("receipt handle",)),
    "start of an id": (REDRIVEN[:36], REDRIVEN, ("message id",)),
    "request id": ("cccc-3", REDRIVEN, ("request id",)),
    "body MD5": ("0" * 31 + "1", REDRIVEN, ("body MD5",)),
    "quoted": (f' "{world.IDS[0]}",', world.IDS[0], ("message id",)),
}


@pytest.mark.parametrize(("asked", "message_id", "found_by"), ASKED.values(), ids=ASKED)
def test_a_message_is_found_by(read, asked, message_id, found_by):
    (hit,) = find(asked_text(asked), read)

    assert (hit.message_id, hit.found_by) == (message_id, found_by)


BESIDE = {
    "a message that has the key is known": ({}, [world.IDS[0]]),
    "none in the same queue": ({"queue_arn": "elsewhere"}, [world.IDS[0], None]),
    "nothing tells the queue": ({"log_group": world.QUEUE_ARN}, [world.IDS[0], None]),
}


@pytest.mark.parametrize(("facts", "found"), BESIDE.values(), ids=BESIDE)
@pytest.mark.lake
def test_lines_that_name_a_key_alone_are_found_by_it_where(tmp_path, facts, found):
    told = world.findings()
    line = {"message_id": None, "item_id": "key:pay-1001", "received_at": world.after(5000), "log_group": "/ecs/ledger"}
    told["deliveries"].append(world.deliveries()[0] | line | facts)
    read = reader(world.save(tmp_path / "lake", told).findings())

    assert [hit.message_id for hit in find("pay-1001", read)] == found


def test_the_redriven_copy_the_first_id_and_the_dead_letter_queue_are_one_work(read):
    family = {(world.QUEUE_ARN, world.IDS[1]), (DLQ_ARN, world.IDS[1]), (world.QUEUE_ARN, REDRIVEN)}

    for asked in (world.IDS[1], REDRIVEN, TOKEN):
        (work,) = works(find(asked, read), read)

        assert set(work.items) == family


def test_messages_of_one_batch_are_works_of_their_own(read):
    found = works(find(world.RUNS[0][0], read), read)

    assert sorted(w.hit.message_id for w in found) == list(world.IDS)


def test_a_business_key_that_names_two_ids_of_one_work_is_one_answer(read):
    (work,) = works(find("pay-1002", read), read)

    assert {hit.message_id for hit in work.hits} == {world.IDS[1], REDRIVEN}


def test_a_part_of_a_key_or_too_short_a_start_names_nothing(read):
    assert find("pay-100", read) == []
    assert find("0000000", read) == []


def test_a_window_narrows_by_the_receive(read):
    assert len(find("pay-1002", read, start=world.after(4000))) == 1
    assert find("pay-1001", read, end=world.START) == []


def test_a_whole_handle_never_survives_the_question():
    assert asked_text(f"'{HANDLE}'") == TOKEN


def test_one_sentence_tells_all_ids_of_a_work():
    found = redriven()
    mine = [d for d in found["deliveries"] if d["item_id"] in (world.IDS[1], REDRIVEN)]
    rows = [{"delete_status": None, "receive_count": 1} | d for d in mine]

    assert message_sentence(rows, world.messages()[1]) == (
        "Received 4 times under 2 ids, deleted once, work done 1 to 2 times."
    )


ONE = {
    "message_id": "m1",
    "item_id": "m1",
    "queue": "payments",
    "queue_arn": "arn:payments",
    "is_seen": True,
    "delete_status": None,
}
FIRST = {**ONE, "receive_count": 1, "ended_by": "deleted", "effect": "yes", "basis": "returned"}
PERHAPS = {**ONE, "receive_count": None, "ended_by": "deleted", "effect": "unknown", "basis": "same_receive"}
PERHAPS_ONE_RECEIVE = {
    "the first, once more": ([FIRST, PERHAPS], "Received 1 to 2 times, deleted once, work done 1 to 2 times."),
    "the first, of which only the other was deleted": (
        [FIRST | {"ended_by": "unknown"}, PERHAPS],
        "Received 1 to 2 times, deleted once, work done 1 to 2 times.",
    ),
    "the second, as a count tells": (
        [FIRST, PERHAPS | {"receive_count": 2}],
        "Received 2 times, deleted once, work done 1 to 2 times.",
    ),
    "any, for nothing else is known": ([PERHAPS], "Received once, deleted once, work done 0 to 1 times."),
}


@pytest.mark.parametrize(("rows", "said"), PERHAPS_ONE_RECEIVE.values(), ids=PERHAPS_ONE_RECEIVE)
def test_what_may_be_a_receive_told_once_more_is_not_said_to_be_another(rows, said):
    assert message_sentence(rows, None) == said
