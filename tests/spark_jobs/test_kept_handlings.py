"""Workers' lines that came in rounds are put together as if they had come at once: facts drawn at random, many streams."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from spark_jobs import handlings, kept_handlings, tuning
from spark_jobs.facts import FACT_FIELDS, FACT_TYPE
from spark_jobs.handlings import with_consumer, worker_facts
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.manifest import Manifest, Part
from spark_jobs.small_frames import frame_of

pytestmark = pytest.mark.spark

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
STATED = f"log_group string, log_stream string, logged_at timestamp, order_in_ms int, facts array<struct<{FACT_TYPE}>>"
ROLES = ("record", "started", "effect", "effect", "worker_finished", "mention", "handle_error")
ONE_AT_A_TIME = ["/ecs/alone"]
MARK = ("log_group", "log_stream", "evidence_id", "item_id", "message_id", "key", "handling_index")


def fact(role: str, at: datetime, evidence_id: str, **values: object) -> tuple[object, ...]:
    told = {"role": role, "at": at, "evidence_id": evidence_id, **values}
    return tuple(told.get(name) for name in FACT_FIELDS)


def stream_lines(rng: random.Random, group: str, name: str) -> list[tuple[object, ...]]:
    """One stream: messages that come, go and sometimes come back, with lines that name a key, a handle or nothing."""
    lines, at, open_now, number = [], NOON + timedelta(seconds=rng.randrange(900)), [], 0
    habits = {"nameless": rng.choice((0, 0.1, 0.4)), "jobs": rng.choice((0, 0, 0, 0.1)), "two": rng.choice((1, 1, 3))}
    for place in range(rng.randrange(4, 40)):
        at += timedelta(seconds=rng.choice((0, 1, 1, 2, 7, 40, 700)))
        line_id = f"{name}-{place:03d}"
        if not open_now or (len(open_now) < habits["two"] and rng.random() < 0.3):
            back = number > 2 and rng.random() < 0.15
            number += 0 if back else 1
            open_now.append(rng.randrange(1, number) if back else number)
            role = rng.choice(("record", "record", "record", "started", "started", "effect"))
        else:
            role = rng.choice(ROLES)
        one = rng.choice(open_now)
        message, key = f"{name} message {one}", f"{name} key {one % 9}"
        values: dict[str, object] = {"message_id": message}
        if role == "record":
            shared = "any" if rng.random() < 0.03 else message  # one message printed by two workers under one handle
            values |= {"key": key, "receipt_handle": f"{group} handle of {shared}".ljust(40, "~")[-27:]}
        elif role == "handle_error":
            other = "any" if rng.random() < 0.2 else message
            values = {
                "receipt_handle": f"{group} handle of {other}".ljust(40, "~")[-27:],
                "detail": "expired:DeleteMessage",
            }
        elif role in ("effect", "mention") and rng.random() < habits["nameless"]:
            values = {"key": key} if rng.random() < 0.4 else {}
        if rng.random() < habits["jobs"]:
            role, values = "worker_started", {}
        if role == "worker_finished":
            open_now.remove(one)
        lines.append((group, name, at, 0, [fact(role, at, line_id, **values)]))
    return lines


def in_rounds(rng: random.Random, lines: list[tuple[object, ...]], count: int) -> list[list[tuple[object, ...]]]:
    """Cut every stream at some places, or nowhere; a line in fifty comes later than it should."""
    borders = sorted(rng.choice((0, len(lines), rng.randrange(len(lines) + 1))) for _ in range(count - 1))
    parts: list[list[tuple[object, ...]]] = [[] for _ in range(count)]
    for place, line in enumerate(lines):
        number = sum(place >= border for border in borders)
        parts[rng.randrange(number, count) if rng.random() < 0.02 else number].append(line)
    return parts


def spoken(stream: str, *said: tuple[str, str | None] | str) -> list[tuple[object, ...]]:
    """One stream in which a role and its message follow each other by the second; ``LATER`` is a quarter of an hour."""
    at, lines = NOON, []
    for word in said:
        at += timedelta(minutes=15) if word == LATER else timedelta(seconds=1)
        if isinstance(word, tuple):
            group, _, name = stream.rpartition("/")
            row = fact(word[0], at, f"{stream} {len(lines)}", message_id=word[1] and f"{stream} {word[1]}")
            lines.append((group, name, at, 0, [row]))
    return lines


LATER = "later"
DONE = (("record", "a"), ("worker_finished", "a"))
BY_HAND = {
    "the last line is of the message opened before the new ones": (
        spoken("/ecs/many/goes on", *DONE, ("record", "b"), ("mention", "c"), ("effect", None)),
        3,
    ),
    "only the last line shows that more than one message was worked on at a time": (
        spoken("/ecs/alone/shared now", *DONE, ("record", "b"), ("record", "c"), ("record", "d"), ("effect", "c")),
        3,
    ),
    "what is open was opened longer ago than is read again": (
        spoken("/ecs/many/long open", ("record", "a"), LATER, ("mention", "z"), ("mention", "b"), ("effect", None)),
        2,
    ),
    "a start that names nothing began the job long ago": (
        spoken(
            "/ecs/many/in a job",
            ("worker_started", None),
            LATER,
            *DONE,
            ("mention", "a"),
            ("record", "c"),
            ("effect", None),
        ),
        4,
    ),
    "that more than one message was worked on at a time was seen long ago": (
        spoken(
            "/ecs/alone/shared before",
            ("record", "x"),
            ("record", "y"),
            ("effect", "x"),
            ("worker_finished", "x"),
            ("worker_finished", "y"),
            LATER,
            *DONE,
            ("record", "b"),
            ("record", "c"),
            ("effect", None),
        ),
        8,
    ),
}
"""What the first lines of a stream leave to the others; how many of them come first."""
HANDLE = "of a receive that another stream prints"
ASKED = ("/ecs/many", "asks", NOON, 0, [fact("handle_error", NOON, "asks 0", receipt_handle=HANDLE)])
PRINTED = ("/ecs/many", "prints", NOON, 0, [fact("record", NOON, "prints 0", message_id="m", receipt_handle=HANDLE)])
"""The first is of the message of the second, which comes a round later, in another stream."""


def test_lines_that_came_in_rounds_are_put_together_as_if_they_had_come_at_once(spark, tmp_path, monkeypatch):
    tuning.tune(spark, 5_000, is_small=True)
    monkeypatch.setattr(handlings, "LOOK_BACK_ROWS", 3)
    monkeypatch.setattr(kept_handlings, "LOOK_BACK_ROWS", 3)
    monkeypatch.setattr(kept_handlings, "_LOOK_BACK", timedelta(minutes=10))
    rng = random.Random("rounds of workers")
    streams = [(rng.choice(("/ecs/alone", "/ecs/many")), f"app/{number}") for number in range(160)]
    by_stream = [in_rounds(rng, stream_lines(rng, *stream), 3) for stream in streams]
    by_stream += [[lines[:first], lines[first:], []] for lines, first in BY_HAND.values()]
    by_stream.append([[ASKED], [PRINTED], []])
    rounds = [[line for parts in by_stream for line in parts[number]] for number in range(3)]
    seen: Counter[str] = Counter()
    find, check = kept_handlings._Again.streams, kept_handlings._Again.torn

    def found(again):
        streams = find(again)
        seen.update("read on" if row["cut_at"] else "read anew" for row in streams.collect())
        return streams

    def checked(again, *args):
        torn = check(again, *args)
        seen.update("torn: " + row["log_stream"] for row in torn.collect())
        return torn

    monkeypatch.setattr(kept_handlings._Again, "streams", found)
    monkeypatch.setattr(kept_handlings._Again, "torn", checked)

    def place(lines, by_handle, shared):
        return worker_facts(lines, {"/ecs/many": 60}, ONE_AT_A_TIME, by_handle, shared)

    out = SimpleNamespace(keep=lambda name, frame: frame.localCheckpoint())
    inputs, parts, schemas = SimpleNamespace(spark=spark), [], {}
    for number, lines in enumerate(rounds):
        kept = KeptRuns(SimpleNamespace(root=tmp_path), f"round-{number}", inputs, 0)
        kept.manifest = Manifest("", {}, 0, "", "", [], parts=list(parts), schemas=schemas) if parts else None
        kept._schemas = dict(schemas)
        stated = kept.add("stated", frame_of(spark, lines, STATED))
        if parts:
            told, _ = kept_handlings.keep_on(kept, out, stated, ONE_AT_A_TIME, place)
        else:
            told = kept_handlings.keep_first(kept, stated, place)
        parts.append(Part(kept.run_id, 1))
        schemas = kept._schemas

    everything = [line for lines in rounds for line in lines]
    at_once = with_consumer(place(frame_of(spark, everything, STATED), None, None))
    assert told.older is not None
    by_rounds = told.facts.unionByName(told.older)
    expected, got = (Counter(map(tuple, frame.select(*MARK).collect())) for frame in (at_once, by_rounds))
    assert (list(expected - got)[:3], list(got - expected)[:3]) == ([], [])
    assert len(expected) > 1000
    assert told.each.count() == at_once.select("consumer").distinct().count()
    for what in ("read on", "read anew", "torn: goes on", "torn: shared now"):
        assert seen[what], f"no stream was {what}: {seen}"
