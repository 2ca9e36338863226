"""Repeats that a worker stops and tells of in its own words, without the message's name: nothing is settled before anything is configured."""

from zoneinfo import ZoneInfo

import pytest

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables.findings import MESSAGES
from ingest.file_run import ImportChoices
from ingest.files import import_files
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate

pytestmark = pytest.mark.slow

ID, OTHER = "b3a8d612-94b4-41de-8ae5-6cc49e03793f", "861bec95-b670-4f2a-acf9-19d5bdd7cbe5"
JOB = '{{"id":"{id}","job":"App\\\\Jobs\\\\Charge","status":"{status}","attempts":{count},"timestamp":"2026-11-20T05:0{minute}:{second:02}.000000+00:00"}}'
OWN = "[2026-11-20 05:0{minute}:{second:02}] production.INFO: {said}"


def job(message_id, count, minute, said):
    """Return the lines of one job, which says something of its own between its begin and its end."""
    at = {"id": message_id, "count": count, "minute": minute}
    told = [JOB.format(**at, second=1, status="starting")]
    told += [OWN.format(minute=minute, second=3, said=said)] if said else []
    return [*told, JOB.format(**at, second=5, status="success")]


SAID = {
    "that it was done before": ("Order ord-7 already charged", (1, 2)),
    "that it was done": ("Charged order ord-7", (2, 2)),
    "that something is skipped": ("Skipping the newsletter", (2, 2)),
    "nothing": (None, (2, 2)),
}


@pytest.mark.parametrize(("said", "expected"), SAID.values(), ids=SAID)
def test_a_job_whose_own_words_say_that_the_work_was_there_is_not_known_to_have_done_it(tmp_path, said, expected):
    lines = [*job(ID, 1, 1, None), *job(OTHER, 1, 2, None), *job(ID, 2, 3, said), *job(OTHER, 2, 4, None)]
    (tmp_path / "worker.log").write_text("\n".join(lines))
    lake = Lake(tmp_path / "lake")

    import_files(lake, [tmp_path / "worker.log"], ImportChoices(log_groups=("app=orders",), zone=ZoneInfo("UTC")))
    correlate(lake, Settings(), carrier=Here())
    rows = lake.findings().read(MESSAGES, ["message_id", "effects_at_least", "effects_at_most"]).to_pylist()
    told = {row["message_id"]: (row["effects_at_least"], row["effects_at_most"]) for row in rows}

    assert told == {ID: expected, OTHER: (2, 2)}
