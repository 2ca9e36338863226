"""The settings file, doubletake.toml: read once, checked, then plain values."""

import re
import tomllib
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from forensics.access import MODES, Access
from forensics.errors import SettingsError
from forensics.json_path import is_path
from forensics.regions import partition_of

ORDERS = ("sequential", "parallel")
WEBHOOKS = ("slack", "json")
WORKER_FORMATS = ("laravel", "shoryuken", "sqs-consumer", "celery", "spring", "lines")
_CONSUMER_KEYS = {
    "effect": str,
    "effect_is_exhaustive": bool,
    "started": str,
    "guard": str,
    "deleted": str,
    "failed": str,
    "message_id": str,
    "receive_count": str,
    "order": str,
    "idempotent": bool,
}
_GROUPS = {"message_id", "key"}


@dataclass(frozen=True)
class Consumer:
    """How one consumer logs: a Lambda function (``name``) or a worker (``log_group``).

    ``effect``, ``started``, ``guard``, ``deleted`` and ``failed`` are regular expressions with the groups message_id
    and/or key. ``message_id`` and ``receive_count`` say where every line carries these: a JSON path, or a regular
    expression with a group of that name; then the other expressions need no groups.
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
    message_id: str | None = None
    receive_count: str | None = None
    order: str | None = None
    idempotent: bool | None = None


@dataclass(frozen=True)
class AcceptedRisk:
    """A finding the team lives with: a check's or signal's code, the last day it holds (team's zone), and why."""

    check: str
    until: date
    reason: str


@dataclass(frozen=True)
class Queue:
    """What the team says of one queue."""

    name: str
    business_key: str | None = None
    owner: str | None = None
    note: str | None = None
    accepted: tuple[AcceptedRisk, ...] = ()


@dataclass(frozen=True)
class Team:
    """How the team reads: its time zone (IANA name), and after how many minutes data counts as old."""

    zone: str | None = None
    stale_after_min: int = 60


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


@dataclass(frozen=True)
class Settings:
    """The whole file; ``text`` is its content, part of a run's fingerprint.

    ``redact`` are RE2 expressions: what they match is never written. ``keep_bodies`` False takes bodies out of log lines.
    """

    functions: tuple[Consumer, ...] = ()
    workers: tuple[Consumer, ...] = ()
    queues: tuple[Queue, ...] = ()
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

    @classmethod
    def load(cls, path: Path | None) -> "Settings":
        """Read a file; None means ./doubletake.toml if it is there, else defaults.

        Raises SettingsError with the place and the value for anything that cannot be meant.
        """
        if path is None:
            path = Path("doubletake.toml")
            if not path.exists():
                return cls()
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise SettingsError(
                f"the settings file {str(path)!r} cannot be read: {problem}", "Check the path given with --config."
            ) from problem
        return cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, where: str = "doubletake.toml") -> "Settings":
        """Read the text of a settings file; raises SettingsError."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            raise SettingsError(
                f"{where} is not valid TOML: {problem}", "Regular expressions go in 'single quotes'."
            ) from problem
        unknown = sorted(set(data) - _SECTIONS - {"redact", "keep_bodies", "handle_key_file"})
        if unknown:
            raise SettingsError(
                f"{where}: {unknown[0]!r} is not a section",
                "Sections are [[function]], [[worker]], [[queue]], [[account]], [team], [access] and [notify]; "
                "redact, keep_bodies and handle_key_file stand above them.",
            )
        return cls(
            functions=tuple(_consumer(d, where, "function", "name") for d in _tables(data, "function", where)),
            workers=tuple(_consumer(d, where, "worker", "log_group") for d in _tables(data, "worker", where)),
            queues=tuple(_queue(d, where) for d in _tables(data, "queue", where)),
            team=_team(data.get("team", {}), where),
            accounts=tuple(_account(d, where) for d in _tables(data, "account", where)),
            access=_access(data.get("access", {}), where),
            notify=_notify(data.get("notify", {}), where),
            redact=_redact(data.get("redact", []), where),
            keep_bodies=_keep_bodies(data.get("keep_bodies", True), where),
            handle_key_file=_handle_key_file(data.get("handle_key_file"), where),
            text=text,
        )


_SECTIONS = {"function", "worker", "queue", "account", "team", "access", "notify"}


def _tables(data: dict[str, Any], name: str, where: str) -> list[dict[str, Any]]:
    found = data.get(name, [])
    if not isinstance(found, list) or not all(isinstance(d, dict) for d in found):
        raise SettingsError(f"{where}: {name!r} must be written as [[{name}]]", f"Use double brackets: [[{name}]].")
    return found


def _checked(d: dict[str, Any], where: str, section: str, kinds: dict[str, type]) -> dict[str, Any]:
    for key, value in d.items():
        if key not in kinds:
            known = ", ".join(sorted(kinds))
            raise SettingsError(f"{where}: [[{section}]] has no key {key!r}", f"Known keys: {known}.")
        if not isinstance(value, kinds[key]):
            raise SettingsError(
                f"{where}: [[{section}]] {key} = {value!r} is not a {kinds[key].__name__}", "See the README's example."
            )
    return d


def _consumer(d: dict[str, Any], where: str, section: str, identity: str) -> Consumer:
    kinds: dict[str, type] = {identity: str, **_CONSUMER_KEYS}
    if section == "worker":
        kinds |= {"queue": str, "format": str}
    d = _checked(d, where, section, kinds)
    if not d.get(identity):
        raise SettingsError(f"{where}: a [[{section}]] lacks {identity!r}", f'Add {identity} = "...".')
    if d.get("order", "sequential") not in ORDERS:
        raise SettingsError(f"{where}: order = {d['order']!r} is unknown", 'Use "sequential" or "parallel".')
    if d.get("format", "lines") not in WORKER_FORMATS:
        raise SettingsError(f"{where}: format = {d['format']!r} is unknown", f"Formats: {', '.join(WORKER_FORMATS)}.")
    for key in ("message_id", "receive_count"):
        if key in d:
            _check_place(d[key], key, f"{where}: [[{section}]] {key}")
    for key in ("effect", "started", "guard", "deleted", "failed"):
        if key in d:
            _check_pattern(d[key], f"{where}: [[{section}]] {key}", needs_groups="message_id" not in d)
    return Consumer(**d)


def _check_place(place: str, group: str, where: str) -> None:
    if place.startswith("$"):
        _check_path(place, where)
        return
    try:
        groups = _groups_of(place)
    except ValueError as problem:
        raise SettingsError(
            f"{where} = {place!r} is neither a JSON path nor a regular expression: {problem}",
            "A JSON path begins with $.",
        ) from problem
    if groups != {group}:
        raise SettingsError(
            f"{where} = {place!r} has the groups {sorted(groups)}",
            f"Name what it finds: (?P<{group}>...), nothing else.",
        )


def _groups_of(expression: str) -> set[str]:
    """Return the named groups of an expression, read as log lines are: with ASCII classes. Raises ValueError."""
    try:
        return set(re.compile(expression, re.ASCII).groupindex)
    except (re.error, OverflowError, RecursionError) as problem:
        raise ValueError(problem) from problem


def _check_path(path: str, where: str) -> None:
    if not is_path(path):
        raise SettingsError(f"{where} = {path!r} is not a JSON path", "Write it like $.payment_id or $.order.id.")


def _check_pattern(pattern: str, where: str, needs_groups: bool = True) -> None:
    try:
        groups = _groups_of(pattern)
    except ValueError as problem:
        raise SettingsError(
            f"{where} = {pattern!r} is not a regular expression: {problem}", "Test it on one line."
        ) from problem
    if (needs_groups and not groups) or groups - _GROUPS:
        raise SettingsError(
            f"{where} = {pattern!r} has the groups {sorted(groups)}",
            "Name what it finds: (?P<message_id>...) and/or (?P<key>...), no other groups by name.",
        )


def _queue(d: dict[str, Any], where: str) -> Queue:
    kinds: dict[str, type] = {"name": str, "business_key": str, "owner": str, "note": str, "accepted": list}
    d = _checked(d, where, "queue", kinds)
    if not d.get("name"):
        raise SettingsError(f"{where}: a [[queue]] lacks 'name'", 'Add name = "...".')
    path = d.get("business_key")
    if path is not None:
        _check_path(path, f"{where}: business_key")
    return Queue(**{**d, "accepted": tuple(_accepted(a, where) for a in _tables(d, "accepted", where))})


def _accepted(d: dict[str, Any], where: str) -> AcceptedRisk:
    section = "queue.accepted"
    d = _checked(d, where, section, {"check": str, "until": date, "reason": str})
    for key in ("check", "until", "reason"):
        if not d.get(key):
            hint = "Write until = 2026-12-31: the last day it holds." if key == "until" else f'Add {key} = "...".'
            raise SettingsError(f"{where}: a [[{section}]] lacks {key!r}", hint)
    until = d["until"]
    return AcceptedRisk(d["check"], until.date() if isinstance(until, datetime) else until, d["reason"])


def _redact(patterns: Any, where: str) -> tuple[str, ...]:
    if not isinstance(patterns, list) or not all(isinstance(p, str) and p for p in patterns):
        raise SettingsError(
            f"{where}: redact = {patterns!r} is not a list of patterns", "Write redact = ['\\b\\d{16}\\b']."
        )
    if patterns:
        from forensics.privacy import BadPatternError, compiled

        for some in (*([p] for p in patterns), patterns):
            try:
                compiled(some)
            except BadPatternError as problem:
                raise SettingsError(
                    f"{where}: redact = {some[0]!r} cannot be used: {problem}",
                    "Patterns are RE2: no lookaround, no back-references, so that no line can make them slow.",
                ) from problem
    return tuple(patterns)


def _keep_bodies(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise SettingsError(f"{where}: keep_bodies = {value!r} is not true or false", "Write keep_bodies = false.")
    return value


def _handle_key_file(value: Any, where: str) -> str | None:
    if value is not None and not (isinstance(value, str) and value):
        raise SettingsError(
            f"{where}: handle_key_file = {value!r} is not a path", 'Write handle_key_file = "~/.doubletake-key".'
        )
    return value


def _account(d: dict[str, Any], where: str) -> Account:
    d = _checked(d, where, "account", {"profile": str, "regions": list, "endpoint_url": str})
    regions = d.get("regions", [])
    for region in regions:
        if not isinstance(region, str) or not partition_of(region):
            raise SettingsError(
                f"{where}: [[account]] regions has {region!r}, which is not a region",
                'Write it like "eu-west-1"; a newer boto3 may know newer ones.',
            )
    if not d:
        raise SettingsError(f"{where}: an [[account]] says nothing", 'Add profile = "..." or regions = ["..."].')
    return Account(d.get("profile"), tuple(dict.fromkeys(regions)), d.get("endpoint_url"))


def _team(d: Any, where: str) -> Team:
    if not isinstance(d, dict):
        raise SettingsError(f"{where}: 'team' must be written as [team]", "Use single brackets: [team].")
    d = _checked(d, where, "team", {"zone": str, "stale_after_min": int})
    if zone := d.get("zone"):
        try:
            ZoneInfo(zone)
        except (KeyError, ValueError, OSError) as problem:
            raise SettingsError(
                f"{where}: zone = {zone!r} is not a time zone", "Use an IANA name like Europe/Berlin or Asia/Tokyo."
            ) from problem
    if d.get("stale_after_min", 1) <= 0:
        raise SettingsError(f"{where}: stale_after_min = {d['stale_after_min']} is not positive", "Give minutes.")
    return Team(**d)


def _access(d: Any, where: str) -> Access:
    if not isinstance(d, dict):
        raise SettingsError(f"{where}: 'access' must be written as [access]", "Use single brackets: [access].")
    d = _checked(d, where, "access", {"mode": str, "emails": list, "session_hours": int})
    mode, emails = d.get("mode", "none"), d.get("emails", [])
    if mode not in MODES:
        raise SettingsError(f"{where}: [access] mode = {mode!r} is unknown", 'Use "none" or "oidc".')
    if not all(isinstance(e, str) and "@" in e.strip() for e in emails):
        raise SettingsError(
            f"{where}: [access] emails = {emails!r} are not e-mail addresses",
            'Write ["ana@example.com", "@team.example.com"].',
        )
    if mode == "oidc" and not emails:
        raise SettingsError(f"{where}: [access] lets nobody in", "List who may look under emails.")
    if d.get("session_hours", 1) <= 0:
        raise SettingsError(f"{where}: [access] session_hours = {d['session_hours']} is not positive", "Give hours.")
    return Access(mode, tuple(emails), d.get("session_hours", Access.session_hours))


def _notify(d: Any, where: str) -> Notify:
    if not isinstance(d, dict):
        raise SettingsError(f"{where}: 'notify' must be written as [notify]", "Use single brackets: [notify].")
    d = _checked(d, where, "notify", {"webhook_env": str, "kind": str, "dashboard": str})
    if d.get("kind", "slack") not in WEBHOOKS:
        raise SettingsError(f"{where}: [notify] kind = {d['kind']!r} is unknown", f"Kinds: {', '.join(WEBHOOKS)}.")
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", d.get("webhook_env", "X")):
        raise SettingsError(
            f"{where}: [notify] webhook_env = {d['webhook_env']!r} is not the name of a variable",
            "A webhook's address is a secret: keep it in an environment variable and name that here.",
        )
    return Notify(**d)
