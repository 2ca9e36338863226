"""The weekly review as files: what they say, that they are the same every time, and that no name runs in them."""

import csv
import io
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from forensics.checks import Setup
from forensics.checks.run_near_timeout import run_near_timeout
from forensics.extras import ExtraMissingError
from forensics.health import NUMBERS, Timeouts, review_week
from forensics.report.week_render import WEEK_FORMATS, cards, render_week, spark_svg
from forensics.settings import Settings
from forensics.tables.findings import INCIDENTS
from forensics.verdict.sentences import headline
from tests.forensics.health.rows import ACCOUNT, finding, week_row

UNTIL = datetime(2026, 11, 23, 1, tzinfo=UTC)
SATURDAY = datetime(2026, 11, 21, 12, tzinfo=UTC)
CLOSE = run_near_timeout(Setup("", "", "lambda", function_timeout_s=30, run_count=9, run_p99_ms=27_000)).sentence
HOSTILE = "<script>alert(1)</script>|![x](http://e)\n=1+1"


def reviewed(settings="", queue="payments.fifo", sentence=CLOSE):
    rows = [
        week_row(queue, "2026-W46", redelivery_count=4),
        week_row(queue, "2026-W47", twice_at_least=7, twice_at_most=8, timeout_count=2, redelivery_count=41),
        week_row("mail", "2026-W47", delivery_count=None, redelivery_count=None, age_p95_s=None),
    ]
    incident = dict.fromkeys(INCIDENTS.column_names) | {
        "messages": 10,
        "confirmed": 7,
        "probable": 1,
        "queue_arn": ACCOUNT + queue,
        "incident_id": f"{queue}-20261120T0512Z",
        "headline": HOSTILE if sentence == HOSTILE else headline(7, 1, 0, 8),
        "started_at": datetime(2026, 11, 20, 5, 12, tzinfo=UTC),
    }
    checks = [finding(queue, "run_near_timeout", "warning", sentence=sentence, advice=sentence)]
    timeouts = {ACCOUNT + queue: Timeouts(600, (("charge-card", 30),))}
    return review_week(
        "2026-W47", rows, checks, [incident], Settings.parse(settings), timeouts, "0123456789ab", "2", UNTIL
    )


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links, self.texts, self.quiet = [], [], [], False

    def handle_data(self, data):
        if not self.quiet:
            self.texts.append(data)

    def handle_endtag(self, tag):
        self.quiet = False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.quiet = tag in ("style", "code")
        self.links += [value for name, value in attrs if name in ("src", "href") or name.startswith("on")]


def test_markdown_tells_need_why_trend_and_the_week_before():
    text = render_week(reviewed(), "md").decode()

    assert text.startswith("# Queue health, 2026-W47 (16 to 22 Nov 2026): 1 of 2 queues needs work\n")
    assert "Changes are against the week before." in text
    assert "- Processed twice: 7 to 8 (+7)" in text
    row = next(line for line in text.splitlines() if line.startswith("| `payments.fifo`"))
    assert "| act now | 7 to 8 of 1,000 messages processed twice (0.7 % to 0.8 %) | 4.1 % | ······▁█ |" in row.replace(
        "▂", "▁"
    )
    assert "| 10 min | 1.2 s |" in row
    assert "Incident `payments.fifo-20261120T0512Z`" in text


@pytest.mark.parametrize("format", ["md", "html"])
def test_every_number_of_a_queue_stands_with_its_change(format):
    text = render_week(reviewed(), format).decode()
    numbers = text.partition("Numbers by queue")[2].partition("Method")[0]

    assert all(f"{label}" in numbers for label, _, _ in NUMBERS)
    assert ("| 2 (+2) |" if format == "md" else "2 <small>(+2)</small>") in numbers
    assert "(0)" not in numbers


def test_what_was_not_read_says_unknown_in_every_format():
    assert "| `mail` | ok |  | unknown |" in render_week(reviewed(), "md").decode()
    assert '<td class="n">unknown</td>' in render_week(reviewed(), "html").decode()
    rows = list(csv.DictReader(io.StringIO(render_week(reviewed(), "csv").decode())))
    assert [(r["queue"], r["redelivered_share"], r["age_p95_s"]) for r in rows] == [
        ("payments.fifo", "0.041", "4"),
        ("mail", "", ""),
    ]


def test_html_is_one_file_that_loads_nothing():
    text = render_week(reviewed(), "html").decode()
    page = Elements()
    page.feed(text)

    assert "script" not in page.tags
    assert page.links == []
    assert "default-src &#39;none&#39;" in text
    assert page.tags.count("svg") == 2


@pytest.mark.parametrize("format", WEEK_FORMATS)
def test_the_same_review_gives_the_same_bytes(format):
    assert render_week(reviewed(), format) == render_week(reviewed(), format)


def test_names_from_outside_run_nothing_in_html():
    settings = f"[[queue]]\nname = 'q'\nowner = '''{HOSTILE}'''\nnote = '''{HOSTILE}'''"
    harmless, hostile = Elements(), Elements()
    harmless.feed(render_week(reviewed(settings.replace(HOSTILE, "team"), "q", "fine"), "html").decode())
    hostile.feed(render_week(reviewed(settings, "q", HOSTILE), "html").decode())

    assert hostile.tags == harmless.tags


def test_names_from_outside_make_no_markdown():
    settings = f"[[queue]]\nname = 'q'\nowner = '''{HOSTILE}'''\nnote = '''{HOSTILE}'''"
    text = render_week(reviewed(settings, "q", HOSTILE), "md").decode()

    assert "<script>" not in text
    assert "![x](" not in text
    cells = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("| `")}
    assert cells == {13, 2 + len(NUMBERS)}


def test_csv_cells_are_no_formulas():
    settings = "[[queue]]\nname = 'payments.fifo'\nowner = '=1+1'\nnote = '@x'"
    row = next(csv.DictReader(io.StringIO(render_week(reviewed(settings), "csv").decode())))

    assert (row["owner"], row["note"]) == ("'=1+1", "'@x")


def test_cards_leave_the_change_out_where_the_week_before_is_unknown():
    review = review_week("2026-W47", [week_row("mail", "2026-W47")], [], [], Settings(), data_until_at=SATURDAY)

    assert {change for _, _, change in cards(review)} == {None}


def test_a_spark_line_breaks_where_nothing_is_known():
    drawn = spark_svg([0.1, 0.2, None, 0.4])

    assert drawn.count("<polyline") == 1
    assert drawn.count("<circle") == 1
    assert 'aria-label="10.0 %, 20.0 %, unknown, 40.0 %"' in drawn
    assert 'aria-label="10.0 %, 不明"' in spark_svg([0.1, None], "不明")


def test_a_format_that_is_none_is_refused():
    with pytest.raises(ValueError, match="docx"):
        render_week(reviewed(), "docx")


@pytest.mark.parametrize(("language", "said"), [("en", "1 of 2 queues needs work"), ("ja", "対応が必要")])
def test_the_pdf_has_the_review_on_numbered_pages(language, said):
    from pypdf import PdfReader

    written = render_week(reviewed(), "pdf", language)
    pages = PdfReader(io.BytesIO(written)).pages
    text = pages[0].extract_text()

    assert written == render_week(reviewed(), "pdf", language)
    assert said in text.replace("\n", "")
    assert f"1 / {len(pages)}" in text
    assert pages[0].mediabox.width > pages[0].mediabox.height


def test_without_its_packages_the_pdf_says_how_to_get_them(monkeypatch):
    monkeypatch.setattr("forensics.extras.find_spec", lambda name: None)

    with pytest.raises(ExtraMissingError):
        render_week(reviewed(), "pdf")


def test_names_of_queues_are_not_broken_and_few_stand_abreast():
    rows = [week_row(f"queue-{n:02}-with-a-long-name", "2026-W47") for n in range(14)]
    page = render_week(review_week("2026-W47", rows, [], [], Settings(), data_until_at=UNTIL), "html").decode()
    numbers = page[page.index('<section id="numbers">') : page.index('<section id="method">')]

    assert "td code, th code { white-space: nowrap; }" in page
    assert [table.count("<code>") for table in numbers.split("<table>")[1:]] == [6, 6, 2]


OUR_NAMES = (
    r"\b(UTC|DLQ|ApproximateAgeOfOldestMessage|W\d\d|p9\d|pt|team|redelivered|0123456789ab|[a-z]+(?:_[a-z]+)+)\b"
)
"""What stands in Latin letters in a Japanese review: names, codes and abbreviations."""


@pytest.mark.parametrize(
    "accepted", ["", "[[queue.accepted]]\ncheck = 'run_near_timeout'\nuntil = 2026-12-31\nreason = 'team'"]
)
def test_the_japanese_review_says_everything_but_names_in_japanese(accepted):
    settings = f"[[queue]]\nname = 'payments.fifo'\nowner = 'team'\nnote = 'team'\n{accepted}"
    page = Elements()
    page.feed(render_week(reviewed(settings), "html", "ja").decode())
    said = " ".join(page.texts)

    assert "2 本のキューのうち 1 本に対応が必要" in said
    assert "1,000 件中 7〜8 件が 2 回以上処理されました（0.7 %〜0.8 %）" in said
    assert "実行 p99 27 秒が関数タイムアウト 30 秒に近づいています" in said
    assert "再配信された 8 件中 7〜8 件が 2 回以上処理されました" in said
    assert re.findall(r"[A-Za-z]{2,}", re.sub(OUR_NAMES, "", said)) == []


def test_the_japanese_markdown_has_the_same_rows_and_numbers():
    english, japanese = (render_week(reviewed(), "md", language).decode().splitlines() for language in ("en", "ja"))

    assert [line[:1] in "#-|" for line in japanese] == [line[:1] in "#-|" for line in english]
    assert japanese[0] == "# キューの健全性 2026-W47 (2026-11-16〜2026-11-22): 2 本のキューのうち 1 本に対応が必要"
    assert "- 重複処理: 7〜8 (+7)" in japanese
    assert any(line.startswith("| `mail` | 問題なし |  | 不明 |") for line in japanese)


def test_the_csv_is_the_same_in_every_language():
    assert render_week(reviewed(), "csv", "ja") == render_week(reviewed(), "csv")


@pytest.mark.parametrize("format", ["md", "html"])
def test_what_settings_ask_for_today_is_no_news_of_the_week(format):
    """A week without a timeout must not read as if it had some: settings are judged at the end of the evidence."""
    review = reviewed()
    payments = next(q for q in review.queues if q.queue == "payments.fifo")
    checks = tuple(s for s in payments.signals if s.is_setting)
    quiet = replace(payments, signals=checks, why=checks[0].sentence)
    text = render_week(replace(review, queues=(quiet,)), format).decode()

    assert text.count(f"Settings today: {CLOSE}") == 2
    assert "evidence row" in text
    assert "0 evidence rows" not in render_week(review, format).decode()
