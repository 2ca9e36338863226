"""Collections on a schedule, as cron starts them: what each reads, and what several accounts make of it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from forensics.errors import CredentialsError, QueueUnknownError
from forensics.lake import Lake
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest.aws_errors import AwsRefusedError
from ingest.clients import Aws
from ingest.collect import collect
from tests.ingest.model_account import ACCOUNT, GROUP, QUEUE, REGION, ModelAccount

pytestmark = pytest.mark.slow

T = datetime(2026, 11, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)
LATE = (T + timedelta(minutes=7), "s", "late")


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def lines(lake: Lake) -> list[str]:
    return lake.read(BY_NAME["log_events"], ["line"])["line"].to_pylist()


def asked_hours(account: ModelAccount) -> list[tuple[float, float]]:
    return [((a - T) / HOUR, (b - T) / HOUR) for a, b in account.asked]


def run(lake: Lake, account: ModelAccount, now: datetime, since: timedelta) -> None:
    account.asked.clear()
    collect(lake, account, [QUEUE], TimeWindow(now - since, now), [GROUP], now=now)


def test_a_short_window_on_a_schedule_finds_what_comes_nearly_a_day_late(lake):
    """The window reaches an hour back; the block is read once more at 24 hours all the same."""
    account = ModelAccount([(T + timedelta(minutes=5), "s", "in time")])
    for hour in (1, 2, 24, 25):
        if hour == 24:
            account.events.append(LATE)
        run(lake, account, T + hour * HOUR, since=HOUR)

    assert sorted(lines(lake)) == ["in time", "late"]


def test_what_was_never_asked_for_is_not_read_with_it(lake):
    account = ModelAccount([(T, "s", "x")])
    run(lake, account, T + 30 * HOUR, since=HOUR)

    assert min(first for first, _ in asked_hours(account)) == 29


def test_a_round_a_minute_reads_the_last_minutes_and_what_is_due(lake):
    account = ModelAccount([(T + timedelta(minutes=5), "s", "x")])
    run(lake, account, T + 6 * HOUR, since=6 * HOUR)
    minutes = []
    for minute in range(1, 17):
        run(lake, account, T + 6 * HOUR + timedelta(minutes=minute), since=6 * HOUR)
        minutes.append(sum((min(b, T + 9 * HOUR) - a) / timedelta(minutes=1) for a, b in account.asked if b > a))

    # Each call also looks two hours ahead, for events stamped too early.
    assert max(minutes) <= 120 + 12 + 15 * 3
    assert sorted(minutes)[8] <= 120 + 15


def test_a_daily_run_reads_the_day_before_once_more(lake):
    account = ModelAccount([(T + timedelta(minutes=5), "s", "in time")])
    run(lake, account, T + 24 * HOUR, since=24 * HOUR)
    account.events.append(LATE)
    run(lake, account, T + 48 * HOUR, since=24 * HOUR)

    assert sorted(lines(lake)) == ["in time", "late"]


# -- several accounts and regions --------------------------------------------------------------------------


class OtherRegion(ModelAccount):
    """Has no such queue."""

    def get_queue_url(self, QueueName: str, **_):  # noqa: N803
        return super().get_queue_url("not " + QueueName)


class Unreachable(ModelAccount):
    """Refuses every call."""

    def call(self, service, operation, demand=None, **asked):
        raise CredentialsError("the session has expired", "Sign in again.")

    @property
    def label(self) -> str:
        return "profile 'old', region us-east-1"


def collect_from(lake: Lake, accesses: list[Aws], queues: list[str] | None = None):
    window = TimeWindow(T, T + HOUR)
    return collect(lake, accesses, queues, window, [f"{GROUP}={QUEUE}"], now=T + 48 * HOUR)


def test_a_queue_is_found_in_whichever_account_it_is(lake):
    report = collect_from(lake, [OtherRegion([]), ModelAccount([LATE])], [QUEUE])

    assert (report.exit_code, report.queues, lines(lake)) == (0, (QUEUE,), ["late"])


def test_a_queue_that_is_nowhere_is_named(lake):
    with pytest.raises(QueueUnknownError, match=QUEUE):
        collect_from(lake, [OtherRegion([]), OtherRegion([])], [QUEUE])


@pytest.mark.parametrize("queues", [[QUEUE], None], ids=["by name", "all queues"])
def test_an_account_that_cannot_be_reached_is_a_gap_and_hides_no_other(lake, queues):
    report = collect_from(lake, [Unreachable([]), ModelAccount([LATE])], queues)

    assert (report.exit_code, lines(lake)) == (3, ["late"])
    assert report.gaps == (
        "settings of queue \"profile 'old', region us-east-1\": reading failed (the session has expired)",
    )


def test_accounts_of_which_none_can_be_reached_are_an_error(lake):
    with pytest.raises(CredentialsError, match="expired"):
        collect_from(lake, [Unreachable([]), Unreachable([])], [QUEUE])
    assert not lake.root.exists()


class Refusing(ModelAccount):
    """May not look any queue up; ``status`` and ``code`` are those of every refusal."""

    def __init__(self, code: str = "AccessDenied", status: str = "denied") -> None:
        super().__init__([])
        self.code, self.status = code, status

    def get_queue_url(self, **_):
        raise AwsRefusedError("GetQueueUrl", self.code, "not today", self.status)

    def list_queues(self, **_):
        raise AwsRefusedError("ListQueues", self.code, "not today", self.status)


class TwoQueues(ModelAccount):
    """Holds the queue, and another one until it is deleted or its look-up is denied (``status``)."""

    status: str | None = None

    def get_queue_url(self, QueueName: str, **asked):  # noqa: N803
        if QueueName != "invoices":
            return super().get_queue_url(QueueName, **asked)
        if self.status:
            code = {"gone": "NonExistentQueue", "denied": "AccessDenied"}[self.status]
            raise AwsRefusedError("GetQueueUrl", code, "not today", self.status)
        return {"QueueUrl": super().get_queue_url(QUEUE)["QueueUrl"].replace(QUEUE, "invoices")}

    def get_queue_attributes(self, QueueUrl: str, **asked):  # noqa: N803
        if QueueUrl.endswith("/invoices") and self.status == "gone":
            raise AwsRefusedError("GetQueueAttributes", "NonExistentQueue", "not here", "gone")
        return super().get_queue_attributes(**asked)


@pytest.mark.parametrize("queues", [[QUEUE], None], ids=["by name", "all queues"])
@pytest.mark.parametrize(
    ("refusal", "word"),
    [(("AccessDenied", "denied"), "AWS denied reading"), (("ServiceUnavailable", "failed"), "reading failed")],
    ids=["denied", "failing"],
)
@pytest.mark.parametrize("is_first", [True, False], ids=["before", "after"])
def test_an_account_in_which_queues_cannot_be_looked_up_is_a_gap_and_hides_no_other(
    lake, queues, refusal, word, is_first
):
    accounts = [Refusing(*refusal), ModelAccount([LATE])]
    report = collect_from(lake, accounts if is_first else accounts[::-1], queues)

    assert (report.exit_code, lines(lake)) == (3, ["late"])
    assert [word in gap for gap in report.gaps] == [True]


def test_a_queue_named_by_its_arn_is_read_with_the_account_that_finds_it(lake):
    wrong, right = Refusing(), ModelAccount([LATE])
    report = collect_from(lake, [wrong, right], [f"arn:aws:sqs:{REGION}:{ACCOUNT}:{QUEUE}"])

    assert (report.exit_code, lines(lake), wrong.asked) == (0, ["late"], [])


@pytest.mark.parametrize("status", ["gone", "denied"])
def test_a_queue_that_is_no_longer_found_is_a_gap_and_its_workers_are_read_all_the_same(lake, status):
    account = TwoQueues([LATE])
    window, groups = TimeWindow(T, T + HOUR), [f"{GROUP}=invoices"]
    collect(lake, account, [QUEUE, "invoices"], window, now=T + 48 * HOUR)
    account.status = status
    report = collect(lake, account, [QUEUE, "invoices"], window, groups, now=T + 49 * HOUR)

    assert (report.exit_code, lines(lake)) == (3, ["late"])
    assert ["invoices" in gap for gap in report.gaps] == [True]


def test_a_name_that_the_lake_never_saw_is_an_error_and_nothing_is_written(lake):
    with pytest.raises(QueueUnknownError, match="invoice"):
        collect(lake, ModelAccount([LATE]), [QUEUE, "invoice"], TimeWindow(T, T + HOUR), now=T + 48 * HOUR)
    assert not lake.root.exists()


def test_setting_changes_that_may_not_be_read_name_their_region(lake):
    class WithoutTrail(ModelAccount):
        def lookup_events(self, **_):
            raise AwsRefusedError("LookupEvents", "AccessDeniedException", "not today", "denied")

    assert collect_from(lake, [WithoutTrail([LATE])]).gaps == (
        f"setting changes in 'CloudTrail' of {REGION}: AWS denied reading "
        "(LookupEvents: AccessDeniedException: not today)",
    )
