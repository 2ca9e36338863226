"""An incident whose logs name no message: two runs ran into the timeout, and only an upper bound can be said."""

from forensics.incidents.blind_windows import blind_cause, blind_headline
from forensics.readiness import LogFacts, readiness
from forensics.sentence import said
from forensics.tables.findings import INCIDENTS, LOGGING_READINESS
from tests.pages.tales import s
from tests.pages.worlds import START, Consumer, Run, Story, arn

EXPORTS = Consumer("exports", "/aws/lambda/write-export", "write-export", 30, 180, 10, False)
BLIND = "exports-20261120T0512Z"


def blind(story: Story) -> None:
    """Two batches of ten run into the 30 s timeout; START and REPORT are all that the function writes."""
    story.settings(EXPORTS)
    story.coverage(EXPORTS, START - s(86_400), START + s(3600))
    runs = [story.run(EXPORTS, f"export{n}", START + s(180 * n), 30, "timeout") for n in range(2)]
    runs += [story.run(EXPORTS, f"export{n}", START + s(180 * n), 12) for n in range(2, 6)]
    failed = runs[:2]
    story.add(
        INCIDENTS,
        {
            "incident_id": BLIND,
            "queue_arn": arn(EXPORTS.queue),
            "queue": EXPORTS.queue,
            "started_at": failed[0].started_at,
            "ended_at": failed[-1].ended_at,
            "messages": None,
            "messages_at_most": 20,
            "confirmed": 0,
            "probable": 0,
            "possible": 20,
            "absorbed": 0,
            "harmless": 0,
            "causes": ["function_timeout=2"],
            "primary_cause": "function_timeout",
            "headline": blind_headline(20, 2),
            "cause_sentence": blind_cause("write-export", "exports", {"timeout": 2}, (60, 40)),
            "excluded": [],
            "certainty": "inferred",
            "functions": [EXPORTS.function],
            "is_fifo": False,
            "visibility_timeout_s": EXPORTS.visibility_s,
            "function_timeout_s": EXPORTS.timeout_s,
            "batch_size": EXPORTS.batch_size,
            "extra_effects_at_least": 0,
            "extra_effects_at_most": 20,
            "unread_sources": [said("log_events: no line of {who} names a message", who="write-export")],
            "evidence_ids": sorted({run.first_id for run in failed} | {i for run in failed for i in run.end_ids}),
        },
    )
    _names_no_message(story, runs)


def unchecked(story: Story) -> None:
    """Runs that all ended well, of a function whose lines name no message: nothing is suspected, for nothing was checked."""
    story.settings(EXPORTS)
    story.coverage(EXPORTS, START - s(86_400), START + s(3600))
    _names_no_message(story, [story.run(EXPORTS, f"export{n}", START + s(180 * n), 12) for n in range(4)])


def _names_no_message(story: Story, runs: list[Run]) -> None:
    ready = readiness(LogFacts("lambda", len(runs), 0, 0, 0, 0, 0, len(runs)))
    story.add(
        LOGGING_READINESS,
        {
            "queue_arn": arn(EXPORTS.queue),
            "queue": EXPORTS.queue,
            "log_group": EXPORTS.log_group,
            "consumer_kind": "lambda",
            "function_name": EXPORTS.function,
            "level": ready.level,
            "sentence": ready.sentence,
            "handling_count": len(runs),
            "named_count": 0,
            "counted_count": 0,
            "item_start_count": 0,
            "effect_count": 0,
            "response_count": 0,
            "start_line_count": len(runs),
            "missing": [m.what for m in ready.missing],
            "reasons": [m.why for m in ready.missing],
            "python_lines": [m.python for m in ready.missing],
            "node_lines": [m.node for m in ready.missing],
            "setting_lines": [m.setting or "" for m in ready.missing],
            "evidence_ids": [runs[0].first_id],
        },
    )
