"""Regions and partitions of AWS, as botocore's own data tells them: whose ARNs, whose hosts, and what is no region."""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

COMMERCIAL = "aws"
_OLDEST_QUEUE_HOST, _OLDEST_REGION = "queue.amazonaws.com", "us-east-1"
"""The first address of SQS, which names no region."""


@dataclass(frozen=True)
class Partition:
    """One of AWS's separate clouds; ``suffixes`` are the ends of its hosts' names, dual-stack ones last."""

    id: str
    suffixes: tuple[str, ...]
    pattern: re.Pattern[str]

    def has(self, region: str) -> bool:
        """Tell whether a region is one of this partition, by its name, which a new one need not be listed for."""
        return bool(self.pattern.fullmatch(region))


@cache
def partitions() -> tuple[Partition, ...]:
    """Return every partition that the installed botocore knows; only its data is read, and no client can come of that."""
    known = json.loads(files("botocore").joinpath("data", "partitions.json").read_bytes())
    return tuple(
        Partition(
            p["id"],
            (p["outputs"]["dnsSuffix"], p["outputs"]["dualStackDnsSuffix"]),
            re.compile(p["regionRegex"]),
        )
        for p in known["partitions"]
    )


def partition_of(region: str) -> Partition | None:
    """Return a region's partition; None for what is no region.

    >>> partition_of("eusc-de-east-1").id, partition_of("us-isob-east-1").id, partition_of("narnia")
    ('aws-eusc', 'aws-iso-b', None)
    """
    return next((p for p in partitions() if p.has(region)), None)


def partition_id(region: str) -> str:
    """Return what an ARN of the region begins with after ``arn:``; ``aws`` for an emulator's own regions."""
    found = partition_of(region)
    return found.id if found else COMMERCIAL


def dns_suffix(region: str) -> str:
    """Return the end of the region's hosts.

    >>> dns_suffix("cn-north-1"), dns_suffix("eusc-de-east-1")
    ('amazonaws.com.cn', 'amazonaws.eu')
    """
    wanted = partition_id(region)
    return next(p.suffixes[0] for p in partitions() if p.id == wanted)


def is_aws_host(host: str) -> bool:
    """Tell whether a host is AWS's own, in whatever partition, and no emulator."""
    return any(host.endswith(f".{suffix}") for p in partitions() for suffix in p.suffixes)


def region_of_host(host: str) -> str | None:
    """Return the region in the name of a host of AWS, such as a queue's; None where it names none.

    >>> region_of_host("sqs.eusc-de-east-1.amazonaws.eu"), region_of_host("localhost")
    ('eusc-de-east-1', None)
    """
    if host == _OLDEST_QUEUE_HOST:
        return _OLDEST_REGION
    for partition in partitions():
        for suffix in partition.suffixes:
            if host.endswith(f".{suffix}"):
                named = [part for part in host.removesuffix(f".{suffix}").split(".") if partition.has(part)]
                if len(named) == 1:
                    return named[0]
    return None
