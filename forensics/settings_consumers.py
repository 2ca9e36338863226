"""The sections of the settings file about those who receive messages: functions, workers, and the tables that their guards ask."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from forensics.choices import GuardKey, Order, WorkerFormat
from forensics.sentence import said
from forensics.settings_values import (
    Expression,
    Flag,
    QueueName,
    Text,
    VisibilityExpression,
    checked_function_name,
    checked_place,
    checked_table_name,
    groups_of,
    refuse,
)

_LINES = ("effect", "started", "guard", "deleted", "failed", "visibility_set")
"""Keys that hold an expression for lines."""


class Section(BaseModel):
    """A part of the file: nothing but the keys it names."""

    model_config = ConfigDict(extra="forbid", frozen=True, regex_engine="python-re")


class ConsumerSection(Section):
    """What a person says of the lines of one consumer."""

    effect: Expression | None = Field(
        None,
        description="The line that says the work was done: a Python expression with the groups message_id and/or key.",
        examples=["charged payment_id=(?P<key>\\S+)"],
    )
    effect_is_exhaustive: Flag = Field(False, description="Every completed effect prints that line.", examples=[True])
    started: Expression | None = Field(
        None, description="The line that says an item was begun.", examples=["processing (?P<message_id>\\S+)"]
    )
    guard: Expression | None = Field(
        None,
        description="The line that says a repeat was seen and stopped.",
        examples=["already processed (?P<key>\\S+)"],
    )
    deleted: Expression | None = Field(
        None,
        description="The line that says an item was done and its delete was sent.",
        examples=["deleted (?P<message_id>\\S+)"],
    )
    failed: Expression | None = Field(
        None, description="The line that says an item failed.", examples=["failed (?P<message_id>\\S+)"]
    )
    visibility_set: VisibilityExpression | None = Field(
        None,
        description="The line that says for how many seconds from then on a message's visibility timeout was set, by a heartbeat or a"
        " release: with the group seconds, 0 where a release names none.",
        examples=["lease of (?P<message_id>\\S+) extended to (?P<seconds>[0-9]+) s"],
    )
    message_id: Annotated[Text, AfterValidator(checked_place("message_id"))] | None = Field(
        None,
        description="Where every line carries the message id: a JSON path, or an expression with the group message_id."
        " With it the other expressions need no groups.",
        examples=["$.sqs.id"],
    )
    receive_count: Annotated[Text, AfterValidator(checked_place("receive_count"))] | None = Field(
        None, description="The same for the receive count, with the group receive_count.", examples=["$.sqs.count"]
    )
    guard_table: Annotated[Text, AfterValidator(checked_table_name)] | None = Field(
        None,
        description="The DynamoDB table in which its guard records what was done, in the queue's account and region,"
        " or its ARN where it is another account's; read, never written. Form and names of attributes: [[guard_table]].",
        examples=["idempotency"],
    )
    order: Order | None = Field(
        None,
        description="How a batch's items are worked on; not said: inferred from a function's runs where they tell.",
        examples=["sequential"],
    )
    idempotent: Flag | None = Field(
        None,
        description="False: every successful run does the work again. True: none does it twice. Not said: unknown.",
        examples=[False],
    )

    @model_validator(mode="after")
    def _names_what_lines_are_about(self) -> "ConsumerSection":
        for key in _LINES:
            text, more = getattr(self, key), ", and (?P<seconds>...)" if key == "visibility_set" else ""
            if text is not None and self.message_id is None and not groups_of(text) - {"seconds"}:
                refuse(
                    said(
                        "{what} = {value} has the groups {names}",
                        what=key,
                        value=repr(text),
                        names=str(sorted(groups_of(text))),
                    ),
                    said(
                        "Name what it finds: {names}, no other groups by name.",
                        names=f"(?P<message_id>...) and/or (?P<key>...){more}",
                    ),
                    key,
                )
        return self


class FunctionSection(ConsumerSection):
    """A Lambda function and what its lines mean."""

    name: Annotated[Text, AfterValidator(checked_function_name)] = Field(
        description="The function's name.", examples=["charge-card"]
    )


class WorkerSection(ConsumerSection):
    """A consumer that is not Lambda, and what its lines mean."""

    log_group: Text = Field(description="Where it logs.", examples=["/ecs/orders-worker"])
    queue: QueueName | None = Field(None, description="The queue it consumes.", examples=["orders"])
    format: WorkerFormat | None = Field(
        None, description="The framework whose lines it prints; not said: recognised.", examples=["laravel"]
    )


class GuardTableSection(Section):
    """How an idempotency table records; what is not said is as AWS Lambda Powertools has it."""

    name: Annotated[Text, AfterValidator(checked_table_name)] = Field(
        description="The table's name, as a function or worker names it.", examples=["idempotency"]
    )
    partition: Text | None = Field(
        None,
        description="The one value of the partition key under which its records are; then these alone are asked for, and ``key``"
        " is the sort key.",
        examples=["idempotency#charge-card"],
    )
    key: Text = Field("id", description="The attribute that tells what a record is about.", examples=["pk"])
    key_pattern: Expression | None = Field(
        None,
        description="What of that attribute is the message id or business key, with the groups message_id and/or key; not said:"
        " all of it, or Powertools' digest of it.",
        examples=["charge#(?P<key>\\S+)"],
    )
    keyed_by: GuardKey | None = Field(
        None,
        description="What the guard takes for its key. Not said: a record is found by either, and that there is none says nothing.",
        examples=["business_key"],
    )
    status: Text = Field(
        "status", description="The attribute that tells how far it is; a table may have none.", examples=["state"]
    )
    completed: Text = Field("COMPLETED", description="What it says once the work is done.", examples=["done"])
    in_progress: Text = Field("INPROGRESS", description="What it says while somebody is at it.", examples=["begun"])
    expires: Text = Field(
        "expiration",
        description="The attribute that tells from when on it no longer holds: epoch seconds.",
        examples=["ttl"],
    )
    in_progress_expires: Text = Field(
        "in_progress_expiration",
        description="The attribute that tells until when it is locked: epoch milliseconds.",
        examples=["locked_until"],
    )

    @model_validator(mode="after")
    def _finds_what_it_is_about(self) -> "GuardTableSection":
        if self.key_pattern is not None and not groups_of(self.key_pattern):
            refuse(
                said(
                    "{what} = {value} has the groups {names}",
                    what="key_pattern",
                    value=repr(self.key_pattern),
                    names="[]",
                ),
                said(
                    "Name what it finds: {names}, no other groups by name.",
                    names="(?P<message_id>...) and/or (?P<key>...)",
                ),
                "key_pattern",
            )
        return self
