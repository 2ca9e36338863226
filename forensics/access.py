"""Who may look at the dashboard: everybody on this machine, or the people of a list who signed in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

MODES = ("none", "oidc")


@dataclass(frozen=True)
class Access:
    """The ``[access]`` section. An entry of ``emails`` is an address, or ``@example.com`` for everybody there."""

    mode: str = "none"
    emails: tuple[str, ...] = ()
    session_hours: int = 12

    def refusal(self, claims: Mapping[str, Any], now: datetime) -> str | None:
        """Say why somebody with these claims of an identity provider may not look; None where they may.

        >>> Access("oidc", ("@example.com",)).refusal({"email": "Ana@Example.com"}, datetime.now(UTC))
        >>> Access("oidc", ("ana@example.com",)).refusal({"email": "eve@example.com"}, datetime.now(UTC))
        'eve@example.com is not on the list of who may look.'
        """
        email = str(claims.get("email") or "").strip().lower()
        if not email:
            return "The sign-in gave no e-mail address."
        if claims.get("email_verified") is False:
            return f"{email} is not verified by the identity provider."
        since = claims.get("iat") or claims.get("auth_time")
        if isinstance(since, int | float) and now - datetime.fromtimestamp(since, UTC) > timedelta(
            hours=self.session_hours
        ):
            return f"The sign-in is older than {self.session_hours} h."
        name, _, domain = email.rpartition("@")
        listed = {entry.strip().lower() for entry in self.emails}
        if not name or (email not in listed and f"@{domain}" not in listed):
            return f"{email} is not on the list of who may look."
        return None
