"""Guards whose line names no message, in workers that have several messages in hand at once and write one stream.

All are correlated, what is proposed for each is accepted, and all are correlated again, as a team would.
"""

from functools import partial
from typing import Any, NamedTuple

import pytest

from forensics.parsers.marks import mark
from forensics.settings import Settings
from forensics.suggestions.model import Line
from forensics.suggestions.written import settings_text
from tests.forensics.suggestions.handlers import MS, day, item, message, run
from tests.forensics.suggestions.test_marks import found, values
from tests.forensics.suggestions.test_nameless import an_id
from tests.forensics.suggestions.workers import SideBySide, Worker, correlated

FORMS = {
    "plain": "2026-11-20 05:00:00,000 INFO orders: {said}",
    "JSON": '{{"level":"info","msg":"{said}"}}',
    "logfmt": 'level=info service=orders msg="{said}"',
    "one thread for all": "2026-11-20 05:00:00,000 INFO [ThreadPoolExecutor-0_0] orders: {said}",
}
GUARDS = (
    "already charged, skipping",
    "the order was charged before",
    "Duplicate delivery, skipping",
    "nothing to do",
    "order ord-{number} is paid already",
    "処理済みのためスキップ",
)
BEGUN, FINISHED, DELETED = (
    "Received message {id} (receive count {count})",
    "Finished message {id}",
    "Deleted message {id}",
)
CHARGED = "Charged message {id}"
LINE = FORMS["plain"].format(said=CHARGED.format(id=an_id(7)))
NOTHING = ""
START_AND_END = """started = 'Received message (?P<message_id>\\S+)'
deleted = 'Deleted message (?P<message_id>\\S+)'
"""
AGAIN = (0, 2, 4)
SHORT, LONG = 0.3, 1.5


class Logged(NamedTuple):
    """A line: when, whose, and what."""

    at: float
    number: int
    form: str
    said: str
    count: int


def handled(form, number, at, told, count=1):
    """Yield the lines of one handling, each told with the seconds from its beginning."""
    for seconds, said in told:
        yield Logged(at + seconds, number, form, said, count)


def lines_of(form, new, repeated, apart=1.1, again=AGAIN):
    """Return lines of 60 messages, ``apart`` seconds from each other, of which those ``again`` come again among others."""
    lines = [line for n in range(60) for line in handled(form, n, apart * n, new)]
    for number in again:
        lines += handled(form, number, apart * (number + 20) + 0.7, repeated, count=2)
    return lines


def told(*said, took):
    """Return what a handling says, spread evenly over its seconds."""
    return [(took * place / (len(said) - 1), one) for place, one in enumerate(said)]


def written(lines, kind):
    for at, number, form, said, count in lines:
        yield at, "worker-1", form.format(said=said.format(id=an_id(number, kind), number=number, count=count))


def worker(lines, says=NOTHING):
    return Worker(partial(written, lines), says)


def closing(guard):
    """Return a worker whose last line closes stopped repeats, too."""
    return worker(lines_of(FORMS["plain"], told(BEGUN, FINISHED, took=LONG), told(BEGUN, guard, FINISHED, took=SHORT)))


CLOSING = {guard: closing(guard) for guard in GUARDS}
SIDE_BY_SIDE, AT_ONCE, ONE_AT_A_TIME = 1.1, 0.2, 10.0
WAYS = {
    **{name: (form, BEGUN, (FINISHED,), NOTHING, SIDE_BY_SIDE) for name, form in FORMS.items()},
    "many at once": (FORMS["plain"], BEGUN, (FINISHED,), NOTHING, AT_ONCE),
    "one at a time": (FORMS["plain"], BEGUN, (FINISHED,), NOTHING, ONE_AT_A_TIME),
    "in words of its own": (FORMS["plain"], "got {id}", ("finished {id}",), NOTHING, SIDE_BY_SIDE),
    "in its own words, many at once": (FORMS["JSON"], "got {id}", ("finished {id}",), NOTHING, AT_ONCE),
    "deleted behind it": (FORMS["plain"], BEGUN, (FINISHED, DELETED), NOTHING, SIDE_BY_SIDE),
    "deleted, as settings say": (FORMS["plain"], BEGUN, (FINISHED, DELETED), START_AND_END, SIDE_BY_SIDE),
    "so, many at once": (FORMS["JSON"], BEGUN, (FINISHED, DELETED), START_AND_END, AT_ONCE),
    "so, one at a time": (FORMS["plain"], BEGUN, (FINISHED, DELETED), START_AND_END, ONE_AT_A_TIME),
}


def lying(form, begun, ends, says, apart):
    """Return a worker that is at work in one of these ways."""
    new = told(begun, *ends, took=LONG)
    repeated = told(begun, "already charged, skipping", *ends, took=SHORT)
    if apart == ONE_AT_A_TIME:
        repeated = [(seconds + 5, said) for seconds, said in repeated]
    return worker(lines_of(form, new, repeated, apart), says)


LYING = {name: lying(*way) for name, way in WAYS.items()}
TRUE_ENDS = {
    "before the line that closes all": ((CHARGED, FINISHED), (FINISHED,)),
    "as the last of its own": ((CHARGED, DELETED), (DELETED,)),
}


def lacking(ends, of_repeat, apart):
    """Return a worker that logs a line of the work, which stopped repeats lack."""
    new = [(0, BEGUN), (LONG, ends[0]), (LONG + 0.05, ends[1])]
    repeated = told(BEGUN, "already charged, skipping", *of_repeat, took=SHORT)
    return worker(lines_of(FORMS["plain"], new, repeated, apart))


LACKING = {
    f"{name}-{apart}": lacking(*ends, apart) for name, ends in TRUE_ENDS.items() for apart in (AT_ONCE, SIDE_BY_SIDE)
}


def meanwhile():
    """Return a worker whose guard speaks while others are on that were handed out again before the first was done, and do the work."""
    form, new = FORMS["plain"], [(0, BEGUN), (LONG, CHARGED), (LONG + 0.05, DELETED)]
    lines = lines_of(form, new, (), again=())
    for number in (70, 72, 74):
        for count, later in ((1, 0.0), (2, 0.5), (3, 1.0)):
            lines += handled(form, number, 3.0 * number + later, new, count)
        lines += handled(form, number, 3.0 * number + 1.6, told(BEGUN, "already charged", DELETED, took=SHORT), 4)
    return worker(lines)


MEANWHILE = meanwhile()


def waiting(done, guard, says):
    """Return a worker whose repeats wait until the first is done: one of both handlings has the closing lines of both."""
    form, repeated = FORMS["plain"], [(0, BEGUN), (0.9, guard), (1.0, DELETED)]
    if done == FINISHED:
        repeated.insert(2, (0.95, FINISHED))
    lines = lines_of(form, [(0, BEGUN), (LONG, done), (LONG + 0.05, DELETED)], (), again=())
    for number in (5, 15, 25):
        lines += handled(form, number, 1.1 * number + 0.8, repeated, count=2)
    return worker(lines, says)


WAITING = {
    (done, guard, says): waiting(done, guard, says)
    for done in (FINISHED, CHARGED)
    for guard in ("already charged, skipping", "message {id} was charged before", "skipping {id}")
    for says in (NOTHING, START_AND_END)
}
SAYING_SO = [(0, BEGUN), (0.2, "customer already exists"), (LONG, CHARGED)]
SAYING = worker(lines_of(FORMS["plain"], SAYING_SO, SAYING_SO))
LONG_BEFORE = worker(
    lines_of(
        FORMS["plain"],
        [(0, BEGUN), (1.0, FINISHED), (2.0, DELETED)],
        [(0, BEGUN), (0.2, "already charged, skipping"), (0.3, FINISHED), (1.3, DELETED)],
    ),
    START_AND_END,
)
WORKERS = [*(w for of in (CLOSING, LYING, LACKING, WAITING) for w in of.values()), MEANWHILE, SAYING, LONG_BEFORE]


class Accepted(NamedTuple):
    """What was proposed for a worker, by its kind, and the verdicts on its messages once all of it had been accepted."""

    kinds: dict[str, Any]
    verdicts: dict[str, str]
    id_of: Any


@pytest.fixture(scope="module")
def accepted(tmp_path_factory):
    """What became of each worker."""
    before = SideBySide(tmp_path_factory.mktemp("guards") / "lake", WORKERS)
    proposals = {worker: found.proposals for worker, found in before.proposed.items()}
    assert not any(p.is_rival for of in proposals.values() for p in of)
    said = settings_text(before.settings.text, [p for of in proposals.values() for p in of])
    after = correlated(before.lake, Settings.parse(said))
    return {
        worker: Accepted(
            {p.kind: p.value for p in of},
            {row["message_id"]: row["verdict"] for row in before.messages(after, worker)},
            partial(an_id, kind=before.kind(worker)),
        )
        for worker, of in proposals.items()
    }


@pytest.mark.lake
@pytest.mark.parametrize("worker", CLOSING.values(), ids=CLOSING)
def test_the_line_that_closes_stopped_repeats_too_is_no_effect_whatever_the_guard_says(accepted, worker):
    kinds, verdicts, id_of = accepted[worker]

    assert "effect" not in kinds
    assert verdicts.keys() == {id_of(number) for number in AGAIN}
    assert "confirmed" not in verdicts.values()


@pytest.mark.lake
@pytest.mark.parametrize("worker", LYING.values(), ids=LYING)
def test_so_it_is_however_lines_are_written_and_handlings_lie(accepted, worker):
    kinds, verdicts, _ = accepted[worker]

    assert "effect" not in kinds
    assert len(verdicts) == len(AGAIN)
    assert "confirmed" not in verdicts.values()


@pytest.mark.lake
@pytest.mark.parametrize("worker", LACKING.values(), ids=LACKING)
def test_a_line_that_stopped_repeats_lack_is_still_the_effect(accepted, worker):
    kinds, verdicts, _ = accepted[worker]

    assert mark(LINE, kinds["effect"]).message_id == an_id(7)
    assert "confirmed" not in verdicts.values()


@pytest.mark.lake
def test_work_that_was_done_twice_is_confirmed_though_a_guard_stopped_a_later_repeat_meanwhile(accepted):
    kinds, verdicts, id_of = accepted[MEANWHILE]

    assert mark(LINE, kinds["effect"]).message_id == an_id(7)
    assert verdicts == dict.fromkeys([id_of(70), id_of(72), id_of(74)], "confirmed")


@pytest.mark.lake
@pytest.mark.parametrize("says", [NOTHING, START_AND_END], ids=["nothing known", "start and end known"])
@pytest.mark.parametrize("guard", ["already charged, skipping", "message {id} was charged before", "skipping {id}"])
@pytest.mark.parametrize("done", [FINISHED, CHARGED], ids=["closes all", "is the effect"])
def test_so_it_is_where_a_repeat_waits_until_the_first_is_done(accepted, done, guard, says):
    """Whether the guard names the message or not."""
    kinds, verdicts, _ = accepted[WAITING[done, guard, says]]

    assert ("effect" in kinds) is (done == CHARGED)
    assert len(verdicts) == 3
    assert "confirmed" not in verdicts.values()


@pytest.mark.lake
def test_what_new_work_says_too_is_no_guard(accepted):
    kinds, verdicts, _ = accepted[SAYING]

    assert mark(LINE, kinds["effect"]).message_id == an_id(7)
    assert set(verdicts.values()) == {"confirmed"}


@pytest.mark.lake
def test_a_line_long_before_the_delete_is_no_effect_where_it_closes_stopped_repeats_too(accepted):
    """Where time does not tell what closes the work, the delete does."""
    kinds, verdicts, _ = accepted[LONG_BEFORE]

    assert "effect" not in kinds
    assert "confirmed" not in verdicts.values()


def processed(message, _key, _count):
    return [(1, f"processing {message}"), (400, f"record {message} processed")]


def test_in_a_batch_that_is_worked_on_side_by_side_any_message_that_is_not_closed_may_be_the_stopped_one():
    """The new one was named last before the guard's line."""
    batch = run(10**13, [3, 900], lambda *_: [])
    batch.items = [item(3, 1, count=2), item(900, 2)]
    begun = [f"processing {message(number)}" for number in (3, 900)]
    ended = [f"record {message(number)} processed" for number in (3, 900)]
    said = [*begun, "already charged, skipping", *ended]
    batch.lines = [Line(batch.started_at + place * MS, text) for place, text in enumerate(said, 1)]
    batch.ended_at = batch.lines[-1].at + MS
    marks = found([*day(processed), batch])

    assert "effect" not in values(marks)
    assert any("already charged, skipping" in why for why in marks.cannot_tell)
