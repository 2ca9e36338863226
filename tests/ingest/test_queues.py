"""Where a queue is, by what people paste: its name, its ARN, and the addresses that SQS has had."""

import pytest

from ingest import queues
from tests.ingest.stand_ins import AsModelled


class AnyRegion(AsModelled):
    """Answers as an account in which every queue is found."""

    partition = "aws"

    def __init__(self, region: str = "eu-west-1") -> None:
        self.region = region

    def in_region(self, region: str) -> "AnyRegion":
        return AnyRegion(region)

    def call(self, service: str, operation: str, result: str, QueueName: str, **owner: str) -> dict[str, str]:
        return {"QueueUrl": f"https://queues.example/{owner.get('QueueOwnerAWSAccountId', '123456789012')}/{QueueName}"}


REGIONS = {
    "orders": "eu-west-1",
    "arn:aws:sqs:us-west-2:123456789012:orders": "us-west-2",
    "https://sqs.us-west-2.amazonaws.com/123456789012/orders": "us-west-2",
    "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/orders": "cn-north-1",
    "https://us-west-2.queue.amazonaws.com/123456789012/orders": "us-west-2",
    "https://queue.amazonaws.com/123456789012/orders": "us-east-1",
    "https://sqs-fips.us-gov-west-1.amazonaws.com/123456789012/orders": "us-gov-west-1",
    "https://sqs.us-west-2.api.aws/123456789012/orders": "us-west-2",
    "http://127.0.0.1:4566/123456789012/orders": "eu-west-1",
}


@pytest.mark.parametrize(("text", "region"), REGIONS.items(), ids=REGIONS)
def test_a_queue_is_looked_for_in_the_region_that_its_address_names(text, region):
    found = queues.find(AnyRegion(), text)

    assert (found.name, found.account_id, found.region) == ("orders", "123456789012", region)


@pytest.mark.parametrize(("region", "domain"), [("eu-west-1", "amazonaws.com"), ("cn-north-1", "amazonaws.com.cn")])
def test_an_arn_gives_the_address_of_its_part_of_the_world(region, domain):
    queue = queues.named(f"arn:aws:sqs:{region}:123456789012:orders")

    assert queue is not None
    assert queue.url == f"https://sqs.{region}.{domain}/123456789012/orders"
