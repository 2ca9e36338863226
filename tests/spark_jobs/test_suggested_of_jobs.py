"""What is proposed of a worker whose jobs send further messages and name them: these are none of its own, though a line names each."""

from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from forensics.lake import Lake
from forensics.parsers.marks import mark
from forensics.settings import Settings
from forensics.suggestions import suggest
from ingest.file_run import ImportChoices
from ingest.files import import_files
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.spark_jobs.test_said_before import JOB, OWN

pytestmark = pytest.mark.slow


def an_id(number, kind):
    return str(UUID(int=number + (kind << 96) + (4 << 76)))


def job(number, minute, said):
    at = {"id": an_id(number, 1), "count": 1 + (minute > 50), "minute": f"{minute:02}"[-2:]}
    told = [JOB, *([OWN] * len(said)), JOB]
    words = iter(said)
    return [
        line.replace("05:0{minute}", "05:{minute}").format(
            **at, second=second, status="success" if place else "starting", said=next(words, "") if line is OWN else ""
        )
        for place, (second, line) in enumerate(zip((1, *([4] * len(said)), 5), told, strict=True))
    ]


def test_the_effect_is_the_line_that_names_the_key_and_no_message_that_a_job_sends_counts(tmp_path):
    lines = []
    for number in range(40):
        lines += job(number, number, (f"Charged order ord-{number}", f"Queued receipt as message {an_id(number, 2)}"))
    for minute, number in ((52, 3), (53, 4)):
        lines += job(number, minute, (f"Order ord-{number} already charged",))
    (tmp_path / "worker.log").write_text("\n".join(lines))
    lake = Lake(tmp_path / "lake")
    import_files(lake, [tmp_path / "worker.log"], ImportChoices(log_groups=("app=orders",), zone=ZoneInfo("UTC")))
    correlate(lake, Settings(), carrier=Here())
    told = {p.kind: p for p in suggest(lake.findings(), "orders", Settings()).proposals}

    assert (told["effect"].fits, told["effect"].of) == (40, 40)
    assert mark("[2026-11-20 05:01:04] production.INFO: Charged order ord-7", told["effect"].value).key == "ord-7"
    assert mark("[2026-11-20 05:01:04] production.INFO: Order ord-7 already charged", told["guard"].value)
