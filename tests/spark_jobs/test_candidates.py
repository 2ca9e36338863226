"""Who shares a hash with whom is the same, whichever parts have been looked through before."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting import shared_hashes
from forensics.counting.hashes import groups_of
from forensics.counting.item_hashes import HASH_SCHEMA
from forensics.counting.settled_rows import with_numbers

HIGHEST = 2**64 - 1
row = st.tuples(
    st.integers(0, 15).map(lambda n: n * (HIGHEST // 15)), st.integers(1, 6), st.sampled_from([0, 1, 2, 3, 4, 5])
)


def frame(rows: list[tuple[int, int, int]]) -> pl.DataFrame:
    every = [(hashed, owner, flags, 0, 0, 0) for hashed, owner, flags in sorted(set(rows))]
    return pl.DataFrame(every, schema=HASH_SCHEMA, orient="row")


def one_by_one(parts: list[list[tuple[int, int, int]]], low: int, high: int) -> set[tuple[int, int, int, int]]:
    """Return (hash, owner, flags, part) of each hash that two items have, that is an item's twice, or an open item's own."""
    every = [(*one, n) for n, rows in enumerate(parts) for one in set(rows) if low <= one[0] <= high]
    wanted = set()
    for hashed in {one[0] for one in every}:
        mine = [one for one in every if one[0] == hashed]
        is_open = any(flags & 3 == 3 for _, _, flags, _ in mine)
        if len({owner for _, owner, *_ in mine}) > 1 or sum(flags & 1 for _, _, flags, _ in mine) > 1 or is_open:
            wanted |= set(mine)
    return wanted


@given(st.lists(st.lists(row, max_size=12), min_size=1, max_size=5), st.data())
def test_candidates_are_the_same_whichever_parts_were_there_before(parts, data):
    old = data.draw(st.permutations(range(len(parts)))) if data.draw(st.booleans()) else []
    old = old[: data.draw(st.integers(0, len(old)))]
    recent = [n for n in range(len(parts)) if n not in old and data.draw(st.booleans())]
    low, high = data.draw(st.sampled_from([(0, HIGHEST), (0, HIGHEST // 2), (HIGHEST // 2 + 1, HIGHEST)]))
    frames = [shared_hashes.between(frame(rows), low, high) for rows in parts]
    before = shared_hashes.settled([frames[n] for n in old])
    gathered = shared_hashes.gathered([frames[n] for n in recent], before.hashes["hash"])
    others = [(n, rows) for n, rows in enumerate(frames) if n not in (*old, *recent)]

    found = shared_hashes.shared(before, old, frames.__getitem__, gathered, recent, others)
    alone = before.found.filter("is_candidate").drop("is_candidate")
    alone = with_numbers(alone, old).filter(~pl.col("hash").is_in(found["hash"].implode()))
    found = pl.concat([found, alone])

    rows = list(found.select("hash", "owner", "flags", "part").iter_rows())
    assert set(rows) == one_by_one(parts, low, high)
    assert len(rows) == len(set(rows))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=12))
def test_who_shares_a_hash_directly_or_through_others_is_one_group(links):
    rows = pl.DataFrame(links, schema={"hash": pl.UInt64, "owner": pl.UInt64}, orient="row")
    lowest = {owner: owner for _, owner in links}
    for _ in links:
        for hashed, owner in links:
            lowest[owner] = min([lowest[owner], *(lowest[other] for of, other in links if of == hashed)])

    assert dict(groups_of(rows).select("owner", "group").iter_rows()) == lowest


SHARING = {"shared": [(1, 10, 1), (2, 11, 1)], "alone": [(3, 12, 1)], "new": [(1, 13, 1)]}
"""Hash, owner and flags of each part's rows."""


def test_of_parts_that_have_been_there_only_those_that_share_a_hash_are_opened():
    shared, alone, new = (frame(rows) for rows in SHARING.values())
    before = shared_hashes.settled([alone, shared])
    gathered = shared_hashes.gathered([], before.hashes["hash"])

    found = shared_hashes.shared(before, [4, 7], {7: shared}.__getitem__, gathered, [], [(9, new)])

    assert sorted(found.select("hash", "part").iter_rows()) == [(1, 7), (1, 9)]
