"""Asks the advisory database about every locked package: ``python docs/audit.py PIP_AUDIT``; 0 where it cannot be asked."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOCK = Path(__file__).resolve().parent.parent / "requirements.lock"


def told(answer: dict[str, Any] | None) -> tuple[list[str], int]:
    """Return the lines to print about pip-audit's answer, and the exit code; None is an answer that did not come.

    >>> told({"dependencies": [{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "not found"}]})
    (['Asked about 1 of 2 packages: none has an advisory. Not asked about: b.'], 0)
    """
    packages = (answer or {}).get("dependencies", [])
    asked = [p for p in packages if "skip_reason" not in p]
    if not asked:
        return ["The advisory database cannot be asked from here: nothing was checked."], 0
    lines = [
        f"{p['name']} {p['version']}: {v['id']}, fixed in {', '.join(v['fix_versions']) or 'no release'}"
        for p in asked
        for v in p["vulns"]
    ]
    left = ", ".join(p["name"] for p in packages if "skip_reason" in p)
    found = "these have advisories" if lines else "none has an advisory"
    head = f"Asked about {len(asked)} of {len(packages)} packages: {found}."
    return [head + (f" Not asked about: {left}." if left else ""), *lines], int(bool(lines))


def main(pip_audit: str) -> int:
    """Ask, print what came of it, and return 1 where a package has an advisory."""
    command = [pip_audit, "--requirement", str(LOCK), "--require-hashes", "--disable-pip", "--format", "json"]
    done = subprocess.run([*command, "--progress-spinner", "off"], capture_output=True, text=True, check=False)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
        print(done.stderr.strip()[-500:], file=sys.stderr)
    lines, code = told(answer)
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
