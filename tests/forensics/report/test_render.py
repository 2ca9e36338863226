import csv
import dataclasses
import io
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from forensics.report.case import Case
from forensics.report.follow_ups import follow_ups
from forensics.report.gaps import gaps
from forensics.report.notice import notice_of
from forensics.report.options import ReportOptions
from forensics.report.pages import SCREEN, print_page
from forensics.report.render import CSV_COLUMNS, FORMATS, render
from forensics.report.summary import summary
from tests.forensics.report import world

pytestmark = pytest.mark.slow

HOSTILE = (
    '"><script>alert(1)</script>',
    "<img src=x onerror=alert(1)>",
    "</pre></code></td><a href=javascript:alert(1)>x</a>",
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% for x in y %}",
    "]]></script><!--<script>",
    "=cmd|' /C calc'!A0",
)


class Outline(HTMLParser):
    """Elements and attribute names in order; text and attribute values left out."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []
        self.metas: list[str] = []
        self.feed(page.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.metas += [value for name, value in attrs if name == "content"]
        self.links += [value for name, value in attrs if name in ("href", "src")]


@pytest.fixture(scope="module")
def benign(case) -> list:
    """The outline of the page when every text is harmless."""
    return Outline(render(with_text(case, "x"), "html")).tags


@pytest.fixture(scope="module")
def benign_rival(case) -> list:
    """The same where every text is written ``cause: why``, as rival causes are, whose name the page sets in bold."""
    return Outline(render(with_text(case, "x: x"), "html")).tags


def with_text(case: Case, hostile: str) -> Case:
    """Put a value into every text field of a case that evidence or findings fill."""

    def changed(value, name=""):
        if dataclasses.is_dataclass(value):
            texts = {f.name: changed(getattr(value, f.name), f.name) for f in dataclasses.fields(value)}
            return type(value)(**texts)
        if isinstance(value, dict):
            return {k: changed(v, k) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(changed(v, name) for v in value)
        # Ids join rows, numbers and codes choose what is shown: those keep their values.
        return hostile if isinstance(value, str) and name not in KEPT else value

    return changed(case)


KEPT = {"evidence_id", "evidence_ids", "item_id", "verdict", "queue_arn", "label", "causes", "kind", "consumer_kind"}
KEPT |= {"state", "mark", "data_version", "ended_by", "run_status", "effect", "delete_status"}


def test_the_page_has_the_sections_of_a_report(case):
    page = render(case, "html").decode()
    sections = ("Summary", "Impact", "Key moments", "Timeline", "Cause chain", "Settings at the time", "Evidence")
    sections += ("Affected messages", "Suggested follow-ups")

    for number, section in enumerate(sections, start=1):
        assert f"{number}. {section}" in page
        assert f"## {number}. {section}" in render(case, "md").decode()


def test_headline_cause_and_business_keys_are_on_the_page(case):
    for kind in ("html", "md"):
        page = render(case, kind).decode()

        assert world.incident()["headline"] in page
        assert world.incident()["cause_sentence"] in page
        assert "pay-1001" in page


def test_no_message_body_leaves_the_lake(case):
    assert any(world.BODY in row["line"] and row["evidence_id"] == world.log_id(1) for row in world.lines())
    assert any(line.evidence_id == world.log_id(1) for line in case.evidence)

    for kind in FORMATS:
        assert world.BODY.encode() not in render(case, kind)


def test_nothing_is_loaded_and_only_our_own_scripts_may_run(case):
    page = render(case, "html")
    outline = Outline(page)

    (policy, *_) = outline.metas
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert "script-src 'unsafe-inline'" not in policy
    assert all(link.startswith("#E") for link in outline.links)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_values_add_no_element_and_no_attribute(case, benign, hostile):
    assert Outline(render(with_text(case, hostile), "html")).tags == benign


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1))
@example("0: ")
@example("0: <b>: x")
@example(": 0")
@example("0 0: 0")
def test_no_text_at_all_changes_the_page_around_it(case, benign, benign_rival, text):
    code, colon, _ = text.partition(": ")
    names_a_cause = bool(code and colon and " " not in code)

    assert Outline(render(with_text(case, text), "html")).tags == (benign_rival if names_a_cause else benign)


def test_hostile_values_stay_text_in_markdown(case):
    page = render(with_text(case, HOSTILE[0]), "md").decode()
    outside_code = [line for line in page.splitlines() if "`" not in line and not line.startswith(HOSTILE[0])]

    assert not any("<script>" in line for line in outside_code)


SIZES = {
    "lanes of messages": (3, 3, "One lane per message."),
    "lanes of consumers": (201, 201, "201 messages in 201 deliveries: one lane per consumer"),
    "an overview": (201, 3015, "201 messages in 3,015 deliveries: messages in flight per consumer"),
}


@pytest.mark.parametrize(("messages", "deliveries", "sentence"), SIZES.values(), ids=SIZES)
def test_the_picture_takes_the_form_that_fits_and_says_which(case, messages, deliveries, sentence):
    bars = [row for row in case.timeline if row["kind"] == "in_flight"]
    many = [bars[0] | {"item_id": f"m-{n % messages}", "delivery_index": n // messages} for n in range(deliveries)]
    page = render(dataclasses.replace(case, timeline=tuple(many)), "html").decode()

    assert sentence in page


def test_lanes_are_named_by_business_keys_and_where_keys_are_shared_by_the_ids_too(case):
    page = render(case, "html").decode()
    shared = tuple({**m, "business_keys": ["pay-1"]} for m in case.messages)
    page_of_shared = render(dataclasses.replace(case, messages=shared), "html").decode()

    assert '"pay-1001"' in page.partition('id="timeline-data">')[2]
    drawn = page_of_shared.partition('id="timeline-data">')[2]
    assert '"pay-1"' not in drawn
    for message_id in world.IDS:
        assert json.dumps(f"pay-1 …{message_id[-4:]}") in drawn
    assert f">pay-1 …{world.IDS[0][-4:]}</text>" in page_of_shared


def test_without_a_message_there_is_no_picture_and_no_script(case):
    page = render(dataclasses.replace(case, timeline=()), "html").decode()

    assert "The logs name no message that could be drawn." in page
    assert "<script" not in page


def test_json_holds_everything_with_a_schema_version(case):
    report = json.loads(render(case, "json"))

    assert (report["schema"], report["schema_version"]) == ("doubletake.incident-report", 1)
    assert report["incident"]["causes"] == {"batch_collateral": 1, "function_timeout": 1}
    assert [m["verdict"] for m in report["messages"]] == ["confirmed", "probable", "harmless"]
    assert report["messages"][0]["first_received_at"] == "2026-11-20T05:12:00.200Z"
    assert len(report["deliveries"]) == 6


def test_csv_lists_the_affected_messages_for_the_refunds(case):
    rows = list(csv.DictReader(io.StringIO(render(case, "csv").decode())))

    assert [(r["business_keys"], r["verdict"]) for r in rows] == [("pay-1001", "confirmed"), ("pay-1002", "probable")]
    assert tuple(rows[0]) == CSV_COLUMNS


def test_a_work_under_two_message_ids_is_one_row_and_one_refund(case):
    first, second = case.affected
    both = {"work_id": "w", "verdict": "confirmed", "effects_at_least": 2, "effects_at_most": 2}
    told = {"works": 1, "works_confirmed": 1, "works_probable": 0} | dict.fromkeys(
        ("works_possible", "works_absorbed", "works_harmless", "works_shared"), 0
    )
    case = dataclasses.replace(
        case,
        incident=case.incident | {"confirmed": 2, "probable": 0} | told,
        messages=(first | both | {"related_message_ids": [second["message_id"]]}, second | both),
        follow_ups=follow_ups(case.incident | told, case.affected, case.settings),
    )
    [row] = csv.DictReader(io.StringIO(render(case, "csv").decode()))
    page = render(case, "md").decode()

    assert row["message_ids"] == f"{first['message_id']}; {second['message_id']}"
    assert (row["extra_effects_at_least"], row["extra_effects_at_most"]) == ("1", "1")
    assert row["business_keys"] == "pay-1001; pay-1002"
    assert row["receive_count"] == "4"
    assert "Undo or refund the repeats: 1 work listed" in page
    assert "Verdicts: confirmed 1 · probable 0" in page
    assert "| Affected messages | 2 (works: 1) |" in page


def test_rivals_that_stay_open_are_named_in_every_report(case):
    rival = "throttled: nobody looked (would decide: the Throttles metric)"
    case = dataclasses.replace(case, incident=case.incident | {"still_open": [rival]})

    assert json.loads(render(case, "json"))["incident"]["still_open"] == [rival]
    for form, title in (("md", "### Causes not ruled out"), ("html", ">Causes not ruled out</h3>")):
        page = render(case, form).decode()

        assert title in page
        assert "nobody looked" in page.partition(title)[2]


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "Copy made by SQS: a FIFO queue does not deliver copies"), ("ja", "FIFO キューは複製を配信しません")],
)
def test_a_cause_that_was_ruled_out_is_named_and_not_by_its_code(case, language, said):
    rivals = {"excluded": ["broker_copy: a FIFO queue does not deliver copies"]}
    case = dataclasses.replace(case, incident=case.incident | rivals)
    options = ReportOptions(language=language)
    pages = [render(case, form, options).decode() for form in ("md", "html")]

    for page in (re.sub("<.*?>|\\*\\*|\\\\", "", each) for each in pages):
        assert said in page
        assert "broker_copy" not in page


def test_the_sentence_in_the_csv_is_in_the_reader_s_language(case, monkeypatch):
    said, works = "The work was done more than once.", Case.works
    monkeypatch.setattr(Case, "works", lambda self: [dict(work) | {"effect_sentence": said} for work in works(self)])
    english, japanese = (
        [
            row["effect_sentence"]
            for row in csv.DictReader(io.StringIO(render(case, "csv", ReportOptions(language=code)).decode()))
        ]
        for code in ("en", "ja")
    )

    assert set(english) == {said}
    assert set(japanese) == {"処理が 2 回以上行われました。"}


def test_what_late_lines_may_change_is_called_provisional_in_every_report(case):
    until = {"is_provisional": True, "final_at": world.after(90_000)}
    incident = case.incident | until
    messages = tuple(m | (until if n else {"is_provisional": False}) for n, m in enumerate(case.messages))
    told = gaps(incident, case.deliveries, case.redeliveries, case.settings, messages)
    case = dataclasses.replace(case, incident=incident, messages=messages, gaps=told)
    said = "Provisional: the verdict on 2 works rests on lines that are missing, and late ones may still come."
    when = "read again after 2026-11-21 06:12:00.200 UTC, or sealed."

    assert f"{said} It is final once that time is {when}" in summary(case)
    for form in ("md", "html"):
        page = render(case, form).decode()

        assert said in page
        assert page.count("proved, provisional") == 1
    assert [row["is_provisional"] for row in csv.DictReader(io.StringIO(render(case, "csv").decode()))] == [
        "false",
        "true",
    ]
    assert "暫定：処理 2 件の判定は" in render(case, "md", ReportOptions("ja")).decode()
    assert said.replace("the verdict on 2 works", "the verdict") in str(
        notice_of(incident, case.opening, "slack", None, "v").body
    )
    assert notice_of(incident, case.opening, "json", None, "v").body["incident"]["is_provisional"] is True


def test_csv_carries_no_formula_from_the_evidence(case):
    rows = list(csv.reader(io.StringIO(render(with_text(case, HOSTILE[-1]), "csv").decode())))

    assert not any(cell.startswith("=") for row in rows for cell in row)


def test_an_unknown_format_is_refused(case):
    with pytest.raises(ValueError, match="'docx'"):
        render(case, "docx")


def test_the_first_page_says_what_to_do_for_which_keys_where_and_of_what(case):
    page = render(dataclasses.replace(case, made_at=world.after(9000)), "html").decode()
    first = page[page.index("<main>") : page.index('<section id="summary">')]

    assert "refund or undo 1 (CSV)" in first
    assert "check 1 by hand" in first
    assert "idempotency key" not in first, "what to change stands in section 9"
    assert "<code>pay-1001</code>" in first and "<code>pay-1002</code>" in first
    for told in ("111122223333", "eu-west-1", "payments.fifo (FIFO)", case.data_version, "2026-11-20 07:42:00.200 UTC"):
        assert told in first


def test_the_ledger_and_the_lines_stand_in_the_appendix(case):
    for form, heading in (("html", '<section id="appendix">'), ("md", "## Appendix")):
        before, _, appendix = render(case, form).decode().partition(heading)

        assert "Deliveries in the ledger" not in before
        assert "Deliveries in the ledger" in appendix


def test_why_is_said_once_per_reason_and_not_once_per_work(case):
    page = render(case, "html").decode()

    assert page.count("Nothing stopped the repeat.") == 1
    assert "works: 2 (<code>pay-1001</code>, <code>pay-1002</code>)" in page


def test_a_browser_prints_the_still_picture_in_the_place_of_the_one_that_moves(case):
    """Printed, the picture that moves keeps the width of the screen, and paper cuts off its right third."""
    page = render(case, "html").decode()
    printed = page.partition("@media print {")[2].partition("\n")[0]

    assert '<div class="still"><svg' in page
    assert ".still { display: none; }" in page.partition("@media print")[0]
    for rule in ("#timeline { display: none; }", ".still { display: block; }", ".wide { overflow: visible; }"):
        assert rule in printed
        assert rule in page.partition("<noscript>")[2].partition("</noscript>")[0] or rule.startswith(".wide")


@pytest.mark.parametrize("form", ["html", "md"])
def test_what_was_repeated_is_an_interval_and_causes_are_said_in_words(case, form):
    page = render(case, form).decode()
    impact = page.partition("Work repeated (times)")[2][:40]

    assert "1 to 2" in impact
    assert "Finished, but its batch failed" in page.partition("Causes of redelivery")[2][:120]


@pytest.mark.parametrize("form", ["html", "md"])
def test_marks_have_a_column_only_where_somebody_marked_a_message(case, form):
    assert "Marked" not in render(case, form).decode()


def test_paper_holds_the_lines_that_prove_and_json_all(case):
    paper = print_page(case, ReportOptions(), SCREEN)
    cited = {i for facts in (case.chain, case.moments, case.settings) for fact in facts for i in fact.evidence_ids}
    (unused,) = (line for line in case.evidence if line.evidence_id not in cited)

    assert f'<div id="{unused.label}">' not in paper
    assert unused.evidence_id in render(case, "json").decode()
