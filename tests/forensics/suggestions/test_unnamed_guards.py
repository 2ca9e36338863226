"""Guards whose line names no message, in workers that have several messages in hand at once and write one stream.

Each test correlates, accepts what is proposed, and correlates again, as a team would.
"""

import pytest

from forensics.lake import Lake
from forensics.lake.findings import rows_of
from forensics.parsers.marks import mark
from forensics.settings import Settings
from forensics.suggestions.model import Line
from forensics.suggestions.written import settings_text
from forensics.tables.findings import MESSAGES
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.forensics.suggestions.handlers import MS, day, item, message, run
from tests.forensics.suggestions.test_marks import found, values
from tests.forensics.suggestions.test_nameless import WORKER, an_id, lake_of, proposed

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
SECTION = f'[[worker]]\nlog_group = "{WORKER}"\nqueue = "orders"\n'
START_AND_END = f"""{SECTION}started = 'Received message (?P<message_id>\\S+)'
deleted = 'Deleted message (?P<message_id>\\S+)'
"""
AGAIN = (0, 2, 4)
SHORT, LONG = 0.3, 1.5


def handled(form, number, at, told, count=1):
    """Yield the lines of one handling, each told with the seconds from its beginning."""
    for seconds, said in told:
        yield at + seconds, "worker-1", form.format(said=said.format(id=an_id(number), number=number, count=count))


def lines_of(form, new, repeated, apart=1.1, again=AGAIN):
    """Return lines of 60 messages, ``apart`` seconds from each other, of which those ``again`` come again among others."""
    lines = [line for n in range(60) for line in handled(form, n, apart * n, new)]
    for number in again:
        lines += handled(form, number, apart * (number + 20) + 0.7, repeated, count=2)
    return sorted(lines)


def told(*said, took):
    """Return what a handling says, spread evenly over its seconds."""
    return [(took * place / (len(said) - 1), one) for place, one in enumerate(said)]


def accepted(tmp_path, lines, settings=SECTION):
    """Return what is proposed, and the verdicts once all of it has been accepted."""
    findings = correlated(tmp_path / "before", lines, settings)
    proposals = proposed(findings, settings).proposals
    assert not any(p.is_rival for p in proposals)
    after = correlated(tmp_path / "after", lines, settings_text(settings, proposals))
    return {p.kind: p.value for p in proposals}, {r["message_id"]: r["verdict"] for r in rows_of(after.read(MESSAGES))}


def correlated(tmp_path, lines, settings):
    tmp_path.mkdir()
    lake_of(tmp_path, WORKER, lines)
    lake = Lake(tmp_path / "lake")
    correlate(lake, Settings.parse(settings), carrier=Here())
    return lake.findings()


@pytest.mark.lake
@pytest.mark.parametrize("guard", GUARDS)
def test_the_line_that_closes_stopped_repeats_too_is_no_effect_whatever_the_guard_says(tmp_path, guard):
    new, repeated = told(BEGUN, FINISHED, took=LONG), told(BEGUN, guard, FINISHED, took=SHORT)
    kinds, verdicts = accepted(tmp_path, lines_of(FORMS["plain"], new, repeated))

    assert "effect" not in kinds
    assert verdicts.keys() == {an_id(number) for number in AGAIN}
    assert "confirmed" not in verdicts.values()


SIDE_BY_SIDE, AT_ONCE, ONE_AT_A_TIME = 1.1, 0.2, 10.0
WAYS = {
    **{name: (form, BEGUN, (FINISHED,), SECTION, SIDE_BY_SIDE) for name, form in FORMS.items()},
    "many at once": (FORMS["plain"], BEGUN, (FINISHED,), SECTION, AT_ONCE),
    "one at a time": (FORMS["plain"], BEGUN, (FINISHED,), SECTION, ONE_AT_A_TIME),
    "in words of its own": (FORMS["plain"], "got {id}", ("finished {id}",), SECTION, SIDE_BY_SIDE),
    "in its own words, many at once": (FORMS["JSON"], "got {id}", ("finished {id}",), SECTION, AT_ONCE),
    "deleted behind it": (FORMS["plain"], BEGUN, (FINISHED, DELETED), SECTION, SIDE_BY_SIDE),
    "deleted, as settings say": (FORMS["plain"], BEGUN, (FINISHED, DELETED), START_AND_END, SIDE_BY_SIDE),
    "so, many at once": (FORMS["JSON"], BEGUN, (FINISHED, DELETED), START_AND_END, AT_ONCE),
    "so, one at a time": (FORMS["plain"], BEGUN, (FINISHED, DELETED), START_AND_END, ONE_AT_A_TIME),
}


@pytest.mark.lake
@pytest.mark.parametrize(("form", "begun", "ends", "settings", "apart"), WAYS.values(), ids=WAYS)
def test_so_it_is_however_lines_are_written_and_handlings_lie(tmp_path, form, begun, ends, settings, apart):
    new = told(begun, *ends, took=LONG)
    repeated = told(begun, "already charged, skipping", *ends, took=SHORT)
    if apart == ONE_AT_A_TIME:
        repeated = [(seconds + 5, said) for seconds, said in repeated]
    kinds, verdicts = accepted(tmp_path, lines_of(form, new, repeated, apart), settings)

    assert "effect" not in kinds
    assert len(verdicts) == len(AGAIN)
    assert "confirmed" not in verdicts.values()


TRUE_ENDS = {
    "before the line that closes all": ((CHARGED, FINISHED), (FINISHED,)),
    "as the last of its own": ((CHARGED, DELETED), (DELETED,)),
}


@pytest.mark.lake
@pytest.mark.parametrize("apart", [AT_ONCE, SIDE_BY_SIDE])
@pytest.mark.parametrize(("ends", "of_repeat"), TRUE_ENDS.values(), ids=TRUE_ENDS)
def test_a_line_that_stopped_repeats_lack_is_still_the_effect(tmp_path, ends, of_repeat, apart):
    new = [(0, BEGUN), (LONG, ends[0]), (LONG + 0.05, ends[1])]
    repeated = told(BEGUN, "already charged, skipping", *of_repeat, took=SHORT)
    kinds, verdicts = accepted(tmp_path, lines_of(FORMS["plain"], new, repeated, apart))

    assert mark(LINE, kinds["effect"]).message_id == an_id(7)
    assert "confirmed" not in verdicts.values()


@pytest.mark.lake
def test_work_that_was_done_twice_is_confirmed_though_a_guard_stopped_a_later_repeat_meanwhile(tmp_path):
    """When the guard speaks, others are on that were handed out again before the first was done, and do the work."""
    form, new = FORMS["plain"], [(0, BEGUN), (LONG, CHARGED), (LONG + 0.05, DELETED)]
    lines = lines_of(form, new, (), again=())
    for number in (70, 72, 74):
        for count, later in ((1, 0.0), (2, 0.5), (3, 1.0)):
            lines += handled(form, number, 3.0 * number + later, new, count)
        lines += handled(form, number, 3.0 * number + 1.6, told(BEGUN, "already charged", DELETED, took=SHORT), 4)
    kinds, verdicts = accepted(tmp_path, sorted(lines))

    assert mark(LINE, kinds["effect"]).message_id == an_id(7)
    assert verdicts == dict.fromkeys([an_id(70), an_id(72), an_id(74)], "confirmed")


@pytest.mark.lake
@pytest.mark.parametrize("settings", [SECTION, START_AND_END], ids=["nothing known", "start and end known"])
@pytest.mark.parametrize("guard", ["already charged, skipping", "message {id} was charged before", "skipping {id}"])
@pytest.mark.parametrize("done", [FINISHED, CHARGED], ids=["closes all", "is the effect"])
def test_so_it_is_where_a_repeat_waits_until_the_first_is_done(tmp_path, done, guard, settings):
    """One of both handlings has the closing lines of both then, whether the guard names the message or not."""
    form, repeated = FORMS["plain"], [(0, BEGUN), (0.9, guard), (1.0, DELETED)]
    if done == FINISHED:
        repeated.insert(2, (0.95, FINISHED))
    lines = lines_of(form, [(0, BEGUN), (LONG, done), (LONG + 0.05, DELETED)], (), again=())
    for number in (5, 15, 25):
        lines += handled(form, number, 1.1 * number + 0.8, repeated, count=2)
    kinds, verdicts = accepted(tmp_path, sorted(lines), settings)

    assert ("effect" in kinds) is (done == CHARGED)
    assert len(verdicts) == 3
    assert "confirmed" not in verdicts.values()


@pytest.mark.lake
def test_what_new_work_says_too_is_no_guard(tmp_path):
    new = [(0, BEGUN), (0.2, "customer already exists"), (LONG, CHARGED)]
    kinds, verdicts = accepted(tmp_path, lines_of(FORMS["plain"], new, new))

    assert mark(LINE, kinds["effect"]).message_id == an_id(7)
    assert set(verdicts.values()) == {"confirmed"}


@pytest.mark.lake
def test_a_line_long_before_the_delete_is_no_effect_where_it_closes_stopped_repeats_too(tmp_path):
    """Where time does not tell what closes the work, the delete does."""
    new = [(0, BEGUN), (1.0, FINISHED), (2.0, DELETED)]
    repeated = [(0, BEGUN), (0.2, "already charged, skipping"), (0.3, FINISHED), (1.3, DELETED)]
    kinds, verdicts = accepted(tmp_path, lines_of(FORMS["plain"], new, repeated), START_AND_END)

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
