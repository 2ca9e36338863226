"""Lines of worker frameworks: which item started, finished, failed, was refused, or could not be deleted.

One entry of FORMS per line form. The first that matches decides.
"""

from dataclasses import dataclass

from forensics.parsers.grammar import BLANK, SPACE, TIMESTAMP, UUID, Pattern, holds_any

OWN_WORDS = "lines"
"""Format of lines that no framework wrote."""
EVENTS = (
    "started",
    "finished",
    "acknowledged",
    "failed",
    "raised",
    "gave_up",
    "retrying",
    "timed_out",
    "refused",
    "delete_failed",
    "visibility_exceeded",
    "visibility_set",
    "visibility_refused",
    "stopping",
)


@dataclass(frozen=True)
class Form:
    """One line form: the groups message_id, message_ids (several), job, job_id and visibility_s (or for_s) are read from ``pattern`` where
    it has them.

    ``needles``: a line without any of them cannot match.
    """

    format: str
    event: str
    pattern: Pattern
    needles: tuple[str, ...]


def _form(format_: str, event: str, text: str, *needles: str) -> Form:
    return Form(format_, event, Pattern(f"{format_.replace('-', '_')}_{event}", text), needles)


_JOB = r"(?P<job>[A-Za-z_][A-Za-z0-9_\\]*+)"
_LARAVEL = r"(?:^|[\n\r])" + BLANK + r"*+" + TIMESTAMP + BLANK + r"++" + _JOB + BLANK + r"*+\.{2,}+"
_LARAVEL_VERBOSE = (  # -v: id, connection and queue (an address on SQS); beside them the terminal often has no room for dots
    r"(?:^|[\n\r])" + BLANK + r"*+" + TIMESTAMP + BLANK + r"++" + _JOB + BLANK + r"++(?P<message_id>" + UUID + r")"
    r"(?:(?:" + BLANK + r"++[^\s.][^\s]{0,300}+){2}+)?" + BLANK + r"++\.*+" + BLANK + r"*+"
)
_OLD_LARAVEL = (
    r"^" + SPACE + r"*+\[" + TIMESTAMP + r"\]" + BLANK + r"*+\[(?P<message_id>[^\]\s]{1,100}+)\]" + BLANK + "*+"
)
_SHORYUKEN = (
    r"TID-[^\s]{1,40}+" + BLANK + r"++(?P<job>[^\s/]{1,200}+)/[^\s/]{1,100}+/"
    r"(?P<message_id>" + UUID + r")" + BLANK + r"++[A-Z]{4,8}+:" + BLANK + r"++"
)
_CELERY_ID = r"(?P<job_id>" + UUID + r")\]"
_ACTIVE_JOB = r" (?P<job>[A-Za-z_][A-Za-z0-9_:]*+) \(Job ID: (?P<job_id>" + UUID + r")\) from "

_FAILED_MESSAGE = (  # in a worker's own words; of a delete or a change of visibility it says nothing
    r"(?<![A-Za-z])(?<![Dd]elete )(?<![Dd]eleting )(?<![Vv]isibility )(?<![Rr]elease )"
    r"(?i:failed|failure|error)(?i: to (?:process|handle|consume)| (?:processing|handling|consuming|in|of|for)){0,2}"
    r"(?i: the)?(?i: (?:sqs )?message)?(?i:[ :=]{1,2}(?:message[_ -]?id|id)\"?)?[ :=]{1,3}[\"'\[(]?"
    r"(?P<message_id>" + UUID + r")"
)
_VISIBILITY_SET = (  # a change that is made or was: every framework and team has words of its own for it
    r"^(?![\s\S]{0,2000}?(?i:fail|error|exception|could not|cannot|unable|refus|expired|exceeded))"
    r"(?=[\s\S]{0,400}?(?:(?i:extend|chang|set|renew|updat|reset|heartbeat)[^\n\r]{0,80}?[Vv]isibility"
    r"|[Vv]isibility[^\n\r]{0,80}?(?i:extend|chang|renew|updat|set)))"
    r"(?=[\s\S]{0,600}?(?:(?i:visibility_?timeout(?:_?(?:seconds|s))?[\"']?[ =:]{1,3}(?P<visibility_s>[0-9]{1,5}+)(?![0-9.:]))"
    r"|(?i:(?:to|by|for)(?: another)? (?P<for_s>[0-9]{1,5}+) ?(?:s|secs?|seconds)(?![A-Za-z]))))"
    r"[\s\S]{0,600}?(?<![0-9a-fA-F-])(?P<message_id>" + UUID + r")"
)
_SPRING_IDS = r"(?P<message_ids>" + UUID + r"(?:, " + UUID + r"){0,99}+)"

_QUOTE = r"(?:\\?[\"']|\\u002[27])"
"""Around an id in words, as a JSON logger may write it."""

FORMS = (
    _form("laravel", "started", _LARAVEL_VERBOSE + r"RUNNING", " RUNNING"),
    _form("laravel", "finished", _LARAVEL_VERBOSE + r"[^\n\r]{1,60}?s DONE(?![A-Za-z])", "s DONE"),
    _form("laravel", "failed", _LARAVEL_VERBOSE + r"[^\n\r]{1,60}?s FAIL(?![A-Za-z])", "s FAIL"),
    _form("laravel", "started", _LARAVEL + BLANK + r"*+RUNNING", "...."),
    _form("laravel", "finished", _LARAVEL + r"[^\n\r]{0,60}?" + BLANK + r"DONE(?![A-Za-z])", "...."),
    _form("laravel", "failed", _LARAVEL + r"[^\n\r]{0,60}?" + BLANK + r"FAIL(?![A-Za-z])", "...."),
    _form("laravel", "started", _OLD_LARAVEL + r"Processing:" + BLANK + "*+" + _JOB, "Processing:"),
    _form("laravel", "finished", _OLD_LARAVEL + r"Processed:" + BLANK + "*+" + _JOB, "Processed:"),
    _form("laravel", "failed", _OLD_LARAVEL + r"Failed:" + BLANK + "*+" + _JOB, "Failed:"),
    _form("laravel", "refused", _JOB + r" has been attempted too many times", "attempted too many times"),
    _form("laravel", "timed_out", _JOB + r" has timed out\.", " has timed out."),
    _form(  # reported, which does not say that nobody caught it; what AWS's client raises tells of its own call
        "laravel",
        "raised",
        r"\{\"exception\":\"\[object\] \((?!Aws\\|Illuminate\\{1,2}Queue\\)",
        '{"exception":"[object]',
    ),
    _form("shoryuken", "started", _SHORYUKEN + r"started at", "TID-"),
    _form("shoryuken", "finished", _SHORYUKEN + r"completed in", "TID-"),
    _form("shoryuken", "failed", _SHORYUKEN + r"failed in", "TID-"),
    _form("shoryuken", "visibility_exceeded", _SHORYUKEN + r"exceeded the queue visibility timeout", "TID-"),
    _form("shoryuken", "delete_failed", _SHORYUKEN + r"Could not delete [0-9]", "TID-"),
    _form("shoryuken", "delete_failed", r"TID-[^\n\r]{0,400}?Could not delete [0-9]", "TID-"),
    _form(
        "shoryuken",
        "failed",
        r"Message (?P<message_id>" + UUID + r") failed, will be retried in(?: (?P<visibility_s>[0-9]{1,5}+) seconds)?",
        "will be retried in",
    ),
    _form(
        "shoryuken",
        "visibility_refused",
        r"Could not auto extend the message [^\s/]{1,100}+/(?P<message_id>" + UUID + r") visibility timeout",
        "Could not auto extend",
    ),
    _form("sqs-consumer", "visibility_refused", r"Error changing visibility timeout: ", "Error changing visibility"),
    _form(  # with DEBUG=sqs-consumer, once the handler is through
        "sqs-consumer",
        "finished",
        r"sqs-consumer[^\n\r]{0,20}? deleting_message \{ messageId: '(?P<message_id>" + UUID + r")'",
        "deleting_message",
    ),
    _form("sqs-consumer", "timed_out", r"Message handler timed out after [0-9]", "Message handler timed out"),
    _form("sqs-consumer", "failed", r"Unexpected message handler failure:", "Unexpected message handler"),
    _form("sqs-consumer", "delete_failed", r"SQS delete message failed", "SQS delete message failed"),
    _form("celery", "started", r"Received task: [^\s\[]{1,200}+\[" + _CELERY_ID, "Received task"),
    _form("celery", "started", r"Task [^\s\[]{1,200}+\[" + _CELERY_ID + " received", "] received"),
    _form("celery", "finished", r"Task [^\s\[]{1,200}+\[" + _CELERY_ID + " succeeded in", "] succeeded"),
    _form("celery", "failed", r"Task [^\s\[]{1,200}+\[" + _CELERY_ID + " (?:raised|retry|Retry)", "Task "),
    _form(
        "celery",
        "stopping",
        r"Restoring [0-9]{1,9}+ unacknowledged message|[Ww]arm shutdown",
        "nacknowledged",
        "arm shutdown",
    ),
    _form("activejob", "started", "(?<![A-Za-z])Performing" + _ACTIVE_JOB, "(Job ID: "),
    _form("activejob", "finished", "(?<![A-Za-z])Performed" + _ACTIVE_JOB, "(Job ID: "),
    _form("activejob", "failed", "(?<![A-Za-z])Error performing" + _ACTIVE_JOB, "(Job ID: "),
    _form(
        "spring",
        "delete_failed",
        r"(?:Error acknowledging in queue|could not be acknowledged in queue|dropping acknowledgement for message)"
        r"[^\n\r]{0,400}?" + _SPRING_IDS,
        "acknowledg",
    ),
    _form(
        "spring", "acknowledged", r"Done acknowledging in queue [^\n\r]{0,400}? messages: " + _SPRING_IDS, "Done ack"
    ),
    _form("spring", "failed", r"Error processing message (?P<message_id>" + UUID + r")", "Error processing message"),
    _form(  # tried again in its process, which has it all the while
        "nservicebus",
        "retrying",
        r"Immediate Retry is going to retry message " + _QUOTE + r"(?P<message_id>" + UUID + r")",
        "Immediate Retry",
    ),
    _form(  # sent again under another SQS message id, and deleted
        "nservicebus",
        "failed",
        r"Delayed Retry will reschedule message " + _QUOTE + r"(?P<message_id>" + UUID + r")",
        "Delayed Retry",
    ),
    _form(
        "nservicebus",
        "gave_up",
        r"Moving message " + _QUOTE + r"(?P<message_id>" + UUID + r")" + _QUOTE + r" to the error queue ",
        "to the error queue",
    ),
    _form(
        "rebus",
        "failed",
        r"Unhandled exception [0-9]{1,9}+(?: \(FINAL\))? while handling message with ID "
        + _QUOTE
        + r"?(?P<message_id>"
        + UUID
        + r")",
        "while handling message with ID",
    ),
    _form(  # of its message it names nothing
        "watermill",
        "failed",
        r"\"?(?:msg|message)\"?[=:] ?\"(?:Handler returned error|Panic recovered in handler)",
        "Handler returned error",
        "Panic recovered in handler",
    ),
    _form(
        OWN_WORDS,
        "stopping",
        r"^(?![^\n\r]{0,400}?(?i:install|regist|listen|trapp|ignor|set(?:ting)? up|add(?:ed|ing))[^\n\r]{0,60}?SIGTERM)"
        r"[^\n\r]{0,400}?"  # to say at the start that one will hear it is no stop
        r"(?:(?i:received|caught|got|handling)(?: signal)?:?(?: signal)? ?(?:SIGTERM|TERM)(?![A-Za-z])|SIGTERM"
        r"|(?i:received|caught|got|handling) signal:? 15(?![0-9]))",
        "SIGTERM",
        "eceived TERM",
        "signal 15",
        "signal: ",
    ),
    _form(OWN_WORDS, "visibility_set", _VISIBILITY_SET, "isibility"),
    _form(OWN_WORDS, "failed", _FAILED_MESSAGE, "ailed", "AILED", "ailure", "rror", "RROR"),
    _form(
        OWN_WORDS,
        "failed",
        r"^[0-9]{6,20}+"
        + BLANK
        + r"++"
        + TIMESTAMP
        + BLANK
        + r"++(?P<job>[^\s]{1,200}+)"
        + BLANK
        + r"++failed"
        + SPACE
        + r"*+(?![\s\S])",
        " failed",
    ),
)
"""Text forms. The last is the plainest worker there is: thread id, local time, body, failed."""

_KEY = r"\"" + SPACE + r"*+:" + SPACE + r"*+\"?"
JSON_NEEDLE = '"attempts"'
JSON_STATUS = Pattern(
    "laravel_status", r"\"status" + _KEY + r"(?P<status>starting|success|released_after_exception|failed)\""
)
"""Laravel's --json lines: their id is the SQS message id, their attempts SQS's receive count."""
JSON_ID = Pattern("laravel_id", r"\"id" + _KEY + r"(?P<id>[0-9A-Za-z_-]{1,100}+)")
JSON_ATTEMPTS = Pattern("laravel_attempts", r"\"attempts" + _KEY + r"(?P<attempts>[0-9]{1,9}+)(?![0-9])")
JSON_JOB_ID = Pattern("laravel_job_id", r"\"uuid" + _KEY + r"(?P<job_id>" + UUID + ")")
"""The job's own id: a job that is sent again keeps it under another SQS message id."""
JSON_JOB = Pattern("laravel_job", r"\"job" + _KEY + r"(?P<job>[^\"]{1,300}+)\"")
JSON_REFUSED = Pattern("laravel_refused", r"MaxAttemptsExceeded|attempted too many times")
JSON_TIMED_OUT = Pattern("laravel_timed_out", r"TimeoutExceeded|has timed out")
JSON_DELETED = Pattern("laravel_deleted", r"\"result" + _KEY + r"deleted\"")
"""A job that failed for good: Laravel itself deletes its message, whatever the queue would have done."""
JSON_EVENTS = {
    "starting": "started",
    "success": "finished",
    "released_after_exception": "failed",
    "failed": "failed",
}


@dataclass(frozen=True)
class WorkerLine:
    """What a framework says of one item; what its line does not carry is None.

    ``job_id`` is the framework's own id of the work, which outlives a send under another message id. ``more_ids`` are further
    messages of which it says the same. ``visibility_s``: for how long its worker hid the message from then on.
    """

    format: str
    event: str
    message_id: str | None = None
    receive_count: int | None = None
    job: str | None = None
    job_id: str | None = None
    more_ids: tuple[str, ...] = ()
    visibility_s: int | None = None


_NEEDLES = tuple(dict.fromkeys(needle for form in FORMS for needle in form.needles))


def worker(line: str) -> WorkerLine | None:
    """Read a framework's line; None for every other line.

    >>> worker("2026-11-21T09:00:00Z 71 TID-ox Charge/pay/861bec95-b670-4f2a-acf9-19d5bdd7cbe5 INFO: completed in: 9 ms").event
    'finished'
    """
    if JSON_NEEDLE in line and (status := JSON_STATUS.find(line, "status")):
        return _laravel_json(line, status)
    for form in FORMS if holds_any(line, _NEEDLES) else ():
        if not holds_any(line, form.needles):
            continue
        found = form.pattern.compiled.search(line)
        if found:
            groups = found.groupdict()
            several = (groups.get("message_ids") or "").lower().split(", ")
            message_id, job_id = groups.get("message_id") or several[0], groups.get("job_id")
            visibility_s = groups.get("visibility_s") or groups.get("for_s")
            return WorkerLine(
                form.format,
                form.event,
                message_id.lower() if message_id else None,
                None,
                groups.get("job"),
                job_id.lower() if job_id else None,
                tuple(several[1:]),
                int(visibility_s) if visibility_s else None,
            )
    return None


def _laravel_json(line: str, status: str) -> WorkerLine:
    event = JSON_EVENTS[status]
    if event == "failed" and JSON_REFUSED.find(line):
        event = "refused"
    elif event == "failed" and JSON_TIMED_OUT.find(line):
        event = "timed_out"
    elif event == "failed" and JSON_DELETED.find(line):
        event = "gave_up"
    message_id, attempts, job = (
        JSON_ID.find(line, "id"),
        JSON_ATTEMPTS.find(line, "attempts"),
        JSON_JOB.find(line, "job"),
    )
    job_id = JSON_JOB_ID.find(line, "job_id")
    return WorkerLine(
        "laravel",
        event,
        message_id.lower() if message_id else None,
        int(attempts) if attempts else None,
        job.replace("\\\\", "\\") if job else None,
        job_id.lower() if job_id else None,
    )
