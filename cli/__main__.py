"""The command from a checkout without installing it: ``python -m cli``."""

import sys

from cli import whole_process

sys.exit(whole_process())
