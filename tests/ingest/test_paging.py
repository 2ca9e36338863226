"""Page after page, until there is no more: also where a server has no last page, or leads back to an earlier one."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from ingest import paging
from ingest.aws_errors import AwsRefusedError
from ingest.paging import pages
from tests.ingest.stand_ins import AsModelled


class Told(AsModelled):
    """Answers with the given pages, and takes ``seconds`` for each."""

    def __init__(self, replies: Iterator[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, seconds: float = 0) -> None:
        self.asked: list[dict[str, Any]] = []
        clock = [0.0]
        monkeypatch.setattr(paging.time, "monotonic", lambda: clock[0])
        self._replies, self._clock, self._seconds = replies, clock, seconds

    def call(self, service: str, operation: str, demand: str | None, **asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        self._clock[0] += self._seconds
        return next(self._replies)


def read(aws: Told) -> list[Any]:
    found = []
    for page in pages(aws, "logs", "filter_log_events", "events", {"limit": 2}):  # type: ignore[arg-type]
        found += page["events"]
    return found


def test_each_page_is_asked_for_with_the_pointer_of_the_one_before(monkeypatch):
    aws = Told(
        iter([{"events": [1], "NextToken": "a"}, {"events": [], "NextToken": "b"}, {"events": [2]}]), monkeypatch
    )

    assert read(aws) == [1, 2]
    assert aws.asked == [{"limit": 2}, {"limit": 2, "NextToken": "a"}, {"limit": 2, "NextToken": "b"}]


@pytest.mark.parametrize("length", [1, 2, 3, 50])
def test_pointers_that_lead_in_a_circle_are_followed_once(monkeypatch, length):
    aws = Told(({"events": [n], "NextToken": str(n % length)} for n in itertools.count()), monkeypatch)

    with pytest.raises(AwsRefusedError, match="the same page came twice"):
        read(aws)
    assert len(aws.asked) == length + 1


def test_empty_pages_without_end_are_given_up_after_a_quarter_of_an_hour(monkeypatch):
    aws = Told(({"events": [], "NextToken": str(n)} for n in itertools.count()), monkeypatch, seconds=10)

    with pytest.raises(AwsRefusedError, match="no last page came"):
        read(aws)
    assert len(aws.asked) == paging.SILENT_S / 10 + 1


def test_many_empty_pages_are_waited_for_as_long_as_events_come_in_between(monkeypatch):
    replies = [{"events": [n] if n % 80 == 0 else [], "NextToken": str(n)} for n in range(500)]
    aws = Told(iter([*replies, {"events": ["last"]}]), monkeypatch, seconds=10)

    assert read(aws)[-1] == "last"


def test_full_pages_without_end_are_given_up_after_hours(monkeypatch):
    aws = Told(({"events": [n], "NextToken": str(n)} for n in itertools.count()), monkeypatch, seconds=60)

    with pytest.raises(AwsRefusedError, match="no last page came"):
        read(aws)
    assert len(aws.asked) == paging.WHOLE_S / 60 + 1
