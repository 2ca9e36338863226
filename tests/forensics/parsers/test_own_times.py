"""By what a line that tells its own time is known, whoever ships it."""

import pytest

from forensics.parsers.own_times import mark_of, times_in

ID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
TIMED = {
    "Python's logging": "2026-01-05 12:00:00,123 INFO processing m",
    "ISO 8601, with a zone": "2026-01-05T12:00:00.123456Z processing m",
    "a date written another way": "[05/Jan/2026 12:00:00.123] processing m",
    "the time alone": "12:00:00.123 [main] INFO c.a.Worker - processing m",
    "behind a thread and a level": "[ntContainer#0-3] INFO 2026-01-05 12:00:00.123 processing m",
    "JSON in text": '{"level": "INFO", "timestamp": "2026-01-05 12:00:00,123+0000", "message": "processing m"}',
    "JSON in milliseconds": '{"level":30,"time":1767614400123,"pid":1,"msg":"processing m"}',
    "JSON in parts of seconds": '{"ts": 1767614400.123456, "msg": "processing m"}',
}
WHOLE_SECONDS = {
    "in text": "[2026-01-05 12:00:00] production.INFO: processing m",
    "in JSON": '{"time": "2026-01-05T12:00:00Z", "msg": "processing m"}',
    "since 1970": '{"ts": 1767614400, "msg": "processing m"}',
}
UNTIMED = {
    "none": f"processing {ID}",
    "behind an id, which may be the message's": f"processing {ID} 2026-01-05 12:00:00.123",
    "a date alone": "2026-01-05 processing m",
    "a number in JSON that is no time": '{"time": 123, "msg": "processing m"}',
    "under another name": '{"SentTimestamp": "1767614400123", "sent_at": "2026-01-05T12:00:00.123Z"}',
    "behind an id, and cut by what is looked at": f"done: {ID} at 12:00:00.123",
    "in the next line of the text": "processing m\n12:00:00.123",
    "nothing": "",
}


@pytest.mark.parametrize("line", TIMED.values(), ids=TIMED)
def test_a_line_is_known_by_its_own_time_and_all_its_text(line):
    mark, other = mark_of(line), mark_of(f"{line} ")
    others = [mark_of(line.replace("123", "124")), mark_of(line.replace("processing m", "done m"))]

    assert mark is not None
    assert other == mark
    assert mark not in others
    assert [times_in([mark, one or 0]) for one in others] == [2, 1]


@pytest.mark.parametrize("line", WHOLE_SECONDS.values(), ids=WHOLE_SECONDS)
def test_times_in_whole_seconds_are_one(line):
    mark, later = mark_of(line), mark_of(line.replace("00:00", "00:07").replace("400", "407"))

    assert None not in (mark, later)
    assert mark != later
    assert times_in([mark or 0, later or 0]) == 1


@pytest.mark.parametrize("line", UNTIMED.values(), ids=UNTIMED)
def test_what_is_not_the_lines_own_time_tells_nothing(line):
    assert mark_of(line) is None
