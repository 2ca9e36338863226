"""Log lines for the grammar's tests: every recorded sample, and what copying, cutting and other runtimes make of them."""

import html
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
NO_BREAK = "\u00a0"


def recorded(name: str) -> list[dict[str, Any]]:
    """Return the rows of a .jsonl sample file: message, kind, expected."""
    return [json.loads(line) for line in (SAMPLES / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def sample_lines() -> list[str]:
    """Return every recorded line or event once."""
    found = [row.get("message") or row.get("line") for n in sorted(SAMPLES.glob("*.jsonl")) for row in recorded(n.name)]
    for file in sorted(SAMPLES.glob("*.log")):
        text = file.read_text(encoding="utf-8")
        blocks = [b for b in re.split(r"\n\s*\n", text) if b.strip()]
        found += ["\n".join(row for row in block.split("\n") if not row.startswith("#:")) for block in blocks]
        found += [row for row in text.split("\n") if not row.startswith("#:")]
    for file in sorted(SAMPLES.glob("*.json")):
        event = json.loads(file.read_text(encoding="utf-8"))
        found += [json.dumps(event), repr(event), json.dumps(event, indent=2)]
    return sorted({line for line in found if line and line.strip()})


def changed(line: str, rng: random.Random) -> Iterator[str]:
    """Yield what becomes of a line on its way: tabs lost, cut, escaped, quoted, with marks nobody expects."""
    yield line.replace("\t", "  ")
    yield line.replace("\t", " ")
    yield line[: rng.randrange(1, len(line) + 1)]
    yield html.escape(line)
    yield json.dumps({"level": "info", "message": line})
    yield line.replace(" ", NO_BREAK, 3)
    yield f"\U0001f600 {line} \U0001f680"
    yield line.replace("RequestId: ", "RequestId:", 1).replace("requestId", "RequestId")
    yield line + "\n" + line
    yield line.upper()


def every_line(seed: int = 0, share: float = 1.0) -> list[str]:
    """Return the samples, and a share of what becomes of them, each once."""
    rng = random.Random(seed)
    found = sample_lines()
    variants = [other for line in found for other in changed(line, rng) if rng.random() < share]
    return sorted({*found, *variants})
