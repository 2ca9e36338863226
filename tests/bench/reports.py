"""How long a report of a large incident takes, and how much memory: ``python -m tests.bench.reports --messages 100000``.

Every message was delivered twice and its work was done in both. Each form is written in a process of its own.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from time import perf_counter

import pyarrow.parquet as pq

from forensics.lake import Lake, to_arrow
from forensics.tables import FINDINGS
from forensics.tables.evidence import LOG_EVENTS
from tests.forensics.report import world

FORMS = ("html", "pdf", "md", "json", "csv", "zip")
RULES = 12
"""Rulings per redelivery: as many as there are rules that bear on one."""


def told(number: int) -> tuple[dict[str, list[world.Row]], list[world.Row]]:
    """Return the findings rows and the log lines of one message; messages come ten to a second."""
    item, at = f"{number:08x}-0000-4000-8000-000000000000", timedelta(seconds=number / 10)
    ids = [world.log_id(4 * number + n) for n in range(4)]
    lines = [
        line | {"evidence_id": i, "event_id": i[-56:], "logged_at": line["logged_at"] + at}
        for line, i in zip(world.lines()[:4], ids, strict=True)
    ]
    mine = {"item_id": item, "message_id": item, "evidence_ids": ids, "business_keys": [f"pay-{number:07}"]}
    runs = [{"consumer": f"run-{number // 10}-{n}"} for n in range(2)]
    base = world.messages()[0] | mine | {"work_id": f"payments.fifo|pay-{number:07}"}
    base |= {name: base[name] + at for name in ("first_received_at", "last_received_at", "sent_at")}
    again = world.redeliveries()[0] | {k: v for k, v in mine.items() if k != "business_keys"}
    again |= {name: again[name] + at for name in ("earlier_received_at", "later_received_at")}
    rows = {
        "messages": [base],
        "deliveries": [
            d | mine | run | {"received_at": d["received_at"] + at, "effect": "yes", "basis": "marker"}
            for d, run in zip((world.deliveries()[0], world.deliveries()[3]), runs, strict=True)
        ],
        "redeliveries": [again],
        "rulings": [
            {**{k: again[k] for k in ("queue_arn", "item_id", "delivery_index")}, "code": f"rule_{n:02}"}
            | {"stance": "excluded", "sentence": "it ended before the second receive", "evidence_ids": ids[:2]}
            for n in range(RULES)
        ],
        "timeline": [
            t | {"item_id": item, "message_id": item, "lane": number + 1, "at": t["at"] + at, "evidence_ids": ids[:2]}
            for t in world.timeline()
            if t["item_id"] == world.IDS[0]
        ],
    }
    return rows, lines


def build(folder: Path, messages: int) -> Lake:
    """Write a lake with one incident of so many messages."""
    lake = Lake(folder)
    for table, rows in world.settings().items():
        lake.append(table, rows, "bench|reports")
    writers = {t.name: _writer(lake, t) for t in FINDINGS}
    cited: list[str] = []
    for start in range(0, messages, 5_000):
        every = [told(n) for n in range(start, min(start + 5_000, messages))]
        lake.append(LOG_EVENTS, [line for _, lines in every for line in lines], "bench|reports")
        for table in FINDINGS:
            rows = [row for found, _ in every for row in found.get(table.name, ())]
            writers[table.name].write_table(to_arrow(table, rows))
        cited += [i for found, _ in every for i in found["messages"][0]["evidence_ids"]]
    counts = {"messages": messages, "messages_at_most": messages, "confirmed": messages, "probable": 0, "harmless": 0}
    counts |= {"works": messages, "works_confirmed": messages, "works_probable": 0, "works_harmless": 0}
    (incidents,) = (t for t in FINDINGS if t.name == "incidents")
    writers["incidents"].write_table(to_arrow(incidents, [world.incident() | counts | {"evidence_ids": cited}]))
    for writer in writers.values():
        writer.close()
    made = {"generation_id": "bench0123456789", "inputs": lake.versions(), "rules_version": "1"}
    lake.publish("bench", made | {"data_until_at": world.after(messages)})
    return lake


def _writer(lake: Lake, table: object) -> pq.ParquetWriter:
    staged = lake.staging_folder(table, "bench")  # type: ignore[arg-type]
    staged.mkdir(parents=True)
    return pq.ParquetWriter(staged / "part-0.parquet", to_arrow(table, []).schema)  # type: ignore[arg-type]


def write(folder: Path, form: str) -> None:
    """Write one form in this process; print its size, the seconds, and the most memory that was held."""
    from forensics.report.case import load_case
    from forensics.report.render import render

    started = perf_counter()
    content = render(load_case(Lake(folder).findings(), world.INCIDENT), form)
    most_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{form:>5}  {len(content) / 1e6:8.1f} MB  {perf_counter() - started:6.1f} s  {most_mb:7,.0f} MB held",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure every form."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--lake", type=Path, help="Where the lake is, or is to be written; else in a temporary folder.")
    parser.add_argument("--form", choices=FORMS)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.lake or Path(scratch) / "lake"
        if not folder.exists():
            build(folder, chosen.messages)
        if chosen.form:
            write(folder, chosen.form)
            return
        for form in FORMS:
            command = [sys.executable, "-m", "tests.bench.reports", "--lake", str(folder), "--form", form]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
