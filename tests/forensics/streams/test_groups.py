"""Who writes a log group, for which queue, and how long a silence parts its lines."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.settings import Consumer, Settings
from forensics.streams.groups import functions_of_streams, log_groups_of, runs_latest, with_kinds

ACCOUNT = "arn:aws:sqs:eu-west-1:111122223333:"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
CHARGE = "/aws/lambda/charge"


def consumer(log_group=CHARGE, kind="lambda", function_name="charge", queue="payments", arn=None):
    return {
        "log_group": log_group,
        "kind": kind,
        "function_name": function_name,
        "queue_name": queue,
        "queue_arn": arn or ACCOUNT + queue,
    }


def queue(visibility_s, hours=0, name="payments"):
    return {
        "evidence_id": f"queue:{hours}",
        "observed_at": NOON + timedelta(hours=hours),
        "queue_name": name,
        "queue_arn": ACCOUNT + name,
        "visibility_timeout_s": visibility_s,
    }


def function(timeout_s, hours=0, log_group=CHARGE):
    return {
        "evidence_id": f"function:{hours}",
        "observed_at": NOON + timedelta(hours=hours),
        "function_name": "charge",
        "log_group": log_group,
        "timeout_s": timeout_s,
    }


def of(*consumers, name=CHARGE, toml="", functions=(), queues=(), with_platform_lines=False):
    present = {name: with_platform_lines}
    return log_groups_of(Settings.parse(toml), consumers, functions, queues, present)[name]


WORKER = {"kind": "worker", "function_name": None}
KINDS = {
    "as its consumer says": ([consumer("app", **WORKER)], "app", True, "worker"),
    "a function's, whatever its name": ([consumer("app")], "app", False, "lambda"),
    "by Lambda's own naming": ([], CHARGE, False, "lambda"),
    "by its platform lines": ([], "app", True, "lambda"),
    "a worker's, where nothing speaks of a function": ([], "app", False, "worker"),
    "where its consumers disagree, as its lines say": (
        [consumer("app"), consumer("app", **WORKER)],
        "app",
        True,
        "lambda",
    ),
    "where an import does not tell, as its lines say": ([consumer("app", kind=None)], "app", False, "worker"),
}


@pytest.mark.parametrize(("consumers", "name", "platform", "kind"), KINDS.values(), ids=KINDS)
def test_a_log_group_is(consumers, name, platform, kind):
    assert of(*consumers, name=name, with_platform_lines=platform).kind == kind


def test_a_log_group_that_the_settings_file_says_is_a_workers_is_one():
    rows = [consumer("/ecs/pay", None, None), consumer("/ecs/mail", None, None), consumer()]
    settings = Settings.parse('[[worker]]\nlog_group = "/ecs/pay"')

    assert [row["kind"] for row in with_kinds(rows, settings)] == ["worker", None, "lambda"]
    assert [row["kind"] for row in rows] == [None, None, "lambda"], "as they were"


def test_only_groups_that_have_lines_are_given_back():
    assert log_groups_of(Settings(), [consumer()], [], [], {}) == {}


def test_function_and_queue_are_those_all_its_consumers_agree_on():
    assert of(consumer(), consumer(queue="refunds")).queue_arn is None
    assert (of(consumer()).function_name, of(consumer()).queue_arn) == ("charge", ACCOUNT + "payments")
    assert of(consumer("app"), consumer("app", function_name="refund"), name="app").function_name is None


def test_the_name_of_a_group_of_lambdas_own_naming_tells_its_function():
    assert of().function_name == "charge"
    assert of(name="app", with_platform_lines=True).function_name is None


def test_the_settings_file_says_whose_a_group_is_and_how_it_logs():
    toml = '[[function]]\nname = "charge"\norder = "sequential"\n[[worker]]\nlog_group = "app"\nqueue = "payments"\n'
    worker = of(name="app", toml=toml, queues=[queue(30)])

    assert of(toml=toml).consumer.order == "sequential"
    assert of(name="logs", toml=toml, functions=[function(3, log_group="logs")]).consumer.name == "charge"
    assert (worker.kind, worker.queue_arn, worker.consumer.log_group) == ("worker", ACCOUNT + "payments", "app")
    assert of(name="other", toml=toml).consumer == Consumer()


def test_a_queue_that_an_import_knew_by_name_only_gets_the_arn_that_its_settings_tell():
    imported = consumer("app", arn="payments", **WORKER)

    assert of(imported, name="app").queue_arn == "payments"
    assert of(imported, name="app", queues=[queue(30)]).queue_arn == ACCOUNT + "payments"


SILENCES = {
    "a run is silent for its function's timeout at most": ([function(3)], [queue(60)], 3000),
    "as the newest snapshot says": ([function(9, 2), function(3)], [], 9000),
    "else for about one visibility timeout": ([function(None)], [queue(60)], 54_000),
    "of its own queue": ([], [queue(60, name="refunds")], 30_000),
    "else for half a minute": ([], [], 30_000),
}


@pytest.mark.parametrize(("functions", "queues", "silence_ms"), SILENCES.values(), ids=SILENCES)
def test_how_long_a_function_can_be_silent(functions, queues, silence_ms):
    assert of(consumer(), functions=functions, queues=queues).silence_ms == silence_ms


OF_WORKERS = {
    "about one visibility timeout": ([queue(60)], 54_000),
    "as the newest snapshot says": ([queue(90, 2), queue(60)], 81_000),
    "else that of a queue nobody set": ([], 27_000),
}


@pytest.mark.parametrize(("queues", "silence_ms"), OF_WORKERS.values(), ids=OF_WORKERS)
def test_how_long_a_worker_can_be_silent_about_a_message(queues, silence_ms):
    worker = of(consumer("app", **WORKER), name="app", queues=queues, functions=[function(3, log_group="app")])

    assert worker.silence_ms == silence_ms


TWO = (
    "[[function]]\nname = 'charge'\neffect = 'charged (?P<key>.+)'\n[[function]]\nname = 'post'\norder = 'sequential'\n"
)
ID = "0" * 31 + "a"
NAMELESS = f"2026/11/20/[$LATEST]{ID}"
WRITERS = {
    "as it is named": (f"2026/11/20/post[$LATEST]{ID}", "post", ACCOUNT + "refunds"),
    "another by its own name": (f"2026/11/20/charge[7]{ID}", "charge", ACCOUNT + "payments"),
    "one that nothing else speaks of": (f"2026/11/20/audit[$LATEST]{ID}", "audit", None),
    "as platform events name it, where Lambda did not name the stream": ("told", "post", ACCOUNT + "refunds"),
    "as platform events name it, where Lambda named the stream after nobody": (NAMELESS, "post", ACCOUNT + "refunds"),
    "nobody's, where nothing tells": ("untold", None, None),
    "nobody's, where platform events name two": ("torn", None, None),
}
TOLD = functions_of_streams(
    [
        ("app", "told", []),
        ("app", "told", ["post"]),
        ("app", NAMELESS, ["post"]),
        ("app", "torn", ["post"]),
        ("app", "torn", ["charge"]),
    ]
)


@pytest.mark.parametrize(("log_stream", "name", "queue_arn"), WRITERS.values(), ids=WRITERS)
def test_a_stream_of_a_group_that_functions_share_is(log_stream, name, queue_arn):
    consumers = [consumer("app"), consumer("app", function_name="post", queue="refunds")]
    settings = Settings.parse(TWO)
    writer = log_groups_of(settings, consumers, [], [], {"app": True}, TOLD).of("app", log_stream)

    declared = next((c for c in settings.functions if c.name == name), Consumer())
    assert (writer.function_name, writer.queue_arn, writer.consumer) == (name, queue_arn, declared)


def test_a_stream_that_lambda_named_after_nobody_is_of_the_function_that_its_group_is_named_after():
    groups = log_groups_of(Settings.parse(TWO), [consumer(), consumer(function_name="post")], [], [], {CHARGE: True})

    assert groups.of(CHARGE, f"2026/11/20/[$LATEST]{ID}").consumer.effect == "charged (?P<key>.+)"
    assert groups.of(CHARGE, f"2026/11/20/post[$LATEST]{ID}").consumer.order == "sequential"


def test_the_function_that_a_stream_names_is_declared_wherever_it_logs():
    stranger = log_groups_of(Settings.parse(TWO), [], [], [], {"app": True}).of("app", f"2026/11/20/post[1]{ID}")

    assert stranger.consumer.order == "sequential"


SAID_VERSIONS = {
    "the last code": (["$LATEST"], True),
    "a version": (["3"], False),
    "both": (["$LATEST", "3"], False),
    "none": ([], None),
}


@pytest.mark.parametrize(("versions", "expected"), SAID_VERSIONS.values(), ids=SAID_VERSIONS)
def test_runs_in_streams_that_lambda_did_not_name_are_of(versions, expected):
    groups = log_groups_of(Settings(), [consumer("app")], [], [], {"app": True}, TOLD, {"app": versions})

    assert [runs_latest(groups.of("app", stream), stream) for stream in ("told", "untold")] == [expected, expected]
    assert [groups.of("app", f"2026/11/20/charge[{v}]{ID}").runs_latest for v in (7, "$LATEST")] == [expected] * 2
    assert [runs_latest(groups["app"], f"2026/11/20/charge[{v}]{ID}") for v in (7, "$LATEST")] == [False, True]


def test_functions_of_a_group_are_silent_for_as_long_as_each_of_them_can_run():
    timeouts = [function(3, log_group="app"), {**function(60, log_group="app"), "function_name": "post"}]
    groups = log_groups_of(Settings(), [consumer("app")], timeouts, [], {"app": True})

    assert [groups.of("app", f"2026/11/20/{name}[1]{ID}").silence_ms for name in ("charge", "post")] == [3000, 60_000]
    assert groups["app"].silence_ms == 60_000
