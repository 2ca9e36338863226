"""At 80 columns ids can be copied and sentences read; the worst incident is what stands last on the screen."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import cli
from cli.fold import cells
from cli.output import answer
from cli.program import whole
from cli.table import Layout, print_table
from cli.verdict import print_verdict
from forensics.window import TimeWindow
from tests.cli.test_terminal import printed
from tests.forensics.report import dead_world, world
from tests.forensics.report.test_log_readiness import consumer

WIDTH = 80
LATER = f"{world.QUEUE}-later"
DAY = TimeWindow(datetime(2026, 11, 20, tzinfo=UTC), datetime(2026, 11, 21, tzinfo=UTC))


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.fixture(scope="module")
def two_incidents(tmp_path_factory) -> Path:
    """A lake in which an incident of many repeats is followed by one of few."""
    lake = world.save(tmp_path_factory.mktemp("narrow") / "lake")

    def earlier(hours):
        return {c: world.incident()[c] - timedelta(hours=hours) for c in ("started_at", "ended_at", "first_repeat_at")}

    small = {"incident_id": LATER, "extra_effects_at_least": 0, "extra_effects_at_most": 1}
    incidents = [world.incident() | earlier(5), world.incident() | earlier(3) | small]
    world.publish(lake, {**world.findings(), "incidents": incidents}, "run-2")
    return lake.root


def on_terminal(*args: str) -> list[str]:
    return printed(lambda: cli.main(args)).decode().splitlines()


def uncoloured(*args: str) -> list[str]:
    return [re.sub(r"\x1b\[[\d;]*m", "", line) for line in on_terminal(*args)]


IDS = {
    "incidents": (LATER, "payments.fifo-function_timeout-"),
    "incidents --each": (LATER, world.INCIDENT),
    "messages": world.IDS,
    "deliveries": world.IDS,
    "status": (world.QUEUE,),
}


@pytest.mark.parametrize("command", IDS)
def test_no_line_is_wider_than_the_terminal_and_no_id_is_folded(two_incidents, command):
    lines = on_terminal(*command.split(), "--lake", str(two_incidents))
    too_wide = [line.strip() for line in lines if len(line) > WIDTH and " --" not in line]

    assert [line for line in too_wide if " " in line] == []  # a single word can only be copied whole
    assert all(any(name in line for line in lines) for name in IDS[command])


@pytest.mark.lake
def test_a_command_to_copy_has_a_line_of_its_own(tmp_path):
    blind = {"level": "partial", "missing": ["the response"], "python_lines": ["print()"], "node_lines": ["log()"]}
    found = {"logging_readiness": [consumer(world.GROUP, "partial") | blind]}
    lake = world.save(tmp_path / "lake", found)
    lines = on_terminal("status", "--lake", str(lake.root))
    folded = [line for line in lines if " --" not in line and "print()" not in line]

    assert [line for line in folded if len(line) > WIDTH and " " in line] == []
    assert [line.strip() for line in lines if "suggest" in line] == [
        f"`doubletake suggest {world.QUEUE} --lake {lake.root}`"
    ]


def test_a_delivery_names_its_run_and_stream_and_no_word_is_wider_than_the_terminal(two_incidents):
    lines = on_terminal("deliveries", "--lake", str(two_incidents))

    assert [line for line in lines if len(line) > WIDTH] == []
    assert any("request id " in line for line in lines)
    assert any("log stream " in line for line in lines)


def test_all_columns_are_there_on_demand(two_incidents):
    lines = on_terminal("messages", "--wide", "--lake", str(two_incidents))
    before = on_terminal("--wide", "messages", "--lake", str(two_incidents))

    assert lines == before
    assert all(title in lines[0] for title in ("queue", "message id", "certainty", "causes", "marks"))
    assert len(lines) == 2 + len(world.IDS)


LAYOUT = Layout(("id", "times", "state", "why"), row=("id", "times"), facts=("state", "kind"), sentences=("why",))
WHY = "the function ran into its timeout while others of its batch had been done already, and all came again"


def narrow_lines(record) -> list[str]:
    return printed(lambda: print_table([record], LAYOUT, False)).decode().splitlines()


def test_below_an_id_stand_facts_and_the_whole_sentence():
    head, _, row, facts, *why = narrow_lines({"id": "orders-1", "times": 3, "state": "open", "kind": "", "why": WHY})

    assert "\x1b" in head or head.split() == ["id", "times"]
    assert row.split() == ["orders-1", "3"]
    assert facts == "  state open"
    assert " ".join(line.strip() for line in why) == WHY


def test_an_id_that_is_wider_than_the_terminal_stands_alone_and_whole():
    lines = narrow_lines({"id": "q" * 100, "times": 3, "state": None, "why": WHY})

    assert "q" * 100 in lines
    assert "  3" in lines


BESIDE = Layout(("settings", "times", "state", "why"), row=("settings", "times", "state"), sentences=("why",))


def test_values_that_do_not_fit_side_by_side_stand_below_with_their_names_and_none_is_torn(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    row = {"settings": "visibility timeout 180 s, batch size 5 and more", "times": 3, "why": WHY}
    record = row | {"state": "recurring, quiet for 2 days and more"}
    head, rule, *lines = printed(lambda: print_table([record], BESIDE, False)).decode().splitlines()

    assert "settings" in head
    assert "times" not in head
    assert len(rule) == 40
    assert lines[:4] == [
        *("visibility timeout 180 s, batch size 5", "and more"),
        *("  times 3", "  state recurring, quiet for 2 days and"),
    ]
    assert max(map(len, lines)) <= 40


def test_a_name_is_not_folded_though_it_has_a_blank(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    group = "/ecs/the worker that has a name of many words"
    layout = Layout(("log_group", "why"), row=("log_group",), sentences=("why",))

    assert (
        group in printed(lambda: print_table([{"log_group": group, "why": WHY}], layout, False)).decode().splitlines()
    )


TABLES = {
    "faults": ["incidents"],
    "incidents": ["incidents", "--each"],
    "messages": ["messages"],
    "deliveries": ["deliveries"],
    "findings": ["findings"],
    "checks": ["check", "--fail-on", "never"],
    "weeks": ["health"],
    "sources": ["status"],
    "waits": ["waiting"],
    "balances": ["balance"],
    "replays": ["what-if", world.QUEUE],
    "proposals": ["suggest", world.QUEUE],
    "one message": ["find", world.IDS[0]],
    "still": ["ask", "still"],
    "refunds": ["ask", "refund"],
    "why": ["ask", "why", world.IDS[0]],
    "marks": ["marks"],
    "views": ["views"],
    "runs": ["runs"],
}


@pytest.mark.parametrize("code", ["en", "ja"])
@pytest.mark.parametrize("args", TABLES.values(), ids=TABLES)
def test_a_terminal_of_forty_columns_is_wide_enough_for_every_table(two_incidents, monkeypatch, args, code):
    monkeypatch.setenv("COLUMNS", "40")
    lines = uncoloured(*args, "--lake", str(two_incidents), "--language", code)
    folded = [line for line in lines if " --" not in line and "://" not in line]

    assert [
        line for line in folded if cells(line) > 40 and " " in line.strip()
    ] == []  # a single word can only be copied whole


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "ja"])
@pytest.mark.parametrize("name", ["", *whole().commands])
def test_help_cuts_no_option_off_in_forty_columns(two_incidents, monkeypatch, name, code):
    monkeypatch.setenv("COLUMNS", "40")
    lines = uncoloured(*name.split(), "--help", "--language", code)
    options = [option for param in whole().commands.get(name, whole()).params for option in param.opts]

    assert [line for line in lines if "…" in line or cells(line) > 40] == []
    assert [option for option in options if option.startswith("--") and not any(option in line for line in lines)] == []


def test_a_row_that_fits_is_one_line_with_every_column():
    lines = narrow_lines({"id": "a", "times": 1, "state": "open", "why": "short"})

    assert lines[2:] == ["a   1      open   short"]


def test_prose_is_folded_between_words_and_a_command_is_not():
    command = "  aws lambda update-event-source-mapping --uuid 6f1c0d2a-0000-4000-8000-000000000001 --no-enabled --region eu-west-1"
    prose = "Messages wait in the queue instead of being processed again, and runs in progress still end by themselves."
    lines = printed(lambda: answer(f"{prose}\n{command}")).decode().splitlines()

    assert lines[-1] == command
    assert all(len(line) <= WIDTH for line in lines[:-1])
    assert " ".join(lines[:-1]) == prose


def test_the_last_thing_on_the_screen_is_the_worst_incident_and_not_the_newest(two_incidents, capsys):
    from forensics.lake import Lake

    print_verdict(Lake(two_incidents).findings(), (world.QUEUE, "mail"), DAY)
    text = capsys.readouterr().out
    listed, _, last = text.partition("2 incidents of 1 fault;")

    assert "mail: no sign" in listed
    assert LATER in listed
    assert f"\n{world.INCIDENT} · " in last
    assert LATER not in last
    assert last.rstrip().splitlines()[-1].startswith("  Report:")


@pytest.mark.lake
def test_messages_that_were_dead_lettered_at_the_same_time_are_told_apart(tmp_path, capsys):
    lake = dead_world.save(tmp_path / "lake")
    print_verdict(lake.findings(), (world.QUEUE,), DAY)
    lines = capsys.readouterr().out.splitlines()
    dead = [line for line in lines if line.startswith(f"{world.QUEUE}: ") and "dead-lettered pay-" in line]

    assert len(dead) == 2
    assert len({line.partition(",")[0] for line in dead}) == 2
    assert any(line.startswith(f"{world.QUEUE}: message group blocked, from") for line in lines)


NAMING_A_QUEUE = (
    *("suggest", "waiting", "balance", "what-if"),
    *("incidents", "messages", "deliveries", "findings", "check", "health", "status"),
)


@pytest.mark.parametrize("command", NAMING_A_QUEUE)
def test_a_queue_is_an_argument_or_an_option_and_never_two(two_incidents, command, capsys):
    def run(*args):
        code = cli.main([command, *args, "--lake", str(two_incidents)])
        return code, capsys.readouterr()

    both = [run(world.QUEUE), run("--queue", world.QUEUE)]
    code, said = run(world.QUEUE, "--queue", "mail")

    assert both[0] == both[1]
    assert (code, said.out) == (2, "")
    assert "'mail'" in said.err


SPANS = {
    "seconds": ("p95_age_s", 796, "p95 age", "13 min 16 s"),
    "no seconds": ("p95_age_s", 0, "p95 age", "0 s"),
    "milliseconds": ("p99_handler_ms", 9449, "p99 handler", "9.44 s"),
    "a count": ("sent", 1311, "sent", "1,311"),
    "a number that names": ("last", 1311, "last", "1311"),
}


@pytest.mark.parametrize("width", [80, 400])
@pytest.mark.parametrize(("column", "value", "head", "cell"), SPANS.values(), ids=SPANS)
def test_a_number_has_its_unit(monkeypatch, column, value, head, cell, width):
    monkeypatch.setenv("COLUMNS", str(width))
    layout = Layout(("queue", column, "why"), row=("queue",), facts=(column,), sentences=("why",))
    records = [{"queue": "orders", column: value, "why": "a sentence of some length " * 4}]
    lines = printed(lambda: print_table(records, layout, False)).decode().splitlines()

    assert any(f"  {head} {cell}" in line for line in lines) == (width == 80)
    assert any(cell in line.split("  ") for line in lines) == (width == 400)


def test_a_fact_that_is_not_known_is_left_out():
    layout = Layout(("queue", "consumer", "why"), row=("queue",), facts=("consumer",), sentences=("why",))
    records = [{"queue": "orders", "consumer": "-", "why": "a sentence of some length " * 4}]

    assert "consumer" not in printed(lambda: print_table(records, layout, False)).decode()
