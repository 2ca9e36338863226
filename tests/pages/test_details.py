"""Which of the cited log lines stands beside a mark."""

from datetime import UTC, datetime, timedelta

import pytest

from pages._ui.details import _message_px, line_of

pytestmark = pytest.mark.page

T = datetime(2026, 11, 20, 5, 12, tzinfo=UTC)
TEXTS = {
    "start": "START RequestId: 7d1f Version: $LATEST",
    "other": "{'messageId': 'm-2', 'attributes': {'SentTimestamp': '1763615519000'}}",
    "event": "{'messageId': 'm-1', 'attributes': {'SentTimestamp': '1763615520000'}}",
    "work": "charged payment_id=pay_1",
    "end": "7d1f Task timed out after 30.00 seconds",
}
LINES = {
    name: {"evidence_id": name, "logged_at": T + timedelta(seconds=n), "line": text}
    for n, (name, text) in enumerate(TEXTS.items())
}
TOLD_BY = {
    "sent": ("sent", -1, list(LINES), "event"),
    "sent, and no line tells when": ("sent", -1, ["start", "work"], "start"),
    "received": ("in_flight", 0.2, list(LINES), "start"),
    "work done": ("effect", 3, list(LINES), "work"),
    "timed out": ("timeout", 2, list(LINES), "end"),
    "nothing is cited": ("effect", 3, [], None),
}


@pytest.mark.parametrize(("kind", "at_s", "cited", "told_by"), TOLD_BY.values(), ids=TOLD_BY)
def test_a_mark_is_told_by_the_line_that_proves_it(kind, at_s, cited, told_by):
    mark = {"kind": kind, "at": T + timedelta(seconds=at_s), "message_id": "m-1", "evidence_ids": cited}

    assert (line_of(mark, LINES) or {}).get("evidence_id") == told_by


def test_names_of_messages_of_one_key_are_there_to_their_ends():
    assert _message_px({"a": "pay-3k40vuff5x"}) == 110
    assert _message_px({"a": "inv-6kyvazynr 0757…", "b": "inv-6kyvazynr a0e7…"}) >= 147  # as a browser draws it
