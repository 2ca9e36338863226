"""The command that answers the questions of a double: ask."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import chain
from typing import Annotated

import typer

from cli import complete
from cli.find import explain_nothing
from cli.options import Everywhere, QueueOption, WithoutMarksOption
from cli.output import FormatOption, RowFormat, answer, print_rows, say
from cli.table import Layout
from forensics.errors import ForensicsError
from forensics.sentence import said


class Question(StrEnum):
    """What can be asked."""

    WHY = "why"
    STILL = "still"
    REFUND = "refund"


_LAYOUTS = {
    "why": Layout(
        ("queue", "message_id", "business_keys", "verdict", "sentence", "marks", "incident_id"),
        row=("queue", "message_id", "verdict"),
        facts=("business_keys", "incident_id", "marks"),
        sentences=("sentence",),
    ),
    "still": Layout(
        ("queue", "cause", "state", "last_at", "times", "repeats", "since_the_change", "incident_id"),
        row=("queue", "cause", "state", "last_at"),
        facts=("times", "repeats", "incident_id"),
        sentences=("since_the_change",),
    ),
    "refund": Layout(
        ("queue", "business_keys", "message_ids", "do", "repeats", "to_refund", "marks", "incident_id"),
        row=("business_keys", "do", "repeats", "to_refund"),
        facts=("queue", "message_ids", "marks", "incident_id"),
    ),
}


class QuestionOpenError(ForensicsError):
    """A question that does not say what it is about."""


def ask(
    chosen: Everywhere,
    question: Annotated[
        Question,
        typer.Argument(
            metavar="QUESTION",
            help="why KEY: why was this charged twice? still: does it go on? refund: what to pay back?",
        ),
    ],
    key: Annotated[
        str | None,
        typer.Argument(metavar="[KEY]", autocompletion=complete.incidents, help="Of why: an id or business key."),
    ] = None,
    queue: QueueOption = None,
    without_marks: WithoutMarksOption = False,
    how: FormatOption = RowFormat.TABLE,
) -> None:
    """Answer one question: why something was charged twice, whether it is still happening, or what to refund."""
    from forensics.people import people_of
    from forensics.report.questions import COLUMNS, refund, still, why

    if question is Question.WHY and key is None:
        raise QuestionOpenError("this question is about one message or key", "Name it: doubletake ask why pay-1001")
    if question is not Question.WHY and key is not None:
        raise QuestionOpenError(
            said("{question} is asked of all, not of {key}", question=repr(str(question)), key=repr(key)),
            "--queue NAME keeps to a queue.",
        )
    findings, settings = chosen.findings(queue), chosen.settings()
    people = people_of(findings, not without_marks)
    if question is Question.WHY:
        reply = why(findings, str(key), people)
        if not reply.rows:
            explain_nothing(findings, str(key))
    elif question is Question.STILL:
        stale_after = timedelta(minutes=settings.team.stale_after_min)
        reply = still(findings, people, datetime.now(UTC), stale_after, queue)
    else:
        reply = refund(findings, people, queue)
    (answer if how is RowFormat.TABLE else say)(said("{clause}.", clause=reply.sentence))
    if how is RowFormat.TABLE:
        besides = ((row.get("provisional"), *row.get("hints", ())) for row in reply.rows)
        for told in dict.fromkeys(chain.from_iterable(besides)):
            if told:
                answer(told)
    print_rows(list(reply.rows), how, _LAYOUTS[str(question)], COLUMNS[str(question)])
