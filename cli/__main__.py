"""The command from a checkout without installing it: ``python -m cli``."""

import sys

from cli import main

sys.exit(main())
