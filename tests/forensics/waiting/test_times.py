"""How long messages wait, to the second, with intervals that hold."""

import random
from dataclasses import replace
from datetime import timedelta
from math import inf

import pytest

from forensics.errors import QueueUnknownError
from forensics.estimates import percentile, percentile_interval, share_interval, share_upper
from forensics.lake import Findings
from forensics.settings import Queue, Settings, Team
from forensics.tables.evidence import COVERAGE, METRIC_POINTS
from forensics.tables.findings import DELIVERIES
from forensics.waiting import drain_of, waiting_days
from forensics.waiting.times import Percentiles
from tests.forensics.report import world

NO_SETTINGS = Settings()


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return world.save(tmp_path_factory.mktemp("waiting") / "lake")


def test_a_message_waits_from_its_send_to_its_first_receive_and_to_the_first_time_it_was_done(lake):
    (day,) = waiting_days(lake.findings(), NO_SETTINGS)

    assert (day.queue, str(day.day), day.sent, day.undone) == (world.QUEUE, "2026-11-20", 3, 0)
    assert (day.received.p50_s, day.received.p99_s) == (0.9, 1.0)
    assert (day.done.p50_s, day.done.p99_s) == (603.1, 603.2) or day.done.p50_s == pytest.approx(603.2, abs=0.5)


def test_days_are_those_of_the_team_s_zone(lake):
    (day,) = waiting_days(lake.findings(), Settings(team=Team("Pacific/Honolulu")))

    assert str(day.day) == "2026-11-19"


def test_a_promise_of_the_settings_or_of_the_question_gives_the_share_over_it(lake):
    kept = Settings(queues=(Queue(world.QUEUE, promise_s=3600),))
    (strict,), (loose,) = (waiting_days(lake.findings(), s, promise_s=60) for s in (NO_SETTINGS, kept))

    assert (strict.over, strict.promised) == (2, 3)
    assert strict.over_words == "66.7 % (9.4 % to 99.2 %)"
    assert (loose.over, loose.promised, loose.promise_s) == (0, 3, 3600)


@pytest.mark.lake
def test_what_was_never_done_is_over_the_promise_once_the_evidence_reaches_further(tmp_path):
    found = world.findings()
    found[DELIVERIES.name] = [world.deliveries()[2]]
    lake = world.save(tmp_path / "lake", found)
    (day,) = waiting_days(lake.findings(), NO_SETTINGS, promise_s=3600)
    (later,) = waiting_days(lake.findings(), NO_SETTINGS, promise_s=8000)

    assert (day.undone, day.over, day.promised) == (1, 1, 1)
    assert (later.over, later.promised) == (0, 0)


def test_a_queue_that_no_line_shows_is_named(lake):
    with pytest.raises(QueueUnknownError, match="'mails'"):
        waiting_days(lake.findings(), NO_SETTINGS, "mails")


def test_an_end_that_few_values_cannot_tell_is_said_to_be_unknown():
    assert Percentiles.of([1.0, 2.0]).words == "1 s, p95 2 s (1 s to ?)"


def points(values, metric="NumberOfMessagesSent", statistic="Sum", period_s=60):
    return [
        {
            "evidence_id": f"metric:{metric}:{n}",
            "namespace": "AWS/SQS",
            "metric": metric,
            "resource": world.QUEUE,
            "statistic": statistic,
            "period_s": period_s,
            "point_at": world.START + timedelta(minutes=n),
            "value": float(value),
            "collected_at": world.after(7200),
        }
        for n, value in enumerate(values)
    ]


DRAINS = {
    "more goes than comes": (5, 15, 1000, 0, "drains in"),
    "as much comes as goes": (10, 10, 1000, 0, "or not at all"),
    "more comes than goes": (
        15,
        5,
        1000,
        2,
        "1,000 messages waited and 2 more in flight or delayed, in the hour before",
    ),
    "nothing waits": (15, 5, 0, 0, "at 2026-11-20 06:12 UTC nothing waited."),
    "one message is handled, or waits hidden to be received again": (
        *(15, 5, 0, 1),
        "nothing waited to be received, with 1 message in flight or delayed.",
    ),
    "what is in flight was not read": (
        *(15, 5, 0, None),
        "nothing waited to be received; how many messages were in flight was not read.",
    ),
}


def metrics_of(sent, deleted, backlog, hidden):
    levels = points([backlog] * 61, "ApproximateNumberOfMessagesVisible", "Maximum")
    if hidden is not None:
        levels += points([hidden] * 61, "ApproximateNumberOfMessagesNotVisible", "Maximum")
    return levels + points([sent] * 61) + points([deleted] * 61, "NumberOfMessagesDeleted")


def drain_where_evidence_ends(lake, end_s):
    findings = lake.findings()
    return drain_of(Findings(lake, replace(findings.generation, data_until_at=world.after(end_s))), world.QUEUE)


@pytest.mark.lake
@pytest.mark.parametrize(("sent", "deleted", "backlog", "hidden", "sentence"), DRAINS.values(), ids=DRAINS)
def test_a_backlog_drains_at_what_goes_less_what_comes(tmp_path, sent, deleted, backlog, hidden, sentence):
    from tests.forensics.redrive.test_plan import again

    lake = world.save(tmp_path / "lake")
    lake.append(METRIC_POINTS, metrics_of(sent, deleted, backlog, hidden), "t|m")
    again(lake)
    drain = drain_where_evidence_ends(lake, 3660)

    assert sentence in drain.sentence
    if sentence == "drains in":
        assert drain.soonest_s < 3600 * backlog / (61 * (deleted - sent)) < drain.latest_s


@pytest.mark.lake
def test_a_backlog_that_was_seen_long_before_the_evidence_ends_is_told_as_past_and_drains_in_no_time(tmp_path):
    from tests.forensics.redrive.test_plan import again

    lake = world.save(tmp_path / "lake")
    lake.append(METRIC_POINTS, metrics_of(5, 15, 37, 10), "t|m")
    again(lake)
    unread, fresh, old = (drain_where_evidence_ends(lake, end_s) for end_s in (66_600, 3600 + 960, 3600 + 961))
    lake.append(COVERAGE, [world.common_coverage(9, METRIC_POINTS.name, world.QUEUE, 0, 66_600)], "t|c")
    again(lake)
    at_rest = drain_where_evidence_ends(lake, 66_600)
    then = f"{world.QUEUE}: at 2026-11-20 06:12 UTC 37 messages waited and 10 more in flight or delayed"

    assert at_rest.sentence == (
        f"{then}. No point follows until the evidence ends 17 h 30 min later: a queue at rest publishes none."
    )
    assert unread.sentence == f"{then}. How it went on until the evidence ends, 17 h 30 min later, was not read."
    assert at_rest.soonest_s is None
    assert "it drains in" in fresh.sentence
    assert "drain" not in old.sentence


def test_a_queue_without_metrics_tells_no_time_to_drain(lake):
    assert drain_of(lake.findings(), world.QUEUE) is None


def test_the_interval_of_a_share_holds_the_truth_at_least_as_often_as_it_says():
    chance, truth, tries = random.Random(7), 0.03, 400
    held = 0
    for _ in range(tries):
        low, high = share_interval(sum(chance.random() < truth for _ in range(200)), 200)
        held += low <= truth <= high

    assert held >= 0.95 * tries


def test_the_interval_of_a_percentile_holds_the_truth_about_as_often_as_it_says():
    chance, tries = random.Random(11), 400
    held = 0
    for _ in range(tries):
        low, high = percentile_interval([chance.expovariate(1) for _ in range(300)], 0.95)
        held += low <= 2.995732 <= high

    assert held >= 0.93 * tries


@pytest.mark.parametrize(("hits", "of"), [(0, 1), (1, 1), (5, 6), (3, 3000), (0, 100_000)])
def test_a_share_lies_inside_its_interval_and_its_bounds_are_those_of_the_binomial(hits, of):
    low, high = share_interval(hits, of)

    assert 0 <= low <= hits / of <= high <= 1
    assert hits == of or share_upper(hits, of) < high


def test_nothing_counted_tells_nothing():
    assert share_interval(0, 0) == (0.0, 1.0)
    assert percentile_interval([1.0], 0.5) == (-inf, inf)
    with pytest.raises(ValueError, match="no percentile"):
        percentile([], 0.5)
