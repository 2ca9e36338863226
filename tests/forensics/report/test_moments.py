"""Key moments of work that was sent again: its repeat is the receive of its other id."""

from dataclasses import replace

from forensics.report.moments import key_moments
from forensics.report.options import ReportOptions
from forensics.report.pages import _repeat_span, markdown_page
from tests.forensics.report import world

SENT_AGAIN = [world.messages()[n] | {"work_id": "one", "causes": [], "origin": None} for n in (0, 1)]
OTHERS = world.after(410)


def received():
    first = {d["item_id"]: d for d in reversed(world.deliveries())}
    return [
        first[m["item_id"]] | {"received_at": at} for m, at in zip(SENT_AGAIN, (world.after(0), OTHERS), strict=True)
    ]


def test_a_work_that_was_sent_again_came_again_when_its_other_id_was_received():
    moments = key_moments(world.incident(), SENT_AGAIN, received(), [], [])

    repeats = [m for m in moments if "repeat" in m.what]
    assert [(m.what, m.at) for m in repeats] == [("first repeat received", OTHERS)]
    assert repeats[0].evidence_ids == tuple(received()[1]["evidence_ids"])


def test_two_messages_that_share_no_work_repeat_nothing():
    apart = [m | {"work_id": None} for m in SENT_AGAIN]

    assert not [m for m in key_moments(world.incident(), apart, received(), [], []) if "repeat" in m.what]


def test_the_span_of_repeats_counts_other_ids_of_a_work(case):
    apart = [m | {"first_received_at": at} for m, at in zip(SENT_AGAIN, (world.after(0), OTHERS), strict=True)]

    assert _repeat_span(replace(case, messages=tuple(apart), redeliveries=())) == "all at once"
    assert _repeat_span(replace(case, messages=tuple(apart[:1]), redeliveries=())) == "no repeat seen"


def test_reports_count_the_works_that_were_sent_again_beside_those_that_were_redelivered(case):
    others = [
        m | {"work_id": "one", "origin": origin}
        for m, origin in zip(case.messages[:2], (None, "producer_retry"), strict=True)
    ]

    assert "- Works sent again: Sent twice by the producer `producer_retry` 1" in markdown_page(
        replace(case, messages=tuple(others)), ReportOptions()
    )
    assert "Works sent again" not in markdown_page(case, ReportOptions())
