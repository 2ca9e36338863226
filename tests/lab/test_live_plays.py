"""A play in real time that the machine spoiled says so, rather than be taken for what its story tells."""

from datetime import UTC, datetime

import pytest

from lab.live.world import LivePlayError, as_told
from lab.played import DeliveryTruth, MessageTruth, Played

NOW = datetime(2026, 11, 22, tzinfo=UTC)


def played(*counts: tuple[int, ...]) -> Played:
    """Return a play whose messages were seen at these receives."""
    truths = tuple(
        MessageTruth("orders", f"m-{n}", None, tuple(DeliveryTruth(c, NOW, NOW) for c in came), None)
        for n, came in enumerate(counts)
    )
    return Played("a-play", "", ("orders",), (), "", NOW, NOW, truths)


def test_a_play_that_went_as_told_is_handed_on():
    play = played((1,), (1, 2), (1,))

    assert as_told(play, {1: 2}) is play


@pytest.mark.parametrize(
    ("counts", "which"),
    [
        pytest.param([(1, 2), (1, 2)], "message 0 of orders was seen at its receives [1, 2]", id="came again"),
        pytest.param([(1,), (1,)], "message 1 of orders was seen at its receives [1]", id="did not come again"),
        pytest.param([(1,), (2,)], "message 1 of orders was seen at its receives [2]", id="its first run was cut off"),
        pytest.param([(), (1, 2)], "message 0 of orders was seen at its receives []", id="never seen"),
    ],
)
def test_a_message_that_came_otherwise_spoils_the_play(counts, which):
    with pytest.raises(LivePlayError) as spoiled:
        as_told(played(*counts), {1: 2})

    assert str(spoiled.value).endswith(which)
    assert "too busy" in spoiled.value.hint
