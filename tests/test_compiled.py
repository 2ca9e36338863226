"""Each source is compiled once in a run of several processes, and the modules imported for it are those that are collected."""

from tests.compiled import FOLDERS, ROOT, share


def test_every_source_is_of_one_share():
    shares = [share(number, 3) for number in range(3)]
    tests = {name for _, names in shares for name in names}

    assert sum(len(sources) + len(names) for sources, names in shares) == sum(
        len(list((ROOT / folder).rglob("*.py"))) for folder in FOLDERS
    )
    assert len({source for sources, _ in shares for source in sources}) == sum(len(sources) for sources, _ in shares)
    assert len(tests) == sum(len(names) for _, names in shares)
    assert __name__ in tests


def test_every_folder_with_sources_of_ours_is_among_them():
    there = {init.parent.name for init in ROOT.glob("*/__init__.py")}

    assert there <= set(FOLDERS)
