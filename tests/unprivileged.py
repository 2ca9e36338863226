"""Commands run as somebody whom permissions bind: root on a build machine passes every one of them."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_DROP_FROM_BOUNDING_SET = 24  # PR_CAPBSET_DROP of <linux/prctl.h>
_PASS_PERMISSIONS = (1, 2, 3)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER: what lets root by


def _bound_by_permissions() -> None:
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in _PASS_PERMISSIONS:
            if libc.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "a capability cannot be dropped")


def doubletake(*arguments: str | Path, **given: Any) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own that may not pass permissions, whoever runs the tests."""
    return subprocess.run(
        [sys.executable, "-m", "cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=60,
        preexec_fn=_bound_by_permissions,
        **given,
    )
