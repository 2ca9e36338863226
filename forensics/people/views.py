"""Views of the dashboard that people keep under a name: a page with its filters, for the whole team."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode

from forensics.errors import ForensicsError
from forensics.identity import evidence_id
from forensics.lake import Lake
from forensics.lake.rows import plain_rows
from forensics.people.marks import MOST_AUTHOR
from forensics.people.saying import kept
from forensics.sentence import said
from forensics.tables.people import VIEWS
from forensics.words import time_text

PAGES = ("", "fault", "incident", "queue_health", "report", "messages", "questions", "data")
"""Paths of the dashboard that a view can be of; empty is the list of incidents."""
MOST_NAME, MOST_QUERY = 80, 2000
"""Characters."""
_NOT_KEPT = ("dv",)
"""Keys of an address that pin one data version: a view shows the newest."""


class ViewError(ForensicsError):
    """A view that cannot be kept: without a name, or of no page."""


@dataclass(frozen=True)
class View:
    """One view. ``query`` is what stands behind the ? of its address; ``saved_at`` is UTC."""

    evidence_id: str
    view: str
    page: str
    query: str
    author: str
    saved_at: datetime

    @property
    def keys(self) -> dict[str, str]:
        """Its filters."""
        return dict(parse_qsl(self.query))

    @property
    def address(self) -> str:
        """What stands behind the dashboard's own address."""
        return f"/{self.page}{'?' if self.query else ''}{self.query}"


def save_view(lake: Lake, name: str, page: str, keys: dict[str, str], author: str, now: datetime) -> View:
    """Keep a view under a name, in the place of an earlier one; raises ViewError for what cannot be kept."""
    name, author = " ".join(name.split()), " ".join(author.split())
    page = page.strip("/")
    query = urlencode(sorted((k, v) for k, v in keys.items() if k not in _NOT_KEPT))
    if not name or len(name) > MOST_NAME:
        raise ViewError("a view needs a name", said("Give one of up to {n} characters.", n=MOST_NAME))
    if page not in PAGES:
        raise ViewError(
            said("{page} is no page", page=repr(page)),
            said("Pages are {names}.", names=", ".join(p or "/" for p in PAGES)),
        )
    if len(query) > MOST_QUERY:
        raise ViewError(
            said("the view's address has {count} characters", count=len(query)),
            said("At most {n} are kept.", n=MOST_QUERY),
        )
    if not author or len(author) > MOST_AUTHOR:
        raise ViewError(
            "a view needs the name of who keeps it", said("Give a name of up to {n} characters.", n=MOST_AUTHOR)
        )

    def say(at: datetime) -> tuple[View, dict[str, Any]]:
        view = View(evidence_id("view", name, page, query, author, time_text(at)), name, page, query, author, at)
        return view, vars(view)

    return kept(lake, VIEWS, "saved_at", now, say)


def delete_view(lake: Lake, name: str, author: str, now: datetime) -> None:
    """Take a view off the list; raises ViewError where there is none of that name."""
    known = {view.view for view in views(lake)}
    if name not in known:
        raise ViewError(
            said("there is no view {name}", name=repr(name)),
            said("There is: {names}.", names=", ".join(sorted(known)) or "none"),
        )

    def say(at: datetime) -> tuple[None, dict[str, Any]]:
        gone = evidence_id("view", name, None, None, author, time_text(at))
        return None, {"evidence_id": gone, "view": name, "author": author, "saved_at": at}

    kept(lake, VIEWS, "saved_at", now, say)


def views(lake: Lake) -> list[View]:
    """Return the views that are kept, by name."""
    rows = plain_rows(lake.read(VIEWS))
    newest = {row["view"]: row for row in sorted(rows, key=lambda r: (r["saved_at"], r["evidence_id"]))}
    return [View(**row) for _, row in sorted(newest.items()) if row["page"] is not None]
