"""Accepted risks: findings that a team lives with until a day it named."""

from datetime import date

from forensics.checks import CHECKS
from forensics.errors import SettingsError
from forensics.health.signals import SIGNALS
from forensics.sentence import said
from forensics.settings import AcceptedRisk, Settings

CODES = (*CHECKS, *SIGNALS)


def check_codes(settings: Settings) -> None:
    """Raise SettingsError if an accepted risk names neither a check nor a signal."""
    for queue in settings.queues:
        for risk in queue.accepted:
            if risk.check not in CODES:
                raise SettingsError(
                    said(
                        "the settings file accepts {check} for queue {queue}, which is no check",
                        check=repr(risk.check),
                        queue=repr(queue.name),
                    ),
                    said("Checks and signals: {names}.", names=", ".join(CODES)),
                )


def accepted_risk(settings: Settings, queue: str, code: str, on: date) -> AcceptedRisk | None:
    """Return the risk that covers a finding on a day of the team's zone; None where none does, or it has ended."""
    held = [r for r in settings.queue(queue).accepted if r.check == code and on <= r.until]
    return max(held, key=lambda r: r.until, default=None)
