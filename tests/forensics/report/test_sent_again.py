"""The cause chain of a work that was sent again under another message id."""

import pytest

from forensics.language import Language
from forensics.report.sent_again import sent_again_chain
from tests.forensics.report import world

FIRST, SECOND = world.messages()[:2]
WORK = {"work_id": "w", "sender_id": "AROA1:shop", "origin": None}
SENT = [
    FIRST | WORK,
    SECOND | WORK | {"origin": "producer_retry", "sent_at": world.after(420), "first_received_at": world.after(421)},
]
DONE = {"effect": "yes", "basis": "marker"}
LEDGER = [
    d | DONE | {"effect_at": world.after(at), "item_id": world.IDS[n]}
    for n, (d, at) in enumerate(zip(world.deliveries()[:2], (2, 423), strict=True))
]


def test_it_tells_send_work_second_send_and_work_again_in_their_order():
    chain = sent_again_chain(world.incident(), SENT, LEDGER)

    assert [(f.offset_ms, f.sentence) for f in chain] == [
        (-1_000, f"Message {world.IDS[0]} was sent by AROA1:shop."),
        (2_000, f"charge-card received {world.IDS[0]}, and the work was done (marker)."),
        (420_000, f"The same work was sent 7 min 1 s later as message {world.IDS[1]} by AROA1:shop."),
        (423_000, f"charge-card received {world.IDS[1]}, and the work was done again (marker)."),
    ]
    assert all(fact.evidence_ids for fact in chain)


def test_where_nothing_was_sent_again_there_is_none():
    assert sent_again_chain(world.incident(), [m | {"origin": None} for m in world.messages()], LEDGER) == ()


def test_what_is_not_known_to_be_done_is_not_told_as_done():
    ledger = [d | {"effect": "unknown", "basis": "in_progress"} for d in LEDGER]
    chain = sent_again_chain(world.incident(), [m | {"sent_at": None, "sender_id": None} for m in SENT], ledger)

    assert [f.sentence.partition("; ")[2] for f in chain] == [
        "the work may have been done.",
        "the work may have been done again.",
    ]


@pytest.mark.parametrize("fact", sent_again_chain(world.incident(), SENT, LEDGER), ids=lambda f: f.sentence[:12])
def test_every_fact_is_said_in_japanese(fact):
    assert "work" not in Language("ja").sentence(fact.sentence)
