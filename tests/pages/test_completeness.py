"""What the line under the navigation says of how much was read."""

from datetime import UTC, datetime

import pytest

from pages._ui import completeness
from pages._ui.coverage import Gap

AT = datetime(2026, 11, 20, tzinfo=UTC)
FILES = Gap("log_events", "worker", AT, AT, "from files (1 file)")
DENIED = Gap("queue_settings", "orders", AT, AT, "AccessDenied")
SAID = {
    "all was read": (1.0, [], "100 % of the evidence read"),
    "files alone": (0.0, [FILES], "read from files, in part"),
    "files, and a call that was denied": (0.0, [FILES, DENIED], "0 % of the evidence read"),
    "files, and a part that was collected": (0.5, [FILES], "50.0 % of the evidence read"),
}


@pytest.mark.parametrize(("share", "gaps", "said"), SAID.values(), ids=SAID)
def test_the_share_that_was_read_is_said(share, gaps, said, monkeypatch):
    monkeypatch.setattr(completeness, "_read", lambda board: (share, gaps))

    assert completeness.read_share(None) == said
