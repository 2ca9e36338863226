"""What an installed Doubletake needs: versions from requirements.txt, and from pyproject.toml which of them are extras."""

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.requirements import Requirement


class OneRequirementsFile(MetadataHookInterface):
    """Fills ``dependencies`` and ``optional-dependencies``; raises ValueError for an extra's package without a version."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write the requirements into the wheel's metadata."""
        lines = (Path(self.root) / "requirements.txt").read_text(encoding="utf-8").splitlines()
        wanted = [Requirement(text) for line in lines if (text := line.partition("#")[0].strip())]
        by_name = {requirement.name.lower(): str(requirement) for requirement in wanted}
        extras: dict[str, list[str]] = self.config["extras"]
        optional = [name.lower() for names in extras.values() for name in names]
        if unknown := set(optional) - set(by_name):
            raise ValueError(f"not in requirements.txt: {', '.join(sorted(unknown))}")
        metadata["dependencies"] = [text for name, text in by_name.items() if name not in optional]
        metadata["optional-dependencies"] = {
            extra: [by_name[name.lower()] for name in names] for extra, names in extras.items()
        }
