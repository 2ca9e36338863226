"""What sequences, waits, redrive plans, books and suggestions say, in the other languages: by their phrases, none recognised by its form."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from forensics.books.compare import Logged
from forensics.books.summary import told
from forensics.choices import LANGUAGES
from forensics.language import Language
from forensics.redrive import plan as redrive_plan
from forensics.redrive.since import Since, _Run
from forensics.sentence import Sentence, marked, said
from forensics.sequence import Sent, Sequences, check
from forensics.settings import Queue, Settings
from forensics.suggestions import Suggestions, keys, line_keys, marks
from forensics.tables.evidence import MOVE_TASKS
from forensics.tables.findings import QUEUE_FINDINGS
from forensics.waiting import Drain
from forensics.waiting.times import Percentiles, WaitingDay
from tests.forensics.books import test_compare as books
from tests.forensics.redrive import test_plan as redrive
from tests.forensics.report import world
from tests.forensics.suggestions import test_marks
from tests.pages.english import english_in

OTHERS = [code for code in LANGUAGES if code != "en"]


def _sequences():
    late = [
        Sent(n, None if n == 9 else world.after(place), f"m{place}", "g") for place, n in enumerate((5, 9, 12, 3, 3))
    ]
    for sends in (late, late[:2], late[1:3], [late[0], late[2]]):
        yield from (broken.sentence for broken in check(sends))
    yield Sequences("orders.fifo", "$.n", 1_200, 3, 0, ()).sentence
    yield Sequences("orders.fifo", "$.n", 1, 1, 5, ()).sentence


def _waits():
    times = Percentiles.of([1.0, 2.0, 90.0])
    day = WaitingDay("orders.fifo", world.after(0).date(), 3, times, None, 0, 5, 3, 1)
    yield from (times.words, day.over_words)
    for backlog, soonest, latest in ((0, 0.0, 0.0), (1_200, None, None), (12, 60.0, None), (12, 60.0, 600.0)):
        for hidden in (0, 1, 1_200, None):
            drain = Drain("orders.fifo", world.START, backlog, 3, 1_000, hidden, soonest, latest)
            yield drain.sentence
            for is_read in (True, False):
                yield replace(drain, ends_later=timedelta(hours=17), is_read=is_read).sentence


def _books():
    lines = [books.line(entries, logged, whole) for entries, logged, whole, _, _ in books.CASES.values()]
    lines.append(books.line(books.booked("5"), Logged(0, None, span=books.SEEN)))
    yield from (line.sentence for line in lines)
    yield from told("orders.fifo", lines)
    yield from told("orders.fifo", lines[-3:-2])
    yield from told("orders.fifo", [books.line([], Logged(1, 1, span=books.SEEN))])


def _since():
    ended = world.after(0)
    last = {"run_ended_at": ended, "run_status": "timeout", "effect_at": ended}
    later = ended + timedelta(minutes=1)
    changed = {"changed_at": later, "event_name": "UpdateFunctionConfiguration", "evidence_id": "change:1"}
    for status in ("timeout", "error", "crash", "init_failed"):
        mine = {"deliveries": [last | {"run_status": status}]}
        for runs, changes in (
            ([], []),
            ([_Run(later, status)], []),
            ([_Run(later, "success")] * 3, []),
            ([_Run(later, "success")], [changed]),
        ):
            yield Since(runs, changes, (), Queue("orders.fifo"), later).mended(mine)[1]
    for status in ("success", None):
        yield Since((), (), (), Queue("orders.fifo"), later).mended({"deliveries": [last | {"run_status": status}]})[1]
    done = {
        "item_id": "m",
        "group_id": None,
        "effect": "yes",
        "effect_at": ended,
        "basis": "marker",
        "received_at": ended,
    }
    stopped = done | {"effect": "no", "basis": "guard", "received_at": later}
    for guard_s, effect_at in ((None, None), (600, None), (5, ended), (600, ended)):
        row = {"deliveries": [last | {"effect_at": effect_at}]}
        yield Since((), (), (), Queue("orders.fifo", guard_s=guard_s), later).guard(row)
    for deliveries in ([stopped], [done, stopped]):
        yield Since((), (), [d | {"sent_at": None} for d in deliveries], Queue("orders.fifo"), later).guard(
            {"deliveries": []}
        )


def _plans(folder):
    def unsure(found):
        for row in found[QUEUE_FINDINGS.name]:
            if row["item_id"] == redrive.SAFE:
                row["stance"] = "undecidable"

    lake = redrive.again(redrive.saved(folder / "a"))
    found = redrive_plan(lake.findings(), redrive.DLQ, Settings())
    yield from (text for step in found.steps for text in (step.why, step.by_now, step.left_out) if text)
    for n, count in enumerate((None, 1_200)):
        task = {"evidence_id": f"task:{n}", "task": f"t{n}", "source_arn": redrive.DLQ_ARN, "moved_count": count}
        lake.append(
            MOVE_TASKS, [redrive.COMMON | task | {"status": "COMPLETED", "started_at": world.after(9)}], f"t|{n}"
        )
    yield from redrive_plan(redrive.again(lake).findings(), redrive.DLQ, Settings()).notes
    lake = redrive.again(redrive.saved(folder / "b", unsure))
    yield from (step.why for step in redrive_plan(lake.findings(), redrive.DLQ, Settings()).steps)


def _english(code, texts):
    """Return what is English still, log lines in quotes and a queue's name aside."""
    told = {str(text): re.sub("'[^']*'|^orders(?=：)", "", Language(code).sentence(text)) for text in texts}
    return {text: found for text, said_there in told.items() if (found := english_in(said_there))}


@pytest.mark.parametrize("tell", [_sequences, _waits, _books, _since], ids=lambda tell: tell.__name__.strip("_"))
@pytest.mark.parametrize("code", OTHERS)
def test_every_sentence_is_said_by_its_phrase(code, tell):
    texts = list(tell())

    assert len({str(text) for text in texts}) > 5
    assert _english(code, texts) == {}


@pytest.mark.slow
@pytest.mark.parametrize("code", OTHERS)
def test_a_redrive_plan_is_said_by_its_phrases(code, tmp_path):
    texts = list(_plans(tmp_path))

    assert len({str(text) for text in texts}) > 8
    assert _english(code, texts) == {}


def _values_of(test):
    """What a test is called with, time after time."""
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    if not marks:
        return [()]
    names, values = marks[0].args
    return [(value,) for value in values] if isinstance(names, str) else list(values)


def _proposed(monkeypatch):
    """What all handlers of the tests of marks make it propose, and what it cannot tell of them."""
    told = []
    for module in (keys, line_keys, marks):
        monkeypatch.setattr(module, "said", lambda *phrase, **values: told.append(said(*phrase, **values)) or told[-1])
    for name, handlers in vars(test_marks).items():
        if name.startswith("test_"):
            for values in _values_of(handlers):
                handlers(*values)
    (of_runs, *_) = test_marks.found(test_marks.day(test_marks.processing_then_charged)).proposals
    counts = {"confirmed": 2, "probable": 1_200}
    found = Suggestions("orders.fifo", (of_runs,), (), 1, counts, {})
    yield from (
        *told,
        of_runs.fit,
        found.decides,
        replace(found, then=counts).decides,
        replace(found, proposals=()).decides,
    )
    yield replace(
        found, now=None, not_tried=said("no line names a message as yet: correlate again to see what they decide")
    ).decides
    yield from (replace(of_runs, of_what=things).fit for things in _THINGS)


_THINGS = (
    "messages",
    "messages of runs that ended well",
    "messages that had been done before",
    "messages that were handled",
    "lines in JSON",
    "runs of several messages",
)


@pytest.mark.slow
@pytest.mark.parametrize("code", OTHERS)
def test_what_lines_propose_is_said_by_its_phrases(code, monkeypatch):
    texts = list(_proposed(monkeypatch))

    assert len({str(text) for text in texts}) > 20
    assert _english(code, texts) == {}


def test_another_language_says_the_same_numbers():
    japanese = Language("ja").sentence
    gap = next(iter(check([Sent(3, world.after(0), "a"), Sent(5, world.after(1), "b")]))).sentence

    assert isinstance(gap, Sentence) and marked(gap) != gap
    assert japanese(gap).startswith("番号 4 は見つかりません")
    assert japanese(gap).endswith("（2026-11-20 05:12:00〜2026-11-20 05:12:01 UTC の間）。")
    assert japanese(books.line(books.booked("5", "5"), books.PROBABLE).sentence).endswith("返金が必要：5 EUR。")
