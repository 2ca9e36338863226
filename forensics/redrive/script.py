"""The plan's safe part as a script for the AWS CLI: a person reads it, runs it dry, and applies it. Nothing here runs it."""

import json
from importlib.resources import files

from forensics.redrive.model import Plan
from forensics.words import count_text, time_text

_MARK = '"PLAN"'


def script(plan: Plan) -> str:
    """Write the script; the same plan gives the same bytes. Raises ValueError where no message of the plan is safe."""
    if not plan.scripted:
        raise ValueError("no message of this plan can be redriven safely")
    _, _, _, region, account, _ = plan.dead_letter_queue_arn.split(":", 5)
    told = {
        "made_from": f"data version {plan.data_version}, evidence until {time_text(plan.data_until_at)}",
        "about": f"{count_text(len(plan.scripted), 'message')} of {len(plan.steps):,} that were dead-lettered",
        "account": account,
        "region": region,
        "dead_letter_queue": plan.dead_letter_queue,
        "messages": [
            {"id": step.message_id, "to": step.queue, "group": step.group_id, "keys": list(step.business_keys)}
            for step in plan.scripted
        ],
    }
    template = (files("forensics.redrive") / "redrive_script.txt").read_text(encoding="utf-8")
    lines = json.dumps(told, indent=1).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return template.replace(_MARK, f'"""\n{lines}\n"""')
