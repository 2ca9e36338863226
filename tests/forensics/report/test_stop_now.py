"""The safe first move per trigger: a whole command, what it costs, and how to undo it."""

import shlex

import pytest

from forensics.language import Language
from forensics.report.stop_now import Scene, moves, scene_of
from forensics.verdict.why import ALONE, BEFORE, ENDS
from tests.forensics.report.test_language import in_english

ARN = "arn:aws:sqs:eu-west-1:111122223333:payments"
INCIDENT = {
    "queue_arn": ARN,
    "queue": "payments",
    "is_fifo": False,
    "functions": ["charge"],
    "visibility_timeout_s": 30,
    "primary_cause": "function_timeout",
}
QUEUE = {"visibility_timeout_s": 30, "message_retention_s": 345_600, "dead_letter_queue_arn": None}
FUNCTION = {"function_name": "charge", "timeout_s": 20, "reserved_concurrency": 5}
MAPPING = {
    "function_name": "charge",
    "mapping_uuid": "uuid-1",
    "batching_window_s": 5,
    "state": "Enabled",
    "maximum_concurrency": None,
}


def scene(
    trigger,
    queue=QUEUE,
    functions=(FUNCTION,),
    mappings=(MAPPING,),
    slowest_ms=None,
    is_active=True,
    unmapped=(),
    longer=None,
    risky=False,
    **incident,
):
    told = INCIDENT | {"trigger": trigger} | incident
    return Scene(told, queue, functions, mappings, slowest_ms, is_active, unmapped, frozenset(), longer, risky)


def longer_visibility(prevented, undecided, repeats=3):
    return {"change": "longer_visibility", "prevented": prevented, "undecided": undecided, "repeats": repeats}


WORKER = {"functions": (), "mappings": ()}
SET = "aws sqs set-queue-attributes --queue-url https://sqs.eu-west-1.amazonaws.com/111122223333/payments --region eu-west-1"
UPDATE = "aws lambda update-event-source-mapping --uuid uuid-1 --region eu-west-1"
FOUND = (
    f'"$(aws lambda list-event-source-mappings --function-name charge --event-source-arn {ARN} --region eu-west-1 '
    "--query 'EventSourceMappings[0].UUID' --output text)\""
)
FOUND_BY_NAME = (
    'aws lambda update-event-source-mapping --uuid "$(aws lambda list-event-source-mappings --function-name charge --query '
    '\'EventSourceMappings[?ends_with(EventSourceArn, `":payments"`)].UUID | [0]\' --output text)"'
)
FIRST = {
    "a function that times out is paused": (scene("function_timeout"), f"{UPDATE} --no-enabled", f"{UPDATE} --enabled"),
    "nobody knows why: paused, too": (scene("undecidable"), f"{UPDATE} --no-enabled", f"{UPDATE} --enabled"),
    "a slow function gets six timeouts and the window": (
        scene("visibility_expired"),
        f"{SET} --attributes VisibilityTimeout=125",
        f"{SET} --attributes VisibilityTimeout=30",
    ),
    "a slow worker gets three times its slowest handling, in whole minutes": (
        scene("handle_expired", slowest_ms=46_330, **WORKER),
        f"{SET} --attributes VisibilityTimeout=180",
        f"{SET} --attributes VisibilityTimeout=30",
    ),
    "a handling that outlasted the present value, and that no line times": (
        scene(
            "visibility_expired",
            {**QUEUE, "visibility_timeout_s": 300},
            slowest_ms=900,
            visibility_timeout_s=300,
            **WORKER,
        ),
        f"{SET} --attributes VisibilityTimeout=600",
        f"{SET} --attributes VisibilityTimeout=300",
    ),
    "a worker whose visibility timeout was raised since is scaled in": (
        scene("visibility_expired", {**QUEUE, "visibility_timeout_s": 300}, slowest_ms=46_330, **WORKER),
        "aws ecs update-service --cluster <cluster> --service <service> --region eu-west-1 --desired-count 0",
        "aws ecs update-service --cluster <cluster> --service <service> --region eu-west-1 --desired-count <count before>",
    ),
    "a visibility timeout that is long enough is not what helps": (
        scene("visibility_expired", {**QUEUE, "visibility_timeout_s": 400}),
        f"{UPDATE} --no-enabled",
        f"{UPDATE} --enabled",
    ),
    "where heartbeats rule a longer one of the queue would have prevented nothing": (
        scene("visibility_expired", longer=longer_visibility(0, 0), **WORKER),
        "aws ecs update-service --cluster <cluster> --service <service> --region eu-west-1 --desired-count 0",
        "aws ecs update-service --cluster <cluster> --service <service> --region eu-west-1 --desired-count <count before>",
    ),
    "one that may have prevented a single repeat is raised": (
        scene("visibility_expired", longer=longer_visibility(0, 1)),
        f"{SET} --attributes VisibilityTimeout=125",
        f"{SET} --attributes VisibilityTimeout=30",
    ),
    "a throttled function takes no more than it has room for": (
        scene("throttled"),
        f"{UPDATE} --scaling-config MaximumConcurrency=5",
        f"{UPDATE} --scaling-config '{{}}'",
    ),
    "a reserved concurrency that no mapping can keep to": (
        scene("throttled", functions=(FUNCTION | {"reserved_concurrency": 1},)),
        f"{UPDATE} --no-enabled",
        f"{UPDATE} --enabled",
    ),
    "a function whose mapping nobody read is paused by what the shell finds": (
        scene("function_timeout", unmapped=("charge",), **WORKER),
        f"{UPDATE.replace('uuid-1', FOUND)} --no-enabled",
        f"{UPDATE.replace('uuid-1', FOUND)} --enabled",
    ),
    "so it is where logs gave no ARN": (
        scene("function_timeout", unmapped=("charge",), queue_arn="payments", **WORKER),
        f"{FOUND_BY_NAME} --no-enabled",
        f"{FOUND_BY_NAME} --enabled",
    ),
    "a worker that fails is scaled in": (
        scene("function_error", **WORKER),
        "aws ecs update-service --cluster <cluster> --service <service> --region eu-west-1 --desired-count 0",
        "aws ecs update-service --cluster <cluster> --service <service> --region eu-west-1 --desired-count <count before>",
    ),
    "a region of another partition has its own hosts": (
        scene("visibility_expired", queue_arn=ARN.replace("aws:sqs:eu-west-1", "aws-cn:sqs:cn-north-1")),
        "aws sqs set-queue-attributes --queue-url https://sqs.cn-north-1.amazonaws.com.cn/111122223333/payments --region "
        "cn-north-1 --attributes VisibilityTimeout=125",
        "aws sqs set-queue-attributes --queue-url https://sqs.cn-north-1.amazonaws.com.cn/111122223333/payments --region "
        "cn-north-1 --attributes VisibilityTimeout=30",
    ),
}


@pytest.mark.parametrize(("seen", "command", "undo"), FIRST.values(), ids=FIRST)
def test_the_first_move_is_a_whole_command_with_its_undo(seen, command, undo):
    first = moves(seen)[0]

    assert (first.commands, first.undo) == ((command,), (undo,))
    assert first.cost


WHY = {
    "of a function": (scene("visibility_expired"), "Six function timeouts and the batching window"),
    "of a worker": (
        scene("visibility_expired", slowest_ms=46_330, **WORKER),
        "Three times the slowest handling of its messages, in whole minutes: that took 46.33 s.",
    ),
    "of nobody's handling": (
        scene("visibility_expired", **WORKER),
        "Twice the present value: no line tells how long the slowest handling took.",
    ),
}


@pytest.mark.parametrize(("seen", "why"), WHY.values(), ids=WHY)
def test_what_is_said_of_a_visibility_timeout_gives_its_number(seen, why):
    assert moves(seen)[0].why.startswith(why)


def test_the_scene_knows_whether_a_longer_visibility_timeout_would_have_helped():
    settings = dict.fromkeys(("queue_settings", "function_settings", "event_source_mappings", "setting_changes"), ())
    others = [{"change": "batch_size_1", "prevented": 1, "undecided": 0, "repeats": 3}]
    incident = INCIDENT | {"messages": 3, "trigger": "visibility_expired"}

    seen = scene_of(incident, [], settings, True, [*others, longer_visibility(0, 0)])

    assert seen.longer_visibility == longer_visibility(0, 0)
    assert scene_of(incident, [], settings, True, others).longer_visibility is None


def test_a_redrive_is_cancelled_at_the_dead_letter_queue():
    queue = QUEUE | {"dead_letter_queue_arn": f"{ARN}-dlq"}
    first, *rest = moves(scene("dlq_redrive", queue))

    assert first.commands[0] == f"aws sqs list-message-move-tasks --source-arn {ARN}-dlq --region eu-west-1"
    assert rest[0].commands == (f"{UPDATE} --no-enabled",)


def test_nobody_is_told_to_redrive_while_it_goes_on():
    queue = QUEUE | {"dead_letter_queue_arn": f"{ARN}-dlq"}

    assert [m.title for m in moves(scene("function_error", queue, risky=True))][-1] == "Do not redrive payments-dlq yet"
    assert len(moves(scene("function_error", queue))) == 1
    assert len(moves(scene("function_error", risky=True))) == 1


LETTERS = {
    "none": (3, [], False),
    "one that is safe": (3, [{"redrive": "safe"}], False),
    "one that may repeat": (3, [{"redrive": "safe"}, {"redrive": "may_repeat"}], True),
    "logs that name no message": (None, [], True),
}


@pytest.mark.parametrize(("messages", "dead", "is_risky"), LETTERS.values(), ids=LETTERS)
def test_a_redrive_is_spoken_of_only_where_a_message_was_or_may_have_been_dead_lettered(messages, dead, is_risky):
    settings = dict.fromkeys(("queue_settings", "function_settings", "event_source_mappings", "setting_changes"), ())
    incident = INCIDENT | {"messages": messages, "trigger": "function_error"}

    assert scene_of(incident, [], settings, True, [], dead).has_risky_letters is is_risky


def test_a_mapping_that_takes_no_messages_is_not_limited():
    (first,) = moves(scene("throttled", mappings=(MAPPING | {"state": "Disabled"},)))

    assert (first.title, first.commands) == ("The mapping to charge is disabled already", ())


def test_a_mapping_that_is_disabled_is_not_disabled_again():
    disabled = MAPPING | {"state": "Disabled"}

    assert moves(scene("function_error", mappings=(disabled,)))[0].commands == ()
    assert moves(scene("function_error", mappings=(disabled,), is_active=False))[0].commands == (
        f"{UPDATE} --no-enabled",
    )


def test_a_name_from_the_evidence_cannot_leave_its_word_of_the_command():
    hostile = MAPPING | {"mapping_uuid": "x; rm -rf ~"}
    (command,) = moves(scene("function_error", mappings=(hostile,), queue_arn="q$(id)"))[0].commands

    assert shlex.split(command)[4] == "x; rm -rf ~"


@pytest.mark.parametrize("trigger", [*ENDS, *BEFORE, *ALONE])
@pytest.mark.parametrize("around", [{}, WORKER, {"is_fifo": True}], ids=["function", "worker", "fifo"])
def test_every_move_is_said_in_japanese(trigger, around):
    say = Language("ja").sentence
    queue = QUEUE | {"dead_letter_queue_arn": f"{ARN}-dlq"}

    for move in moves(scene(trigger, queue, **around)):
        for said in (move.title, move.why, move.cost):
            assert set(in_english(say(said))) <= {"charge", "payments", "dlq", "SQS", "Lambda", "Doubletake", "ID"}, (
                said
            )
