"""Plain logs whose lines say their time in other forms than year first, in part, or not at all."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from forensics.lake import Lake
from forensics.language import Language
from forensics.sentence import plain
from ingest.file_events import read_events
from ingest.file_forms import recognise
from ingest.file_run import ImportChoices
from ingest.files import ImportUnclearError, import_files
from ingest.line_times import DayUnclearError, LineClock, ZoneUnknownError
from ingest.time_forms import TimeHints, syslog_prefix
from ingest.untimed_lines import survey
from tests.pages.english import english_in

RECORDED = Path(__file__).parents[1] / "data" / "worker-logs"
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
UTC_ZONE = ZoneInfo("UTC")
ID = "b3a8d612-94b4-41de-8ae5-6cc49e03793f"
TIMED = "2026-11-20T05:00:58.102Z entrypoint: database is up\n"


def utc(ms: int | None) -> str | None:
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC).isoformat(" ", "milliseconds")[:23]


def surveyed(folder: Path, text: str, name: str = "worker.log"):
    path = folder / name
    path.write_text(text)
    os.utime(path, (NOW.timestamp(), NOW.timestamp()))
    return survey(recognise(path, name), NOW)


YEAR = TimeHints(latest=datetime(2026, 11, 30, 9, 0))
TIMES = {
    "Nest": ("[Nest] 18  - 11/20/2026, 5:01:07 AM     LOG [Charge] took", "2026-11-20 05:01:07.000"),
    "Nest at noon": ("[Nest] 18  - 11/20/2026, 12:01:07 PM     LOG [Charge] took", "2026-11-20 12:01:07.000"),
    "Nest after midnight": ("[Nest] 18  - 11/20/2026, 12:01:07 AM     LOG [Charge] took", "2026-11-20 00:01:07.000"),
    "Nest, either may be the month": ("[Nest] 18  - 11/05/2026, 5:01:07 PM     LOG took", "2026-11-05 17:01:07.000"),
    "Nest, a narrow blank": ("[Nest] 18  - 11/20/2026, 5:01:07\u202fPM     LOG took", "2026-11-20 17:01:07.000"),
    "Nest, and a date in its text": ("[Nest] 1  - 11/20/2026, 5:01:07 AM     LOG 2026-11-19 13:00:00", "2026-11-20 05:01:07.000"),
    "Nest in colours": (
        "\x1b[32m[Nest] 18  - \x1b[39m11/20/2026, 5:01:07 AM \x1b[32m    LOG\x1b[39m took",
        "2026-11-20 05:01:07.000",
    ),
    "Nest in British English": ("[Nest] 18  - 20/11/2026, 17:01:07     LOG took", "2026-11-20 17:01:07.000"),
    "no such hour": ("[Nest] 18  - 11/20/2026, 13:01:07 PM     LOG took", "unclear"),
    "24 hours, either may be the month": ("[Nest] 18  - 05/11/2026, 17:01:07     LOG took", "unclear"),
    "a small am is of no one country": ("[Nest] 18  - 05/11/2026, 5:01:07 am     LOG took", "unclear"),
    "an access log": ('127.0.0.1 - - [20/Nov/2026:06:01:07 +0100] "POST / HTTP/1.1" 200', "2026-11-20 05:01:07.000"),
    "a development server": ('127.0.0.1 - - [20/Nov/2026 05:01:07] "POST / HTTP/1.1" 200 -', "2026-11-20 05:01:07.000"),
    "Redis": ("1:M 20 Nov 2026 05:01:07.529 * Ready to accept connections", "2026-11-20 05:01:07.529"),
    "Tomcat": ("20-Nov-2026 05:01:07.529 INFO [main] took", "2026-11-20 05:01:07.529"),
    "PHP's error log": ("[20-Nov-2026 05:01:07 UTC] PHP Warning: took", "2026-11-20 05:01:07.000"),
    "date": ("Fri Nov 20 05:01:07 UTC 2026 took", "2026-11-20 05:01:07.000"),
    "date, with halves of the day": ("Fri 20 Nov 2026 05:01:07 PM UTC took", "2026-11-20 17:01:07.000"),
    "date, in a zone that has letters alone": ("Fri Nov 20 06:01:07 CET 2026 took", None),
    "Apache's errors": ("[Fri Nov 20 05:01:07.529123 2026] [mpm_event:notice] took", "2026-11-20 05:01:07.529"),
    "Java's own logger": ("Nov 20, 2026 5:01:07 PM com.acme.Charge handle", "2026-11-20 17:01:07.000"),
    "syslog": ("Nov 20 05:01:07 ip-10-0-1-12 web[3456]: took", "2026-11-20 05:01:07.000"),
    "syslog, one digit": ("Nov  5 05:01:07 ip-10-0-1-12 web: took", "2026-11-05 05:01:07.000"),
    "syslog, last year": ("Dec 31 05:01:07 ip-10-0-1-12 web[3456]: took", "2025-12-31 05:01:07.000"),
    "syslog, a leap day": ("Feb 29 05:01:07 ip-10-0-1-12 web[3456]: took", "2024-02-29 05:01:07.000"),
    "syslog, microseconds": ("Nov 20 05:01:07.123456 ip-10-0-1-12 web[3456]: took", "2026-11-20 05:01:07.123"),
    "syslog, over the network": ("<134>Nov 20 05:01:07 ip-10-0-1-12 web[3456]: took", "2026-11-20 05:01:07.000"),
    "syslog, of itself": ("Nov 20 05:01:07 ip-10-0-1-12 last message repeated 2 times", "2026-11-20 05:01:07.000"),
    "syslog before JSON": (
        'Nov 20 05:01:07 ip-10-0-1-12 web[3456]: {"asctime": "2026-11-20 05:01:06,929"}',
        "2026-11-20 05:01:06.929",
    ),
    "syslog in another zone than JSON": (
        'Nov 20 06:01:07 ip-10-0-1-12 web[3456]: {"time": 1795150867529}',
        "2026-11-20 05:01:07.529",
    ),
    "syslog at New Year, JSON before it": (
        'Jan  1 00:00:00 ip-10-0-1-12 web[3456]: {"time": "2025-12-31T23:59:59.900Z"}',
        "2025-12-31 23:59:59.900",
    ),
    "syslog before a time that the line talks about": (
        "Nov 20 05:01:07 ip-10-0-1-12 web[3456]: 2026-12-01T00:00:00Z is when it is due",
        "2026-11-20 05:01:07.000",
    ),
    "syslog before a time of no zone hours away": (
        "Nov 20 05:01:07 ip-10-0-1-12 web[3456]: 2026-11-20 06:01:07 took",
        "2026-11-20 05:01:07.000",
    ),
    "rsyslog": ("2026-11-20T05:01:07.123456+00:00 ip-10-0-1-12 web[3456]: took", "2026-11-20 05:01:07.123"),
    "rsyslog in its own zone": ("2026-11-20T06:01:07.123456+01:00 ip-10-0-1-12 web[3456]: took", "2026-11-20 05:01:07.123"),
    "rsyslog before JSON": (
        '2026-11-20T05:01:07.123456+00:00 ip-10-0-1-12 web[3456]: {"time": "2026-11-20T05:01:06.929Z"}',
        "2026-11-20 05:01:06.929",
    ),
    "rsyslog before a time without a zone": (
        "2026-11-20T05:01:07.123456+00:00 ip-10-0-1-12 web[3456]: 2026-11-20 06:01:07,100 took",
        "2026-11-20 05:01:07.123",
    ),
    "journalctl": ("2026-11-20T06:01:07+0100 ip-10-0-1-12 web[3456]: took", "2026-11-20 05:01:07.000"),
    "Heroku": ("2026-11-20T05:01:07.123456+00:00 app[worker.1]: took", "2026-11-20 05:01:07.123"),
    "RFC 5424": ('<134>1 2026-11-20T05:01:07.123Z ip-10-0-1-12 web 3456 - [a b="]"] took', "2026-11-20 05:01:07.123"),
    "no such day in rsyslog": ("2026-11-31T05:01:07.123456+00:00 ip-10-0-1-12 web[3456]: took", None),
    "a month that begins a sentence": ("Nov 20 orders were charged", None),
    "no such day": ("Nov 31 05:01:07 ip-10-0-1-12 web[3456]: took", None),
}  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), TIMES.values(), ids=TIMES)
def test_a_time_that_is_not_year_first_is_read_where_something_tells_what_it_leaves_out(line, expected):
    try:
        read = utc(LineClock(UTC_ZONE, YEAR).read_ms(line))
    except DayUnclearError:
        read = "unclear"

    assert read == expected


@pytest.mark.parametrize("name", [n for n in TIMES if n.startswith(("Nest", "syslog"))])
def test_such_a_time_needs_a_zone_unless_the_line_behind_it_says_one(name):
    line, expected = TIMES[name]
    try:
        read = utc(LineClock(hints=YEAR).read_ms(line))
    except ZoneUnknownError:
        return

    assert read == expected
    assert "{" in line


def test_a_line_of_syslog_does_not_go_before_one_of_the_same_second_that_stands_above_it():
    clock = LineClock(UTC_ZONE, YEAR)
    lead = "Nov 20 05:01:07 ip-10-0-1-12 web[3456]: "
    read = [utc(clock.read_ms(lead + text)) for text in ('{"asctime": "2026-11-20 05:01:07,529"}', "Traceback")]

    assert read == 2 * ["2026-11-20 05:01:07.529"]


PREFIXES = {
    "2026-11-20T05:01:07.123456+00:00 ip-10-0-1-12 web[3456]: took it": ("ip-10-0-1-12/web[3456]", "took it"),
    "2026-11-20T05:01:07.123456+00:00 app[worker.1]: took it": ("app[worker.1]", "took it"),
    "<134>1 2026-11-20T05:01:07.123Z ip-10-0-1-12 web 3456 ID47 - \ufefftook it": ("ip-10-0-1-12/web[3456]", "took it"),
    '<134>1 2026-11-20T05:01:07.123Z ip-10-0-1-12 web - - [a b="c"][d e="f"] took it': ("ip-10-0-1-12/web", "took it"),
    "<134>1 2026-11-20T05:01:07.123Z ip-10-0-1-12 web 3456 - -": ("ip-10-0-1-12/web[3456]", ""),
    "2026-11-20T05:01:07Z INFO worker[12]: took it": None,
    "2026-11-20T05:01:07Z ip-10-0-1-12 web: took it": None,
    "2026-11-20T05:01:07 ip-10-0-1-12 web[3456]: took it": None,
    "2026-11-20T05:01:07Z worker[main]: took it": None,
}  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), PREFIXES.items())
def test_what_syslog_puts_before_a_line_with_a_whole_time_is_taken_away_where_it_names_the_process(line, expected):
    found = syslog_prefix(line)

    assert (found and (found.writer, line[found.end :])) == expected


def test_lines_of_rsyslog_are_events_of_their_processes_and_need_no_zone(tmp_path):
    lines = [f"2026-11-20T06:01:0{n}.5+01:00 ip-1 web[{n % 2}]: took {n}" for n in range(4)]
    told = surveyed(tmp_path, "\n".join([*lines[:2], "  at charge", *lines[2:]]))
    found = replace(recognise(tmp_path / "worker.log", "worker.log"), hints=told.hints)
    events = [item.event for item in read_events(found, None)]

    assert (told.unclear, told.notes, told.lacks_zone) == (None, (), False)
    assert [e["message"] for e in events] == ["took 0", "took 1\n  at charge", "took 2", "took 3"]
    assert [e["logStreamName"] for e in events] == 2 * ["file:ip-1/web[0]", "file:ip-1/web[1]"]
    assert utc(events[0]["timestamp"]) == "2026-11-20 05:01:00.500"


LOGS = {
    "nest.log": (
        "nest",
        ["05:00:58.102 2026-11-20T", "05:01:07.000 [Nest] 18", "05:01:08.000 [Nest] 18", "12:01:10.000 [Nest] 18", "12:01:38.000 [Nest] 18"],
    ),
    "nest-coloured.log": (
        "nest-coloured",
        3 * ["05:00:00.000 \x1b[32m[Nes"] + ["05:01:10.000 \x1b[31m[Nes"],
    ),
    "web.stdout.log": (
        "ip-10-0-1-12/web[3456]",
        [
            "05:00:00.000 [2026-11-",
            "05:00:00.000 [2026-11-",
            '05:00:07.529 {"asctime"',
            '05:00:08.229 {"asctime"',
            "05:01:43.000 [2026-11-",
            "05:01:49.000 [2026-11-",
            '05:01:49.309 {"asctime"',
            "05:01:51.000 Traceback",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_every_line_with_a_time_of_its_own_begins_an_event_whatever_was_written_above_it(name):
    stream, expected = LOGS[name]
    found = recognise(RECORDED / name, name)
    told = survey(found, NOW)
    events = [item.event for item in read_events(replace(found, hints=told.hints), UTC_ZONE)]

    assert [
        utc(e["timestamp"])[11:] + " " + e["message"][: len(want) - 13]
        for e, want in zip(events, expected, strict=True)
    ] == expected
    assert {e["logStreamName"] for e in events} == {f"file:{stream}"}
    assert (told.unclear, told.notes, told.lacks_zone) == (None, (), True)


def test_a_trace_goes_on_with_the_line_of_nest_above_it():
    found = recognise(RECORDED / "nest.log", "nest.log")
    failed = next(e.event["message"] for e in read_events(found, UTC_ZONE) if "failed" in e.event["message"])

    assert failed.count("\n") == 3


NEST_24 = "[Nest] 18  - {}, 17:01:07     LOG took\n"
YEARS = {
    "a line of the file tells it": (
        "2025-01-02T00:00:00Z up\n{} 05:01:07 ip web[1]: took\n",
        ["2024-12-31 05:01:07.000"],
    ),
    "only the file does": ("{} 05:01:07 ip web[1]: took\n", ["2025-12-31 05:01:07.000"]),
}


@pytest.mark.parametrize(("text", "expected"), YEARS.values(), ids=YEARS)
def test_the_year_that_syslog_leaves_out_is_that_of_the_files_other_times_else_of_the_file(text, expected, tmp_path):
    told = surveyed(tmp_path, text.format("Dec 31"))
    found = replace(recognise(tmp_path / "worker.log", "worker.log"), hints=told.hints)
    read = [utc(e.event["timestamp"]) for e in read_events(found, UTC_ZONE)]

    assert read[-1:] == expected
    assert [plain(note) for note in told.notes] == (
        ["its times name no year: by the time the file was last written they are of 2025"] if len(read) == 1 else []
    )


ORDERS = {
    "another line tells that the day is first": (["05/11/2026", "20/11/2026"], "2026-11-05 17:01:07.000"),
    "another line tells that the month is first": (["05/11/2026", "11/20/2026"], "2026-05-11 17:01:07.000"),
    "day and month are the same": (["11/11/2026"], "2026-11-11 17:01:07.000"),
    "nothing tells": (["05/11/2026", "06/11/2026"], None),
    "lines tell one and the other": (["05/11/2026", "20/11/2026", "11/20/2026"], None),
}


@pytest.mark.parametrize(("dates", "expected"), ORDERS.values(), ids=ORDERS)
def test_the_day_is_told_from_the_month_by_the_file_or_not_at_all(dates, expected, tmp_path):
    told = surveyed(tmp_path, "".join(map(NEST_24.format, dates)))
    if expected is None:
        assert "does not tell the day from the month" in told.unclear[0]
        return
    found = replace(recognise(tmp_path / "worker.log", "worker.log"), hints=told.hints)

    assert utc(next(read_events(found, UTC_ZONE)).event["timestamp"]) == expected


UNKNOWN = {
    "day, month, year": ("20.11.2026 05:01:07 [main] took {}\n", 2),
    "a time alone": ("05:01:07,529 [main] INFO took {}\n", 2),
    "a level, then a time": ("E1120 05:01:07.123456   812 charge.go:41] took {}\n", 2),
    "a zone of letters": ("Fri Nov 20 05:01:07 CET 2026 took {}\n", 2),
    "a program": ("[worker] 05:01:07 took {}\n", 2),
    "seconds since 1970": ("1795150867.529 took {}\n", 2),
    "no such month": ("2026-13-20T05:01:07Z took {}\n", 2),
    "a level alone": ("INFO:     took message {}\n", 3),
    "no time at all": ("INFO:app:took message {}\n", 3),
    "JSON without a time": ('{{"level":"info","msg":"took","message_id":"{}"}}\n', 3),
}


@pytest.mark.parametrize(("line", "least"), UNKNOWN.values(), ids=UNKNOWN)
def test_lines_of_a_log_whose_time_cannot_be_read_are_refused_and_not_given_to_the_event_above(line, least, tmp_path):
    lines = line.format(ID)
    few = surveyed(tmp_path, TIMED + (least - 1) * lines)
    many = surveyed(tmp_path, TIMED + "    at charge.js:41\n" + least * lines)

    assert few.unclear is None
    assert "the first is line 3: " + lines.strip()[:60] in plain(many.unclear[0])
    assert plain(many.unclear[0]).startswith(f"{least} lines of 'worker.log' ")


FURTHER = {
    "a trace of Java": "java.lang.IllegalStateException: no\n\tat a.B.c(B.java:1)\nCaused by: java.io.IOException: 05:01:07\n",
    "a trace of Python": 'Traceback (most recent call last):\n  File "a.py", line 1, in b\nKeyError: 5\n',
    "a trace of PHP": '[stacktrace]\n#0 /var/www/a.php(7): b()\n#1 {main}\n"} \n',
    "a trace of Go": "goroutine 7 [running]:\nmain.charge(0xc000)\n\t/app/charge.go:41 +0x1d\ncreated by main.main\n",
    "a trace of Ruby": "NoMethodError (undefined method):\n  app/a.rb:7:in 'b'\nfrom app/c.rb:9\n",
    "a body": '{\n  "messageId": "' + ID + '"\n}\n',
    "fields": f"messageId: {ID}\norder: 7\nat: 2026\n",
    "ids": 4 * f"{ID}\n",
    "headers": "Date: Fri, 20 Nov 2026 05:01:07 GMT\nLast-Modified: Sat, 03 Jan 2026 05:01:07 GMT\n",
    "what a sentence talks about": 4 * "it was to wait until 05:01:07 for them\n",
}


@pytest.mark.parametrize("text", FURTHER.values(), ids=FURTHER)
def test_what_goes_on_with_an_event_is_no_reason_to_refuse_a_log(text, tmp_path):
    told = surveyed(tmp_path, 3 * (TIMED + text))
    events = list(read_events(recognise(tmp_path / "worker.log", "worker.log"), UTC_ZONE))

    assert told.unclear is None
    assert len(events) == 3


NOTED = {
    "one line that may begin with a time": (
        "05:01:07 took it\n" + 2 * TIMED,
        "line 2 may begin with a time in a form that is not known; it was read as a further line of the event above it: 05:01:07 took it",
    ),
    "most lines have none": (
        3 * "INFO:     Waiting for application startup.\n",
        "3 of 4 lines have no time and were read as further lines of the event above them, 3 of them of the event in line 1",
    ),
    "lines that name messages stand one by one between others": (
        3 * (2 * TIMED + f"INFO:app:took message {ID}\n"),
        f"3 lines that name messages have no time and were read as further lines of the events above them; the first is line 4: INFO:app:took message {ID}",
    ),
    "few lines have none": (2 * "Waiting for it\n" + 2 * TIMED, None),
}


@pytest.mark.parametrize(("text", "expected"), NOTED.values(), ids=NOTED)
def test_lines_that_were_given_to_the_event_above_are_said(text, expected, tmp_path):
    assert [plain(note) for note in surveyed(tmp_path, TIMED + text).notes] == ([expected] if expected else [])


REFUSED = {
    "a zone that only later lines lack": (TIMED + NEST_24.format("11/20/2026"), None, "do not say their time zone"),
    "a time that cannot be read": (TIMED + 2 * "20.11.2026 05:01:07 took\n", UTC_ZONE, "in a form that is not known"),
    "a day that may be a month": (NEST_24.format("05/11/2026"), UTC_ZONE, "does not tell the day from the month"),
}


@pytest.mark.parametrize(("text", "zone", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_log_is_refused_before_anything_is_written(text, zone, sentence, tmp_path):
    (tmp_path / "fine.log").write_text(TIMED)
    (tmp_path / "worker.log").write_text(text)
    lake = Lake(tmp_path / "lake")
    with pytest.raises(ImportUnclearError, match=sentence):
        import_files(lake, [tmp_path], ImportChoices(log_groups=("app",), zone=zone), now=NOW)

    assert not lake.root.exists()


@pytest.mark.lake
def test_what_was_made_of_a_log_is_in_the_report(tmp_path):
    lines = 2 * f"INFO:app:took message {ID}\n"
    (tmp_path / "worker.log").write_text(TIMED + lines)
    report = import_files(Lake(tmp_path / "lake"), [tmp_path], ImportChoices(log_groups=("app=pay",)), now=NOW)

    assert [plain(note)[:32] for note in report.notes] == ["worker.log: 2 of 3 lines have no"]


def test_each_of_these_sentences_is_said_in_japanese(tmp_path):
    texts = [NEST_24.format("05/11/2026"), *(TIMED + 3 * line.format(ID) for line, _ in UNKNOWN.values())]
    texts += [TIMED + text for text, _ in NOTED.values()] + ["Dec 31 05:01:07 ip web[1]: took\n"]
    told = [surveyed(tmp_path, text) for text in texts]
    sentences = [s for one in told for s in (*(one.unclear or ()), *one.notes)]
    shown = [Language("ja").sentence(s).partition("：")[0] for s in sentences]

    assert [
        s for s in shown if english_in(s.replace("docker logs -t", "").replace("kubectl logs --timestamps", ""))
    ] == []
