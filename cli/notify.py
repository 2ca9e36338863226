"""The command that tells a webhook of incidents: notify."""

import json
import os
from enum import StrEnum
from typing import Annotated

import typer

from cli.options import Everywhere
from cli.output import say
from cli.webhook import Webhook, tell, webhook_of
from forensics.choices import WEBHOOKS

Kind = StrEnum("Kind", {k.upper(): k for k in WEBHOOKS})  # type: ignore[misc]


def notify(
    chosen: Everywhere,
    incident: Annotated[str | None, typer.Argument(metavar="[INCIDENT]", help="Only this incident; else all.")] = None,
    kind: Annotated[
        Kind | None, typer.Option("--kind", help="slack or json; [notify] of the settings file if not said.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be sent, and send nothing.")] = False,
) -> None:
    """Tell a webhook of every incident it has not heard of, and of changes; the same news never twice."""
    from forensics.report.incident_lookup import find_incident

    settings = chosen.settings().notify
    wanted = str(kind) if kind else None
    if dry_run and not os.environ.get(settings.webhook_env):
        webhook = Webhook("", "nobody", wanted or settings.kind, settings.dashboard)
    else:
        webhook = webhook_of(settings, wanted)
    findings = chosen.open_lake().findings()
    if incident is not None:
        find_incident(findings, incident)
    notices = webhook.due(findings, incident)
    for notice in notices if dry_run else tell(findings, webhook, notices):
        if dry_run:
            print(json.dumps(notice.body, indent=1))
        else:
            say(f"told {webhook.host} of {notice.incident_id}")
    if not notices:
        say("Nothing new to tell.")
