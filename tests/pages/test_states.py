"""Lakes that are broken, too new, or hostile; and what a page may never do."""

import ast
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from forensics.identity import handle_token
from forensics.lake import Lake
from forensics.people.marks import annotate
from forensics.tables.findings import DELIVERIES, INCIDENTS, MESSAGES
from forensics.verdict.guard_tables import TableWord, table_sentences
from pages._ui import board, shell
from pages._ui.words import with_commands
from tests.pages import tales
from tests.pages.blind_tale import BLIND
from tests.pages.reading import PAGES, ROOT, words
from tests.pages.worlds import DOUBLE_BILLING, START, Story, uuid
from tests.tables import take_over
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.page

HOSTILE = "<script>alert(1)</script> ![x](https://a.example/pixel.png) [y](javascript:alert(1)) $x$ :red[now]"


@pytest.fixture
def copy_of(lake_of, tmp_path):
    """Return a function that copies a world's lake, to be spoilt."""

    def copy(name):
        return Path(shutil.copytree(lake_of(name), tmp_path / "lake"))

    return copy


@pytest.mark.parametrize("page", PAGES)
def test_a_torn_table_is_one_sentence_with_a_code(visit, copy_of, page):
    lake = copy_of("demo")
    newest = sorted((lake / "findings" / "incidents" / "_delta_log").glob("*.json"))[-1]
    newest.write_text(newest.read_text()[:40])
    at = visit(page, lake)

    assert not at.exception
    assert "DATA-03" in words(at)
    assert f"Run `doubletake doctor --lake {lake}`" in at.error[0].value, "as pasted, it means the lake of the page"
    assert str(newest) not in words(at)


def test_a_table_that_may_not_be_read_is_one_sentence_and_not_an_empty_lake(visit, copy_of):
    lake = copy_of("demo")
    log = lake / "findings" / "generations" / "_delta_log"
    shutil.rmtree(log)
    log.symlink_to(log)  # nobody can list that, not even root
    at = visit("pages/incident.py", lake)

    assert not at.exception
    assert "DATA-05" in words(at)
    assert "cannot be read" in words(at)


@pytest.mark.parametrize("page", ["pages/incident.py", "pages/data.py"])
def test_a_lake_that_is_deleted_while_its_page_is_open_is_said_to_be_gone(visit, copy_of, page):
    lake = copy_of("demo")
    at = visit(page, lake)
    shutil.rmtree(lake)
    at.run()

    assert not at.exception
    assert "There is no lake at" in words(at)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("age_min", "is_said"), [(30, False), (180, True)])
def test_every_page_says_itself_that_its_data_is_old(visit, tmp_path, page, age_min, is_said):
    story = Story(data_until_at=datetime.now(UTC) - timedelta(minutes=age_min))
    tales.double_billing(story)
    at = visit(page, story.save(tmp_path / "lake"))
    said = [c.value for c in at.main.caption if "ago" in c.value]

    assert len(said) == is_said
    assert all("Data ends " in c and " UTC, 3 h ago; nobody has looked since. doubletake collect" in c for c in said)
    assert all(c.startswith(":orange[") and c.endswith("]") for c in said), "grey is overlooked"
    assert not at.main.warning, "one line, and no alert that pushes the answer down"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_says_itself_that_logs_were_left_out(visit, tmp_path, page):
    story = Story(data_until_at=datetime.now(UTC))
    tales.double_billing(story)
    root = story.save(tmp_path / "lake", with_findings=False)
    story.publish(Lake(root), data_since_at=datetime(2026, 11, 20, tzinfo=UTC))
    (said,) = [c.value for c in visit(page, root).main.caption if "left out" in c.value]

    assert "Log events before 2026-11-20 00:00:00.000 UTC are left out of data version" in said
    assert f"`doubletake correlate --lake {root}`" in said
    assert said.startswith(":orange["), "grey is overlooked"


@pytest.mark.parametrize("page", ["app.py", "pages/data.py"])
def test_evidence_is_not_called_complete_where_logs_were_left_out(visit, tmp_path, page):
    story = Story(data_until_at=START + timedelta(hours=1))
    tales.double_billing(story)
    story.coverage(tales.CHARGE, START - timedelta(hours=1), START + timedelta(hours=1))
    root = story.save(tmp_path / "lake", with_findings=False)
    story.publish(Lake(root), data_since_at=START)
    at = visit(page, root)
    [complete] = [m for m in at.metric if m.label == "Evidence complete"]

    assert complete.value == "in part"
    assert complete.delta == "logs from 20 Nov 05:12 only"
    assert "evidence checked in part" in words(at), "the line under the navigation says the same"


def test_nothing_found_speaks_of_no_time_that_was_left_out(visit, tmp_path):
    story = Story(data_until_at=START + timedelta(hours=1))
    story.coverage(tales.CLICKS, START - timedelta(hours=1), START + timedelta(hours=1))
    run = story.run(tales.CLICKS, "quiet", START, 1)
    story.deliver(run, {"message_id": "quiet"}, 1, ended_by="deleted", effect="yes", basis="returned")
    root = story.save(tmp_path / "lake", with_findings=False)
    story.publish(Lake(root), data_since_at=START)

    searched = visit("pages/messages.py", root, q="nowhere").dataframe[0].value

    assert list(searched["From"]) == ["2026-11-20 05:12:00.000"]
    assert "No repeat was found from 20 Nov 2026 05:12 to 20 Nov 2026 06:12 UTC: 1 delivery" in words(
        visit("app.py", root)
    )


def test_a_lake_of_files_is_told_to_import_more(visit, tmp_path):
    story = Story(data_until_at=datetime.now(UTC) - timedelta(minutes=180))
    tales.double_billing(story)
    why = "from files: what else was logged there is not known"
    story.coverage(tales.CHARGE, START, START + timedelta(hours=1), "partial", why)
    at = visit("app.py", story.save(tmp_path / "lake"))
    (said,) = [c.value for c in at.main.caption if "ago" in c.value]

    assert "nobody has looked since. doubletake import FILE --lake " in said


@pytest.mark.parametrize("quiet_min", [73, 3])
def test_what_nobody_has_looked_at_is_not_called_quiet(visit, tmp_path, quiet_min):
    story = Story(data_until_at=datetime.now(UTC) - timedelta(minutes=quiet_min))
    tales.double_billing(story)
    at = visit("app.py", story.save(tmp_path / "lake"))
    first = at.main.markdown[0].value.replace("\\", "")
    [opened] = [m for m in at.metric if m.label == "Open faults"]

    assert "Nothing open" not in first
    assert "Nothing active in the last hour of data, which ends " in first
    assert f" UTC, {'1 h' if quiet_min > 60 else f'{quiet_min} min'} ago" in first
    assert first.startswith(":orange[Nothing active") == (quiet_min > 60)
    assert (" UTC, 1 h ago]. The only incident" in first) == (quiet_min > 60)
    assert opened.value == "0"
    assert opened.delta == ("as of 1 h ago" if quiet_min > 60 else ""), "a zero of an hour ago is not one of now"


def test_data_that_ends_later_than_this_machine_s_clock_says_so(visit, tmp_path):
    story = Story(data_until_at=datetime.now(UTC) + timedelta(minutes=190))
    tales.double_billing(story)
    first = visit("app.py", story.save(tmp_path / "lake")).main.markdown[0].value.replace("\\", "")

    assert " UTC, 3 h ahead of this machine's clock. The only incident" in first


def test_what_was_open_where_old_data_ends_says_so_in_amber(visit):
    first = visit("app.py", "demo").main.markdown[0].value.replace("\\", "")
    in_japanese = visit("app.py", "demo", lang="ja").main.markdown[0].value.replace("\\", "")

    assert in_japanese.startswith(":orange[データの終わり（")
    assert "）]の時点で継続中" in in_japanese
    assert first.startswith(":orange[Still open where the data ends (")
    assert " ago)] on payments.fifo: 7 to 8 of 10" in first


def test_a_damaged_data_file_is_named_by_table_and_version_and_other_pages_work(visit, copy_of):
    lake = copy_of("demo")
    (file,) = (lake / "findings" / "messages" / "data").rglob("*.parquet")
    file.write_bytes(b"PAR1 and nothing else")
    incident, overview = visit("pages/incident.py", lake, incident=DOUBLE_BILLING), visit("app.py", lake)

    assert not incident.exception
    assert "DATA-03 · Table messages of the lake" in words(incident)
    assert f"is damaged in its file {file.name}. Data version" in words(incident)
    assert "doubletake doctor --full" in words(incident)
    assert incident.title[0].value == "payments.fifo: 7 to 8 of 10 redelivered messages were processed more than once"
    assert "Data version" in incident.error[0].value
    assert len(overview.dataframe) == 1


@pytest.mark.parametrize("table", ["timeline", "queue_findings", "deliveries", "coverage", "redeliveries"])
def test_whatever_is_damaged_an_incident_ends_in_one_sentence(visit, copy_of, table):
    lake = copy_of("demo")
    for file in lake.glob(f"*/{table}/**/*.parquet"):
        file.write_bytes(b"PAR1 and nothing else")
    at = visit("pages/incident.py", lake, incident=DOUBLE_BILLING)

    assert not at.exception
    assert "DATA-03" in words(at)
    assert f"able {table} of the lake" in words(at).replace("\\", "")


def test_a_page_sees_a_new_data_version_and_a_new_mark_at_once(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.expired_handle(story)
    lake = Lake(story.save(tmp_path / "lake"))
    before = visit("app.py", lake.root)
    tales.double_billing(story)
    story.publish(lake)
    after = visit("app.py", lake.root)
    annotate(lake.findings(), DOUBLE_BILLING, None, "accepted", "known", "Ana", START)
    marked = visit("app.py", lake.root)

    assert (len(before.dataframe[0].value), len(after.dataframe[0].value)) == (1, 2)
    assert "accepted" not in after.dataframe[0].value["State"][0]
    assert "accepted" in marked.dataframe[0].value["State"][0]


def test_an_open_page_says_that_newer_data_was_made(visit, tmp_path, monkeypatch):
    story = Story(data_until_at=START)
    tales.expired_handle(story)
    lake = Lake(story.save(tmp_path / "lake"))
    opened = board.newest_board(lake)
    tales.double_billing(story)
    story.publish(lake)
    seen = [opened]  # what the page found when it was loaded; whoever looks later finds the newest
    monkeypatch.setattr(shell, "newest_board", lambda lake: seen.pop() if seen else board.newest_board(lake))
    at = visit("app.py", lake.root)
    offered = [b.label for b in at.button if b.key == "reload"]
    fresh = visit("app.py", lake.root)

    assert len(at.dataframe[0].value) == 1
    assert offered == [f"Newer data: {lake.findings().generation.data_version} · Reload"]
    assert not [b for b in fresh.button if b.key == "reload"]


def test_a_page_with_a_pinned_data_version_says_too_that_there_is_newer_data(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.expired_handle(story)
    lake = Lake(story.save(tmp_path / "lake"))
    earlier = lake.findings().generation.data_version
    tales.double_billing(story)
    story.publish(lake)
    at = visit("app.py", lake.root, dv=earlier)
    before = len(at.dataframe[0].value)
    at.button(key="reload").click().run()

    assert (before, len(at.dataframe[0].value)) == (1, 2)
    assert "dv" not in at.query_params


@pytest.mark.parametrize("page", PAGES)
def test_a_lake_of_a_newer_release_is_not_guessed_at(visit, copy_of, page):
    lake = copy_of("demo")
    take_over(lake / "findings" / "deliveries")
    at = visit(page, lake)

    assert not at.exception
    assert "DATA-02" in words(at)
    assert "schema 99" in words(at)


def test_an_earlier_data_version_can_be_pinned_in_the_link(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.expired_handle(story)
    lake = story.save(tmp_path / "lake")
    earlier = Lake(lake).generation().data_version
    tales.double_billing(story)
    story.publish(Lake(lake))
    newest, pinned = visit("app.py", lake), visit("app.py", lake, dv=earlier)

    assert len(newest.dataframe[0].value) == 2
    assert len(pinned.dataframe[0].value) == 1
    assert earlier in words(pinned)


def test_the_data_page_lists_every_data_version(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.expired_handle(story)
    lake = story.save(tmp_path / "lake")
    tales.double_billing(story)
    story.publish(Lake(lake))
    frames = [frame.value for frame in visit("pages/data.py", lake).dataframe]
    versions = next(frame for frame in frames if "Data version" in frame)

    assert list(versions["Incidents"]) == [2, 1]


@pytest.fixture
def hostile_lake(tmp_path):
    """A lake in which every free text is hostile, as a log or a body could make it."""
    story = Story(data_until_at=START)
    tales.double_billing(story)
    for table in story.findings.values():
        for row in table:
            for column in ("headline", "cause_sentence", "trigger_sentence", "guard_sentence", "label", "source"):
                if column in row:
                    row[column] = HOSTILE
            for column in ("excluded", "unread_sources", "business_keys"):
                if column in row:
                    row[column] = [f"{HOSTILE}{n}" for n, _ in enumerate(row[column] or [1])]
    for row in story.evidence["log_events"]:
        row["line"] = HOSTILE
    return story.save(tmp_path / "lake")


@pytest.mark.parametrize("page", PAGES)
def test_text_from_evidence_is_shown_as_the_characters_it_has(visit, hostile_lake, page):
    at = visit(page, hostile_lake, incident=DOUBLE_BILLING, q=uuid("payment", 3))
    kinds = ("title", "subheader", "markdown", "caption", "warning", "info", "error", "success")
    rendered = [str(element.value) for kind in kinds for element in at.get(kind)]

    assert not at.exception
    assert not [
        text for text in rendered if "![x](" in text or "[y](" in text or "<script>" in text or ":red[n" in text
    ]
    assert not [element for kind in ("markdown", "caption") for element in at.get(kind) if element.allow_html]


def test_no_page_renders_html_or_calls_for_navigation():
    calls = []
    for file in (ROOT / "app.py", *(ROOT / "pages").rglob("*.py")):
        source = file.read_text().replace("st.html(_IN_THE_THEME)", "pass")  # a style in which nothing of a lake stands
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.keyword) and node.arg == "unsafe_allow_html":
                calls.append((file.name, node.arg))
            if isinstance(node, ast.Attribute) and node.attr in ("html", "iframe", "navigation", "components"):
                calls.append((file.name, node.attr))

    assert calls == [("report.py", "iframe")], "the report alone is framed, and its own policy lets no script run"


@pytest.mark.parametrize("page", PAGES)
def test_the_first_thing_a_page_does_is_open_the_shell(page):
    body = ast.parse((ROOT / page).read_text()).body
    first = next(n for n in body if not isinstance(n, ast.Import | ast.ImportFrom | ast.Expr))

    assert isinstance(first, ast.Assign)
    assert first.value.func.id == "shell"


def test_a_lake_holds_tokens_of_receipt_handles_and_the_page_shows_no_more(visit, lake_of):
    rows = Lake(lake_of("demo")).findings().read(DELIVERIES).to_pylist()

    assert all(row["receipt_handle"].startswith("RH~") for row in rows)
    assert handle_token("x" * 200) not in [row["receipt_handle"] for row in rows]


def test_an_incident_whose_logs_name_no_message_says_the_upper_bound_and_shows_its_runs(visit):
    at = visit("pages/incident.py", "blind", incident=BLIND)
    buttons = {b.proto.label: b.proto.disabled for b in at.get("download_button")}
    runs = at.dataframe[0].value

    assert not at.exception
    assert at.title[0].value.startswith("exports: Up to 20 messages")
    assert "How often" not in words(at)
    assert "look for lines that name messages" in words(at)
    assert "No line names a message" in words(at)
    assert "Failed runs by cause: **Function timeout** 2" in words(at)
    assert list(runs["How"]) == ["function timeout"] * 2
    assert buttons["CSV"]


@pytest.mark.parametrize("nth", [0, 1])
def test_a_click_on_a_failed_run_shows_its_lines(visit, nth):
    clicked = {"runs": {"selection": {"rows": [nth], "columns": [], "cells": []}}}
    at = visit("pages/incident.py", "blind", selection=clicked, incident=BLIND)
    request = at.dataframe[0].value["Request id"][nth]
    (lines,) = [c.value for c in at.code if "Task timed out" in c.value]

    assert len(lines.splitlines()) == 3
    assert all(request in line for line in lines.splitlines())


def test_an_incident_whose_logs_name_no_message_says_what_to_log(visit):
    at = visit("pages/incident.py", "blind", incident=BLIND)

    assert any("print(json.dumps" in c.value for c in at.code)
    assert any("console.log" in c.value for c in at.code)


def test_the_test_lakes_are_plain_parquet_inside(lake_of):
    files = Lake(lake_of("demo")).files(INCIDENTS)

    assert pq.read_metadata(files[0]).num_rows == 3


def test_without_a_browser_zone_times_are_in_utc(lake_of, monkeypatch):
    monkeypatch.setenv("DOUBLETAKE_LAKE", str(lake_of("demo")))
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE_S)
    at.query_params["tz"] = "Browser"

    assert at.run().dataframe[0].value["Last"][0] == "20 Nov 2026 05:22"


def test_a_work_sent_under_two_ids_is_counted_once_and_its_origin_is_its_cause(visit, tmp_path):
    story = Story(data_until_at=START)
    tales.double_billing(story)
    [incident] = story.findings[INCIDENTS.name]
    of_works = {"works": 1, "works_shared": 0, "works_confirmed": 1, "works_probable": 0, "works_possible": 0}
    incident |= {"causes": [], "primary_cause": "producer_retry", "works_absorbed": 0, "works_harmless": 0} | of_works
    incident |= {"extra_effects_at_least": 1, "extra_effects_at_most": 1}
    incident |= {"is_provisional": True, "final_at": START + timedelta(days=1)}
    incident |= {"still_open": ["throttled: nobody looked (would decide: the Throttles metric)"]}
    for row in story.findings[MESSAGES.name]:
        row |= {
            "is_provisional": True,
            "work_id": "w",
            "verdict": "confirmed",
            "effects_at_least": 2,
            "effects_at_most": 2,
        }
    at = visit("pages/incident.py", story.save(tmp_path / "lake"), incident=DOUBLE_BILLING)
    [works] = [f.value for f in at.dataframe if "Why it was redelivered" in f.value]

    assert "**How often:** 1 repeat on 1 work" in words(at)
    assert "Verdict per work" in [s.value for s in at.subheader]
    assert len(works) == 1
    assert works["Message"][0].count(", ") == 9
    assert "the same work came under another one: **Sent twice by the producer**" in words(at)
    assert works["Certainty"][0] == "proved · provisional"
    assert "Provisional: the verdict on 1 work rests on lines that are missing" in words(at)
    assert "No cause could be decided" not in words(at)
    assert "**Throttled**: nobody looked (would decide: the Throttles metric)" in words(at)


def test_a_work_that_two_incidents_share_counts_once_in_seven_days(visit, tmp_path):
    story = Story(data_until_at=START + timedelta(hours=9))
    tales.double_billing(story)
    [incident] = story.findings[INCIDENTS.name]
    of_works = {"works": 1, "works_shared": 1, "works_confirmed": 1, "works_probable": 0, "works_possible": 0}
    incident |= of_works
    later = incident | {
        "incident_id": "payments.fifo-20261120T1200Z",
        "ended_at": incident["ended_at"] + timedelta(hours=7),
    }
    first, second, *_ = story.findings[MESSAGES.name]
    one = {"work_id": "w", "verdict": "confirmed"}
    story.findings[INCIDENTS.name] = [incident, later]
    story.findings[MESSAGES.name] = [first | one, second | one | {"incident_id": later["incident_id"]}]
    at = visit("app.py", story.save(tmp_path / "lake"))

    assert {m.label: m.value for m in at.metric}["Done twice, 7 days"] == "1"


@pytest.fixture
def guarded_lake(tmp_path):
    """A lake in which an idempotency table tells of every work why its record did not stop the repeat."""
    story = Story(data_until_at=START)
    tales.double_billing(story)
    for number, row in enumerate(row for table in story.findings.values() for row in table if "guard_sentence" in row):
        held = TableWord("done", expired_at=START.replace(second=number), repeat_at=START + timedelta(minutes=10))
        (row["guard_sentence"],) = table_sentences(held)
    return story.save(tmp_path / "lake")


@pytest.mark.parametrize(
    ("code", "heading", "said"),
    [
        ("en", "Guard", r"for example: Its record in the table done expired at 2026\-11\-20 05:12"),
        ("ja", "重複防止", "例: テーブル done の記録は"),
    ],
)
def test_what_guards_did_is_told_in_few_lines(visit, guarded_lake, code, heading, said):
    at = visit("pages/incident.py", guarded_lake, incident=DOUBLE_BILLING, lang=code)
    told = [e.value for e in at.markdown if "table done" in e.value or "テーブル done" in e.value]

    assert heading in [element.value for element in at.subheader]
    assert len(told) == 1
    assert said.replace("\\", "") in told[0].replace("\\", "")


def test_where_nothing_tells_of_a_guard_there_is_no_heading_for_it(visit, lake_of):
    at = visit("pages/incident.py", lake_of("demo"), incident=DOUBLE_BILLING)

    assert "Guard" not in [element.value for element in at.subheader]


def test_what_was_not_checked_is_never_called_free_of_repeats(visit, lake_of):
    at = visit("app.py", lake_of("unchecked"))

    assert "No line of write-export names a message: what it got of exports was not checked" in words(at)
    assert not at.success


def test_our_own_commands_in_a_sentence_are_shown_as_code(visit, lake_of):
    at = visit("app.py", lake_of("unchecked"))
    told = [element.value for element in (*at.markdown, *at.warning) if "doubletake suggest" in element.value]

    assert len(told) == 2
    assert all("`doubletake suggest exports --lake /" in text and "\\`" not in text for text in told)


def test_a_name_from_a_log_that_looks_like_markdown_stays_text_beside_a_command():
    told = with_commands("No line of **x**`y` tells. `doubletake suggest orders`")

    assert told == "No line of \\*\\*x\\*\\*\\`y\\` tells. `doubletake suggest orders`"
