"""What signing people in needs: the identity provider's client, in a file that Streamlit's login reads."""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from forensics.access import LOOPBACK
from forensics.errors import ForensicsError
from forensics.sentence import said

PLACE = Path(".streamlit", "secrets.toml")
NEEDED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
CALLBACK = "/oauth2callback"
"""Where Streamlit listens for the identity provider's answer."""
LEAST_SECRET = 32
"""Characters of a cookie's secret: whoever guesses it signs in as anybody."""
EXAMPLE = Path(__file__).resolve().parent.parent / ".streamlit" / "secrets.example.toml"
_HINT = said("An example to copy and fill in: {where}", where=str(EXAMPLE))


class SignInError(ForensicsError):
    """Nobody could sign in with these settings, or not safely."""


@dataclass(frozen=True)
class SignIn:
    """A sign-in that can work; ``redirect_uri`` is where the identity provider sends people back to."""

    redirect_uri: str

    @property
    def host(self) -> str:
        """The name people reach the dashboard by."""
        return urlsplit(self.redirect_uri).hostname or ""

    def address(self, port: int) -> str:
        """Return where people open the dashboard: a sign-in begun under another name would not end there."""
        return self.redirect_uri.removesuffix(CALLBACK).replace("{port}", str(port))


def secrets_files(settings_file: Path | None) -> tuple[Path, ...]:
    """Return where the client is looked for, the later one winning: the home folder, then beside the settings file.

    Without a settings file that is the current folder, where one would be.
    """
    beside = (settings_file or Path("doubletake.toml")).absolute().parent
    return tuple(dict.fromkeys((Path(os.path.expanduser("~")) / PLACE, beside / PLACE)))


def read_sign_in(settings_file: Path | None) -> SignIn:
    """Check the sign-in before anybody meets it; raises SignInError, which never repeats a secret."""
    files = [file for file in secrets_files(settings_file) if file.is_file()]
    if not files:
        where = secrets_files(settings_file)[-1]
        raise SignInError(
            said('[access] mode = "oidc" needs the identity provider\'s client in {where}', where=repr(str(where))),
            _HINT,
        )
    found = [(file, client) for file in files if (client := _client(file)) is not None]
    if not found:
        raise SignInError(said("{file}: there is no [auth], so nobody can sign in", file=files[-1]), _HINT)
    file, client = found[-1]
    if missing := [name for name in NEEDED if not isinstance(client.get(name), str) or not client[name].strip()]:
        raise SignInError(said("{file}: [auth] does not say {names}", file=file, names=", ".join(missing)), _HINT)
    if len(client["cookie_secret"]) < LEAST_SECRET:
        raise SignInError(
            said(
                "{file}: [auth] cookie_secret has {count} characters, which can be guessed",
                file=file,
                count=len(client["cookie_secret"]),
            ),
            "Make one: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    return SignIn(_checked_redirect(client["redirect_uri"], file))


def _client(file: Path) -> dict[str, Any] | None:
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8")).get("auth")
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is not TOML"
        raise SignInError(
            said("{file}: the sign-in's settings cannot be read: {why}", file=file, why=why), _HINT
        ) from None
    if found is not None and not isinstance(found, dict):
        raise SignInError(said("{file}: auth must be written as [auth]", file=file), _HINT)
    return found


def _checked_redirect(text: str, file: Path) -> str:
    """Return the address as it is, if people can come back to it."""
    try:
        parts = urlsplit(text.replace("{port}", "0"))
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address or parts.path != CALLBACK or parts.query or parts.fragment:
        raise SignInError(
            said("{file}: [auth] redirect_uri = {text} is not where the sign-in ends", file=file, text=repr(text)),
            said(
                "Write it like {text}, at the identity provider too.",
                text=f'"https://doubletake.example.com{CALLBACK}"',
            ),
        )
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise SignInError(
            said(
                "{file}: [auth] redirect_uri = {text} would send sign-ins over the network unencrypted",
                file=file,
                text=repr(text),
            ),
            "Serve the dashboard behind TLS and write https://.",
        )
    return text
