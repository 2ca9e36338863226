"""What the consumers' logs tell, in lines for a terminal."""

from forensics.lake import Lake
from forensics.tables.findings import LOGGING_READINESS

_ORDER = ("blind", "partial", "unread", "ready")


def readiness_lines(lake: Lake, queue: str | None = None) -> list[str]:
    """Return a sentence per consumer of the newest findings, and the first line to add where something is missing.

    ``queue`` limits them to one queue's name. No findings yet give no lines.
    """
    if lake.generation() is None:
        return []
    rows = [r for r in lake.findings().read(LOGGING_READINESS).to_pylist() if queue in (None, r["queue"])]
    lines = []
    for row in sorted(rows, key=lambda r: (_ORDER.index(r["level"]), r["queue"], r["log_group"])):
        lines.append(
            f"logging of {row['function_name'] or row['log_group']} for {row['queue']}: {row['level']}. {row['sentence']}"
        )
        if row["missing"]:
            lines.append(f"  to log {row['missing'][0]}, add in Python: {row['python_lines'][0]}")
            lines.append(f"  or in Node: {row['node_lines'][0]}")
    return lines
