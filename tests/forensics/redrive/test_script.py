"""The script of a plan, run beside an AWS CLI of our own: dry it calls nothing, applied it touches the safe messages alone."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from forensics.redrive import Plan, Step, script

SAFE, OTHER, ODD = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222", 'q"""\\n${x}`id`'
ACCOUNT = "111122223333"
AWS = """#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
args = sys.argv[1:]
data = json.loads(args[args.index("--cli-input-json") + 1]) if "--cli-input-json" in args else {{}}
with (here / "calls").open("a") as calls:
    calls.write(json.dumps([args[1], data]) + "\\n")
world = json.loads((here / "world.json").read_text())
if args[1] == "get-caller-identity":
    print(json.dumps({{"Account": world["account"]}}))
elif args[1] == "get-queue-url":
    print(json.dumps({{"QueueUrl": "https://sqs/" + data["QueueName"]}}))
elif args[1] == "get-queue-attributes":
    print(json.dumps({{"Attributes": world["attributes"]}}))
elif args[1] == "receive-message":
    found, world["messages"] = world["messages"][:10], world["messages"][10:]
    (here / "world.json").write_text(json.dumps(world))
    print(json.dumps({{"Messages": found}}) if found else "")
elif args[1] == "send-message":
    import hashlib
    md5 = world["md5"] or hashlib.md5(data["MessageBody"].encode()).hexdigest()
    print(json.dumps({{"MD5OfMessageBody": md5, "MessageId": "new"}}))
"""


def step(message_id, decision, left_out=""):
    words = dict.fromkeys(("why", "mended", "mended_sentence", "guard_sentence", "order_sentence"), "")
    rest = {"sent_at": None, "moved_at": None, "expires_at": None, "overtaken_by": None, "evidence_ids": ()}
    return Step(
        queue="payments.fifo",
        item_id=message_id,
        message_id=message_id,
        business_keys=(ODD,),
        group_id="acct-1",
        place=1,
        decision=decision,
        left_out=left_out,
        **words,
        **rest,
    )


PLAN = Plan(
    "payments-dlq.fifo",
    f"arn:aws:sqs:eu-west-1:{ACCOUNT}:payments-dlq.fifo",
    (step(SAFE, "safe"), step(OTHER, "repeats", "redriving it does the work again")),
    (),
    "0123456789ab",
    None,
)


def message(message_id):
    body = f'{{"id": "{message_id}"}}'
    return {
        "MessageId": message_id,
        "ReceiptHandle": f"handle of {message_id}",
        "Body": body,
        "MD5OfBody": hashlib.md5(body.encode()).hexdigest(),
        "Attributes": {"MessageGroupId": "acct-1"},
        "MessageAttributes": {"tenant": {"StringValue": "x", "DataType": "String"}},
    }


@pytest.fixture
def run(tmp_path):
    (tmp_path / "aws").write_text(AWS.format(python=sys.executable))
    (tmp_path / "aws").chmod(0o700)
    (tmp_path / "redrive.py").write_text(script(PLAN))

    def run(*args, messages=(SAFE, OTHER), **world):
        world = {"account": ACCOUNT, "attributes": {}, "md5": None, "messages": [message(m) for m in messages]} | world
        (tmp_path / "world.json").write_text(json.dumps(world))
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [sys.executable, "redrive.py", *args],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        calls = tmp_path / "calls"
        return done, [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []

    return run


def test_dry_it_says_what_it_would_do_and_calls_nothing(run):
    done, calls = run()

    assert done.returncode == 0, done.stderr
    assert f"would redrive {SAFE}" in done.stdout
    assert OTHER not in done.stdout
    assert calls == []


def test_applied_it_sends_and_deletes_the_safe_message_and_lets_the_other_be_seen_again(run):
    done, calls = run("--apply")
    by_call = {}
    for name, data in calls:
        by_call.setdefault(name, []).append(data)

    assert done.returncode == 0, done.stderr
    (sent,), (deleted,), (shown,) = (
        by_call[n] for n in ("send-message", "delete-message", "change-message-visibility")
    )
    assert sent == {
        "QueueUrl": "https://sqs/payments.fifo",
        "MessageBody": message(SAFE)["Body"],
        "MessageAttributes": message(SAFE)["MessageAttributes"],
        "MessageGroupId": "acct-1",
        "MessageDeduplicationId": SAFE,
    }
    assert deleted["ReceiptHandle"] == f"handle of {SAFE}"
    assert (shown["ReceiptHandle"], shown["VisibilityTimeout"]) == (f"handle of {OTHER}", 0)
    assert [name for name, _ in calls].index("send-message") < [name for name, _ in calls].index("delete-message")


REFUSED = {
    "another account": ({"account": "999999999999"}, "signed in to account 999999999999"),
    "a redrive policy of its own": ({"attributes": {"RedrivePolicy": "{}"}}, "has a redrive policy of its own"),
    "another MD5": ({"md5": "0" * 32}, "answered 11111111-1111-4111-8111-111111111111 with another MD5"),
}


@pytest.mark.parametrize(("world", "sentence"), REFUSED.values(), ids=REFUSED)
def test_it_stops_before_it_deletes_anything_where(run, world, sentence):
    done, calls = run("--apply", **world)

    assert done.returncode != 0
    assert sentence in done.stderr
    assert "delete-message" not in {name for name, _ in calls}


def test_a_message_that_is_not_there_is_said_with_exit_3(run):
    done, _ = run("--apply", messages=(OTHER,))

    assert done.returncode == 3
    assert f"not found: {SAFE}" in done.stderr


def test_a_plan_without_a_safe_message_has_no_script():
    with pytest.raises(ValueError, match="no message"):
        script(Plan("q", PLAN.dead_letter_queue_arn, PLAN.steps[1:], (), "v", None))


def test_nothing_of_the_product_runs_the_script_or_the_aws_cli():
    """Whoever redrives is a person: no part of the product that knows plans starts a process or speaks to AWS."""
    root = Path(__file__).parents[3]
    sources = [*(root / "forensics").rglob("*.py"), root / "cli/redrive_plan.py", *(root / "pages").rglob("*.py")]

    for source in sources:
        text = source.read_text(encoding="utf-8")
        assert "subprocess" not in text, source
        assert "import boto3" not in text, source
