"""A queue that an import knew by its name alone gets its ARN once one queue of that name is known, and never one of two."""

import pytest

from forensics.queue_names import arns_of_names, consumers_with_arns, with_arns

HERE = "arn:aws:sqs:eu-west-1:111122223333:payments"
THERE = "arn:aws:sqs:us-east-1:111122223333:payments"


def consumer(queue_arn, log_group="app", **more):
    name = queue_arn.rpartition(":")[2]
    return {"queue_arn": queue_arn, "queue_name": name, "log_group": log_group, "function_name": None, **more}


def queue(arn):
    return {"queue_arn": arn, "queue_name": arn.rpartition(":")[2]}


BARE = consumer("payments", found_by="option")
CASES = {
    "nothing tells the ARN": ([BARE], [], ["payments"]),
    "settings tell it": ([BARE], [queue(HERE)], [HERE]),
    "several readings of its settings tell it": ([BARE], [queue(HERE), queue(HERE)], [HERE]),
    "another consumer's mapping tells it": ([BARE, consumer(HERE, "other")], [], [HERE, HERE]),
    "two queues have the name": ([BARE], [queue(HERE), queue(THERE)], ["payments"]),
    "settings and a mapping tell two": ([BARE, consumer(THERE, "other")], [queue(HERE)], ["payments", THERE]),
    "queues of other names are known": ([BARE], [queue(HERE + "-dlq")], ["payments"]),
    "the same was said with the ARN later": ([BARE, consumer(HERE)], [queue(HERE)], [HERE]),
    "another group was said with it": ([BARE, consumer(HERE, "other")], [queue(HERE)], [HERE, HERE]),
}


@pytest.mark.parametrize(("consumers", "queues", "expected"), CASES.values(), ids=CASES)
def test_a_consumer_of_a_queue_named_alone_is_its_consumer_where_one_queue_has_that_name(consumers, queues, expected):
    found = consumers_with_arns(consumers, arns_of_names(consumers, queues))

    assert [row["queue_arn"] for row in found] == expected


def test_readings_of_it_are_all_kept_and_rows_of_no_queue_stay_so():
    readings = [{"queue_arn": arn} for arn in ("payments", HERE, "orders", None)]

    assert [row["queue_arn"] for row in with_arns(readings, {"payments": HERE})] == [HERE, HERE, "orders", None]
