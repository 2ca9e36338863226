"""Who may look at the dashboard: everybody on this machine, or the people of a list who signed in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.sentence import said

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Addresses that only this machine reaches."""
MOST_AHEAD_S = 300
"""So far the identity provider's clock may be ahead of ours."""
TRUSTED_PROXY = "DOUBLETAKE_TRUSTED_PROXY"
"""Set by ``doubletake serve --trusted-proxy``: somebody in front of the dashboard decides who may look."""


@dataclass(frozen=True)
class Access:
    """The ``[access]`` section. An entry of ``emails`` is an address, or ``@example.com`` for everybody there."""

    mode: str = "none"
    emails: tuple[str, ...] = ()
    session_hours: int = 12

    def refusal(self, claims: Mapping[str, Any]) -> str | None:
        """Say why somebody with these claims of an identity provider may not look; None where they may.

        >>> Access("oidc", ("@example.com",)).refusal({"email": "Ana@Example.com"})
        >>> Access("oidc", ("ana@example.com",)).refusal({"email": "eve@example.com"})
        'eve@example.com is not on the list of who may look.'
        """
        email = str(claims.get("email") or "").strip().lower()
        if not email:
            return "The sign-in gave no e-mail address."
        if str(claims.get("email_verified")).lower() == "false":  # some providers write it as text
            return said("{name} is not verified by the identity provider.", name=email)
        name, _, domain = email.rpartition("@")
        listed = {entry.strip().lower() for entry in self.emails}
        if not name or (email not in listed and f"@{domain}" not in listed):
            return said("{name} is not on the list of who may look.", name=email)
        return None

    def is_over(self, claims: Mapping[str, Any], now: datetime) -> bool:
        """Tell whether a sign-in is older than a session may be, lies in the future, or does not say how old it is.

        ``iat`` is when the identity provider made the ID token; OpenID Connect Core 1.0, section 2, demands it.
        """
        since = claims.get("iat")
        if isinstance(since, bool) or not isinstance(since, int | float):
            return True
        return not -MOST_AHEAD_S <= now.timestamp() - since <= self.session_hours * 3600
