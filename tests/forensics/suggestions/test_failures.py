"""The line in which a worker says that the handling of a message failed, and lines that only read like one."""

import pytest

from forensics.parsers.marks import mark
from tests.forensics.suggestions.test_nameless import WORKER, an_id, lake_of, proposed

BEGUN, DONE = '{{"level":"info","msg":"begin","uid":"{id}"}}', '{{"level":"info","msg":"paid","uid":"{id}"}}'
FAILED = '{{"level":"error","msg":"failed","uid":"{id}","error":"i/o timeout"}}'


def worked(tmp_path, failed=FAILED, fails=(3, 4), again=(3, 4), behind=None):
    """Return what is proposed of 40 handlings, of which some fail, and of some of their messages once more."""
    lines = []
    for place, number in enumerate([*range(40), *again]):
        at, is_first = 30.0 * place, place < 40
        lines.append((at, "worker-1", BEGUN.format(id=an_id(number))))
        if number in fails and is_first:
            lines.append((at + 3, "worker-1", failed.format(id=an_id(number))))
        if behind and number in fails and is_first:
            lines.append((at + 4, "worker-1", behind.format(id=an_id(number))))
        if number not in fails or not is_first:
            lines.append((at + 4, "worker-1", DONE.format(id=an_id(number))))
    return {p.kind: p for p in proposed(lake_of(tmp_path, WORKER, lines)).proposals}


FAILURES = {
    "words that tell of a failure": FAILED,
    "a level alone": '{{"level":"error","msg":"card provider is away","uid":"{id}"}}',
    "an error behind the id": "ERROR uid={id} read timed out",
}


@pytest.mark.lake
@pytest.mark.parametrize("failed", FAILURES.values(), ids=FAILURES)
def test_the_line_behind_which_nothing_is_said_of_a_message_that_comes_again_is_a_failures(tmp_path, failed):
    told = worked(tmp_path, failed)

    assert mark(failed.format(id=an_id(3)), told["failed"].value).message_id == an_id(3)
    assert not mark(BEGUN.format(id=an_id(3)), told["failed"].value)
    assert not mark(DONE.format(id=an_id(3)), told["failed"].value)
    assert (told["failed"].fits, "2 of 2 messages were redelivered" in told["failed"].sentence) == (2, True)


NO_FAILURES = {
    "words of no failure": {"failed": '{{"level":"info","msg":"paused","uid":"{id}"}}'},
    "one handling alone": {"fails": (3,), "again": (3,)},
    "messages of which most do not come again": {"fails": (3, 4, 5), "again": (3,)},
    "work that goes on behind it": {"behind": DONE},
    "a delete that failed": {"failed": '{{"level":"error","msg":"delete failed","uid":"{id}"}}'},
    "one that says that it tries again": {"failed": '{{"level":"error","msg":"failed, trying again","uid":"{id}"}}'},
    "a heartbeat that failed": {"failed": '{{"level":"error","msg":"heartbeat failed","uid":"{id}"}}'},
    "what is known without a setting": {"failed": "ERROR failed message_id={id}: i/o timeout"},
}


@pytest.mark.lake
@pytest.mark.parametrize("says", NO_FAILURES.values(), ids=NO_FAILURES)
def test_no_failure_is_made_of(tmp_path, says):
    assert "failed" not in worked(tmp_path, **says)


@pytest.mark.lake
@pytest.mark.parametrize(("again", "is_told"), [((3,), True), ((), False)])
def test_of_two_failed_messages_one_must_come_again(tmp_path, again, is_told):
    assert ("failed" in worked(tmp_path, again=again)) is is_told
