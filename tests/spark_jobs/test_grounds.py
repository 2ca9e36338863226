"""From which moment on judged works may rest on something else than in the round before."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import pytest

from spark_jobs.grounds import Grounds, Horizon
from spark_jobs.in_force import EARLIEST

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def us(minutes: float) -> int:
    return (NOON + timedelta(minutes=minutes) - EARLIEST) // timedelta(microseconds=1)


def minute(number: float) -> datetime:
    return NOON + timedelta(minutes=number)


def quarter(number: int) -> str:
    return str(us(number * 15) // 900_000_000)


F, Q = "/aws/lambda/f", "q"
EARLIER = Grounds(
    {Q: "its consumers"},
    {F: [us(0), us(60)]},
    {"watched": {Q: [[us(0), us(20)], [us(30), us(60)]]}, "metrics": {}},
    {quarter(0): "one", quarter(2): "two"},
)
WATCHED = EARLIER.spans["watched"][Q]

CASES = {
    "nothing": ({}, Horizon()),
    "a log group more": ({"borders": {**EARLIER.borders, "/aws/lambda/g": [us(-600), us(60)]}}, Horizon()),
    "read on": ({"borders": {F: [us(0), us(90)]}}, Horizon(None, {F: minute(60)})),
    "read from earlier on": ({"borders": {F: [us(-1), us(60)]}}, Horizon(None, {F: EARLIEST})),
    "read from later on": ({"borders": {F: [us(1), us(60)]}}, Horizon(None, {F: EARLIEST})),
    "read not as far": ({"borders": {F: [us(0), us(59)]}}, Horizon(None, {F: EARLIEST})),
    "a log group is gone": ({"borders": {}}, Horizon(None, {F: EARLIEST})),
    "a span goes on": ({"spans": {"watched": {Q: [WATCHED[0], [us(30), us(90)]]}}}, Horizon(None, {Q: minute(60)})),
    "a gap filled in late": ({"spans": {"watched": {Q: [[us(0), us(60)]]}}}, Horizon(None, {Q: minute(20)})),
    "damage": ({"spans": {"watched": {Q: [[us(0), us(10)], WATCHED[1]]}}}, Horizon(None, {Q: minute(10)})),
    "a span before all": ({"spans": {"watched": {Q: [[us(-9), us(-5)], *WATCHED]}}}, Horizon(None, {Q: minute(-9)})),
    "a span behind all": ({"spans": {"watched": {Q: [*WATCHED, [us(70), us(80)]]}}}, Horizon(None, {Q: minute(70)})),
    "two kinds": (
        {"borders": {F: [us(0), us(61)]}, "spans": {**EARLIER.spans, "workers": {F: [[us(5), us(6)]], "r": [[0, 9]]}}},
        Horizon(None, {F: minute(5), "r": EARLIEST}),
    ),
    "a metric point more": ({"marks": {**EARLIER.marks, quarter(3): "three"}}, Horizon(minute(45))),
    "a metric point revised": ({"marks": {**EARLIER.marks, quarter(2): "other"}}, Horizon(minute(30))),
    "a consumer more": ({"fixed": {Q: "other"}}, Horizon(None, {Q: EARLIEST})),
    "a queue more": ({"fixed": {**EARLIER.fixed, "r": "its consumers"}}, Horizon(None, {"r": EARLIEST})),
}


@pytest.mark.parametrize(("changed", "horizon"), CASES.values(), ids=CASES)
def test_what_was_judged_holds_before(changed, horizon):
    assert replace(EARLIER, **changed).alike_until(EARLIER) == horizon


def test_written_down_it_is_the_same():
    assert Grounds(**json.loads(json.dumps(asdict(EARLIER)))).alike_until(EARLIER) == Horizon()
