"""Regions and partitions beside botocore itself: the same ARNs and the same hosts, in every cloud of AWS."""

import boto3
import pytest
from botocore.config import Config

from forensics.regions import dns_suffix, is_aws_host, partition_id, partition_of, partitions, region_of_host
from forensics.settings import Settings, SettingsError
from ingest import queues, setting_changes
from ingest.clients import Aws

SESSION = boto3.Session()
REGIONS = [
    (partition, region)
    for partition in SESSION.get_available_partitions()
    for region in SESSION.get_available_regions("sqs", partition)
]
SOVEREIGN = ("aws-eusc", "eusc-de-east-1")
SECRET = ("aws-iso-b", "us-isob-east-1")


def test_there_are_the_partitions_that_were_refused():
    assert {SOVEREIGN, SECRET, ("aws-cn", "cn-north-1"), ("aws-us-gov", "us-gov-west-1")} <= set(REGIONS)
    assert len(REGIONS) > 30


@pytest.mark.parametrize(("partition", "region"), REGIONS, ids=[region for _, region in REGIONS])
def test_a_queue_is_the_same_by_its_address_and_by_its_arn(partition, region):
    sqs = SESSION.client(
        "sqs",
        region_name=region,
        aws_access_key_id="-",
        aws_secret_access_key="-",
        config=Config(use_fips_endpoint=False),
    )
    url = f"{sqs.meta.endpoint_url}/123456789012/orders.fifo"
    arn = f"arn:{partition}:sqs:{region}:123456789012:orders.fifo"
    by_arn = queues.named(arn)

    assert (by_arn.url, by_arn.region) == (url, region)
    assert queues._asked(url) == queues._asked(arn) == (region, "123456789012", "orders.fifo")
    assert queues._ref(Aws(region=region), url).arn == arn


@pytest.mark.parametrize(("partition", "region"), REGIONS, ids=[region for _, region in REGIONS])
def test_every_region_may_be_named_in_the_settings_and_is_called_at_the_pace_of_aws(partition, region):
    (account,) = Settings.parse(f'[[account]]\nregions = ["{region}"]').accounts
    logs = Aws(region=region).client("logs").meta.endpoint_url

    assert account.regions == (region,)
    assert is_aws_host(logs.removeprefix("https://"))
    assert partition_id(region) == partition


def test_a_recorded_change_in_the_sovereign_cloud_is_of_the_queue_there():
    url = "https://sqs.eusc-de-east-1.amazonaws.eu/123456789012/orders"
    about = setting_changes._about({"queueUrl": url}, {}, "123456789012", "eusc-de-east-1")

    assert about["queue_arn"] == "arn:aws-eusc:sqs:eusc-de-east-1:123456789012:orders"


HOSTS = {
    "dual-stack": ("sqs.eu-west-1.api.aws", "eu-west-1"),
    "dual-stack, sovereign": ("sqs.eusc-de-east-1.api.amazonwebservices.eu", "eusc-de-east-1"),
    "dual-stack, China": ("sqs.cn-north-1.api.amazonwebservices.com.cn", "cn-north-1"),
    "FIPS": ("sqs-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
    "old": ("eu-west-1.queue.amazonaws.com", "eu-west-1"),
    "old, China": ("cn-north-1.queue.amazonaws.com.cn", "cn-north-1"),
    "oldest": ("queue.amazonaws.com", "us-east-1"),
    "inside a VPC": ("vpce-0a1b-2c3d.sqs.eu-central-1.vpce.amazonaws.com", "eu-central-1"),
    "a region that is newer than this botocore": ("sqs.eu-north-9.amazonaws.com", "eu-north-9"),
}


@pytest.mark.parametrize(("host", "region"), HOSTS.values(), ids=HOSTS)
def test_a_host_names_its_region(host, region):
    assert region_of_host(host) == region
    assert is_aws_host(host)


OTHERS = [
    "localhost",
    "127.0.0.1",
    "amazonaws.com",
    "sqs.eu-west-1.amazonaws.com.example.org",
    "sqs.eu-west-1.localhost",
]


@pytest.mark.parametrize("host", OTHERS)
def test_a_host_that_is_not_of_aws_names_none(host):
    assert region_of_host(host) is None
    assert not is_aws_host(host)


@pytest.mark.parametrize("text", ["narnia", "eu-west", "EU-WEST-1", "aws-global", "eu-west-1 ", "europe-west1", ""])
def test_what_is_no_region_is_refused_in_the_settings(text):
    with pytest.raises(SettingsError, match="is not a region") as refused:
        Settings.parse(f'[[account]]\nregions = ["{text}"]')

    assert repr(text) in str(refused.value)
    assert partition_of(text) is None


def test_an_emulators_own_region_is_of_the_commercial_partition():
    assert (partition_id("elsewhere"), dns_suffix("elsewhere")) == ("aws", "amazonaws.com")


def test_no_host_ends_like_those_of_two_partitions_that_share_no_name():
    ends = [(suffix, p.id) for p in partitions() for suffix in p.suffixes]
    shared = {suffix for suffix, _ in ends if len([1 for other, _ in ends if other == suffix]) > 1}

    assert shared == {"amazonaws.com", "api.aws"}, "GovCloud's; a region's name tells them apart"
