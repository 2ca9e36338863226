"""What is left of a body without what differs at each send: the same for one work sent twice, another for another work."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.body_shape import body_shape

SENT_MS = 1_767_873_600_000
"""2026-01-08T12:00:00Z"""
ORDER = {"order": 7, "amount": 1999, "lines": [{"sku": "a"}]}

SAME = {
    "nothing differs": ({}, {}),
    "a time": ({"sentAt": "2026-01-08T12:00:00Z"}, {"sentAt": "2026-01-08T12:06:00.123Z"}),
    "a time that one lacks": ({}, {"sentAt": "2026-01-08T12:06:00.123Z"}),
    "a time with its zone, and one in another": (
        {"at": "2026-01-08T21:00:00+09:00"},
        {"at": "2026-01-08 12:05:00"},
    ),
    "seconds since 1970": ({"ts": 1_767_873_600}, {"ts": 1_767_873_999}),
    "milliseconds since 1970": ({"timestamp": SENT_MS}, {"timestamp": SENT_MS + 1}),
    "milliseconds since 1970 as text": ({"sent_at": str(SENT_MS)}, {"sent_at": str(SENT_MS + 1)}),
    "nanoseconds since 1970": ({"time": SENT_MS * 10**6}, {"time": SENT_MS * 10**6 + 1}),
    "attempts": ({"attempt": 1}, {"attempt": 2}),
    "attempts by another name": ({"retryCount": 0}, {"retryCount": 1}),
    "a first attempt that says nothing of it": ({}, {"delivery_attempts": "2"}),
    "request and trace ids": ({"requestId": "a", "trace_id": "b"}, {"requestId": "c", "trace_id": "d"}),
    "inside of another object": ({"meta": {"nonce": "a", "v": 1}}, {"meta": {"nonce": "b", "v": 1}}),
    "an object of nothing else": ({}, {"meta": {"sent_at": "2026-01-08T12:06:00Z"}}),
    "inside of a list": ({"tries": [{"at": SENT_MS, "by": 1}]}, {"tries": [{"at": SENT_MS + 5, "by": 1}]}),
    "inside of JSON in a string": ({"inner": '{"a": 1, "attempt": 1}'}, {"inner": '{"a": 1, "attempt": 2}'}),
}
OTHER = {
    "another id": ({"id": "x"}, {"id": "y"}),
    "another amount": ({"amount": 1}, {"amount": 2}),
    "an id that is a number of milliseconds": ({"payment": SENT_MS}, {"payment": SENT_MS + 1}),
    "a time long after the send": ({"slot": "2026-02-08T12:00:00Z"}, {"slot": "2026-02-09T12:00:00Z"}),
    "a time long before the send": ({"born_at": "1990-02-08T12:00:00Z"}, {"born_at": "1991-02-08T12:00:00Z"}),
    "a day without a time": ({"date": "2026-01-08"}, {"date": "2026-01-09"}),
    "a list of objects of another length": ({"lines": [{"at": SENT_MS}]}, {"lines": [{"at": SENT_MS}] * 2}),
    "attempts that are an object": ({"attempts": {"order": 1}}, {"attempts": {"order": 2}}),
    "an id that ends like a retry's": ({"country": "FR"}, {"country": "DE"}),
    "inside of JSON in a string": ({"inner": '{"a": 1}'}, {"inner": '{"a": 2}'}),
    "text that begins like JSON": ({"note": "{1"}, {"note": "{2"}),
}


def shape(more, sent_ms=SENT_MS):
    return body_shape(json.dumps(ORDER | more), sent_ms)


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_what_differs_at_each_send_is_left_out(one, other):
    assert shape(one) == shape(other) is not None


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER)
def test_what_tells_one_work_from_the_next_stays(one, other):
    assert shape(one) != shape(other)


TIMES = {
    "two days before": (SENT_MS - 2 * 86_400_000, True),
    "more than two days before": (SENT_MS - 2 * 86_400_000 - 1, False),
    "fourteen hours after": (SENT_MS + 14 * 3_600_000, True),
    "more than fourteen hours after": (SENT_MS + 14 * 3_600_000 + 1, False),
}


@pytest.mark.parametrize(("at", "is_left_out"), TIMES.values(), ids=TIMES)
def test_a_time_is_of_the_send_where_it_is_near(at, is_left_out):
    assert (shape({"at": at}) == shape({})) is is_left_out


def test_where_nobody_knows_when_it_was_sent_every_time_may_be_of_the_send():
    assert shape({"at": SENT_MS}, None) == shape({}, None)


NOTHING = {
    "no body": None,
    "no JSON": "order=7",
    "a broken one": '{"order": 7',
    "a list": "[7]",
    "nothing but the send": '{"sent_at": "2026-01-08T12:00:00Z", "attempt": 1}',
    "a body that was taken out": '{"a": "[body removed]"}',
    "a part that was taken out": '{"card": "[redacted]"}',
    "deeper than anybody reads": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "half a character": '{"a": "\\ud800"}',
}


@pytest.mark.parametrize("body", NOTHING.values(), ids=NOTHING)
def test_of_what_tells_nothing_there_is_no_shape(body):
    assert body_shape(body, SENT_MS) is None


_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), _VALUES, max_size=6), st.none() | st.integers(0, 2 * 10**12))
def test_the_order_of_names_says_nothing_and_no_body_is_too_odd(body, sent_ms):
    turned = dict(reversed(body.items()))

    assert body_shape(json.dumps(body), sent_ms) == body_shape(json.dumps(turned), sent_ms)
