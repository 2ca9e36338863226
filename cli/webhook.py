"""What a webhook is told, and how it is sent."""

import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forensics.lake import Findings
    from forensics.report.notice import Notice
    from forensics.settings import Notify

TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Webhook:
    """Where news goes: ``address`` is a secret, ``target`` names it without telling it, ``host`` is for people."""

    address: str = field(repr=False)
    target: str
    kind: str
    dashboard: str | None

    @property
    def host(self) -> str:
        """Return the name of the machine that listens."""
        return self.target.partition("~")[0]

    def due(self, findings: "Findings", incident_id: str | None = None) -> "list[Notice]":
        """Return the news that this webhook has not had, oldest incident first."""
        from forensics.report.notice import due

        return due(findings, self.target, self.kind, self.dashboard, incident_id)


def webhook_of(settings: "Notify", kind: str | None = None) -> Webhook:
    """Return the webhook that the settings name; raises WebhookError where its variable holds no usable address."""
    from forensics.report.notice import WebhookError, target_of

    address = os.environ.get(settings.webhook_env, "")
    if not address:
        raise WebhookError(
            f"the variable {settings.webhook_env} holds no webhook's address",
            f"Set it, or name another variable under [notify]: export {settings.webhook_env}=https://...",
        )
    return Webhook(address, target_of(address), kind or settings.kind, settings.dashboard)


def tell(findings: "Findings", webhook: Webhook, notices: "Iterable[Notice]") -> "Iterator[Notice]":
    """Send notices and keep that they were taken, one after the other; raises WebhookError at the first refusal."""
    from forensics.report.notice import record

    for notice in notices:
        post(webhook, notice)
        record(findings.lake, notice, webhook.target, findings.generation.data_version, datetime.now(UTC))
        yield notice


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:  # a redirect could lead anywhere, and off https
        return None


def post(webhook: Webhook, notice: "Notice") -> None:
    """Send one notice; raises WebhookError, which never tells the address, unless the webhook says 2xx."""
    from forensics.report.notice import WebhookError

    asked = urllib.request.Request(  # noqa: S310 - target_of lets only https or loopback pass
        webhook.address,
        data=json.dumps(notice.body).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "doubletake"},
        method="POST",
    )
    hint = "It is not recorded as told, and is sent again the next time."
    try:
        with urllib.request.build_opener(_NoRedirects()).open(asked, timeout=TIMEOUT_S) as answer:
            answer.read(1000)
    except urllib.error.HTTPError as problem:
        raise WebhookError(
            f"{webhook.host} answered {problem.code} to the notice of {notice.incident_id}", hint
        ) from None
    except (OSError, ValueError, http.client.HTTPException) as problem:
        reason = getattr(problem, "reason", None) or type(problem).__name__
        raise WebhookError(f"{webhook.host} did not take the notice of {notice.incident_id}: {reason}", hint) from None
