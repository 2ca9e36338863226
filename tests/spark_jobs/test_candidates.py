"""Who shares a hash with whom is the same, whichever parts have been looked through before."""

import tempfile
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting.hashes import groups_of
from forensics.counting.item_hashes import HASH_SCHEMA
from spark_jobs import candidates

HIGHEST = 2**64 - 1
row = st.tuples(
    st.integers(0, 15).map(lambda n: n * (HIGHEST // 15)), st.integers(1, 6), st.sampled_from([0, 1, 2, 3, 4, 5])
)


def written(folder: Path, rows: list[tuple[int, int, int]]) -> Path:
    folder.mkdir()
    every = [(hashed, owner, flags, 0, 0, 0) for hashed, owner, flags in sorted(set(rows))]
    candidates.write_hashes(pl.DataFrame(every, schema=HASH_SCHEMA, orient="row"), folder)
    return folder


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
    low, high = data.draw(st.sampled_from([(0, HIGHEST), (0, HIGHEST // 2), (HIGHEST // 2 + 1, HIGHEST)]))
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        folders = {n: written(root / str(n), rows) for n, rows in enumerate(parts)}
        (root / "old").mkdir()
        candidates.settled([folders[n] for n in old], low, high, root / "old")
        others = [(n, folder) for n, folder in folders.items() if n not in old]

        found = candidates.shared(root / "old", {n: folders[n] for n in old}, others, low, high)
        alone = candidates.mapped(root / "old" / candidates.FOUND).filter("is_candidate").drop("is_candidate")
        alone = candidates.with_numbers(alone, old).filter(~pl.col("hash").is_in(found["hash"].implode()))
        found = pl.concat([found, alone]).clone()

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


def test_many_rows_are_mapped_in_one_piece_so_that_nothing_is_copied(tmp_path):
    candidates.write_mapped(pl.DataFrame({"hash": range(400_000)}), tmp_path / "many.arrow")

    assert candidates.mapped(tmp_path / "many.arrow").n_chunks() == 1


SHARING = {"shared": [(1, 10, 1), (2, 11, 1)], "alone": [(3, 12, 1)], "new": [(1, 13, 1)]}
"""Hash, owner and flags of each part's rows."""


def test_of_parts_that_have_been_there_only_those_that_share_a_hash_are_opened(tmp_path):
    shared, alone, new = (written(tmp_path / name, rows) for name, rows in SHARING.items())
    (tmp_path / "old").mkdir()
    candidates.settled([alone, shared], 0, HIGHEST, tmp_path / "old")
    (alone / candidates.HASHES).unlink()

    found = candidates.shared(tmp_path / "old", {4: alone, 7: shared}, [(9, new)], 0, HIGHEST)

    assert sorted(found.select("hash", "part").iter_rows()) == [(1, 7), (1, 9)]
