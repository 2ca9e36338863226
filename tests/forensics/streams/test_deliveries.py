"""Facts of one run to one delivery per message: who each fact is about, and what a message's facts say together."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.streams.deliveries import deliveries_of, gathered
from forensics.streams.model import ERROR, REPEAT, TAKEN, WHOLE, Delivery, Fact, Invocation

M, N, STRANGER = (f"861bec95-b670-4f2a-acf9-19d5bdd7cbe{n}" for n in "123")
HANDLE = "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a"


def fact(role, message_id=None, at=1, **more):
    return Fact(role, at, more.pop("evidence_id", f"e-{role}-{at}"), message_id, **more)


def run(*facts, **more):
    given = {
        "invocation_id": "g|s|r|1",
        "log_group": "g",
        "log_stream": "s",
        "request_id": "r",
        "start_index": 1,
        "function_name": "charge",
        "start_at": 10,
        "first_line_at": 5,
        "last_line_at": 90,
        "ended_at": 80,
        "duration_ms": 0.07,
        "end_status": "error",
        "error_type": "KeyError",
        "has_response": True,
        "any_line_id": "e-0",
        "mark_ids": ["start", "end"],
    }
    return Invocation(**{**given, **more}, facts=list(facts))


def roles(*facts):
    """Roles of the facts about each item."""
    return {d.item_id: [i.split("-")[1] for i in d.fact_ids] for d in deliveries_of(run(*facts))}


def test_each_message_takes_over_what_is_known_of_its_run():
    first, second = deliveries_of(run(fact("record", M, detail=WHOLE), fact("started", N)))

    assert first == Delivery(
        item_id=M,
        message_id=M,
        consumer="g|s|r|1",
        consumer_kind="lambda",
        log_group="g",
        log_stream="s",
        request_id="r",
        function_name="charge",
        run_started_at=10,
        run_ended_at=80,
        run_last_line_at=90,
        run_status="error",
        error_type="KeyError",
        has_response=True,
        is_batch_printed=True,
        batch_count=2,
        end_ids=["start", "end"],
        record_at=1,
        first_fact_at=1,
        last_fact_at=1,
        fact_ids=["e-record-1"],
    )
    assert (second.item_id, second.batch_count, second.is_batch_printed) == (N, 2, True)


NAMED = {
    "beside a whole batch that has it not": (
        [fact("record", M, detail=WHOLE), fact("mention", N, detail=TAKEN)],
        {M: False},
    ),
    "beside a whole batch that has it": (
        [fact("record", M, detail=WHOLE), fact("record", N, detail=WHOLE), fact("mention", N)],
        {M: False, N: False},
    ),
    "beside one record of a batch": ([fact("record", M), fact("mention", N)], {M: False, N: True}),
    "as one that it takes": ([fact("mention", N, detail=TAKEN), fact("mention", N, at=2)], {N: False}),
    "by its effect, beside a whole batch that has it not": (
        [fact("record", M, detail=WHOLE), fact("effect", N)],
        {M: False, N: False},
    ),
}
"""How a run names messages, and which deliveries that makes: whether each is only named in passing."""


@pytest.mark.parametrize(("facts", "expected"), NAMED.values(), ids=NAMED)
def test_a_message_named_in_passing_may_be_anybodys(facts, expected):
    found = deliveries_of(run(*facts))

    assert {d.item_id: d.is_passing for d in found} == expected


IN_HAND = {
    "the batch was printed": ([fact("record", M, detail=WHOLE), fact("record", N, detail=WHOLE)], None),
    "both are in hand": ([fact("started", M), fact("mention", N, detail=TAKEN)], 2),
    "one of them may have been sent by it": ([fact("started", M), fact("mention", N)], 1),
}


@pytest.mark.parametrize(("facts", "expected"), IN_HAND.values(), ids=IN_HAND)
def test_of_a_batch_that_was_not_printed_those_count_that_a_line_shows_in_hand(facts, expected):
    assert {d.in_hand_count for d in deliveries_of(run(*facts))} == {expected}


QUEUE, OTHER = "arn:aws:sqs:eu-west-1:1:new", "arn:aws:sqs:eu-west-1:1:old"
QUEUES = {
    "its record does": ([fact("record", M, queue_arn=QUEUE)], {M: QUEUE}),
    "a record beside it does": ([fact("record", M, queue_arn=QUEUE), fact("mention", N)], {M: QUEUE, N: QUEUE}),
    "a record beside its own, which does not": (
        [fact("record", M, queue_arn=QUEUE), fact("record", N, receive_count=1)],
        {M: QUEUE, N: QUEUE},
    ),
    "records beside it tell of two": (
        [fact("record", M, queue_arn=QUEUE), fact("record", N, queue_arn=OTHER), fact("mention", STRANGER)],
        {M: QUEUE, N: OTHER, STRANGER: None},
    ),
    "nothing does": ([fact("mention", M)], {M: None}),
}


@pytest.mark.parametrize(("facts", "expected"), QUEUES.values(), ids=QUEUES)
def test_a_run_has_messages_of_one_queue_so_that_of_each_tells_where(facts, expected):
    assert {d.item_id: d.record_queue_arn for d in deliveries_of(run(*facts))} == expected


def test_a_run_that_ended_in_success_is_no_evidence_of_how_it_ended():
    (delivery,) = deliveries_of(run(fact("record", M), end_status="success"))

    assert delivery.end_ids == []


def test_a_run_that_names_no_message_delivered_none_that_anybody_knows():
    assert deliveries_of(run()) == []
    assert deliveries_of(run(fact("idempotency", detail="in_progress"))) == []


ABOUT = {
    "the message whose record carries the key": (
        [fact("record", M, key="k"), fact("record", N, key="l"), fact("effect", key="l", at=2)],
        {M: ["record"], N: ["effect", "record"]},
    ),
    "the message that a line names beside the key": (
        [fact("effect", key="k"), fact("started", M, key="k"), fact("mention", N)],
        {M: ["effect", "started"], N: ["mention"]},
    ),
    "the first of two messages with the key": (
        [fact("record", N, key="k"), fact("record", M, key="k", at=2), fact("guard", key="k", at=3)],
        {N: ["guard", "record"], M: ["record"]},
    ),
    "the key itself, where no message carries it": (
        [fact("record", M, key="k"), fact("effect", key="l")],
        {M: ["record"], "key:l": ["effect"]},
    ),
    "the message whose receipt handle begins so": (
        [
            fact("record", M, receipt_handle="AQEBother" + HANDLE),
            fact("record", N, receipt_handle=HANDLE, at=2),
            fact("handle_error", receipt_handle=HANDLE[:27], at=3),
        ],
        {M: ["record"], N: ["handle_error", "record"]},
    ),
    "nobody, where the receipt handle was cut shorter": (
        [
            fact("record", M, receipt_handle="AQEBother" + HANDLE),
            fact("record", N, receipt_handle=HANDLE, at=2),
            fact("handle_error", receipt_handle=HANDLE[:26], at=3),
        ],
        {M: ["record"], N: ["record"]},
    ),
    "the only message, where nothing is named": (
        [fact("record", M), fact("idempotency", detail="already_done")],
        {M: ["idempotency", "record"]},
    ),
    "nobody, where nothing is named and there are two": (
        [fact("record", M), fact("record", N, at=2), fact("idempotency", detail="already_done")],
        {M: ["record"], N: ["record"]},
    ),
    "its key, where the run failed and had one message in hand: an earlier run may have left the work behind": (
        [fact("record", M), fact("effect", key="l", at=2)],
        {M: ["record"], "key:l": ["effect"]},
    ),
    "its key, where the only message is named in passing": (
        [fact("mention", M), fact("effect", key="l", at=2)],
        {M: ["mention"], "key:l": ["effect"]},
    ),
    "its key, where the message comes to hand only later": (
        [fact("effect", key="l"), fact("started", M, at=2)],
        {M: ["started"], "key:l": ["effect"]},
    ),
    "its key, where the only message in hand has another already: one of them is of what was not seen": (
        [fact("record", M), fact("effect", key="k", at=2), fact("effect", key="l", at=3)],
        {M: ["record"], "key:k": ["effect"], "key:l": ["effect"]},
    ),
    "its key, where the only message in hand is named by its effect's own line": (
        [fact("record", M), fact("effect", key="l", at=2), fact("effect", M, at=3)],
        {M: ["effect", "record"], "key:l": ["effect"]},
    ),
    "its key, where another message of the failed run was printed with its own: nothing shows that they take turns": (
        [fact("record", M, key="k"), fact("started", M), fact("started", N, at=2), fact("guard", key="l", at=3)],
        {M: ["record", "started"], N: ["started"], "key:l": ["guard"]},
    ),
    "one message after another, as they come to hand and their keys are told": (
        [
            fact("started", M),
            fact("effect", key="k", at=2),
            fact("mention", N, detail=TAKEN, at=3),
            fact("guard", key="l", at=4),
            fact("effect", key="k", at=5),
        ],
        {M: ["effect", "effect", "started"], N: ["guard", "mention"]},
    ),
    "its key, where two messages are in hand": (
        [fact("started", M), fact("started", N, at=2), fact("effect", key="k", at=3), fact("effect", key="l", at=4)],
        {M: ["started"], N: ["started"], "key:k": ["effect"], "key:l": ["effect"]},
    ),
}


@pytest.mark.parametrize(("facts", "expected"), ABOUT.values(), ids=ABOUT)
def test_a_fact_that_names_no_message_is_about(facts, expected):
    assert roles(*facts) == expected


STRAYS = {
    "an effect by an unknown key": (fact("effect", key="l"), (True, False)),
    "a start by an unknown key": (fact("started", key="l"), (True, False)),
    "a guard by an unknown key": (fact("guard", key="l"), (False, True)),
    "an idempotency line of one of two": (fact("idempotency", detail="in_progress"), (False, True)),
    "an effect by a known key": (fact("effect", key="k"), (False, False)),
    "a refused call of one of two": (fact("handle_error", detail="expired:DeleteMessage"), (False, False)),
}


@pytest.mark.parametrize(("stray", "expected"), STRAYS.values(), ids=STRAYS)
def test_a_mark_of_which_nobody_knows_the_message_makes_silence_say_nothing(stray, expected):
    deliveries = deliveries_of(run(fact("record", M, key="k"), fact("record", N, at=2), stray))

    assert {(d.has_stray_mark, d.has_stray_guard) for d in deliveries} == {expected}


FAILURES = {
    "of the batch": ([fact("record", M), fact("failure", M)], False, {M}),
    "outside a printed batch": ([fact("record", M, detail=WHOLE), fact("failure", STRANGER)], True, {M}),
    "and one outside a printed batch": (
        [fact("record", M, detail=WHOLE), fact("failure", M), fact("failure", STRANGER)],
        True,
        {M},
    ),
    "of a batch that was printed in part": ([fact("record", M), fact("failure", N)], False, {M, N}),
    "of another shape, of a batch that was printed in part": ([fact("record", M), fact("failure", "0")], True, {M}),
    "that is empty": ([fact("record", M), fact("failure", None)], True, {M}),
    "where the batch was not printed": ([fact("mention", M), fact("failure", N)], False, {M, N}),
    "where the batch was not printed, of another shape": ([fact("mention", M), fact("failure", "0")], True, {M}),
    "of another shape that a line names": ([fact("mention", "0"), fact("failure", "0")], False, {"0"}),
    "that is empty, where nothing was printed": ([fact("mention", M), fact("failure", None)], True, {M}),
    "with a line break after it": ([fact("mention", M), fact("failure", N + "\n")], True, {M}),
}


@pytest.mark.parametrize(("facts", "is_malformed", "items"), FAILURES.values(), ids=FAILURES)
def test_a_response_with_a_failed_item(facts, is_malformed, items):
    deliveries = deliveries_of(run(*facts))

    assert {d.item_id for d in deliveries} == items
    assert {(d.is_malformed_response, d.has_response) for d in deliveries} == {(is_malformed, not is_malformed)}


BATCH = [fact("record", m, key=key, position=n, detail=WHOLE) for n, m, key in ((0, M, "pay-1"), (1, N, "2"))]
BY_ID, BY_OTHER, BY_NOBODY = (fact(ERROR, detail=f"{word} timed out") for word in (M, N, "it"))
BOTH = {M, N}
ERRORS = {
    "names a message": ([BY_ID], {M}, BOTH),
    "names it in capitals": ([fact(ERROR, detail=f"{M.upper()} timed out")], {M}, BOTH),
    "names one as a message": (
        [fact("mention", M, evidence_id="e-1"), fact(ERROR, evidence_id="e-1", detail="timed out")],
        {M},
        BOTH,
    ),
    "names a key": ([fact(ERROR, detail="payment pay-1 timed out")], {M}, BOTH),
    "names another's key": ([fact(ERROR, detail="payment pay-10 timed out")], BOTH, BOTH),
    "may name a short key": ([fact(ERROR, detail="2 tries timed out")], BOTH, BOTH),
    "names nobody": ([BY_NOBODY], BOTH, BOTH),
    "names a message of another run": (
        [fact("mention", STRANGER), fact(ERROR, detail=f"{STRANGER} failed")],
        BOTH,
        BOTH,
    ),
    "and another, of the other message": ([BY_ID, fact(ERROR, at=2, detail=N)], BOTH, BOTH),
    "names a message behind which the run may have gone on": ([BY_ID, "response"], {M}, {M}),
    "names nobody, where the response names nobody": ([BY_NOBODY, "response"], BOTH, BOTH),
    "names nobody, where the response says who failed": ([BY_NOBODY, fact("failure", N), "response"], {N}, {N}),
    "names another than the response": ([BY_ID, fact("failure", N), "response"], {M}, {M}),
    "names the last of those that are taken one after the other": ([BY_OTHER, "sequential"], {N}, {N}),
    "names the first of them": ([BY_ID, "sequential"], {M}, BOTH),
    "names the last of those that are taken at once": ([BY_OTHER, "parallel"], {N}, BOTH),
}
"""What a run says behind its batch, whose error it may be, and for whom it makes doubtful that the work was done."""


@pytest.mark.parametrize(("says", "own", "doubtful"), ERRORS.values(), ids=ERRORS)
def test_an_error_is_of_the_message_that_it_names_else_of_any(says, own, doubtful):
    facts = [said for said in says if not isinstance(said, str)]
    order = next((said for said in says if said in ("sequential", "parallel")), None)
    success = {"end_status": "success", "has_response": "response" in says}
    deliveries = deliveries_of(run(*BATCH, *facts, order=order, **success))

    assert {d.item_id for d in deliveries} == BOTH
    assert {d.item_id for d in deliveries if d.has_unanswered_error} == own
    assert {d.item_id for d in deliveries if d.has_error} == doubtful
    assert {d.item_id for d in deliveries if "e-error-1" in d.fact_ids or "e-1" in d.fact_ids} <= own


REPEATS = {
    "names a message": ([fact(REPEAT, detail=f"already charged {M}")], {M}),
    "names a key": ([fact(REPEAT, detail="already charged pay-1")], {M}),
    "names a key that nothing tells of": ([fact(REPEAT, detail="already charged pay-10")], BOTH),
    "names nobody": ([fact(REPEAT, detail="already charged")], BOTH),
    "names nobody, and may be of any part of the work": ([fact(REPEAT, detail="duplicate mails, skipped")], set()),
    "names nothing at all": ([fact(REPEAT, detail="duplicate, skipped")], BOTH),
    "says that there was none": ([fact(REPEAT, detail="no duplicate, charging")], set()),
    "names one as a message": (
        [fact("mention", N, evidence_id="e-1"), fact(REPEAT, evidence_id="e-1", detail="already charged")],
        {N},
    ),
    "is one of several": ([fact(REPEAT, detail="already charged pay-1"), fact(REPEAT, at=2, detail=N)], BOTH),
    "stands beside an error": ([BY_OTHER, fact(REPEAT, detail=f"already charged {M}")], {M}),
    "is not there": ([], set()),
}


@pytest.mark.parametrize(("says", "skipped"), REPEATS.values(), ids=REPEATS)
def test_a_line_that_reads_as_if_a_repeat_was_stopped_is_of_the_message_that_it_names_else_of_any(says, skipped):
    deliveries = deliveries_of(run(*BATCH, *says, end_status="success"))

    assert {d.item_id for d in deliveries} == BOTH
    assert {d.item_id for d in deliveries if d.may_be_skipped} == skipped
    assert {d.item_id for d in deliveries if "e-repeat-1" in d.fact_ids or "e-1" in d.fact_ids} <= skipped


def test_a_line_that_reads_as_if_a_repeat_was_stopped_makes_no_delivery():
    assert deliveries_of(run(fact(REPEAT, detail=f"already charged {M}"), end_status="success")) == []


NAMING = {
    "its id": ([BY_ID], {M}),
    "another's id": ([BY_OTHER], {N}),
    "its key": ([fact(ERROR, detail="payment pay-1 timed out")], {M}),
    "a part of a longer key": ([fact(ERROR, detail="payment pay-10 timed out")], set()),
    "a short key": ([fact(ERROR, detail="2 tries timed out")], set()),
    "nobody": ([BY_NOBODY], set()),
    "both": ([BY_ID, fact(ERROR, at=2, detail=N)], BOTH),
}


@pytest.mark.parametrize("end_status", ["timeout", "error", "crash"])
@pytest.mark.parametrize(("says", "named"), NAMING.values(), ids=NAMING)
def test_an_error_of_a_run_that_failed_tells_of_whom_it_names_that_the_run_was_there(says, named, end_status):
    deliveries = deliveries_of(run(*BATCH, *says, end_status=end_status))

    assert {d.item_id for d in deliveries if d.is_named_in_error} == named
    assert [(d.has_error, d.fact_ids) for d in deliveries] == [(False, ["e-record-1"])] * 2


CAUGHT = {
    "stopped at its timeout, whatever was said last": ("timeout", 2_000_000, 2),
    "failed more than a moment behind the first": ("error", 1_000_002, 1),
    "failed within a moment": ("error", 1_000_001, 0),
    "crashed more than a moment behind both": ("crash", 1_000_003, 2),
    "ended well": ("success", 2_000_000, 0),
}


@pytest.mark.parametrize(("end_status", "last_line_at", "count"), CAUGHT.values(), ids=CAUGHT)
def test_an_error_was_caught_where_the_run_went_on_behind_it(end_status, last_line_at, count):
    errors = fact(ERROR, at=1, detail="502"), fact(ERROR, at=2, detail="502")
    invocation = run(*BATCH, *errors, end_status=end_status)
    invocation.last_line_at = last_line_at

    assert {d.caught_error_count for d in deliveries_of(invocation)} == {count}


@pytest.mark.parametrize("end_status", ["success", "unknown", "init_failed"])
def test_an_error_of_a_run_that_was_not_cut_off_tells_nothing_of_how_far_it_got(end_status):
    assert not any(d.is_named_in_error for d in deliveries_of(run(*BATCH, BY_ID, end_status=end_status)))


def test_a_stop_that_names_a_key_alone_is_of_the_message_in_hand_and_told_by_key():
    (delivery,) = deliveries_of(run(fact("started", M), fact("guard", key="k", at=2), end_status="success"))

    assert (delivery.message_id, delivery.guard_at, delivery.is_guard_by_key) == (M, 2, True)


def test_an_error_of_the_handler_itself_hides_no_work():
    (delivery, _) = deliveries_of(run(*BATCH, fact(ERROR, detail="KeyError: pay-1"), end_status="success"))

    assert (delivery.has_error, delivery.has_unanswered_error) == (True, False)


def test_an_error_makes_no_delivery():
    assert deliveries_of(run(fact(ERROR, detail=f"{M} failed"), end_status="success")) == []


def test_a_malformed_response_takes_its_strangers_out_and_leaves_what_it_says_of_messages():
    printed = fact("record", M, detail=WHOLE)
    (delivery,) = deliveries_of(run(printed, fact("failure", M), fact("failure", STRANGER)))

    assert delivery.is_named_failure


SAID = {
    "of printed values the highest, of places the lowest": (
        [fact("record", M, receive_count=2, position=3), fact("record", M, at=2, receive_count=1, position=1)],
        {"receive_count": 2, "batch_position": 1, "record_at": 1},
    ),
    "of a value one line does not print what the other prints": (
        [fact("record", M, sent_ms=5, receipt_handle=HANDLE), fact("record", M, at=2, group_id="g", queue_arn="arn")],
        {"sent_ms": 5, "receipt_handle": HANDLE, "group_id": "g", "record_queue_arn": "arn"},
    ),
    "a count that its own line gives": ([fact("started", M, receive_count=3)], {"receive_count": 3, "started_at": 1}),
    "the first of several marks": (
        [fact("effect", M, at=3), fact("effect", M, at=2), fact("guard", M, at=5), fact("guard", M, at=4)],
        {"marker_at": 2, "guard_at": 4, "key_marker_count": 0, "first_fact_at": 2, "last_fact_at": 5},
    ),
    "an effect by key, and its key": (
        [fact("record", M, key="k"), fact("effect", M, key="k", detail="by key")],
        {"key_marker_count": 1, "business_keys": ["k"]},
    ),
    "a stop by key, and its key": (
        [fact("record", M, key="k"), fact("guard", M, key="k", detail="by key")],
        {"is_guard_by_key": True, "key_marker_count": 0, "business_keys": ["k"]},
    ),
    "a stop that names its message": ([fact("guard", M, key="k")], {"is_guard_by_key": False}),
    "keys, sorted, each once": (
        [fact("record", M, key="l"), fact("effect", M, key="k"), fact("guard", M, key="l")],
        {"business_keys": ["k", "l"]},
    ),
    "a refused delete": (
        [fact("handle_error", M, at=4, detail="gone:DeleteMessageBatch"), fact("mention", M, at=2)],
        {"delete_at": 4, "delete_reason": "gone", "handle_reason": None},
    ),
    "a refused change of visibility, or of what nobody knows": (
        [fact("handle_error", M, detail="gone:ChangeMessageVisibility"), fact("handle_error", M, detail="other:")],
        {"delete_at": None, "delete_reason": None, "handle_reason": "other"},
    ),
    "a delete that a framework reports as failed": (
        [
            fact("worker_delete_failed", M, at=3, detail="job"),
            fact("handle_error", M, at=4, detail="gone:DeleteMessage"),
        ],
        {"delete_at": 3, "delete_reason": "other", "job_id": "job"},
    ),
    "a framework's run of a job": (
        [fact("worker_started", M, detail="job"), fact("worker_finished", M, at=7, detail="job")],
        {"started_at": 1, "worker_finished_at": 7, "worker_failed_at": None, "job_id": "job"},
    ),
    "a framework's job that failed": ([fact("worker_failed", M, at=7)], {"worker_failed_at": 7, "is_given_up": False}),
    "a framework that gave up": ([fact("worker_gave_up", M, at=7)], {"worker_failed_at": 7, "is_given_up": True}),
    "a framework that stopped a job": (
        [fact("worker_timed_out", M, at=7)],
        {"worker_failed_at": 7, "is_timed_out": True},
    ),
    "a framework that refused a job": ([fact("worker_refused", M, at=7)], {"guard_at": 7, "is_refused": True}),
    "a repeat that a library stopped": (
        [fact("idempotency", M, detail="already_done"), fact("idempotency", M, detail="in_progress")],
        {"idempotency": "in_progress", "guard_at": None},
    ),
    "lines, sorted, each once": (
        [fact("mention", M, evidence_id="b"), fact("effect", M, evidence_id="b"), fact("mention", M, evidence_id="a")],
        {"fact_ids": ["a", "b"]},
    ),
    "a key of which nobody knows the message": (
        [fact("effect", key="k", detail="by key")],
        {"message_id": None, "business_keys": ["k"], "key_marker_count": 1},
    ),
    "a key that one of those in hand may have": (
        [fact("effect", key="k", detail="one of a b"), fact("guard", key="k", detail="one of b c")],
        {"one_of": ["b"], "may_be_of_another": False},
    ),
    "an error whose words begin like that": (
        [fact("effect", key="k"), fact("error", key="k", detail="one of the shards failed")],
        {"one_of": [], "may_be_of_another": False},
    ),
    "a key told by two lines that are of no one message": (
        [fact("effect", key="k", detail="one of a"), fact("guard", key="k", detail="one of b")],
        {"one_of": [], "may_be_of_another": True},
    ),
}


@pytest.mark.parametrize(("facts", "expected"), SAID.values(), ids=SAID)
def test_a_delivery_says(facts, expected):
    delivery = gathered("item", facts)

    assert {name: getattr(delivery, name) for name in expected} == expected


ROLES = ["record", "mention", "started", "effect", "guard", "failure", "handle_error", "idempotency", "worker_gave_up"]
TEXTS = st.sampled_from(["a", "b", None])
FACTS = st.builds(
    Fact,
    st.sampled_from(ROLES),
    st.integers(0, 5),
    st.sampled_from(["e-1", "e-2", "e-3"]),
    st.sampled_from([M, N, None]),
    TEXTS,
    receive_count=st.sampled_from([1, 2, None]),
    position=st.sampled_from([1, 2, None]),
    receipt_handle=TEXTS,
    detail=st.sampled_from(["gone:DeleteMessage", "other:", None]),
)


@given(st.lists(FACTS, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_what_facts_say_does_not_depend_on_their_order(facts, chance: random.Random):
    mine = [f._replace(message_id=M) for f in facts]
    shuffled = list(mine)
    chance.shuffle(shuffled)

    assert gathered(M, shuffled) == gathered(M, mine)


@given(st.lists(FACTS, max_size=6))
def test_every_message_that_facts_name_is_delivered_once(facts):
    deliveries = deliveries_of(run(*facts))
    items = [d.item_id for d in deliveries]

    assert len(set(items)) == len(items)
    assert {d.message_id for d in deliveries} >= {f.message_id for f in facts if f.role != "failure"} - {None}
    assert {d.batch_count for d in deliveries} <= {len(items)}


SET = "worker_visibility_set"
SECOND = 1_000_000


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([fact(SET, M, at=SECOND, detail="30")], [(SECOND, 31 * SECOND)]),
        ([fact(SET, M, at=SECOND, detail="30"), fact("worker_visibility_refused", M, at=2 * SECOND)], []),
        (
            [fact(SET, M, at=SECOND, detail="30"), fact("handle_error", M, at=2, detail="gone:DeleteMessage")],
            [(SECOND, 31 * SECOND)],
        ),
        (
            [
                fact(SET, M, at=SECOND, detail="30"),
                fact("handle_error", M, at=2 * SECOND, detail="gone:ChangeMessageVisibility"),
            ],
            [],
        ),
    ],
    ids=["set", "refused", "another call refused", "refused by SQS"],
)
def test_until_when_a_worker_hid_its_message(facts, expected):
    delivery = gathered(M, facts, consumer="c")

    assert (delivery.visibility_set, delivery.job_id) == (expected, None)


def test_a_key_is_of_no_message_by_turn_where_another_run_was_on_in_the_same_environment():
    said = [fact("started", M), fact("effect", key="k", at=2)]

    assert [d.item_id for d in deliveries_of(run(*said, order="sequential"))] == [M]
    assert [d.item_id for d in deliveries_of(run(*said, order="sequential", is_beside_others=True))] == [M, "key:k"]


@pytest.mark.parametrize(
    ("run_said", "expected"),
    [
        ({"order": "sequential"}, [M]),
        ({"end_status": "timeout"}, [M]),
        ({"end_status": "success"}, [M]),
        ({}, [M, "key:k"]),
        ({"order": "parallel"}, [M, "key:k"]),
    ],
    ids=["declared in order", "a timeout", "a success", "nothing declared", "declared side by side"],
)
def test_a_key_is_of_the_only_message_in_hand_of_a_run_that_failed_only_where_work_is_in_order(run_said, expected):
    said = [fact("started", M), fact("effect", key="k", at=2)]

    assert [d.item_id for d in deliveries_of(run(*said, **run_said))] == expected


@pytest.mark.parametrize(
    ("order", "named", "expected"),
    [(None, N, {M: "k"}), (None, M, {}), ("sequential", M, {M: "k", N: "l"}), (None, None, {M: "k", N: "l"})],
    ids=["told before", "told first", "declared in order", "of a run that names none"],
)
def test_a_key_is_of_no_message_by_turn_that_its_run_names_as_failed(order, named, expected):
    first = [fact("started", M), fact("effect", key="k", at=2)]
    then = [fact("started", N, at=3), fact("effect", key="l", at=4)]
    failures = [fact("failure", named, at=5)] if named else []
    told = deliveries_of(run(*first, *then, *failures, end_status="success", order=order))

    assert {d.item_id: d.business_keys[0] for d in told if d.marker_at and d.message_id} == expected
    assert sorted(key for d in told for key in d.business_keys) == ["k", "l"]


BODY = '{"payment_id": "pay-1", "amount": 12}'
LONE = {
    "its record's, whose body names it": ([fact("record", M, body=BODY)], "pay-1", M),
    "its record's, whose body names it in a body within": (
        [fact("record", M, body=f'{{"Message": {BODY!r}, "note": "x"}}'.replace('"', '\\"'))],
        "pay-1",
        M,
    ),
    "nobody's, where the body holds it in a longer name": ([fact("record", M, body=BODY)], "pay", None),
    "nobody's, where the body holds it in a longer number": ([fact("record", M, body='{"order": 1234}')], "123", None),
    "its record's, where a longer name comes first": ([fact("record", M, body="pay-12 pay-1")], "pay-1", M),
    "nobody's, where the body does not hold it: a function may print the first record of many": (
        [fact("record", M, body=BODY)],
        "pay-2",
        None,
    ),
    "nobody's, where no body is printed": ([fact("record", M)], "pay-1", None),
    "its record's, where the whole batch is printed": ([fact("record", M, detail=WHOLE)], "pay-2", M),
    "its record's, where a line says that it was begun": (
        [fact("record", M, body=BODY), fact("started", M)],
        "pay-2",
        M,
    ),
    "its record's, where a line says that it is in hand": (
        [fact("record", M, body=BODY), fact("mention", M, detail=TAKEN)],
        "pay-2",
        M,
    ),
    "its record's, where its event has an id": ([fact("record", M, key="sns:1", detail=WHOLE)], "pay-1", M),
    "nobody's, where its record prints another key": ([fact("record", M, key="pay-2", body=BODY)], "pay-1", None),
}


@pytest.mark.parametrize(("in_hand", "key", "expected"), LONE.values(), ids=LONE)
def test_a_key_that_no_line_names_with_a_message_is(in_hand, key, expected):
    said = [*in_hand, fact("effect", key=key, at=5)]

    assert [d.item_id for d in deliveries_of(run(*said, end_status="success")) if d.marker_at is not None] == [
        expected or f"key:{key}"
    ]


def test_a_key_of_another_than_the_record_that_was_printed_makes_those_before_it_doubtful_too():
    said = [fact("record", M, body=BODY), fact("effect", key="pay-1", at=2)]
    more = [fact("record", N, body="{}", at=3), fact("effect", key="pay-3", at=4)]

    assert roles_of_success(*said) == {M: ["effect", "record"]}
    assert roles_of_success(*said, *more) == {
        M: ["record"],
        "key:pay-1": ["effect"],
        N: ["record"],
        "key:pay-3": ["effect"],
    }


def roles_of_success(*facts):
    return {d.item_id: [i.split("-")[1] for i in d.fact_ids] for d in deliveries_of(run(*facts, end_status="success"))}
