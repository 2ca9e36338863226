"""The parts of the pages that say what would have helped, what happened beside it, and whether to redrive."""

import pytest

from forensics.people import annotate
from forensics.report.prevention import ASIDE_WORDS
from tests.forensics.report import dead_world, world
from tests.pages.reading import words

pytestmark = pytest.mark.page


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return dead_world.save(tmp_path_factory.mktemp("dead") / "lake").root


@pytest.fixture
def incident(visit, lake):
    return visit("pages/incident.py", lake, incident=world.INCIDENT)


def table(at, column):
    return next(d.value for d in at.dataframe if column in d.value)


def test_the_changes_stand_best_first_with_share_and_reason(incident):
    text = words(incident)

    assert not incident.exception
    assert text.index("| Batch size 1 | 1 to 2 of 2 |") < text.index("| A longer visibility timeout | 0 of")


def test_on_a_phone_the_changes_are_a_list_whose_words_stay_whole(visit, lake, monkeypatch):
    monkeypatch.setattr("pages._ui.prevention.is_phone", lambda: True)
    text = words(visit("pages/incident.py", lake, incident=world.INCIDENT))

    assert "| Batch size 1 |" not in text
    assert text.index("- **Batch size 1**: 1 to 2 of 2") < text.index("- **A longer visibility timeout**: 0 of")


def test_where_works_were_set_aside_next_counts_without_them_and_the_table_says_that_it_does_not(visit, tmp_path):
    marked = dead_world.save(tmp_path / "marked")
    annotate(marked.findings(), world.INCIDENT, world.IDS[0], "charged-once", "looked", "Ana", world.after(9000))
    text = words(visit("pages/incident.py", marked.root, incident=world.INCIDENT))

    assert "would have prevented up to 1 of 1" in text
    assert ASIDE_WORDS in text
    assert ASIDE_WORDS not in words(
        visit("pages/incident.py", dead_world.save(tmp_path / "plain").root, incident=world.INCIDENT)
    )


def test_redriving_is_warned_of_and_told_message_by_message(incident):
    rows = table(incident, "Redriving")

    assert "redriving does the work of 1 again, and may do that of 1 again" in words(incident)
    assert list(rows["Redriving"].map(list)) == [["does the work again"], ["may do it again"]]
    assert list(rows["Keys"]) == [world.KEYS[0], world.KEYS[1]]


def test_the_blocked_group_stands_under_the_queue(incident):
    assert "**Message group blocked** · the group was blocked for 570.25 s" in words(incident)
    assert "3 messages waited behind it" in words(incident)


def test_what_belongs_to_no_incident_stands_on_the_first_page(visit, lake):
    rows = table(visit("app.py", lake), "In words")

    assert sorted(rows["Queue"]) == sorted([world.QUEUE, dead_world.ELSEWHERE])
    assert "Lost: its retention ended?" in list(rows["What"])


def test_a_lake_without_such_findings_shows_nothing_of_it(visit):
    at = visit("app.py", "demo")

    assert "Queues and message groups" not in words(at)
