"""What the settings file says, as plain values; ``settings_file`` declares what may stand in it."""

import os
import stat
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from forensics.access import Access
from forensics.choices import ALERTS
from forensics.errors import SettingsError, not_utf8
from forensics.sentence import said

NAME = "doubletake.toml"


@dataclass(frozen=True)
class Consumer:
    """How one consumer logs: a Lambda function (``name``) or a worker (``log_group``).

    ``effect``, ``started``, ``guard``, ``deleted`` and ``failed`` are regular expressions with the groups message_id
    and/or key, ``visibility_set`` with the group seconds, too. ``message_id`` and ``receive_count`` say where every line carries these: a JSON path, or a regular
    expression with a group of that name; then the other expressions need no groups.
    ``guard_table`` is the name of the DynamoDB table that its guard asks.
    ``order`` and ``idempotent`` are None where not said: unknown, not a default.
    """

    name: str | None = None
    log_group: str | None = None
    queue: str | None = None
    format: str | None = None
    effect: str | None = None
    effect_is_exhaustive: bool = False
    started: str | None = None
    guard: str | None = None
    deleted: str | None = None
    failed: str | None = None
    visibility_set: str | None = None
    message_id: str | None = None
    receive_count: str | None = None
    guard_table: str | None = None
    order: str | None = None
    idempotent: bool | None = None

    @property
    def names_messages(self) -> bool:
        """Tell whether its settings say where lines name messages."""
        marks = (self.effect, self.started, self.guard, self.deleted, self.failed, self.visibility_set)
        return self.message_id is not None or any("(?P<message_id>" in mark for mark in marks if mark)


@dataclass(frozen=True)
class Producer:
    """How one producer logs what it sends to a queue: which lines are sends, and where they carry what.

    ``sent`` is a regular expression, with the other keys' names as groups where it finds them itself. The others are JSON
    paths, or regular expressions with a group of that name. ``request_id`` is the producer's own request or job.
    """

    log_group: str
    queue: str
    sent: str | None = None
    sent_is_exhaustive: bool = False
    message_id: str | None = None
    key: str | None = None
    deduplication_id: str | None = None
    request_id: str | None = None
    sent_at: str | None = None


@dataclass(frozen=True)
class AcceptedRisk:
    """A finding the team lives with: a check's or signal's code, the last day it holds (team's zone), and why."""

    check: str
    until: date
    reason: str


@dataclass(frozen=True)
class Queue:
    """What the team says of one queue.

    ``business_key`` is one JSON path, or several where bodies have several shapes.
    ``guard_s`` is how long its guard remembers a work, ``promise_s`` within how long a message should be done, ``sequence``
    the JSON path of a field that counts up within a group. None where not said. ``weight`` says how much one repeat of
    its work matters beside one of another queue, where queues and faults are ranked.
    """

    name: str
    business_key: str | tuple[str, ...] | None = None
    owner: str | None = None
    note: str | None = None
    guard_s: int | None = None
    promise_s: int | None = None
    sequence: str | None = None
    weight: int = 1
    accepted: tuple[AcceptedRisk, ...] = ()

    @property
    def key_paths(self) -> tuple[str, ...]:
        """Where its bodies carry their business key: the first path at which one stands tells it."""
        paths = self.business_key
        return (paths,) if isinstance(paths, str) and paths else tuple(paths or ())


@dataclass(frozen=True)
class GuardTable:
    """How an idempotency table records: names of its attributes and words of its status, as Powertools has them unless said.

    ``partition``: the value of the partition key under which all records are; then ``key`` is the sort key. ``key_pattern``
    finds the message id or business key in the key; ``keyed_by`` says which of them it is. None where not said.
    """

    name: str
    partition: str | None = None
    key: str = "id"
    key_pattern: str | None = None
    keyed_by: str | None = None
    status: str = "status"
    completed: str = "COMPLETED"
    in_progress: str = "INPROGRESS"
    expires: str = "expiration"
    in_progress_expires: str = "in_progress_expiration"


@dataclass(frozen=True)
class Team:
    """How the team reads: its time zone (IANA name), after how many minutes data counts as old, and its language."""

    zone: str | None = None
    stale_after_min: int = 60
    language: str = "en"

    @property
    def local(self) -> ZoneInfo:
        """The zone of the team's days and weeks: UTC unless it named one."""
        return ZoneInfo(self.zone or "UTC")


@dataclass(frozen=True)
class Account:
    """One AWS account to read, in one region or several; None: as the environment says."""

    profile: str | None = None
    regions: tuple[str, ...] = ()
    endpoint_url: str | None = None


@dataclass(frozen=True)
class Notify:
    """Where incidents are told: the variable that holds the webhook's address, its kind, and the dashboard's address."""

    webhook_env: str = "DOUBLETAKE_WEBHOOK"
    kind: str = "slack"
    dashboard: str | None = None
    alerts: tuple[str, ...] = ALERTS
    quiet: str | None = None
    smtp_host: str | None = None
    smtp_port: int = 587
    smtp_user: str | None = None
    smtp_password_env: str = "DOUBLETAKE_SMTP_PASSWORD"  # noqa: S105 - a variable's name
    email_from: str | None = None
    email_to: tuple[str, ...] = ()

    def is_quiet(self, at: datetime) -> bool:
        """Tell whether only what is critical is told at a moment of the team's zone.

        >>> night = datetime(2026, 11, 20, 23, 30)
        >>> Notify(quiet="22:00-07:00").is_quiet(night), Notify(quiet="12:00-13:00").is_quiet(night), Notify().is_quiet(night)
        (True, False, False)
        """
        if self.quiet is None:
            return False
        start, end = self.quiet.split("-")
        now = f"{at:%H:%M}"
        return start <= now < end if start <= end else now >= start or now < end


def place_of_settings(named: Path | None, lake: Path) -> Path | None:
    """Return the file whose settings hold: the one that was named, ./doubletake.toml, or the lake's own; else None."""
    beside = (Path(NAME), lake / NAME)
    return named or next((file for file in beside if file.exists()), None)


def settings_file_text(path: Path) -> str:
    """Return what a settings file holds; raises SettingsError.

    A command reads it several times: a pipe would be empty the second time, and some devices never end.
    """
    try:
        if stat.S_IFMT(path.stat().st_mode) not in (stat.S_IFREG, stat.S_IFDIR) and not path.samefile(os.devnull):
            raise OSError("it is a pipe or a device, and no file")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise SettingsError(*not_utf8(path, problem)) from problem
    except OSError as problem:
        raise SettingsError(
            said("the settings file {file} cannot be read: {why}", file=repr(str(path)), why=problem),
            "Check the path given with --config.",
        ) from problem


@dataclass(frozen=True)
class Settings:
    """The whole file; ``text`` is its content, part of a run's fingerprint.

    ``redact`` are RE2 expressions: what they match is never written. ``keep_bodies`` False takes bodies out of log lines.
    """

    functions: tuple[Consumer, ...] = ()
    workers: tuple[Consumer, ...] = ()
    producers: tuple[Producer, ...] = ()
    queues: tuple[Queue, ...] = ()
    guard_tables: tuple[GuardTable, ...] = ()
    team: Team = Team()
    accounts: tuple[Account, ...] = ()
    access: Access = Access()
    notify: Notify = Notify()
    redact: tuple[str, ...] = ()
    keep_bodies: bool = True
    handle_key_file: str | None = None
    text: str = field(default="", repr=False)

    def queue(self, name: str) -> Queue:
        """Return what the team says of a queue; nothing but its name where nothing is said."""
        return next((q for q in self.queues if q.name == name), Queue(name))

    def guard_table(self, name: str) -> GuardTable:
        """Return how an idempotency table records; as Powertools has it where nothing is said."""
        return next((table for table in self.guard_tables if table.name == name), GuardTable(name))

    @property
    def weights(self) -> dict[str, int]:
        """How much one repeat matters, by queue; every other queue's counts once."""
        return {q.name: q.weight for q in self.queues if q.weight != 1}

    @classmethod
    def load(cls, path: Path | None) -> "Settings":
        """Read a file; None means defaults.

        Raises SettingsError with the place and the value for anything that cannot be meant.
        """
        if path is None:
            return cls()
        return cls.parse(settings_file_text(path), str(path))

    @classmethod
    def parse(cls, text: str, where: str = "doubletake.toml") -> "Settings":
        """Read the text of a settings file; raises SettingsError."""
        from forensics.settings_errors import read

        said = read(text, where)
        return cls(
            functions=tuple(Consumer(**dict(f)) for f in said.function),
            workers=tuple(Consumer(**dict(w)) for w in said.worker),
            producers=tuple(Producer(**dict(p)) for p in said.producer),
            queues=tuple(
                Queue(**{**dict(q), "accepted": tuple(AcceptedRisk(**dict(a)) for a in q.accepted)}) for q in said.queue
            ),
            guard_tables=tuple(GuardTable(**dict(t)) for t in said.guard_table),
            team=Team(**dict(said.team)),
            accounts=tuple(Account(**{**dict(a), "regions": tuple(dict.fromkeys(a.regions))}) for a in said.account),
            access=Access(**dict(said.access)),
            notify=Notify(**dict(said.notify)),
            redact=said.redact,
            keep_bodies=said.keep_bodies,
            handle_key_file=said.handle_key_file,
            text=text,
        )
