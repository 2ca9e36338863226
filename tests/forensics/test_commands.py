"""Our own commands as sentences name them."""

from forensics.commands import of_lake
from forensics.lake import Lake


def test_a_lake_is_named_without_a_step_back_up(tmp_path):
    (tmp_path / "inner").mkdir()

    assert of_lake(tmp_path / "inner" / ".." / "lake") == f"--lake {Lake(tmp_path / 'lake').root}"
