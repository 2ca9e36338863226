"""The forms of a report that programs read, and the ZIP of all of them."""

import csv
import dataclasses
import io
import json
import re
import zipfile
from dataclasses import replace
from datetime import datetime

import jsonschema
import pytest

from forensics.report.bundle import verify
from forensics.report.case import load_case
from forensics.report.json_report import as_json
from forensics.report.json_schema import FILE, schema
from forensics.report.options import ReportOptions
from forensics.report.render import FORMATS, file_name, render
from tests.forensics.report import world
from tests.forensics.report.test_render import HOSTILE, with_text

pytestmark = pytest.mark.slow


def test_the_published_schema_is_fresh():
    assert json.loads(FILE.read_text()) == json.loads(json.dumps(schema())), (
        "run: python -m forensics.report.json_schema"
    )


def test_the_json_report_is_as_its_schema_says(case):
    report = json.loads(render(case, "json"))

    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.Draft202012Validator(schema()).validate(report)
    assert set(report) == set(schema()["properties"])


BROKEN = {
    "a verdict of its own": lambda r: r["messages"][0].update(verdict="certain"),
    "a count as text": lambda r: r["deliveries"][0].update(receive_count="1"),
    "no evidence": lambda r: r["key_moments"][0].pop("evidence_ids"),
    "another version": lambda r: r.update(schema_version=2),
}


@pytest.mark.parametrize("spoil", BROKEN.values(), ids=BROKEN)
def test_the_schema_refuses(case, spoil):
    report = json.loads(render(case, "json"))
    spoil(report)

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(report)


def test_timesketch_gets_its_three_columns_in_time_order(case):
    rows = list(csv.DictReader(io.StringIO(render(case, "timesketch").decode())))
    times = [datetime.fromisoformat(r["datetime"]) for r in rows]

    assert list(rows[0])[:3] == ["message", "datetime", "timestamp_desc"]
    assert len(rows) == len(case.timeline)
    assert times == sorted(times)
    assert all(round(t.timestamp() * 1_000_000) == int(r["timestamp"]) for t, r in zip(times, rows, strict=True))
    assert "Work Done Again" in {r["timestamp_desc"] for r in rows}


def test_timesketch_names_the_business_key_and_says_nothing_twice(case):
    rows = list(csv.DictReader(io.StringIO(render(case, "timesketch").decode())))
    keys = {k for m in case.messages for k in m["business_keys"] or ()}

    assert keys
    assert all(any(key in r["message"] for key in keys) for r in rows if r["message_id"])
    assert not any(r["message"].endswith((f"({r['kind']})", f": {r['kind']}")) for r in rows)


def test_timesketch_carries_no_formula(case):
    text = render(with_text(case, HOSTILE[-1]), "timesketch").decode()

    assert not any(cell.startswith("=") for row in csv.reader(io.StringIO(text)) for cell in row)


def test_the_trace_has_a_thread_per_message_and_bars_in_microseconds(case):
    trace = json.loads(render(case, "trace"))
    threads = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name" and e["pid"] == 1}
    bars = [e for e in trace["traceEvents"] if e["ph"] == "b" and e["pid"] == 1 and e["cat"] == "in_flight"]

    assert {name.split()[-1] for name in threads} == set(world.IDS)
    assert len(bars) == 6
    assert bars[0]["ts"] == round(world.START.timestamp() * 1_000_000)
    (end,) = [e for e in trace["traceEvents"] if e["ph"] == "e" and e["id"] == bars[0]["id"]]
    assert end["ts"] - bars[0]["ts"] == 600_000_000
    assert not [e for e in trace["traceEvents"] if e["ph"] in "XBE"]  # those of one thread may not overlap; ours do
    assert all(e["ph"] in "Mbei" for e in trace["traceEvents"])


def test_bars_of_the_trace_that_overlap_have_tracks_of_their_own(case):
    """Two consumers may hold a message at once; slices of one track must nest, or viewers drop them."""
    first = next(row for row in case.timeline if row["kind"] == "in_flight")
    middle = first["at"] + (first["until_at"] - first["at"]) / 2
    beside = {**first, "delivery_index": 9, "at": middle, "until_at": first["until_at"] + (middle - first["at"])}
    trace = json.loads(render(dataclasses.replace(case, timeline=(*case.timeline, beside)), "trace"))
    begun = [e for e in trace["traceEvents"] if e["ph"] == "b"]
    tracks = [(e["pid"], e["cat"], e["id"]) for e in begun]
    ended = {(e["pid"], e["cat"], e["id"]): e["ts"] for e in trace["traceEvents"] if e["ph"] == "e"}

    assert len(set(tracks)) == len(tracks) > 6
    assert all(ended[track] >= e["ts"] for track, e in zip(tracks, begun, strict=True))


def test_the_zip_holds_every_form_and_a_manifest_that_proves_them(case):
    bundle = render(case, "zip")
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        names = set(archive.namelist())
        html = archive.read(file_name(case, "html"))

    assert names == {file_name(case, f) for f in FORMATS if f != "zip"} | {"manifest.json", "SHA256SUMS"}
    assert html == render(case, "html")
    manifest = verify(bundle)
    assert (manifest["incident_id"], manifest["data_version"]) == (world.INCIDENT, case.data_version)
    assert manifest["command"] == f"doubletake report {world.INCIDENT} --format zip"


def test_the_pdf_says_the_headline_in_both_languages(case):
    from pypdf import PdfReader

    for language, words in (
        ("en", "1 to 2 of 3 redelivered messages were processed more than once"),
        ("ja", "影響を受けたメッセージ"),
    ):
        reader = PdfReader(io.BytesIO(render(case, "pdf", ReportOptions(language))))
        text = "".join("".join(page.extract_text() for page in reader.pages).split())

        assert "".join(words.split()) in text
        assert world.INCIDENT in text, "an id can be copied"
        assert world.BODY not in text


def test_no_page_of_the_pdf_ends_with_a_heading(case):
    from pypdf import PdfReader

    ends = []
    for above in (2, 4, 6, 40, 60, 70):  # so much stands above that a heading would come to a page's foot
        incident = {**case.incident, "functions": [f"a-function-of-a-rather-long-name-{n}" * 3 for n in range(above)]}
        reader = PdfReader(io.BytesIO(render(replace(case, incident=incident), "pdf")))
        ends += [page.extract_text().strip().splitlines()[-2:] for page in reader.pages]

    assert len(ends) >= 6 * 5
    headings = r"On the queue|Causes ruled out|Affected messages|\d\. [A-Z][a-z ,]+"
    assert not [lines for lines in ends if any(re.fullmatch(headings, line) for line in lines)]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_pdf_is_set_in_its_own_font_alone(case, language):
    """A sign that the font lacks would be drawn with whatever font the machine has, or not at all."""
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(render(case, "pdf", ReportOptions(language))))
    fonts = [font.get_object() for page in reader.pages for font in page["/Resources"].get("/Font", {}).values()]

    assert {font["/BaseFont"].partition("+")[2] for font in fonts} == {"NotoSansJP-Regular"}


@pytest.mark.parametrize("hostile", [*HOSTILE, "<img src=http://127.0.0.1:9/x.png>", "url(file:///etc/passwd)"])
def test_a_hostile_value_makes_the_pdf_load_nothing(case, hostile):
    assert render(with_text(case, hostile), "pdf").startswith(b"%PDF")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_value_stays_text_in_the_picture(case, hostile):
    from xml.etree import ElementTree

    tags = [
        [(e.tag, sorted(e.attrib)) for e in ElementTree.fromstring(render(with_text(case, text), "svg")).iter()]
        for text in ("x", hostile)
    ]

    assert tags[0] == tags[1]


@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_lake_gives_the_same_bytes(lake, kind):
    options = ReportOptions("ja", "Asia/Tokyo", all_events=True, short_ids=True)
    one, other = (render(load_case(lake.findings(), world.INCIDENT), kind, options) for _ in range(2))

    assert one == other


def test_every_field_of_the_case_is_attacked_by_the_hostile_tests(case):
    attacked = json.dumps(as_json(with_text(case, "ATTACK")))

    for section in ("key_moments", "cause_chain", "settings", "follow_ups", "batches_at_end", "blocked_groups"):
        assert "ATTACK" in json.dumps(json.loads(attacked)[section]), section
