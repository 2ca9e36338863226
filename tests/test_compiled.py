"""Each source is compiled once in a run of several processes."""

from tests.compiled import FOLDERS, ROOT, files_of_tests, share


def test_every_source_is_of_one_share_or_a_file_of_tests():
    shares = [file for number in range(3) for file in share(number, 3)]
    every = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]

    assert sorted([*shares, *files_of_tests()]) == sorted(every)


def test_every_folder_with_sources_of_ours_is_among_them():
    there = {init.parent.name for init in ROOT.glob("*/__init__.py")}

    assert there <= set(FOLDERS)
