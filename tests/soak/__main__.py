"""Attacks lakes for some minutes, as drawn by seed, against a model of what must be there: ``python -m tests.soak``.

Each trial works on one lake, in processes that are killed (SIGKILL) or have no room left (RLIMIT_FSIZE) at moments that are
drawn. After each: no event stands twice, what coverage calls read is there, findings that were published can be read. At
the end: every event once, and the findings of a run from nothing. A trial of replies collects from an account whose
replies are spoilt as hypothesis draws them. Prints the seed of whatever fails; exits 1 then.
"""

import argparse
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from forensics.errors import ForensicsError
from forensics.lake import Lake
from forensics.tables import BY_NAME, FINDINGS
from forensics.window import TimeWindow
from ingest.collect import collect
from tests.ingest.crash import process
from tests.ingest.model_account import GROUP
from tests.ingest.odd_replies import HOUR, NOW, ODD, REPLIES, OddAccount, Swap, paths
from tests.ingest.world import CREDENTIALS
from tests.soak import work

STEPS = 12
LONGEST_S = {"collect": 1.5, "import": 0.6, "correlate": 2.0, "compact": 0.4, "doctor": 0.3}
"""A piece of work is killed within this; one that ends sooner was not."""
PATIENCE_S = 300.0


def events_of(lake: Lake) -> Counter[tuple[Any, ...]]:
    """Return what is stored, as often as it is there; those of the file by their text, those of the account by their id."""
    if not lake.exists(BY_NAME["log_events"]):
        return Counter()
    rows = lake.read(BY_NAME["log_events"], ["log_group", "event_id", "line"]).to_pylist()
    return Counter((r["log_group"], r["event_id"] or r["line"]) for r in rows)


def model_of(seed: int) -> set[tuple[Any, ...]]:
    """Return every event that may be stored, but for those that are poison to the store."""
    account = [(GROUP, f"{n:056}") for n, (_, _, line) in enumerate(work.account_events(seed)) if _can_be_stored(line)]
    return {*account, *((work.FILE_GROUP, line) for line in work.file_lines(seed))}


def _can_be_stored(line: str) -> bool:
    try:
        return "\0" not in line and line.encode() is not None
    except UnicodeEncodeError:
        return False


def readable(lake: Lake) -> int:
    """Read every table of the newest findings; returns how many rows, and raises what a reader would."""
    if lake.generation() is None:
        return 0
    found = lake.findings()
    return sum(found.read(table).num_rows for table in FINDINGS)


def findings_of(lake: Lake) -> dict[str, list[str]]:
    """Return the findings as texts in one order."""
    return {t.name: sorted(map(str, lake.findings().read(t).to_pylist())) for t in FINDINGS}


def attacked(seed: int, folder: Path) -> tuple[int, int]:
    """Attack one lake and check it after each step; returns how often a process was killed, and had no room."""
    draw, lake = random.Random(seed), Lake(folder / "lake")
    model, was_published, killed, cramped = model_of(seed), False, 0, 0
    for _ in range(STEPS):
        name = draw.choice(list(work.WORK))
        dies = draw.uniform(0, LONGEST_S[name]) if draw.random() < 0.7 else None
        room = int(10 ** draw.uniform(2.5, 5)) if dies is None and draw.random() < 0.7 else None
        child = process(work.run, str(lake.root), seed, name, dies, room)
        child.join(PATIENCE_S)
        assert child.exitcode is not None, f"{name} did not end"
        killed, cramped = killed + (child.exitcode == -9), cramped + (room is not None)
        found = events_of(lake)
        assert not [event for event, count in found.items() if count > 1], f"doubled after {name}"
        assert set(found) <= model, f"invented after {name}: {sorted(set(found) - model)[:2]}"
        assert not was_published or lake.generation() is not None, f"findings gone after {name}"
        readable(lake)
        was_published = lake.generation() is not None
    for name in ("doctor", "collect", "import", "correlate"):
        child = process(work.run, str(lake.root), seed, name, None, None)
        child.join(PATIENCE_S)
        assert child.exitcode == 0, f"{name} ended with {child.exitcode} when nothing was in its way"
    assert set(events_of(lake)) == model, f"{len(model - set(events_of(lake)))} events lost"
    as_it_came = findings_of(lake)
    work.judge(lake.root, seed, anew=True)
    assert findings_of(lake) == as_it_came, "findings are others than from nothing"
    return killed, cramped


def misled(seed: int, folder: Path, account: OddAccount) -> None:
    """Collect from an account of which one to three parts of the replies are spoilt."""
    draw = random.Random(seed)
    operations = [draw.choice(sorted(REPLIES)) for _ in range(draw.randint(1, 3))]
    swaps = [Swap(o, draw.choice(paths(o)), draw.choice(ODD), draw.random() < 0.5) for o in operations]
    account.begin(tuple(swaps))
    try:
        collect(Lake(folder / "lake"), account.aws, None, TimeWindow(*HOUR), ["/ecs/refunds=refunds"], now=NOW)
    except ForensicsError as problem:
        assert any(o in ("sqs:ListQueues", "sqs:GetQueueUrl") for o in operations) or "refunds" in str(problem), problem


def main() -> int:
    """Soak for the minutes asked for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0, help="the first trial's; alone with --minutes 0")
    asked = parser.parse_args()
    end, seed, failed, totals = time.monotonic() + asked.minutes * 60, asked.seed, [], Counter[str]()
    os.environ |= CREDENTIALS | {"AWS_EC2_METADATA_DISABLED": "true"}
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_SESSION_TOKEN"):
        os.environ.pop(name, None)
    account = OddAccount()
    while True:
        with tempfile.TemporaryDirectory(prefix="doubletake-soak-") as folder:
            try:
                if seed % 4:
                    misled(seed, Path(folder), account)
                    totals["collections from spoilt replies"] += 1
                else:
                    killed, cramped = attacked(seed, Path(folder))
                    totals["lakes"] += 1
                    totals["kills"] += killed
                    totals["full disks"] += cramped
            except Exception:
                failed.append(seed)
                print(f"seed {seed}:\n{traceback.format_exc()}", file=sys.stderr, flush=True)
        seed += 1
        if time.monotonic() > end:
            break
    print(", ".join(f"{count:,} {what}" for what, count in sorted(totals.items())) + f"; failed: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
