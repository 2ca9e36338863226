"""What a webhook is told, and how it is sent."""

import hashlib
import http.client
import json
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from cli.said import language
from forensics.sentence import said

if TYPE_CHECKING:
    from forensics.choices import WebhookKind
    from forensics.lake import Findings
    from forensics.report.notice import Notice
    from forensics.settings import Settings

TIMEOUT_S = 10.0
WHOLE_CALL_S = 30.0
_HINT = "It is not recorded as told, and is sent again the next time."


@dataclass(frozen=True)
class Webhook:
    """Where news goes: ``address`` is a secret, ``target`` names it without telling it, ``host`` is for people."""

    address: str = field(repr=False)
    target: str
    kind: "WebhookKind"
    dashboard: str | None
    settings: "Settings | None" = None
    routing_key: str | None = field(default=None, repr=False)

    @property
    def host(self) -> str:
        """Return the name of the machine that listens."""
        return self.target.partition("~")[0]

    def due(self, findings: "Findings", incident_id: str | None = None) -> "list[Notice]":
        """Return the news that this webhook has not had, oldest incident first."""
        from forensics.report.notice import due

        return due(
            findings, self.target, self.kind, self.dashboard, incident_id, self.settings, datetime.now(UTC), language()
        )


def webhook_of(whole: "Settings", kind: "WebhookKind | None" = None) -> Webhook:
    """Return the webhook that the settings name; raises WebhookError where its variable holds no usable address."""
    from forensics.report.notice import WebhookError, target_of
    from forensics.report.notice_forms import PAGERDUTY

    settings = whole.notify
    kind = kind or cast("WebhookKind", settings.kind)
    if kind == "email":
        if not (settings.smtp_host and settings.email_from and settings.email_to):
            raise WebhookError(
                "nothing says where e-mail goes", "Set smtp_host, email_from and email_to under [notify]."
            )
        digest = hashlib.sha256("|".join(settings.email_to).encode()).hexdigest()[:12]
        return Webhook("", f"{settings.smtp_host}~{digest}", kind, settings.dashboard, whole)
    address = os.environ.get(settings.webhook_env, "")
    if kind == "pagerduty" and address and "://" not in address:
        return Webhook(PAGERDUTY, target_of(f"{PAGERDUTY}#{address}"), kind, settings.dashboard, whole, address)
    if not address:
        raise WebhookError(
            said("the variable {name} holds no webhook's address", name=settings.webhook_env),
            said(
                "Set it, or name another variable under [notify]: {command}",
                command=f"export {settings.webhook_env}=https://...",
            ),
        )
    return Webhook(address, target_of(address), kind, settings.dashboard, whole)


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
    """Send one notice; raises WebhookError, which never tells the address, unless the receiver takes it, and soon.

    ``TIMEOUT_S`` is the longest silence; one that sends a byte now and then would hold a watch for ever.
    """
    from forensics.report.notice import WebhookError

    failures: list[BaseException] = []
    ended = threading.Event()

    def send() -> None:
        try:
            _send(webhook, notice)
        except BaseException as problem:
            failures.append(problem)
        ended.set()

    threading.Thread(target=send, daemon=True).start()
    if not ended.wait(WHOLE_CALL_S):
        raise WebhookError(
            said(
                "{where} did not take the notice of {incident} in {n} s",
                where=webhook.host,
                incident=notice.incident_id,
                n=f"{WHOLE_CALL_S:g}",
            ),
            _HINT,
        )
    if failures:
        raise failures[0]


def _send(webhook: Webhook, notice: "Notice") -> None:
    from forensics.report.notice import WebhookError

    if webhook.kind == "email":
        from cli.mail import send_mail

        assert webhook.settings is not None, "whoever sends e-mail has settings"
        send_mail(webhook.settings.notify, notice.body)
        return
    body = notice.body if webhook.routing_key is None else {**notice.body, "routing_key": webhook.routing_key}
    asked = urllib.request.Request(  # noqa: S310 - target_of lets only https or loopback pass
        webhook.address,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "doubletake"},
        method="POST",
    )
    try:
        urllib.request.build_opener(_NoRedirects()).open(asked, timeout=TIMEOUT_S).close()  # its status is the answer
    except urllib.error.HTTPError as problem:
        raise WebhookError(
            said(
                "{where} answered {code} to the notice of {incident}",
                where=webhook.host,
                code=str(problem.code),
                incident=notice.incident_id,
            ),
            _HINT,
        ) from None
    except (OSError, ValueError, http.client.HTTPException) as problem:
        reason = getattr(problem, "reason", None) or type(problem).__name__
        raise WebhookError(
            said(
                "{where} did not take the notice of {incident}: {why}",
                where=webhook.host,
                incident=notice.incident_id,
                why=reason,
            ),
            _HINT,
        ) from None
