"""Views that people keep under a name."""

import pytest

from forensics.people import ViewError, delete_view, save_view, views
from tests.forensics.report import world


@pytest.fixture
def lake(tmp_path):
    return world.save(tmp_path / "lake")


def keep(lake, name="Payments", page="", after_s=0.0, **keys):
    return save_view(lake, name, page, keys or {"queue": "payments.fifo", "dv": "0123"}, "Ana", world.after(after_s))


@pytest.mark.lake
def test_a_view_shows_the_newest_data_with_the_filters_it_was_kept_with(lake):
    kept = keep(lake)

    assert views(lake) == [kept]
    assert (kept.address, kept.keys) == ("/?queue=payments.fifo", {"queue": "payments.fifo"})


@pytest.mark.lake
def test_a_later_view_of_the_same_name_takes_its_place_and_a_deleted_one_is_gone(lake):
    keep(lake)
    keep(lake, page="queue_health", after_s=1, week="2026-W47")
    keep(lake, "Other", after_s=2)

    assert [v.address for v in views(lake)] == ["/?queue=payments.fifo", "/queue_health?week=2026-W47"]

    delete_view(lake, "Payments", "Ben", world.after(3))

    assert [v.view for v in views(lake)] == ["Other"]


WRONG = {
    "no name": ({"name": " "}, "needs a name"),
    "no page of ours": ({"page": "../admin"}, "is no page"),
    "too long": ({"q": "x" * 2001}, "characters"),
}


@pytest.mark.parametrize(("given", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_kept_is_refused(lake, given, said):
    with pytest.raises(ViewError, match=said):
        keep(lake, **given)

    assert views(lake) == []


@pytest.mark.lake
def test_a_view_that_is_not_there_cannot_be_deleted(lake):
    keep(lake)

    with pytest.raises(ViewError, match="no view 'x'"):
        delete_view(lake, "x", "Ana", world.after(1))


@pytest.mark.lake
def test_a_view_is_deleted_although_the_clock_was_set_back(lake):
    keep(lake, after_s=9000)
    delete_view(lake, "Payments", "Ana", world.after(-400_000))

    assert views(lake) == []
