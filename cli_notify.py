"""The command that tells a webhook of incidents: notify."""

import json
import os
import urllib.error
import urllib.request
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli_options import Everywhere
from cli_output import say
from forensics.settings import WEBHOOKS

if TYPE_CHECKING:
    from forensics.report.notice import Notice

TIMEOUT_S = 10.0
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
    from forensics.report.notice import WebhookError, due, record, target_of

    settings = chosen.settings().notify
    address = os.environ.get(settings.webhook_env, "")
    if not address and not dry_run:
        raise WebhookError(
            f"the variable {settings.webhook_env} holds no webhook's address",
            f"Set it, or name another variable under [notify]: export {settings.webhook_env}=https://...",
        )
    findings = chosen.open_lake().findings()
    if incident is not None:
        find_incident(findings, incident)
    target = target_of(address) if address else "nobody"
    notices = due(findings, target, str(kind or settings.kind), settings.dashboard, incident)
    for notice in notices:
        if dry_run:
            print(json.dumps(notice.body, indent=1))
            continue
        post(address, notice)
        record(findings.lake, notice, target, findings.generation.data_version, datetime.now(UTC))
        say(f"told {target.partition('~')[0]} of {notice.incident_id}")
    if not notices:
        say("Nothing new to tell.")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:  # a redirect could lead anywhere, and off https
        return None


def post(address: str, notice: "Notice") -> None:
    """Send one notice; raises WebhookError, which never tells the address, unless the webhook says 2xx."""
    from forensics.report.notice import WebhookError, target_of

    host = target_of(address).partition("~")[0]
    asked = urllib.request.Request(  # noqa: S310 - target_of lets only https or loopback pass
        address,
        data=json.dumps(notice.body).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "doubletake"},
        method="POST",
    )
    hint = "Nothing is recorded as told; run it again."
    try:
        with urllib.request.build_opener(_NoRedirects()).open(asked, timeout=TIMEOUT_S) as answer:
            answer.read(1000)
    except urllib.error.HTTPError as problem:
        raise WebhookError(f"{host} answered {problem.code} to the notice of {notice.incident_id}", hint) from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "reason", None) or type(problem).__name__
        raise WebhookError(f"{host} did not take the notice of {notice.incident_id}: {reason}", hint) from None
