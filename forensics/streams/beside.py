"""Runs that were on at once in one environment, as managed instances have them: what may be of the one or the other."""

from collections.abc import Collection, Iterable, Mapping

from forensics.streams.model import Invocation


def mark_beside_others(runs: Iterable[Invocation]) -> None:
    """Mark the runs that were on at once in one environment."""
    latest: Invocation | None = None
    for run in sorted((run for run in runs if run.start_at is not None), key=lambda run: run.started_at):
        if latest is not None and latest.ended_at is not None and run.started_at < latest.ended_at:
            latest.is_beside_others = run.is_beside_others = True
        if latest is None or (run.ended_at or 0) > (latest.ended_at or 0):
            latest = run


def mark_behind(runs: Iterable[Invocation]) -> None:
    """Tell each run without a START when the one before it in its environment wrote its last line: it began after that, where one is on at a time."""
    last_at: int | None = None
    for run in sorted(runs, key=lambda run: run.first_line_at):
        if run.start_at is None and last_at is not None and last_at < run.first_line_at:
            run.behind_at = last_at
        last_at = max(last_at or 0, run.last_line_at)


def leave_open(
    runs: Iterable[Invocation],
    rivals: Mapping[str, Collection[str]],
    astray: Collection[str],
    maybe_begun: Mapping[str, Collection[str]],
) -> None:
    """Take the end from the runs that may have had the batch of another which ended in another way; mark those that lack lines, perhaps.

    A success, which proves work, is taken, too, where a message may be another's that did not end so. ``rivals``, ``astray`` and ``maybe_begun`` as in ``Runs``.
    """
    ends: dict[str, set[str]] = {}
    runs = list(runs)
    for run in runs:
        run.may_lack_lines = run.request_id in astray
        ends.setdefault(run.request_id, set()).add(run.end_status)
    for run in runs if rivals or maybe_begun else ():
        of_rivals = (ends.get(other, ()) for other in rivals.get(run.request_id, ()))
        of_others = (ends.get(other, ()) for other in maybe_begun.get(run.request_id, ()))
        is_doubtful = run.end_status == "success" and bool(set().union(*of_others) - {"success"})
        if is_doubtful or len(set().union(*of_rivals)) > 1:
            run.end_status, run.error_type, run.ended_at = "unknown", None, None
