import dataclasses
import html
import re
import tomllib
from collections import Counter
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from forensics import language, sentence
from forensics.charts import timeline_figure
from forensics.charts.marks import BLOCKED, HANDLING, IN_FLIGHT, MARKS, MEASURE
from forensics.checks import Setup
from forensics.checks.visibility_below_advice import visibility_below_advice
from forensics.choices import LANGUAGES
from forensics.errors import ForensicsError
from forensics.incidents.incident import NO_RECEIVE_COUNTS, NOT_RECEIVED_TWICE, NOT_SENT_TWICE
from forensics.judging.effect import EFFECTS
from forensics.lake.findings import sayable
from forensics.language import Language, phrases
from forensics.origins import ORIGIN_RULES
from forensics.queue_rules.facts import QueueFacts
from forensics.queue_rules.fifo_group_blocked import fifo_group_blocked
from forensics.readiness import LogFacts, readiness
from forensics.report import pages as report_pages
from forensics.report.case import load_case
from forensics.report.changes import what_changed
from forensics.report.options import ReportOptions
from forensics.report.render import render
from forensics.report.told import rival
from forensics.tables import BY_NAME
from forensics.tables.evidence import QUEUE_SETTINGS
from forensics.tables.findings import TIMELINE
from forensics.terms import CAUSE_WORDS
from forensics.verdict.interval import VERDICTS
from forensics.verdict.redrive import redrive_sentence
from forensics.verdict.sentences import effect_sentence, headline, trigger_sentence
from tests.forensics.charts.pointing import pointed_at
from tests.forensics.checks.test_checks import BORDERS, asked
from tests.forensics.health.rows import week_row
from tests.forensics.health.test_review import SIGNALS, review
from tests.forensics.report import world
from tests.pages.english import english_in

TEMPLATES = Path(report_pages.__file__).parent / "templates"
SAID = {
    phrase
    for page in TEMPLATES.glob("*.j2")
    for phrase in re.findall(r'_\("([^"]+)"', page.read_text(encoding="utf-8"))
}


def test_every_word_of_the_templates_is_there_in_japanese():
    assert len(SAID) > 60
    assert SAID - set(phrases("ja")) == set()


def test_every_verdict_and_cause_is_there_in_japanese():
    assert {*VERDICTS, *CAUSE_WORDS} - set(phrases("ja")) == set()


def test_a_phrase_is_said_in_one_place():
    folder = Path(language.__file__).parent / "languages" / "ja"
    read = [tomllib.loads(file.read_text(encoding="utf-8")) for file in folder.iterdir()]
    said = Counter(english for found in read for section in found.values() for english in section)

    assert [english for english, times in said.items() if times > 1] == []


def test_a_phrase_keeps_its_places_for_values():
    for english, said in phrases("ja").items():
        assert set(re.findall(r"{(\w+)}", english)) == set(re.findall(r"{(\w+)}", said)), english


def test_the_japanese_report_says_headline_cause_and_settings(case):
    page = render(case, "html", ReportOptions("ja")).decode()

    assert '<html lang="ja">' in page
    assert "再配信された 3 件中 1〜2 件が 2 回以上処理されました" in page
    assert "charge-card が payments.fifo のメッセージ 3 件のバッチの処理中に 30 秒でタイムアウトしました" in page
    assert "可視性タイムアウト" in page
    assert "影響を受けたメッセージ" in render(case, "md", ReportOptions("ja")).decode()


def test_the_legend_of_the_timeline_is_there_in_japanese(case):
    looks = {look.words for look in (*IN_FLIGHT.values(), HANDLING, BLOCKED, MEASURE, *MARKS.values())}
    drawn, page = (render(case, form, ReportOptions("ja")).decode() for form in ("svg", "html"))

    assert looks - set(phrases("ja")) == set()
    for said in ("処理中", "可視性タイムアウトまで非表示", "処理の再実施"):
        assert said in drawn
        assert said in page
    assert "Handler running" not in drawn


OF_NAMES = {
    "API names": r"maxReceiveCount|FunctionResponseTypes|Disabled|ReportBatchItemFailures|batchItemFailures|itemIdentifier|messageId|START|REPORT",
    "code": r"print\(event\)|[a-z]+(?:_[a-z]+)+",
    "names": r"AWS|UTC|ID|DLQ|Python|Node|WARN|INFO|p9\d|payments-dlq\.fifo",
}


def in_english(said: str) -> list[str]:
    return re.findall(r"[A-Za-z]{2,}", re.sub("|".join(OF_NAMES.values()), "", said))


FAILED = {
    name: answer
    for name, (code, changed, expected) in BORDERS.items()
    if expected in ("warning", "critical") and (answer := asked(code, **changed))
}


@pytest.mark.parametrize("answer", FAILED.values(), ids=FAILED)
def test_a_failed_check_and_its_advice_are_said_in_japanese(answer):
    say = Language("ja").sentence

    assert in_english(say(answer.sentence)) == []
    assert in_english(say(answer.advice)) == []


@pytest.mark.parametrize("numbers", [numbers for numbers, _, _ in SIGNALS.values()], ids=list(SIGNALS))
@pytest.mark.parametrize("weeks", [["2026-W46", "2026-W47"], ["2026-W47"]], ids=["with a week before", "alone"])
def test_a_signal_and_its_advice_are_said_in_japanese(weeks, numbers):
    rows = [week_row("orders", week, **(numbers if week == "2026-W47" else {})) for week in weeks]
    say = Language("ja").sentence

    for signal in review(rows).queues[0].signals:
        assert in_english(say(signal.sentence)) == []
        assert in_english(say(signal.advice)) == []


def test_a_sentence_keeps_its_numbers():
    setup = Setup("", "", "lambda", visibility_timeout_s=60, function_timeout_s=30, batching_window_s=5)
    told = visibility_below_advice(setup).sentence

    assert (
        Language("ja")
        .sentence(told)
        .startswith("可視性タイムアウト 60 秒 ＜ 185 秒（関数タイムアウト 30 秒の 6 倍 ＋ バッチウィンドウ 5 秒）")
    )
    assert Language("en").sentence(told) == told


IN_INCIDENTS = {
    sentence.joined(
        [
            sentence.said(
                "{count} prevented: {why}",
                count=11,
                why="it was finished before its batch failed; alone it would have been deleted",
            ),
            sentence.said(
                "{count} undecided: {why}",
                count=2,
                why="it was not finished when its run timed out; alone it might have been, or have ended the same way",
            ),
        ],
        "; ",
    ): "防げた 11 件：バッチの失敗前に完了しており、単独なら削除されていました。判別不能 2 件：タイムアウト時に未完了。単独なら完了したか、同じ結果になったか分かりません",
    sentence.said(
        "{who} was stopped at its timeout with {messages}: {told}.",
        who="charge",
        messages=sentence.counted(10, "message"),
        told=sentence.said(
            "{told}; {count} more not redelivered",
            told=sentence.joined(
                [sentence.said("{count} finished", count=7), sentence.said("{count} in progress", count=1)], ", "
            ),
            count=1,
        ),
    ): "charge はメッセージ 10 件のバッチの途中でタイムアウト：完了 7 件、処理中 1 件（ほかの 1 件は再配信なし）。",
    fifo_group_blocked(QueueFacts(span_ms=6_100, waiting_count=4)).sentence: "失敗した"
    "配信のため 6.1 秒の間グループが止まりました。後ろで 4 件が待っていました",
    "11 to 13 of 13": "11〜13 / 13",
}


def test_what_was_received_again_and_when_is_one_japanese_sentence(case):
    told = next(fact.sentence for fact in case.chain if " again " in fact.sentence)

    assert Language("ja").sentence(told) == ("charge-card が前回の受信から 10 分 0.3 秒後にメッセージ 3 件を再び受信。")


@pytest.mark.parametrize(("english", "japanese"), IN_INCIDENTS.items())
def test_a_sentence_of_an_incident_is_said_in_japanese(english, japanese):
    assert Language("ja").sentence(english) == japanese


def test_the_cause_chain_the_timeline_and_the_gaps_are_said_without_recognising_english(case):
    told = [fact.sentence for fact in case.chain] + [
        gap for gap in case.gaps if gap not in case.incident["unread_sources"]
    ]
    told += [answer for fact in case.settings for answer in (fact.source, fact.advice) if answer]
    told += [bar["label"] for bar in case.timeline] + [moment.what for moment in case.moments]
    left = {text: found for text in told if (found := english_in(Language("ja").sentence(text)))}
    places = [moment.source for moment in case.moments if moment.source.startswith(("derived", "SentTimestamp"))]
    left |= {text: Language("ja").place(text) for text in places if Language("ja").place(text) == text}

    assert len(told) > 40
    assert len(places) > 1
    assert left == {}


@pytest.mark.parametrize("kind", ["md", "html"])
def test_every_event_of_a_japanese_report_is_told_in_japanese(case, kind):
    told = render(case, kind, ReportOptions("ja", all_events=True)).decode()

    assert "1 回目の受信" in told
    assert not re.findall(r"in flight, receive|work done \(|derived: receive|the run timed out", told)


@pytest.mark.parametrize("kind", ["md", "html"])
def test_a_japanese_report_ends_its_sentences_as_japanese_does_and_says_what_effects_rest_on(case, kind):
    told = render(case, kind, ReportOptions("ja")).decode()
    page = re.sub(r"(?s)<(script|style).*?</\1>", "", told)

    assert "次にすること" in page
    assert re.findall(r".{0,20}[\u3040-\u30ff\u4e00-\u9fff]\.(?!\w).{0,10}", page) == []
    assert not re.findall(r"\((?:" + "|".join(sorted({basis for _, basis, _ in EFFECTS})) + r")\)", page)


@pytest.mark.parametrize("kind", ["md", "html"])
def test_every_follow_up_and_line_to_log_of_a_japanese_report_is_said_in_japanese(case, kind):
    lacking = (LogFacts("lambda", 9, 0, 0, 0, 0, 0, 9, asks_response=True), LogFacts("worker", 9, 0, 0, 0, 0, 0, 9))
    rows = tuple(
        {
            "log_group": "/aws/lambda/charge-card",
            "missing": [m.what for m in missing],
            "reasons": [m.why for m in missing],
            "python_lines": [m.python for m in missing],
            "node_lines": [m.node for m in missing],
        }
        for missing in (readiness(facts).missing for facts in lacking)
    )
    told = dataclasses.replace(case, to_log=rows)
    page = render(told, kind, ReportOptions("ja")).decode()
    said = phrases("ja")
    section = page.partition(said["Suggested follow-ups"])[2].partition(said["Appendix: evidence and method"])[0]
    words = re.sub(r"(?s)<pre>.*?</pre>|```.*?```|`[^`]*`|<[^>]+>", " ", section)

    assert all(Language("ja").sentence(f.action) in html.unescape(words).replace("\\", "") for f in case.follow_ups)
    assert english_in(html.unescape(words)) == []


@pytest.mark.lake
def test_what_left_the_queue_for_the_dead_letter_queue_is_counted_in_japanese(tmp_path):
    found = world.findings()
    found["deliveries"] = [
        d | {"ended_by": "dead_lettered"} if (d["item_id"], d["delivery_index"]) == (world.IDS[1], 2) else d
        for d in found["deliveries"]
    ]
    last = load_case(world.save(tmp_path / "lake", found).findings(), world.INCIDENT).moments[-1].what

    assert last == "last affected message left the queue (1 to the dead-letter queue)"
    assert Language("ja").sentence(last) == "影響を受けた最後のメッセージがキューを離れた（うち 1 件は DLQ へ）"


def test_a_place_in_a_log_is_no_word_of_ours():
    assert Language("ja").place("derived") == "推定"
    assert Language("ja").place("deleted, receive #1") == "deleted, receive #1"


@pytest.mark.parametrize("at_most", [0, 1, 2, 3, None])
@pytest.mark.parametrize("at_least", [0, 1, 2])
def test_how_often_the_work_was_done_is_said_in_japanese(at_least, at_most):
    say = Language("ja").sentence

    for bases in ([], ["marker"], ["finished", "returned"]):
        assert in_english(say(effect_sentence(at_least, at_most, bases))) == []
    assert in_english(say(redrive_sentence(at_least, at_most))) in ([], ["ID"])


def test_every_cause_is_said_in_japanese():
    seen = [code for code in CAUSE_WORDS if code not in ORIGIN_RULES]

    for code in seen:
        assert in_english(Language("ja").sentence(trigger_sentence([code, "function_error"], 3, 3))) in ([], ["SQS"])


@pytest.mark.parametrize("table", BY_NAME.values(), ids=BY_NAME)
def test_what_a_row_of_a_table_is_is_said_in_japanese(table):
    assert set(in_english(Language("ja").sentence(table.grain))) <= {"CloudTrail", "CloudWatch", "Lambda", "SQS", "ISO"}


def test_what_only_looks_like_a_count_is_left_alone():
    assert Language("ja").sentence("the last item finished") == "the last item finished"


def test_messages_sent_again_are_not_called_redelivered():
    said = Language("ja").sentence(headline(2, 0, 0, 2, "message sent again"))

    assert said == "再送された 2 件中 2 件が 2 回以上処理されました"


def test_a_sentence_that_no_phrase_knows_stays_as_it_is():
    assert Language("ja").sentence("30 s is what a later release says") == "30 s is what a later release says"


def test_units_are_said_in_the_language():
    assert Language("ja").span(600_200) == "10 分 0.2 秒"
    assert Language("en").span(600_200) == "10 min 0.2 s"


def test_local_times_stand_beside_utc(case):
    page = render(case, "md", ReportOptions(zone="Asia/Tokyo")).decode()
    table = render(case, "csv", ReportOptions(zone="Asia/Tokyo")).decode()

    assert "| 2026-11-20 05:12:00.200 | 2026-11-20 14:12:00.200 |" in page
    assert "2026-11-20T14:12:00.200+09:00" in table
    assert "2026-11-20T05:12:00.200Z" in table


def test_ids_can_be_shortened_in_tables(case):
    page = render(case, "md", ReportOptions(short_ids=True)).decode()
    ledger = page.partition("Deliveries in the ledger")[2].partition("Every cited row")[0]

    assert f"`…{world.IDS[0][-8:]}`" in ledger
    assert world.IDS[0] not in ledger


def test_every_event_is_listed_only_when_asked_for(case):
    assert "Every event" not in render(case, "md").decode()
    assert f"Every event: {len(case.timeline)}" in render(case, "md", ReportOptions(all_events=True)).decode()


@pytest.mark.parametrize(("language", "zone"), [("xx", None), ("en", "Mars/Base")], ids=["language", "zone"])
def test_what_no_report_can_be_is_refused(language, zone):
    with pytest.raises(ForensicsError):
        ReportOptions(language, zone)


@pytest.mark.parametrize("form", ["md", "html"])
def test_the_japanese_report_ends_in_japanese_and_calls_nothing_english_that_is_not(case, form):
    last = re.sub("<[^>]+>", "", render(case, form, ReportOptions("ja")).decode()).rpartition("データ版")[2]

    assert "UTC。" in last
    assert "英語" not in last


def test_what_stops_it_now_is_said_without_recognising_english(case):
    told = [text for move in case.opening.moves for text in (move.title, move.why, move.cost)]
    left = {text: found for text in told if (found := english_in(Language("ja").sentence(text)))}

    assert len(told) >= 3
    assert left == {}


@pytest.mark.parametrize("form", ["md", "html"])
def test_what_was_changed_is_said_in_japanese(case, form):
    looks = [
        dict.fromkeys(QUEUE_SETTINGS.column_names)
        | {"evidence_id": f"look:{n}", "queue_arn": case.incident["queue_arn"], "queue_name": "payments.fifo"}
        | {"visibility_timeout_s": seconds, "observed_at": world.after(ms)}
        for n, seconds, ms in ((1, 20, -9_000_000), (2, 400, -60_000))
    ]
    found = what_changed(case.incident, [], {QUEUE_SETTINGS.name: looks})
    page = render(dataclasses.replace(case, changes=found), form, ReportOptions("ja")).decode().replace("\\", "")

    assert len(found) == 1
    assert "可視性タイムアウト（秒） 20 → 400" in page
    assert "設定の読み取り（" in page


def test_a_mark_says_its_label_in_japanese_without_recognising_english(tmp_path):
    read = world.save(tmp_path / "lake").findings().read(TIMELINE)
    figure = timeline_figure(sayable(read).to_pandas(), ZoneInfo("UTC"), say=Language("ja"))
    said = " ".join(pointed_at(trace) for trace in figure.data if trace.hovertemplate)

    assert "処理の再実施（処理の記録行）" in said
    assert "work done" not in said
    assert list(read.column_names) == list(TIMELINE.column_names)
    assert "label_marked" not in sayable(read).column_names


RULED_OUT = {
    "nothing was received twice": NOT_RECEIVED_TWICE,
    "nothing was sent twice": NOT_SENT_TWICE,
    "not every receive count is logged": NO_RECEIVE_COUNTS,
}


@pytest.mark.parametrize("text", RULED_OUT.values(), ids=RULED_OUT)
def test_what_is_ruled_out_or_open_has_a_name_in_every_language(text):
    name, why = rival(Language("en"), text)
    names = {rival(Language(code), text)[0] for code in LANGUAGES}

    assert name[0].isupper()
    assert len(names) == len(LANGUAGES)
    assert why
