"""The settings file as a person writes it: its sections and keys, what each means, and what of them cannot be meant.

Only whoever reads a file needs this module; what was read are the plain values of ``forensics.settings``.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, NoReturn
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_validator
from pydantic_core import PydanticCustomError

from forensics.choices import AccessMode, Order, WebhookKind, WorkerFormat
from forensics.clock import ZONE_HINT, zone_of
from forensics.json_path import is_path
from forensics.patterns import BadPatternError, compiled
from forensics.regions import partition_of

REFUSED = "refused"
"""The type of an error whose sentence and hint are ours: the context's ``sentence`` and ``hint``."""
_GROUPS = {"message_id", "key"}
_LINES = ("effect", "started", "guard", "deleted", "failed")
"""Keys that hold an expression for lines."""


def refuse(sentence: str, hint: str, key: str | None = None) -> NoReturn:
    """Refuse a value. With ``key``, which may be empty, the sentence tells itself what it is about."""
    raise PydanticCustomError(REFUSED, "{sentence}", {"sentence": sentence, "hint": hint, "key": key})


def _path(text: str) -> str:
    if not is_path(text):
        refuse("is not a JSON path", "Write it like $.payment_id or $.order.id.")
    return text


def _groups_of(expression: str) -> set[str]:
    """Return the named groups of an expression, read as log lines are: with ASCII classes. Raises ValueError."""
    try:
        return set(re.compile(expression, re.ASCII).groupindex)
    except (re.error, OverflowError, RecursionError) as problem:
        raise ValueError(problem) from problem


def _expression(text: str) -> str:
    try:
        groups = _groups_of(text)
    except ValueError as problem:
        refuse(f"is not a regular expression: {problem}", "Test it on one line.")
    if groups - _GROUPS:
        refuse(
            f"has the groups {sorted(groups)}",
            "Name what it finds: (?P<message_id>...) and/or (?P<key>...), no other groups by name.",
        )
    return text


def _place_of(group: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text.startswith("$"):
            return _path(text)
        try:
            groups = _groups_of(text)
        except ValueError as problem:
            refuse(f"is neither a JSON path nor a regular expression: {problem}", "A JSON path begins with $.")
        if groups != {group}:
            refuse(f"has the groups {sorted(groups)}", f"Name what it finds: (?P<{group}>...), nothing else.")
        return text

    return check


def _day(value: Any) -> Any:
    return value.date() if isinstance(value, datetime) else value


def _zone(name: str) -> str:
    if zone_of(name) is None:
        refuse("is not a time zone", ZONE_HINT)
    return name


def _region(name: Any) -> Any:
    if not isinstance(name, str) or not partition_of(name):
        refuse("is not a region", 'Write it like "eu-west-1"; a newer boto3 may know newer ones.')
    return name


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_address = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        is_address = False
    if not is_address or re.search(r"\s", text):
        refuse("is not the address of a server", "Write it whole, like https://doubletake.example.com.")
    return text


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        refuse(
            "is not the name of a variable",
            "A webhook's address is a secret: keep it in an environment variable and name that here.",
        )
    return name


def _file(path: Any) -> Any:
    if not isinstance(path, str) or not path:
        refuse("is not a path", 'Write handle_key_file = "~/.doubletake-key".')
    return path


def _queue_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo", name):
        refuse("is not a queue's name", "Write the last part of its ARN or URL, like payments.fifo.")
    return name


def _function_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        refuse("is not a function's name", "Write the name alone, without ARN and version.")
    return name


def _emails(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    if not all("@" in entry.strip() for entry in entries):
        refuse("are not e-mail addresses", 'Write ["ana@example.com", "@team.example.com"].')
    return entries


def _patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for some in (*((p,) for p in patterns), *([patterns] if patterns else ())):
        try:
            compiled(some)
        except BadPatternError as problem:
            refuse(
                f"redact has {some[0]!r}, which cannot be used: {problem}",
                "Patterns are RE2: no lookaround, no back-references, so that no line can make them slow.",
                "redact",
            )
    return patterns


def _once(identity: Callable[[Any], Any]) -> AfterValidator:
    """Refuse a second entry of the same name: which of the two would be meant?"""

    def check(entries: tuple[Any, ...]) -> tuple[Any, ...]:
        seen = set()
        for entry in entries:
            name = identity(entry)
            if name in seen:
                refuse(f"has {name!r} twice", "Write what belongs to it under one heading.", "")
            seen.add(name)
        return entries

    return AfterValidator(check)


Text = Annotated[str, Field(min_length=1)]
Flag = Annotated[bool, Strict()]
Count = Annotated[int, Strict(), Field(gt=0)]
Expression = Annotated[Text, AfterValidator(_expression)]
JsonPath = Annotated[Text, AfterValidator(_path)]
QueueName = Annotated[Text, AfterValidator(_queue_name)]
Address = Annotated[Text, AfterValidator(_address)]


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
    message_id: Annotated[Text, AfterValidator(_place_of("message_id"))] | None = Field(
        None,
        description="Where every line carries the message id: a JSON path, or an expression with the group message_id."
        " With it the other expressions need no groups.",
        examples=["$.sqs.id"],
    )
    receive_count: Annotated[Text, AfterValidator(_place_of("receive_count"))] | None = Field(
        None, description="The same for the receive count, with the group receive_count.", examples=["$.sqs.count"]
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
            text = getattr(self, key)
            if text is not None and self.message_id is None and not _groups_of(text):
                refuse(
                    f"{key} = {text!r} has the groups []",
                    "Name what it finds: (?P<message_id>...) and/or (?P<key>...), no other groups by name.",
                    key,
                )
        return self


class FunctionSection(ConsumerSection):
    """A Lambda function and what its lines mean."""

    name: Annotated[Text, AfterValidator(_function_name)] = Field(
        description="The function's name.", examples=["charge-card"]
    )


class WorkerSection(ConsumerSection):
    """A consumer that is not Lambda, and what its lines mean."""

    log_group: Text = Field(description="Where it logs.", examples=["/ecs/orders-worker"])
    queue: QueueName | None = Field(None, description="The queue it consumes.", examples=["orders"])
    format: WorkerFormat | None = Field(
        None, description="The framework whose lines it prints; not said: recognised.", examples=["laravel"]
    )


class AcceptedSection(Section):
    """A risk the team lives with, until a day it names."""

    check: Text = Field(
        description="A check's or signal's code, as `doubletake check` prints it.", examples=["fifo_single_group"]
    )
    until: Annotated[date, Strict(), BeforeValidator(_day)] = Field(
        description="The last day it holds, in the team's zone.", examples=[date(2026, 12, 31)]
    )
    reason: Text = Field(description="Why, for the next reader.", examples=["moves in January"])


class QueueSection(Section):
    """What the team says of one queue."""

    name: QueueName = Field(description="The queue's name.", examples=["payments.fifo"])
    business_key: JsonPath | None = Field(
        None, description="Where a body carries what the work is about: a JSON path.", examples=["$.payment_id"]
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
    accepted: Annotated[tuple[AcceptedSection, ...], _once(lambda a: a.check)] = Field(
        (), description="Risks the team lives with."
    )


class AccountSection(Section):
    """Where to collect: one AWS account, in one region or several; no such section: as the environment says."""

    profile: Text | None = Field(None, description="The AWS profile.", examples=["payments-prod"])
    regions: tuple[Annotated[Any, AfterValidator(_region), Field(json_schema_extra={"type": "string"})], ...] = Field(
        (), description="Its regions; none: the profile's.", examples=[["eu-west-1", "eu-central-1"]]
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

    zone: Annotated[Text, AfterValidator(_zone)] | None = Field(
        None, description="The time zone beside UTC, and of days and weeks: an IANA name.", examples=["Asia/Tokyo"]
    )
    stale_after_min: Count = Field(60, description="After how many minutes data counts as old.", examples=[60])


class AccessSection(Section):
    """Who may look at the dashboard beyond this machine."""

    mode: AccessMode = Field(
        "none",
        description='"oidc": a login, with the provider of .streamlit/secrets.toml beside the settings file.',
        examples=["oidc"],
    )
    emails: Annotated[tuple[str, ...], AfterValidator(_emails)] = Field(
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
    """Where `doubletake notify` and `watch --notify` tell of incidents."""

    webhook_env: Annotated[Text, AfterValidator(_variable)] = Field(
        "DOUBLETAKE_WEBHOOK",
        description="The environment variable that holds the webhook's address, which is a secret.",
        examples=["DOUBLETAKE_WEBHOOK"],
    )
    kind: WebhookKind = Field("slack", description="What the webhook understands.", examples=["slack"])
    dashboard: Address | None = Field(
        None, description="The dashboard's address, for the link.", examples=["https://doubletake.example.com"]
    )


class SettingsFile(Section):
    """The settings file of Doubletake, doubletake.toml. Every section and every key may be left out."""

    redact: Annotated[tuple[Text, ...], AfterValidator(_patterns)] = Field(
        (), description="RE2 patterns: what they match is never written down.", examples=[["(?i)bearer \\S+"]]
    )
    keep_bodies: Flag = Field(
        True,
        description="False: message bodies are taken out of log lines, but for the business key.",
        examples=[False],
    )
    handle_key_file: Annotated[str, BeforeValidator(_file)] | None = Field(
        None,
        description="A file, outside the lake, with the key that receipt handles are digested with.",
        examples=["~/.doubletake-key"],
    )
    function: Annotated[tuple[FunctionSection, ...], _once(lambda f: f.name)] = Field(
        (), description="Lambda functions."
    )
    worker: Annotated[tuple[WorkerSection, ...], _once(lambda w: w.log_group)] = Field(
        (), description="Consumers that are not Lambda."
    )
    queue: Annotated[tuple[QueueSection, ...], _once(lambda q: q.name)] = Field(
        (), description="What the team says of queues."
    )
    account: tuple[AccountSection, ...] = Field((), description="Accounts to collect from.")
    team: TeamSection = TeamSection()
    access: AccessSection = AccessSection()
    notify: NotifySection = NotifySection()
