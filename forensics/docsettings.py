"""Writes docs/settings.md and the settings file's JSON Schema from what may stand in it: ``python -m forensics.docsettings``."""

import json
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from forensics.settings_errors import as_toml, section_of
from forensics.settings_file import SettingsFile

FILE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
SCHEMA_FILE = Path(__file__).resolve().parent / "settings.schema.json"
"""Beside the code, so that an installed Doubletake has it too."""
SCHEMA_NAME = "doubletake.schema.json"
_INTRO = f"""# The settings file

After this page you can tell Doubletake what your handlers' lines mean, and who may look. The file is `doubletake.toml` in the
current folder, else the one in the folder of the lake; `--config` or `DOUBLETAKE_CONFIG` name another. All of it is optional:
what is not said is unknown, and never taken for a no. What cannot be meant is refused with its place and what to write instead.
Findings keep the settings they rest on: the *Data* page shows them and what differs today, and `correlate` tells it. This page
is generated from the declarations in `forensics/settings_file.py` and `settings_consumers.py`; run `python -m forensics.docsettings` after a change.

```sh
doubletake settings                                # check the file, and print what it says
doubletake settings --schema > {SCHEMA_NAME}    # for an editor that completes TOML
```

An editor with Taplo (Even Better TOML) reads the first line, and then completes keys, shows what each means and marks what is
wrong."""

EXAMPLE = rf"""#:schema ./{SCHEMA_NAME}
redact = ['\b\d{{16}}\b', '(?i)bearer \S+']   # RE2 patterns: what they match is never written down
keep_bodies = false               # take message bodies out of log lines, but for business keys
# handle_key_file = "~/.doubletake-key"   # digest receipt handles with a key of this lake's own, kept outside it

[[function]]                      # a Lambda function; expressions are Python's, with ASCII classes; \S+ in a group leaves out the quotes and commas around
name = "charge-card"
effect = 'charged payment_id=(?P<key>\S+)'   # the work was done; groups: message_id and/or key
effect_is_exhaustive = true       # every completed effect prints this line
started = 'processing (?P<message_id>\S+)'   # optional: an item's start
guard = 'already processed (?P<key>\S+)'     # optional: a repeat that was stopped
guard_table = "idempotency"       # the DynamoDB table in which its guard records what was done; read, never written
order = "sequential"              # or "parallel"; not said = inferred from its runs
idempotent = false                # every successful run does the work again; not said = unknown

[[worker]]                        # a consumer that is not Lambda; takes the same keys
log_group = "/ecs/orders-worker"
queue = "orders"
format = "laravel"                # or shoryuken, sqs-consumer, celery, activejob, spring, nservicebus, rebus, watermill, lines; not said = recognised
message_id = "$.sqs.id"           # where every line carries it: JSON path, or a pattern with the group message_id
receive_count = "$.sqs.count"     # the same for the receive count, group receive_count
deleted = '"event": "deleted"'    # the item was done and its delete sent; with message_id said, no group is needed
failed = '"event": "failed"'      # the item failed
visibility_set = '"event": "kept", "for": (?P<seconds>\d+)'   # how long it stays hidden from then on: heartbeats, releases

[[producer]]                      # what sends to a queue, and logs it
log_group = "/ecs/checkout"
queue = "payments.fifo"
sent = 'sent (?P<message_id>\S+)'   # such lines are sends; groups: message_id, key and the names below
key = "$.payment_id"              # or where the line carries it: JSON path, or a pattern with that group
deduplication_id = "$.dedup"
request_id = "$.request_id"       # the producer's own request or job: two sends of one are one tried again
sent_at = "$.sent_at"             # not said: the line's own time
sent_is_exhaustive = true         # every send prints this line, and nobody else sends

[[queue]]
name = "payments.fifo"
business_key = "$.payment_id"     # JSON path in the body; several as a list: the first that a body holds
owner = "payments team"
note = "charges cards"            # shown in the weekly review
guard_s = 3600                    # how long its guard remembers what was done
promise_s = 300                   # within how long after its send a message should be done
sequence = "$.version"            # a number in the body that counts up by one within its group
weight = 20                       # one repeat here matters as much as 20 of a queue of which nothing is said

[[queue.accepted]]                # a risk the team lives with, until a day it names
check = "fifo_single_group"       # a check's code, as `doubletake check` prints it
until = 2026-12-31
reason = "moves to a group per customer in January"

[[guard_table]]                   # a table that does not record as Powertools does
name = "idempotency"
partition = "charges"             # where all its records are under one value of the partition key: these alone are read
key = "sk"                        # the attribute that tells what a record is about, "id" by default
key_pattern = 'charge#(?P<key>\S+)'   # what of it is the business key or message id
keyed_by = "business_key"         # or "message_id"
status = "state"                  # "status" by default; a table may have none
completed = "done"                # what it says once the work is done
in_progress = "begun"             # what it says while somebody is at it
expires = "ttl"                   # epoch seconds, "expiration" by default
in_progress_expires = "locked_until"   # epoch milliseconds

[[account]]                       # where to collect; not said = as AWS_PROFILE and AWS_REGION say
profile = "payments-prod"
regions = ["eu-west-1", "eu-central-1"]

[team]
zone = "Asia/Tokyo"               # the dashboard's time zone beside UTC
stale_after_min = 60              # after so many minutes data counts as old
language = "ja"                   # of dashboard, reports and command; "en" by default

[access]                          # who may look at the dashboard beyond this machine
mode = "oidc"                     # or "none", the default; the provider's client: .streamlit/secrets.toml beside this file
emails = ["ana@example.com", "@payments.example.com"]
session_hours = 12

[notify]                          # doubletake notify and watch --notify
webhook_env = "DOUBLETAKE_WEBHOOK"   # the variable that holds the webhook's address, which is a secret
kind = "slack"                    # or teams, pagerduty, sns, email, json
dashboard = "https://doubletake.example.com"
alerts = ["dead_letter", "lost", "poison", "blocked", "age", "throttled", "source"]   # told beside incidents
quiet = "22:00-07:00"             # in these hours only what is critical, the rest after them
smtp_host = "smtp.example.com"    # kind email
smtp_port = 587
smtp_user = "doubletake"
smtp_password_env = "DOUBLETAKE_SMTP_PASSWORD"   # the variable that holds the password
email_from = "doubletake@example.com"
email_to = ["oncall@example.com"]
"""


def settings_page() -> str:
    """Return the page as Markdown."""
    parts = [_INTRO, f"## An example\n\n```toml\n{EXAMPLE}```", "## Above all sections", _table(SettingsFile)]
    for name in SettingsFile.model_fields:
        parts += _section(SettingsFile, (name,))
    return "\n\n".join(parts) + "\n"


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the settings file."""
    return {"$schema": "http://json-schema.org/draft-07/schema#"} | json.loads(
        json.dumps(SettingsFile.model_json_schema(), default=str)
        .replace("#/$defs/", "#/definitions/")
        .replace('"$defs"', '"definitions"')
    )  # draft 7 is what editors of TOML read


def schema_text() -> str:
    """Return the schema as it is written."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _heading(names: tuple[str, ...], is_list: bool) -> str:
    name = ".".join(names)
    return f"[[{name}]]" if is_list else f"[{name}]"


def _section(parent: type[BaseModel], names: tuple[str, ...]) -> list[str]:
    found = section_of(parent, names[-1])
    if found is None:
        return []
    model, is_list = found
    told = " ".join((model.__doc__ or "").split())
    several = " There may be several." if is_list else ""
    inner = [part for key in model.model_fields for part in _section(model, (*names, key))]
    return [f"## `{_heading(names, is_list)}`", told + several, _table(model), *inner]


def _table(model: type[BaseModel]) -> str:
    rows = [
        f"| `{key}` | {_kind(field)} | {_default(field)} | {_cell(field.description or '')} |"
        for key, field in sorted(model.model_fields.items(), key=lambda item: not item[1].is_required())
        if not section_of(model, key)
    ]
    return "\n".join(["| key | what it takes | not said | what it means |", "|---|---|---|---|", *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


_KINDS = {str: "text", bool: "true or false", int: "a whole number", date: "a date", tuple: "a list"}


def _kind(field: FieldInfo) -> str:
    choices, kind = _choices(field.annotation), _plain(field.annotation)
    return ", ".join(f"`{choice}`" for choice in choices) if choices else _KINDS[kind]


def _plain(annotation: Any) -> type:
    """Return the type below ``Annotated`` and ``| None``."""
    if get_origin(annotation) is tuple:
        return tuple
    inner = get_args(annotation)
    return _plain(inner[0]) if inner else annotation


def _choices(annotation: Any) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next((found for inner in get_args(annotation) if (found := _choices(inner))), ())


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be said"
    return "" if field.default in (None, ()) else f"`{as_toml(field.default)}`"


def main() -> None:
    """Write the page and the schema."""
    FILE.write_text(settings_page(), encoding="utf-8")
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
