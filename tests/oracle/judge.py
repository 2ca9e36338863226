"""Compares findings with the truth: what is unsound, what is missed, and how sharp the answers are."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from typing import Any

from tests.oracle.left_out import LEFT_OUT
from tests.oracle.lines import iso
from tests.oracle.telling import Telling
from tests.oracle.truth import INVOKED_AGAIN, Cause, Delivery, MessageTruth
from tests.oracle.untold import Untold
from tests.oracle.world import World

Row = dict[str, Any]
SHARP = ("marker", "finished")


@dataclass(frozen=True)
class Problem:
    """One finding that does not fit the truth. ``is_unsound`` ones break a promise; others are blunt or doubtful."""

    kind: str
    world: World
    message_id: str | None
    said: str
    is_unsound: bool = True
    row: Row | None = None

    def story(self) -> str:
        """Tell seed, plan, the message's lines in order, the truth and the finding."""
        parts = [f"{self.kind}: {self.said}", f"  seed {self.world.seed}: {self.world.plan}"]
        if since := self.world.since:
            parts.append(f"  log events before +{(since.at_ms - since.started_ms) / 1000:.3f} are left out")
        if self.message_id in self.world.truth:
            parts += _told(self.world, self.world.truth[self.message_id])
        if self.row:
            parts.append("  finding: " + ", ".join(f"{k}={v!r}" for k, v in self.row.items() if k != "evidence_ids"))
        return "\n".join(parts)


def _told(world: World, known: MessageTruth) -> list[str]:
    start = world.started_ms
    parts = [f"  truth of {known.message_id} ({known.business_key}): work done {known.effects_done} times"]
    for d in known.deliveries:
        effects = ", ".join(f"+{(at - start) / 1000:.3f}" for at in d.effects_ms) or "none"
        parts.append(
            f"    receive {d.receive_count} at +{(d.received_ms - start) / 1000:.3f} by {d.run_id}: {d.outcome}, effects {effects}"
        )
    parts += [f"    receive {c.receive_count} because {c.code} (accepted: {sorted(c.accepted)})" for c in known.causes]
    runs = {line.run_id for line in world.book.lines if any(d.message_id == known.message_id for d in line.names)}
    runs |= {d.run_id for d in known.deliveries}
    kept = {id(line) for line in world.evidence.lines}
    parts.append("  its lines (x: not kept):")
    for line in world.book.lines:
        if line.run_id in runs:
            mark = " " if id(line) in kept else "x"
            text = line.text.rstrip().replace("\n", "\\n").replace("\r", "\\r")
            parts.append(
                f"   {mark} +{(line.at_ms - start) / 1000:9.3f} {iso(line.at_ms)} {line.stream[-8:]} {text[:300]}"
            )
    return parts


@dataclass
class Score:
    """How good the findings of many worlds are."""

    worlds: int = 0
    messages: int = 0
    redelivered: int = 0
    repeated: int = 0  # work done more than once, and the evidence shows a second delivery
    repeated_confirmed: int = 0
    told: int = 0  # the same, where every effect of the message is marked and logged
    told_confirmed: int = 0
    rows: int = 0
    confirmed: int = 0
    confirmed_true: int = 0
    sound: int = 0
    hides_later: int = 0  # not sound, but right up to the highest receive count that anything prints
    widths: list[int] = field(default_factory=list)
    untold: int = 0  # the part of the widths that no line tells (``tests.oracle.untold``)
    unbounded: int = 0
    causes: Counter[tuple[str, str]] = field(default_factory=Counter)
    right: int = 0
    wrong: int = 0
    undecidable: int = 0
    tellable: int = 0  # redeliveries of which a line could tell why (``tests.oracle.telling``)
    tellable_undecided: int = 0
    maybe_same: int = 0  # rows that name further messages as perhaps the same work: one of them is
    maybe_others: int = 0  # none of them is
    origins: Counter[tuple[str, str]] = field(default_factory=Counter)
    delivery_effects: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Score") -> None:
        """Take in the score of further worlds."""
        for field_ in fields(self):
            mine, theirs = getattr(self, field_.name), getattr(other, field_.name)
            setattr(self, field_.name, mine + theirs)

    def lines(self) -> list[tuple[str, str]]:
        """Return the score table: what, and how much."""

        def share(part: int, whole: int) -> str:
            return f"{part}/{whole} = {part / whole:.2%}" if whole else "none"

        decided = self.right + self.wrong
        finite = len(self.widths)
        return [
            ("worlds", str(self.worlds)),
            ("messages", str(self.messages)),
            ("redelivered messages", str(self.redelivered)),
            ("rows judged", str(self.rows)),
            ("truth inside the interval", share(self.sound, self.rows)),
            ("  true up to the last receive shown ***", share(self.hides_later, self.rows)),
            ("confirmed precision", share(self.confirmed_true, self.confirmed)),
            ("confirmed recall, all worlds", share(self.repeated_confirmed, self.repeated)),
            ("confirmed recall, every effect told", share(self.told_confirmed, self.told)),
            ("mean interval width (bounded)", f"{sum(self.widths) / finite:.3f}" if finite else "none"),
            ("  of which no line tells **", f"{self.untold / finite:.3f}" if finite else "none"),
            ("  of which a line could tell", f"{(sum(self.widths) - self.untold) / finite:.3f}" if finite else "none"),
            ("no upper bound", share(self.unbounded, self.rows)),
            ("perhaps the same work, and so it is", share(self.maybe_same, self.maybe_same + self.maybe_others)),
            ("cause accuracy (decided)", share(self.right, decided)),
            ("undecidable, all", share(self.undecidable, decided + self.undecidable)),
            ("undecidable, where a line could tell *", share(self.tellable_undecided, self.tellable)),
        ]

    def table(self) -> str:
        """Print the score and every pair of true and said cause."""
        parts = [f"{what:<40} {value}" for what, value in self.lines()]
        parts.append(
            "  * what says how the earlier delivery ended was written and kept, and its log names the message: the run's end, its\n"
            "    response or the counts of its mapping, a failed delete, a stop; of receives that no log shows, the metrics\n"
            "  ** another world would keep the very same lines with the other truth (tests/oracle/untold.py); what a line could tell is\n"
            "    counted against the findings\n"
            "  *** no lie: a further receive is in no line that was kept, no count of it, and no gap that the readings tell of; told\n"
            "    with --blunt"
        )
        parts.append("effect of seen deliveries, said vs done   " + _counted(self.delivery_effects))
        parts.append("origin: truth -> said")
        parts += [f"  {true:<20} -> {said:<20} {number}" for (true, said), number in sorted(self.origins.items())]
        parts.append("cause: truth -> said")
        for (truth, said), number in sorted(self.causes.items(), key=lambda pair: (pair[0][0], -pair[1])):
            parts.append(f"  {truth:<20} -> {said:<20} {number}")
        return "\n".join(parts)


def kinds_table(scores: Mapping[str, Score], problems: Sequence[Problem]) -> str:
    """Print one line per kind of world: what is false in it, and how sharp the answers are."""
    columns = (
        "worlds",
        "rows",
        "lies",
        "false confirmed",
        "recall",
        "told",
        "width",
        "untold",
        "causes",
        "undecided",
        "could tell",
        "unbounded",
    )
    parts = [f"{'kind of world':<28}" + "".join(f"{name:>{len(name) + 2}}" for name in columns)]
    for kind, score in scores.items():
        mine = [p for p in problems if p.is_unsound and played_as(p.world) == kind]
        decided = score.right + score.wrong
        cells = (
            str(score.worlds),
            str(score.rows),
            str(len(mine)),
            str(sum(p.kind == "false confirmed" for p in mine)),
            _part(score.repeated_confirmed, score.repeated),
            _part(score.told_confirmed, score.told),
            f"{sum(score.widths) / len(score.widths):.2f}" if score.widths else "-",
            f"{score.untold / len(score.widths):.2f}" if score.widths else "-",
            _part(score.right, decided),
            _part(score.undecidable, decided + score.undecidable),
            _part(score.tellable_undecided, score.tellable),
            _part(score.unbounded, score.rows),
        )
        parts.append(f"{kind:<28}" + "".join(f"{c:>{len(n) + 2}}" for c, n in zip(cells, columns, strict=True)))
    return "\n".join(parts)


def played_as(world: World) -> str:
    """Name the kind in whose line a world counts: one of its own where log events were left out, whatever the kind it is of."""
    return LEFT_OUT if world.since else world.kind


def _part(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{what}: {number}" for what, number in sorted(counts.items()))


@dataclass
class Findings:
    """Rows of the findings tables, by table name."""

    messages: list[Row]
    redeliveries: list[Row]
    deliveries: list[Row]


def judge(worlds: Iterable[World], findings: Findings) -> tuple[list[Problem], Score]:
    """Judge the findings of all worlds; unsound problems first."""
    by_queue: dict[str, Findings] = defaultdict(lambda: Findings([], [], []))
    for name in ("messages", "redeliveries", "deliveries"):
        for row in getattr(findings, name):
            getattr(by_queue[row["queue"]], name).append(row)
    problems: list[Problem] = []
    score = Score()
    for world in worlds:
        problems += _judge_world(world, by_queue[world.queue_name], score)
    return sorted(problems, key=lambda p: not p.is_unsound), score


def _judge_world(world: World, found: Findings, score: Score) -> list[Problem]:
    score.worlds += 1
    score.messages += len(world.truth)
    score.redelivered += sum(len(t.receives) > 1 for t in world.truth.values())
    problems, untold = [], Untold(world)
    alone = Counter(row["item_id"].removeprefix("key:") for row in found.deliveries if row["message_id"] is None)
    for row in found.messages:
        problems += _judge_row(world, row, score, untold, alone)
        problems += _judge_guard(world, row)
    problems += _judge_certainty(world, found)
    problems += _judge_missed(world, found, score)
    problems += _judge_causes(world, found, score)
    problems += _judge_deliveries(world, found, score)
    return problems


# -- what is said of guards ----------------------------------------------------------------------------------


def _judge_guard(world: World, row: Row) -> list[Problem]:
    """Hold what is said of an idempotency table to how the guard really keeps its records."""
    plan, said = world.plan, row.get("guard_sentence") or ""
    kept = re.search(r"a record is kept for ([\d,]+) s at most", said)
    lies = {
        "by another id": "its guard keys on the message id" in said and plan.guard_key != "message_id",
        "kept shorter than it is": bool(kept) and int(kept[1].replace(",", "")) < plan.guard_store_s,
        "not recorded, and done": "did not record this work as done" in said,
        "not asked": "it was done without asking the table" in said,
    }
    return [
        Problem("lie about the guard", world, row["message_id"], what, row=row) for what, is_so in lies.items() if is_so
    ]


# -- the verdict ---------------------------------------------------------------------------------------------


def verdict_of(at_least: int, at_most: int | None, is_guarded: bool) -> str:
    """The contract's table, written down once more: no upper bound counts as two or more."""
    if at_least >= 2:
        return "confirmed"
    if at_most is None or at_most >= 2:
        return "probable" if at_least == 1 else "possible"
    return "absorbed" if is_guarded else "harmless"


def _works_of(world: World, row: Row) -> list[MessageTruth]:
    ids = {row["message_id"], *row["related_message_ids"]} - {None}
    if ids:
        return [world.truth[one] for one in sorted(ids) if one in world.truth]
    return [t for t in world.truth.values() if t.business_key in row["business_keys"]]


def _judge_row(world: World, row: Row, score: Score, untold: Untold, keys_alone: Mapping[str, int]) -> list[Problem]:
    """Hold an interval to how often the work was done.

    Lines that name its key alone may be of messages whose own lines do not tell it: it was done as often as there are such lines, if
    all messages of the key did it so often.
    """
    message_id, low, high = row["message_id"], row["effects_at_least"], row["effects_at_most"]
    unknown = {message_id, *row["related_message_ids"], *row["maybe_related_message_ids"]} - {None} - set(world.truth)
    if unknown:
        return [Problem("phantom", world, message_id, f"no such message: {sorted(unknown)}", row=row)]
    linked = works = _works_of(world, row)
    maybe = [world.truth[one] for one in row["maybe_related_message_ids"]]
    if maybe:  # what is said to be the same work perhaps: the interval holds of the work as it is
        keys = {t.business_key for t in linked}
        works = [*linked, *(same for same in maybe if same.business_key in keys)]
        score.maybe_same += len(works) > len(linked)
        score.maybe_others += len(works) == len(linked)
    done = sum(t.effects_done for t in works)
    score.rows += 1
    keys = {t.business_key for t in works}
    by_lines = min(
        sum(t.effects_done for t in world.truth.values() if t.business_key in keys),
        max((keys_alone.get(key, 0) for key in keys), default=0),
    )
    most = max(done, by_lines, _done_untold(world, keys))
    is_sound = low <= most and (high is None or done <= high)
    shown = sum(t.effects_up_to_shown_count for t in works)
    later = [d for t in works for d in t.deliveries if t.is_hidden(d) and d.effects_ms]
    hides_later = not is_sound and row["receive_count"] is not None and low <= shown <= (high or shown)
    hides_later = hides_later and not any(world.evidence.is_known_unread(d) for d in later)
    score.sound += is_sound
    score.hides_later += hides_later
    if high is None:
        score.unbounded += 1
    else:
        score.widths.append(high - low)
        # that each of those may be the same is what no line tells, whether it is so or not
        open_of = untold.count(linked, by_key=message_id is None) + sum(len(t.deliveries) for t in maybe)
        score.untold += min(high - low, open_of)
    if row["verdict"] == "confirmed":
        score.confirmed += 1
        score.confirmed_true += most >= 2
    problems = []
    if hides_later:
        text = f"work done {shown} times up to the last printed receive count, {done} in all, said [{low}, {high}]"
        problems.append(Problem("later delivery hidden", world, message_id, text, False, row))
    elif not is_sound:
        kind = "false confirmed" if row["verdict"] == "confirmed" and most < 2 else "unsound interval"
        may_change = kind == "unsound interval" and bool(row["is_provisional"]) and world.has_late_lines
        text = f"work done {done} times, said [{low}, {high}]" + (" provisionally" if may_change else "")
        problems.append(Problem(kind, world, message_id, text, not may_change, row))
    expected = {verdict_of(low, high, guarded) for guarded in (True, False)}
    if row["verdict"] not in expected:
        problems.append(
            Problem(
                "verdict beside its interval", world, message_id, f"[{low}, {high}] reads {row['verdict']}", row=row
            )
        )
    if len({t.business_key for t in linked}) > 1:
        problems.append(Problem("false link", world, message_id, "related messages are other works", row=row))
    counts = [d.receive_count for t in works for d in t.deliveries if t.message_id == message_id]
    if row["receive_count"] is not None and counts and row["receive_count"] > max(counts):
        problems.append(Problem("invented receive", world, message_id, f"highest true count {max(counts)}", row=row))
    if message_id in world.truth and len(linked) > 1:
        true_origin = world.truth[message_id].origin
        score.origins[str(true_origin), str(row.get("origin"))] += 1
        if row.get("origin") not in (None, true_origin):
            text = f"came by {true_origin}, said {row['origin']}"
            problems.append(Problem("wrong origin", world, message_id, text, False, row))
    if row["is_dead_lettered"] and not any(t.dead_lettered_ms for t in works):
        problems.append(Problem("false dead letter", world, message_id, "it never moved to the DLQ", row=row))
    return problems


def _done_untold(world: World, keys: Set[str]) -> int:
    """Return 1 where a guard lets a work end well that was done under another message's id, which no kept line names; else 0.

    That it was done once is true of the work, whoever did it.
    """
    others = (t for t in world.truth.values() if t.business_key in keys and not t.named_runs and not t.is_event_shown)
    return int(bool(world.plan.guard) and any(t.effects_done for t in others))


def _judge_certainty(world: World, found: Findings) -> list[Problem]:
    bases = defaultdict(set)
    for row in found.deliveries:
        if row["effect"] == "yes":
            bases[row["message_id"]].add(row["basis"])
    problems = []
    for row in found.messages:
        rests_on = set().union(*(bases[one] for one in [row["message_id"], *row["related_message_ids"]]))
        if row["certainty"] == "proved" and row["is_provisional"] and row["verdict"] != "confirmed":
            problems.append(Problem("provisional proof", world, row["message_id"], "lines may still come", row=row))
        if row["certainty"] == "proved" and rests_on - set(SHARP):
            problems.append(
                Problem("false proof", world, row["message_id"], f"a yes rests on {sorted(rests_on)}", row=row)
            )
    return problems


def _judge_missed(world: World, found: Findings, score: Score) -> list[Problem]:
    rows = {row["message_id"]: row for row in found.messages if row["message_id"]}
    keys = {key for row in found.messages for key in row["business_keys"]}
    problems = []
    for known in world.truth.values():
        row = rows.get(known.message_id)
        by_key = world.plan.effect_declared and len(known.key_named_runs) > 1
        if known.effects_done < 2 or not (known.is_known_to_repeat or by_key):
            continue
        score.repeated += 1
        score.told += known.is_told
        if row is not None and row["verdict"] == "confirmed":
            score.repeated_confirmed += 1
            score.told_confirmed += known.is_told
        if row is None and known.is_known_to_repeat:
            problems.append(Problem("missed", world, known.message_id, f"done {known.effects_done} times, not listed"))
        elif row is None and known.business_key not in keys:
            problems.append(Problem("missed key", world, known.message_id, f"key {known.business_key} is not listed"))
        elif row is not None and row["verdict"] != "confirmed" and known.is_told:
            problems.append(
                Problem("blunt", world, known.message_id, f"every effect told: {row['verdict']}", False, row)
            )
    return problems + _judge_links(world, rows)


def _judge_links(world: World, rows: dict[str, Row]) -> list[Problem]:
    shows_attributes = world.plan.event_form in ("json", "repr")
    by_key: dict[str, list[MessageTruth]] = defaultdict(list)
    for known in world.truth.values():
        if known.is_event_shown:
            by_key[known.business_key].append(known)
    problems = []
    for same in by_key.values():
        same_id = len({t.deduplication_id for t in same}) == 1 and world.plan.is_fifo and shows_attributes
        is_logged = world.plan.calls == "producer"
        if len(same) < 2 or not (world.plan.business_key_declared or same_id or is_logged):
            continue
        if sum(t.effects_done for t in same) < 2:
            continue
        ids = {t.message_id for t in same}
        for known in same:
            row = rows.get(known.message_id)
            linked = ("related_message_ids", "maybe_related_message_ids")
            if row is None or not ids <= {known.message_id}.union(*(row[name] for name in linked)):
                text = f"same work as {sorted(ids - {known.message_id})}, origin {[t.origin for t in same]}"
                problems.append(Problem("missed link", world, known.message_id, text, row=row))
    return problems


# -- causes and the ledger -----------------------------------------------------------------------------------


def _judge_causes(world: World, found: Findings, score: Score) -> list[Problem]:
    truth: dict[tuple[str, int], Cause] = {
        (cause.message_id, cause.receive_count): cause for t in world.truth.values() for cause in t.causes
    }
    problems, telling = [], Telling(world)
    handled = _Handled(world, found)
    for row in found.redeliveries:
        cause = truth.get((row["message_id"], row["receive_count"]))
        before, later = (handled.of(row["item_id"], row["delivery_index"] + step) for step in (-1, 0))
        if before and later and before.handlings is later.handlings:
            cause = Cause(later.message_id, later.receive_count, INVOKED_AGAIN, before, later.received_ms)
        elif cause is None and (several := handled.several.get((row["message_id"], row["receive_count"]))):
            cause = Cause(several.message_id, several.receive_count, INVOKED_AGAIN, several, several.received_ms)
        elif row["receive_count"] is None:
            cause = _uncounted_cause(world, found, row)
        if cause is None:
            if row["receive_count"] is not None and row["message_id"] in world.truth:
                text = f"no receive {row['receive_count']} ever followed another"
                problems.append(Problem("invented redelivery", world, row["message_id"], text, row=row))
            continue
        said = row["cause"]
        score.causes[cause.code, said] += 1
        if telling.could_tell(cause):
            score.tellable += 1
            score.tellable_undecided += said == "undecidable"
        if said == "undecidable":
            score.undecidable += 1
        elif said in cause.accepted or (said == "throttled" and _looks_throttled(world, cause)):
            score.right += 1
        else:
            score.wrong += 1
            text = f"receive {cause.receive_count} came by {cause.code}, said {said}"
            problems.append(Problem("wrong cause", world, row["message_id"], text, False, row))
    return problems


def _looks_throttled(world: World, cause: Cause) -> bool:
    """Tell whether somebody's receive looks like one of a poller that was throttled: a function was in those very minutes."""
    if cause.code != "unseen_receive":
        return False
    known = world.truth[cause.message_id]
    earlier = [d.received_ms for d in known.deliveries if d.receive_count < cause.before.receive_count]
    minutes = range(max(earlier, default=known.sent_ms) // 60_000, cause.later_ms // 60_000 + 1)
    return any(moment // 60_000 in minutes for function in world.functions for moment in function.throttles)


def _uncounted_cause(world: World, found: Findings, row: Row) -> Cause | None:
    """Find the true cause between two deliveries that were seen without counts, where they really are neighbours."""
    ledger = {r["delivery_index"]: r for r in found.deliveries if r["item_id"] == row["item_id"]}
    known = world.truth.get(row["message_id"])
    pair = [ledger.get(row["delivery_index"] + step) for step in (-1, 0)]
    if known is None or None in pair:
        return None
    used = Counter(run.request_id for function in world.functions for run in function.runs)
    requests = {
        r.request_id: r.run_id for function in world.functions for r in function.runs if used[r.request_id] == 1
    }
    counts = []
    for one in pair:
        run_id = requests.get(one["request_id"]) if one else None
        counts += [d.receive_count for d in known.deliveries if run_id and d.run_id == run_id]
    if len(counts) != 2 or counts[1] != counts[0] + 1:
        return None
    return next((c for c in known.causes if c.receive_count == counts[1]), None)


class _Handled:
    """Which handling a row of the ledger is of, as its request id tells."""

    def __init__(self, world: World, found: Findings) -> None:
        runs = [run for function in world.functions for run in function.runs]
        used = Counter(run.request_id for run in runs)
        self._run_ids = {run.request_id: run.run_id for run in runs if used[run.request_id] == 1}
        self._by_run = {(d.message_id, d.run_id): d for t in world.truth.values() for d in t.deliveries if d.run_id}
        self._ledger = {(r["item_id"], r.get("delivery_index")): r for r in found.deliveries}
        firsts = [d for t in world.truth.values() for d in t.receives if len(d.handlings) > 1]
        self.several = {(d.message_id, d.receive_count): d for d in firsts}

    def of(self, item_id: str, delivery_index: int) -> Delivery | None:
        """Return the handling of a row; None where its run is not known."""
        row = self._ledger.get((item_id, delivery_index))
        run_id = self._run_ids.get(row.get("request_id")) if row else None
        return self._by_run.get((row["message_id"], run_id)) if row and run_id else None


def _judge_deliveries(world: World, found: Findings, score: Score) -> list[Problem]:
    truth = {(d.message_id, d.receive_count): d for t in world.truth.values() for d in t.receives}
    problems, handled = [], _Handled(world, found)
    told = Counter((row["message_id"], row["receive_count"]) for row in found.deliveries)
    for row in found.deliveries:
        name = row["message_id"], row["receive_count"]
        delivery = truth.get(name)
        if delivery is None:
            continue
        mine = delivery.handlings
        if told[name] > 1 and len(mine) > 1:
            mine = [d for d in mine if d is handled.of(row["item_id"], row["delivery_index"])]
        if not mine:
            continue
        done = "done" if any(d.effects_ms for d in mine) else "not done"
        score.delivery_effects[f"{row['effect']}, {done}"] += 1
        wrong = (row["effect"], done) in {("yes", "not done"), ("no", "done")}
        if row["basis"] == "returned" and world.plan.guard:
            continue  # the first return of a work counts as its doing; a guard may have put it elsewhere
        if wrong:
            text = f"receive {delivery.receive_count}: said {row['effect']} by {row['basis']}, truly {done}"
            problems.append(Problem("wrong effect", world, row["message_id"], text, False, row))
    return problems


def stories(problems: list[Problem], limit: int = 5) -> str:
    """Tell the first problems in full and count the rest by kind."""
    counts = Counter(p.kind for p in problems)
    told = "\n\n".join(p.story() for p in problems[:limit])
    return f"{len(problems)} problems: {_counted(counts)}\n\n{told}"
