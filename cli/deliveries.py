"""The command that prints the delivery ledger."""

from typing import Annotated

import typer

from cli import complete
from cli.options import Everywhere, OnlyQueueArgument, SameQueueOption, either_queue
from cli.output import FormatOption, RowFormat, print_rows, say
from cli.rows import Records, all_of, both
from cli.table import Layout
from forensics.errors import MessageUnknownError
from forensics.sentence import said

_DELIVERY_TABLE = Layout(
    (
        "queue",
        "message_id",
        "receive_count",
        "received_at",
        "run_status",
        "effect",
        "basis",
        "ended_by",
        "consumer",
    ),
    row=("message_id", "receive_count", "received_at"),
    facts=("run_status", "effect", "ended_by", "request_id", "log_stream"),
)


def deliveries(
    chosen: Everywhere,
    how: FormatOption = RowFormat.TABLE,
    message: Annotated[
        str | None,
        typer.Option(
            "--message", metavar="ID", help="Only this message, by its id or, from 8 characters on, its beginning."
        ),
    ] = None,
    incident: Annotated[
        str | None,
        typer.Option("--incident", metavar="ID", autocompletion=complete.incidents, help="Only this incident."),
    ] = None,
    queue: OnlyQueueArgument = None,
    same_queue: SameQueueOption = None,
) -> None:
    """Print the delivery ledger: one row per time a message was handed to a consumer."""
    queue = either_queue(queue, same_queue)
    from forensics.identity import KEY_ITEM
    from forensics.lake.conditions import any_of as condition
    from forensics.lake.filters import equals, one_of
    from forensics.lake.incident_lookup import find_incident
    from forensics.report.find import LEAST_CHARS
    from forensics.report.records import delivery_record
    from forensics.tables.findings import DELIVERIES, MESSAGES

    findings = chosen.findings(queue)
    where = all_of({"queue": queue})
    if incident is not None:
        find_incident(findings, incident)
        items = findings.read(MESSAGES, ["item_id"], all_of({"incident_id": incident}))["item_id"].to_pylist()
        where = both(where, one_of("item_id", items))
    if message is not None:
        named = both(where, one_of("item_id", [message, f"{KEY_ITEM}{message}"]) | equals("message_id", message))
        if len(message) >= LEAST_CHARS and not findings.read(DELIVERIES, ["item_id"], named).num_rows:
            begun = both(where, condition(("message_id", "starts", message)))
            if len(ids := set(findings.read(DELIVERIES, ["message_id"], begun)["message_id"].to_pylist())) == 1:
                named = both(where, one_of("message_id", ids))
        where = named
    order = ("queue", "item_id", "delivery_index")
    records = Records(findings.read(DELIVERIES, where=where), order, delivery_record)
    if message is not None and not records:
        raise MessageUnknownError(
            said("there is no delivery of message {name} in this data version", name=repr(message)),
            "Give the whole message id; `doubletake status` shows which sources were read, and until when.",
        )
    print_rows(records, how, _DELIVERY_TABLE.with_queue(records.of_several("queue")), tuple(delivery_record({})))
    if not records:
        say("No delivery is known here: `doubletake status` says which logs were read, and what they tell.")
