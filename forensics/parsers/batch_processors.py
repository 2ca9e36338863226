"""Lines of batch processors: a message whose handler failed, and that the function names in its response."""

from forensics.parsers.grammar import UUID, Pattern

GIVEN_BACK_NEEDLE = "adding it to batch item failures"
GIVEN_BACK = Pattern("given_back", r"while processing (?:message|record) with (?:messageId|id) (?P<id>" + UUID + r"):")
"""Powertools for Java, of a message of SQS."""


def given_back(line: str) -> str | None:
    """Return the message that a batch processor says it returns as failed; of the others of its batch that tells nothing.

    >>> given_back("Error while processing message with messageId 861bec95-b670-4f2a-acf9-19d5bdd7cbe5: 502, adding it to batch item failures")
    '861bec95-b670-4f2a-acf9-19d5bdd7cbe5'
    """
    found = GIVEN_BACK.find(line, "id") if GIVEN_BACK_NEEDLE in line else None
    return found.lower() if found else None
