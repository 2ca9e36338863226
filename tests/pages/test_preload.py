"""What the frame of a page tells the browser to load while the server still makes the page."""

import asyncio
from pathlib import Path

import pytest
import streamlit

from pages._ui.preload import PARTS, Preload, parts, told

pytestmark = pytest.mark.page

FRAME = b"<!DOCTYPE html><html><head><title>x</title></head><body></body></html>"
DOCUMENT = [(b"sec-fetch-dest", b"document"), (b"accept-encoding", b"gzip")]


def answer(path="/incident", asked=DOCUMENT, status=200, kind=b"text/html; charset=utf-8", pieces=(FRAME,)):
    """Return what a browser gets: status, headers and body; and the headers that the application was asked with."""
    sent, seen = [], {}

    async def app(scope, receive, send):
        seen.update(scope["headers"])
        headers = [(b"content-type", kind), (b"content-length", str(sum(map(len, pieces))).encode()), (b"etag", b"1")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for n, piece in enumerate(pieces):
            await send({"type": "http.response.body", "body": piece, "more_body": n + 1 < len(pieces)})

    async def send(message):
        sent.append(message)

    asyncio.run(Preload(app)({"type": "http", "path": path, "headers": asked}, None, send))
    body = b"".join(m.get("body", b"") for m in sent[1:])
    return dict(sent[0]["headers"]), body, seen


def test_streamlits_parts_are_found_by_name_in_the_release_that_is_installed():
    """Without them pages work as before, and wait longer: a new release may name them otherwise."""
    folder = Path(streamlit.__file__).parent / "static"

    assert [file.rpartition("/")[2].partition(".")[0] for file in parts()] == list(PARTS)
    assert all((folder / file).is_file() for file in parts())


def test_a_page_with_a_chart_names_its_parts_at_once_and_other_pages_once_they_rest():
    at_once, later = told("/incident", parts()).decode(), told("/data", parts()).decode()

    assert at_once.count("modulepreload") == 2 and "requestIdleCallback" not in at_once
    assert at_once.index("send(data)") < at_once.index("import("), "run once the page has asked for its content"
    assert "modulepreload" not in later and "requestIdleCallback" in later


@pytest.mark.parametrize("pieces", [(FRAME,), (FRAME[:30], FRAME[30:])], ids=["whole", "in pieces"])
def test_the_frame_is_added_to_before_its_head_ends_and_stays_as_long_as_it_says(pieces):
    headers, body, seen = answer(pieces=pieces)

    assert body == FRAME.replace(b"</head>", told("/incident", parts()) + b"</head>")
    assert int(headers[b"content-length"]) == len(body)
    assert b"etag" not in headers
    assert b"accept-encoding" not in seen  # what is packed cannot be added to


@pytest.mark.parametrize(
    "more",
    [{"asked": [(b"sec-fetch-dest", b"script")]}, {"kind": b"application/json"}, {"status": 404}],
    ids=["a file", "no page", "an error"],
)
def test_what_is_no_page_goes_through_as_it_is(more):
    headers, body, _ = answer(**more)

    assert body == FRAME
    assert headers[b"etag"] == b"1"
