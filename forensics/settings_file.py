"""The settings file as a person writes it: its sections and keys, what each means, and what of them cannot be meant.

Only whoever reads a file needs this module; what was read are the plain values of ``forensics.settings``.
"""

from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, Strict, model_validator

from forensics.choices import ALERTS, AccessMode, AlertKind, LanguageCode, WebhookKind
from forensics.sentence import said
from forensics.settings_consumers import FunctionSection, GuardTableSection, Section, WorkerSection
from forensics.settings_values import (
    Address,
    Count,
    Flag,
    JsonPath,
    KeyPaths,
    Port,
    QueueName,
    SendExpression,
    Text,
    checked_day,
    checked_emails,
    checked_file_path,
    checked_patterns,
    checked_place,
    checked_quiet,
    checked_region,
    checked_variable,
    checked_zone,
    groups_of,
    once,
    refuse,
)


class ProducerSection(Section):
    """What sends to a queue, and what its lines mean: they tell which message ids stand for one work, and why."""

    log_group: Text = Field(description="Where it logs.", examples=["/ecs/checkout"])
    queue: QueueName = Field(description="The queue it sends to.", examples=["payments.fifo"])
    sent: SendExpression | None = Field(
        None,
        description="The line that says a message was sent: a Python expression, with any of the groups message_id, key, "
        "deduplication_id, request_id and sent_at. Not said: every line in which the keys below find something.",
        examples=["sent (?P<message_id>\\S+) for payment (?P<key>\\S+) request=(?P<request_id>\\S+)"],
    )
    sent_is_exhaustive: Flag = Field(
        False, description="Every send that SQS answered prints that line, and nobody else sends.", examples=[True]
    )
    message_id: Annotated[Text, AfterValidator(checked_place("message_id"))] | None = Field(
        None,
        description="Where the line carries the id that SQS answered: a JSON path, or an expression with the group message_id.",
        examples=["$.sqs.message_id"],
    )
    key: Annotated[Text, AfterValidator(checked_place("key"))] | None = Field(
        None, description="The same for the business key.", examples=["$.payment_id"]
    )
    deduplication_id: Annotated[Text, AfterValidator(checked_place("deduplication_id"))] | None = Field(
        None, description="The same for the deduplication id of a FIFO queue.", examples=["$.dedup"]
    )
    request_id: Annotated[Text, AfterValidator(checked_place("request_id"))] | None = Field(
        None,
        description="The same for the producer's own request or job: two sends of one are one that was tried again.",
        examples=["$.request_id"],
    )
    sent_at: Annotated[Text, AfterValidator(checked_place("sent_at"))] | None = Field(
        None,
        description="The same for when it was sent, ISO 8601 or seconds or milliseconds since 1970; not said: the line's own time.",
        examples=["$.sent_at"],
    )

    @model_validator(mode="after")
    def _names_what_was_sent(self) -> "ProducerSection":
        groups = groups_of(self.sent) if self.sent else set()
        if self.message_id is None and self.key is None and not groups & {"message_id", "key"}:
            refuse(
                "says neither which message nor which work was sent",
                'Add message_id = "$.message_id", or the group (?P<message_id>...) or (?P<key>...) to sent.',
                "sent",
            )
        return self


class AcceptedSection(Section):
    """A risk the team lives with, until a day it names."""

    check: Text = Field(
        description="A check's or signal's code, as `doubletake check` prints it.", examples=["fifo_single_group"]
    )
    until: Annotated[date, Strict(), BeforeValidator(checked_day)] = Field(
        description="The last day it holds, in the team's zone.", examples=[date(2026, 12, 31)]
    )
    reason: Text = Field(description="Why, for the next reader.", examples=["moves in January"])


class QueueSection(Section):
    """What the team says of one queue."""

    name: QueueName = Field(description="The queue's name.", examples=["payments.fifo"])
    business_key: KeyPaths | None = Field(
        None,
        description="Where a body carries what the work is about: a JSON path, or a list of them, of which the first that the "
        "body holds tells it.",
        examples=["$.payment_id", ["$.payment_id", "$.detail.payment_id"]],
    )
    owner: Text | None = Field(None, description="Who looks after it.", examples=["payments team"])
    note: Text | None = Field(None, description="What the weekly review says of it.", examples=["charges cards"])
    guard_s: Count | None = Field(
        None, description="How long its guard remembers what was done, in seconds.", examples=[3600]
    )
    promise_s: Count | None = Field(
        None, description="Within how long after its send a message should be done, in seconds.", examples=[300]
    )
    sequence: JsonPath | None = Field(
        None,
        description="Where a body carries a number that counts up by one within its group: a JSON path.",
        examples=["$.version"],
    )
    weight: Count = Field(
        1,
        description="How much one repeat of its work matters beside one of another queue, where queues and faults are ranked.",
        examples=[20],
    )
    accepted: Annotated[tuple[AcceptedSection, ...], once(lambda a: a.check)] = Field(
        (), description="Risks the team lives with."
    )


class AccountSection(Section):
    """Where to collect: one AWS account, in one region or several; no such section: as the environment says."""

    profile: Text | None = Field(None, description="The AWS profile.", examples=["payments-prod"])
    regions: tuple[Annotated[Any, AfterValidator(checked_region), Field(json_schema_extra={"type": "string"})], ...] = (
        Field((), description="Its regions; none: the profile's.", examples=[["eu-west-1", "eu-central-1"]])
    )
    endpoint_url: Address | None = Field(
        None, description="Another endpoint than AWS's own.", examples=["http://127.0.0.1:4566"]
    )

    @model_validator(mode="after")
    def _says_something(self) -> "AccountSection":
        if not self.model_fields_set:
            refuse("says nothing", 'Add profile = "..." or regions = ["..."].', "")
        return self


class TeamSection(Section):
    """How the team reads."""

    zone: Annotated[Text, AfterValidator(checked_zone)] | None = Field(
        None, description="The time zone beside UTC, and of days and weeks: an IANA name.", examples=["Asia/Tokyo"]
    )
    stale_after_min: Count = Field(60, description="After how many minutes data counts as old.", examples=[60])
    language: LanguageCode = Field(
        "en",
        description="The language of dashboard, reports, notices and command, unless whoever looks chooses another.",
        examples=["ja"],
    )


class AccessSection(Section):
    """Who may look at the dashboard beyond this machine."""

    mode: AccessMode = Field(
        "none",
        description='"oidc": a login, with the provider of .streamlit/secrets.toml beside the settings file.',
        examples=["oidc"],
    )
    emails: Annotated[tuple[str, ...], AfterValidator(checked_emails)] = Field(
        (),
        description="Who may look: addresses, or @domain for everybody there.",
        examples=[["ana@example.com", "@payments.example.com"]],
    )
    session_hours: Count = Field(12, description="How long a login holds, in hours.", examples=[12])

    @model_validator(mode="after")
    def _lets_somebody_in(self) -> "AccessSection":
        if self.mode == "oidc" and not self.emails:
            refuse("lets nobody in", "List who may look under emails.", "")
        return self


class NotifySection(Section):
    """Where `doubletake notify` and `watch --notify` tell of incidents and of what else is worth telling."""

    webhook_env: Annotated[Text, AfterValidator(checked_variable)] = Field(
        "DOUBLETAKE_WEBHOOK",
        description="The environment variable that holds the webhook's address, which is a secret.",
        examples=["DOUBLETAKE_WEBHOOK"],
    )
    kind: WebhookKind = Field("slack", description="What the webhook understands.", examples=["slack"])
    dashboard: Address | None = Field(
        None, description="The dashboard's address, for the link.", examples=["https://doubletake.example.com"]
    )
    alerts: tuple[AlertKind, ...] = Field(
        ALERTS, description="What is told beside incidents.", examples=[["dead_letter", "lost", "poison"]]
    )
    quiet: Annotated[str, AfterValidator(checked_quiet)] | None = Field(
        None,
        description="Hours of the team's zone in which only what is critical is told; the rest is told after them.",
        examples=["22:00-07:00"],
    )
    smtp_host: Text | None = Field(None, description="Kind email: the mail server.", examples=["smtp.example.com"])
    smtp_port: Port = Field(587, description="Its port; TLS by STARTTLS, but on this machine.", examples=[587])
    smtp_user: Text | None = Field(None, description="Its user.", examples=["doubletake"])
    smtp_password_env: Annotated[Text, AfterValidator(checked_variable)] = Field(
        "DOUBLETAKE_SMTP_PASSWORD",
        description="The environment variable that holds the password.",
        examples=["DOUBLETAKE_SMTP_PASSWORD"],
    )
    email_from: Text | None = Field(None, description="The sender.", examples=["doubletake@example.com"])
    email_to: Annotated[tuple[str, ...], AfterValidator(checked_emails)] = Field(
        (), description="The receivers.", examples=[["oncall@example.com"]]
    )

    @model_validator(mode="after")
    def _knows_where_mail_goes(self) -> "NotifySection":
        if self.kind == "email" and not (self.smtp_host and self.email_from and self.email_to):
            refuse("has no smtp_host, email_from and email_to", "An e-mail needs all three.", "")
        return self


class SettingsFile(Section):
    """The settings file of Doubletake, doubletake.toml. Every section and every key may be left out."""

    redact: Annotated[tuple[Text, ...], AfterValidator(checked_patterns)] = Field(
        (), description="RE2 patterns: what they match is never written down.", examples=[["(?i)bearer \\S+"]]
    )
    keep_bodies: Flag = Field(
        True,
        description="False: message bodies are taken out of log lines, but for business keys and the ids that SNS and EventBridge give events.",
        examples=[False],
    )
    handle_key_file: Annotated[str, BeforeValidator(checked_file_path)] | None = Field(
        None,
        description="A file, outside the lake, with the key that receipt handles are digested with.",
        examples=["~/.doubletake-key"],
    )
    function: Annotated[tuple[FunctionSection, ...], once(lambda f: f.name)] = Field(
        (), description="Lambda functions."
    )
    worker: Annotated[tuple[WorkerSection, ...], once(lambda w: w.log_group)] = Field(
        (), description="Consumers that are not Lambda."
    )
    producer: Annotated[tuple[ProducerSection, ...], once(lambda p: (p.log_group, p.queue))] = Field(
        (), description="What sends to queues, and logs it."
    )
    queue: Annotated[tuple[QueueSection, ...], once(lambda q: q.name)] = Field(
        (), description="What the team says of queues."
    )
    guard_table: Annotated[tuple[GuardTableSection, ...], once(lambda t: t.name)] = Field(
        (), description="How idempotency tables record that are not as Powertools has them."
    )
    account: tuple[AccountSection, ...] = Field((), description="Accounts to collect from.")
    team: TeamSection = TeamSection()
    access: AccessSection = AccessSection()
    notify: NotifySection = NotifySection()

    @model_validator(mode="after")
    def _says_whose_tables_they_are(self) -> "SettingsFile":
        named = {consumer.guard_table for consumer in (*self.function, *self.worker)}
        for table in self.guard_table:
            if table.name not in named:
                refuse(
                    said("{table} is the table of no function and no worker", table=f"[[guard_table]] {table.name!r}"),
                    said(
                        "Write guard_table = {name} under the [[function]] or [[worker]] that asks it.",
                        name=f'"{table.name}"',
                    ),
                    "",
                )
        return self
