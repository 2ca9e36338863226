"""Addresses of no page: where a browser is led, and what it is told there."""

import asyncio

import pytest

from pages._ui.guard import Guard
from tests.pages.reading import PAGES, words

pytestmark = pytest.mark.page

HOST = (b"host", b"localhost:8501")
DOCUMENT = (b"sec-fetch-dest", b"document")


def answer(path, *headers, query=b""):
    """Return the status and the headers of the reply to a browser."""
    sent = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        sent.append(message)

    asyncio.run(
        Guard(app)({"type": "http", "path": path, "query_string": query, "headers": [HOST, *headers]}, None, send)
    )
    return sent[0]["status"], dict(sent[0]["headers"])


def test_an_address_of_no_page_leads_to_the_first_page_with_its_name():
    status, headers = answer("/incidnet\u00e9", DOCUMENT, query=b"lang=ja&tz=UTC")

    assert status == 303
    assert headers[b"location"] == b"/?no_page=incidnet%C3%A9&lang=ja&tz=UTC", "the language and the rest stay"
    assert headers[b"x-frame-options"] == b"DENY"


@pytest.mark.parametrize(
    "page", [page.removeprefix("pages/").removesuffix(".py") for page in PAGES if page != "app.py"]
)
def test_every_page_is_answered_as_before(page):
    assert answer(f"/{page}", DOCUMENT)[0] == 200


@pytest.mark.parametrize(
    "path", ["/", "/_stcore/host-config", "/static/js/a.js", "/media/f.pdf", "/auth/login", "/oauth2callback", "/x.png"]
)
def test_what_is_streamlits_own_is_answered_as_before(path):
    assert answer(path, DOCUMENT)[0] == 200


def test_what_no_browser_opens_as_a_page_is_answered_as_before():
    assert answer("/nowhere")[0] == 200


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "There is no page incidnet"), ("ja", "incidnet というページはありません")]
)
def test_the_first_page_says_which_page_is_not_there(visit, lang, said):
    at = visit("app.py", "demo", no_page="incidnet", lang=lang)

    assert said in words(at)
    assert "no_page" not in at.query_params, "it is no part of the address that a person copies"
