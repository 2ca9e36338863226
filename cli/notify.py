"""The command that tells a webhook of incidents: notify."""

import json
import os
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, cast

import typer

from cli import complete
from cli.options import Everywhere
from cli.output import say
from cli.said import language
from cli.webhook import Webhook, post, tell, webhook_of
from forensics.choices import WEBHOOKS, WebhookKind

Kind = StrEnum("Kind", {k.upper(): k for k in WEBHOOKS})  # type: ignore[misc]


def notify(
    chosen: Everywhere,
    incident: Annotated[
        str | None,
        typer.Argument(metavar="[INCIDENT]", autocompletion=complete.incidents, help="Only this incident; else all."),
    ] = None,
    kind: Annotated[
        Kind | None,
        typer.Option("--kind", help="What the receiver understands. [default: the settings file's]"),
    ] = None,
    test: Annotated[bool, typer.Option("--test", help="Send a test message, and nothing else.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be sent, and send nothing.")] = False,
) -> None:
    """Tell a webhook or mailbox of incidents and alerts it has not heard of, and of changes; the same news never twice."""
    from forensics.lake.incident_lookup import find_incident
    from forensics.report.notice import trial_notice

    # Before the webhook: who mistyped the lake has left the settings file in it behind, and with it where news goes.
    findings = None if test else chosen.findings()
    said = chosen.settings()
    settings = said.notify
    wanted = cast("WebhookKind", str(kind)) if kind else None
    if dry_run and not os.environ.get(settings.webhook_env):
        webhook = Webhook("", "nobody", wanted or cast("WebhookKind", settings.kind), settings.dashboard, said)
    else:
        webhook = webhook_of(said, wanted)
    if findings is None:
        notice = trial_notice(webhook.kind, datetime.now(UTC), language())
        if dry_run:
            print(json.dumps(notice.body, indent=1, ensure_ascii=False))
        else:
            post(webhook, notice)
            say("told {host} that this is a test", host=webhook.host)
        return
    if incident is not None:
        find_incident(findings, incident)
    notices = webhook.due(findings, incident)
    for notice in notices if dry_run else tell(findings, webhook, notices):
        if dry_run:
            print(json.dumps(notice.body, indent=1, ensure_ascii=False))
        else:
            say("told {host} of {incident_id}", host=webhook.host, incident_id=notice.incident_id)
    if not notices:
        say("Nothing new to tell.")
