"""News by e-mail: SMTP with TLS, or on this machine."""

import os
import smtplib
import ssl
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any

from forensics.report.notice import WebhookError
from forensics.sentence import said

if TYPE_CHECKING:
    from forensics.settings import Notify

TIMEOUT_S = 10.0
_LOCAL = ("127.0.0.1", "localhost", "::1")


def send_mail(settings: "Notify", body: dict[str, Any]) -> None:
    """Send one e-mail; raises WebhookError, which never tells the password, unless the server took it."""
    message = EmailMessage()
    message["Subject"], message["From"] = body["subject"], settings.email_from
    message["To"] = ", ".join(settings.email_to)
    message.set_content(body["text"])
    host, port = settings.smtp_host or "localhost", settings.smtp_port
    password = os.environ.get(settings.smtp_password_env)
    try:
        with smtplib.SMTP(host, port, timeout=TIMEOUT_S) as server:
            if host not in _LOCAL:
                server.starttls(context=ssl.create_default_context())
            if password and settings.smtp_user:
                server.login(settings.smtp_user, password)
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as problem:
        raise WebhookError(
            said("{where} did not take the e-mail: {why}", where=f"{host}:{port}", why=type(problem).__name__),
            "It is not recorded as told, and is sent again the next time.",
        ) from None
