"""The errors a person can cause or meet, each with a hint and an exit code."""

from collections.abc import Sequence
from pathlib import Path

from forensics.sentence import said

EXIT_OK = 0
EXIT_USAGE = 2
EXIT_PARTIAL = 3
EXIT_LAW_BROKEN = 4
EXIT_CHECK_FAILED = 5
EXIT_BUSY = 75


class ForensicsError(Exception):
    """Base of every expected failure: one sentence that names the value, and a hint.

    ``str(error)`` is the sentence in English; ``hint`` says what to do next; ``exit_code`` is what the command ends with.
    """

    exit_code = EXIT_USAGE

    def __init__(self, sentence: str, hint: str = "") -> None:
        super().__init__(sentence)
        self.hint = hint

    @property
    def sentence(self) -> str:
        """The sentence with its values marked, which any language can say; ``str(error)`` is English alone."""
        told: str = self.args[0]
        return told


def not_utf8(path: Path, problem: UnicodeDecodeError) -> tuple[str, str]:
    """Return the sentence and the hint for a file of text whose bytes are not UTF-8."""
    byte = problem.object[problem.start : problem.start + 1]
    return said("{file} is not UTF-8 text: byte {byte}", file=repr(str(path)), byte=repr(byte)), "Save it as UTF-8."


class LakeUnreadableError(ForensicsError):
    """A lake is there, but something in it may not be read, or its disk fails: not the same as nothing being there."""


class LakeMissingError(ForensicsError):
    """There is no lake, or it holds nothing of what was asked."""


class LakeTooNewError(ForensicsError):
    """A newer release wrote this lake."""


class LakeBusyError(ForensicsError):
    """Another process is writing the same table."""

    exit_code = EXIT_BUSY


class SettingsError(ForensicsError):
    """doubletake.toml cannot be read or says something impossible."""


class BadTimeError(ForensicsError):
    """A time or span on the command line makes no sense."""


class QueueUnknownError(ForensicsError):
    """The named queue is not there, or not for these credentials."""


class CredentialsError(ForensicsError):
    """AWS credentials are missing, expired or refused."""


class EndpointUnreachableError(ForensicsError):
    """Nothing answered at the AWS endpoint."""


class SourceUnreadableError(ForensicsError):
    """One source refused or failed; the others were still read."""

    exit_code = EXIT_PARTIAL


class IncidentUnknownError(ForensicsError):
    """No such incident in this data version."""


class MessageUnknownError(ForensicsError):
    """No such message in this data version."""


class SparkEndedError(ForensicsError):
    """The Java that Spark runs on was killed, or had no memory left."""

    @classmethod
    def killed(cls, status: int) -> "SparkEndedError":
        """Say what the operating system left of it."""
        return cls(
            said("Spark's Java ended while it was needed (status {code}); nothing was published.", code=str(status)),
            "On Linux -9 is often the kernel that was out of memory: free some, or set DOUBLETAKE_SPARK_MEMORY lower.",
        )

    @classmethod
    def out_of_memory(cls, default: str) -> "SparkEndedError":
        """Say how to give it more than what it has where nobody says anything."""
        return cls(
            "Spark's Java had no memory left for this lake; nothing was published.",
            said("Give it more: DOUBLETAKE_SPARK_MEMORY=4g, for instance. [default: {default}]", default=default),
        )


class CacheDamagedError(ForensicsError):
    """What runs leave cannot be read back, although it was removed and made anew again and again."""

    @classmethod
    def of(cls, where: Path, damaged: Sequence[str]) -> "CacheDamagedError":
        """Name the first of what is damaged, and say how many more there are."""
        first = {"where": repr(str(where)), "what": damaged[0]}
        return cls(
            said(
                "what runs leave in {where} is damaged again and again: {what} and {n} more",
                n=len(damaged) - 1,
                **first,
            )
            if len(damaged) > 1
            else said("what runs leave in {where} is damaged again and again: {what}", **first),
            "It has been removed. Check the disk, then run this again.",
        )


class ConservationError(ForensicsError):
    """Lines seen are not lines stored + already there + quarantined."""

    exit_code = EXIT_LAW_BROKEN


class OperationRefusedError(ForensicsError):
    """Code asked AWS for an operation outside the read-only allow-list."""
