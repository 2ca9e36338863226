"""Which lines say that something went wrong, in the words of each runtime, and after which errors the work may have been done."""

import pytest

from forensics.parsers import parse_line
from forensics.parsers.error_lines import is_error_line, may_hide_an_effect
from forensics.parsers.grammar import holds_any
from forensics.parsers.needles import OF_FUNCTIONS
from forensics.settings import Consumer

AT, ID = "2026-11-20T12:00:41.000Z", "9f294aed-ba7e-49fe-a1b9-9a7ad6313712"
LINES = {
    "Python's logger": (f"[ERROR]\t{AT}\t{ID}\tread timed out", True),
    "Python's logger, critical": (f"[CRITICAL]\t{AT}\t{ID}\tread timed out", True),
    "Python's logger, as a warning": (f"[WARNING]\t{AT}\t{ID}\tread timed out", False),
    "Node": (f"{AT}\t{ID}\tERROR\tread timed out", True),
    "Node, as information": (f"{AT}\t{ID}\tINFO\terrors: 0", False),
    "Node in JSON, which the runtime may have written": (
        f'{{"timestamp":"{AT}","level":"ERROR","requestId":"{ID}","message":{{"errorType":"Busy","errorMessage":"no"}}}}',
        True,
    ),
    "Powertools": ('{"level":"ERROR","location":"charge:31","message":"read timed out"}', True),
    "a logger in JSON": ('{"level":"error","msg":"read timed out"}', True),
    "a logger in JSON, as information": ('{"level":"info","msg":"error rate 0"}', False),
    "Pino": ('{"level":50,"time":1767614400123,"pid":7,"hostname":"h","msg":"read timed out"}', True),
    "Pino, fatal": ('{"level":60,"time":1767614400123,"pid":7,"hostname":"h","msg":"read timed out"}', True),
    "Pino, as a warning": ('{"level":40,"time":1767614400123,"pid":7,"hostname":"h","msg":"errors: 0"}', False),
    "Bunyan": ('{"name":"pay","hostname":"h","pid":7,"level":50,"msg":"read timed out","v":0}', True),
    "Bunyan, as information": ('{"name":"pay","hostname":"h","pid":7,"level":30,"msg":"error rate 0","v":0}', False),
    "a number in what is logged": ('{"level":"info","msg":"raised","user":{"level":50,"time":3}}', False),
    "Go, which the runtime may have written": (
        '2026/11/20 12:00:41 {"errorMessage":"no","errorType":"errorString"}',
        True,
    ),
    "Go, by a logger that calls all that information": (
        r'{"level":"INFO","msg":"{\"errorMessage\":\"no\",\"errorType\":\"errorString\"}"}',
        True,
    ),
    "Ruby": ("E, [2026-11-20T12:00:41.619266 #17] ERROR -- : [Charge] read timed out", True),
    "Ruby, as information": ("I, [2026-11-20T12:00:41.619266 #17]  INFO -- : ERROR count 0", False),
    "Monolog": (f"[{AT}] app.ERROR: read timed out [] []", True),
    "Monolog, as information": (f"[{AT}] app.INFO: ERROR count 0 [] []", False),
    "Logback, its thread first": ("2026-11-20 12:00:41.619 [sqs-1] ERROR c.a.Charge - read timed out", True),
    "Logback, as a warning": ("2026-11-20 12:00:41.619 [sqs-1] WARN c.a.Charge - ERROR count 0", False),
    "Logback, without a date": ("12:00:41.619 [sqs-1] ERROR c.a.Charge - read timed out", True),
    "Serilog": ("[12:00:41 ERR] read timed out", True),
    "Serilog, fatal": ("2026-11-20 12:00:41.619 +00:00 [FTL] read timed out", True),
    "Serilog, as information": ("[12:00:41 INF] ERR count 0", False),
    "Serilog in JSON": ('{"@t":"2026-11-20T12:00:41Z","@mt":"read timed out","@l":"Error"}', True),
    "Serilog in JSON, as a warning": ('{"@t":"2026-11-20T12:00:41Z","@mt":"Error count 0","@l":"Warning"}', False),
    "Elixir": ("12:00:41.619 [error] read timed out", True),
    "Dramatiq": (f"[{AT}] [PID 19] [Thread-3] [shop.tasks] [ERROR] read timed out", True),
    "a tag that is no level": (f"[{AT}] [queue-error] read", False),
    "Python with dashes": ("2026-11-20 12:00:41,619 - worker - ERROR - read timed out", True),
    "Loguru": ("2026-11-20 12:00:41.619 | ERROR    | worker:charge:36 - read timed out", True),
    "words behind a time": ("2026-11-20 12:00:41,619 - worker - Error count 0", False),
    "logfmt": ('level=error msg="read timed out"', True),
    "logfmt, as information": ('level=info msg="level=errors 0"', False),
    "slog": (f'time={AT} level=ERROR msg="read timed out"', True),
    "Google's name for it": ('{"severity":"ERROR","message":"read timed out"}', True),
    "Elastic's name for it": ('{"@timestamp":"2026","log.level":"ERROR","message":"read timed out"}', True),
    ".NET": (f"{AT}\t{ID}\tfail\tread timed out", True),
    "words of one's own": ("ERROR read timed out", True),
    "a stack that nothing else tells of": ("Traceback (most recent call last):\n  File\nReadTimeout", True),
    "a stack that is no error": (f"[INFO]\t{AT}\t{ID}\tTraceback (most recent call last):\n", False),
    "an error that nobody caught": ("[ERROR] KeyError: 'id'\nTraceback (most recent call last):", False),
    "a response": ('ERROR {"batchItemFailures": []}', False),
    "a delete that was refused": ("ERROR ReceiptHandleIsInvalid: The input receipt handle is invalid", False),
    "a guard": ("ERROR already processed pay-1", False),
    "an effect, at whatever level": ("ERROR charged pay-1", False),
    "the platform": (f"REPORT RequestId: {ID}\tDuration: 9 ms\tStatus: error\tError Type: Runtime.ExitError", False),
}


@pytest.mark.parametrize(("line", "expected"), LINES.values(), ids=LINES)
def test_an_application_logs_an_error(line, expected):
    consumer = Consumer(effect=r"charged (?P<key>\S+)", guard=r"already processed (?P<key>\S+)")

    assert is_error_line(parse_line(line, consumer), line) is expected
    assert not expected or holds_any(line, OF_FUNCTIONS), "a quick look would pass it over"


ERRORS = {
    "a read timeout": ("ReadTimeout: HTTPSConnectionPool(host='pay'): Read timed out. (read timeout=5)", True),
    "a connection that broke": ("Error: socket hang up", True),
    "an answer of a server that failed": ("card provider answered 502 for pay-1", True),
    "an error of which nothing is said": ("charge failed", True),
    "an answer that could not be read": ("KeyError: 'id' in the response", True),
    "an answer that is no JSON": ("JSONDecodeError: Expecting value", True),
    "a value that is missing": ("KeyError: 'amount'", False),
    "a body that is not valid": ("pydantic.ValidationError: 1 error for Payment", False),
    "a value that is missing, at some moment": ("[ERROR]\t2026-11-20T12:00:41.512Z\tKeyError: 'amount'", False),
    "a value that is missing, in some line": ("Traceback:\n  File 'app.py', line 512, in charge\nKeyError: 1", False),
    "a number that looks like a status": ("ValueError: amount 15000 is too high", False),
}


@pytest.mark.parametrize(("line", "expected"), ERRORS.values(), ids=ERRORS)
def test_work_may_have_been_done_behind_an_error(line, expected):
    assert may_hide_an_effect(line) is expected
