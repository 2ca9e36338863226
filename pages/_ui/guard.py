"""What stands before every page on the way out and in: no other site may frame it, and it answers to its own names only."""

from collections.abc import Iterable, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from streamlit import config

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PAGES = Path(__file__).parents[1]
HEADERS = (
    (b"content-security-policy", b"frame-ancestors 'none'; base-uri 'self'; object-src 'none'"),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
NO_PAGE, MOST_NAME = "no_page", 80
"""The key that names to the first page which other one was asked for and is not there, and how much of that name."""
SIGNED_IN = "oauth2callback"
"""Where whoever signed in comes back."""
HEALTH = "/_stcore/health"
"""Says only that the dashboard is up; whoever balances load asks for it by an address."""


def is_host_known(host: str, known: Iterable[str]) -> bool:
    """Tell whether a Host header names the dashboard by one of its names; nothing known means nothing is refused.

    >>> is_host_known("[::1]:8501", ["localhost", "::1"]), is_host_known("evil.example:8501", ["localhost", "::1"])
    (True, False)
    """
    try:
        parts = urlsplit(f"//{host}")
        name, _ = (parts.hostname or "").lower().rstrip("."), parts.port
    except ValueError:
        return False
    names = [each.strip().lower().rstrip(".") for each in known]
    if parts.netloc != host or parts.username is not None:
        return False
    return not names or any(name == each or (each.startswith("*.") and name.endswith(each[1:])) for each in names)


class Guard:
    """Adds the headers to every reply, and refuses requests to another host than the dashboard's: DNS rebinding.

    An address of no page leads to the first page, which says so: Streamlit's own words are English and in the way.
    """

    def __init__(self, app: "ASGIApp") -> None:
        self.app = app
        self.pages = {file.stem for file in PAGES.glob("*.py")}

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request."""
        if scope["type"] != "http":  # Streamlit itself looks at the host of a WebSocket
            await self.app(scope, receive, send)
            return

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                ours = {name for name, _ in HEADERS}
                message["headers"] = [h for h in message.get("headers", ()) if h[0].lower() not in ours] + [*HEADERS]
            await send(message)

        hosts = [value for name, value in scope["headers"] if name.lower() == b"host"]
        known = config.get_option("server.allowedHosts") or ()
        if scope["path"] != HEALTH and not (len(hosts) == 1 and is_host_known(hosts[0].decode("latin-1"), known)):
            await guarded({"type": "http.response.start", "status": 421, "headers": [(b"content-type", b"text/plain")]})
            await guarded(
                {"type": "http.response.body", "body": b"This is not a name that the dashboard answers to.\n"}
            )
            return
        if (name := page_asked(scope["path"])) and _is_page_asked(scope) and name not in self.pages:
            keys = b"".join(b"&" + part for part in (scope.get("query_string") or b"").split(b"&") if part)
            to = f"{_base()}?{NO_PAGE}={quote(name[:MOST_NAME])}".encode() + keys
            await guarded({"type": "http.response.start", "status": 303, "headers": [(b"location", to)]})
            await guarded({"type": "http.response.body", "body": b""})
            return
        await self.app(scope, receive, guarded)


def page_asked(path: str) -> str:
    """Return the name of the page that an address asks for; empty for the first page and for Streamlit's own addresses.

    >>> page_asked("/incident"), page_asked("/"), page_asked("/_stcore/health"), page_asked("/auth/login")
    ('incident', '', '', '')
    """
    name = path.removeprefix(_base().rstrip("/")).strip("/")
    return "" if name == SIGNED_IN or name.startswith("_") or not {"/", "."}.isdisjoint(name) else name


def _base() -> str:
    """Return where the dashboard begins in its addresses, with a slash at the end."""
    within = str(config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{within}/" if within else "/"


def _is_page_asked(scope: "Scope") -> bool:
    """Tell whether a browser opens the address as a page."""
    return (b"sec-fetch-dest", b"document") in scope["headers"]
