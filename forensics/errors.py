"""The errors a person can cause or meet, each with a hint and an exit code."""

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


class ConservationError(ForensicsError):
    """Lines seen are not lines stored + already there + quarantined."""

    exit_code = EXIT_LAW_BROKEN


class OperationRefusedError(ForensicsError):
    """Code asked AWS for an operation outside the read-only allow-list."""
