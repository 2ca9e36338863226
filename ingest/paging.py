"""Page after page of one question, until the last: with an end also where a server knows none."""

import time
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from forensics.sentence import said
from ingest.aws_errors import AwsRefusedError
from ingest.clients import Aws

SILENT_S = 15 * 60.0
"""How long pages may come that hold nothing: CloudWatch Logs sends empty ones while it searches."""
WHOLE_S = 4 * 60 * 60.0
"""How long one question may take in all; what came until then is kept, and the next run reads on."""


def pages(
    aws: Aws,
    service: str,
    operation: str,
    rows: str,
    parameters: dict[str, Any],
    *,
    pointer: str = "NextToken",
    asked_as: str | None = None,
    first: dict[str, Any] | None = None,
    may_lack: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield the pages of one question; ``rows`` names the list that each page has, or may lack where it would be empty.

    ``pointer`` names the reply's pointer to the next page, ``asked_as`` the parameter that takes it (None: the same name).
    ``first`` is a page that was read already, and is not yielded. Raises AwsRefusedError where a pointer comes twice, where
    only empty pages come for SILENT_S, or where there is no last page within WHOLE_S.
    """
    name = "".join(part.title() for part in operation.split("_"))
    began_at = heard_at = time.monotonic()
    seen: set[bytes] = set()
    following = first.get(pointer) if first is not None else None
    while first is None or following:
        asked = {asked_as or pointer: following} if following else {}
        page = aws.call(service, operation, None if may_lack else rows, **(parameters | asked))
        yield page
        now = time.monotonic()
        heard_at = now if page.get(rows) else heard_at
        following = page.get(pointer)
        if not following:
            return
        if (digest := sha256(repr(following).encode()).digest()) in seen:
            raise AwsRefusedError(name, "RepeatedToken", "the same page came twice", "failed")
        seen.add(digest)
        if now - heard_at > SILENT_S or now - began_at > WHOLE_S:
            raise AwsRefusedError(
                name, "EndlessPages", said("no last page came within {n} s", n=f"{now - began_at:,.0f}"), "failed"
            )
