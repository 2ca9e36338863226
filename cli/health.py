"""The command that ranks the queues by need: health."""

from typing import Annotated

import typer

from cli.options import Everywhere, OnlyQueueArgument, SameQueueOption, WeekOption, WithoutMarksOption, either_queue
from cli.output import FormatOption, RowFormat, print_rows, say
from cli.said import in_words, phrase
from cli.table import Layout
from forensics.errors import QueueUnknownError
from forensics.sentence import said

_HEALTH_TABLE = Layout(
    (
        "week",
        "queue",
        "need",
        "why",
        "redelivered",
        "trend",
        "twice",
        "timeouts",
        "dead_lettered",
        "p95_age_s",
        "p99_handler_ms",
    ),
    row=("queue", "week", "need", "redelivered", "twice"),
    facts=("timeouts", "dead_lettered", "p95_age_s", "p99_handler_ms"),
    sentences=("why",),
)


def health(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    weeks: Annotated[int, typer.Option("--weeks", min=1, max=60, help="How many weeks, the newest first.")] = 1,
    week: WeekOption = None,
    queue: OnlyQueueArgument = None,
    without_marks: WithoutMarksOption = False,
    same_queue: SameQueueOption = None,
) -> None:
    """Rank the queues by need, week by week: why each needs work, and the numbers behind it."""
    queue = either_queue(queue, same_queue)
    from forensics.health import weeks_before
    from forensics.nearest import queues_hint
    from forensics.people import aside_text, people_of
    from forensics.report.log_readiness import not_placed
    from forensics.report.week import WEEK_COLUMNS, headline, load_week, set_aside, spark_line, week_record, weeks_read
    from forensics.words import interval_text

    findings, settings = chosen.findings(queue), chosen.settings()
    people = people_of(findings, not without_marks)
    newest = load_week(findings, settings, week, people)
    read = set(weeks_read(findings))
    asked = [w for w in reversed(weeks_before(newest.week, weeks)) if w in read]
    reviews = [newest, *(load_week(findings, settings, w, people) for w in asked[1:])]
    known = sorted({q.queue for q in newest.queues})
    if queue is not None and queue not in known:
        raise QueueUnknownError(
            said("nothing was read for queue {queue}", queue=repr(queue)), queues_hint(queue, known)
        )
    records = [week_record(r, q) for r in reviews for q in r.queues if queue in (None, q.queue)]
    if how is not RowFormat.TABLE:
        print_rows(records, how, _HEALTH_TABLE, WEEK_COLUMNS)
        return
    from forensics.words import percent

    shown = [
        record
        | {
            "redelivered": percent(record["redelivered_share"]),
            "trend": spark_line(record["redelivered_trend"]),
            "twice": None
            if record["twice_at_most"] is None
            else interval_text(record["counted_twice_at_least"], record["counted_twice_at_most"]),
            "timeouts": record["timeout_count"],
            "dead_lettered": record["dead_lettered_count"],
            "p95_age_s": record["age_p95_s"],
            "p99_handler_ms": record["handler_p99_ms"],
        }
        for record in records
    ]
    print_rows(shown, how, _HEALTH_TABLE, ())
    until = (
        phrase(", evidence to {data_until_at} UTC", data_until_at=f"{newest.data_until_at:%Y-%m-%d %H:%M}")
        if newest.data_until_at
        else ""
    )
    say(
        "{headline} in {week} ({zone}{until}).",
        headline=in_words(headline(newest)),
        week=newest.week,
        zone=newest.zone,
        until=until,
    )
    for sentence in not_placed(findings, queue):
        say("{sentence}", sentence=in_words(sentence))
    if aside := aside_text(work for r in reviews for work in set_aside(r)):
        say("Set aside, --without-marks counts them: {aside}.", aside=in_words(aside))
