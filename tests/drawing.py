"""Whether what is drawn is the same in every run: a change is to fail by what it changed, and on every machine.

``make soak`` draws others, to find what nobody has thought of.
"""

import os

DRAWS_THE_SAME = not os.environ.get("DOUBLETAKE_DRAWS_OTHERS")
