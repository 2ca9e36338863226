"""Jobs that a worker's framework begins and ends, where neither its lines nor the handler's name a message."""

from collections.abc import Iterator

from forensics.parsers.workers import worker
from forensics.suggestions.model import RunLines

_ENDS = {"finished": "success", "failed": "error", "gave_up": "error", "timed_out": "timeout"}
"""What a framework says of a job's end, and how it ended."""
_MOST_TANGLED = 0.1
"""Where more jobs begin while another is on, several processes write the stream, and nothing tells whose a line is."""


def jobs_of(stream: RunLines) -> list[RunLines]:
    """Return the jobs of one stream with the lines between their begin and their end; none where jobs run beside one another.

    A job that has no end was killed, or another process's: it is left out with the one that begins meanwhile.
    """
    jobs = list(_begun_and_ended(stream))
    alone = [job for job in jobs if job.status != "unknown"]
    return alone if len(jobs) - len(alone) <= _MOST_TANGLED * len(jobs) else []


def _begun_and_ended(stream: RunLines) -> Iterator[RunLines]:
    job: RunLines | None = None
    is_alone = True
    for number, line in enumerate(stream.lines):
        said = worker(line.text)
        event = said.event if said else None
        if event == "started":
            is_alone = job is None
            if job is not None:
                yield job
            job = RunLines(
                f"{stream.run_id}|{number}", stream.log_group, "unknown", line.at, line.at, log_stream=stream.run_id
            )
        elif job is not None and event in _ENDS:
            job.ended_at = line.at
            job.status = _ENDS[event] if is_alone else "unknown"
            yield job
            job = None
        elif job is not None:
            job.lines.append(line)
